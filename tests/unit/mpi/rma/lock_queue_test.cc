// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/sync/lock_queue.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <thread>
#include <vector>

namespace fulmar::mpi {
namespace {

/// The words of a lock that was given back so often that the next ticket is the last number.
wire::RmaControl& at_wrap(wire::RmaControl& control) {
  control.next = control.shared_turn = control.exclusive_turn = UINT32_MAX;
  return control;
}

TEST(LockTicket, Locks_are_granted_in_the_order_of_the_tickets) {
  wire::RmaControl control{};
  LockTicket first(control, LockMode::shared);
  LockTicket second(control, LockMode::shared);
  LockTicket writer(control, LockMode::exclusive);
  LockTicket third(control, LockMode::shared);
  EXPECT_FALSE(second.try_take());
  EXPECT_TRUE(first.try_take());
  EXPECT_TRUE(first.try_take()) << "it has it";
  EXPECT_TRUE(second.try_take()) << "readers hold it together";
  EXPECT_FALSE(writer.try_take());
  EXPECT_FALSE(third.try_take()) << "no reader passes a writer";
  EXPECT_EQ(release_lock(control, LockMode::shared), Wake::waiters);
  EXPECT_FALSE(writer.try_take());
  EXPECT_EQ(release_lock(control, LockMode::shared), Wake::waiters);
  EXPECT_TRUE(writer.try_take());
  EXPECT_FALSE(third.try_take());
  EXPECT_EQ(release_lock(control, LockMode::exclusive), Wake::waiters);
  EXPECT_TRUE(third.try_take());
}

TEST(LockTicket, A_writer_takes_the_lock_ahead_of_those_who_have_not_come) {
  wire::RmaControl control{};
  ASSERT_TRUE(take_ahead(control).taken);
  EXPECT_FALSE(take_ahead(control).taken) << "one at a time";
  EXPECT_EQ(release_lock(control, LockMode::exclusive), Wake::nobody);
  LockTicket writer(control, LockMode::exclusive);
  LockTicket reader(control, LockMode::shared);
  ASSERT_TRUE(take_ahead(control).taken) << "the ticket has not been seen in its turn";
  EXPECT_FALSE(writer.try_take());
  EXPECT_EQ(release_lock(control, LockMode::exclusive), Wake::waiters);
  EXPECT_TRUE(writer.try_take());
  EXPECT_FALSE(take_ahead(control).taken);
  EXPECT_EQ(release_lock(control, LockMode::exclusive), Wake::waiters);
  EXPECT_TRUE(reader.try_take());
  EXPECT_FALSE(take_ahead(control).taken) << "a reader has it";
  EXPECT_EQ(control.holder, 0U);
  EXPECT_EQ(release_lock(control, LockMode::shared), Wake::waiters);
  EXPECT_TRUE(take_ahead(control).taken);
}

TEST(LockTicket, A_reader_that_has_come_waits_for_who_is_ahead) {
  wire::RmaControl control{};
  ASSERT_TRUE(take_ahead(control).taken);
  LockTicket reader(control, LockMode::shared);
  EXPECT_FALSE(reader.try_take());
  EXPECT_FALSE(reader.is_lost());
  EXPECT_EQ(release_lock(control, LockMode::exclusive), Wake::waiters);
  EXPECT_FALSE(take_ahead(control).taken) << "the reader is there";
  EXPECT_TRUE(reader.try_take());
}

TEST(LockTicket, Nobody_is_ahead_for_long) {
  wire::RmaControl control{};
  ASSERT_TRUE(take_ahead(control).taken);
  LockTicket writer(control, LockMode::exclusive);
  while ((control.holder & wire::lock_due) == 0) ASSERT_FALSE(writer.try_take());
  EXPECT_EQ(release_lock(control, LockMode::exclusive), Wake::waiters);
  EXPECT_FALSE(take_ahead(control).taken) << "it is due to the ticket";
  EXPECT_TRUE(writer.try_take());
  EXPECT_EQ(release_lock(control, LockMode::exclusive), Wake::waiters);
  EXPECT_TRUE(take_ahead(control).taken);
}

/// What threads see and change that hold the lock; the thread sanitizer looks on.
TEST(LockTicket, Threads_exclude_each_other_and_none_starves) {
  constexpr int threads = 4;
  constexpr int rounds = 5000;
  wire::RmaControl control{};
  long value = 0;
  std::array<long, threads> seen_by_readers{};
  const auto work = [&](std::size_t self) {
    for (int i = 0; i < rounds; ++i) {
      const LockMode mode = i % 8 == 7 ? LockMode::shared : LockMode::exclusive;
      if (mode == LockMode::shared || !take_ahead(control).taken) {
        LockTicket ticket(control, mode);
        while (!ticket.try_take()) std::this_thread::yield();
      }
      if (mode == LockMode::shared) {
        seen_by_readers[self] = value;
      } else {
        ++value;
      }
      (void)release_lock(control, mode);
    }
  };
  std::vector<std::thread> running;
  for (std::size_t self = 0; self < threads; ++self) running.emplace_back(work, self);
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(value, long{threads} * rounds * 7 / 8);
  EXPECT_EQ(control.holder, 0U);
  EXPECT_EQ(control.next, control.exclusive_turn);
  EXPECT_EQ(control.next, control.shared_turn);
}

TEST(LockTicket, Tickets_that_wait_or_are_served_are_not_lost) {
  wire::RmaControl control{};
  at_wrap(control);
  LockTicket first(control, LockMode::exclusive);
  LockTicket second(control, LockMode::shared);
  EXPECT_FALSE(first.is_lost());
  EXPECT_FALSE(second.is_lost());
  ASSERT_TRUE(first.try_take());
  EXPECT_EQ(release_lock(control, LockMode::exclusive), Wake::waiters);
  EXPECT_TRUE(second.try_take());
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

TEST(LockTicket, A_ticket_is_lost_whose_lock_is_held_in_no_way_that_there_is) {
  wire::RmaControl control{};
  LockTicket writer(control, LockMode::exclusive);
  control.holder = 0x12345677;
  EXPECT_FALSE(writer.try_take());
  EXPECT_TRUE(writer.is_lost());
}

}  // namespace
}  // namespace fulmar::mpi
