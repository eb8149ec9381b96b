// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/stream/streams.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/clock.h"
#include "fabric/tcp/connect/socket_options.h"
#include "wire/travels.h"

/// Starting connections, and writing. Reading is in streams_poll.cc, the end in streams_ends.cc.
namespace fulmar::fabric::tcp {
namespace {

using base::ErrorClass;

/// Collected bytes that leave without waiting for more: most of what the kernel passes on at once
/// (64 KiB), but not all, so that two packets of 24 KiB or more fill it and the other side takes
/// the first part of a burst while the rest is put together. Between two hosts on one machine 4 to
/// 16 KiB are 14 to 22 % faster than with half of it.
constexpr std::size_t worth_writing_bytes = 48U << 10;
/// Packets in place leave together up to this length, or with the next flush: the kernel passes
/// longer writes on faster. Up to 2 MiB bandwidth is 10 % better than up to 512 KiB.
constexpr std::size_t enough_in_place_bytes = 2U << 20;
/// The kernel makes packets of up to 64 KiB for the network. A write that is a little longer leaves
/// an end that costs as much as a whole one: it may wait for what comes next. (Messages of 32 and
/// of 64 KiB: 11 and 13 % faster.) More than a little would have to be cut from there.
constexpr std::size_t kernel_packet_bytes = 64U << 10;
constexpr std::size_t short_end_bytes = 1024;
/// How many full sockets one poll tries again.
constexpr std::size_t most_retries = 16;

Io::Next next_after(std::size_t bytes) noexcept {
  const bool ends_short =
      bytes >= kernel_packet_bytes && bytes < kernel_packet_bytes + short_end_bytes;
  return ends_short ? Io::Next::more : Io::Next::unknown;
}

std::string name_of_end(int socket) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  char text[INET6_ADDRSTRLEN] = {};
  if (::getpeername(socket, reinterpret_cast<sockaddr*>(&address), &length) != 0) {
    return "an unknown address";
  }
  if (address.ss_family == AF_INET) {
    const auto& v4 = reinterpret_cast<const sockaddr_in&>(address);
    ::inet_ntop(AF_INET, &v4.sin_addr, text, sizeof text);
    return std::string(text) + ":" + std::to_string(ntohs(v4.sin_port));
  }
  if (address.ss_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    ::inet_ntop(AF_INET6, &v6.sin6_addr, text, sizeof text);
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(v6.sin6_port));
  }
  return "a local socket";
}

}  // namespace

base::Result<std::unique_ptr<Streams>> Streams::open(const Config& config) {
  base::UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) {
    return base::failure(ErrorClass::other,
                         "epoll_create1: %s; raise the limit of open files (ulimit -n)",
                         std::strerror(errno));
  }
  return std::unique_ptr<Streams>(new Streams(config, std::move(epoll)));
}

Streams::Streams(const Config& config, base::UniqueFd epoll)
    : config_(config),
      io_(config.io != nullptr ? *config.io : system_io_),
      epoll_(std::move(epoll)),
      buffers_(config.memory_bytes),
      peers_(config.size),
      scratch_(std::make_unique_for_overwrite<std::byte[]>(Inbox::scratch_bytes)) {}

Peer& Streams::peer_at(std::uint32_t peer) {
  if (peers_[peer] == nullptr) {
    peers_[peer] = std::make_unique<Peer>();
    known_.push_back(peer);
  }
  return *peers_[peer];
}

base::Error Streams::adopt(std::uint32_t peer, unsigned lane, int socket) {
  base::UniqueFd owned(socket);
  if (peer >= size() || peer == config_.self || lane >= most_lanes) {
    return base::failure(ErrorClass::intern, "lane %u to rank %u does not exist", lane, peer);
  }
  Peer& other = peer_at(peer);
  if (other.life.state() == PeerLife::State::closed || other.life.is_lost()) {
    return base::failure(ErrorClass::proc_aborted,
                         "rank %u has ended; its new connection is closed", peer);
  }
  if (other.lanes[lane] != nullptr) {
    return base::failure(ErrorClass::intern, "lane %u to rank %u has a connection already", lane,
                         peer);
  }
  auto connection = std::make_unique<Connection>();
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = connection.get();
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, socket, &event) != 0) {
    return base::failure(ErrorClass::other, "epoll_ctl for the connection to rank %u: %s", peer,
                         std::strerror(errno));
  }
  connection->socket = std::move(owned);
  connection->peer = peer;
  connection->lane = lane;
  connection->address = name_of_end(socket);
  if (leaving_) connection->fin.leave();
  if (other.life.state() == PeerLife::State::parting) part(*connection);
  other.lanes[lane] = std::move(connection);
  if (lane == 0) other.life.open();
  ++connections_;
  events_due_ = true;
  return {};
}

void Streams::give_up(std::uint32_t peer, const base::Error& why) {
  if (!peer_at(peer).life.give_up(why, rules())) lose(peer, why);
}

