// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <string_view>

// The calls of the system that concern a file as a whole, as a program has them that includes this once: of
// files below one folder they fail, if the program says so.
namespace failing {

enum class Call { none, open, close, sync, set_size, reserve, lock, remove, make_usable };

struct State {
  std::atomic<Call> call{Call::none};
  std::atomic<int> error{0};
  std::atomic<int> failed{0};
  std::array<char, 256> folder{};
};

inline State& state() {
  static State state;
  return state;
}

inline void set(Call call, int error) {
  state().failed = 0;
  state().error = error;
  state().call = call;
}

inline bool fails(Call call) {
  State& now = state();
  if (now.call != call) return false;
  ++now.failed;
  errno = now.error;
  return true;
}

inline bool is_ours(const char* path) {
  const std::string_view folder(state().folder.data());
  return !folder.empty() && std::string_view(path).starts_with(folder);
}

inline bool is_ours(int file) {
  std::array<char, 32> link{};
  std::array<char, 256> path{};
  std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", file);
  return ::readlink(link.data(), path.data(), path.size() - 1) > 0 && is_ours(path.data());
}

}  // namespace failing

extern "C" int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const bool makes = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  const auto permissions = makes ? va_arg(rest, unsigned) : 0U;
  va_end(rest);
  if (failing::is_ours(path) && failing::fails(failing::Call::open)) return -1;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, permissions));
}
/// The descriptor is closed in any case, as by Linux.
extern "C" int close(int file) {
  using failing::Call;
  const bool bad = failing::state().call == Call::close && failing::is_ours(file);
  const int result = static_cast<int>(::syscall(SYS_close, file));
  return bad && failing::fails(Call::close) ? -1 : result;
}
extern "C" int fsync(int file) {
  if (failing::fails(failing::Call::sync)) return -1;
  return static_cast<int>(::syscall(SYS_fsync, file));
}
extern "C" int ftruncate(int file, off_t size) noexcept {
  if (failing::is_ours(file) && failing::fails(failing::Call::set_size)) return -1;
  return static_cast<int>(::syscall(SYS_ftruncate, file, size));
}
extern "C" int fallocate(int file, int mode, off_t offset, off_t size) {
  if (failing::is_ours(file) && failing::fails(failing::Call::reserve)) return -1;
  return static_cast<int>(::syscall(SYS_fallocate, file, mode, offset, size));
}
extern "C" int unlink(const char* path) noexcept {
  if (failing::is_ours(path) && failing::fails(failing::Call::remove)) return -1;
  return static_cast<int>(::syscall(SYS_unlink, path));
}
extern "C" int fcntl(int file, int command, ...) {
  std::va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  if (command == F_OFD_SETLK && static_cast<struct flock*>(argument)->l_type != F_UNLCK &&
      failing::fails(failing::Call::lock)) {
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fcntl, file, command, argument));
}
extern "C" int madvise(void* memory, size_t bytes, int advice) noexcept {
  constexpr int populate_read = 22;
  constexpr int populate_write = 23;
  const bool makes_usable = advice == populate_read || advice == populate_write;
  if (makes_usable && failing::fails(failing::Call::make_usable)) return -1;
  return static_cast<int>(::syscall(SYS_madvise, memory, bytes, advice));
}
