// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "wire/node/wait_record.h"

/// The job segment: one nameless memory file per job and node, made by mpiexec and inherited by
/// every rank as the descriptor that `FULMAR_JOB_FD` names. When a rank runs a second MPI program
/// after the first one has finalized and ended, that program and its peers use another segment, of
/// the next *generation*, which mpiexec makes when the first rank asks for it (wire/node/join.h).
/// It is not visible in any file system, and is freed when the last process has ended. It
/// is sealed against growing and shrinking: a mapping of it can never fault for lack of a file
/// page.
///
///     0                          JobHeader, 256 bytes
///     records_offset             RankRecord[rank_count], 1920 bytes each
///     areas_offset (2 MiB page)  rank_count data areas of area_bytes each, zero at the start
///     total_bytes                end of the file
///
/// All numbers are in the byte order of the node. Fields that are not atomic are written by mpiexec
/// before the first rank starts and never change. A rank trusts none of them: it checks them once,
/// in `attach_job`, and from then on uses the copies in its JobView.
namespace fulmar::wire {

inline constexpr std::array<char, 8> job_magic = {'F', 'U', 'L', 'M', 'A', 'R', 'J', '1'};
/// Raised with every change of a layout below. mpiexec and library must agree exactly.
inline constexpr std::uint32_t job_layout_version = 11;
/// The largest job of one node that the formats here are checked for.
inline constexpr std::uint32_t max_job_ranks = 65536;

/// The environment of a rank before MPI_Init.
inline constexpr const char* env_job_fd = "FULMAR_JOB_FD";
inline constexpr const char* env_job_socket = "FULMAR_JOB_SOCKET";  ///< wire/node/join.h
inline constexpr const char* env_rank = "FULMAR_RANK";
inline constexpr const char* env_size = "FULMAR_SIZE";
inline constexpr const char* env_local_rank = "FULMAR_LOCAL_RANK";
inline constexpr const char* env_local_size = "FULMAR_LOCAL_SIZE";
inline constexpr const char* env_appnum = "FULMAR_APPNUM";
inline constexpr const char* env_program_size = "FULMAR_PROGRAM_SIZE";  ///< ranks of that program

/// The state of a rank. `started` and `exited` are written by mpiexec, the others by the
/// library.
enum class RankState : std::uint32_t {
  empty = 0,        ///< not started yet
  started = 1,      ///< the process exists
  initialised = 2,  ///< inside MPI: between initialization and finalization
  finalized = 3,    ///< has finalized MPI; a session may make it `initialised` again
  aborted = 4,      ///< called MPI_Abort; `abort_code` is valid; mpiexec has got a SIGCHLD
  failed = 5,       ///< the library gave up; it wrote its reason to stderr
  exited = 6,       ///< the process has ended
};

/// Values of JobHeader::abort, a futex word.
enum class JobAbort : std::uint32_t {
  running = 0,
  ending = 1,  ///< mpiexec is ending the job: ranks that wait inside MPI should leave
};

/// RankRecord::gone.
enum class RankGone : std::uint32_t {
  no = 0,
  failed = 1,  ///< the process has ended without leaving MPI, or without ever entering it
  job_ends = 2,
};

/// JobHeader::flags.
inline constexpr std::uint32_t job_flag_oversubscribed = 1;  ///< more ranks than usable cores

/// Bytes 0 to 255.
struct JobHeader {
  std::array<char, 8> magic;   ///< job_magic; written last
  std::uint32_t version;       ///< job_layout_version
  std::uint32_t header_bytes;  ///< sizeof(JobHeader)
  std::uint64_t total_bytes;   ///< size of the file
  std::uint32_t rank_count;    ///< ranks of the job on this node, 1 to max_job_ranks
  std::uint32_t app_count;     ///< programs of the command line, 1 to rank_count
  std::uint32_t core_count;    ///< processors that the ranks together may run on, at least 1
  std::uint32_t flags;         ///< job_flag_*
  std::uint32_t job_id;        ///< random, never 0: the job of all names (wire/process_name.h)
  std::uint32_t spare4;
  std::array<std::uint8_t, 32> job_key;  ///< random; known only to the ranks of this job
  std::int32_t mpiexec_pid;
  std::uint32_t record_bytes;    ///< sizeof(RankRecord)
  std::uint64_t records_offset;  ///< of rank 0's record; a multiple of 128
  std::uint64_t areas_offset;    ///< of rank 0's area; a multiple of area_alignment
  std::uint64_t area_bytes;      ///< of one area; a multiple of area_granule
  std::uint32_t generation;      ///< how many MPI programs each rank has run before this one
  std::uint32_t spare0;
  std::uint64_t spare3;
  alignas(64) std::atomic<std::uint32_t> abort;  ///< JobAbort; futex
  /// How many ranks of this node are `RankGone::failed`: raised after the rank's word. Ranks that
  /// wait inside MPI read it now and then.
  std::atomic<std::uint32_t> failed_ranks;
  std::array<std::uint32_t, 14> spare1;
  /// The start barrier: ranks count up `barrier_arrived`; the last one puts it back to 0, adds 1 to
  /// `barrier_round` and wakes the ranks that wait on that word. Waiting ranks also check `abort`:
  /// mpiexec wakes both words when the job ends.
  alignas(64) std::atomic<std::uint32_t> barrier_arrived;
  std::atomic<std::uint32_t> barrier_round;
  std::array<std::uint32_t, 14> spare2;
};

/// The network addresses of a rank, from `publish_address`, for the other ranks
/// of a job that has no launcher's key-value space.
struct AddressRecord {
  /// 0: not published yet; else 1 + the number of bytes, written last. Futex.
  std::atomic<std::uint32_t> length_plus_one;
  std::array<std::byte, 636> bytes;  ///< wire/process_address.h
};

/// Whole cache lines per rank, so that ranks never share one. A record belongs to one MPI program
/// of the rank: the next one has its own, in the segment of the next generation.
struct alignas(64) RankRecord {
  std::atomic<std::int32_t> pid;         ///< 0 until started
  std::atomic<std::uint32_t> state;      ///< RankState
  std::atomic<std::int32_t> abort_code;  ///< of MPI_Abort, when aborted
  std::uint32_t appnum;                  ///< index of the program in the command line
  std::uint32_t first_core;              ///< first processor that the rank is bound to
  std::uint32_t core_count;              ///< processors it is bound to; 0: not bound
  /// The number of the pid name space (of /proc/self/ns/pid) in which `pid` is valid,
  /// written by the rank before its pid; 0: not written.
  std::atomic<std::uint64_t> pid_space;
  /// 1: MPI_Finalize is over. A rank that is `finalized` without it has used sessions only, and may
  /// yet receive on MPI_COMM_WORLD what was sent to it before.
  std::atomic<std::uint32_t> world_closed;
  /// 1: a process uses this record, by MPI_Init or MPI_Session_init. Set once, by an atomic
  /// exchange, so of two processes that try at the same time one is refused.
  std::atomic<std::uint32_t> taken;
  /// RankGone: written by mpiexec, or under another launcher by the rank of this node that notices
  /// first. Nobody waits for a rank for which it is not 0.
  std::atomic<std::uint32_t> gone;
  std::uint32_t rank;  ///< in the job; records are by the place on the node
  /// Before the networks are closed for a checkpoint (runtime/checkpoint/quiesce_steps.h), written by
  /// this rank alone: the step that it has reached; what it says of itself there; and how many
  /// `drain_marker` packets it has sent and taken since this segment was made.
  std::atomic<std::uint32_t> quiesce_step;
  std::atomic<std::uint32_t> quiesce_note;
  std::atomic<std::uint32_t> markers_sent;
  std::atomic<std::uint32_t> markers_taken;
  /// Bit c of word c / 64 is processor c, for the first 512 processors. All zero: not bound.
  alignas(64) std::array<std::uint64_t, 8> core_mask;
  WaitRecord wait;
  AddressRecord address;
};

/// The state of a rank; unknown numbers count as `started`.
[[nodiscard]] inline RankState state_of(const RankRecord& record) noexcept {
  const std::uint32_t value = record.state.load(std::memory_order_acquire);
  return value <= static_cast<std::uint32_t>(RankState::exited) ? static_cast<RankState>(value)
                                                                : RankState::started;
}
/// Whether the rank has ended without ever calling MPI_Init or MPI_Session_init (in this
/// generation): it receives and sends no messages. mpiexec
/// writes `exited` after all that the process itself has written.
[[nodiscard]] inline bool never_joined(const RankRecord& record) noexcept {
  return state_of(record) == RankState::exited && record.taken.load(std::memory_order_relaxed) == 0;
}

static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
static_assert(sizeof(JobHeader) == 256 && alignof(JobHeader) == 64);
static_assert(offsetof(JobHeader, version) == 8 && offsetof(JobHeader, total_bytes) == 16);
static_assert(offsetof(JobHeader, rank_count) == 24 && offsetof(JobHeader, core_count) == 32);
static_assert(offsetof(JobHeader, job_id) == 40 && offsetof(JobHeader, job_key) == 48);
static_assert(offsetof(JobHeader, mpiexec_pid) == 80 && offsetof(JobHeader, records_offset) == 88);
static_assert(offsetof(JobHeader, areas_offset) == 96 && offsetof(JobHeader, area_bytes) == 104);
static_assert(offsetof(JobHeader, generation) == 112);
static_assert(offsetof(JobHeader, abort) == 128 && offsetof(JobHeader, barrier_arrived) == 192);
static_assert(offsetof(JobHeader, barrier_round) == 196);
static_assert(sizeof(RankRecord) == 1920);
static_assert(offsetof(RankRecord, state) == 4 && offsetof(RankRecord, abort_code) == 8);
static_assert(offsetof(RankRecord, appnum) == 12 && offsetof(RankRecord, first_core) == 16);
static_assert(offsetof(RankRecord, core_count) == 20 && offsetof(RankRecord, core_mask) == 64);
static_assert(offsetof(JobHeader, failed_ranks) == 132 && offsetof(RankRecord, gone) == 40);
static_assert(offsetof(RankRecord, pid_space) == 24 && offsetof(RankRecord, world_closed) == 32);
static_assert(offsetof(RankRecord, taken) == 36 && offsetof(RankRecord, rank) == 44);
static_assert(offsetof(RankRecord, quiesce_step) == 48 &&
              offsetof(RankRecord, markers_taken) == 60);
static_assert(offsetof(RankRecord, wait) == 128 && offsetof(RankRecord, address) == 1280);

inline constexpr std::uint64_t area_alignment = std::uint64_t{2}
                                                << 20;  ///< where areas begin: a huge page
inline constexpr std::uint64_t area_granule = 4096;     ///< unit of an area's size
inline constexpr std::uint64_t min_area_bytes = std::uint64_t{1} << 20;
inline constexpr std::uint64_t max_area_bytes = std::uint64_t{1} << 40;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

/// The size of one rank's data area in a job of `ranks` ranks that mpiexec tries first. Untouched
/// pages cost nothing.
constexpr std::uint64_t area_bytes_for(std::uint32_t ranks) {
  return round_up((std::uint64_t{40} << 20) + std::uint64_t{ranks} * 64, area_alignment);
}

/// Where the areas begin, and the size of the whole file.
constexpr std::uint64_t areas_offset_for(std::uint32_t ranks) {
  return round_up(sizeof(JobHeader) + std::uint64_t{ranks} * sizeof(RankRecord), area_alignment);
}
constexpr std::uint64_t total_bytes_for(std::uint32_t ranks, std::uint64_t area_bytes) {
  return areas_offset_for(ranks) + std::uint64_t{ranks} * area_bytes;
}
/// Bytes at the start of the file that hold the header and all records (all that mpiexec maps).
constexpr std::uint64_t control_bytes_for(std::uint32_t ranks) {
  return round_up(sizeof(JobHeader) + std::uint64_t{ranks} * sizeof(RankRecord), area_granule);
}

/// The parameters of a job that mpiexec chooses before it writes the segment.
struct JobPlan {
  std::uint32_t rank_count = 1;
  std::uint32_t app_count = 1;
  std::uint32_t core_count = 1;
  std::uint32_t flags = 0;
  std::uint32_t job_id = 1;
  std::array<std::uint8_t, 32> job_key{};
  std::int32_t mpiexec_pid = 0;
  std::uint64_t area_bytes = min_area_bytes;
  std::uint32_t generation = 0;
};

/// Marks a rank as failed in its record. True for the first caller. Does not wake waiting
/// ranks.
inline bool mark_failed(JobHeader& header, RankRecord& record) noexcept {
  auto expected = static_cast<std::uint32_t>(RankGone::no);
  if (!record.gone.compare_exchange_strong(expected, static_cast<std::uint32_t>(RankGone::failed),
                                           std::memory_order_acq_rel)) {
    return false;
  }
  header.failed_ranks.fetch_add(1, std::memory_order_release);
  return true;
}
/// Announces the end of the job.
inline void mark_end(JobHeader& header, std::span<RankRecord> records) noexcept {
  header.abort.store(static_cast<std::uint32_t>(JobAbort::ending), std::memory_order_release);
  for (RankRecord& record : records) {
    record.gone.store(static_cast<std::uint32_t>(RankGone::job_ends), std::memory_order_release);
  }
}

/// The validated header and records at the start of a segment. Refers to the mapping.
struct JobControl {
  JobHeader* header = nullptr;
  std::span<RankRecord> records;
};

/// A validated segment: constants are copies that other processes cannot change, the pointers refer
/// to the mapping given to `attach_job` and are valid as long as that.
struct JobView {
  JobHeader* header = nullptr;
  std::span<RankRecord> records;
  std::uint32_t rank_count = 0;
  std::uint32_t app_count = 0;
  std::uint32_t core_count = 0;
  std::uint32_t flags = 0;
  std::uint32_t job_id = 0;
  std::array<std::uint8_t, 32> job_key{};
  std::int32_t mpiexec_pid = 0;
  std::uint64_t areas_offset = 0;  ///< from the start of the mapping
  std::uint64_t area_bytes = 0;
  std::uint32_t generation = 0;
  std::byte* areas = nullptr;  ///< area of rank 0

  /// The data area of one rank. Requires rank < rank_count.
  [[nodiscard]] std::span<std::byte> area(std::uint32_t rank) const noexcept {
    return {areas + static_cast<std::size_t>(rank) * area_bytes, area_bytes};
  }
};

/// Writes header and records (with ranks from 0 on) into `control`, zeroed memory of at least
/// `control_bytes_for(rank_count)` bytes, aligned to a page: the start of the mapping. Fails (arg)
/// when a number of the plan is out of its range or `control` is too small.
base::Result<JobControl> format_job(std::span<std::byte> control, const JobPlan& plan);

/// Checks a whole segment, mapped from its first byte to its last (`mapping.size()` is the size of
/// the file, from fstat), and returns a view of it. Fails (other) with a text that names the field
/// and its value when anything is inconsistent: a foreign or damaged file, or an mpiexec of another
/// version. Does not write to the mapping.
base::Result<JobView> attach_job(std::span<std::byte> mapping);

}  // namespace fulmar::wire
