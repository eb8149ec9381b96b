// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/spawn_server.h"

#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "base/os/fd.h"
#include "mpiexec/clock.h"
#include "mpiexec/deadlock_finder.h"
#include "mpiexec/job.h"
#include "mpiexec/launch_server.h"
#include "mpiexec/options.h"
#include "mpiexec/poller.h"
#include "mpiexec/spawn.h"
#include "mpiexec/topology.h"

namespace fulmar::mpiexec {
namespace {

/// How long jobs have to end when the process that spawned them has died.
constexpr std::int64_t orphan_grace_ns = 2 * ns_per_s;
/// How often what is known of the spawned jobs is looked at.
constexpr std::int64_t look_interval_ns = ns_per_s;

int complain(const std::string& text) {
  std::fprintf(stderr, "mpiexec: %s\n", text.c_str());
  return 1;
}

class SpawnServer {
 public:
  SpawnServer(const Inheritance& inheritance, std::span<char> title, Poller& poller)
      : inheritance_(inheritance),
        title_(title),
        poller_(poller),
        server_(poller, {[this](const LaunchServer::Order& order) { return run_ordered(order); },
                         [](std::uint32_t, int) {},
                         [](const std::string& line) { (void)complain(line.substr(9)); }}) {}

  int run(base::UniqueFd client) {
    if (const base::Error error = server_.open(); error.failed()) return complain(error.text());
    sigset_t blocked;
    ::sigprocmask(SIG_SETMASK, nullptr, &blocked);
    signals_.reset(::signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK));
    (void)poller_.add(signals_.get(), EPOLLIN, {SourceKind::signals, 0});
    server_.adopt(std::move(client));
    while (server_.busy() || server_.adopted() == LaunchServer::Adopted::here) step();
    return 0;
  }

 private:
  int run_ordered(const LaunchServer::Order& order) {
    const std::size_t cores = allowed_processors().size();
    const auto slots = static_cast<std::uint32_t>(std::max<std::size_t>(cores, 1));
    return run_spawned_job(options_, inheritance_, title_, order, slots, order.running + 1);
  }

  void step() {
    const std::int64_t deadline = std::min({server_.deadline(), end_ns_, look_ns_});
    for (const Source& source : poller_.wait(deadline)) {
      if (source.kind == SourceKind::signals) on_signals();
      if (source.kind == SourceKind::launch_door) server_.on_door();
      if (source.kind == SourceKind::launch_client) server_.on_client(source.index);
      if (source.kind == SourceKind::launch_job) server_.on_job(source.index);
    }
    const std::int64_t now = now_ns();
    server_.on_time(now);
    if (now >= look_ns_) look_for_deadlock(now);
    if (server_.adopted() == LaunchServer::Adopted::lost && now >= end_ns_) end_jobs();
    if (server_.adopted() == LaunchServer::Adopted::lost && end_ns_ == never_ns) end_jobs();
  }

  /// Among the spawned jobs: what the process that is served waits for is not known here.
  void look_for_deadlock(std::int64_t now) {
    look_ns_ = now + look_interval_ns;
    std::vector<WatchedJob> jobs;
    server_.add_spawned_jobs(jobs);
    for (const std::string& line : finder_.find(jobs, server_.gone_jobs(), now)) {
      std::fprintf(stderr, "%s\n", line.c_str());
    }
  }

  /// The second SIGTERM kills, see Supervisor::interrupt.
  void end_jobs() {
    server_.forward(SIGTERM);
    end_ns_ = now_ns() + orphan_grace_ns;
  }

  void on_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      const int signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) continue;
      server_.forward(signal);
      if (signal == SIGTSTP) ::raise(SIGSTOP);
    }
  }

  const Inheritance& inheritance_;
  std::span<char> title_;
  Poller& poller_;
  Options options_;
  base::UniqueFd signals_;
  std::int64_t end_ns_ = never_ns;
  std::int64_t look_ns_ = now_ns();
  DeadlockFinder finder_;
  LaunchServer server_;
};

}  // namespace

int run_spawn_server(int fd, std::span<char> title) {
  struct stat status{};
  if (fd < 3 || ::fstat(fd, &status) != 0 || !S_ISSOCK(status.st_mode)) {
    return complain("--spawn-server is for the library, which gives it a socket");
  }
  base::UniqueFd client(fd);
  const pid_t server = ::fork();
  if (server != 0) return server > 0 ? 0 : complain("cannot start the spawn server");
  const Inheritance inheritance = prepare_process();
  auto poller = Poller::create();
  if (poller.failed()) return complain(poller.error().text());
  return SpawnServer(inheritance, title, *poller).run(std::move(client));
}

}  // namespace fulmar::mpiexec
