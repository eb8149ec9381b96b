// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// How a rank requests a job segment from mpiexec: when the inherited descriptor was closed (by a
/// wrapper, by Python's `subprocess`), and when another MPI program has used the rank's record in
/// the inherited segment, so that this one needs the segment of the next generation. mpiexec
/// listens on a Unix socket of type SOCK_SEQPACKET in the abstract name space, so there is no file,
/// under the name that `FULMAR_JOB_SOCKET` gives. Each side identifies the other by SO_PEERCRED
/// only; the job key is never sent.
///
///     rank                                     mpiexec
///       connect          ------------------->  uid, and the process descends from a rank? else
///                                              close
///       JoinMessage hello ------------------>  size, magic, version, rank
///                        <------------------   JoinMessage answer + descriptor (SCM_RIGHTS)
///       uid, pid, seals, attach_job            close
///
/// The segment is that of the rank's current generation. If a process has used the rank's record
/// there, has finalized MPI and has ended (or is the requesting process itself, after execve or with its
/// networks closed for a checkpoint), the rank advances to the next generation. A process whose record is in use is refused.
namespace fulmar::wire {

/// 128 random bits follow the prefix as hexadecimal digits. No zero byte at the end belongs to it.
inline constexpr std::string_view join_name_prefix = "fulmar-job-";
inline constexpr std::size_t join_name_bytes = join_name_prefix.size() + 32;

inline constexpr std::array<char, 8> join_magic = {'F', 'U', 'L', 'M', 'J', 'O', 'I', 'N'};
/// Raised with every change of the exchange above.
inline constexpr std::uint32_t join_version = 2;

enum class JoinStep : std::uint32_t {
  hello = 0,        ///< from the rank
  granted = 1,      ///< from mpiexec, with exactly one descriptor
  refused = 2,      ///< from mpiexec: the version of the hello is not its own; `version` is its own
  in_use = 3,       ///< process `holder` uses the rank's record and has not finalized MPI
  still_alive = 4,  ///< process `holder` has finalized MPI, but has not ended
  no_segment = 5,   ///< mpiexec could not make the segment; it has reported why
};

/// The only message, in both directions. Version 1 had the first 16 bytes only.
struct JoinMessage {
  std::array<char, 8> magic = join_magic;
  std::uint32_t version = join_version;
  std::uint32_t step = 0;   ///< JoinStep
  std::uint32_t rank = 0;   ///< of the requesting process
  std::int32_t holder = 0;  ///< a process number, with `in_use` and `still_alive`
};
static_assert(sizeof(JoinMessage) == 24);
static_assert(offsetof(JoinMessage, version) == 8 && offsetof(JoinMessage, step) == 12);
static_assert(offsetof(JoinMessage, rank) == 16 && offsetof(JoinMessage, holder) == 20);

constexpr JoinMessage join_message(JoinStep step, std::uint32_t rank = 0, std::int32_t holder = 0) {
  JoinMessage message;
  message.step = static_cast<std::uint32_t>(step);
  message.rank = rank;
  message.holder = holder;
  return message;
}

}  // namespace fulmar::wire
