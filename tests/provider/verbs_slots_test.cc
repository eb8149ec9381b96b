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

#include "fabric/verbs/messages.h"
#include "provider/verbs_net.h"
#include "provider/verbs_talk.h"
#include "wire/verbs/verbs_packet.h"
#include "wire/verbs/verbs_ring.h"

/// What lies in the slots of a ring (wire/verbs/verbs_ring.h): packets with a header and without, and
/// nonsense.
namespace fulmar::fabric {
namespace {

using verbs::Messages;

/// The packet that is under way in the ring of rank 1, changed; what rank 1 says of it.
std::string loss_after(const std::function<void(std::vector<std::byte>&)>& change) {
  Talk traffic(2);
  EXPECT_TRUE(traffic.warm_up(0, 1));
  EXPECT_EQ(post(traffic.net[0], 1, 8, traffic.sent[0][1]), Post::done);
  auto& mail = (*traffic.net.ranks[1]->adapter->queues().begin())->mail;
  if (mail.size() != 1 || mail.front().kind != QueueStandIn::Kind::rdma_write) return "no write";
  change(mail.front().bytes);
  EXPECT_TRUE(traffic.until([&] { return !traffic.net.losses(1).empty(); }));
  EXPECT_FALSE(traffic.net[1].alive(0));
  EXPECT_EQ(static_cast<int>(traffic.sinks[1].packets.size()), traffic.sent[0][1]);
  for (int i = 0; i < 100; ++i) traffic.poll_all();
  EXPECT_EQ(traffic.net.losses(1).size(), 1U);
  return traffic.net.losses(1).front().text;
}

wire::VerbsPacket head_of(const std::vector<std::byte>& written) {
  wire::VerbsPacket head;
  std::memcpy(&head, written.data() + wire::verbs_slot_mark_bytes, sizeof head);
  return head;
}

/// Replaces the ends of what is written by such as its peer has marked, whatever they say.
void mark(std::vector<std::byte>& written, const wire::VerbsPacket& sender, std::uint64_t end) {
  const std::size_t bytes = wire::verbs_slot_bytes_of(end);
  const std::uint64_t mark = wire::verbs_slot_mark(sender.cookie, sender.sequence);
  ASSERT_LE(sizeof mark + bytes + sizeof end, written.size());
  std::byte* const at = written.data() + written.size() - sizeof end;
  constexpr std::uint64_t mark_in_end = std::uint64_t{0xffffffff} << 24;
  const std::uint64_t marked = (end & ~mark_in_end) | mark >> 32 << 24;
  std::memcpy(at, &marked, sizeof marked);
  std::memcpy(at - bytes - sizeof mark, &mark, sizeof mark);
}

std::uint64_t end_of(const std::vector<std::byte>& written) {
  std::uint64_t end = 0;
  std::memcpy(&end, written.data() + written.size() - sizeof end, sizeof end);
  return end;
}

std::uint64_t plain_end(std::uint64_t kind, std::size_t bytes) {
  return kind << wire::verbs_slot_kind_shift | bytes;
}

TEST(VerbsSlots, Nonsense_in_a_slot_ends_the_connection_with_a_reason) {
  const auto with_head = [](const std::function<void(wire::VerbsPacket&)>& change) {
    return loss_after([&](std::vector<std::byte>& bytes) {
      const wire::VerbsPacket sender = head_of(bytes);
      wire::VerbsPacket head = sender;
      change(head);
      std::memcpy(bytes.data() + wire::verbs_slot_mark_bytes, &head, sizeof head);
      mark(bytes, sender, end_of(bytes));
    });
  };
  const auto with_end = [](std::uint64_t end) {
    return loss_after([&](std::vector<std::byte>& bytes) { mark(bytes, head_of(bytes), end); });
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
  const std::uint64_t headed = wire::verbs_slot_packet;
  expect(with_end(plain_end(headed, 31)), "fewer bytes than a header");
  expect(with_end(plain_end(headed, 255)), "fewer bytes than a header");
  expect(with_end(plain_end(headed, wire::verbs_max_slot_packet_bytes + 1)),
         "fewer bytes than a header");
  // The first of a ring has a header.
  expect(with_end(plain_end(wire::verbs_slot_bare, 7)), "not like the last one");
}

/// Packets whose envelopes repeat, to rank 1.
struct Repeats {
  explicit Repeats(const VerbsHabits& habits = {}) : traffic(2, habits) {
    warm = traffic.warm_up(0, 1);
    traffic.sinks[1].packets.clear();
  }
  Post post(std::size_t bytes, int tag) {
    const Post answer = traffic.net[0].post(1, envelope(bytes, tag), pattern(bytes, posted));
    if (answer == Post::done) ++posted;
    return answer;
  }
  bool say(std::size_t bytes, int tag) {
    return traffic.until([&] { return post(bytes, tag) == Post::done; });
  }
  bool all_came() {
    return traffic.until([&] { return traffic.sinks[1].packets.size() == posted; });
  }
  /// What lies between the ranks.
  std::vector<std::byte>& written() {
    return (*traffic.net.ranks[1]->adapter->queues().begin())->mail.back().bytes;
  }

  Talk traffic;
  bool warm = false;
  unsigned posted = 0;
};

TEST(VerbsSlots, Repeated_envelope_goes_without_a_header) {
  Repeats repeats({.inline_bytes = 4096});
  ASSERT_TRUE(repeats.warm);
  for (const std::size_t bytes : {std::size_t{8}, std::size_t{0}, Messages::most_ringed_body}) {
    ASSERT_EQ(repeats.post(bytes, 5), Post::done);
    EXPECT_EQ(repeats.written().size(), sizeof(wire::VerbsPacket) + bytes + 16);
    ASSERT_EQ(repeats.post(bytes, 5), Post::done);
    EXPECT_EQ(repeats.written().size(), bytes + 16);
    ASSERT_TRUE(repeats.all_came());
  }
  EXPECT_EQ(repeats.traffic.counters(0).bare_sends, 3U);
}

TEST(VerbsSlots, Envelopes_are_right_whatever_comes_in_between) {
  for (const double trouble : {0.0, 0.2, 0.3}) {
    Repeats repeats({.reluctance = trouble,
                     .lag = trouble,
                     .inline_bytes = 64,
                     .tears = trouble != 0,
                     .descends = trouble > 0.2});
    ASSERT_TRUE(repeats.warm);
    std::vector<std::pair<std::size_t, int>> said;
    for (unsigned i = 0; i < 3000; ++i) {
      // A few of the same, now and then a message, or a sleep of the receiver.
      const std::size_t bytes = i % 97 == 0 ? 3000 : i / 5 % 3 * 100;
      said.emplace_back(bytes, static_cast<int>(i / 9 % 4));
      ASSERT_TRUE(repeats.say(said.back().first, said.back().second));
      if (i % 501 == 0) (void)repeats.traffic.net[1].arm();
      if (i % 2 == 0) {
        ASSERT_TRUE(repeats.all_came());
      }
    }
    ASSERT_TRUE(repeats.all_came());
    EXPECT_GT(repeats.traffic.counters(0).bare_sends, 1000U);
    for (unsigned i = 0; i < said.size(); ++i) {
      const auto& packet = repeats.traffic.sinks[1].packets[i];
      ASSERT_EQ(packet.envelope.tag, said[i].second) << i;
      ASSERT_EQ(packet.envelope.length, said[i].first) << i;
      ASSERT_EQ(packet.body, pattern(said[i].first, i)) << i;
    }
  }
}

/// A second packet, without a header, of which `change` may alter the end; what follows then.
struct SecondPacket {
  explicit SecondPacket(const std::function<void(std::array<std::uint8_t, 8>&)>& change) {
    EXPECT_EQ(repeats.post(8, 5), Post::done);
    sender = head_of(repeats.written());
    EXPECT_TRUE(repeats.all_came());
    EXPECT_EQ(repeats.post(8, 5), Post::done);
    ++sender.sequence;
    auto& bytes = repeats.written();
    EXPECT_EQ(bytes.size(), 24U);
    std::array<std::uint8_t, 8> end{};
    std::memcpy(end.data(), bytes.data() + 16, 8);
    change(end);
    std::memcpy(bytes.data() + 16, end.data(), 8);
  }
  /// What rank 1 says of rank 0 in the end.
  std::string loss() {
    auto& losses = repeats.traffic.net.losses(1);
    EXPECT_TRUE(repeats.traffic.until([&] { return !losses.empty(); }));
    EXPECT_EQ(repeats.traffic.sinks[1].packets.size(), 1U);
    return losses.front().text;
  }

  Repeats repeats;
  wire::VerbsPacket sender;
};

TEST(VerbsSlots, Nonsense_without_a_header_ends_the_connection_with_a_reason) {
  const auto expect = [](std::size_t byte, std::uint8_t value, const char* part) {
    SecondPacket second([&](auto& end) { end[byte] = value; });
    auto& written = second.repeats.written();
    mark(written, second.sender, end_of(written));
    const std::string text = second.loss();
    EXPECT_NE(text.find(part), std::string::npos) << text;
  };
  expect(0, 0, "not like the last one");
  expect(0, 7, "not like the last one");
  expect(0, 255, "not like the last one");
  expect(2, 100, "it has taken what was not sent");
  expect(7, wire::verbs_slot_packet, "fewer bytes than a header");
}

/// It may be half of one. The peer's own order of packets shows that it is none.
TEST(VerbsSlots, What_lacks_a_mark_is_no_packet_and_a_message_behind_it_ends_the_connection) {
  // The mark ahead, and of the end the number of bytes and the mark.
  for (const std::size_t byte : {0, 1, 2, 3, 4, 5, 6, 7, 16, 19, 20, 21, 22}) {
    SecondPacket second([](auto&) {});
    second.repeats.written()[byte] ^= std::byte{1};
    Talk& traffic = second.repeats.traffic;
    for (int i = 0; i < 300; ++i) traffic.poll_all();
    EXPECT_EQ(traffic.sinks[1].packets.size(), 1U);
    EXPECT_TRUE(traffic.net.losses(1).empty());
    // Nobody keeps it awake in this way.
    for (int i = 0; i < 10; ++i) (void)traffic.net[1].arm();
    EXPECT_TRUE(traffic.net[1].arm()) << byte;
    ASSERT_EQ(second.repeats.post(3000, 5), Post::done);
    const std::string text = second.loss();
    EXPECT_NE(text.find("a wrong number"), std::string::npos) << text;
  }
}

/// Bytes of a write come in the order of their addresses, up or down: so many are there.
enum class Bytes : bool { ascend, descend };
void expect_wait_for_both_ends(Bytes order) {
  const bool descends = order == Bytes::descend;
  Repeats repeats({.tears = true, .descends = descends});
  ASSERT_TRUE(repeats.warm);
  for (const std::size_t bytes : {8U, 0U, 5U, 21U, 100U}) {
    for (const bool is_bare : {false, true}) {
      const std::size_t written = bytes + 16 + (is_bare ? 0 : sizeof(wire::VerbsPacket));
      for (std::size_t missing = 1; missing <= written; ++missing) {
        const int tag = static_cast<int>(missing % 2);
        if (is_bare && missing == 1) {
          ASSERT_EQ(repeats.post(bytes, 0), Post::done);
          ASSERT_TRUE(repeats.all_came());
        }
        ASSERT_EQ(repeats.post(bytes, is_bare ? 0 : tag), Post::done);
        auto& mail = (*repeats.traffic.net.ranks[1]->adapter->queues().begin())->mail;
        ASSERT_EQ(mail.size(), 1U);
        ASSERT_EQ(mail.front().bytes.size(), written);
        auto* const to = reinterpret_cast<std::byte*>(mail.front().request.place.address);
        for (std::size_t i = 0; i < written; ++i) {
          const bool is_missing = descends ? i < missing : i >= written - missing;
          to[i] = is_missing ? ~mail.front().bytes[i] : mail.front().bytes[i];
        }
        const auto late = std::exchange(mail, {});
        const std::size_t came = repeats.traffic.sinks[1].packets.size();
        for (int i = 0; i < 3; ++i) repeats.traffic.poll_all();
        ASSERT_EQ(repeats.traffic.sinks[1].packets.size(), came) << bytes << ' ' << missing;
        mail = late;
        ASSERT_TRUE(repeats.all_came() && repeats.traffic.until([&] { return mail.empty(); }));
        ASSERT_EQ(repeats.traffic.sinks[1].packets.back().body, pattern(bytes, repeats.posted - 1));
      }
    }
  }
  EXPECT_TRUE(repeats.traffic.net.losses(1).empty());
}

TEST(VerbsSlots, Packet_waits_for_both_of_its_ends) {
  expect_wait_for_both_ends(Bytes::ascend);
  expect_wait_for_both_ends(Bytes::descend);
}

TEST(VerbsSlots, Signal_in_a_ring_ends_the_connection) {
  const std::string text = loss_after([&](std::vector<std::byte>& bytes) {
    wire::VerbsPacket head;
    std::memcpy(&head, bytes.data() + 8, sizeof head);
    head.length = 0;
    head.flags = 0;
    head.context = 0;
    head.tag = 0;
    head.kind = static_cast<std::uint8_t>(wire::VerbsSignal::credit);
    // It lies right ahead of the end.
    std::memcpy(bytes.data() + 16, &head, sizeof head);
    mark(bytes, head, plain_end(wire::verbs_slot_packet, sizeof head));
  });
  EXPECT_NE(text.find("a signal in a ring"), std::string::npos) << text;
}

}  // namespace
}  // namespace fulmar::fabric
