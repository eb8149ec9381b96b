// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "study/split_network.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace fulmar::study {

namespace {

fabric::NetworkAttributes together(const fabric::NetworkAttributes& one,
                                   const fabric::NetworkAttributes& other) {
  fabric::NetworkAttributes both;
  both.body_bytes = std::max(one.body_bytes, other.body_bytes);
  both.prefix_bytes = std::min(one.prefix_bytes, other.prefix_bytes);
  both.pieces = std::min(one.pieces, other.pieces);
  both.in_place_bytes = std::max(one.in_place_bytes, other.in_place_bytes);
  both.rdma_bytes = std::max(one.rdma_bytes, other.rdma_bytes);
  both.limits_by_peer = true;
  both.holds_packets = one.holds_packets || other.holds_packets;
  return both;
}

base::Error no_descriptor(const char* call) {
  return base::failure(base::ErrorClass::other, "%s: %s; raise the limit of open files (ulimit -n)",
                       call, std::strerror(errno));
}

}  // namespace

base::Result<std::unique_ptr<SplitNetwork>> SplitNetwork::open(
    std::unique_ptr<fabric::Network> first, std::vector<std::uint32_t> ranks,
    std::unique_ptr<fabric::Network> second) {
  std::unique_ptr<SplitNetwork> split(
      new SplitNetwork(std::move(first), std::move(ranks), std::move(second), {}));
  if (const base::Error error = split->watch(); error.failed()) return error;
  return split;
}

SplitNetwork::SplitNetwork(std::unique_ptr<fabric::Network> first, std::vector<std::uint32_t> ranks,
                           std::unique_ptr<fabric::Network> second, base::UniqueFd epoll)
    : Network(second->name(), together(first->attributes(), second->attributes())),
      first_(std::move(first)),
      second_(std::move(second)),
      ranks_(std::move(ranks)),
      epoll_(std::move(epoll)) {}

base::Error SplitNetwork::watch() {
  base::UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return no_descriptor("epoll_create1");
  for (const int descriptor : {first_->descriptor(), second_->descriptor()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
      return no_descriptor("epoll_ctl");
    }
  }
  epoll_ = std::move(epoll);
  return {};
}

bool SplitNetwork::is_first(std::uint32_t peer) const noexcept {
  return std::binary_search(ranks_.begin(), ranks_.end(), peer);
}

void SplitNetwork::flush() {
  first_->flush();
  second_->flush();
}

bool SplitNetwork::arm() {
  const bool first_is_quiet = first_->arm();
  return second_->arm() && first_is_quiet;
}

std::int64_t SplitNetwork::next_deadline_ns() const noexcept {
  const std::int64_t one = first_->next_deadline_ns();
  const std::int64_t other = second_->next_deadline_ns();
  return one < 0 || other < 0 ? std::max(one, other) : std::min(one, other);
}

void SplitNetwork::leave(fabric::Leaving how) {
  first_->leave(how);
  second_->leave(how);
}

void SplitNetwork::end() noexcept {
  first_->end();
  second_->end();
}

void SplitNetwork::close() noexcept {
  first_->close();
  second_->close();
}

base::Error SplitNetwork::resume() {
  if (const base::Error error = first_->resume(); error.failed()) return error;
  if (const base::Error error = second_->resume(); error.failed()) return error;
  return watch();
}

}  // namespace fulmar::study
