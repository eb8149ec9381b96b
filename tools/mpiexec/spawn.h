// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <span>
#include <string>

#include "base/os/fd.h"
#include "mpiexec/sessions.h"

namespace fulmar::mpiexec {

/// What mpiexec changes in itself and gives back to its children.
struct Inheritance {
  pid_t mpiexec = 0;  ///< the parent of all ranks
  sigset_t mask{};
  struct sigaction pipe_action{};
  struct sigaction file_size_action{};
  rlimit open_files{};
  rlimit file_size{};
};

/// Makes mpiexec ready to run a job: blocks the signals that it handles through a signalfd (without
/// SIGHUP, SIGTERM and SIGTSTP where they were ignored, which they stay), ignores SIGPIPE and
/// SIGXFSZ, raises the soft limits on open files and file size to the hard ones, becomes the parent
/// of orphaned descendants, replaces closed descriptors 0 to 2 by /dev/null. Gives what it found.
Inheritance prepare_process();

/// One rank to start. All is borrowed for the call.
struct SpawnRequest {
  const char* file = nullptr;  ///< from find_program
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* wdir = nullptr;                 ///< null: mpiexec's own
  std::span<const std::uint32_t> processors;  ///< empty: not bound
  int fds[3] = {0, 1, 2};
  int job_fd = -1;
  int pmi_fd = -1;  ///< the rank's end of its socket to PmiServer; -1: none
  Roster::Slot* slot = nullptr;
};

/// A started rank, or why there is none.
struct Spawned {
  pid_t pid = 0;
  base::UniqueFd fd;           ///< pidfd; readable when the rank has ended
  int error = 0;               ///< errno; 0: started
  const char* step = nullptr;  ///< what failed: "clone", "chdir", "execve"...
  std::string refused;         ///< with ENOEXEC: what the file is instead of a program
};

/// Calls `start(context)` in a process that leads a new session and shares memory and descriptors
/// with this one; returns when it is done. Ranks that are started in there belong to that session
/// and are children of this process all the same. `session` gets the number of the session.
///
/// All ranks are in one session because the kernel's scheduler takes a session for one user
/// (autogroup): between sessions sched_yield gives nothing away, and ranks that share a core would
/// wait for each other whole time slices, a thousand times as long.
///
/// Returns 0, or the errno of what failed.
int in_new_session(Roster::Slot& session, void (*start)(void*), void* context);

/// Starts a rank as the leader of a process group that is killed when mpiexec dies; outside
/// `in_new_session` also of a session. Returns when the program has been loaded (or could not be).
Spawned spawn_rank(const SpawnRequest& request, const Inheritance& inheritance);

}  // namespace fulmar::mpiexec
