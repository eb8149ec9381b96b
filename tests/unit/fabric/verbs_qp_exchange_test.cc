// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "fabric/verbs/qp_exchange.h"

namespace fulmar::fabric::verbs {
namespace {

using State = QpExchange::State;

wire::VerbsConnectionInfo card_of(std::uint32_t rank) {
  wire::VerbsConnectionInfo info;
  info.from = {7, rank};
  info.queue = 100 + rank;
  info.first = 5000 + rank;
  info.gid[15] = static_cast<std::byte>(rank + 1);
  info.cookie = 7 + rank;
  info.window = 64;
  info.buffer_bytes = 16384;
  return info;
}

/// Moves at most `most` bytes; how many it was.
std::size_t move(QpExchange& from, QpExchange& to, std::size_t most) {
  const auto bytes = from.outgoing();
  const auto room = to.room();
  const std::size_t count = std::min({bytes.size(), room.size(), most});
  std::copy_n(bytes.begin(), count, room.begin());
  from.sent(count);
  to.received(count);
  return count;
}

TEST(VerbsGreeting, Both_learn_the_other_card_and_when_it_is_ready) {
  for (const std::size_t most : {1U, 7U, 64U, 1000U}) {
    QpExchange zero(card_of(0), {7, 1});
    QpExchange one(card_of(1), {7, 0});
    while (move(zero, one, most) + move(one, zero, most) != 0) continue;
    ASSERT_EQ(zero.state(), State::received);
    ASSERT_EQ(one.state(), State::received);
    EXPECT_EQ(zero.theirs(), card_of(1));
    EXPECT_EQ(one.theirs(), card_of(0));
    one.connected();
    while (move(one, zero, most) != 0) continue;
    EXPECT_EQ(zero.state(), State::received);  // first its own queue
    zero.connected();
    while (move(zero, one, most) + move(one, zero, most) != 0) continue;
    EXPECT_EQ(zero.state(), State::done);
    EXPECT_EQ(one.state(), State::done);
    EXPECT_TRUE(zero.outgoing().empty());
    EXPECT_TRUE(zero.room().empty());
  }
}

TEST(VerbsGreeting, Card_of_another_process_or_link_is_nonsense) {
  for (int variant = 0; variant < 5; ++variant) {
    wire::VerbsConnectionInfo info = card_of(1);
    if (variant == 0) info.from.rank = 2;
    if (variant == 3) info.from.job = 8;
    if (variant == 4) info.from.engine = 1;
    if (variant == 1) info.link = wire::VerbsLink::infiniband;
    if (variant == 2) info.queue = 0;
    QpExchange liar(info, {7, 0});
    QpExchange zero(card_of(0), {7, 1});
    move(liar, zero, 64);
    EXPECT_EQ(zero.state(), State::invalid) << variant;
    EXPECT_TRUE(zero.room().empty());
    zero.connected();
    EXPECT_EQ(zero.state(), State::invalid);
  }
}

TEST(VerbsGreeting, Any_other_word_than_ready_is_nonsense) {
  QpExchange zero(card_of(0), {7, 1});
  QpExchange one(card_of(1), {7, 0});
  move(one, zero, 64);
  zero.connected();
  auto room = zero.room();
  ASSERT_EQ(room.size(), wire::verbs_ready_bytes);
  std::fill(room.begin(), room.end(), std::byte{0x46});
  zero.received(room.size());
  EXPECT_EQ(zero.state(), State::invalid);
}

}  // namespace
}  // namespace fulmar::fabric::verbs