Post Streams::post_to_absent(std::uint32_t peer, Admission admission) {
  PeerLife& life = peers_[peer]->life;
  const bool in_vain =
      admission == Admission::unreachable && life.exhaust(base::now_ns(), config_.patience_ns);
  if (in_vain || admission == Admission::never_returns) lose(peer, life.absence_error(peer));
  return admission == Admission::drop || life.is_lost() ? Post::done : Post::again;
}

void Streams::drop(std::uint32_t peer) {
  Peer& other = peer_at(peer);
  const bool is_new = other.life.lose(
      base::failure(ErrorClass::proc_aborted, "the connections to rank %u were given up", peer));
  if (!is_new) return;
  for (const auto& connection : other.lanes) {
    if (connection != nullptr) close(*connection);
  }
}

void Streams::readmit(std::uint32_t peer) {
  const bool connected = std::any_of(peer_at(peer).lanes.begin(), peer_at(peer).lanes.end(),
                                     [](const auto& lane) { return lane != nullptr; });
  if (connected) return;
  std::erase(lost_, peer);
  peers_[peer] = std::make_unique<Peer>();
}

base::Error Streams::watch(int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0) return {};
  return base::failure(ErrorClass::other, "epoll_ctl for descriptor %d: %s", descriptor,
                       std::strerror(errno));
}

Peer* Streams::ready_peer(std::uint32_t peer, wire::PacketKind kind, Post& otherwise) {
  Peer& other = peer_at(peer);
  Admission admission = other.life.admit(kind, rules());
  if (admission == Admission::connect) {
    other.life.ask();
    if (config_.connect != nullptr) config_.connect(config_.owner, peer);
    admission = other.life.admit(kind, rules());
  }
  if (admission == Admission::send) {
    otherwise = Post::done;  // after a failed write
    return other.lanes[0]->write_error == 0 ? &other : nullptr;
  }
  otherwise = post_to_absent(peer, admission);
  return nullptr;
}

Post Streams::post(std::uint32_t peer, const wire::Envelope& envelope,
                   std::span<const std::byte> body) {
  Post otherwise = Post::done;
  Peer* const other = ready_peer(peer, envelope.kind, otherwise);
  if (other == nullptr) return otherwise;
  Connection& connection = *other->lanes[0];
  if (connection.units.in_flight() >= wire::tcp_window && wire::brings_message(envelope.kind)) {
    return Post::again;
  }
  const Post posted = send(connection, envelope, body);
  if (posted == Post::done) connection.units.advance(wire::tcp_units(envelope.length));
  return posted;
}

Post Streams::send(Connection& connection, const wire::Envelope& envelope,
                   std::span<const std::byte> body) {
  warm(connection);
  const bool alone = connection.out.empty();
  const bool first = alone && connection.posted_at != polls_;
  const bool large = body.size() >= Outbox::worth_gathering_bytes && !connection.blocked &&
                     (alone || connection.out.reserve(buffers_, body.size()));
  connection.posted_at = polls_;
  if (!first && !large) return collect(connection, envelope, body);
  const Io::Next next =
      first ? Io::Next::unknown : next_after(connection.out.bytes_copied() + body.size());
  settle(connection, connection.out.write_with(io_, connection.socket.get(), buffers_, envelope,
                                               body, next, finished_));
  note_next(connection, next);
  return Post::done;
}

/// The packet waits to be written together with others.
Post Streams::collect(Connection& connection, const wire::Envelope& envelope,
                      std::span<const std::byte> body) {
  if (!connection.out.reserve(buffers_, body.size())) {
    if (connection.blocked) return Post::again;
    write(connection, Io::Next::unknown);
    if (connection.write_error != 0) return Post::done;
    if (!connection.out.reserve(buffers_, body.size())) return Post::again;
  }
  connection.out.append(envelope, body);
  want_flush(connection);
  if (!connection.blocked && connection.out.bytes_copied() >= worth_writing_bytes) {
    write(connection, next_after(connection.out.bytes_copied()));
  }
  return Post::done;
}

/// After a failed write the packet is lost with the connection, like those before it.
void Streams::drop(std::uint32_t peer, std::uint64_t token) {
  const Peer& other = peer_at(peer);
  const bool ends = other.life.is_connected() && other.lanes[0]->write_error != 0;
  (ends ? abandoned_ : finished_).push_back({token, Sent::lost});
}

Post Streams::post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                            std::span<const std::byte> prefix, std::span<const iovec> pieces,
                            std::uint64_t token) {
  Post otherwise = Post::done;
  Peer* const other = ready_peer(peer, envelope.kind, otherwise);
  if (other == nullptr) {
    if (otherwise == Post::done) drop(peer, token);
    return otherwise;
  }
  Connection& connection = least_loaded(*other);
  if (!connection.out.takes_in_place()) return Post::again;
  connection.out.append_in_place(envelope, prefix, pieces, token);
  want_flush(connection);
  const bool enough =
      connection.out.bytes_in_place() >= enough_in_place_bytes || !connection.out.takes_in_place();
  if (!connection.blocked && enough) write(connection, Io::Next::unknown);
  return Post::done;
}

