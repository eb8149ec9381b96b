// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/tcp.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"
#include "fabric/network_names.h"

namespace fulmar::fabric {

Tcp::Tcp() noexcept
    : Network(network_names::tcp, {.body_bytes = max_body_bytes,
                                   .prefix_bytes = max_prefix_bytes,
                                   .pieces = max_pieces,
                                   .in_place_bytes = max_in_place_bytes,
                                   .holds_packets = true,
                                   .drops_peers = true}) {}

base::Result<std::unique_ptr<Tcp>> Tcp::open_bare(const tcp::Streams::Config& config) {
  auto streams = tcp::Streams::open(config);
  if (streams.failed()) return streams.error();
  std::unique_ptr<Tcp> tcp(new Tcp);
  tcp->streams_ = std::move(streams.value());
  return tcp;
}

base::Result<std::unique_ptr<Tcp>> Tcp::open(const Config& config) {
  std::unique_ptr<Tcp> tcp(new Tcp);
  if (const base::Error error = tcp->prepare(config); error.failed()) return error;
  return tcp;
}

base::Error Tcp::prepare(const Config& config) {
  config_ = config;
  config_.lanes = std::clamp<std::size_t>(config.lanes, 1, tcp::most_lanes);
  auto connector = tcp::Connector::open(config_.connect);
  if (connector.failed()) return connector.error();
  connector_ = std::move(connector.value());
  return open_streams();
}

base::Error Tcp::open_streams() {
  tcp::Streams::Config below;
  below.self = config_.connect.processes->self();
  below.size = config_.connect.processes->size();
  below.memory_bytes = config_.memory_bytes;
  below.io = config_.io;
  below.patience_ns = config_.patience_ns;
  below.owner = this;
  below.connect = [](void* owner, std::uint32_t peer) { static_cast<Tcp*>(owner)->find(peer); };
  below.left = [](void* owner, std::uint32_t peer) {
    Tcp& self = *static_cast<Tcp*>(owner);
    self.connector_->forget(peer);
    if (self.config_.left != nullptr) self.config_.left(self.config_.owner, peer);
  };
  below.lost = [](void* owner, std::uint32_t peer, const base::Error& why) {
    const Config& told = static_cast<Tcp*>(owner)->config_;
    if (told.lost != nullptr) told.lost(told.owner, peer, why);
  };
  auto streams = tcp::Streams::open(below);
  if (streams.failed()) return streams.error();
  streams_ = std::move(streams.value());
  return streams_->watch(connector_->descriptor());
}

void Tcp::leave(Leaving how) {
  // For a connection that a peer may be using already; an unauthenticated process can fake one.
  constexpr std::int64_t timeout_ns = 500'000'000;
  leave_timeout_.start(static_cast<std::int64_t>(base::now_ns()), timeout_ns);
  streams_->leave(how);
}

bool Tcp::quiesced() const noexcept {
  if (!streams_->quiesced()) return false;
  const bool awaits = connector_ != nullptr && connector_->awaits_decision();
  return !awaits || leave_timeout_.expired();
}

base::Error Tcp::resume() {
  connector_->forget_all();
  if (const base::Error error = open_streams(); error.failed()) return error;
  leave_timeout_.reset();
  ended_ = false;
  step_due_ = true;
  return {};
}

bool Tcp::forget(std::uint32_t peer) {
  if (connector_->connects(peer) || !streams_->forget(peer)) return false;
  connector_->readmit(peer);
  connector_->forget(peer);
  std::erase(unfound_, peer);
  return true;
}

bool Tcp::readmit(std::uint32_t peer) {
  streams_->readmit(peer);
  std::erase(unfound_, peer);
  if (connector_ != nullptr) connector_->readmit(peer);
  return true;
}

void Tcp::set_patience(std::uint32_t peer, Patience patience) {
  set_dead_after(peer, patience == Patience::brief ? brief_ms : 0);
  set_silent_for(peer, patience == Patience::rest ? brief_ms : 0);
}

void Tcp::find(std::uint32_t peer) {
  const auto blob = config_.find(config_.owner, peer);
  if (blob.failed()) return streams_->give_up(peer, blob.error());
  if (blob.value().empty()) return unfound_.push_back(peer);
  connector_->connect(peer, blob.value(), static_cast<unsigned>(config_.lanes));
  step_due_ = true;
}

void Tcp::find_again() {
  const std::vector<std::uint32_t> peers = std::exchange(unfound_, {});
  for (const std::uint32_t peer : peers) {
    if (streams_->alive(peer)) find(peer);
  }
}

unsigned Tcp::poll(SinkRef sink) {
  if (ended_) [[unlikely]]
    return 0;
  unsigned count = streams_->poll(sink);
  if (leave_timeout_.running()) [[unlikely]]
    count += leave_timeout_.expire(static_cast<std::int64_t>(base::now_ns())) ? 1 : 0;
  if (connector_ != nullptr && connector_due()) [[unlikely]] {
    if (streams_->is_parting()) {
      streams_->read_all();
      count += streams_->poll(sink);
    }
    step();
  }
  return count;
}

bool Tcp::connector_due() {
  if (streams_->take_watched() || std::exchange(step_due_, false)) return true;
  // A deadline need not be exact, and reading the clock has a cost.
  constexpr std::uint32_t clock_interval = 256;
  if (++polls_ % clock_interval != 0) return false;
  if (!unfound_.empty()) return true;
  const std::int64_t deadline = connector_->next_deadline_ns();
  return deadline >= 0 && deadline <= static_cast<std::int64_t>(base::now_ns());
}

void Tcp::step() {
  if (!unfound_.empty()) find_again();
  connector_->step(events_);
  for (const tcp::Connector::Event& event : events_) {
    if (event.kind == tcp::Connector::Event::Kind::connected) {
      // Lanes of lost peers, and more lanes than are used, are closed.
      static_cast<void>(streams_->adopt(event.peer, event.lane, event.socket));
    } else if (event.lane == 0) {
      streams_->give_up(event.peer, event.error);
    }
  }
  events_.clear();
}

bool Tcp::arm() {
  // No descriptor becomes readable when an address becomes known.
  constexpr std::int64_t ask_interval_ns = 10'000'000;
  step_due_ = true;
  ask_again_ns_ =
      unfound_.empty() ? -1 : static_cast<std::int64_t>(base::now_ns()) + ask_interval_ns;
  return streams_->arm();
}

std::int64_t Tcp::next_deadline_ns() const noexcept {
  const std::int64_t connecting_ns = connector_ == nullptr ? -1 : connector_->next_deadline_ns();
  return earlier_wake(earlier_wake(streams_->next_deadline_ns(), ask_again_ns_),
                      earlier_wake(connecting_ns, leave_timeout_.wake_ns()));
}

}  // namespace fulmar::fabric
