// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/supervise.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/error_class.h"
#include "base/process_end.h"

namespace fulmar::mpiexec {
namespace {

/// How long ranks have to end after SIGTERM when another rank failed, and after the user's signal.
constexpr std::int64_t failure_grace_ns = 250 * ns_per_ms;
constexpr std::int64_t interrupt_grace_ns = 5 * ns_per_s;
/// How long a wrapper has to end after the process in it that called MPI_Init.
constexpr std::int64_t inner_grace_ns = 100 * ns_per_ms;
/// Killed processes are gone in less, unless the kernel holds them.
constexpr std::int64_t sweep_limit_ns = 2 * ns_per_s;
/// How long a killed job's last output waits for a reader that does not read.
constexpr std::int64_t drain_grace_ns = 2 * ns_per_s;
/// How often the ranks' waits are looked at.
constexpr std::int64_t poll_interval_ns = ns_per_s;

/// Of an abort that answers the death of another rank (mpi-ext.h, MPIX_ERR_PROC_FAILED).
constexpr auto class_of_death = static_cast<std::int32_t>(base::ErrorClass::proc_failed);

/// Whether a process has a handler of its own for SIGTSTP. Ranks have no terminal and their groups
/// no parent in the session, so the kernel ignores SIGTSTP for those that have not.
bool catches_terminal_stop(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(status, line)) {
    if (!line.starts_with("SigCgt:")) continue;
    std::uint64_t mask = 0;
    const std::size_t digits = std::min(line.find_first_not_of(" \t", 7), line.size());
    std::from_chars(line.data() + digits, line.data() + line.size(), mask, 16);
    return (mask >> (SIGTSTP - 1) & 1) != 0;
  }
  return false;
}

}  // namespace

void Supervisor::add_rank(pid_t pid, base::UniqueFd fd, const std::string& program) {
  const auto index = static_cast<std::uint32_t>(ranks_.size());
  (void)parts_.poller.add(fd.get(), EPOLLIN, {SourceKind::rank, index});
  ranks_.push_back({pid, std::move(fd), &program, 0, {}, {}, false});
  ++running_;
}

void Supervisor::give_up(int exit_code) {
  exit_code_ = exit_code;
  kill_now();
  clean_up();
  drain_output();
}

int Supervisor::run(const Limits& limits) {
  const auto in_ns = [](double seconds) {
    return static_cast<std::int64_t>(seconds * static_cast<double>(ns_per_s));
  };
  on_failure_ = limits.on_failure;
  on_signal_ = limits.on_signal;
  if (limits.timeout_s > 0) timeout_ns_ = now_ns() + in_ns(limits.timeout_s);
  if (limits.deadlock_s > 0) {
    lookout_.emplace(parts_.generations, DeadlockWatch::Times{in_ns(limits.deadlock_s),
                                                              in_ns(limits.polled_deadlock_s)});
    on_deadlock_ = limits.on_deadlock;
    look_ns_ = now_ns();  // the server learns the id of a spawned job
  }
  while (running_ > 0 || has_jobs()) step();
  clean_up();
  if (limits.print_exit_codes) say_exit_codes();
  drain_output();
  // Ranks that write to what cannot be written get SIGPIPE: that is no failure of theirs.
  constexpr int killed_by_pipe = 128 + SIGPIPE;
  if (parts_.output.lost() && (exit_code_ == 0 || exit_code_ == killed_by_pipe)) return 1;
  return exit_code_;
}

/// One turn of the event loop.
void Supervisor::step() {
  const std::int64_t deadline =
      std::min({timeout_ns_, kill_ns_, inner_ns_, look_ns_, parts_.output.deadline(),
                parts_.input.deadline(), parts_.socket.deadline(),
                parts_.launch == nullptr ? never_ns : parts_.launch->deadline()});
  for (const Source& source : parts_.poller.wait(deadline)) dispatch(source);
  const std::int64_t now = now_ns();
  parts_.output.on_time(now);
  parts_.input.on_time(now);
  parts_.socket.on_time(now);
  if (parts_.launch != nullptr) parts_.launch->on_time(now);
  on_deadline(now);
}

