// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/doctor/child.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/clock.h"
#include "base/os/fd.h"

namespace fulmar::doctor {

namespace {

constexpr std::size_t most_bytes = 4096;

/// A pipe takes so much at once.
[[noreturn]] void answer(int to, const std::function<std::string()>& question) {
  std::string text = question() + '\n';  // the end, so that an empty answer is one, too
  text.resize(std::min(text.size(), most_bytes));
  const ssize_t written = ::write(to, text.data(), text.size());
  ::_exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

/// False when the time is over.
bool read_all(int from, std::uint64_t end_ns, std::string& text) {
  std::array<char, most_bytes> buffer{};
  while (true) {
    const std::uint64_t now = base::now_ns();
    if (now >= end_ns) {
      return false;
    }
    pollfd waiting{from, POLLIN, 0};
    if (::poll(&waiting, 1, static_cast<int>((end_ns - now) / 1'000'000 + 1)) <= 0) {
      continue;
    }
    const ssize_t count = ::read(from, buffer.data(), buffer.size());
    if (count <= 0) {
      return true;
    }
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

std::optional<std::string> ask_child(const std::function<std::string()>& question,
                                     std::uint64_t deadline_ns) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return std::nullopt;
  }
  const base::UniqueFd from(ends[0]);
  base::UniqueFd to(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) {
    return std::nullopt;
  }
  if (child == 0) {
    answer(to.get(), question);
  }
  to.reset();
  std::string text;
  const bool in_time = read_all(from.get(), base::now_ns() + deadline_ns, text);
  ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time || !text.ends_with('\n')) {
    return std::nullopt;
  }
  text.pop_back();
  return text;
}

}  // namespace fulmar::doctor
