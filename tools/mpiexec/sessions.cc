// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/sessions.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "base/os/fd.h"
#include "mpiexec/clock.h"

namespace fulmar::mpiexec {
namespace {

struct DirCloser {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

std::optional<pid_t> parse_pid(std::string_view text) {
  pid_t pid = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (code != std::errc{} || stop != text.data() + text.size() || pid <= 0) return std::nullopt;
  return pid;
}

std::optional<ProcessStat> read_stat(pid_t pid) {
  const std::string name = "/proc/" + std::to_string(pid) + "/stat";
  const base::UniqueFd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return std::nullopt;
  std::array<char, 512> text;
  const ssize_t bytes = ::read(fd.get(), text.data(), text.size());
  if (bytes <= 0) return std::nullopt;
  return parse_stat({text.data(), static_cast<std::size_t>(bytes)});
}

/// Whether `pid` is alive and belongs to one of the sessions.
bool is_member(pid_t pid, std::span<const pid_t> sessions) {
  const auto stat = read_stat(pid);
  return stat && stat->state != 'Z' && stat->state != 'X' &&
         std::binary_search(sessions.begin(), sessions.end(), stat->session);
}

/// The living members; nothing when /proc cannot be read, for want of descriptors for example.
std::optional<std::vector<pid_t>> find_members(std::span<const pid_t> sessions) {
  const std::unique_ptr<DIR, DirCloser> folder(::opendir("/proc"));
  if (!folder || !proc_shows_our_numbers()) return std::nullopt;
  std::vector<pid_t> members;
  while (const dirent* entry = ::readdir(folder.get())) {
    const auto pid = parse_pid(entry->d_name);
    if (!pid) continue;
    errno = 0;
    if (is_member(*pid, sessions)) {
      members.push_back(*pid);
    } else if (errno == EMFILE || errno == ENFILE) {
      return std::nullopt;
    }
  }
  return members;
}

/// Kills through a pidfd and checks the session once more in between, so that a pid that was reused since
/// the scan is not killed. Returns the pidfd to wait on.
base::UniqueFd kill_member(pid_t pid, std::span<const pid_t> sessions) {
  base::UniqueFd fd(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!is_member(pid, sessions)) return {};
  if (fd.valid())
    ::syscall(SYS_pidfd_send_signal, fd.get(), SIGKILL, nullptr, 0);
  else
    ::kill(pid, SIGKILL);
  return fd;
}

void wait_for_death(const std::vector<base::UniqueFd>& fds, std::int64_t deadline_ns) {
  for (const base::UniqueFd& fd : fds) {
    if (!fd.valid()) continue;
    const std::int64_t left_ms = (deadline_ns - now_ns()) / ns_per_ms;
    pollfd entry{fd.get(), POLLIN, 0};
    ::poll(&entry, 1, static_cast<int>(std::max<std::int64_t>(left_ms, 0)));
  }
}

}  // namespace

base::Result<Roster> Roster::create(std::uint32_t ranks) {
  const std::size_t count = std::size_t{ranks} + 1;  // the last one is the session
  const std::size_t bytes = count * sizeof(Slot);
  void* start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) {
    return base::failure(base::ErrorClass::no_mem, "cannot map %zu bytes for the list of ranks: %s",
                         bytes, std::strerror(errno));
  }
  auto* slots = static_cast<Slot*>(start);
  for (std::size_t i = 0; i < count; ++i) new (slots + i) Slot(0);
  return Roster({slots, count});
}

Roster::Roster(Roster&& other) noexcept : slots_(std::exchange(other.slots_, {})) {}

Roster::~Roster() {
  if (!slots_.empty()) ::munmap(slots_.data(), slots_.size_bytes());
}

std::vector<pid_t> Roster::sessions() const {
  std::vector<pid_t> sessions;
  for (const Slot& slot : slots_) {
    if (const pid_t pid = slot.load(std::memory_order_acquire); pid > 0) sessions.push_back(pid);
  }
  std::sort(sessions.begin(), sessions.end());
  return sessions;
}

std::optional<ProcessStat> parse_stat(std::string_view text) {
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string_view::npos || text.size() < name_end + 4) return std::nullopt;
  ProcessStat stat;
  stat.state = text[name_end + 2];
  std::string_view rest = text.substr(name_end + 3);
  std::array<pid_t, 3> numbers{};  // parent, group, session
  for (pid_t& number : numbers) {
    if (!rest.starts_with(' ')) return std::nullopt;
    rest.remove_prefix(1);
    const auto [stop, code] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (code != std::errc{}) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
  }
  stat.parent = numbers[0];
  stat.session = numbers[2];
  return stat;
}

bool proc_shows_our_numbers() {
  std::array<char, 32> link{};
  const ssize_t length = ::readlink("/proc/self", link.data(), link.size());
  return length > 0 && parse_pid({link.data(), static_cast<std::size_t>(length)}) == ::getpid();
}

bool descends_from(pid_t pid, std::span<const pid_t> sessions, int limit) {
  if (pid <= 0) return false;
  if (std::binary_search(sessions.begin(), sessions.end(), ::getsid(pid))) return true;
  if (!proc_shows_our_numbers()) return false;
  for (; limit > 0 && pid > 1 && pid != ::getpid(); --limit) {
    const auto stat = read_stat(pid);
    if (!stat) return false;
    if (std::binary_search(sessions.begin(), sessions.end(), stat->session)) return true;
    pid = stat->parent;
  }
  return false;
}

void sweep_sessions(std::span<const pid_t> sessions, std::int64_t limit_ns) {
  const std::int64_t deadline = now_ns() + limit_ns;
  while (true) {
    const auto members = find_members(sessions);
    if (!members) {
      for (const pid_t session : sessions) ::kill(-session, SIGKILL);
      return;
    }
    if (members->empty()) return;
    std::vector<base::UniqueFd> dying;
    for (const pid_t pid : *members) dying.push_back(kill_member(pid, sessions));
    wait_for_death(dying, deadline);
    if (now_ns() >= deadline) return;
  }
}

}  // namespace fulmar::mpiexec
