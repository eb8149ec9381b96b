// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>

#include "fulmar/measure/batches.h"

namespace fulmar::raw {

/// How a process waits for a cache line to change.
enum class Spin { tight, with_pause };

/// Time for an 8-byte store to be seen by a process on another core: half a round trip over two
/// cache lines.
measure::Point cache_line(Spin spin, const measure::Budget& budget);

/// Half a round trip over two bare rings: copy in, one release store; wait, compare the envelope,
/// copy out.
measure::Point ring_latency(std::size_t bytes, const measure::Budget& budget);

/// Messages one way through the bare ring, as fast as the two processes go: bounds rate and copy
/// bandwidth.
measure::Point ring_stream(std::size_t bytes, const measure::Budget& budget);

/// One process copying between two buffers that stay where they are: from the start of a page to
/// `offset` bytes after that of another.
measure::Point copy_hot(std::size_t bytes, std::size_t offset, const measure::Budget& budget);

/// One process copying through 256 MiB, so that each buffer comes from memory.
measure::Point copy_cold(std::size_t bytes, const measure::Budget& budget);

/// Whether the kernel lets a process copy from its parent; containers often forbid it.
bool cma_allowed();

/// One message by one process_vm_readv, with a notification and an answer through a cache line.
measure::Point cma_one(std::size_t bytes, const measure::Budget& budget);

/// The same message moved by both sides: one reads the first half while the other writes the
/// second.
measure::Point cma_two(std::size_t bytes, const measure::Budget& budget);

/// One large message at a time, copied in and out of shared memory chunk by chunk by the two sides.
measure::Point pipe_latency(std::size_t bytes, const measure::Budget& budget);

/// The same with one message behind the other, one way.
measure::Point pipe_stream(std::size_t bytes, const measure::Budget& budget);

/// A counting barrier in shared memory whose waiters call sched_yield.
measure::Point yield_barrier(int ranks, const measure::Budget& budget);

/// One way of a ping-pong in which each side sleeps in a futex and is woken.
measure::Point futex_wake(const measure::Budget& budget);

/// Whether this host has an RDMA adapter that can be used.
bool verbs_allowed();

/// An RDMA write until it is seen by the process that polls for it: half a round trip.
measure::Point verbs_latency(std::size_t bytes, const measure::Budget& budget);

/// One RDMA write, or read, of several that are on the way.
measure::Point verbs_write(std::size_t bytes, const measure::Budget& budget);
measure::Point verbs_read(std::size_t bytes, const measure::Budget& budget);

}  // namespace fulmar::raw
