// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <sys/epoll.h>

#include "base/error.h"
#include "base/os/fd.h"

namespace fulmar::mpiexec {

/// What a watched descriptor belongs to.
enum class SourceKind : std::uint32_t {
  signals,
  guard,
  rank,
  inner,
  stream,
  sink,
  input,
  input_target,
  door,
  visitor,
  pmi,
  launch_door,
  launch_client,
  launch_job,
};
struct Source {
  SourceKind kind = SourceKind::signals;
  std::uint32_t index = 0;
};

/// The one place where mpiexec sleeps: a level-triggered epoll set.
class Poller {
 public:
  static base::Result<Poller> create();

  /// Watches `fd` for `events` (EPOLLIN, EPOLLOUT; 0: only hang-ups). False for what epoll cannot
  /// watch: regular files, which are always ready.
  [[nodiscard]] bool add(int fd, std::uint32_t events, Source source) const;
  void change(int fd, std::uint32_t events, Source source) const;
  void remove(int fd) const;

  /// Sleeps until something is ready or `deadline_ns` (now_ns time; never_ns: no limit) has come,
  /// then gives what is ready; the span lives until the next call.
  std::span<const Source> wait(std::int64_t deadline_ns);

 private:
  explicit Poller(base::UniqueFd fd) : fd_(std::move(fd)), events_(64) {}

  base::UniqueFd fd_;
  std::vector<epoll_event> events_;
  std::vector<Source> ready_;
};

}  // namespace fulmar::mpiexec
