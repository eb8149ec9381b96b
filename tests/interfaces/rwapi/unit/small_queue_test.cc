// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "rwapi/small_queue.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace fulmar::rwapi {
namespace {

rwapi_small message_of(std::uint32_t value) {
  rwapi_small message{};
  std::memcpy(message.data, &value, sizeof value);
  message.data[RWAPI_SMALL_BYTES - 1] = static_cast<unsigned char>(value * 7);
  return message;
}

std::uint32_t value_of(const rwapi_small& message) {
  std::uint32_t value = 0;
  std::memcpy(&value, message.data, sizeof value);
  EXPECT_EQ(message.data[RWAPI_SMALL_BYTES - 1], static_cast<unsigned char>(value * 7));
  return value;
}

class SmallQueue : public ::testing::Test {
 protected:
  /// Memory of an arena is zeros.
  std::unique_ptr<wire::RwapiSmallQueue> queue = std::make_unique<wire::RwapiSmallQueue>();
  SmallSender sender{queue.get()};
  SmallReceiver receiver{*queue};
  rwapi_small got{};
};

TEST_F(SmallQueue, Messages_come_once_and_in_order) {
  EXPECT_FALSE(receiver.receive(got));
  for (std::uint32_t i = 0; i < 3; ++i) ASSERT_TRUE(sender.send(message_of(i)));
  for (std::uint32_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(receiver.receive(got));
    EXPECT_EQ(value_of(got), i);
  }
  EXPECT_FALSE(receiver.receive(got));
}

TEST_F(SmallQueue, It_is_full_at_its_size_and_has_room_as_soon_as_one_is_taken) {
  for (std::uint32_t i = 0; i < RWAPI_QUEUE; ++i) ASSERT_TRUE(sender.send(message_of(i)));
  EXPECT_FALSE(sender.send(message_of(0)));
  ASSERT_TRUE(receiver.receive(got));
  EXPECT_TRUE(sender.send(message_of(RWAPI_QUEUE)));
  EXPECT_FALSE(sender.send(message_of(0)));
  for (std::uint32_t i = 1; i <= RWAPI_QUEUE; ++i) {
    ASSERT_TRUE(receiver.receive(got));
    ASSERT_EQ(value_of(got), i);
  }
}

/// Both ends are at the same number, shortly before it begins at 0 again.
TEST_F(SmallQueue, Numbers_wrap_around) {
  constexpr std::uint32_t begin = UINT32_MAX - 5000;
  SmallSender late = SmallSender::at(queue.get(), begin);
  SmallReceiver reader = SmallReceiver::at(*queue, begin);
  queue->taken = begin;
  for (std::uint32_t i = 0; i < 3 * RWAPI_QUEUE; ++i) {
    ASSERT_TRUE(late.send(message_of(i)));
    ASSERT_TRUE(reader.receive(got));
    ASSERT_EQ(value_of(got), i);
    ASSERT_FALSE(reader.receive(got));
  }
  for (std::uint32_t i = 0; i < RWAPI_QUEUE; ++i) ASSERT_TRUE(late.send(message_of(i)));
  EXPECT_FALSE(late.send(message_of(0)));
}

TEST_F(SmallQueue, Two_threads_lose_nothing) {
  constexpr std::uint32_t count = 50'000;
  std::thread other([&] {
    for (std::uint32_t i = 0; i < count;) {
      if (sender.send(message_of(i))) {
        ++i;
      } else {
        std::this_thread::yield();
      }
    }
  });
  for (std::uint32_t i = 0; i < count;) {
    if (receiver.receive(got)) {
      ASSERT_EQ(value_of(got), i);
      ++i;
    } else {
      std::this_thread::yield();
    }
  }
  other.join();
}

/// Whatever the receiver's process writes there, a sender stays inside the queue.
TEST_F(SmallQueue, A_count_that_makes_no_sense_does_no_harm) {
  for (std::uint32_t i = 0; i < RWAPI_QUEUE; ++i) ASSERT_TRUE(sender.send(message_of(i)));
  queue->taken = 77'777;
  for (std::uint32_t i = 0; i < 3 * RWAPI_QUEUE; ++i) (void)sender.send(message_of(i));
  queue->cells[0].number = 12;
  EXPECT_FALSE(receiver.receive(got));
}

}  // namespace
}  // namespace fulmar::rwapi
