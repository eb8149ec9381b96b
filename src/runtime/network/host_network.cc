// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/network/host_network.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace fulmar::runtime {
namespace {

using fabric::Post;
using State = wire::HostMemberState;

/// After so many polls without an event the network is polled at every `rare_poll_interval`th.
constexpr std::uint32_t polls_before_rare = 1000;
constexpr std::uint32_t rare_poll_interval = 32;
/// Of a long message that is copied through memory: sender and receiver copy at the same time.
constexpr std::size_t part_bytes = 64U << 10;

/// What the network has, but limits differ.
fabric::NetworkAttributes with_memory(fabric::NetworkAttributes attributes) {
  attributes.limits_by_peer = true;
  attributes.drops_peers = false;
  return attributes;
}

base::Error no_descriptor(const char* call) {
  return base::failure(base::ErrorClass::other, "%s: %s; raise the limit of open files (ulimit -n)",
                       call, std::strerror(errno));
}

}  // namespace

base::Result<std::unique_ptr<HostNetwork>> HostNetwork::open(
    std::unique_ptr<fabric::Network>& network, HostWays::Config config) {
  auto socket = base::WakeSocket::open();
  if (socket.failed()) return socket.error();
  std::unique_ptr<HostNetwork> both(
      new HostNetwork(std::move(network), std::move(config), std::move(*socket)));
  if (base::Error error = both->watch(); error.failed()) {
    network = std::move(both->network_);
    return error;
  }
  return both;
}

HostNetwork::HostNetwork(std::unique_ptr<fabric::Network> network, HostWays::Config config,
                         base::WakeSocket socket)
    : Network(network->name(), with_memory(network->attributes())),
      network_(std::move(network)),
      ways_(std::move(config), std::move(socket)) {}

base::Error HostNetwork::watch() {
  base::UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) return no_descriptor("epoll_create1");
  for (const int descriptor : {ways_.descriptor(), network_->descriptor()}) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, descriptor, &event) != 0) {
      return no_descriptor("epoll_ctl");
    }
  }
  epoll_ = std::move(epoll);
  return {};
}

Post HostNetwork::post(std::uint32_t peer, const wire::Envelope& envelope,
                       std::span<const std::byte> body) {
  return ways_.leads_to(peer) ? ways_.post(peer, envelope, body)
                              : network_->post(peer, envelope, body);
}

/// Copied, and handed over as an ordinary packet: the prefix says where it belongs.
Post HostNetwork::post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                std::span<const std::byte> prefix, std::span<const iovec> pieces,
                                std::uint64_t token) {
  if (!ways_.leads_to(peer)) {
    return network_->post_in_place(peer, envelope, prefix, pieces, token);
  }
  if (!ways_.alive(peer)) {
    ended_.push_back({token, fabric::Sent::lost});
    return Post::done;
  }
  std::vector<std::byte> body(prefix.begin(), prefix.end());
  body.reserve(envelope.length);
  for (const iovec& piece : pieces) {
    const auto* const bytes = static_cast<const std::byte*>(piece.iov_base);
    body.insert(body.end(), bytes, bytes + piece.iov_len);
  }
  const Post posted = ways_.post(peer, envelope, body);
  if (posted == Post::done) ended_.push_back({token, fabric::Sent::done});
  return posted;
}

std::size_t HostNetwork::body_limit_of(std::uint32_t peer) {
  return ways_.leads_to(peer) ? std::min(ways_.body_limit(peer), attributes().body_bytes)
                              : network_->body_limit(peer);
}

std::size_t HostNetwork::in_place_limit_of(std::uint32_t peer) {
  return ways_.leads_to(peer) ? std::min(body_limit(peer), part_bytes)
                              : network_->in_place_limit(peer);
}

unsigned HostNetwork::poll(fabric::SinkRef sink) {
  unsigned moved = 0;
  if (!ended_.empty()) [[unlikely]] {
    const std::vector<Ended> ended = std::exchange(ended_, {});
    for (const Ended& one : ended) sink.sent(one.token, one.how);
    moved += static_cast<unsigned>(ended.size());
  }
  if (!over_) moved += ways_.poll(sink);
  return moved + poll_network(sink);
}

unsigned HostNetwork::poll_network(fabric::SinkRef& sink) {
  const bool was_armed = std::exchange(armed_, false);
  const bool due = ways_.segments() == 0 || was_armed || idle_polls_ < polls_before_rare ||
                   idle_polls_ % rare_poll_interval == 0 || network_->has_unsent();
  ++idle_polls_;
  if (!due) return 0;
  const unsigned moved = network_->poll(sink);
  if (moved != 0) idle_polls_ = 0;
  return moved;
}

bool HostNetwork::arm() {
  ways_.announce_sleep();
  armed_ = true;
  return network_->arm() && ended_.empty();
}

void HostNetwork::leave(fabric::Leaving how) {
  leaving_ = how;
  network_->leave(how);
}

void HostNetwork::end() noexcept {
  over_ = true;
  ways_.set_states(leaving_ == fabric::Leaving::for_good ? State::closed : State::away);
  network_->end();
}

void HostNetwork::close() noexcept {
  ways_.set_states(State::closed);
  network_->close();
}

base::Error HostNetwork::resume() {
  if (const base::Error error = network_->resume(); error.failed()) return error;
  over_ = false;
  ways_.set_states(State::inside);
  return watch();
}

}  // namespace fulmar::runtime
