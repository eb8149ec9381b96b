// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/poller.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>

#include "mpiexec/clock.h"

namespace fulmar::mpiexec {
namespace {

epoll_event make_event(std::uint32_t events, Source source) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = static_cast<std::uint64_t>(source.kind) << 32 | source.index;
  return event;
}

/// Rounded up, so that a deadline has really come when epoll returns for it.
int milliseconds_until(std::int64_t deadline_ns) {
  if (deadline_ns == never_ns) return -1;
  const std::int64_t left = deadline_ns - now_ns();
  if (left <= 0) return 0;
  return static_cast<int>(std::min<std::int64_t>((left + ns_per_ms - 1) / ns_per_ms, INT_MAX));
}

}  // namespace

base::Result<Poller> Poller::create() {
  base::UniqueFd fd(::epoll_create1(EPOLL_CLOEXEC));
  if (!fd.valid()) {
    return base::failure(base::ErrorClass::other, "epoll_create1: %s", std::strerror(errno));
  }
  return Poller(std::move(fd));
}

bool Poller::add(int fd, std::uint32_t events, Source source) const {
  epoll_event event = make_event(events, source);
  return ::epoll_ctl(fd_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Poller::change(int fd, std::uint32_t events, Source source) const {
  epoll_event event = make_event(events, source);
  ::epoll_ctl(fd_.get(), EPOLL_CTL_MOD, fd, &event);
}

void Poller::remove(int fd) const { ::epoll_ctl(fd_.get(), EPOLL_CTL_DEL, fd, nullptr); }

std::span<const Source> Poller::wait(std::int64_t deadline_ns) {
  const int count = ::epoll_wait(fd_.get(), events_.data(), static_cast<int>(events_.size()),
                                 milliseconds_until(deadline_ns));
  ready_.clear();
  for (int i = 0; i < count; ++i) {
    const std::uint64_t key = events_[static_cast<std::size_t>(i)].data.u64;
    ready_.push_back({static_cast<SourceKind>(key >> 32), static_cast<std::uint32_t>(key)});
  }
  return ready_;
}

}  // namespace fulmar::mpiexec
