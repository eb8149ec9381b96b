// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/os/fd.h"
#include "mpiexec/clock.h"
#include "mpiexec/generations.h"
#include "mpiexec/output.h"
#include "mpiexec/poller.h"
#include "mpiexec/sessions.h"

namespace fulmar::mpiexec {

/// The second way to a job segment, for ranks whose inherited descriptor was closed on the way and
/// for programs that follow another one in the same rank: the listening side of wire/node/join.h. It is
/// given to processes of mpiexec's user that are in a rank's session or descend from one.
/// All others are closed at once, unread. Nothing here blocks: at most `max_visitors` connections
/// wait for their hello, each at most `visit_limit_ns`; meanwhile the rest wait in the kernel's
/// queue.
class JobSocket {
 public:
  static constexpr std::size_t max_visitors = 64;
  static constexpr std::int64_t visit_limit_ns = ns_per_s;

  /// `generations` decides which segment a process gets; all must outlive this.
  JobSocket(Poller& poller, Output& output, const Roster& roster, Generations& generations)
      : poller_(poller), output_(output), roster_(roster), generations_(generations) {}

  /// Makes the socket under a random name. Fails (other) where there are no Unix sockets; the job
  /// runs without one then, and only the inherited descriptor leads into it.
  base::Error open();
  /// The value of wire::env_job_socket; empty while not open.
  [[nodiscard]] std::string_view name() const { return name_; }

  void on_door();
  void on_visitor(std::uint32_t index);
  [[nodiscard]] std::int64_t deadline() const;
  void on_time(std::int64_t now);

 private:
  enum class Visit { over, goes_on };
  struct Visitor {
    base::UniqueFd fd;  ///< none: the place is free
    std::int64_t deadline_ns = never_ns;
  };

  [[nodiscard]] Visitor* free_place();
  bool admit(base::UniqueFd fd);
  [[nodiscard]] Visit answer(int fd);
  void dismiss(Visitor& visitor);
  void say_refused(const ucred& peer);
  void close_door(std::int64_t until_ns);
  void reopen_door();

  Poller& poller_;
  Output& output_;
  const Roster& roster_;
  Generations& generations_;
  base::UniqueFd listener_;
  std::string name_;
  std::array<Visitor, max_visitors> visitors_;
  std::int64_t closed_until_ns_ = 0;  ///< 0: the door is open; never_ns: until a place is free
  std::int64_t quiet_until_ns_ = 0;   ///< no further line about strangers before
};

}  // namespace fulmar::mpiexec
