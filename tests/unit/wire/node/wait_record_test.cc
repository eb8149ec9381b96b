// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/node/wait_record.h"

#include <gtest/gtest.h>

#include <cstring>

namespace fulmar::wire {
namespace {

/// A record in which every byte of the body has this value, as a broken rank might leave it.
void fill(WaitRecord& record, int value) {
  WaitBody body;
  std::memset(static_cast<void*>(&body), value, sizeof body);
  write_wait(record, body);
}

TEST(WaitRecord, Nothing_is_read_before_the_first_writing) {
  WaitRecord record{};
  EXPECT_FALSE(read_wait(record, 4).has_value());
}

TEST(WaitRecord, Body_that_is_being_written_is_not_read) {
  WaitRecord record{};
  fill(record, 0);
  ASSERT_TRUE(read_wait(record, 4).has_value());
  record.sequence.fetch_add(1);
  EXPECT_FALSE(read_wait(record, 4).has_value());
}

TEST(WaitRecord, Rubbish_is_brought_into_range) {
  for (const int value : {0x01, 0x1b, 0x7f, 0x80, 0xff}) {
    WaitRecord record{};
    fill(record, value);
    const auto report = read_wait(record, 4);
    ASSERT_TRUE(report.has_value()) << value;
    EXPECT_LE(report->body.kind, static_cast<std::uint32_t>(WaitKind::collective)) << value;
    EXPECT_EQ(report->body.peer_count, 0U) << value;
    EXPECT_EQ(report->body.call.back(), '\0') << value;
    EXPECT_EQ(report->body.what.back(), '\0') << value;
    EXPECT_EQ(report->body.hint.back(), '\0') << value;
    for (const char letter : report->body.hint) {
      EXPECT_TRUE(letter == '\0' || letter == '\n' || (letter >= ' ' && letter <= '~')) << value;
    }
  }
}

TEST(WaitRecord, Peer_outside_the_job_is_dropped) {
  WaitRecord record{};
  WaitBody body{};
  body.peer_count = 2;
  body.peers[0] = 1;
  body.peers[1] = 3;
  write_wait(record, body);
  EXPECT_EQ(read_wait(record, 4)->body.peer_count, 2U);
  EXPECT_EQ(read_wait(record, 3)->body.peer_count, 0U);
}

}  // namespace
}  // namespace fulmar::wire
