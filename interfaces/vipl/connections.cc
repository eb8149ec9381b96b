// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "vipl/connections.h"

#include <algorithm>
#include <random>
#include <utility>

#include "vipl/receive.h"
#include "vipl/segments.h"
#include "vipl/send.h"

namespace fulmar::vipl {
namespace {

using wire::ViplKind;
using wire::ViplMessage;
using Step = Attempt::Kind;

/// Names the end in messages. Whoever does not know it cannot speak of it.
std::uint64_t new_token(const Provider& provider) {
  std::random_device random;
  for (;;) {
    const std::uint64_t token = std::uint64_t{random()} << 32 | random();
    if (token != 0 && !provider.by_token.contains(token)) return token;
  }
}

/// Takes apart what an attempt or a connection has.
void take_apart(Provider& provider, Vi& vi, VIP_VI_STATE state) {
  vi.state = state;
  provider.by_token.erase(vi.token);
  vi.token = 0;
  if (vi.link != nullptr) discard(provider, *std::exchange(vi.link, nullptr));
  vi.area = nullptr;
  remove_part(vi.area_part);
  vi.remote_regions.clear();
  vi.receives_given = 0;
  notify(provider);
}

/// The same, and descriptors are flushed.
void sever(Provider& provider, Vi& vi, VIP_VI_STATE state) {
  take_apart(provider, vi, state);
  flush_receives(provider, vi);
  flush_sends(provider, vi);
}

void send_to_other(Provider& provider, const Vi& vi, ViplKind kind, std::uint32_t status = 0) {
  ViplMessage message = message_of(provider, vi, kind);
  message.status = status;
  post(provider, vi.node, message);
}

/// The attempt has failed. Receive descriptors stay for the next one.
void fail(Provider& provider, Vi& vi, VIP_RETURN result) {
  if (vi.attempt.is_over) return;
  vi.attempt.is_over = true;
  vi.attempt.result = result;
  const bool is_known = vi.other != 0 || result == VIP_TIMEOUT || result == VIP_NO_MATCH ||
                        result == VIP_ERROR_RESOURCE;
  if (is_known && result != VIP_NOT_REACHABLE) send_to_other(provider, vi, ViplKind::cancel);
  take_apart(provider, vi, VIP_STATE_IDLE);
}

/// The other end is not what it was. For it the connection may have been made already: then it was, and is lost.
void lose(Provider& provider, Vi& vi, VIP_RETURN result) {
  if (vi.state == VIP_STATE_CONNECT_PENDING) {
    if (!vi.attempt.other_is_ready) return fail(provider, vi, result);
    vi.attempt.is_over = true;
    vi.attempt.result = VIP_SUCCESS;
    vi.state = VIP_STATE_CONNECTED;
  }
  if (vi.state != VIP_STATE_CONNECTED) return;
  poll_receives(provider, vi);
  if (vi.state != VIP_STATE_CONNECTED) return;
  report(provider, vi, VIP_ERROR_CONN_LOST);
  sever(provider, vi, VIP_STATE_ERROR);
}

void connect_if_ready(Provider& provider, Vi& vi) {
  if (vi.attempt.is_over || vi.link == nullptr || vi.link->state != RemoteSegment::State::ready)
    return;
  if (!vi.attempt.other_is_ready) return;
  vi.state = VIP_STATE_CONNECTED;
  vi.attempt.is_over = true;
  vi.attempt.result = VIP_SUCCESS;
  give_receives(provider, vi);
  advance(provider, vi);
  notify(provider);
}

/// The other end has gone, with what it knew of the request.
void ask_again(Provider& provider, Vi& vi) {
  if (vi.link != nullptr) discard(provider, *std::exchange(vi.link, nullptr));
  vi.other = 0;
  vi.attempt.was_matched = false;
  ask(provider, vi, vi.attempt.kind == Step::client ? ViplKind::request : ViplKind::peer_request);
}

bool is_compatible(const Vi& vi, const ViplMessage& message) noexcept {
  return message.reliability == vi.attributes.ReliabilityLevel;
}

}  // namespace

VIP_VI_ATTRIBUTES attributes_of(const ViplMessage& message) noexcept {
  VIP_VI_ATTRIBUTES attributes{};
  attributes.ReliabilityLevel = static_cast<VIP_RELIABILITY_LEVEL>(message.reliability);
  attributes.MaxTransferSize = message.most_bytes;
  attributes.EnableRdmaWrite = (message.enables & 1) != 0 ? VIP_TRUE : VIP_FALSE;
  attributes.EnableRdmaRead = (message.enables & 2) != 0 ? VIP_TRUE : VIP_FALSE;
  return attributes;
}

Address sender_of(const ViplMessage& message) {
  const auto begin = message.text.begin();
  return {message.node, {begin, begin + message.from_bytes}};
}

Address receiver_of(const Provider& provider, const ViplMessage& message) {
  const auto begin = message.text.begin() + message.from_bytes;
  return {provider.node, {begin, begin + message.to_bytes}};
}

bool begin(Provider& provider, Vi& vi, Attempt attempt) {
  if (!make_part(provider, vi.area_part, sizeof(wire::ViplArea))) return false;
  vi.area = reinterpret_cast<wire::ViplArea*>(vi.area_part.base);
  vi.token = new_token(provider);
  vi.other = 0;
  vi.node = attempt.remote.node;
  vi.peer = &peer_of(provider, vi.node);
  vi.received = vi.given = vi.sent = 0;
  vi.receives_given = 0;
  vi.push.head.number = 0;
  vi.awaits_receive = vi.found_empty = vi.was_asked = false;
  vi.attempt = std::move(attempt);
  vi.state = VIP_STATE_CONNECT_PENDING;
  provider.by_token.emplace(vi.token, &vi);
  return true;
}

void ask(Provider& provider, Vi& vi, ViplKind kind) {
  ViplMessage message = message_of(provider, vi, kind);
  message.shared = vi.area_part.number;
  message.reliability = vi.attributes.ReliabilityLevel;
  message.most_bytes = vi.attributes.MaxTransferSize;
  message.enables = (vi.attributes.EnableRdmaWrite != VIP_FALSE ? 1U : 0U) |
                    (vi.attributes.EnableRdmaRead != VIP_FALSE ? 2U : 0U);
  const auto& local = vi.attempt.local.discriminator;
  const auto& remote = vi.attempt.remote.discriminator;
  message.from_bytes = static_cast<std::uint16_t>(local.size());
  message.to_bytes = static_cast<std::uint16_t>(remote.size());
  std::ranges::copy(local, message.text.begin());
  std::ranges::copy(remote, message.text.begin() + message.from_bytes);
  post(provider, vi.node, message);
}

void link_to(Provider& provider, Vi& vi, const ViplMessage& message) {
  vi.other = message.from;
  vi.remote_attributes = attributes_of(message);
  vi.link = &reach(provider, message.node, message.shared);
  if (vi.link->state != RemoteSegment::State::connecting) on_link(provider, vi);
}

void on_link(Provider& provider, Vi& vi) {
  const auto state = vi.link->state;
  if (state == RemoteSegment::State::ready) {
    const bool is_area = vi.link->bytes >= sizeof(wire::ViplArea);
    if (!is_area) return fail(provider, vi, VIP_ERROR_RESOURCE);
    send_to_other(provider, vi, ViplKind::established);
    return connect_if_ready(provider, vi);
  }
  if (state == RemoteSegment::State::connecting) return;
  // Its owner has a reason, and a message with it is on its way, or the node is lost.
  if (state == RemoteSegment::State::ended) return;
  lose(provider, vi, vi.link->was_withdrawn ? VIP_TIMEOUT : VIP_ERROR_RESOURCE);
}

void lose_node(Provider& provider, std::uint32_t node, Loss what) {
  provider.arrived.remove_if([&](const ViplMessage& each) { return each.node == node; });
  provider.connections.for_each([&](Arrived& each) {
    if (each.message.node == node) each.end = VIP_NOT_REACHABLE;
  });
  provider.vis.for_each([&](Vi& vi) {
    if (vi.node != node || vi.token == 0) return;
    const bool is_open = what == Loss::nics && !vi.attempt.is_over && !vi.attempt.other_is_ready &&
                         vi.attempt.kind != Step::server;
    is_open ? ask_again(provider, vi) : lose(provider, vi, VIP_NOT_REACHABLE);
  });
}

void break_off(Provider& provider, Vi& vi, VIP_ERROR_CODE code, const SendWork* work) {
  if (vi.state != VIP_STATE_CONNECTED) return;
  send_to_other(provider, vi, ViplKind::broken, static_cast<std::uint32_t>(code));
  report(provider, vi, code, work);
  sever(provider, vi, VIP_STATE_ERROR);
}

void disconnect(Provider& provider, Vi& vi) {
  if (vi.state == VIP_STATE_CONNECTED) send_to_other(provider, vi, ViplKind::disconnect);
  if (vi.state == VIP_STATE_CONNECT_PENDING) fail(provider, vi, VIP_ERROR_RESOURCE);
  sever(provider, vi, VIP_STATE_IDLE);
}

bool expire(Provider& provider, Vi& vi) {
  const Attempt& attempt = vi.attempt;
  if (attempt.is_over) return false;
  if (attempt.kind == Step::peer && (!attempt.has_end || Clock::now() < attempt.end)) return false;
  const bool was_seen = attempt.was_matched || attempt.kind == Step::peer;
  fail(provider, vi, was_seen ? VIP_TIMEOUT : VIP_NO_MATCH);
  return true;
}

void match_peer(Provider& provider, Vi& vi) {
  const auto is_match = [&](const ViplMessage& each) {
    return each.kind == ViplKind::peer_request && each.from != vi.token &&
           sender_of(each) == vi.attempt.remote && receiver_of(provider, each) == vi.attempt.local;
  };
  const auto place = std::ranges::find_if(provider.arrived, is_match);
  if (place == provider.arrived.end()) return;
  const ViplMessage message = *place;
  provider.arrived.erase(place);
  if (!is_compatible(vi, message)) return fail(provider, vi, VIP_INVALID_RELIABILITY_LEVEL);
  link_to(provider, vi, message);
}

void on_request(Provider& provider, const ViplMessage& message) {
  if (provider.arrived.size() < most_arrived) provider.arrived.push_back(message);
}

void on_peer_request(Provider& provider, const ViplMessage& message) {
  if (provider.arrived.size() >= most_arrived) return;
  provider.arrived.push_back(message);
  const Address local = receiver_of(provider, message);
  const Address remote = sender_of(message);
  Vi* found = nullptr;
  provider.vis.for_each([&](Vi& vi) {
    const bool waits = vi.attempt.kind == Step::peer && !vi.attempt.is_over && vi.link == nullptr;
    const bool is_match = waits && vi.token != message.from && vi.attempt.local == local &&
                          vi.attempt.remote == remote;
    if (is_match && found == nullptr) found = &vi;
  });
  if (found != nullptr) match_peer(provider, *found);
}

void on_cancel(Provider& provider, const ViplMessage& message) {
  provider.arrived.remove_if([&](const ViplMessage& each) {
    return each.node == message.node && each.from == message.from;
  });
  provider.connections.for_each([&](Arrived& each) {
    if (each.message.node == message.node && each.message.from == message.from)
      each.end = VIP_TIMEOUT;
  });
  provider.vis.for_each([&](Vi& vi) {
    if (vi.token == 0 || vi.node != message.node || vi.other != message.from) return;
    lose(provider, vi, VIP_TIMEOUT);
  });
}

void on_connection(Provider& provider, Vi& vi, const ViplMessage& message) {
  const bool is_open = !vi.attempt.is_over && vi.attempt.kind == Step::client && vi.link == nullptr;
  switch (message.kind) {
    case ViplKind::matched:
      vi.attempt.was_matched = true;
      return;
    case ViplKind::accept:
      if (is_open) link_to(provider, vi, message);
      return;
    case ViplKind::reject:
      if (is_open) fail(provider, vi, VIP_REJECT);
      return;
    case ViplKind::established: {
      // It comes behind the request or the answer to it, so that `other` is known if there is a match.
      if (message.from != vi.other || vi.attempt.is_over) return;
      vi.attempt.other_is_ready = true;
      return connect_if_ready(provider, vi);
    }
    case ViplKind::disconnect:
    case ViplKind::broken:
      if (message.from == vi.other) lose(provider, vi, VIP_ERROR_RESOURCE);
      return;
    default:
      return;
  }
}

}  // namespace fulmar::vipl
