// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/signalfd.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/os/fd.h"
#include "mpiexec/clock.h"
#include "mpiexec/deadlock_lookout.h"
#include "mpiexec/generations.h"
#include "mpiexec/guard.h"
#include "mpiexec/input.h"
#include "mpiexec/job_socket.h"
#include "mpiexec/launch_server.h"
#include "mpiexec/outcome.h"
#include "mpiexec/output.h"
#include "mpiexec/pmi_server.h"
#include "mpiexec/poller.h"
#include "mpiexec/sessions.h"

namespace fulmar::mpiexec {

inline constexpr int exit_code_timeout = 124;
inline constexpr int exit_code_deadlock = 125;

/// Watches over the started ranks until the last one has gone: carries their input and output,
/// forwards signals, ends the job when a rank fails (or lets the others know), and leaves nothing
/// behind.
///
///     running --(failure, timeout)--> ending --(grace over)--> sweep --> no rank left
///     running --(SIGINT, TERM, HUP, QUIT)--> interrupted --(grace over, second signal)--> sweep
///
/// Both `ending` and `interrupted` are nothing but a time at which the rest is killed.
class Supervisor {
 public:
  /// All must outlive this.
  struct Parts {
    Poller& poller;
    Output& output;
    Input& input;
    JobSocket& socket;
    PmiServer& pmi;
    Guard& guard;
    Generations& generations;
    const Roster& roster;
    int signal_fd;
    LaunchServer* launch;  ///< null in a spawned job: the first job's serves it, too
    int report_fd;         ///< of a spawned job: LaunchServer::Order::report_fd
  };
  Supervisor(const Parts& parts, std::uint32_t rank_count) : parts_(parts), size_(rank_count) {}

  /// Takes over a started rank; call in the order of ranks.
  void add_rank(pid_t pid, base::UniqueFd fd, const std::string& program);

  /// A spawned job has ended with this exit code, which is not 0.
  void on_job_failure(std::uint32_t number, int exit_code);

  /// A rank could not be started: ends those that were. The caller has said why.
  void give_up(int exit_code);

  /// Times after which something is done (0: never), and what is done.
  struct Limits {
    double timeout_s = 0;
    double deadlock_s = 0;         ///< for DeadlockWatch::Times::blocked_ns
    double polled_deadlock_s = 0;  ///< for polled_ns
    enum class OnDeadlock { report, end } on_deadlock = OnDeadlock::report;
    /// `go_on`: a rank that fails is reported, and its exit code counts; MPI_Abort ends the job all
    /// the same.
    enum class OnFailure { end, go_on } on_failure = OnFailure::end;
    bool print_exit_codes = false;  ///< of all ranks, at the end
    enum class OnSignal { report, silent } on_signal = OnSignal::report;
  };
  /// Returns the exit code of the job when everything is over.
  int run(const Limits& limits);

 private:
  struct Rank {
    pid_t pid;
    base::UniqueFd fd;  ///< none: has ended
    const std::string* program;
    pid_t inner = 0;          ///< behind a wrapper: the process that called MPI_Init
    base::UniqueFd inner_fd;  ///< none: there is no such process, or it has ended
    std::string end;          ///< "0", or what else became of it
    bool reported = false;    ///< its failure, while others go on
  };

  void step();
  void dispatch(const Source& source);
  void on_rank(std::uint32_t index);
  void on_end(std::uint32_t index, const RankEnd& end);
  enum class Ends : bool { job, rank };
  void on_failure(std::uint32_t index, const Verdict& verdict, Ends ends);
  [[nodiscard]] Ends ends_by(wire::RankState state) const noexcept;
  void on_signals();
  void on_signal(const signalfd_siginfo& info);
  void notice_aborts();
  void notice_killed();
  void notice_inner();
  void watch_inner(std::uint32_t index, pid_t pid);
  void on_inner(std::uint32_t index);
  void report_inner();
  void on_deadline(std::int64_t now);
  void look_for_deadlock(std::int64_t now);
  void interrupt(int signal);
  void stop_job();
  void end_job();
  void forward(int signal) const;
  void kill_now();
  void forward_to_jobs(int signal) const;
  void reap_orphans(pid_t hint) const;
  void say_exit_codes();
  void clean_up();
  void drain_output();
  void restart_guard();
  [[nodiscard]] bool has_jobs() const noexcept;

  Parts parts_;
  std::uint32_t size_;
  std::vector<Rank> ranks_;
  std::uint32_t running_ = 0;
  int exit_code_ = 0;
  int interrupted_by_ = 0;  ///< the first signal that asked for the end
  /// The job ends by a rank that says another one has died, and no death has been seen yet.
  bool answers_death_ = false;
  bool ending_ = false;  ///< the first failure was reported, and ranks were signalled
  bool killed_ = false;  ///< everything was killed: further ends are our doing
  std::int64_t timeout_ns_ = never_ns;
  std::int64_t kill_ns_ = never_ns;
  std::int64_t look_ns_ = never_ns;  ///< when the ranks' waits are looked at next
  std::optional<DeadlockLookout> lookout_;
  Limits::OnDeadlock on_deadlock_ = Limits::OnDeadlock::report;
  Limits::OnFailure on_failure_ = Limits::OnFailure::end;
  Limits::OnSignal on_signal_ = Limits::OnSignal::report;
  std::int64_t inner_ns_ = never_ns;  ///< when a dead process behind a wrapper is reported
};

}  // namespace fulmar::mpiexec
