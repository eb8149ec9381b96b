// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/spawn.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "mpiexec/file_head.h"

// A rank is cloned with CLONE_VM and CLONE_VFORK, as posix_spawn does: the child borrows mpiexec's
// memory until its exec, on a stack of its own, while mpiexec stands still. That saves the copy of
// the page tables for each of many ranks, and lets the child write its errno straight into a
// variable of the parent. The child therefore must not allocate, and calls nothing but system
// calls.

namespace fulmar::mpiexec {
namespace {

/// Signals that mpiexec takes from a signalfd: those it forwards, and SIGCHLD.
constexpr std::array handled_signals = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT, SIGUSR1,
                                        SIGUSR2, SIGTSTP, SIGCONT, SIGCHLD};

struct ChildPlan {
  const SpawnRequest& request;
  const Inheritance& inheritance;
  bool own_session;
  std::vector<unsigned long> mask;
  std::vector<char*> shell_argv;
  int error = 0;
  const char* step = nullptr;
  FileHead head{};
};

/// Gives `fd` the number `number` and lets it live through exec.
bool place_fd(int fd, int number) {
  if (fd != number) return ::dup2(fd, number) == number;
  return ::fcntl(fd, F_SETFD, 0) == 0;
}

/// The first step that fails; null when all is set up.
const char* set_up(const ChildPlan& plan) {
  const SpawnRequest& request = plan.request;
  if (plan.own_session ? ::setsid() < 0 : ::setpgid(0, 0) != 0) return "setsid";
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return "prctl";
  if (::getppid() != plan.inheritance.mpiexec) ::_exit(1);  // mpiexec died before the line above
  for (int number = 0; number < 3; ++number) {
    if (!place_fd(request.fds[number], number)) return "dup2";
  }
  if (request.job_fd >= 0 && ::fcntl(request.job_fd, F_SETFD, 0) != 0) return "fcntl";
  if (request.pmi_fd >= 0 && ::fcntl(request.pmi_fd, F_SETFD, 0) != 0) return "fcntl";
  if (request.wdir != nullptr && ::chdir(request.wdir) != 0) return "chdir";
  if (!plan.mask.empty()) {
    const std::size_t bytes = plan.mask.size() * sizeof(unsigned long);
    (void)::sched_setaffinity(0, bytes, reinterpret_cast<const cpu_set_t*>(plan.mask.data()));
  }
  ::setrlimit(RLIMIT_NOFILE, &plan.inheritance.open_files);
  ::setrlimit(RLIMIT_FSIZE, &plan.inheritance.file_size);
  ::sigaction(SIGPIPE, &plan.inheritance.pipe_action, nullptr);
  ::sigaction(SIGXFSZ, &plan.inheritance.file_size_action, nullptr);
  ::sigprocmask(SIG_SETMASK, &plan.inheritance.mask, nullptr);
  return nullptr;
}

int child_main(void* argument) {
  auto& plan = *static_cast<ChildPlan*>(argument);
  const SpawnRequest& request = plan.request;
  request.slot->store(::getpid(), std::memory_order_release);
  plan.step = set_up(plan);
  if (plan.step == nullptr) {
    plan.step = "execve";
    ::execve(request.file, request.argv, request.environment);
    if (errno == ENOEXEC) {  // perhaps a script without its first line
      plan.head.read_from(request.file);
      errno = ENOEXEC;
      if (plan.head.is_script()) {
        ::execve("/bin/sh", plan.shell_argv.data(), request.environment);
      }
    }
  }
  plan.error = errno;
  ::_exit(127);
}

/// Memory for the stack of a process that shares ours.
class Stack {
 public:
  explicit Stack(std::size_t bytes) : memory_(bytes) {}
  char* top() {
    char* end = memory_.data() + memory_.size();
    return end - reinterpret_cast<std::uintptr_t>(end) % 64;
  }