void Supervisor::dispatch(const Source& source) {
  switch (source.kind) {
    case SourceKind::signals:
      return on_signals();
    case SourceKind::guard:
      return restart_guard();
    case SourceKind::rank:
      return on_rank(source.index);
    case SourceKind::inner:
      return on_inner(source.index);
    case SourceKind::stream:
      return parts_.output.on_stream(source.index);
    case SourceKind::sink:
      return parts_.output.on_sink(source.index);
    case SourceKind::input:
      return parts_.input.on_input();
    case SourceKind::input_target:
      return parts_.input.on_target(source.index);
    case SourceKind::door:
      return parts_.socket.on_door();
    case SourceKind::visitor:
      return parts_.socket.on_visitor(source.index);
    case SourceKind::pmi:
      parts_.pmi.on_rank(source.index);
      return notice_aborts();
    case SourceKind::launch_door:
      return parts_.launch->on_door();
    case SourceKind::launch_client:
      return parts_.launch->on_client(source.index);
    case SourceKind::launch_job:
      return parts_.launch->on_job(source.index);
  }
}

/// A rank has ended. It stays a zombie until clean_up, see Roster.
void Supervisor::on_rank(std::uint32_t index) {
  Rank& rank = ranks_[index];
  siginfo_t info{};
  if (!rank.fd.valid()) return;
  if (::waitid(P_PID, static_cast<id_t>(rank.pid), &info, WEXITED | WNOHANG | WNOWAIT) != 0) {
    info.si_code = CLD_EXITED;  // cannot be: another thread has reaped it
    info.si_status = 1;
  } else if (info.si_pid != rank.pid) {
    return;
  }
  const wire::RankRecord& record = parts_.generations.record(index);
  RankEnd end;
  end.way = info.si_code == CLD_EXITED ? RankEnd::Way::exited : RankEnd::Way::signalled;
  end.value = info.si_status;
  end.state = wire::state_of(record);
  end.abort_code = record.abort_code.load(std::memory_order_relaxed);
  parts_.poller.remove(rank.fd.get());
  rank.fd.reset();
  --running_;
  rank.end = end.way == RankEnd::Way::exited ? std::to_string(end.value) : signal_name(end.value);
  if (end.state == wire::RankState::aborted) notice_killed();
  on_end(index, end);
  // The others hear first that the job ends, where it does: they do not report the death themselves.
  parts_.generations.mark_ended(index);
}

void Supervisor::on_end(std::uint32_t index, const RankEnd& end) {
  const Verdict verdict = judge(end);
  if (verdict.failed && !ending_) {
    const bool aborted = end.state == wire::RankState::aborted;
    answers_death_ = aborted && exit_code_ == 0 && end.abort_code == class_of_death;
    on_failure(index, verdict, ends_by(end.state));
    return;
  }
  if (answers_death_ && !killed_ && end.way == RankEnd::Way::signalled && end.value != SIGTERM) {
    // This is the death. The kernel closes connections before the parent can hear of it.
    answers_death_ = false;
    exit_code_ = 0;
    on_failure(index, verdict, Ends::job);
  }
}

Supervisor::Ends Supervisor::ends_by(wire::RankState state) const noexcept {
  const bool goes_on = on_failure_ == Limits::OnFailure::go_on && state != wire::RankState::aborted;
  return goes_on ? Ends::rank : Ends::job;
}

/// The first failure gives the job its exit code. It ends the job, unless others are to go on.
void Supervisor::on_failure(std::uint32_t index, const Verdict& verdict, Ends ends) {
  ending_ = ending_ || ends == Ends::job;
  if (exit_code_ == 0) exit_code_ = verdict.exit_code;
  if (interrupted_by_ != 0) {  // it ends because the user said so: nothing to report
    if (killed_ || exit_code_ == 1) exit_code_ = 128 + interrupted_by_;
    return;
  }
  Rank& rank = ranks_[index];
  if (std::exchange(rank.reported, true)) return;
  std::string line = "mpiexec: rank " + std::to_string(index) + " of " + std::to_string(size_) +
                     " (" + *rank.program + ", pid " + std::to_string(rank.pid) + ") " +
                     verdict.what;
  const bool alone = running_ == (rank.fd.valid() ? 1U : 0U) && !has_jobs();
  if (!alone) line += ends == Ends::job ? "; ending the other ranks" : "; the other ranks go on";
  parts_.output.say(line);
  if (ends == Ends::job) end_job();
}

