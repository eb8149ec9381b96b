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

/// How queues find each other, and how it is noticed that one is gone.
namespace fulmar::fabric::verbs {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// What epoll tells about; a rank else.
constexpr std::uint64_t of_adapter = std::uint64_t{1} << 32;
constexpr std::uint64_t of_happenings = std::uint64_t{2} << 32;
constexpr std::uint64_t of_introducer = std::uint64_t{3} << 32;

/// For what is in the ring of a peer that has ended; half a packet in it may never be whole.
constexpr std::uint32_t most_last_looks = 1000;

/// A peer that leaves in just that moment does so once.
constexpr std::uint32_t most_false_starts = 8;

constexpr const char* ended = "its process has ended; see what it has printed";

bool would_block(int problem) { return problem == EAGAIN || problem == EWOULDBLOCK; }

/// Fills with bytes that nobody can foresee; false where the system has none.
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
                                        std::pair{adapter_->ends_descriptor(), of_adapter},
                                        std::pair{adapter_->happening_descriptor(), of_happenings},
                                        std::pair{oob_connector_->descriptor(), of_introducer}}) {
    if (const Error error = watch(descriptor, tag); error.failed()) return error;
  }
  return {};
}

/// A descriptor that stays in the set, for nothing, can be put back without fail.
void Messages::tell_ends(EndsTold how) noexcept {
  ends_ = how;
  if (ends_descriptor() < 0) return;
  epoll_event event{};
  if (how == EndsTold::together) event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = of_adapter;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, ends_descriptor(), &event);
}

/// After each change of a peer's life that may begin or end a meeting.
void Messages::count_meeting(Peer& peer) noexcept {
  const bool now = peer.life.is_meeting();
  if (std::exchange(peer.is_met, now) == now) return;
  meetings_ += now ? 1U : UINT32_MAX;
}

void Messages::want(std::uint32_t rank, Peer& peer) {
  if (rank == config_.processes->self()) return connect_to_self(rank, peer);
  peer.life.ask();
  count_meeting(peer);
  if (const Error error = ask(rank); error.failed()) give_up_way(rank, peer, error);
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
  oob_connector_->connect(rank, address.value().meeting);
  step_due_ = true;
  return {};
}

/// What has happened beside the messages.
void Messages::look_around() {
  armed_ = false;
  std::array<epoll_event, 32> ready;
  const int count = ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t tag = ready[static_cast<std::size_t>(i)].data.u64;
    if (tag == of_happenings) {
      on_happenings();
    } else if (tag == of_introducer) {
      step_due_ = true;
    } else if (tag != of_adapter) {
      on_socket(static_cast<std::uint32_t>(tag));
    }
  }
  const std::int64_t deadline = oob_connector_->next_deadline_ns();
  const auto now = static_cast<std::int64_t>(base::now_ns());
  if (leave_timeout_.expire(now)) moved_ = true;
  const bool late = deadline >= 0 && deadline <= now;
  if (std::exchange(step_due_, false) || late) step_introducer();
}

void Messages::step_introducer() {
  oob_connector_->step(events_);
  for (const OobConnector::Event& event : events_) {
    moved_ = true;
    if (event.socket >= 0) {
      meet(event.peer, event.socket);
    } else {
      give_up_way(event.peer, peer_at(event.peer), event.error);
    }
  }
  events_.clear();
}

/// Nothing leads to the peer. One that may have left MPI is missed only by who sends to it.
void Messages::give_up_way(std::uint32_t rank, Peer& peer, const Error& why) {
  if (!peer.life.give_up(why, rules())) return lose(rank, why);
  count_meeting(peer);
}

