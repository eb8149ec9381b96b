// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

/// What a rank waits for, written by the rank when a wait has lasted for a while, and read by
/// mpiexec for its deadlock report.
///
/// The rank writes anew each time before it sleeps, about once a second. So a rank whose `beats`
/// grow while `since_ns` stays has polled its queues again, found nothing, and is in the same
/// wait as before. The end of the wait is not recorded: the beats stop.
namespace fulmar::wire {

enum class WaitKind : std::uint32_t {
  other = 0,       ///< only the call is known
  message = 1,     ///< from or to the peers, all of them
  any = 2,         ///< one of several
  collective = 3,  ///< of the communicator `comm`
  lock = 4,        ///< of the one peer, in the window whose communicator is `comm`
  exposure = 5,    ///< MPI_Win_complete of some of the peers, in that window
};

/// An access epoch to a rank of a window: a passive-target lock that a process holds, or one of
/// MPI_Win_start.
struct HeldLock {
  std::uint64_t comm;    ///< of the window, as WaitBody::comm
  std::uint32_t target;  ///< whose lock it is
  std::uint32_t holder;
  std::uint32_t exclusive;  ///< 1: it is
  std::uint32_t call;       ///< LockCall
};
enum class LockCall : std::uint32_t { unknown = 0, lock = 1, lock_all = 2, start = 3 };

/// Numbers of ranks are those of the job; texts end with a NUL.
struct WaitBody {
  std::int64_t since_ns;  ///< CLOCK_MONOTONIC
  std::uint64_t comm;     ///< the same number in all its members; 0: unknown
  std::uint32_t kind;     ///< WaitKind
  std::uint32_t peer_count;
  std::array<std::uint32_t, 24> peers;
  std::uint32_t member_count;  ///< of the communicator, where it is a collective call
  std::uint32_t polled;        ///< 1: calls that test or probe in a loop, not one that blocks
  std::array<std::uint64_t, 16> members;  ///< bit r % 64 of word r / 64: rank r, below 1024
  std::array<char, 40> call;              ///< "MPI_Recv"
  std::array<char, 240> what;             ///< "from rank 1 tag 7 on MPI_COMM_WORLD (4 bytes)"
  std::array<char, 352> hint;             ///< what may explain it; lines
  /// Of this rank, and locks of it that others hold and it has granted by requests; the first ones.
  std::array<HeldLock, 8> locks;
  std::uint32_t lock_count;
  std::uint32_t job_count;  ///< jobs.size() + 1: there are more than fit
  /// Other jobs whose processes may end this wait.
  std::array<std::uint32_t, 8> jobs;
};
static_assert(sizeof(HeldLock) == 24 && offsetof(HeldLock, target) == 8);
static_assert(sizeof(WaitBody) == 1120 && offsetof(WaitBody, locks) == 888);
static_assert(offsetof(WaitBody, peers) == 24 && offsetof(WaitBody, members) == 128);
static_assert(offsetof(WaitBody, call) == 256);

struct alignas(64) WaitRecord {
  std::atomic<std::uint32_t> sequence;  ///< odd while the body is written
  std::atomic<std::uint32_t> beats;     ///< 0: nothing has been written yet
  std::array<std::uint32_t, 6> spare;
  WaitBody body;
};
static_assert(sizeof(WaitRecord) == 1152 && offsetof(WaitRecord, body) == 32);

inline void write_wait(WaitRecord& record, const WaitBody& body) noexcept {
  const std::uint32_t sequence = record.sequence.load(std::memory_order_relaxed) & ~1U;
  record.sequence.store(sequence + 1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  std::memcpy(&record.body, &body, sizeof body);
  record.beats.fetch_add(1, std::memory_order_relaxed);
  record.sequence.store(sequence + 2, std::memory_order_release);
}

/// The contents of a record, with every number in range and every text terminated. Nothing while it
/// is being written, or before the first write.
struct WaitReport {
  WaitBody body;
  std::uint32_t beats = 0;
};
inline std::optional<WaitReport> read_wait(const WaitRecord& record,
                                           std::uint32_t rank_count) noexcept {
  WaitReport report;
  const std::uint32_t before = record.sequence.load(std::memory_order_acquire);
  std::memcpy(&report.body, &record.body, sizeof report.body);
  report.beats = record.beats.load(std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::uint32_t after = record.sequence.load(std::memory_order_relaxed);
  if (before != after || before % 2 != 0 || report.beats == 0) return std::nullopt;
  WaitBody& body = report.body;
  if (body.kind > static_cast<std::uint32_t>(WaitKind::exposure)) body.kind = 0;
  if (body.peer_count > body.peers.size()) body.peer_count = 0;
  for (std::uint32_t i = 0; i < body.peer_count; ++i) {
    if (body.peers[i] >= rank_count) body.peer_count = 0;
  }
  if (body.lock_count > body.locks.size()) body.lock_count = 0;
  for (std::uint32_t i = 0; i < body.lock_count; ++i) {
    if (body.locks[i].holder >= rank_count) body.lock_count = 0;
  }
  if (body.job_count > body.jobs.size() + 1) body.job_count = body.jobs.size() + 1;
  const auto clean = [](auto& text) {
    text.back() = '\0';
    for (char& letter : text) {
      if (letter != '\0' && letter != '\n' && (letter < ' ' || letter > '~')) letter = '?';
    }
  };
  clean(body.call);
  clean(body.what);
  clean(body.hint);
  return report;
}

}  // namespace fulmar::wire
