// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>

#include "base/os/fd.h"
#include "base/os/processors.h"
#include "fulmar/doctor/child.h"
#include "fulmar/doctor/gather.h"

namespace fulmar::doctor {

namespace {

constexpr std::uint64_t deadline_ns = 5'000'000'000;

/// A file in memory as mpiexec makes it, and a page of it.
std::string try_memory_file() {
  constexpr std::size_t bytes = 1U << 20;
  const base::UniqueFd file(::memfd_create("fulmar-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file.valid()) {
    return std::string("memfd_create: ") + std::strerror(errno);
  }
  // Beyond the limit on file sizes there is a signal besides the error.
  ::signal(SIGXFSZ, SIG_IGN);
  if (::ftruncate(file.get(), bytes) != 0) {
    if (errno == EFBIG) {
      return {};  // the limit on file sizes has a line of its own
    }
    return std::string("ftruncate of a file in memory: ") + std::strerror(errno);
  }
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    return std::string("sealing of a file in memory: ") + std::strerror(errno);
  }
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (memory == MAP_FAILED) {
    return std::string("mmap of a file in memory: ") + std::strerror(errno);
  }
  *static_cast<volatile char*>(memory) = 1;
  ::munmap(memory, bytes);
  return {};
}

/// A process whose memory others may access, like that of a rank: it permits its parent and its descendants.
class Subject {
 public:
  Subject() {
    if (::pipe2(ready_.data(), O_CLOEXEC) != 0 || ::pipe2(hold_.data(), O_CLOEXEC) != 0) {
      return;
    }
    pid_ = ::fork();
    if (pid_ == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(::getppid()), 0, 0, 0);
      char letter = 'r';
      ::close(hold_[1]);
      (void)!::write(ready_[1], &letter, 1);
      (void)!::read(hold_[0], &letter, 1);  // until the other end is closed
      ::_exit(0);
    }
    char letter = 0;
    if (pid_ > 0) {
      (void)!::read(ready_[0], &letter, 1);
    }
  }
  Subject(const Subject&) = delete;
  Subject& operator=(const Subject&) = delete;
  ~Subject() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    for (const int fd : {ready_[0], ready_[1], hold_[0], hold_[1]}) {
      if (fd >= 0) {
        ::close(fd);
      }
    }
  }

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }

 private:
  std::array<int, 2> ready_ = {-1, -1};
  std::array<int, 2> hold_ = {-1, -1};
  pid_t pid_ = -1;
};

/// Whether one child of this process may read the memory of another one: an errno.
int try_copy() {
  static const char original = 'x';  // at the same address in all children
  const Subject subject;
  if (subject.pid() <= 0) {
    return EAGAIN;
  }
  const auto answer = ask_child(
      [&] {
        char copy = 0;
        const iovec to{&copy, 1};
        const iovec from{const_cast<char*>(&original), 1};
        const ssize_t count = ::process_vm_readv(subject.pid(), &to, 1, &from, 1, 0);
        return std::to_string(count == 1 && copy == original ? 0 : errno);
      },
      deadline_ns);
  int error = EPERM;  // killed by a filter
  if (answer) {
    std::from_chars(answer->data(), answer->data() + answer->size(), error);
  }
  return error;
}

/// Registered in a child, as it is for the life of a process.
int try_barrier() {
  const auto answer = ask_child(
      [] {
        const long result =
            ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0);
        return std::to_string(result == 0 ? 0 : errno);
      },
      deadline_ns);
  int error = EPERM;
  if (answer) {
    std::from_chars(answer->data(), answer->data() + answer->size(), error);
  }
  return error;
}

}  // namespace

KernelFacts gather_kernel() {
  KernelFacts facts;
  const auto file = ask_child(try_memory_file, deadline_ns);
  facts.memory_file_problem = file.value_or("memfd_create ends the process");
  facts.copy_error = try_copy();
  facts.barrier_error = try_barrier();
  const std::string scope = base::read_small_file("/proc/sys/kernel/yama/ptrace_scope");
  std::string_view rest = scope;
  facts.ptrace_scope = static_cast<int>(base::take_number(rest).value_or(0));
  facts.filtered = ::prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 2;
  return facts;
}

}  // namespace fulmar::doctor