/// Asks all ranks to end, and sets the time at which they are killed.
void Supervisor::end_job() {
  ending_ = true;
  parts_.generations.announce_end();
  forward(SIGTERM);
  forward(SIGCONT);  // stopped ranks hear it too
  forward_to_jobs(SIGTERM);
  forward_to_jobs(SIGCONT);
  kill_ns_ = std::min(kill_ns_, now_ns() + failure_grace_ns);
}

/// To whole process groups: what a rank started in the foreground is meant as well.
void Supervisor::forward(int signal) const {
  for (const Rank& rank : ranks_) {
    if (rank.fd.valid()) ::kill(-rank.pid, signal);
  }
}

void Supervisor::kill_now() {
  killed_ = true;
  kill_ns_ = now_ns() + sweep_limit_ns;  // again, if then something is still there
  parts_.generations.announce_end();
  sweep_sessions(parts_.roster.sessions(), sweep_limit_ns);
  forward_to_jobs(SIGTERM);  // their second one: they kill what is left, too
}

bool Supervisor::has_jobs() const noexcept {
  return parts_.launch != nullptr && parts_.launch->busy();
}

void Supervisor::forward_to_jobs(int signal) const {
  if (parts_.launch != nullptr) parts_.launch->forward(signal);
}

/// Its own process has said what became of it.
void Supervisor::on_job_failure(std::uint32_t number, int exit_code) {
  if (exit_code_ == 0) exit_code_ = exit_code;
  if (interrupted_by_ != 0 || ending_ || on_failure_ == Limits::OnFailure::go_on) return;
  if (running_ > 0 || has_jobs()) {
    parts_.output.say("mpiexec: spawned job " + std::to_string(number) +
                      " has failed with exit code " + std::to_string(exit_code) +
                      "; ending the others");
  }
  end_job();
}

void Supervisor::on_deadline(std::int64_t now) {
  if (now >= timeout_ns_) {
    timeout_ns_ = never_ns;
    if (!ending_) {
      parts_.output.say("mpiexec: the time given by --timeout is over; ending the job");
      exit_code_ = exit_code_timeout;
      end_job();
    }
  }
  if (now >= inner_ns_) report_inner();
  if (now >= look_ns_) look_for_deadlock(now);
  if (now >= kill_ns_) kill_now();
}

void Supervisor::look_for_deadlock(std::int64_t now) {
  look_ns_ = now + poll_interval_ns;
  if (ending_) return;
  if (parts_.launch == nullptr) return lookout_->tell(parts_.report_fd, now);
  const std::vector<std::string> lines = lookout_->look(*parts_.launch, now);
  for (const std::string& line : lines) parts_.output.say(line);
  if (lines.empty()) return;
  if (on_deadlock_ == Limits::OnDeadlock::report) {
    parts_.output.say("mpiexec:   the job goes on waiting; --deadlock-abort would end it");
    return;
  }
  parts_.output.say("mpiexec:   ending the job (--deadlock-abort)");
  exit_code_ = exit_code_deadlock;
  end_job();
}

