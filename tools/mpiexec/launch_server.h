// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"
#include "mpiexec/clock.h"
#include "mpiexec/deadlock_finder.h"
#include "mpiexec/poller.h"
#include "wire/launch/launch_message.h"
#include "wire/launch/name_table.h"

namespace fulmar::mpiexec {

/// What the processes of all jobs of one mpiexec can ask it for after their start
/// (wire/launch/launch_message.h): spawned jobs, and names of services.
///
/// Each spawned job is run by a process of its own, forked here, which does for it all that mpiexec
/// does for the first job (docs/adr/0029). So jobs start and end independently of each other, at
/// the same time, and this process never waits for one. All of them are children of the mpiexec
/// that the user started, also those that a spawned job spawns.
///
/// Accepts processes of mpiexec's user that have the secret, which is in the
/// environment of the ranks. Nothing here blocks. A connection that breaks the protocol is closed.
class LaunchServer {
 public:
  static constexpr std::size_t most_clients = 65536;
  /// Connections that have not said hello yet.
  static constexpr std::size_t most_strangers = 64;
  static constexpr std::int64_t hello_limit_ns = 2 * ns_per_s;

  /// A spawn that a job process is to carry out.
  struct Order {
    wire::LaunchSpawn spawn;
    std::uint32_t number = 0;   ///< of the job: the first job is 0
    std::uint32_t running = 0;  ///< processes of other spawned jobs that have not ended
    /// Frames of launch_message.h go here: `answer`, then `stillness`, `job_ended` at the end.
    int report_fd = -1;
    std::string_view address;  ///< of this server: the value of wire::env_launch_socket
  };
  struct Hooks {
    /// Runs the job; called in the forked process, whose only descriptors above 2 is `report_fd`.
    /// Returns its exit code.
    std::function<int(const Order& order)> run_job;
    /// A spawned job has ended with another exit code than 0.
    std::function<void(std::uint32_t number, int exit_code)> on_failure;
    /// A line for the user.
    std::function<void(const std::string& line)> say;
  };

  LaunchServer(Poller& poller, Hooks hooks) : poller_(poller), hooks_(std::move(hooks)) {}
  LaunchServer(const LaunchServer&) = delete;
  LaunchServer& operator=(const LaunchServer&) = delete;

  /// Listens under a random name. Fails (other) where there are no Unix sockets.
  [[nodiscard]] base::Error open();
  /// The value of wire::env_launch_socket; empty while not open.
  [[nodiscard]] const std::string& address() const noexcept { return address_text_; }
  /// Serves a process at the other end of `socket`, which needs no secret.
  void adopt(base::UniqueFd socket);

  void on_door();
  void on_client(std::uint32_t index);
  void on_job(std::uint32_t number);
  [[nodiscard]] std::int64_t deadline() const;
  void on_time(std::int64_t now);

  /// A spawned job has not ended yet.
  [[nodiscard]] bool busy() const noexcept { return !jobs_.empty(); }
  /// Passes a signal on to the processes that run spawned jobs, which pass it on to the ranks.
  void forward(int signal) const;
  /// Adds the spawned jobs that have not ended, as far as their processes have told of them.
  void add_spawned_jobs(std::vector<WatchedJob>& jobs) const;
  /// The ids of those that have ended.
  [[nodiscard]] const std::set<std::uint32_t>& gone_jobs() const noexcept { return gone_jobs_; }
  /// How the adopted process stands to this server.
  enum class Adopted : std::uint8_t { here, left, lost };
  [[nodiscard]] Adopted adopted() const noexcept { return adopted_; }

 private:
  struct Client {
    base::UniqueFd socket;
    wire::LaunchReader reader;
    std::string unsent;
    std::uint32_t job = 0;  ///< the one that it belongs to
    bool known = false;     ///< has shown the secret
    bool left = false;      ///< has said bye
    bool is_adopted = false;
    std::int64_t deadline_ns = never_ns;  ///< for its hello
  };
  struct SpawnedJob {
    pid_t pid = 0;
    base::UniqueFd report;
    wire::LaunchReader reader;
    std::uint32_t client = 0;   ///< the client that spawned it
    std::uint32_t request = 0;  ///< of that client
    std::string parent_port;
    std::uint32_t processes = 0;
    bool answered = false;
    int exit_code = -1;               ///< -1: not known yet
    wire::LaunchStillness stillness;  ///< as told last
  };

  std::uint32_t add_client(base::UniqueFd socket);
  void drop(std::uint32_t index);
  [[nodiscard]] bool obey(std::uint32_t index, const wire::LaunchFrame& frame);
  [[nodiscard]] bool greet(Client& client, const wire::LaunchFrame& frame) const;
  void send(std::uint32_t index, const std::string& frame);
  [[nodiscard]] bool flush(std::uint32_t index, Client& client);
  void answer(std::uint32_t index, std::uint32_t request, const wire::LaunchAnswer& answer);
  void spawn(std::uint32_t index, const wire::LaunchFrame& frame);
  [[nodiscard]] base::Error start(std::uint32_t index, std::uint32_t request,
                                  wire::LaunchSpawn spawn);
  [[noreturn]] void become_job(const Order& order, base::UniqueFd report, pid_t parent) const;
  void take_report(std::uint32_t number, const wire::LaunchFrame& frame);
  void note_stillness(SpawnedJob& job, wire::LaunchStillness stillness);
  void end_job(std::uint32_t number);

  Poller& poller_;
  Hooks hooks_;
  base::UniqueFd listener_;
  wire::LaunchAddress address_;
  std::string address_text_;
  bool door_closed_ = false;
  std::map<std::uint32_t, Client> clients_;
  std::uint32_t next_client_ = 0;
  std::size_t strangers_ = 0;
  std::map<std::uint32_t, SpawnedJob> jobs_;  ///< by number
  std::uint32_t next_job_ = 1;
  std::set<std::uint32_t> gone_jobs_;
  wire::NameTable names_;
  Adopted adopted_ = Adopted::left;
};

}  // namespace fulmar::mpiexec
