// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "interfaces/segment_exchange.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>

namespace fulmar::interfaces {
namespace {

/// Two ends of one process; what one of them says reaches the other one when the test delivers it.
class SegmentExchanges : public ::testing::Test {
 protected:
  struct End {
    End(SegmentExchanges& test, std::uint32_t self)
        : own{.job = 1, .rank = self, .engine = 0},
          exchange(own, {this, send, mapped}),
          all(test) {}
    static void send(void* context, std::uint32_t peer, wire::SystemKind kind,
                     std::span<const std::byte> body) noexcept {
      auto& self = *static_cast<End*>(context);
      self.all.words.push_back({self.own.rank, peer, kind, {body.begin(), body.end()}});
    }
    static void mapped(void* context, std::uint32_t, std::uint64_t id, Segment* segment) noexcept {
      static_cast<End*>(context)->got[id].reset(static_cast<MappedSegment*>(segment));
    }
    wire::ProcessName own;
    SegmentExchange exchange;
    std::map<std::uint64_t, std::unique_ptr<MappedSegment>> got;
    SegmentExchanges& all;
  };
  struct Word {
    std::uint32_t from;
    std::uint32_t to;
    wire::SystemKind kind;
    std::vector<std::byte> body;
  };

  void deliver() {
    const Word word = words.front();
    words.pop_front();
    SegmentExchange& to = word.to == 0 ? owner.exchange : other.exchange;
    const auto id = wire::decode<wire::SegmentIdBody>(word.body);
    ASSERT_TRUE(id.has_value());
    if (word.kind == wire::SystemKind::ticket) {
      to.on_ticket(word.from, *wire::decode<wire::SegmentTicketBody>(word.body));
    } else if (word.kind == wire::SystemKind::asked) {
      to.on_asked(word.from, *id);
    } else {
      to.on_granted(word.from, *id);
    }
  }
  void deliver_all() {
    while (!words.empty()) deliver();
  }
  [[nodiscard]] static std::unique_ptr<MappedSegment> make() {
    auto made = device::NodeSegment::make(4096);
    EXPECT_TRUE(made.ok());
    return std::make_unique<MappedSegment>(std::move(*made));
  }

  std::deque<Word> words;
  End owner{*this, 0};
  End other{*this, 1};
};

TEST_F(SegmentExchanges, The_other_process_maps_what_is_offered) {
  const auto segment = make();
  ASSERT_TRUE(owner.exchange.offer(*segment, 1, other.own, 7));
  deliver_all();
  ASSERT_NE(other.got[7], nullptr);
  segment->base[5] = std::byte{42};
  EXPECT_EQ(other.got[7]->base[5], std::byte{42});
}

/// The request ends, with its socket, however far it has come.
TEST_F(SegmentExchanges, What_is_withdrawn_counts_as_not_to_be_mapped) {
  for (std::uint64_t id = 0; id < 2; ++id) {
    const auto segment = make();
    ASSERT_TRUE(owner.exchange.offer(*segment, 1, other.own, id));
    if (id == 1) deliver();
    owner.exchange.withdraw(*segment);
    deliver_all();
    ASSERT_TRUE(other.got.contains(id)) << id;
    EXPECT_EQ(other.got[id], nullptr) << id;
  }
}

}  // namespace
}  // namespace fulmar::interfaces
