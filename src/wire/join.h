// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

/// How a rank whose inherited descriptor was closed on the way (by a wrapper, by Python's
/// `subprocess`) gets the job segment after all: mpiexec listens on a Unix socket of type
/// SOCK_SEQPACKET in the abstract name space, so there is no file, under the name that
/// `FULMAR_JOB_SOCKET` gives. Both sides know each other by SO_PEERCRED alone; the job key never
/// travels.
///
///     rank                                     mpiexec
///       connect          ------------------->  uid, and the process descends from a rank? else
///                                              close
///       JoinMessage hello ------------------>  size, magic, version
///                        <------------------   JoinMessage answer + descriptor (SCM_RIGHTS)
///       uid, pid, seals, attach_job            close
namespace fulmar::wire {

/// 128 random bits follow the prefix as hexadecimal digits. No zero byte at the end belongs to it.
inline constexpr std::string_view join_name_prefix = "fulmar-job-";
inline constexpr std::size_t join_name_bytes = join_name_prefix.size() + 32;

inline constexpr std::array<char, 8> join_magic = {'F', 'U', 'L', 'M', 'J', 'O', 'I', 'N'};
/// Raised with every change of the exchange above.
inline constexpr std::uint32_t join_version = 1;

enum class JoinStep : std::uint32_t {
  hello = 0,    ///< from the rank
  granted = 1,  ///< from mpiexec, with exactly one descriptor
  refused = 2,  ///< from mpiexec: the version of the hello is not its own; `version` is its own
};

/// The only message, in both directions.
struct JoinMessage {
  std::array<char, 8> magic = join_magic;
  std::uint32_t version = join_version;
  std::uint32_t step = 0;  ///< JoinStep
};
static_assert(sizeof(JoinMessage) == 16);
static_assert(offsetof(JoinMessage, version) == 8 && offsetof(JoinMessage, step) == 12);

constexpr JoinMessage join_message(JoinStep step) {
  JoinMessage message;
  message.step = static_cast<std::uint32_t>(step);
  return message;
}

}  // namespace fulmar::wire
