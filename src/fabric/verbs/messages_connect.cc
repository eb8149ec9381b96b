// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "fabric/verbs/messages.h"
#include "wire/verbs/verbs_address.h"

/// Connecting queue pairs, and detecting the end of a peer.
namespace fulmar::fabric::verbs {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// Tags of epoll events; other tags are ranks.
constexpr std::uint64_t of_adapter = std::uint64_t{1} << 32;
constexpr std::uint64_t of_events = std::uint64_t{2} << 32;
constexpr std::uint64_t of_connector = std::uint64_t{3} << 32;

/// Polls of the ring of a peer that has ended; a partial packet in it may never be completed.
constexpr std::uint32_t most_final_polls = 1000;

/// Limit of connection attempts; a peer that leaves in that moment causes one failure.
constexpr std::uint32_t most_failed_starts = 8;

constexpr const char* ended = "its process has ended; see what it has printed";

bool would_block(int problem) { return problem == EAGAIN || problem == EWOULDBLOCK; }

/// Fills with unpredictable bytes; false if the system has none.
template <class T>
bool draw(T& value) {
  return ::getrandom(&value, sizeof value, 0) == static_cast<ssize_t>(sizeof value);
}

}  // namespace

Error Messages::watch(int descriptor, std::uint64_t tag) {
  if (descriptor < 0) return {};
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = tag;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, descriptor, &event) == 0) return {};
  return failure(ErrorClass::other, "epoll_ctl: %s", std::strerror(errno));
}

Error Messages::watch_all() {
  for (const auto& [descriptor, tag] : {std::pair{adapter_->descriptor(), of_adapter},
                                        std::pair{adapter_->completion_descriptor(), of_adapter},
                                        std::pair{adapter_->event_descriptor(), of_events},
                                        std::pair{oob_connector_->descriptor(), of_connector}}) {
    if (const Error error = watch(descriptor, tag); error.failed()) return error;
  }
  return {};
}

/// The descriptor stays in the epoll set without events, so that restoring it cannot fail.
void Messages::set_completion_wakeup(CompletionWakeup how) noexcept {
  ends_ = how;
  if (completion_descriptor() < 0) return;
  epoll_event event{};
  if (how == CompletionWakeup::shared) event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = of_adapter;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, completion_descriptor(), &event);
}

/// Called after each change of a peer's state that may begin or end a pending connection.
void Messages::count_pending(Peer& peer) noexcept {
  const bool now = peer.life.is_pending();
  if (std::exchange(peer.is_counted_pending, now) == now) return;
  pending_connections_ += now ? 1U : UINT32_MAX;
}

void Messages::request_connection(std::uint32_t rank, Peer& peer) {
  if (rank == config_.processes->self()) return connect_to_self(rank, peer);
  peer.life.ask();
  count_pending(peer);
  if (const Error error = ask(rank); error.failed()) give_up_peer(rank, peer, error);
}

Error Messages::ask(std::uint32_t rank) {
  const auto blob = config_.find(config_.owner, rank);
  if (blob.failed()) return blob.error();
  const auto address = wire::decode_verbs_address(blob.value());
  if (address.failed()) return address.error();
  if (address.value().link != traits_.link) {
    return failure(
        ErrorClass::other,
        "rank %u uses verbs over %s, rank %u over %s (%s); choose devices of one kind by "
        "FULMAR_VERBS_DEVICE",
        rank, wire::text_of(address.value().link), config_.processes->self(),
        wire::text_of(traits_.link), traits_.name.c_str());
  }
  oob_connector_->connect(rank, address.value().connector_address);
  step_due_ = true;
  return {};
}

/// Handles sockets, adapter events and the connector.
void Messages::poll_events() {
  armed_ = false;
  std::array<epoll_event, 32> ready;
  const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t tag = ready[static_cast<std::size_t>(i)].data.u64;
    if (tag == of_events) {
      handle_events();
    } else if (tag == of_connector) {
      step_due_ = true;
    } else if (tag != of_adapter) {
      on_socket(static_cast<std::uint32_t>(tag));
    }
  }
  const std::int64_t deadline = oob_connector_->next_deadline_ns();
  const auto now = static_cast<std::int64_t>(base::now_ns());
  if (leave_timeout_.expire(now)) moved_ = true;
  const bool late = deadline >= 0 && deadline <= now;
  if (std::exchange(step_due_, false) || late) step_connector();
}

void Messages::step_connector() {
  oob_connector_->step(events_);
  for (const OobConnector::Event& event : events_) {
    moved_ = true;
    if (event.socket >= 0) {
      on_connection(event.peer, event.socket);
    } else {
      give_up_peer(event.peer, peer_at(event.peer), event.error);
    }
  }
  events_.clear();
}

/// The peer cannot be reached. If it may have left MPI, only a send to it is an error.
void Messages::give_up_peer(std::uint32_t rank, Peer& peer, const Error& why) {
  if (!peer.life.give_up(why, rules())) return lose(rank, why);
  count_pending(peer);
}

