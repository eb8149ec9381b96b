// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/links.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace fulmar::fabric::tcp {
namespace {

template <class Places>
auto* free_place(Places& places) {
  const auto found = std::find_if(places.begin(), places.end(), [](const Link& link) {
    return link.stage == Link::Stage::unused;
  });
  return found == places.end() ? nullptr : &*found;
}

// A token holds the place (accepted ones first) in its low byte, and a running number above.
constexpr std::uint64_t place_bits = 8;
static_assert(Links::max_accepted + Links::max_called <= 1U << place_bits);

}  // namespace

base::Result<Links> Links::open() {
  Links links;
  links.epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!links.epoll_.valid()) {
    return base::failure(base::ErrorClass::other, "epoll_create1: %s; see ulimit -n",
                         std::strerror(errno));
  }
  return links;
}

Link* Links::place(Link::Side side) {
  Link* link = side == Link::Side::accepted ? free_place(accepted_) : free_place(called_);
  if (link == nullptr && side == Link::Side::called && called_.size() < max_called) {
    link = &called_.emplace_back();
  }
  if (link != nullptr) link->side = side;
  return link;
}

bool Links::has_place(Link::Side side) const noexcept {
  if (side == Link::Side::accepted) return free_place(accepted_) != nullptr;
  return called_.size() < max_called || free_place(called_) != nullptr;
}

Link* Links::find(std::uint64_t token) noexcept {
  const std::size_t place = token & ((1U << place_bits) - 1);
  if (place >= max_accepted + called_.size()) return nullptr;
  Link& link = place < max_accepted ? accepted_[place] : called_[place - max_accepted];
  return link.stage != Link::Stage::unused && link.token == token ? &link : nullptr;
}

bool Links::await_decision() const noexcept {
  const auto awaits = [](const Link& link) { return link.talk && link.talk->awaits_decision(); };
  return std::any_of(accepted_.begin(), accepted_.end(), awaits) ||
         std::any_of(called_.begin(), called_.end(), awaits);
}

bool Links::begin(Link& link, base::UniqueFd socket, Link::Stage stage, std::uint64_t now_ns) {
  std::size_t place = 0;
  if (link.side == Link::Side::accepted) {
    place = static_cast<std::size_t>(&link - accepted_.data());
  } else {
    while (&called_[place] != &link) ++place;
    place += max_accepted;
  }
  link.token = (++uses_ << place_bits & ~listener_bit) | place;
  link.since_ns = now_ns;
  link.chosen = false;
  link.talk.reset();
  link.watched = stage == Link::Stage::connecting ? EPOLLOUT : EPOLLIN;
  epoll_event event{};
  event.events = link.watched;
  event.data.u64 = link.token;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket.get(), &event) != 0) return false;
  link.socket = std::move(socket);
  link.stage = stage;
  return true;
}

void Links::watch(Link& link, std::uint32_t events) noexcept {
  if (link.watched == events) return;
  link.watched = events;
  epoll_event event{};
  event.events = events;
  event.data.u64 = link.token;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, link.socket.get(), &event);
}

void Links::close(Link& link) noexcept {
  link.socket.reset();
  link.talk.reset();
  link.stage = Link::Stage::unused;
}

int Links::release(Link& link) noexcept {
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, link.socket.get(), nullptr);
  const int socket = link.socket.release();
  close(link);
  return socket;
}

bool Links::add_listener(int socket, std::size_t index) noexcept {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = listener_bit | index;
  return ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &event) == 0;
}

void Links::set_listener(int socket, std::size_t index, std::uint32_t events) noexcept {
  epoll_event event{};
  event.events = events;
  event.data.u64 = listener_bit | index;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, socket, &event);
}

}  // namespace fulmar::fabric::tcp