void Supervisor::on_signals() {
  signalfd_siginfo info{};
  while (::read(parts_.signal_fd, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    on_signal(info);
  }
}

void Supervisor::on_signal(const signalfd_siginfo& info) {
  const int signal = static_cast<int>(info.ssi_signo);
  switch (signal) {
    case SIGCHLD:
      reap_orphans(static_cast<pid_t>(info.ssi_pid));
      notice_inner();
      return notice_aborts();
    case SIGTSTP:
      return stop_job();
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT:
      return interrupt(signal);
    default:
      forward(signal);
      forward_to_jobs(signal);
  }
}

/// A rank that was killed comes before those that abort because of it, whichever is seen first.
void Supervisor::notice_killed() {
  for (std::uint32_t index = 0; index < ranks_.size(); ++index) {
    const Rank& rank = ranks_[index];
    siginfo_t info{};
    constexpr int look = WEXITED | WNOHANG | WNOWAIT;
    if (!rank.fd.valid() || ::waitid(P_PID, static_cast<id_t>(rank.pid), &info, look) != 0)
      continue;
    if (info.si_pid == rank.pid && info.si_code != CLD_EXITED) on_rank(index);
  }
}

/// A rank that aborts sends a SIGCHLD of its own: behind a wrapper such as a shell it is no child
/// of mpiexec, and the wrapper may live on.
void Supervisor::notice_aborts() {
  for (std::uint32_t index = 0; index < ranks_.size() && !ending_; ++index) {
    const wire::RankRecord& record = parts_.generations.record(index);
    if (!ranks_[index].fd.valid() || wire::state_of(record) != wire::RankState::aborted) continue;
    notice_killed();
    if (ending_) return;
    RankEnd end;
    end.state = wire::RankState::aborted;
    end.abort_code = record.abort_code.load(std::memory_order_relaxed);
    answers_death_ = exit_code_ == 0 && end.abort_code == class_of_death;
    on_failure(index, judge(end), Ends::job);
  }
}

/// A rank behind a wrapper writes its own pid into its record and sends a SIGCHLD as well.
void Supervisor::notice_inner() {
  std::vector<pid_t> sessions;
  for (std::uint32_t index = 0; index < ranks_.size(); ++index) {
    const Rank& rank = ranks_[index];
    const wire::RankRecord& record = parts_.generations.record(index);
    const pid_t pid = record.pid.load(std::memory_order_acquire);
    if (!rank.fd.valid() || pid <= 0 || pid == rank.pid || pid == rank.inner) continue;
    if (sessions.empty()) sessions = parts_.roster.sessions();
    const bool is_ours = record.pid_space.load(std::memory_order_relaxed) == base::pid_space();
    const bool has_ended = is_ours && base::process_has_ended(pid);
    if (has_ended || descends_from(pid, sessions)) watch_inner(index, pid);
  }
}

void Supervisor::watch_inner(std::uint32_t index, pid_t pid) {
  Rank& rank = ranks_[index];
  if (rank.inner_fd.valid()) parts_.poller.remove(rank.inner_fd.get());
  rank.inner = pid;
  rank.inner_fd.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!rank.inner_fd.valid()) {  // it has ended already
    inner_ns_ = std::min(inner_ns_, now_ns() + inner_grace_ns);
    return;
  }
  (void)parts_.poller.add(rank.inner_fd.get(), EPOLLIN, {SourceKind::inner, index});
}

/// The process behind a wrapper has ended. How, only the wrapper knows: it gets a moment to end
/// with the exit code that says so.
void Supervisor::on_inner(std::uint32_t index) {
  Rank& rank = ranks_[index];
  if (!rank.inner_fd.valid()) return;
  parts_.poller.remove(rank.inner_fd.get());
  rank.inner_fd.reset();
  inner_ns_ = std::min(inner_ns_, now_ns() + inner_grace_ns);
}

void Supervisor::report_inner() {
  inner_ns_ = never_ns;
  for (std::uint32_t index = 0; index < ranks_.size() && !ending_; ++index) {
    const Rank& rank = ranks_[index];
    const wire::RankRecord& record = parts_.generations.record(index);
    if (!rank.fd.valid() || rank.inner == 0 || rank.inner_fd.valid()) continue;
    if (record.pid.load(std::memory_order_acquire) != rank.inner) continue;
    if (wire::state_of(record) != wire::RankState::initialised) continue;
    on_failure(index,
               {true, 1,
                "started process " + std::to_string(rank.inner) +
                    ", which ended without calling MPI_Finalize"},
               ends_by(wire::RankState::initialised));
    parts_.generations.announce_failure(index);
  }
}

