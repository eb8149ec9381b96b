// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What a peer costs, in bytes: docs/large-jobs.md says what each is for. Whoever makes one of these larger
// changes the figures there, too.
#include <gtest/gtest.h>

#include "channel/mapped_channel.h"
#include "device/peer/peer.h"
#include "fabric/bundle/peer.h"
#include "fabric/ofi/peer.h"
#include "fabric/process_table.h"
#include "fabric/tcp/stream/connection.h"
#include "fabric/verbs/peer.h"
#include "wire/cell.h"

namespace fulmar::fabric {
namespace {

TEST(PeerSizes, of_a_peer_that_was_talked_to_are_as_documented) {
  EXPECT_LE(sizeof(device::Peer), 192U);
  EXPECT_LE(sizeof(channel::MappedLink), 2192U);
  EXPECT_LE(sizeof(tcp::Peer), 144U);
  EXPECT_LE(sizeof(tcp::Connection), 400U);
  EXPECT_LE(sizeof(verbs::Peer), 632U);
  EXPECT_LE(sizeof(ofi::Peer), 288U);
  EXPECT_LE(sizeof(bundle::Peer), 1184U);
}

/// A mailbox in shared memory, of which untouched pages are not there.
TEST(PeerSizes, of_a_silent_peer_on_the_node_are_one_cell) {
  static_assert(sizeof(wire::Cell) == 64);
}

/// Jobs need memory, their processes none: a table of 100,000 is as large as one of two.
TEST(PeerSizes, of_the_name_of_a_process_are_none) {
  const ProcessTable large({7, 0, 0}, 100'000);
  EXPECT_EQ(large.size(), 100'000U);
  EXPECT_EQ(large.id_of({7, 99'999, 0}), 99'999U);
  static_assert(sizeof(ProcessTable) <= 64);
}

}  // namespace
}  // namespace fulmar::fabric
