// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/os/wake_socket.h"

#include <gtest/gtest.h>
#include <poll.h>

namespace fulmar::base {
namespace {

bool readable(const WakeSocket& socket) {
  pollfd ready{socket.descriptor(), POLLIN, 0};
  return ::poll(&ready, 1, 0) == 1;
}

WakeSocket opened() {
  auto socket = WakeSocket::open();
  EXPECT_TRUE(socket.ok()) << socket.error().text();
  return std::move(*socket);
}

TEST(WakeSocketTest, IsReadableAfterARingUntilDrained) {
  const WakeSocket sleeper = opened();
  const WakeSocket other = opened();
  EXPECT_NE(sleeper.name(), 0U);
  EXPECT_NE(sleeper.name(), other.name());
  EXPECT_FALSE(readable(sleeper));
  other.ring(sleeper.name());
  EXPECT_TRUE(readable(sleeper));
  EXPECT_FALSE(readable(other));
  sleeper.drain();
  EXPECT_FALSE(readable(sleeper));
}

TEST(WakeSocketTest, RingsItself) {
  const WakeSocket sleeper = opened();
  sleeper.ring(sleeper.name());
  EXPECT_TRUE(readable(sleeper));
}

TEST(WakeSocketTest, ManyRingsNeverBlockAndAreDrainedTogether) {
  const WakeSocket sleeper = opened();
  const WakeSocket other = opened();
  for (int i = 0; i < 1000; ++i) other.ring(sleeper.name());
  int drains = 0;
  while (readable(sleeper) && drains < 100) {
    sleeper.drain();
    ++drains;
  }
  EXPECT_LT(drains, 100);
}

TEST(WakeSocketTest, NobodyOfThatNameIsNoError) {
  const WakeSocket other = opened();
  std::uint32_t gone = 0;
  {
    const WakeSocket sleeper = opened();
    gone = sleeper.name();
  }
  other.ring(gone);
  other.ring(0);
  EXPECT_FALSE(readable(other));
}

}  // namespace
}  // namespace fulmar::base
