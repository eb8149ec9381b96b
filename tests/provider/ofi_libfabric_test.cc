// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

#include "fabric/ofi/messages.h"
#include "fabric/ofi/ofi.h"
#include "fabric/ofi/open.h"
#include "provider/ofi_real.h"
#include "provider/tcp_messages.h"
#include "provider/tcp_net.h"
#include "wire/ofi/ofi_address.h"

/// The provider over the real libfabric: its tcp;ofi_rxm, which needs no hardware.
namespace fulmar::fabric {
namespace {

constexpr unsigned patience = 2'000'000;

class OfiLibfabric : public ::testing::Test {
 protected:
  using Rank = RealOfi::Rank;
  std::unique_ptr<RealOfi> net;

  void SetUp() override {
    if (const std::string why = lacking_libfabric(); !why.empty()) GTEST_SKIP() << why;
    net = std::make_unique<RealOfi>(2);
  }
  [[nodiscard]] Rank& rank(std::size_t number) { return net->ranks[number]; }
  Ofi& operator[](std::size_t rank) { return (*net)[rank]; }
  template <class Sinks, class Done>
  bool poll_until(Sinks& sinks, Done done) {
    for (unsigned i = 0; i < patience; ++i) {
      for (std::size_t each = 0; each < net->ranks.size(); ++each) {
        if (rank(each).ofi != nullptr) (*this)[each].poll(sinks[each]);
      }
      if (done()) return true;
    }
    return false;
  }
};

TEST_F(OfiLibfabric, Its_capabilities_are_known) {
  const ofi::Capabilities& can = (*this)[0].messages().capabilities();
  EXPECT_EQ(can.provider, "tcp;ofi_rxm");
  EXPECT_TRUE(can.sleeps);
  EXPECT_TRUE(can.listens_on_tcp);
  EXPECT_TRUE((*this)[0].moves_remotely(0));
  EXPECT_GE(can.most_pieces, 2U);
  EXPECT_GE((*this)[0].descriptor(), 0);
  const auto address = wire::decode_ofi_address(rank(0).address);
  ASSERT_TRUE(address.ok());
  EXPECT_EQ(address.value().provider, "tcp;ofi_rxm");
}

TEST_F(OfiLibfabric, Packets_of_every_length_come_in_order_both_ways) {
  std::vector<KeepingSink> sinks(2);
  constexpr unsigned total = 600;
  const auto bytes_of = [](unsigned i) -> std::size_t {
    return i % 60 == 0 ? Ofi::max_body_bytes - i : i % 7 == 0 ? 3000 + i : i % 40;
  };
  std::array<unsigned, 2> posted{};
  ASSERT_TRUE(
      poll_until(sinks,
                 [&] {
                   for (std::uint32_t from = 0; from < 2; ++from) {
                     while (posted[from] < total) {
                       const unsigned i = posted[from];
                       if ((*this)[from].post(1 - from, envelope(bytes_of(i), static_cast<int>(i)),
                                              pattern(bytes_of(i), i)) == Post::again) {
                         break;
                       }
                       ++posted[from];
                     }
                   }
                   return sinks[0].packets.size() == total && sinks[1].packets.size() == total;
                 }))
      << sinks[0].packets.size() << " and " << sinks[1].packets.size() << " came of " << posted[0]
      << " and " << posted[1];
  for (unsigned i = 0; i < total; ++i) {
    for (const KeepingSink& sink : sinks) {
      ASSERT_EQ(sink.packets[i].envelope.tag, static_cast<int>(i));
      ASSERT_EQ(sink.packets[i].body, pattern(bytes_of(i), i));
    }
  }
}

TEST_F(OfiLibfabric, Long_messages_go_from_where_they_lie) {
  std::vector<PlacingSink> sinks(2);
  std::vector<Message> messages;
  for (std::uint64_t number = 1; number <= 3; ++number) {
    messages.push_back({number, pattern(3'000'000, static_cast<unsigned>(number))});
    messages.back().packet_bytes = Ofi::max_in_place_bytes - sizeof(Prefix);
    if (number == 2) messages.back().piece_bytes = 30'000;
    sinks[1].messages[number].resize(messages.back().bytes.size());
  }
  ASSERT_TRUE(poll_until(sinks, [&] {
    bool all = true;
    for (Message& message : messages) {
      all = message.step((*this)[0], 1) && all;
      all = all && sinks[1].arrived[message.number] == message.bytes.size() &&
            sinks[0].ended.count(message.token(message.packets - 1)) != 0;
    }
    return all;
  }));
  for (const Message& message : messages) {
    EXPECT_EQ(sinks[1].messages[message.number], message.bytes);
  }
}

/// They are ours to choose here, and all that keeps others off.
TEST_F(OfiLibfabric, Keys_of_memory_use_all_bits_and_are_never_the_same) {
  std::vector<std::byte> memory(4096);
  std::set<std::uint64_t> keys;
  std::uint64_t bits = 0;
  for (int i = 0; i < 64; ++i) {
    const auto opened = (*this)[0].open_memory(memory, Access::peers_read);
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    bits |= opened.value().rkey;
    keys.insert(opened.value().rkey);
    if (i % 2 == 0) (*this)[0].close_memory(opened.value());
  }
  EXPECT_EQ(keys.size(), 64U);
  EXPECT_EQ(bits, UINT64_MAX);
}

TEST_F(OfiLibfabric, Descriptor_wakes_a_sleeper) {
  std::vector<KeepingSink> sinks(2);
  // The first packet makes the connection.
  ASSERT_TRUE(poll_until(sinks, [&, sent = false]() mutable {
    if (!sent) sent = (*this)[0].post(1, envelope(8), pattern(8, 0)) == Post::done;
    return sinks[1].packets.size() == 1;
  }));
  for (std::size_t round = 2; round < 50; ++round) {
    unsigned tries = 0;
    while (!(*this)[1].arm() && ++tries < patience) (*this)[1].poll(sinks[1]);
    ASSERT_LT(tries, patience);
    ASSERT_EQ((*this)[0].post(1, envelope(8), pattern(8, 0)), Post::done);
    while (sinks[1].packets.size() < round) {
      pollfd waiting{(*this)[1].descriptor(), POLLIN, 0};
      if ((*this)[1].arm()) {
        ASSERT_EQ(::poll(&waiting, 1, 10'000), 1) << round;
      }
      (*this)[1].poll(sinks[1]);
      (*this)[0].poll(sinks[0]);
    }
  }
}

TEST_F(OfiLibfabric, Leaving_loses_nothing_and_is_no_loss) {
  std::vector<KeepingSink> sinks(2);
  unsigned posted = 0;
  ASSERT_TRUE(poll_until(sinks, [&] {
    if ((*this)[0].post(1, envelope(2000), pattern(2000, 0)) == Post::done) ++posted;
    return posted == 100;
  }));
  (*this)[0].leave(Leaving::may_return);
  ASSERT_TRUE(poll_until(sinks, [&] { return (*this)[0].quiesced(); }));
  EXPECT_EQ(sinks[1].packets.size(), posted);
  rank(0).ofi.reset();
  (*this)[1].leave(Leaving::may_return);
  ASSERT_TRUE(poll_until(sinks, [&] { return (*this)[1].quiesced(); }));
  EXPECT_TRUE(rank(1).losses.empty());
}

/// Whether the connection ends while something is on its way or not.
TEST_F(OfiLibfabric, Peer_that_ends_without_a_word_is_lost_when_something_is_sent_to_it) {
  std::vector<KeepingSink> sinks(2);
  ASSERT_TRUE(poll_until(sinks, [&, sent = false]() mutable {
    if (!sent) sent = (*this)[0].post(1, envelope(8), pattern(8, 0)) == Post::done;
    return sinks[1].packets.size() == 1;
  }));
  rank(1).ofi.reset();
  for (unsigned i = 0; i < 100; ++i) (*this)[0].poll(sinks[0]);
  ASSERT_TRUE(poll_until(sinks, [&] {
    const Post post = (*this)[0].post(1, envelope(2000), pattern(2000, 0));
    EXPECT_TRUE(post == Post::done || post == Post::again);
    return !rank(0).losses.empty();
  }));
  EXPECT_NE(rank(0).losses[0].find("rank 1 at fi_sockaddr"), std::string::npos)
      << rank(0).losses[0];
  EXPECT_NE(rank(0).losses[0].find("tcp;ofi_rxm"), std::string::npos);
}

TEST(OfiOpen, Unknown_provider_is_an_error_that_lists_those_there_are) {
  if (!ofi::is_built()) GTEST_SKIP() << "built without libfabric-dev";
  ofi::Wish wish;
  wish.provider = "pigeon";
  const auto opened = ofi::open_endpoint(wish);
  ASSERT_TRUE(opened.failed());
  const std::string text = opened.error().text();
  EXPECT_NE(text.find("FULMAR_OFI_PROVIDER=pigeon"), std::string::npos) << text;
  EXPECT_NE(text.find("tcp;ofi_rxm"), std::string::npos) << text;
  wish.provider = "tcp;ofi_rxm:nowhere7";
  const auto nowhere = ofi::open_endpoint(wish);
  ASSERT_TRUE(nowhere.failed());
  EXPECT_NE(nowhere.error().text().find("nowhere7"), std::string::npos);
}

TEST(OfiOpen, Without_the_library_the_error_names_the_package) {
  ofi::Wish wish;
  wish.library = "libfabric.so.none";
  const auto opened = ofi::open_endpoint(wish);
  ASSERT_TRUE(opened.failed());
  EXPECT_NE(opened.error().text().find(ofi::is_built() ? "libfabric1" : "libfabric-dev"),
            std::string::npos)
      << opened.error().text();
}

TEST(OfiOpen, Chosen_device_is_used) {
  if (!ofi::is_built()) GTEST_SKIP() << "built without libfabric-dev";
  ofi::Wish wish;
  wish.provider = "tcp;ofi_rxm:lo";
  const auto opened = ofi::open_endpoint(wish);
  ASSERT_TRUE(opened.ok()) << opened.error().text();
  EXPECT_EQ(opened.value()->capabilities().domain, "lo");
}

}  // namespace
}  // namespace fulmar::fabric
