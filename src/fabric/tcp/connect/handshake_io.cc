// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Connector: what happens on one connection until it is proven.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fabric/tcp/connect/connector.h"
#include "fabric/tcp/connect/endpoint.h"
#include "fabric/tcp/connect/socket_options.h"

namespace fulmar::fabric::tcp {
namespace {

using Problem = Handshake::Problem;

std::uint64_t bit_of(unsigned lane) { return std::uint64_t{1} << lane; }

std::string caller_of(const Link& link) {
  const auto peer = Endpoint::peer_of(link.socket.get());
  return peer ? peer->text() : "-";
}

bool would_block(int problem) { return problem == EAGAIN || problem == EWOULDBLOCK; }

}  // namespace

void Connector::on_event(Link& link, std::uint64_t now_ns) {
  if (link.stage == Link::Stage::connecting) return connected(link, now_ns);
  talk(link, now_ns);
}

/// connect() has come to an end, good or bad.
void Connector::connected(Link& link, std::uint64_t now_ns) {
  int problem = 0;
  socklen_t bytes = sizeof problem;
  if (::getsockopt(link.socket.get(), SOL_SOCKET, SO_ERROR, &problem, &bytes) != 0) problem = errno;
  if (problem != 0) {
    const auto hope = problem == ECONNREFUSED ? Search::Hope::gone : Search::Hope::left;
    return drop_call(link, std::strerror(problem), hope, now_ns);
  }
  const auto own = Endpoint::own_of(link.socket.get());
  const auto other = Endpoint::peer_of(link.socket.get());
  if (!own || !other) return drop_call(link, "it closed at once", Search::Hope::left, now_ns);
  const bool allowed = source_ == Source::any ||
                       std::any_of(used_.begin(), used_.end(), [&](const LocalAddress& local) {
                         return local.address.same_place(own->address());
                       });
  if (!allowed) {
    return drop_call(link, "the way there leads through an interface that is not in use",
                     Search::Hope::gone, now_ns);
  }
  link.stage = Link::Stage::talking;
  link.talk = Handshake::caller(identity_, link.peer, link.lane, own->port(), other->port());
  talk(link, now_ns);
}

void Connector::talk(Link& link, std::uint64_t now_ns) {
  while (true) {
    if (!push(link, now_ns)) return;
    switch (link.talk->state()) {
      case Handshake::State::waiting:
        if (!pull(link, now_ns)) return;
        break;
      case Handshake::State::greeted:
        link.talk->answer(link.talk->lane() >= max_lanes
                              ? wire::TcpAnswer::wrong_rank
                              : judge(link.talk->peer(), link.talk->lane()));
        break;
      case Handshake::State::choosing:
        if (judge(link.talk->peer(), link.talk->lane()) != wire::TcpAnswer::proceed) {
          return lost(link, "another connection was chosen", now_ns);
        }
        decide(link, now_ns);
        break;
      case Handshake::State::done:
        return hand_over(link, now_ns);
      case Handshake::State::failed:
        return refused(link, now_ns);
    }
  }
}

/// Sends what there is to send. False if the connection is gone or has to wait for that.
bool Connector::push(Link& link, std::uint64_t now_ns) {
  while (!link.talk->outgoing().empty()) {
    const auto bytes = link.talk->outgoing();
    const ssize_t sent = ::send(link.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      link.talk->sent(static_cast<std::size_t>(sent));
    } else if (would_block(errno) && link.talk->state() != Handshake::State::failed) {
      links_.watch(link, EPOLLIN | EPOLLOUT);
      return false;
    } else if (errno != EINTR) {
      if (link.talk->state() == Handshake::State::failed) return true;  // its reason counts
      lost(link, std::strerror(errno), now_ns);
      return false;
    }
  }
  links_.watch(link, EPOLLIN);
  return true;
}

/// Reads what the handshake wants next. False if the connection is gone or there is nothing.
bool Connector::pull(Link& link, std::uint64_t now_ns) {
  const auto room = link.talk->room();
  const ssize_t got = ::recv(link.socket.get(), room.data(), room.size(), 0);
  if (got > 0) {
    link.talk->received(static_cast<std::size_t>(got));
    return true;
  }
  if (got == 0) {
    lost(link, "it closed the connection", now_ns);
  } else if (!would_block(errno) && errno != EINTR) {
    lost(link, std::strerror(errno), now_ns);
  }
  return false;
}

/// This side decides for the connection, unless it has decided for another one.
void Connector::decide(Link& link, std::uint64_t now_ns) {
  Peer& peer = peers_[link.talk->peer()];
  if ((peer.chosen & bit_of(link.talk->lane())) != 0) {
    return lost(link, "another connection was chosen", now_ns);
  }
  peer.chosen |= bit_of(link.talk->lane());
  link.chosen = true;
  link.talk->choose();
}

wire::TcpAnswer Connector::judge(std::uint32_t peer, std::uint16_t lane) const {
  const auto known = peers_.find(peer);
  if (known == peers_.end()) return wire::TcpAnswer::proceed;
  if ((known->second.given_up & bit_of(lane)) != 0) return wire::TcpAnswer::given_up;
  if ((known->second.taken & bit_of(lane)) != 0) return wire::TcpAnswer::taken;
  return wire::TcpAnswer::proceed;
}

/// Both sides have proven the key and the decision is known to both: the connection is ready.
void Connector::hand_over(Link& link, std::uint64_t now_ns) {
  const std::uint32_t number = link.talk->peer();
  const std::uint16_t lane = link.talk->lane();
  if (judge(number, lane) != wire::TcpAnswer::proceed) {
    // The peer has decided twice, or too late.
    return lost(link, "it came too late", now_ns);
  }
  Peer& peer = peers_[number];
  peer.taken |= bit_of(lane);
  peer.chosen &= ~bit_of(lane);
  settle_socket(link.socket.get());
  const bool called = link.side == Link::Side::called;
  Search* const search = search_of(number, lane);
  std::optional<Endpoint> way;
  if (called && search != nullptr) way = search->tries()[link.attempt].way.to;
  const int socket = links_.release(link);
  pending_.push_back({Event::Kind::connected, number, lane, socket, {}});
  if (search != nullptr) {
    for (Search::Try& attempt : search->tries()) {
      if (attempt.link != nullptr && attempt.link != &link) links_.close(*attempt.link);
    }
    searches_.erase(std::uint64_t{number} << 16 | lane);
  }
  close_guests(number, lane);
  if (lane == 0) open_other_lanes(number, now_ns, way ? &*way : nullptr);
}

/// Other connections that the peer has begun for a lane which is connected now. It closes them,
/// too, but it may have proven the key before: after `forget` such a one would be chosen.
void Connector::close_guests(std::uint32_t peer, std::uint16_t lane) noexcept {
  for (Link& guest : links_.accepted()) {
    if (guest.stage != Link::Stage::talking || !guest.talk->heard()) continue;
    if (guest.talk->peer() == peer && guest.talk->lane() == lane) links_.close(guest);
  }
}

/// The handshake has failed.
void Connector::refused(Link& link, std::uint64_t now_ns) {
  const Problem problem = link.talk->problem();
  if (link.side == Link::Side::called) {
    const auto hope = problem == Problem::taken ? Search::Hope::left : Search::Hope::gone;
    return drop_call(link, text_of(problem), hope, now_ns);
  }
  std::optional<Strangeness> kind;
  if (problem == Problem::garbage) kind = Strangeness::garbage;
  if (problem == Problem::version) kind = Strangeness::version;
  if (problem == Problem::other_job) kind = Strangeness::other_job;
  if (problem == Problem::wrong_proof) kind = Strangeness::wrong_proof;
  if (kind) log_.note(*kind, caller_of(link), now_ns);
  links_.close(link);
}

/// The connection has ended, or is given up, before it was ready.
void Connector::lost(Link& link, const char* reason, std::uint64_t now_ns) {
  if (link.chosen) peers_[link.talk->peer()].chosen &= ~bit_of(link.talk->lane());
  if (link.side == Link::Side::called) return drop_call(link, reason, Search::Hope::left, now_ns);
  // Own ranks close what they do not need, at any moment but in the middle of a message.
  if (link.talk->in_message()) log_.note(Strangeness::garbage, caller_of(link), now_ns);
  links_.close(link);
}

void Connector::drop_call(Link& link, const char* reason, Search::Hope hope, std::uint64_t now_ns) {
  Search* const search = search_of(link.peer, link.lane);
  const bool host_answered = link.stage == Link::Stage::talking;
  const std::size_t attempt = link.attempt;
  links_.close(link);
  if (search == nullptr) return;
  search->failed(attempt, now_ns, hope, reason);
  // Its host was there all the time and gave the connection up, perhaps in a crowd: once more.
  if (search->in_overtime() && host_answered && hope == Search::Hope::left) {
    search->renew(now_ns + config_.deadline_ns);
  }
  due_ns_ = std::min(due_ns_, now_ns);
}

}  // namespace fulmar::fabric::tcp