/// Lanes above 0 first, if there are any, so that lane 0 is left to short packets.
Connection& Streams::least_loaded(Peer& peer) noexcept {
  Connection* best = nullptr;
  for (unsigned lane = most_lanes; lane-- > 0;) {
    Connection* const each = peer.lanes[lane].get();
    if (each == nullptr || each->fin.fin_sent() || each->write_error != 0) continue;
    if (best == nullptr || each->out.bytes_in_place() < best->out.bytes_in_place()) best = each;
  }
  return *best;
}

void Streams::want_flush(Connection& connection) {
  if (connection.unsent || connection.blocked) return;
  connection.unsent = true;
  unsent_.push_back(&connection);
}

void Streams::settle(Connection& connection, const Writing& writing) {
  if (writing.state == Writing::State::failed) {
    // The end is detected by reading, which may bring packets that the peer sent before. Unsent packets are
    // reported as lost then, with the cause.
    connection.write_error = writing.error;
    connection.out.abandon(buffers_, abandoned_);
    warm(connection);
    events_due_ = true;
  } else if (writing.bytes > 0) {
    if (!connection.unanswered) connection.unanswered_since_ns = base::now_ns();
    connection.unanswered = any_unanswered_ = true;
  }
  if (connection.out.empty()) {
    connection.out.trim(buffers_);
    connection.blocked = false;
    if (connection.watches_room) watch_room(connection, Interest::arrival);
    if (connection.parting) [[unlikely]]
      end_if_parted(connection);
  } else if (!connection.blocked && writing.state == Writing::State::blocked) {
    connection.blocked = true;
    if (!connection.in_blocked) blocked_.push_back(&connection);
    connection.in_blocked = true;
  }
}

bool Streams::write(Connection& connection, Io::Next next) {
  if (connection.out.empty()) return false;
  const Writing writing = connection.out.write(io_, connection.socket.get(), next, finished_);
  settle(connection, writing);
  note_next(connection, next);
  return writing.bytes > 0;
}

/// Bytes held back by the last write are sent with the next one or the next flush.
void Streams::note_next(Connection& connection, Io::Next next) {
  connection.held = next == Io::Next::more;
  if (connection.held) want_flush(connection);
}

bool Streams::flush_unsent() {
  bool moved = false;
  for (Connection* const connection : unsent_) {
    connection->unsent = false;
    if (!connection->blocked && write(*connection, Io::Next::unknown)) moved = true;
    if (std::exchange(connection->held, false)) io_.push(connection->socket.get());
  }
  unsent_.clear();
  return moved;
}

void Streams::flush() { flush_unsent(); }

bool Streams::retry_blocked() {
  bool moved = false;
  const std::size_t tries = std::min(blocked_.size(), most_retries);
  for (std::size_t i = 0; i < tries && !blocked_.empty(); ++i) {
    if (next_blocked_ >= blocked_.size()) next_blocked_ = 0;
    Connection& connection = *blocked_[next_blocked_];
    if (write(connection, Io::Next::unknown)) moved = true;
    if (connection.fin.owes_anything()) write_signals(connection);
    if (connection.blocked) {
      ++next_blocked_;
    } else {
      connection.in_blocked = false;
      blocked_[next_blocked_] = blocked_.back();
      blocked_.pop_back();
    }
  }
  return moved;
}

void Streams::watch_room(Connection& connection, Interest interest) {
  connection.watches_room = interest == Interest::arrival_and_room;
  epoll_event event{};
  event.events = connection.watches_room ? EPOLLIN | EPOLLOUT : EPOLLIN;
  event.data.ptr = &connection;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), &event);
}

void Streams::write_signals(Connection& connection) {
  if (connection.write_error != 0) return;
  FinHandshake& fin = connection.fin;
  if (fin.ack_due() && connection.out.reserve(buffers_, 0)) {
    connection.out.append(wire::TcpSignal::seen);
    fin.note_ack_sent();
    want_flush(connection);
  }
  if (fin.ack_due()) control_pending_ = true;
  while (connection.in.untold_units() >= wire::tcp_taken_step && !fin.fin_sent()) {
    if (!connection.out.reserve(buffers_, 0)) {
      control_pending_ = true;
      break;
    }
    connection.out.append(wire::TcpSignal::taken);
    connection.in.tell();
    want_flush(connection);
  }
  // Packets in place that have not begun come after everything that is copied, `bye` comes last.
  const bool last = connection.out.bytes_in_place() == 0;
  if (fin.fin_due() && last && connection.out.reserve(buffers_, 0)) {
    connection.out.append(connection.parting && !leaving_ ? wire::TcpSignal::part : fin_signal_);
    fin.note_fin_sent();
    want_flush(connection);
  }
  if (fin.fin_due() && connection.parting) control_pending_ = true;
}

}  // namespace fulmar::fabric::tcp
