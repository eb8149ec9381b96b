// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>

#include "base/trace.h"
#include "device/peer/failures.h"
#include "device/progress/idle.h"
#include "device/progress/waiter.h"
#include "device/protocol/copy_choice.h"
#include "fabric/process_table.h"

namespace fulmar::device {

/// How the bytes of a long message move where adapters read and write peers' memory. Each side
/// decides for itself, and a protocol is used if both allow it.
enum class RdmaProtocol : std::uint8_t {
  automatic,  ///< fetch; put where the sender's data are several long runs of memory
  fetch,      ///< the receiver reads
  put,        ///< the sender writes
  off,        ///< through packets
};

/// Variants that the paper about Open MPI on Elan4 compared, for studies: see
/// device/protocol/rndv_rdma.cc.
struct RemoteStudy {
  /// Bytes of the data that travel with the announcement of a message that adapters may move, up
  /// to `wire::most_inlined_bytes`.
  std::uint64_t inlined_bytes = 0;
  enum class EndOfPut : std::uint8_t {
    chained,  ///< posted behind the last write
    apart,    ///< posted when the adapter has reported the end of the last write
  };
  EndOfPut end_of_put = EndOfPut::chained;
};

/// How one-sided operations on memory of other hosts become orders of the adapter (paper 002; see
/// device/rma/remote_access.h). Each can be switched off for studies.
struct RemoteSchedule {
  /// When adapters write and read the memory of windows; else all operations are requests to the
  /// target.
  enum class Direct : std::uint8_t {
    automatic,  ///< where they need nothing of the target's processor
    always,     ///< wherever they can
    never,
    requests,  ///< never, and memory of the own node by requests as well
  };
  Direct direct = Direct::automatic;
  /// Short puts that continue each other travel in one write, or in one message of requests, while
  /// earlier ones to that target are under way.
  bool merges = true;
  /// Reads and writes that wait are given to the adapter in turn, so that both directions are busy;
  /// else in the order of the calls.
  bool interleaves = true;
  /// Where accumulate operations run on windows whose adapters could execute them: see
  /// mpi/rma/agent.h.
  enum class Atomics : std::uint8_t { automatic, adapter, target };
  Atomics atomics = Atomics::automatic;
};

/// The configuration of a device.
struct Config {
  std::uint32_t self = 0;  ///< this process's rank in its job
  std::uint32_t size = 1;  ///< ranks of the job
  /// Where processes have their ids, of which the ranks of the job are the first; shared with the
  /// networks. Null: the device makes one with these ranks, of a job with the number 1.
  std::shared_ptr<fabric::ProcessTable> processes = nullptr;
  /// More runnable ranks on the node than cores: yield instead of spinning.
  bool oversubscribed = false;
  bool has_membarrier = false;
  WaitStyle wait_style = WaitStyle::automatic;
  /// Messages up to this long are copied eagerly.
  std::uint64_t eager_bytes = 64U << 10;
  LongCopy long_copy = LongCopy::automatic;
  /// Messages from this length on are copied by sender and receiver together.
  std::uint64_t share_bytes = (std::uint64_t{64} << 10) + 1;
  RdmaProtocol rdma_protocol = RdmaProtocol::automatic;
  RemoteSchedule remote_schedule = {};
  /// From this length on, registering the memory of both sides is worth it. Copying 64 KiB twice
  /// takes about as long as pinning its pages twice.
  std::uint64_t remote_bytes = 64U << 10;
  RemoteStudy remote_study = {};
  /// Senders are held while there are more unexpected data than this.
  std::uint64_t unexpected_budget_bytes = std::uint64_t{16} << 20;
  /// Called with `owner` when the system has no memory for a message of `bytes` bytes that
  /// arrived before its receive, which would wait for ever. Does not return.
  void (*out_of_memory)(void* owner, std::uint64_t bytes) = nullptr;
  /// Called with `owner`: whether a process that is reached through shared memory has finalized
  /// MPI, and receives no more of what was sent to it. Everything that it has sent can
  /// be read then. Null: not known.
  bool (*has_left)(const void* owner, std::uint32_t peer) = nullptr;
  void* owner = nullptr;
  WaitObserver observer = {};
  FailureObserver failures = {};
  /// Where stages of messages are recorded; null: nowhere. With it short messages do not take the
  /// fast path (`Device::send_now`), which records nothing. See device/stats/trace.cc.
  base::Trace* trace = nullptr;
};

/// Counts since the device was made.
struct Counters {
  std::uint64_t eager_sends = 0;
  std::uint64_t rendezvous_sends = 0;
  std::uint64_t rendezvous_bytes = 0;  ///< what those announced
  std::uint64_t unexpected = 0;
  std::uint64_t single_copies = 0;    ///< pieces moved between address spaces by this process
  std::uint64_t streamed = 0;         ///< messages that fell back to the copy through the ring
  std::uint64_t fetched = 0;          ///< messages whose bytes this process read from its peers
  std::uint64_t put = 0;              ///< messages whose bytes it wrote to its peers
  std::uint64_t remote_bytes = 0;     ///< posted to its adapters as reads and writes
  std::uint64_t refused = 0;          ///< times that memory could not be registered
  std::uint64_t remote_retreats = 0;  ///< messages that went on as a stream
  std::uint64_t holds = 0;            ///< `hold` packets sent
  std::uint64_t sleeps = 0;
  std::uint64_t sleep_ns = 0;
  std::uint64_t thread_turns = 0;    ///< turns of the library's own progress thread
  std::uint64_t thread_wakeups = 0;  ///< times that it was woken while it was its turn
  std::uint64_t second_thread_wakeups =
      0;                           ///< times that a local completion woke the second thread
  std::uint64_t thread_moved = 0;  ///< what the progress calls of the thread moved
  std::uint64_t malformed = 0;     ///< malformed packets, which were dropped
};

}  // namespace fulmar::device
