// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/outcome.h"

#include <csignal>
#include <cstring>

namespace fulmar::mpiexec {
namespace {

/// Exit codes have eight bits; a failure must not turn into success on the way.
int failure_code(int code) { return (code & 0xff) == 0 ? 1 : code & 0xff; }

}  // namespace

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : "SIG" + std::string(name);
}

Verdict judge(const RankEnd& end) {
  if (end.state == wire::RankState::aborted) {
    return {true, failure_code(end.abort_code),
            "called MPI_Abort with code " + std::to_string(end.abort_code)};
  }
  if (end.way == RankEnd::Way::signalled) {
    return {
        true, 128 + end.value,
        "was killed by signal " + std::to_string(end.value) + " (" + signal_name(end.value) + ")"};
  }
  const bool inside = end.state == wire::RankState::initialised;
  if (end.value == 0 && !inside) return {};
  std::string what = "exited with code " + std::to_string(end.value);
  if (inside) what += " without calling MPI_Finalize";
  return {true, failure_code(end.value), what};
}

}  // namespace fulmar::mpiexec