 private:
  std::vector<char> memory_;
};

std::vector<unsigned long> make_mask(std::span<const std::uint32_t> processors) {
  constexpr std::size_t word_bits = 8 * sizeof(unsigned long);
  std::vector<unsigned long> mask;
  for (const std::uint32_t id : processors) {
    if (mask.size() <= id / word_bits) mask.resize(id / word_bits + 1);
    mask[id / word_bits] |= 1UL << (id % word_bits);
  }
  return mask;
}

std::vector<char*> make_shell_argv(const SpawnRequest& request) {
  std::vector<char*> argv = {const_cast<char*>("sh"), const_cast<char*>(request.file)};
  for (char* const* entry = request.argv + 1; *entry != nullptr; ++entry) argv.push_back(*entry);
  argv.push_back(nullptr);
  return argv;
}

void raise_limit(decltype(RLIMIT_NOFILE) resource, rlimit& found) {
  if (::getrlimit(resource, &found) != 0) return;
  rlimit raised = found;
  raised.rlim_cur = raised.rlim_max;
  ::setrlimit(resource, &raised);
}

void open_missing_fds() {
  for (int fd = 0; fd < 3; ++fd) {
    if (::fcntl(fd, F_GETFD) < 0) (void)!::open("/dev/null", O_RDWR);
  }
}

bool is_ignored(int signal) {
  struct sigaction found{};
  return ::sigaction(signal, nullptr, &found) == 0 && found.sa_handler == SIG_IGN;
}

/// A signal that would end or stop the job and was ignored before (SIGHUP by nohup) stays so. One
/// that is blocked reaches a signalfd though it is ignored, so it must not be blocked.
std::vector<int> signals_to_handle() {
  std::vector<int> signals;
  for (const int signal : handled_signals) {
    const bool ends_or_stops = signal == SIGHUP || signal == SIGTERM || signal == SIGTSTP;
    if (!ends_or_stops || !is_ignored(signal)) signals.push_back(signal);
  }
  return signals;
}

}  // namespace

Inheritance prepare_process() {
  Inheritance found;
  found.mpiexec = ::getpid();
  open_missing_fds();
  struct sigaction ignore{};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &found.pipe_action);
  ::sigaction(SIGXFSZ, &ignore, &found.file_size_action);

  // A shell without job control starts `mpiexec &` with these two ignored, and ranks that inherit
  // that would not end by them. Whoever sends them to a process in the background means the job.
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  ::sigaction(SIGINT, &standard, nullptr);
  ::sigaction(SIGQUIT, &standard, nullptr);
  ::sigaction(SIGCHLD, &standard, nullptr);

  sigset_t handled;
  ::sigemptyset(&handled);
  for (const int signal : signals_to_handle()) ::sigaddset(&handled, signal);
  ::sigprocmask(SIG_BLOCK, &handled, &found.mask);
  for (const int signal : handled_signals) ::sigdelset(&found.mask, signal);

  raise_limit(RLIMIT_NOFILE, found.open_files);
  raise_limit(RLIMIT_FSIZE, found.file_size);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  return found;
}

int in_new_session(Roster::Slot& session, void (*start)(void*), void* context) {
  struct Leader {
    Roster::Slot& session;
    void (*start)(void*);
    void* context;
    int error;
  };
  Leader leader{session, start, context, 0};
  const auto lead = [](void* argument) {
    auto& self = *static_cast<Leader*>(argument);
    if (::setsid() < 0) {
      self.error = errno;
    } else {
      self.session.store(::getpid(), std::memory_order_release);
      self.start(self.context);
    }
    return 0;
  };
  Stack stack(1 << 20);
  // The exit signal of this process becomes that of the ranks, whose parent is not it but mpiexec.
  const pid_t pid =
      ::clone(lead, stack.top(), CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD, &leader);
  if (pid < 0) return errno;
  ::waitpid(pid, nullptr, 0);
  return leader.error;
}

Spawned spawn_rank(const SpawnRequest& request, const Inheritance& inheritance) {
  const bool is_mpiexec = ::getpid() == inheritance.mpiexec;
  ChildPlan plan{request, inheritance, is_mpiexec, make_mask(request.processors),
                 make_shell_argv(request)};
  Stack stack(128 << 10);
  int fd = -1;
  Spawned spawned;
  const int flags =
      CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD | (is_mpiexec ? 0 : CLONE_PARENT);
  spawned.pid = ::clone(child_main, stack.top(), flags, &plan, &fd);
  if (spawned.pid < 0) {
    spawned.error = errno;
    spawned.step = "clone";
    return spawned;
  }
  spawned.fd.reset(fd);
  if (plan.error != 0) {
    if (is_mpiexec) ::waitpid(spawned.pid, nullptr, 0);  // else with the other children
    request.slot->store(0, std::memory_order_release);
    spawned.error = plan.error;
    spawned.step = plan.step;
    if (plan.error == ENOEXEC) spawned.refused = plan.head.why_refused();
  }
  return spawned;
}

}  // namespace fulmar::mpiexec
