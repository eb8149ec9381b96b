// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "fabric/ofi/messages.h"

/// Receiving, and completions.
namespace fulmar::fabric::ofi {
namespace {

using base::ErrorClass;
using base::failure;
using wire::OfiPacket;
using wire::OfiSignal;

/// Reads of the endpoint in one poll, so that other networks get their turn.
constexpr unsigned reads_per_look = 4;
constexpr std::uint32_t looks_per_vigil = 256;
constexpr std::int64_t line_interval_ns = 1'000'000'000;

}  // namespace

void Messages::begin() {
  refused_ = moved_ = false;
  ++polls_;
  reads_left_ = reads_per_look;
  if (leave_timeout_.running()) [[unlikely]]
    moved_ = leave_timeout_.expire(static_cast<std::int64_t>(base::now_ns()));
  if (!pending_control_.empty()) send_pending_control();
  // Reading the clock costs more than a poll of an idle network.
  if (has_slept_ || polls_ % looks_per_vigil == 0) [[unlikely]]
    probe_silent_peers();
}

bool Messages::next(Arrival& arrival) {
  while (true) {
    if (spent_ != nullptr) unposted_.push_back(std::exchange(spent_, nullptr));
    if (!unposted_.empty()) repost();
    if (!ready_peers_.empty() && next_held(arrival)) return true;
    if (!ready_peers_.empty()) continue;
    if (next_event_ == event_count_) {
      if (reads_left_ == 0) return false;
      --reads_left_;
      next_event_ = 0;
      event_count_ = endpoint_->read(events_);
      if (event_count_ == 0) return false;
      moved_ = true;
    }
    if (take(events_[next_event_++], arrival)) return true;
  }
}

bool Messages::next_ended(EndedSend& ended) {
  if (ended_.empty()) return false;
  ended = ended_.front();
  ended_.pop_front();
  return true;
}

void Messages::finish() {
  if (!pending_control_.empty()) send_pending_control();
  moved_ = moved_ || !lost_.empty();
  for (std::size_t i = 0; i < lost_.size(); ++i) {
    if (config_.lost != nullptr)
      config_.lost(config_.owner, lost_[i], peers_[lost_[i]]->life.why());
  }
  lost_.clear();
}

/// Buffers that the endpoint does not take now are tried again with the next event.
void Messages::repost() {
  while (!unposted_.empty()) {
    ReceiveTicket& buffer = *unposted_.back();
    if (endpoint_->receive(buffer.memory, receive_descriptor_, buffer) != PostResult::yes) return;
    unposted_.pop_back();
  }
}

bool Messages::take(const Event& event, Arrival& arrival) {
  if (event.ticket == nullptr) {
    ++counters_.failures;
    return false;
  }
  if (event.ticket->use == Ticket::Use::send) {
    end_send(static_cast<SendTicket&>(*event.ticket), event.kind);
    return false;
  }
  if (event.ticket->use == Ticket::Use::order) {
    finish_rdma(static_cast<OperationTicket&>(*event.ticket), event.kind);
    return false;
  }
  if (event.frees) spent_ = static_cast<ReceiveTicket*>(event.ticket);
  if (event.kind == Event::Kind::failed) ++counters_.failures;
  return event.kind == Event::Kind::done && accept(event.bytes, arrival);
}

void Messages::end_send(SendTicket& ticket, Event::Kind kind) {
  Peer& peer = *peers_[ticket.peer];
  --peer.under_way;
  const bool failed = kind == Event::Kind::failed;
  // A peer that has left may have closed its endpoint before the FIN was acknowledged.
  const bool matters = failed && !peer.life.has_left();
  if (ticket.token) {
    --in_place_under_way_;
    ended_.push_back({*ticket.token, matters || peer.life.is_lost() ? Sent::lost : Sent::done});
  }
  pool_.give_back(ticket);
  if (matters) lose_over_network(ticket.peer, endpoint_->last_error());
}

void Messages::on_stranger() {
  ++counters_.strangers;
  if (config_.report == nullptr) return;
  const auto now = static_cast<std::int64_t>(base::now_ns());
  if (now < next_report_ns_) return;
  next_report_ns_ = now + line_interval_ns;
  char line[160];
  std::snprintf(line, sizeof line,
                "dropped %llu message(s) over %s of libfabric from somebody who does not belong to "
                "this job",
                static_cast<unsigned long long>(counters_.strangers - strangers_reported_),
                can_.provider.c_str());
  strangers_reported_ = counters_.strangers;
  config_.report(config_.owner, line);
}

/// The process that a packet names as its sender, if it has that process's cookie.
std::optional<std::uint32_t> Messages::sender_of(const OfiPacket& packet) {
  const wire::ProcessName name = wire::sender_of(packet);
  const auto id = config_.processes->id_of(name);
  if (!id || *id >= peers_.size() || name == own_name_ || packet.cookie == 0) return std::nullopt;
  if (const auto& known = peers_[*id]; known != nullptr) {
    return known->cookie_in == packet.cookie ? id : std::nullopt;
  }
  const std::uint64_t expected = cookie(name, own_name_);
  if (expected != packet.cookie) return std::nullopt;
  make_peer(*id, expected);
  return id;
}

bool Messages::accept(std::span<const std::byte> bytes, Arrival& arrival) {
  const auto packet = wire::decode_ofi_packet(bytes);
  const std::optional<std::uint32_t> sender = packet ? sender_of(*packet) : std::nullopt;
  if (!sender) {
    on_stranger();
    return false;
  }
  const std::uint32_t rank = *sender;
  Peer* const peer = peers_[rank].get();
  if (peer->life.is_lost()) return false;
  peer->has_received = true;
  const std::span<const std::byte> body = bytes.subspan(sizeof *packet);
  const char* fault = wire::fault_of(*packet, body.size());
  if (fault == nullptr && !peer->out.acknowledge(packet->ack)) {
    fault = "it acknowledges what was not sent";
  }
  peer->fin.on_acknowledgement(peer->out);
  const bool numbered =
      packet->prefix_bytes == 0 && packet->kind != static_cast<std::uint8_t>(OfiSignal::seen);
  const std::int32_t ahead = peer->in.ahead(packet->sequence);
  // Including the `bye`, which needs no room in the window.
  if (fault == nullptr && numbered && ahead > static_cast<std::int32_t>(window)) {
    fault = "a number far ahead of its turn";
  }
  if (fault != nullptr) {
    lose(rank, failure(ErrorClass::proc_aborted,
                       "rank %u at %s, over %s of libfabric, sends what is no packet (%s)", rank,
                       peer->place.c_str(), can_.provider.c_str(), fault));
    return false;
  }
  if (numbered) return in_order(rank, *peer, *packet, body, arrival);
  if (packet->prefix_bytes == 0) return false;
  ++peer->in_place_in;
  if (!peer->held.empty()) ready_peers_.push_back(rank);  // a `bye` may have waited for it
  arrival = {rank, wire::envelope_of(*packet), packet->prefix_bytes, body};
  return true;
}

/// True if this packet is the next in order; a later one is held.
bool Messages::in_order(std::uint32_t rank, Peer& peer, const OfiPacket& packet,
                        std::span<const std::byte> body, Arrival& arrival) {
  const std::int32_t ahead = peer.in.ahead(packet.sequence);
  const bool bye = packet.kind == static_cast<std::uint8_t>(OfiSignal::bye);
  if (bye && ahead >= 0) peer.fin_heard = true;
  if (ahead < 0) {
    ++counters_.duplicates;
    return false;
  }
  if (ahead > 0 || (bye && packet.context != peer.in_place_in)) {
    ++counters_.early;
    peer.held.try_emplace(packet.sequence, HeldPacket{packet, {body.begin(), body.end()}});
    return false;
  }
  peer.held.erase(packet.sequence);  // a repeated `bye`
  advance(rank, peer);
  if (bye) {
    on_bye(rank, peer, packet);
    return false;
  }
  note_traffic(rank, peer);
  arrival = {rank, wire::envelope_of(packet), 0, body};
  return true;
}

/// One more packet of the peer was taken in order.
void Messages::advance(std::uint32_t rank, Peer& peer) {
  peer.in.advance();
  if (!peer.held.empty()) ready_peers_.push_back(rank);
  if (can_.ordered || peer.in.unacknowledged() < ack_interval) return;
  peer.owes_ack = true;
  note_pending_control(rank, peer);
}

/// The next held packet of the first of `ready_peers_`. False if it has none in order; it is removed then.
bool Messages::next_held(Arrival& arrival) {
  const std::uint32_t rank = ready_peers_.back();
  ready_peers_.pop_back();
  Peer& peer = *peers_[rank];
  const auto found = peer.held.find(peer.in.next());
  if (found == peer.held.end()) return false;
  const OfiPacket& head = found->second.head;
  const bool bye = head.kind == static_cast<std::uint8_t>(OfiSignal::bye);
  if (bye && head.context != peer.in_place_in) return false;
  current_ = std::move(found->second);
  peer.held.erase(found);
  advance(rank, peer);
  if (bye) {
    on_bye(rank, peer, current_.head);
    return false;
  }
  note_traffic(rank, peer);
  arrival = {rank, wire::envelope_of(current_.head), 0, current_.body};
  return true;
}

/// A packet of the program came: its sender has not left, or is back.
void Messages::note_traffic(std::uint32_t rank, Peer& peer) {
  const bool is_news = !peer.has_traffic || peer.life.has_left();
  peer.has_traffic = true;
  if (peer.life.has_left()) peer.fin_heard = false;
  if (!peer.life.is_open()) peer.life.open();
  if (!is_news || !leaving_ || peer.fin.fin_sent()) return;
  peer.fin.leave();
  note_pending_control(rank, peer);
}

void Messages::on_bye(std::uint32_t rank, Peer& peer, const OfiPacket& bye) {
  peer.life.on_fin(bye.tag == 1 ? Leaving::for_good : Leaving::may_return, rules());
  static_cast<void>(peer.life.close());
  peer.life.await_return(rules());
  end_probe(peer);
  if (config_.left != nullptr) config_.left(config_.owner, rank);
  peer.fin.peer_restarts();  // each FIN has a sequence number and is taken in order
  peer.fin.on_fin();
  note_pending_control(rank, peer);
}

}  // namespace fulmar::fabric::ofi