/// Its connection has ended; there may be another one later.
void Messages::reset_peer(std::uint32_t rank) {
  Peer& old = *peers_[rank];
  count_pending(old);
  drop_connection(old);
  auto fresh = std::make_unique<Peer>();
  fresh->life = old.life;
  std::erase(pending_control_, rank);
  peers_[rank] = std::move(fresh);
  oob_connector_->forget(rank);
}

bool Messages::readmit(std::uint32_t rank) {
  if (over_) return false;
  Peer& peer = peer_at(rank);
  if (!peer.life.is_lost()) return true;
  drop_connection(peer);
  for (auto* const ranks : {&pending_control_, &lost_, &ending_}) std::erase(*ranks, rank);
  peers_[rank] = nullptr;
  oob_connector_->forget(rank);
  return true;
}

/// There is a TCP connection to an authenticated process.
void Messages::on_connection(std::uint32_t rank, int socket) {
  base::UniqueFd owned(socket);
  Peer& peer = peer_at(rank);
  const PeerLife::State state = peer.life.state();
  if (state != PeerLife::State::absent && state != PeerLife::State::asked) return;
  peer.life.start();
  count_pending(peer);
  peer.socket = std::move(owned);
  if (const Error error = start_exchange(rank, peer); error.failed()) return lose(rank, error);
  exchange_io(rank, peer);
}

/// A queue pair that is connected to itself, for operations on this process's own memory: where adapters
/// do atomics for other processes, they have to do those of this process, too. Packets of a process to
/// itself do not use the network, and there is no FIN.
void Messages::connect_to_self(std::uint32_t rank, Peer& peer) {
  wire::VerbsConnectionInfo info;
  Error error = open_queue(rank, peer, info);
  if (error.ok()) error = peer.queue->connect(info, info);
  if (error.failed()) return lose(rank, failed_error(rank, error.text()));
  peer.place = wire::text_of_port(info.gid, info.lid, info.link);
  adopt(peer, info);
  peer.life.open();
}

void Messages::disconnect_from_self() {
  std::unique_ptr<Peer>& self = peers_[config_.processes->self()];
  if (self == nullptr) return;
  drop_connection(*self);
  self.reset();
}

Error Messages::start_exchange(std::uint32_t rank, Peer& peer) {
  wire::VerbsConnectionInfo info;
  if (const Error error = open_queue(rank, peer, info); error.failed()) return error;
  peer.exchange.emplace(info, config_.processes->name_of(rank).value_or(wire::ProcessName{}));
  return watch(peer.socket.get(), rank);
}

/// Creates the queue pair for a peer, and the connection info to send.
Error Messages::open_queue(std::uint32_t rank, Peer& peer, wire::VerbsConnectionInfo& info) {
  auto queue = adapter_->open_queue();
  if (queue.failed()) return queue.error();
  peer.queue = std::move(queue.value());
  ranks_[peer.queue->number()] = rank;
  if (!draw(info.cookie) || !draw(info.first)) {
    return failure(ErrorClass::other, "getrandom: %s", std::strerror(errno));
  }
  info.cookie = std::max<std::uint64_t>(info.cookie, 1);
  info.first &= wire::verbs_number_mask;
  info.from = config_.processes->own_name();
  info.queue = peer.queue->number();
  info.lid = traits_.lid;
  info.link = traits_.link;
  info.mtu = traits_.mtu;
  info.gid = traits_.gid;
  info.window = window;
  info.buffer_bytes = wire::verbs_max_packet_bytes;
  info.max_reads = traits_.max_reads;
  peer.cookie_in = info.cookie;
  return {};
}

/// The queue pair is connected to the one that this info describes.
void Messages::adopt(Peer& peer, const wire::VerbsConnectionInfo& info) {
  peer.cookie_out = info.cookie;
  peer.window = std::min(info.window, window);
  peer.inline_bytes = peer.queue->inline_bytes();
  peer.depth = static_cast<std::uint32_t>(peer.queue->depth());
  peer.room = peer.depth - std::min<std::uint32_t>(8, peer.depth / 4);
}

/// The socket is readable or writable.
void Messages::on_socket(std::uint32_t rank) {
  Peer& peer = *peers_[rank];
  if (!peer.socket.valid()) return;
  moved_ = true;
  if (peer.life.state() == PeerLife::State::connecting) return exchange_io(rank, peer);
  if (!peer.life.is_connected()) return;
  std::byte nothing{};
  const ssize_t got = ::recv(peer.socket.get(), &nothing, 1, 0);
  if (got > 0) {
    lose(rank, lost_error(rank, "it speaks out of turn on the connection that introduced it"));
  } else if (got == 0) {
    on_end_of(rank, peer, ended);
  } else if (!would_block(errno) && errno != EINTR) {
    on_end_of(rank, peer, std::strerror(errno));
  }
}

