// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/lock_queue.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace fulmar::mpi {
namespace {

/// The words of a lock that was given back so often that the next ticket is the last number.
wire::RmaControl& at_wrap(wire::RmaControl& control) {
  control.next = control.shared_turn = control.exclusive_turn = UINT32_MAX;
  return control;
}

TEST(LockTicket, Readers_share_and_a_writer_waits_for_all_of_them) {
  wire::RmaControl control{};
  LockTicket first(control, LockMode::shared);
  LockTicket second(control, LockMode::shared);
  LockTicket writer(control, LockMode::exclusive);
  ASSERT_TRUE(first.has_turn());
  EXPECT_FALSE(second.has_turn());
  first.take_turn();
  ASSERT_TRUE(second.has_turn());
  second.take_turn();
  release_lock(control, LockMode::shared);
  EXPECT_FALSE(writer.has_turn());
  release_lock(control, LockMode::shared);
  EXPECT_TRUE(writer.has_turn());
}

TEST(LockTicket, A_reader_behind_a_writer_waits) {
  wire::RmaControl control{};
  LockTicket writer(control, LockMode::exclusive);
  LockTicket reader(control, LockMode::shared);
  ASSERT_TRUE(writer.has_turn());
  EXPECT_FALSE(reader.has_turn());
  release_lock(control, LockMode::exclusive);
  EXPECT_TRUE(reader.has_turn());
}

TEST(LockTicket, Tickets_that_wait_or_are_served_are_not_lost) {
  wire::RmaControl control{};
  at_wrap(control);
  LockTicket first(control, LockMode::exclusive);
  LockTicket second(control, LockMode::shared);
  EXPECT_FALSE(first.is_lost());
  EXPECT_FALSE(second.is_lost());
  release_lock(control, LockMode::exclusive);
  EXPECT_TRUE(second.has_turn());
  EXPECT_FALSE(second.is_lost());
}

TEST(LockTicket, A_ticket_whose_turn_was_passed_over_is_lost) {
  wire::RmaControl control{};
  at_wrap(control);
  LockTicket holder(control, LockMode::exclusive);
  const LockTicket waiting(control, LockMode::exclusive);
  const LockTicket reader(control, LockMode::shared);
  control.exclusive_turn = 1000;
  EXPECT_TRUE(waiting.is_lost());
  EXPECT_TRUE(reader.is_lost());
  control.exclusive_turn = UINT32_MAX;
  EXPECT_FALSE(reader.is_lost());
  control.shared_turn = 1000;
  EXPECT_TRUE(reader.is_lost());
  EXPECT_FALSE(waiting.is_lost());
}

}  // namespace
}  // namespace fulmar::mpi
