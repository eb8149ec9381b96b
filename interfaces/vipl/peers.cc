// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The way to another process: first its bell's segment, which is there while it has an open NIC and tells of its
// end, then the interrupt that takes messages.
#include <utility>
#include <vector>

#include "vipl/connections.h"
#include "vipl/messages.h"

namespace fulmar::vipl {
namespace {

using State = Peer::State;
using std::chrono::milliseconds;

/// Between two tries to reach a process that has no open NIC.
constexpr milliseconds patience(2);
/// For answers of a process that has one.
constexpr std::uint32_t answer_ms = 10'000;

/// The process has gone, or has no NIC any more.
void lose(Provider& provider, Peer& peer) {
  peer.state = State::lost;
  peer.retry = Clock::now() + patience;
  peer.name.clear();
  peer.was_asked_name = false;
  wake_manager(provider);
}

/// Told of the bell's segment.
sci_callback_action_t on_bell(void* argument, sci_remote_segment_t, sci_segment_cb_reason_t reason,
                              sci_error_t status) {
  auto& peer = *static_cast<Peer*>(argument);
  Provider& provider = *peer.provider;
  const Lock lock = locked(provider);
  if (reason == SCI_CB_CONNECT && status == SCI_ERR_OK) {
    if (peer.state == State::asked) peer.state = State::alive;
    wake_manager(provider);
    return SCI_CALLBACK_CONTINUE;
  }
  peer.has_ended = reason == SCI_CB_LOST || status == SCI_ERR_NODE_NOT_RESPONDING;
  if (reason != SCI_CB_CONNECT || peer.has_ended) {
    peer.outbox.clear();
    lose_node(provider, peer.node, peer.has_ended ? Loss::process : Loss::nics);
    notify(provider);
  }
  lose(provider, peer);
  return SCI_CALLBACK_CONTINUE;
}

/// Asks for the bell; whether the process may be there.
void ask_for_bell(Provider& provider, Peer& peer) {
  sci_error_t error = SCI_ERR_OK;
  peer.state = State::asked;
  SCIConnectSegment(provider.device, &peer.bell_segment, peer.node, wire::vipl_bell_segment, 0,
                    on_bell, &peer, SCI_INFINITE_TIMEOUT,
                    SCI_FLAG_USE_CALLBACK | SCI_FLAG_ASYNCHRONOUS_CONNECT, &error);
  if (error == SCI_ERR_OK) return;
  peer.bell_segment = nullptr;
  peer.state = State::unknown;
  peer.retry = Clock::now() + patience;
  if (error == SCI_ERR_NOSPC) return;
  peer.has_ended = error == SCI_ERR_NODE_NOT_RESPONDING;
  peer.outbox.clear();
  lose_node(provider, peer.node, Loss::process);
  notify(provider);
}

/// Of a process that is there. Without the lock.
bool connect(const Provider& provider, Peer& peer) {
  sci_error_t error = SCI_ERR_OK;
  SCIConnectDataInterrupt(provider.device, &peer.control, peer.node, 0,
                          wire::vipl_control_interrupt, answer_ms, 0, &error);
  if (error != SCI_ERR_OK) {
    peer.control = nullptr;
    return false;
  }
  void* const bell = const_cast<void*>(SCIMapRemoteSegment(
      peer.bell_segment, &peer.bell_map, 0, sizeof(wire::ViplBell), nullptr, 0, &error));
  if (error == SCI_ERR_OK) {
    peer.bell = static_cast<wire::ViplBell*>(bell);
    return true;
  }
  peer.bell_map = nullptr;
  if (error != SCI_ERR_NOT_SUPPORTED) return false;
  SCIConnectInterrupt(provider.device, &peer.bell_interrupt, peer.node, 0,
                      wire::vipl_bell_interrupt, answer_ms, 0, &error);
  if (error != SCI_ERR_OK) peer.bell_interrupt = nullptr;
  return error == SCI_ERR_OK;
}

/// What there is of the connection. Without the lock.
void remove(sci_remote_data_interrupt_t control, sci_remote_interrupt_t interrupt, sci_map_t map,
            sci_remote_segment_t segment) noexcept {
  sci_error_t error = SCI_ERR_OK;
  if (control != nullptr) SCIDisconnectDataInterrupt(control, 0, &error);
  if (interrupt != nullptr) SCIDisconnectInterrupt(interrupt, 0, &error);
  if (map != nullptr) SCIUnmapSegment(map, 0, &error);
  if (segment != nullptr) SCIDisconnectSegment(segment, 0, &error);
}

void remove(Peer& peer, Lock* lock) {
  auto* const control = std::exchange(peer.control, nullptr);
  auto* const interrupt = std::exchange(peer.bell_interrupt, nullptr);
  auto* const map = std::exchange(peer.bell_map, nullptr);
  auto* const segment = std::exchange(peer.bell_segment, nullptr);
  peer.bell = nullptr;
  if (lock != nullptr) lock->unlock();
  remove(control, interrupt, map, segment);
  if (lock != nullptr) lock->lock();
}

/// Sends the oldest message; whether another one may follow.
bool send(Provider& provider, Peer& peer, Lock& lock) {
  wire::ViplMessage message = peer.outbox.front();
  peer.outbox.pop_front();
  auto* const control = peer.control;
  sci_error_t error = SCI_ERR_OK;
  lock.unlock();
  SCITriggerDataInterrupt(control, &message, sizeof message, 0, &error);
  lock.lock();
  if (error == SCI_ERR_OK) return peer.state == State::ready && !peer.outbox.empty();
  if (error == SCI_ERR_NOSPC) {
    peer.outbox.push_front(message);
    peer.retry = Clock::now() + patience;
    return false;
  }
  // The end of the process, or of its NICs, is told of by the bell's segment.
  if (peer.state == State::ready) {
    peer.outbox.clear();
    lose_node(provider, peer.node, Loss::nics);
    lose(provider, peer);
    notify(provider);
  }
  return false;
}

void work_on(Provider& provider, Peer& peer, Lock& lock, Clock::time_point now) {
  if (peer.state == State::lost) {
    peer.state = State::unknown;
    remove(peer, &lock);
  }
  if (peer.outbox.empty() || now < peer.retry) return;
  if (peer.state == State::unknown) ask_for_bell(provider, peer);
  if (peer.state == State::alive) {
    lock.unlock();
    const bool is_connected = connect(provider, peer);
    lock.lock();
    if (peer.state == State::alive && is_connected) {
      peer.state = State::ready;
    } else if (peer.state == State::alive) {
      lose(provider, peer);
    }
  }
  while (peer.state == State::ready && !peer.outbox.empty() && send(provider, peer, lock)) {
  }
}

}  // namespace

Clock::time_point work_on_peers(Provider& provider, Lock& lock) {
  std::vector<std::uint32_t> nodes;
  for (const auto& [node, peer] : provider.peers) nodes.push_back(node);
  const auto now = Clock::now();
  auto next = Clock::time_point::max();
  for (const std::uint32_t node : nodes) {
    Peer& peer = *provider.peers.at(node);
    work_on(provider, peer, lock, now);
    const bool waits = peer.state != State::asked && !peer.outbox.empty();
    if (waits || peer.state == State::lost) next = std::min(next, peer.retry);
  }
  return next;
}

void remove_peers(Provider& provider) {
  for (const auto& [node, peer] : provider.peers) remove(*peer, nullptr);
  const Lock lock = locked(provider);
  provider.peers.clear();
}

}  // namespace fulmar::vipl