void Messages::exchange_io(std::uint32_t rank, Peer& peer) {
  while (peer.life.state() == PeerLife::State::connecting) {
    if (!write_exchange(rank, peer)) return;
    switch (peer.exchange->state()) {
      case QpExchange::State::waiting:
        if (!read_exchange(rank, peer)) return;
        break;
      case QpExchange::State::received:
        if (!connect(rank, peer)) return;
        break;
      case QpExchange::State::done:
        return open_connection(rank, peer);
      case QpExchange::State::invalid:
        return lose(rank, lost_error(rank,
                                     "what it says about its queue makes no sense; is it the same "
                                     "version of Fulmar?"));
    }
  }
}

/// Sends what is outgoing. False if that has to wait, or the peer is lost.
bool Messages::write_exchange(std::uint32_t rank, Peer& peer) {
  QpExchange& exchange = *peer.exchange;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = rank;
  while (!exchange.outgoing().empty()) {
    const auto bytes = exchange.outgoing();
    const ssize_t sent = ::send(peer.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      exchange.sent(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) continue;
    if (!would_block(errno)) {
      on_end_of(rank, peer, std::strerror(errno));
      return false;
    }
    event.events |= EPOLLOUT;
    break;
  }
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, peer.socket.get(), &event);
  return exchange.outgoing().empty();
}

/// Reads what the exchange needs next. False if there is nothing, or the peer is lost.
bool Messages::read_exchange(std::uint32_t rank, Peer& peer) {
  const auto room = peer.exchange->room();
  const ssize_t got = ::recv(peer.socket.get(), room.data(), room.size(), 0);
  if (got > 0) {
    peer.exchange->received(static_cast<std::size_t>(got));
    return true;
  }
  if (got == 0) {
    on_end_of(rank, peer, ended);
  } else if (!would_block(errno) && errno != EINTR) {
    on_end_of(rank, peer, std::strerror(errno));
  }
  return false;
}

bool Messages::connect(std::uint32_t rank, Peer& peer) {
  const wire::VerbsConnectionInfo& info = peer.exchange->theirs();
  peer.place = wire::text_of_port(info.gid, info.lid, info.link);
  if (info.buffer_bytes < wire::verbs_max_packet_bytes) {
    lose(rank, lost_error(rank,
                          "it takes shorter packets; use the same version of Fulmar on all "
                          "hosts"));
    return false;
  }
  if (const Error error = peer.queue->connect(peer.exchange->own(), info); error.failed()) {
    lose(rank, failed_error(rank, error.text()));
    return false;
  }
  adopt(peer, info);
  peer.exchange->connected();
  return true;
}

/// Packets can be sent to it from now on.
void Messages::open_connection(std::uint32_t rank, Peer& peer) {
  peer.life.open();
  peer.exchange.reset();
  count_pending(peer);
  if (!leaving_) return;
  peer.fin.leave();
  note_pending_control(rank, peer);
}

/// `peer` may be destroyed by this.
void Messages::on_end_of(std::uint32_t rank, Peer& peer, const char* cause) {
  close_socket(peer);
  if (!peer.life.is_connected()) {
    const bool may_try_again = peer.life.fail_start() <= most_failed_starts;
    if (config_.left != nullptr && may_try_again) return reset_peer(rank);
    return lose(rank, lost_error(rank, std::string("before the queues were connected: ") + cause));
  }
  peer.end_cause = lost_error(rank, cause);
  ending_.push_back(rank);
}

/// Handles ended connections whose last messages have been taken.
void Messages::handle_ended() {
  std::erase_if(ending_, [&](std::uint32_t rank) {
    Peer& peer = *peers_[rank];
    if (!peer.life.is_connected()) return true;
    if (ring_holds_more(peer) && ++peer.final_polls < most_final_polls) return false;
    handle_end(rank, peer);
    return true;
  });
}

/// Its messages have been taken: the peer is lost if it has not sent its FIN.
void Messages::handle_end(std::uint32_t rank, Peer& peer) {
  if (!peer.life.close()) return lose(rank, peer.end_cause);
  if (config_.left == nullptr) return drop_connection(peer);
  peer.life.await_return(rules());
  reset_peer(rank);
  config_.left(config_.owner, rank);
}

void Messages::handle_events() {
  Event event;
  while (adapter_->next_event(event)) {
    moved_ = true;
    const bool all = event.kind == Event::Kind::all_failed;
    const auto only = event.kind == Event::Kind::queue_failed ? rank_of(event.queue) : std::nullopt;
    for (std::uint32_t rank = 0; rank < peers_.size() && (all || only); ++rank) {
      const Peer* const peer = peers_[rank].get();
      const bool meant = peer != nullptr && peer->queue != nullptr && !peer->life.has_left();
      if (meant && (all || only == rank)) lose(rank, failed_error(rank, event.text));
    }
    const bool down = event.kind == Event::Kind::port_down;
    if (config_.report == nullptr || (!down && event.kind != Event::Kind::port_up)) {
      continue;
    }
    const std::string line =
        "the port of the adapter " + traits_.name +
        (down ? " is down; if it does not come up within seconds, what is sent "
                "over it is lost"
              : " is up again");
    config_.report(config_.owner, line.c_str());
  }
}

}  // namespace fulmar::fabric::verbs
