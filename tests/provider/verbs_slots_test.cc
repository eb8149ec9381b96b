// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "provider/verbs_net.h"
#include "provider/verbs_talk.h"
#include "wire/verbs_packet.h"
#include "wire/verbs_ring.h"

/// What lies in the slots of a ring (wire/verbs_ring.h): packets with a header and without, and
/// nonsense.
namespace fulmar::fabric {
namespace {

/// The packet that is under way in the ring of rank 1, changed; what rank 1 says of it.
std::string loss_after(const std::function<void(std::vector<std::byte>&)>& change) {
  Talk talk(2);
  EXPECT_TRUE(talk.warm_up(0, 1));
  EXPECT_EQ(post(talk.net[0], 1, 8, talk.sent[0][1]), Post::done);
  auto& mail = (*talk.net.ranks[1]->adapter->queues().begin())->mail;
  if (mail.size() != 1 || mail.front().kind != QueueStandIn::Kind::put) return "no write";
  change(mail.front().bytes);
  EXPECT_TRUE(talk.until([&] { return !talk.net.losses(1).empty(); }));
  EXPECT_FALSE(talk.net[1].alive(0));
  EXPECT_EQ(static_cast<int>(talk.sinks[1].packets.size()), talk.sent[0][1]);
  for (int i = 0; i < 100; ++i) talk.poll_all();
  EXPECT_EQ(talk.net.losses(1).size(), 1U);
  return talk.net.losses(1).front().text;
}

TEST(VerbsSlots, Nonsense_in_a_slot_ends_the_connection_with_a_reason) {
  const auto with_head = [](const std::function<void(wire::VerbsPacket&)>& change) {
    return loss_after([&](std::vector<std::byte>& bytes) {
      wire::VerbsPacket head;
      std::memcpy(&head, bytes.data(), sizeof head);
      change(head);
      std::memcpy(bytes.data(), &head, sizeof head);
    });
  };
  const auto with_end = [](std::uint64_t end) {
    return loss_after([&](std::vector<std::byte>& bytes) {
      std::memcpy(bytes.data() + bytes.size() - sizeof end, &end, sizeof end);
    });
  };
  const auto expect = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(with_head([](auto& head) { ++head.cookie; }), "a wrong cookie: somebody else");
  expect(with_head([](auto& head) { ++head.sequence; }), "a wrong number");
  expect(with_head([](auto& head) { head.length += 1; }), "a length that is not the message's");
  expect(with_head([](auto& head) { head.taken += 100; }), "it has taken what was not sent");
  expect(with_head([](auto& head) { head.kind = 0xee; }), "an unknown kind");
  expect(with_head([](auto& head) {
           head = {head.cookie, head.sequence, head.taken};
           head.kind = static_cast<std::uint8_t>(wire::VerbsSignal::credit);
         }),
         "length");
  expect(with_end(wire::verbs_slot_end(31)), "fewer bytes than a header");
  expect(with_end(wire::verbs_slot_end(wire::verbs_max_slot_packet_bytes + 1)),
         "fewer bytes than a header");
  expect(with_end(wire::verbs_bare_end({}, 40)), "a wrong proof in a ring: somebody else");
  expect(with_end(wire::verbs_slot_end(wire::verbs_max_slot_packet_bytes)), "a wrong cookie");
}

/// Packets whose envelopes repeat, to rank 1.
struct Repeats {
  explicit Repeats(const VerbsHabits& habits = {}) : talk(2, habits) {
    warm = talk.warm_up(0, 1);
    talk.sinks[1].packets.clear();
  }
  Post post(std::size_t bytes, int tag) {
    const Post answer = talk.net[0].post(1, envelope(bytes, tag), pattern(bytes, posted));
    if (answer == Post::done) ++posted;
    return answer;
  }
  bool say(std::size_t bytes, int tag) {
    return talk.until([&] { return post(bytes, tag) == Post::done; });
  }
  bool all_came() {
    return talk.until([&] { return talk.sinks[1].packets.size() == posted; });
  }
  /// What lies between the ranks.
  std::vector<std::byte>& written() {
    return (*talk.net.ranks[1]->adapter->queues().begin())->mail.back().bytes;
  }

