// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

// The calls of the system by which the library reads and writes, as a program has them that includes this
// once: they interrupt, do half of what they are asked for, or fail, if the program says so.
namespace faulty {

enum class Fault { none, interrupted, halved, no_space, damaged };

struct State {
  std::atomic<Fault> fault{Fault::none};
  std::atomic<int> calls{0};
  std::atomic<int> before_failure{0};  ///< so many calls go well
  std::atomic<int> failed{0};
};

inline State& state() {
  static State state;
  return state;
}

inline void set(Fault fault, int before_failure = 0) {
  state().calls = 0;
  state().failed = 0;
  state().before_failure = before_failure;
  state().fault = fault;
}

/// How many bytes the next call moves, or -1 with errno.
inline ssize_t allowed(std::size_t bytes) {
  State& now = state();
  const int call = now.calls++;
  switch (now.fault.load()) {
    case Fault::interrupted:
      errno = EINTR;
      return call % 2 == 0 ? -1 : static_cast<ssize_t>(bytes);
    case Fault::halved:
      return static_cast<ssize_t>(bytes > 1 && call % 3 != 0 ? bytes / 2 : bytes);
    case Fault::no_space:
    case Fault::damaged:
      if (call < now.before_failure) return static_cast<ssize_t>(bytes);
      ++now.failed;
      errno = now.fault == Fault::no_space ? ENOSPC : EIO;
      return -1;
    default:
      return static_cast<ssize_t>(bytes);
  }
}

inline ssize_t moved(long call, int file, std::uintptr_t memory, std::size_t bytes, off_t offset) {
  const ssize_t some = allowed(bytes);
  if (some < 0) return -1;
  return ::syscall(call, file, memory, static_cast<std::size_t>(some), offset);
}

/// Of a list of pieces the first one that has bytes, or a part of it.
inline ssize_t moved(long call, int file, const iovec* pieces, int count, off_t offset) {
  while (count > 1 && pieces->iov_len == 0) ++pieces, --count;
  return moved(call, file, reinterpret_cast<std::uintptr_t>(pieces->iov_base), pieces->iov_len,
               offset);
}

}  // namespace faulty

extern "C" ssize_t pwrite(int file, const void* memory, std::size_t bytes, off_t offset) {
  return faulty::moved(SYS_pwrite64, file, reinterpret_cast<std::uintptr_t>(memory), bytes, offset);
}
extern "C" ssize_t pread(int file, void* memory, std::size_t bytes, off_t offset) {
  return faulty::moved(SYS_pread64, file, reinterpret_cast<std::uintptr_t>(memory), bytes, offset);
}
extern "C" ssize_t pwritev(int file, const iovec* pieces, int count, off_t offset) {
  return faulty::moved(SYS_pwrite64, file, pieces, count, offset);
}
extern "C" ssize_t preadv(int file, const iovec* pieces, int count, off_t offset) {
  return faulty::moved(SYS_pread64, file, pieces, count, offset);
}
