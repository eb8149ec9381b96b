// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Connector: which connections are accepted, and for how long they are kept.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "fabric/tcp/connect/connector.h"
#include "fabric/tcp/connect/endpoint.h"
#include "fabric/tcp/connect/socket_options.h"

namespace fulmar::fabric::tcp {
namespace {

constexpr std::uint64_t ms = 1'000'000;
/// For the first message, and for all.
constexpr std::uint64_t first_message_ns = 5000 * ms;
constexpr std::uint64_t handshake_ns = 20000 * ms;
/// How long a connection is kept although others wait for its slot: before and after the first message.
constexpr std::uint64_t safe_silent_ns = 250 * ms;
constexpr std::uint64_t safe_talking_ns = 1000 * ms;
constexpr int accepted_in_a_step = 16;
/// Until descriptors may be free again.
constexpr std::uint64_t shortage_ns = 100 * ms;

std::uint64_t end_of(const Link& guest) {
  return guest.since_ns + (guest.talk->heard() ? handshake_ns : first_message_ns);
}

std::uint64_t safe_until(const Link& guest) {
  return guest.since_ns + (guest.talk->heard() ? safe_talking_ns : safe_silent_ns);
}

std::string caller_of(const Link& link) {
  const auto peer = Endpoint::peer_of(link.socket.get());
  return peer ? peer->text() : "-";
}

/// Problems of the connection that was to be accepted, not of this process.
bool is_passing(int problem) {
  return problem == ECONNABORTED || problem == EINTR || problem == EPROTO || problem == ENETDOWN ||
         problem == EHOSTDOWN || problem == EHOSTUNREACH || problem == ENETUNREACH ||
         problem == EPERM || problem == ETIMEDOUT;
}

}  // namespace

void Connector::accept_some(std::size_t listener, std::uint64_t now_ns) {
  const Listener& at = listening_.sockets[listener];
  for (int i = 0; i < accepted_in_a_step; ++i) {
    Link* const place = place_for_guest(now_ns);
    if (place == nullptr) return pause_listening(Search::never);
    base::UniqueFd socket(
        ::accept4(at.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.valid()) {
      admit(std::move(socket), at, *place, now_ns);
      continue;
    }
    if (is_passing(errno)) continue;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return;
    log_.note(Strangeness::descriptors, "-", now_ns);
    return pause_listening(now_ns + shortage_ns);
  }
}

/// A free place; else that of the guest that has been longest beyond the time in which it is safe;
/// else none.
Link* Connector::place_for_guest(std::uint64_t now_ns) {
  if (Link* const free = links_.place(Link::Side::accepted); free != nullptr) return free;
  Link* oldest = nullptr;
  for (Link& guest : links_.accepted()) {
    if (safe_until(guest) > now_ns) continue;
    if (oldest == nullptr || safe_until(guest) < safe_until(*oldest)) oldest = &guest;
  }
  if (oldest == nullptr) return nullptr;
  log_.note(Strangeness::crowd, caller_of(*oldest), now_ns);
  lost(*oldest, "", now_ns);
  return links_.place(Link::Side::accepted);
}

void Connector::admit(base::UniqueFd socket, const Listener& listener, Link& place,
                      std::uint64_t now_ns) {
  prepare_socket(socket.get(), static_cast<std::uint32_t>(handshake_ns / ms));
  if (!links_.begin(place, std::move(socket), Link::Stage::talking, now_ns)) return;
  place.talk = Handshake::answerer(identity_, listener.port);
  talk(place, now_ns);
}

void Connector::expire_guests(std::uint64_t now_ns) {
  for (Link& guest : links_.accepted()) {
    if (guest.stage == Link::Stage::unused || end_of(guest) > now_ns) continue;
    log_.note(Strangeness::silent, caller_of(guest), now_ns);
    if (guest.chosen) lost(guest, "", now_ns);
    links_.close(guest);
  }
}

std::uint64_t Connector::next_guest_timer() noexcept {
  std::uint64_t next = deaf_until_ns_ == 0 ? Search::never : deaf_until_ns_;
  const bool crowded = deaf_until_ns_ == Search::never;
  for (const Link& guest : links_.accepted()) {
    if (guest.stage == Link::Stage::unused) continue;
    next = std::min(next, crowded ? safe_until(guest) : end_of(guest));
  }
  return next;
}

/// Connections wait in the kernel's queue until listen_again().
void Connector::pause_listening(std::uint64_t until_ns) {
  deaf_until_ns_ = until_ns;
  for (std::size_t i = 0; i < listening_.sockets.size(); ++i) {
    links_.set_listener(listening_.sockets[i].socket.get(), i, 0);
  }
}

void Connector::listen_again(std::uint64_t now_ns) {
  if (deaf_until_ns_ == 0) return;
  if (deaf_until_ns_ == Search::never) {
    const auto guests = links_.accepted();
    const bool room = links_.has_place(Link::Side::accepted) ||
                      std::any_of(guests.begin(), guests.end(),
                                  [&](const Link& guest) { return safe_until(guest) <= now_ns; });
    if (!room) return;
  } else if (now_ns < deaf_until_ns_) {
    return;
  }
  deaf_until_ns_ = 0;
  for (std::size_t i = 0; i < listening_.sockets.size(); ++i) {
    links_.set_listener(listening_.sockets[i].socket.get(), i, EPOLLIN);
  }
}

}  // namespace fulmar::fabric::tcp
