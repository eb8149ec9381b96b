// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "provider/verbs_net.h"
#include "provider/verbs_real.h"
#include "study/remote_channel.h"
#include "unit/study/studied_memory.h"
#include "wire/packets.h"

/// The papers' channel designs over verbs: adapters that stand in, and a real one where there is
/// one.
namespace fulmar::fabric {
namespace {

using study::Design;
using study::DesignPlan;
using study::Mover;
using Channel = study::RemoteDesignChannel<Verbs>;

std::vector<std::byte> channel_text(std::size_t bytes) {
  std::vector<std::byte> text(bytes);
  for (std::size_t i = 0; i < bytes; ++i) text[i] = channel::content(5, i);
  return text;
}

enum class Kind : std::uint8_t { stand_in, reluctant, real };

/// Ranks that talk by a design.
struct DesignNet {
  DesignNet(Kind kind, const DesignPlan& plan, std::uint32_t size = 2) : sinks(size) {
    if (kind == Kind::real) net = real_verbs_net(size);
    const VerbsHabits reluctant{
        .reluctance = 0.3, .lag = 0.5, .answer_lag = 0.5, .receive_depth = 4};
    if (kind != Kind::real) {
      net = std::make_unique<VerbsNet>(size, kind == Kind::reluctant ? reluctant : VerbsHabits{});
    }
    for (std::uint32_t rank = 0; rank < size; ++rank) {
      channels.push_back(std::make_unique<Channel>((*net)[rank]));
      channels.back()->choose(plan);
    }
  }
  Post put(std::uint32_t from, std::uint32_t to, std::int32_t number, std::uint32_t bytes) {
    study::DesignLink link{to};
    return channel::put(*channels[from], link, number, bytes);
  }
  Post put_long(std::uint32_t from, std::uint32_t to, std::vector<std::byte>& text,
                std::uint64_t token) {
    const iovec piece{text.data(), text.size()};
    const std::byte head[4] = {};
    const auto bytes = static_cast<std::uint32_t>(sizeof head + text.size());
    return channels[from]->post_in_place(to, {wire::PacketKind::data, 0, 3, 9, bytes}, head,
                                         {&piece, 1}, token);
  }
  template <class Done>
  bool until(Done done) {
    for (unsigned i = 0; i < verbs_patience; ++i) {
      for (std::size_t rank = 0; rank < channels.size(); ++rank) {
        if (channels[rank] != nullptr) channels[rank]->get(sinks[rank]);
      }
      if (done()) return true;
    }
    return false;
  }
  void kill(std::uint32_t rank) {
    channels[rank].reset();
    net->kill(rank);
  }

