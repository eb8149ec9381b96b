// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <sys/socket.h>

#include <algorithm>
#include <utility>

#include "fabric/tcp/connect/socket_options.h"
#include "fabric/tcp/stream/streams.h"

/// How connections end: this process leaves, a peer has left, both part, or the peer is lost.
namespace fulmar::fabric::tcp {
namespace {

template <class T>
void take_out(std::vector<T*>& list, const T* item) {
  list.erase(std::remove(list.begin(), list.end(), item), list.end());
}

}  // namespace

void Streams::leave(Leaving how) {
  leaving_ = true;
  fin_signal_ = how == Leaving::for_good ? wire::TcpSignal::farewell : wire::TcpSignal::bye;
  for (const std::uint32_t peer : known_) {
    for (const auto& connection : peers_[peer]->lanes) {
      if (connection != nullptr) connection->fin.leave();
    }
  }
  send_fins();
}

void Streams::disconnect(std::uint32_t peer) {
  Peer* const other = peers_[peer].get();
  if (other == nullptr || leaving_ || !other->life.is_open()) return;
  Connection& connection = *other->lanes[0];
  // Without memory it is said when this is called again.
  if (!connection.is_idle() && connection.out.reserve(buffers_, 0)) {
    connection.out.append(wire::TcpSignal::idle);
    connection.idle_at = connection.units.next();
    want_flush(connection);
  }
  part_if_idle(connection);
}

void Streams::part_if_idle(Connection& connection) {
  if (!connection.is_idle() || !connection.in.peer_is_idle()) return;
  Peer& peer = *peers_[connection.peer];
  if (!leaving_ && peer.life.part()) part(peer);
}

void Streams::part(Peer& peer) {
  for (const auto& connection : peer.lanes) {
    if (connection != nullptr) part(*connection);
  }
}

bool Streams::forget(std::uint32_t peer) {
  const Peer* const other = peers_[peer].get();
  if (other == nullptr) return true;
  const bool connected =
      std::ranges::any_of(other->lanes, [](const auto& lane) { return lane != nullptr; });
  if (connected || other->life.is_pending() || std::ranges::count(lost_, peer) != 0) return false;
  peers_[peer].reset();
  std::erase(known_, peer);
  return true;
}

void Streams::part(Connection& connection) {
  if (!std::exchange(connection.parting, true)) ++parting_;
  connection.fin.leave();
  write_signals(connection);
}

/// Both have said all, and each has it from the other that it was read: nothing is left to discard.
void Streams::end_if_parted(Connection& connection) {
  const FinHandshake& fin = connection.fin;
  if (!fin.complete() || !fin.fin_received() || !connection.out.empty()) return;
  if (std::exchange(connection.doomed, true)) return;
  ended_.push_back(&connection);
}

void Streams::send_fins() {
  for (const std::uint32_t peer : known_) {
    for (const auto& connection : peers_[peer]->lanes) {
      if (connection != nullptr) write_signals(*connection);
    }
  }
}

bool Streams::quiesced() const noexcept {
  if (!leaving_) return false;
  for (const std::uint32_t peer : known_) {
    for (const auto& connection : peers_[peer]->lanes) {
      if (connection != nullptr && !connection->quiesced()) return false;
    }
  }
  return true;
}

std::vector<std::uint32_t> Streams::known_peers() const {
  std::vector<std::uint32_t> known = known_;
  std::sort(known.begin(), known.end());
  return known;
}

void Streams::end() noexcept {
  for (const std::uint32_t peer : known_) {
    for (const auto& connection : peers_[peer]->lanes) {
      if (connection != nullptr) ::shutdown(connection->socket.get(), SHUT_WR);
    }
  }
}

void Streams::lose(std::uint32_t peer, const base::Error& why) {
  Peer& other = peer_at(peer);
  if (!other.life.lose(why)) return;
  lost_.push_back(peer);
  for (const auto& connection : other.lanes) {
    if (connection != nullptr) connection->doomed = true;
  }
}

/// Closes ended connections and reports losses, outside of any loop over connections.
bool Streams::reap() {
  const bool any = !ended_.empty() || !lost_.empty();
  while (!ended_.empty()) close(*ended_.back());
  for (std::size_t i = 0; i < lost_.size(); ++i) {
    Peer& peer = *peers_[lost_[i]];
    for (const auto& connection : peer.lanes) {
      if (connection != nullptr) close(*connection);
    }
    if (config_.lost != nullptr) config_.lost(config_.owner, lost_[i], peer.life.why());
  }
  lost_.clear();
  finished_.insert(finished_.end(), abandoned_.begin(), abandoned_.end());
  abandoned_.clear();
  return any;
}

void Streams::close(Connection& connection) {
  connection.out.abandon(buffers_, finished_);
  connection.in.abandon(buffers_);
  take_out(unsent_, &connection);
  take_out(blocked_, &connection);
  take_out(ended_, &connection);
  for (std::size_t i = 0; i < hot_count_; ++i) {
    if (hot_[i] != &connection) continue;
    hot_[i] = hot_[--hot_count_];
    break;
  }
  --connections_;
  if (connection.parting) --parting_;
  const std::uint32_t number = connection.peer;
  Peer& peer = *peers_[number];
  // An orderly close: it has sent FIN.
  if (connection.lane == 0) static_cast<void>(peer.life.close());
  if (peer.life.is_lost()) reset_at_close(connection.socket.get());
  peer.lanes[connection.lane].reset();
  if (peer.life.state() == PeerLife::State::closed) forget_if_gone(number);
}

/// The last connection of a peer that has left is closed: it may come back.
void Streams::forget_if_gone(std::uint32_t peer) {
  Peer& other = *peers_[peer];
  const bool gone = std::all_of(other.lanes.begin(), other.lanes.end(),
                                [](const auto& connection) { return connection == nullptr; });
  if (!gone || config_.left == nullptr) return;
  other.life.await_return(rules());
  if (other.parts) {
    peers_[peer].reset();
    std::erase(known_, peer);
  }
  config_.left(config_.owner, peer);
}

}  // namespace fulmar::fabric::tcp