void Supervisor::interrupt(int signal) {
  if (interrupted_by_ != 0 || ending_) return kill_now();
  interrupted_by_ = signal;
  forward(signal);
  forward_to_jobs(signal);
  kill_ns_ = now_ns() + interrupt_grace_ns;
  if (on_signal_ == Limits::OnSignal::silent) return;
  parts_.output.say("mpiexec: passed " + signal_name(signal) +
                    " on to the ranks; what is left after 5 s, or at the next signal, is killed");
}

/// Stops ranks, then mpiexec itself; SIGCONT to mpiexec comes out of the signalfd and is forwarded.
void Supervisor::stop_job() {
  for (const Rank& rank : ranks_) {
    if (!rank.fd.valid()) continue;
    ::kill(-rank.pid, SIGTSTP);
    if (!catches_terminal_stop(rank.pid)) ::kill(-rank.pid, SIGSTOP);
  }
  forward_to_jobs(SIGTSTP);
  ::raise(SIGSTOP);
}

/// Orphans of ranks become mpiexec's children (it is a subreaper) and would stay zombies for the
/// life of a long job. SIGCHLDs merge, so all children are looked at, once one is known to be an
/// orphan.
void Supervisor::reap_orphans(pid_t hint) const {
  const std::vector<pid_t> sessions = parts_.roster.sessions();
  const auto is_rank = [&](pid_t pid) {
    return std::binary_search(sessions.begin(), sessions.end(), pid);
  };
  if (is_rank(hint) || !proc_shows_our_numbers()) return;
  std::ifstream children("/proc/thread-self/children");
  pid_t pid = 0;
  while (children >> pid) {
    if (!is_rank(pid)) ::waitpid(pid, nullptr, WNOHANG);
  }
  ::waitpid(hint, nullptr, WNOHANG);
}

/// One line for each way in which ranks have ended.
void Supervisor::say_exit_codes() {
  std::map<std::string, std::string> ranks_by_end;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    ranks_by_end[ranks_[rank].end] += " " + std::to_string(rank);
  }
  for (const auto& [end, ranks] : ranks_by_end) {
    parts_.output.say("mpiexec: exit code " + end + ": rank" +
                      (ranks.find(' ', 1) == std::string::npos ? "" : "s") + ranks);
  }
}

/// All ranks have ended. Whatever they left behind has become a child of mpiexec: without children
/// there is nothing to search for, and a clean job has no cost.
void Supervisor::clean_up() {
  for (const Rank& rank : ranks_) ::waitpid(rank.pid, nullptr, 0);
  while (true) {
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
    if (pid < 0) break;
    if (pid > 0) continue;
    sweep_sessions(parts_.roster.sessions(), sweep_limit_ns);
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    break;
  }
  parts_.poller.remove(parts_.guard.fd());
  parts_.guard.stop();
}

/// Writes out what is left. A reader that is merely slow is waited for, unless the job was killed.
void Supervisor::drain_output() {
  timeout_ns_ = never_ns;
  const bool impatient = killed_ || ending_ || interrupted_by_ != 0;
  kill_ns_ = never_ns;
  const std::int64_t limit = impatient ? now_ns() + drain_grace_ns : never_ns;
  const int known_signal = interrupted_by_;
  killed_ = false;
  while (true) {
    parts_.output.finish();
    if (parts_.output.finished()) return;
    if (killed_ || now_ns() >= limit) return;  // interrupted again, or the reader has gone
    if (interrupted_by_ != known_signal) {
      exit_code_ = 128 + interrupted_by_;
      return;
    }
    kill_ns_ = limit;
    step();
  }
}

void Supervisor::restart_guard() {
  parts_.poller.remove(parts_.guard.fd());
  if (base::Error error = parts_.guard.start(); error.failed()) {
    parts_.output.say("mpiexec: " + error.text());
    return;
  }
  (void)parts_.poller.add(parts_.guard.fd(), EPOLLIN, {SourceKind::guard, 0});
}

}  // namespace fulmar::mpiexec