/// Its connection has ended, which says nothing against another one.
void Messages::begin_anew(std::uint32_t rank) {
  Peer& old = *peers_[rank];
  count_meeting(old);
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

/// There is a connection to a process of the job.
void Messages::meet(std::uint32_t rank, int socket) {
  base::UniqueFd owned(socket);
  Peer& peer = peer_at(rank);
  const PeerLife::State state = peer.life.state();
  if (state != PeerLife::State::absent && state != PeerLife::State::asked) return;
  peer.life.meet();
  count_meeting(peer);
  peer.socket = std::move(owned);
  if (const Error error = greet(rank, peer); error.failed()) return lose(rank, error);
  talk(rank, peer);
}

/// A queue that is connected to itself, for orders on this process's own memory: where adapters
/// change it for others, they change it for this process. Packets of this process to itself are none
/// of the network's business, and nobody says goodbye.
void Messages::connect_to_self(std::uint32_t rank, Peer& peer) {
  wire::VerbsConnectionInfo card;
  Error error = open_queue(rank, peer, card);
  if (error.ok()) error = peer.queue->connect(card, card);
  if (error.failed()) return lose(rank, failed_error(rank, error.text()));
  peer.place = wire::text_of_port(card.gid, card.lid, card.link);
  adopt(peer, card);
  peer.life.open();
}

void Messages::disconnect_from_self() {
  std::unique_ptr<Peer>& self = peers_[config_.processes->self()];
  if (self == nullptr) return;
  drop_connection(*self);
  self.reset();
}

Error Messages::greet(std::uint32_t rank, Peer& peer) {
  wire::VerbsConnectionInfo card;
  if (const Error error = open_queue(rank, peer, card); error.failed()) return error;
  peer.greeting.emplace(card, config_.processes->name_of(rank).value_or(wire::ProcessName{}));
  return watch(peer.socket.get(), rank);
}

/// The queue to a peer, and the card that says how to connect to it.
Error Messages::open_queue(std::uint32_t rank, Peer& peer, wire::VerbsConnectionInfo& card) {
  auto queue = adapter_->open_queue();
  if (queue.failed()) return queue.error();
  peer.queue = std::move(queue.value());
  ranks_[peer.queue->number()] = rank;
  if (!draw(card.cookie) || !draw(card.first)) {
    return failure(ErrorClass::other, "getrandom: %s", std::strerror(errno));
  }
  card.cookie = std::max<std::uint64_t>(card.cookie, 1);
  card.first &= wire::verbs_number_mask;
  card.from = config_.processes->own_name();
  card.queue = peer.queue->number();
  card.lid = traits_.lid;
  card.link = traits_.link;
  card.mtu = traits_.mtu;
  card.gid = traits_.gid;
  card.window = window;
  card.buffer_bytes = wire::verbs_max_packet_bytes;
  card.reads = traits_.reads;
  peer.cookie_in = card.cookie;
  return {};
}

/// The queue is connected to that of this card.
void Messages::adopt(Peer& peer, const wire::VerbsConnectionInfo& card) {
  peer.cookie_out = card.cookie;
  peer.window = std::min(card.window, window);
  peer.inline_bytes = peer.queue->inline_bytes();
  peer.depth = static_cast<std::uint32_t>(peer.queue->depth());
  peer.room = peer.depth - std::min<std::uint32_t>(8, peer.depth / 4);
}

/// Something is to be read, or can be written.
void Messages::on_socket(std::uint32_t rank) {
  Peer& peer = *peers_[rank];
  if (!peer.socket.valid()) return;
  moved_ = true;
  if (peer.life.state() == PeerLife::State::connecting) return talk(rank, peer);
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

void Messages::talk(std::uint32_t rank, Peer& peer) {
  while (peer.life.state() == PeerLife::State::connecting) {
    if (!push(rank, peer)) return;
    switch (peer.greeting->state()) {
      case QpExchange::State::waiting:
        if (!pull(rank, peer)) return;
        break;
      case QpExchange::State::met:
        if (!connect(rank, peer)) return;
        break;
      case QpExchange::State::done:
        return rise(rank, peer);
      case QpExchange::State::nonsense:
        return lose(rank, lost_error(rank,
                                     "what it says about its queue makes no sense; is it the same "
                                     "version of Fulmar?"));
    }
  }
}

/// Sends what there is to send. False if that has to wait, or the peer is lost.
bool Messages::push(std::uint32_t rank, Peer& peer) {
  QpExchange& greeting = *peer.greeting;
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP;
  event.data.u64 = rank;
  while (!greeting.outgoing().empty()) {
    const auto bytes = greeting.outgoing();
    const ssize_t sent = ::send(peer.socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      greeting.sent(static_cast<std::size_t>(sent));
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
  return greeting.outgoing().empty();
}

/// Reads what the greeting wants next. False if there is nothing, or the peer is lost.
bool Messages::pull(std::uint32_t rank, Peer& peer) {
  const auto room = peer.greeting->room();
  const ssize_t got = ::recv(peer.socket.get(), room.data(), room.size(), 0);
  if (got > 0) {
    peer.greeting->received(static_cast<std::size_t>(got));
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
  const wire::VerbsConnectionInfo& card = peer.greeting->theirs();
  peer.place = wire::text_of_port(card.gid, card.lid, card.link);
  if (card.buffer_bytes < wire::verbs_max_packet_bytes) {
    lose(rank, lost_error(rank,
                          "it takes shorter packets; use the same version of Fulmar on all "
                          "hosts"));
    return false;
  }
  if (const Error error = peer.queue->connect(peer.greeting->own(), card); error.failed()) {
    lose(rank, failed_error(rank, error.text()));
    return false;
  }
  adopt(peer, card);
  peer.greeting->connected();
  return true;
}

/// Packets can go to it.
void Messages::rise(std::uint32_t rank, Peer& peer) {
  peer.life.open();
  peer.greeting.reset();
  count_meeting(peer);
  if (!leaving_) return;
  peer.fin.leave();
  note_pending_control(rank, peer);
}

/// `peer` may be no more afterwards.
void Messages::on_end_of(std::uint32_t rank, Peer& peer, const char* cause) {
  close_socket(peer);
  if (!peer.life.is_connected()) {
    const bool may_try_again = peer.life.fail_start() <= most_false_starts;
    if (config_.left != nullptr && may_try_again) return begin_anew(rank);
    return lose(rank, lost_error(rank, std::string("before the queues were connected: ") + cause));
  }
  peer.end_cause = lost_error(rank, cause);
  ending_.push_back(rank);
}

/// Those whose messages have been taken.
void Messages::judge_ended() {
  std::erase_if(ending_, [&](std::uint32_t rank) {
    Peer& peer = *peers_[rank];
    if (!peer.life.is_connected()) return true;
    if (ring_holds_more(peer) && ++peer.last_looks < most_last_looks) return false;
    judge(rank, peer);
    return true;
  });
}

/// What had come from it has been taken: it is lost if it has not said goodbye.
void Messages::judge(std::uint32_t rank, Peer& peer) {
  if (!peer.life.close()) return lose(rank, peer.end_cause);
  if (config_.left == nullptr) return drop_connection(peer);
  peer.life.await_return(rules());
  begin_anew(rank);
  config_.left(config_.owner, rank);
}

void Messages::on_happenings() {
  Event happening;
  while (adapter_->next_happening(happening)) {
    moved_ = true;
    const bool all = happening.kind == Event::Kind::all_failed;
    const auto only =
        happening.kind == Event::Kind::queue_failed ? rank_of(happening.queue) : std::nullopt;
    for (std::uint32_t rank = 0; rank < peers_.size() && (all || only); ++rank) {
      const Peer* const peer = peers_[rank].get();
      const bool meant = peer != nullptr && peer->queue != nullptr && !peer->life.has_left();
      if (meant && (all || only == rank)) lose(rank, failed_error(rank, happening.text));
    }
    const bool down = happening.kind == Event::Kind::port_down;
    if (config_.report == nullptr || (!down && happening.kind != Event::Kind::port_up)) {
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