  Talk talk;
  bool warm = false;
  unsigned posted = 0;
};

TEST(VerbsSlots, Repeated_envelope_goes_without_a_header) {
  Repeats repeats({.inline_bytes = 4096});
  ASSERT_TRUE(repeats.warm);
  for (const std::size_t bytes : {8U, 0U, 216U}) {
    ASSERT_EQ(repeats.post(bytes, 5), Post::done);
    EXPECT_EQ(repeats.written().size(), sizeof(wire::VerbsPacket) + bytes + 8);
    ASSERT_EQ(repeats.post(bytes, 5), Post::done);
    EXPECT_EQ(repeats.written().size(), bytes + 8);
    ASSERT_TRUE(repeats.all_came());
  }
  EXPECT_EQ(repeats.talk.counters(0).bare_sends, 3U);
}

TEST(VerbsSlots, Envelopes_are_right_whatever_comes_in_between) {
  for (const double trouble : {0.0, 0.3}) {
    Repeats repeats({.reluctance = trouble, .lag = trouble, .inline_bytes = 64});
    ASSERT_TRUE(repeats.warm);
    std::vector<std::pair<std::size_t, int>> said;
    for (unsigned i = 0; i < 3000; ++i) {
      // A few of the same, now and then a message, or a sleep of the receiver.
      const std::size_t bytes = i % 97 == 0 ? 3000 : i / 5 % 3 * 100;
      said.emplace_back(bytes, static_cast<int>(i / 9 % 4));
      ASSERT_TRUE(repeats.say(said.back().first, said.back().second));
      if (i % 501 == 0) (void)repeats.talk.net[1].arm();
      if (i % 2 == 0) {
        ASSERT_TRUE(repeats.all_came());
      }
    }
    ASSERT_TRUE(repeats.all_came());
    EXPECT_GT(repeats.talk.counters(0).bare_sends, 1000U);
    for (unsigned i = 0; i < said.size(); ++i) {
      const auto& packet = repeats.talk.sinks[1].packets[i];
      ASSERT_EQ(packet.envelope.tag, said[i].second) << i;
      ASSERT_EQ(packet.envelope.length, said[i].first) << i;
      ASSERT_EQ(packet.body, pattern(said[i].first, i)) << i;
    }
  }
}

TEST(VerbsSlots, Nonsense_without_a_header_ends_the_connection_with_a_reason) {
  const auto loss_after_end = [](const std::function<void(std::array<std::uint8_t, 8>&)>& change) {
    Repeats repeats;
    EXPECT_EQ(repeats.post(8, 5), Post::done);
    EXPECT_TRUE(repeats.all_came());
    EXPECT_EQ(repeats.post(8, 5), Post::done);
    auto& bytes = repeats.written();
    std::array<std::uint8_t, 8> end{};
    if (bytes.size() != 16) return std::string("has a header");
    std::memcpy(end.data(), bytes.data() + 8, 8);
    change(end);
    std::memcpy(bytes.data() + 8, end.data(), 8);
    EXPECT_TRUE(repeats.talk.until([&] { return !repeats.talk.net.losses(1).empty(); }));
    EXPECT_EQ(repeats.talk.sinks[1].packets.size(), 1U);
    return repeats.talk.net.losses(1).front().text;
  };
  const auto expect = [](const std::string& text, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(loss_after_end([](auto& end) { end[0] = 9; }), "not like the last one");
  expect(loss_after_end([](auto& end) { end[0] = 0; }), "not like the last one");
  expect(loss_after_end([](auto& end) { end[0] = 255; }), "not like the last one");
  expect(loss_after_end([](auto& end) { end[2] += 100; }), "it has taken what was not sent");
  for (unsigned byte = 3; byte < 7; ++byte) {
    expect(loss_after_end([&](auto& end) { end[byte] ^= 0x10; }), "a wrong proof in a ring");
  }
  expect(loss_after_end([](auto& end) { end[7] = 0xa6; }), "fewer bytes than a header");
  // The first of a ring has one.
  expect(loss_after([](std::vector<std::byte>& bytes) {
           wire::VerbsPacket head;
           std::memcpy(&head, bytes.data(), sizeof head);
           const std::uint64_t end = wire::verbs_bare_end(head, 7);
           std::memcpy(bytes.data() + bytes.size() - sizeof end, &end, sizeof end);
         }),
         "not like the last one");
}

TEST(VerbsSlots, Signal_in_a_ring_ends_the_connection) {
  const std::string text = loss_after([&](std::vector<std::byte>& bytes) {
    wire::VerbsPacket head;
    std::memcpy(&head, bytes.data(), sizeof head);
    head.length = 0;
    head.flags = 0;
    head.context = 0;
    head.tag = 0;
    head.kind = static_cast<std::uint8_t>(wire::VerbsSignal::credit);
    // It lies right ahead of the end.
    std::memcpy(bytes.data() + 8, &head, sizeof head);
    const std::uint64_t end = wire::verbs_slot_end(sizeof head);
    std::memcpy(bytes.data() + bytes.size() - sizeof end, &end, sizeof end);
  });
  EXPECT_NE(text.find("a signal in a ring"), std::string::npos) << text;
}

}  // namespace
}  // namespace fulmar::fabric
