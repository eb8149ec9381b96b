// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/search.h"

#include <gtest/gtest.h>

#include "fabric/tcp/connect/rejected_peer_log.h"

namespace fulmar::fabric::tcp {
namespace {

using Hope = Search::Hope;
constexpr std::uint64_t ms = 1'000'000;

Search search(std::size_t count) {
  Ways ways;
  for (std::size_t i = 0; i < count; ++i) {
    wire::TcpAddress address;
    address.bytes = {10, 0, 0, static_cast<std::uint8_t>(i)};
    ways.list.push_back({Endpoint::of(address, 80, 0), std::nullopt, 0});
  }
  ways.left_out.push_back({"127.0.0.1", "loopback of another host"});
  return {1, 0, ways};
}

TEST(Search, Ways_start_one_after_the_other) {
  Search plan = search(3);
  EXPECT_FALSE(plan.take_due(Search::never - 1));
  plan.start(1000 * ms, 5000 * ms);
  EXPECT_EQ(plan.take_due(1000 * ms), 0U);
  EXPECT_FALSE(plan.take_due(1019 * ms));
  EXPECT_EQ(plan.next_due_ns(), 1020 * ms);
  EXPECT_EQ(plan.take_due(1020 * ms), 1U);
  EXPECT_EQ(plan.take_due(1100 * ms), 2U);
  EXPECT_EQ(plan.next_due_ns(), Search::never);
}

TEST(Search, A_failure_makes_the_next_way_come_at_once) {
  Search plan = search(3);
  plan.start(0, 5000 * ms);
  EXPECT_EQ(plan.take_due(0), 0U);
  plan.failed(0, 2 * ms, Hope::gone, "refused");
  EXPECT_EQ(plan.take_due(2 * ms), 1U);
  EXPECT_FALSE(plan.take_due(21 * ms));
  EXPECT_EQ(plan.take_due(22 * ms), 2U);
}

TEST(Search, What_may_pass_is_tried_again_more_and_more_seldom) {
  Search plan = search(1);
  plan.start(0, 5000 * ms);
  std::uint64_t now = 0;
  for (const std::uint64_t pause : {50, 100, 200, 400, 800, 1000, 1000}) {
    EXPECT_EQ(plan.take_due(now), 0U);
    plan.failed(0, now, Hope::left, "no route");
    EXPECT_EQ(plan.next_due_ns(), now + pause * ms);
    now += pause * ms;
    EXPECT_FALSE(plan.exhausted());
  }
  EXPECT_EQ(plan.take_due(now), 0U);
  plan.failed(0, now, Hope::gone, "refused");
  EXPECT_TRUE(plan.exhausted());
}

TEST(Search, Overtime_starts_nothing_until_it_is_renewed) {
  Search plan = search(2);
  plan.start(0, 10 * ms);
  EXPECT_EQ(plan.take_due(0), 0U);
  plan.enter_overtime();
  EXPECT_FALSE(plan.take_due(5000 * ms));
  EXPECT_EQ(plan.next_due_ns(), Search::never);
  plan.renew(6000 * ms);
  EXPECT_EQ(plan.take_due(5000 * ms), 1U);
}

TEST(Search, A_preferred_way_is_first_and_the_others_wait) {
  Search plan = search(3);
  plan.prefer(plan.tries()[2].way.to);
  plan.start(0, 5000 * ms);
  EXPECT_EQ(plan.take_due(0), 0U);
  EXPECT_EQ(plan.tries()[0].way.to.text(), "10.0.0.2:80");
  EXPECT_EQ(plan.next_due_ns(), 1020 * ms);
}

TEST(Search, Text_lists_every_address_by_its_fate) {
  Search plan = search(4);
  plan.start(0, 5000 * ms);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(plan.take_due(5000 * ms), i);
  plan.failed(0, 0, Hope::gone, "refused");
  plan.failed(2, 0, Hope::gone, "refused");
  Link* const some_link = reinterpret_cast<Link*>(8);
  plan.tries()[1].link = some_link;
  EXPECT_EQ(plan.text(400),
            "10.0.0.0:80, 10.0.0.2:80: refused; 10.0.0.1:80: no answer; 10.0.0.3:80: no time was "
            "left to try it; 127.0.0.1: loopback of another host");
  EXPECT_EQ(plan.text(20), "10.0.0.0:80, 10.0...");
}

TEST(RejectedPeerLog, One_line_for_each_kind_and_second) {
  std::vector<std::string> lines;
  RejectedPeerLog log(
      [](void* owner, const char* line) {
        static_cast<std::vector<std::string>*>(owner)->emplace_back(line);
      },
      &lines);
  for (unsigned i = 0; i < 100; ++i) log.note(Strangeness::garbage, "10.0.0.1:5", 500 * ms);
  log.note(Strangeness::silent, "10.0.0.2:5", 500 * ms);
  EXPECT_EQ(lines.size(), 2U);
  log.note(Strangeness::garbage, "10.0.0.3:5", 1500 * ms);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[0].find("10.0.0.1:5"), std::string::npos);
  EXPECT_NE(lines[2].find("99 more"), std::string::npos);
}

}  // namespace
}  // namespace fulmar::fabric::tcp
