// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/input.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "mpiexec/clock.h"

namespace fulmar::mpiexec {
namespace {

constexpr std::size_t chunk_bytes = 16 << 10;
constexpr std::int64_t terminal_retry_ns = 300 * ns_per_ms;

}  // namespace

Input::Input(Poller& poller, StdinTo to, std::uint32_t chosen_rank)
    : poller_(poller),
      to_(to),
      chosen_rank_(chosen_rank),
      terminal_(::isatty(0) != 0),
      retry_ns_(never_ns),
      null_(::open("/dev/null", O_RDONLY | O_CLOEXEC)) {}

base::Result<Input::RankEnd> Input::connect_rank(std::uint32_t rank) {
  RankEnd end;
  const bool reads = to_ == StdinTo::all || (to_ == StdinTo::rank && rank == chosen_rank_);
  if (!reads) {
    end.fd = null_.valid() ? null_.get() : 0;
    return end;
  }
  if (to_ == StdinTo::rank && !terminal_) return end;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return base::failure(base::ErrorClass::other, "no pipe for the input of rank %u: %s", rank,
                         std::strerror(errno));
  }
  ::fcntl(ends[1], F_SETFL, O_NONBLOCK);
  end.own.reset(ends[0]);
  end.fd = ends[0];
  targets_.push_back({base::UniqueFd(ends[1])});
  if (!watched_ && !ended_) watch_input();
  return end;
}

void Input::watch_input() {
  if (poller_.add(0, EPOLLIN, {SourceKind::input, 0})) {
    watched_ = true;
    return;
  }
  always_ready_ = true;
  retry_ns_ = 0;  // on_time reads it
}

void Input::pause_input() {
  if (watched_) poller_.remove(0);
  watched_ = false;
  retry_ns_ = never_ns;
}

void Input::on_time(std::int64_t now_ns) {
  if (now_ns < retry_ns_) return;
  retry_ns_ = never_ns;
  if (ended_ || !chunk_.empty()) return;
  if (always_ready_)
    on_input();
  else if (!watched_)
    watch_input();
}

void Input::on_input() {
  if (ended_ || !chunk_.empty()) return;
  if (terminal_ && ::tcgetpgrp(0) != ::getpgrp()) {
    pause_input();
    retry_ns_ = now_ns() + terminal_retry_ns;
    return;
  }
  chunk_.resize(chunk_bytes);
  const ssize_t count = ::read(0, chunk_.data(), chunk_.size());
  chunk_.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    end_input();
    return;
  }
  pause_input();
  for (Target& target : targets_) target.done = 0;
  for (std::uint32_t i = 0; i < targets_.size(); ++i) write_chunk(i);
  next_step();
}

void Input::on_target(std::uint32_t index) {
  write_chunk(index);
  next_step();
}

void Input::write_chunk(std::uint32_t index) {
  Target& target = targets_[index];
  while (target.fd.valid() && target.done < chunk_.size()) {
    const ssize_t count =
        ::write(target.fd.get(), chunk_.data() + target.done, chunk_.size() - target.done);
    if (count > 0) {
      target.done += static_cast<std::size_t>(count);
    } else if (count < 0 && errno == EAGAIN) {
      if (!target.watched) {
        target.watched = poller_.add(target.fd.get(), EPOLLOUT, {SourceKind::input_target, index});
      }
      return;
    } else if (!(count < 0 && errno == EINTR)) {
      target.fd.reset();  // this rank reads no more; epoll forgets closed descriptors
      return;
    }
  }
  if (target.watched) poller_.remove(target.fd.get());
  target.watched = false;
}

/// Reads on when every reader has all of the present chunk.
void Input::next_step() {
  const bool all_done = std::all_of(targets_.begin(), targets_.end(), [&](const Target& target) {
    return !target.fd.valid() || target.done == chunk_.size();
  });
  if (!all_done || ended_) return;
  chunk_.clear();
  const bool readers = std::any_of(targets_.begin(), targets_.end(),
                                   [](const Target& target) { return target.fd.valid(); });
  if (!readers)
    end_input();
  else if (!watched_)
    watch_input();
}

void Input::end_input() {
  pause_input();
  ended_ = true;
  targets_.clear();
}

}  // namespace fulmar::mpiexec
