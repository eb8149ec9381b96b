// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"

/// The ranks of a job are in one session, so that all that they start can be found again by it,
/// however it was orphaned. Killing "the job" means: every process of this session. Each rank leads
/// a process group in it.
namespace fulmar::mpiexec {

/// The pid of each rank and the session of all, in memory shared by mpiexec and its guard only. Ranks write their own entry between clone and exec. An entry stays valid until the
/// end: mpiexec does not reap a rank before the sweep, so its number cannot be given to a stranger,
/// and that of the session is in use as long as a rank is.
class Roster {
 public:
  /// Fails (no_mem) when memory cannot be mapped.
  static base::Result<Roster> create(std::uint32_t ranks);
  Roster(Roster&& other) noexcept;
  Roster& operator=(Roster&&) = delete;
  ~Roster();

  using Slot = std::atomic<std::int32_t>;
  /// 0 while the rank has not started. Requires rank < ranks.
  [[nodiscard]] Slot& slot(std::uint32_t rank) const { return slots_[rank]; }
  /// 0 before the session is made.
  [[nodiscard]] Slot& session() const { return slots_.back(); }
  /// The session, and the pids of the ranks so far (which may be sessions too), sorted.
  [[nodiscard]] std::vector<pid_t> sessions() const;

 private:
  explicit Roster(std::span<Slot> slots) : slots_(slots) {}
  std::span<Slot> slots_;
};

/// What a line of /proc/PID/stat says.
struct ProcessStat {
  char state = '?';
  pid_t parent = 0;
  pid_t session = 0;
};
/// Nothing for a text that is no such line. The name of the process may hold anything.
std::optional<ProcessStat> parse_stat(std::string_view text);

/// Whether /proc is there and belongs to this pid namespace: otherwise its numbers mean other
/// processes.
bool proc_shows_our_numbers();

/// Whether a process, or one of those that started it, is in one of the sessions (sorted). Looks
/// upwards no further than `limit` steps; a process whose parent has ended is known by its own
/// session alone.
bool descends_from(pid_t pid, std::span<const pid_t> sessions, int limit = 64);

/// Kills (SIGKILL) every process of the given sessions (sorted) and waits until they are dead, at
/// most `limit_ns`. Looks again for processes that were started meanwhile. Where /proc cannot be
/// read, kills the process groups of the session leaders instead.
void sweep_sessions(std::span<const pid_t> sessions, std::int64_t limit_ns);

}  // namespace fulmar::mpiexec
