// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "vipl/messages.h"

#include "base/os/futex.h"
#include "vipl/connections.h"
#include "vipl/names.h"
#include "vipl/rdma.h"
#include "vipl/receive.h"
#include "vipl/send.h"

namespace fulmar::vipl {

using wire::ViplKind;
using wire::ViplMessage;

Peer& peer_of(Provider& provider, std::uint32_t node) {
  auto& place = provider.peers[node];
  if (place == nullptr) {
    place = std::make_unique<Peer>();
    place->provider = &provider;
    place->node = node;
  }
  return *place;
}

void post(Provider& provider, std::uint32_t node, const ViplMessage& message) {
  Peer& peer = peer_of(provider, node);
  peer.outbox.push_back(message);
  peer.outbox.back().node = provider.node;
  wake_manager(provider);
}

ViplMessage message_of(const Provider& provider, const Vi& vi, ViplKind kind) {
  ViplMessage message{};
  message.kind = kind;
  message.node = provider.node;
  message.from = vi.token;
  message.to = vi.other;
  return message;
}

void ring(const Peer& peer, Urgency urgency) noexcept {
  if (peer.bell != nullptr) {
    // Either the sleeper sees what was written, or this sees the sleeper.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    if (peer.bell->sleepers.load(std::memory_order_relaxed) == 0) return;
    peer.bell->rings.fetch_add(1, std::memory_order_release);
    base::futex_wake(peer.bell->rings, INT32_MAX, base::FutexScope::shared);
  } else if (urgency == Urgency::wakes && peer.bell_interrupt != nullptr) {
    sci_error_t error = SCI_ERR_OK;
    SCITriggerInterrupt(peer.bell_interrupt, 0, &error);
  }
}

namespace {

/// Of a VI that is connected, or about to be.
void on_vi(Provider& provider, Vi& vi, const ViplMessage& message) {
  switch (message.kind) {
    case ViplKind::ask:
      return on_ask(provider, vi, message);
    case ViplKind::empty:
      return on_empty(provider, vi, message);
    case ViplKind::resolve:
      return on_resolve(provider, vi, message);
    case ViplKind::resolved:
      return on_resolved(provider, vi, message);
    case ViplKind::copy_in:
    case ViplKind::copy_out:
      return on_copy(provider, vi, message);
    case ViplKind::copied:
      return on_copied(provider, vi, message);
    case ViplKind::revoke:
      return on_revoke(provider, vi, message);
    case ViplKind::revoked:
      return on_revoked(provider, vi, message);
    default:
      return on_connection(provider, vi, message);
  }
}

}  // namespace

void on_message(Provider& provider, std::span<const std::byte> bytes) {
  const auto message = wire::decode_vipl_message(bytes);
  if (!message) return;
  switch (message->kind) {
    case ViplKind::request:
      on_request(provider, *message);
      break;
    case ViplKind::peer_request:
      on_peer_request(provider, *message);
      break;
    case ViplKind::cancel:
      on_cancel(provider, *message);
      break;
    case ViplKind::name:
      on_name(provider, *message);
      break;
    case ViplKind::named:
      on_named(provider, *message);
      break;
    default: {
      const auto place = provider.by_token.find(message->to);
      const bool is_its = place != provider.by_token.end() && place->second->node == message->node;
      if (is_its) on_vi(provider, *place->second, *message);
    }
  }
  notify(provider);
}

}  // namespace fulmar::vipl