  std::unique_ptr<VerbsNet> net;
  std::vector<std::unique_ptr<Channel>> channels;
  std::vector<study::LongCollector> sinks;
};

class VerbsDesigns : public ::testing::TestWithParam<std::tuple<Kind, Design, Mover>> {
 protected:
  void SetUp() override {
    if (std::get<0>(GetParam()) != Kind::real) return;
    if (const std::string why = lacking_adapter(); !why.empty()) GTEST_SKIP() << why;
  }
  static Kind kind() { return std::get<0>(GetParam()); }
  static DesignPlan plan() {
    return {std::get<1>(GetParam()), std::get<2>(GetParam()), study::Bypass::no, 4096};
  }
};

TEST_P(VerbsDesigns, Packets_and_long_ones_arrive_both_ways) {
  DesignNet net(kind(), plan());
  std::vector<std::byte> text = channel_text(700'001);
  for (auto& sink : net.sinks) sink.room.resize(text.size());
  std::int32_t sent[2] = {};
  std::uint64_t longs[2] = {};
  constexpr std::int32_t count = 300;
  ASSERT_TRUE(net.until([&] {
    bool all = true;
    for (const std::uint32_t from : {0U, 1U}) {
      if (sent[from] < count &&
          net.put(from, 1 - from, sent[from], static_cast<std::uint32_t>(sent[from]) * 37 % 4097) ==
              Post::done) {
        ++sent[from];
      }
      if (longs[from] < 3 && net.put_long(from, 1 - from, text, longs[from]) == Post::done) {
        ++longs[from];
      }
      all = all && net.sinks[from].packets.size() == count && net.sinks[from].ended.size() == 3 &&
            net.sinks[from].arrived == 3 * text.size();
    }
    return all;
  }));
  for (const study::LongCollector& sink : net.sinks) {
    EXPECT_EQ(sink.room, text);
    std::int32_t next = 0;
    for (const auto& packet : sink.packets) {
      ASSERT_TRUE(channel::sound(packet));
      ASSERT_EQ(packet.envelope.tag, next++);
    }
  }
  ASSERT_TRUE(
      net.until([&] { return net.channels[0]->is_settled() && net.channels[1]->is_settled(); }));
}

TEST_P(VerbsDesigns, Ping_pong_costs_what_the_paper_says_and_no_packet) {
  DesignNet net(kind(), plan());
  ASSERT_TRUE(net.until([&] { return net.put(0, 1, 0, 8) == Post::done; }));
  ASSERT_TRUE(net.until([&] { return net.sinks[1].packets.size() == 1; }));
  ASSERT_TRUE(net.until([&] { return net.channels[1]->is_settled(); }));
  const auto writes = [&] {
    return net.channels[0]->design_counters().writes + net.channels[1]->design_counters().writes;
  };
  const auto rdma_writes = [&] {
    return (*net.net)[0].messages().counters().unsignaled_writes +
           (*net.net)[1].messages().counters().unsignaled_writes;
  };
  const std::uint64_t writes_before = writes();
  const std::uint64_t puts_before = rdma_writes();
  constexpr std::int32_t rounds = 50;
  for (std::int32_t i = 0; i < rounds; ++i) {
    for (const std::uint32_t from : {1U, 0U}) {
      const std::size_t before = net.sinks[1 - from].packets.size();
      ASSERT_TRUE(net.until([&] { return net.put(from, 1 - from, i, 8) == Post::done; }));
      ASSERT_TRUE(net.until([&] { return net.sinks[1 - from].packets.size() > before; }));
    }
  }
  ASSERT_TRUE(net.until([&] { return rdma_writes() - puts_before == writes() - writes_before; }));
  EXPECT_EQ(writes() - writes_before, (plan().design == Design::basic ? 3U : 1U) * 2 * rounds);
}

TEST_P(VerbsDesigns, Long_packet_is_copied_twice_or_not_at_all) {
  DesignNet net(kind(), plan());
  std::vector<std::byte> text = channel_text(1U << 20);
  net.sinks[1].room.resize(text.size());
  ASSERT_TRUE(net.until([&] { return net.put_long(0, 1, text, 6) == Post::done; }));
  ASSERT_TRUE(net.until(
      [&] { return net.sinks[0].ended.size() == 1 && net.sinks[1].arrived == text.size(); }));
  const auto& sender = net.channels[0]->design_counters();
  const auto& receiver = net.channels[1]->design_counters();
  EXPECT_EQ(net.sinks[1].room, text);
  if (plan().design == Design::zerocopy) {
    EXPECT_EQ(sender.copied_bytes + receiver.copied_bytes, 0U);
    EXPECT_EQ(sender.moved_bytes + receiver.moved_bytes, text.size());
    EXPECT_EQ(receiver.handshakes, 1U);
    const auto& moved =
        (*net.net)[plan().mover == Mover::sender_writes ? 0 : 1].messages().counters();
    EXPECT_EQ(moved.rdma_read_bytes + moved.rdma_write_bytes, text.size());
    EXPECT_EQ((*net.net)[0].messages().counters().registered_now, 2U);  // the pipe and its image
  } else {
    EXPECT_EQ(sender.copied_bytes, text.size());
    EXPECT_EQ(receiver.copied_bytes, text.size());
  }
}

TEST_P(VerbsDesigns, Peer_that_dies_in_the_middle_ends_what_is_sent_to_it) {
  DesignNet net(kind(), plan());
  std::vector<std::byte> text = channel_text(3U << 20);
  net.sinks[1].room.resize(text.size());
  ASSERT_TRUE(net.until([&] { return net.put(0, 1, 0, 8) == Post::done; }));
  ASSERT_TRUE(net.until([&] { return net.sinks[1].packets.size() == 1; }));
  if (net.net->ranks[0]->adapter != nullptr) net.net->wires.habits.lag = 0.9;
  ASSERT_EQ(net.put_long(0, 1, text, 6), Post::done);
  for (int i = 0; i < 5; ++i) net.channels[1]->get(net.sinks[1]);
  net.kill(1);
  if (net.net->ranks[0]->adapter != nullptr) net.net->wires.habits.lag = 0;
  ASSERT_TRUE(net.until([&] { return !net.net->losses(0).empty(); }));
  ASSERT_TRUE(net.until([&] { return net.sinks[0].ended.size() == 1; }));
  // What follows is dropped.
  EXPECT_EQ(net.put(0, 1, 1, 8), Post::done);
  EXPECT_EQ(net.put_long(0, 1, text, 7), Post::done);
  ASSERT_TRUE(net.until([&] { return net.sinks[0].ended.size() == 2; }));
  EXPECT_TRUE(net.channels[0]->is_settled());
}

std::string name_of(const ::testing::TestParamInfo<VerbsDesigns::ParamType>& info) {
  const char* kinds[] = {"stand_in", "reluctant", "real"};
  const char* designs[] = {"basic", "piggyback", "pipeline", "zerocopy"};
  const auto [kind, design, mover] = info.param;
  return std::string(designs[static_cast<int>(design)]) +
         (mover == Mover::sender_writes ? "_by_write_" : "_") + kinds[static_cast<int>(kind)];
}
INSTANTIATE_TEST_SUITE_P(Read, VerbsDesigns,
                         ::testing::Combine(::testing::Values(Kind::stand_in, Kind::reluctant,
                                                              Kind::real),
                                            ::testing::Values(Design::basic, Design::piggyback,
                                                              Design::pipeline, Design::zerocopy),
                                            ::testing::Values(Mover::receiver_reads)),
                         name_of);
INSTANTIATE_TEST_SUITE_P(Write, VerbsDesigns,
                         ::testing::Combine(::testing::Values(Kind::stand_in, Kind::reluctant,
                                                              Kind::real),
                                            ::testing::Values(Design::zerocopy),
                                            ::testing::Values(Mover::sender_writes)),
                         name_of);

TEST(VerbsDesignSleep, Is_of_no_time_at_first_and_of_a_millisecond_at_most) {
  DesignNet net(Kind::stand_in, {Design::basic, Mover::receiver_reads, study::Bypass::no, 4096});
  EXPECT_TRUE(net.channels[0]->arm());
  EXPECT_LT(net.channels[0]->next_deadline_ns(), 0);  // there is nobody who might write
  ASSERT_TRUE(net.until([&] { return net.put(0, 1, 0, 8) == Post::done; }));
  ASSERT_TRUE(net.until([&] { return net.sinks[1].packets.size() == 1; }));
  for (int i = 0; i < 10; ++i) net.channels[0]->get(net.sinks[0]);
  ASSERT_TRUE(net.channels[0]->arm());
  const auto begin = static_cast<std::int64_t>(base::now_ns());
  EXPECT_LE(net.channels[0]->next_deadline_ns(), begin);
  while (static_cast<std::int64_t>(base::now_ns()) - begin < 6'000'000) {
  }
  ASSERT_TRUE(net.channels[0]->arm());
  const auto now = static_cast<std::int64_t>(base::now_ns());
  EXPECT_LE(net.channels[0]->next_deadline_ns(), now + 1'000'000);
  EXPECT_GT(net.channels[0]->next_deadline_ns(), begin + 6'000'000);
}

/// What a hostile peer may say, and what it may write.
class VerbsDesignStrangers : public ::testing::Test {
 protected:
  static constexpr DesignPlan plan{Design::piggyback, Mover::receiver_reads, study::Bypass::no,
                                   4096};
  /// What rank 0 says of rank 1, whose card `forge` has changed.
  template <class Forge>
  static std::string loss_after(Forge forge) {
    DesignNet net(Kind::stand_in, plan);
    std::vector<std::byte> pipe(512U << 10);
    const auto opened = (*net.net)[1].open_memory(pipe, Access::peers_write);
    wire::PipeInfo info{};
    info.magic = wire::PipeInfo::genuine;
    info.key = opened.value().rkey;
    info.address = (reinterpret_cast<std::uintptr_t>(pipe.data()) + 63) / 64 * 64;
    info.ring_bytes = study::RemotePipeMemory<Verbs>::pipe_ring_bytes;
    info.chunk_bytes = plan.chunk_bytes;
    info.design = static_cast<std::uint8_t>(plan.design);
    info.mover = static_cast<std::uint8_t>(plan.mover);
    forge(info);
    study::LongCollector ignored;
    for (int copies = 0; copies < 2;) {
      const wire::Envelope envelope{wire::PacketKind::pipe_card, 0, 0, 0, sizeof info};
      if ((*net.net)[1].post(0, envelope, wire::bytes_of(info)) == Post::done) ++copies;
      (*net.net)[1].poll(ignored);
      net.channels[0]->get(net.sinks[0]);
      if (copies == 1 && net.put(0, 1, 0, 8) == Post::done) break;
    }
    for (unsigned i = 0; i < 5000 && net.net->losses(0).empty(); ++i) {
      (*net.net)[1].poll(ignored);
      net.channels[0]->get(net.sinks[0]);
    }
    return net.net->losses(0).empty() ? std::string() : net.net->losses(0)[0].text;
  }
};

TEST_F(VerbsDesignStrangers, Genuine_card_is_taken) {
  EXPECT_EQ(loss_after([](wire::PipeInfo&) {}), "");
}

TEST_F(VerbsDesignStrangers, Cards_that_make_no_sense_are_refused) {
  const auto invalid = [](auto forge) {
    const std::string text = loss_after(forge);
    EXPECT_NE(text.find("its card of a pipe makes no sense"), std::string::npos) << text;
    EXPECT_NE(text.find("rank 1"), std::string::npos) << text;
  };
  invalid([](wire::PipeInfo& info) { ++info.magic; });
  invalid([](wire::PipeInfo& info) { info.ring_bytes *= 2; });
  invalid([](wire::PipeInfo& info) { info.address = 0; });
  invalid([](wire::PipeInfo& info) { info.address += 8; });
  invalid([](wire::PipeInfo& info) { info.address = UINT64_MAX - 63; });
}

TEST_F(VerbsDesignStrangers, Card_of_another_design_names_the_settings) {
  const std::string text = loss_after([](wire::PipeInfo& info) { info.chunk_bytes = 8192; });
  EXPECT_NE(text.find("another channel design"), std::string::npos) << text;
  EXPECT_NE(text.find("FULMAR_CHUNK_BYTES"), std::string::npos) << text;
}

TEST_F(VerbsDesignStrangers, Forged_key_or_address_writes_nowhere_and_ends_the_connection) {
  EXPECT_NE(loss_after([](wire::PipeInfo& info) { info.key ^= 0x100; }), "");
  EXPECT_NE(loss_after([](wire::PipeInfo& info) { info.address += 1U << 20; }), "");
}

TEST_F(VerbsDesignStrangers, Packets_besides_cards_are_refused) {
  DesignNet net(Kind::stand_in, plan);
  study::LongCollector ignored;
  for (unsigned i = 0; i < 5000 && net.net->losses(0).empty(); ++i) {
    (void)post((*net.net)[1], 0, 8);
    (*net.net)[1].poll(ignored);
    net.channels[0]->get(net.sinks[0]);
  }
  ASSERT_FALSE(net.net->losses(0).empty());
  EXPECT_TRUE(net.sinks[0].packets.empty());
}

TEST_F(VerbsDesignStrangers, Nonsense_in_a_pipe_ends_the_connection) {
  DesignNet net(Kind::stand_in, plan);
  ASSERT_TRUE(net.until([&] { return net.put(0, 1, 0, 8) == Post::done; }));
  ASSERT_TRUE(net.until([&] { return net.sinks[1].packets.size() == 1; }));
  // Rank 1's next unit goes over with a length that no slot has.
  ASSERT_EQ(net.put(1, 0, 0, 8), Post::done);
  QueueStandIn& queue = **net.net->ranks[0]->adapter->queues().begin();
  ASSERT_EQ(queue.mail.size(), 1U);
  auto& bytes = queue.mail.front().bytes;
  ASSERT_FALSE(bytes.empty());
  bytes[5] = std::byte{0x7f};  // of the length (channel::slot_word)
  ASSERT_TRUE(net.until([&] { return !net.net->losses(0).empty(); }));
  EXPECT_NE(net.net->losses(0)[0].text.find("makes no sense"), std::string::npos);
  EXPECT_TRUE(net.sinks[0].packets.empty());
}

TEST(VerbsDesignLimits, Without_locked_memory_the_peer_is_lost_and_the_limit_is_named) {
  DesignNet net(Kind::stand_in, {Design::basic, Mover::receiver_reads, study::Bypass::no, 4096});
  net.net->wires.habits.most_registered = 1;
  study::DesignLink link{1};
  (void)channel::put(*net.channels[0], link, 0, 8);
  ASSERT_TRUE(net.until([&] { return !net.net->losses(0).empty(); }));
  EXPECT_NE(net.net->losses(0)[0].text.find("are too many"), std::string::npos)
      << net.net->losses(0)[0].text;
}

}  // namespace
}  // namespace fulmar::fabric
