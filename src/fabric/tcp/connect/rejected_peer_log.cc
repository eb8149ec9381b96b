// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/rejected_peer_log.h"

namespace fulmar::fabric::tcp {
namespace {

const char* complaint_of(Strangeness kind) {
  switch (kind) {
    case Strangeness::garbage:
      return "it speaks something else than this job";
    case Strangeness::silent:
      return "it said nothing, or not enough, in time";
    case Strangeness::version:
      return "it is another version of Fulmar; use the same on all hosts";
    case Strangeness::other_job:
      return "it belongs to another job";
    case Strangeness::wrong_proof:
      return "it does not know the key of this job";
    case Strangeness::crowd:
      return "too many connections at once have not proven that they belong to this job";
    default:
      return "no descriptor is left; raise the limit of open files (ulimit -n)";
  }
}

}  // namespace

void RejectedPeerLog::note(Strangeness kind, const std::string& who, std::uint64_t now_ns) {
  Memory& memory = memory_[static_cast<std::size_t>(kind)];
  if (report_ == nullptr) return;
  if (now_ns < memory.next_ns) {
    ++memory.unsaid;
    return;
  }
  memory.next_ns = now_ns + pause_ns;
  std::string line = "tcp: a connection from " + who + " was refused: " + complaint_of(kind);
  if (memory.unsaid != 0) line += " (and " + std::to_string(memory.unsaid) + " more like it)";
  memory.unsaid = 0;
  report_(owner_, line.c_str());
}

}  // namespace fulmar::fabric::tcp
