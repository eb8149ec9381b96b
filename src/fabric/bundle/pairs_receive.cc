// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstring>

#include "base/clock.h"
#include "fabric/bundle/pairs.h"
#include "fabric/bundle/rail_sink.h"

/// Packets that come over the rails. Their sender was authenticated, but may still be faulty: an
/// invalid packet makes the peer lost, as on a single network.
namespace fulmar::fabric::bundle {
namespace {

/// After so many packets or bytes without a packet in the other direction an acknowledgement is sent:
/// a quarter of what the sender may have in flight.
constexpr std::uint32_t most_unacked_packets = KeptPackets::most_packets / 4;
constexpr std::uint64_t most_unacked_bytes = KeptPackets::most_bytes / 4;

template <class T>
T read_as(std::span<const std::byte> bytes) noexcept {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

}  // namespace

bool Pairs::RailSink::is_unchanged(std::uint32_t peer) const {
  const Peer& other = pairs_.peer_at(peer);
  return other.has_single() && other.rail == rail_;
}

void Pairs::RailSink::packet(std::uint32_t peer, const wire::Envelope& envelope, const Body& body) {
  if (is_unchanged(peer)) return sink_.packet(peer, envelope, body);
  pairs_.take_packet(rail_, peer, envelope, body, sink_);
}

std::span<const iovec> Pairs::RailSink::place(std::uint32_t peer, const wire::Envelope& envelope,
                                              std::span<const std::byte> prefix,
                                              std::uint64_t offset, std::uint64_t bytes) {
  if (is_unchanged(peer)) return sink_.place(peer, envelope, prefix, offset, bytes);
  const InPlace piece = pairs_.piece_of(rail_, peer, envelope, prefix);
  // What was delivered before has to be discarded, which only `part` can do.
  if (piece.peer == nullptr || piece.delivered > offset) return {};
  return sink_.place(peer, piece.envelope, piece.prefix, offset, bytes);
}

void Pairs::RailSink::placed(std::uint32_t peer, const wire::Envelope& envelope,
                             std::span<const std::byte> prefix, std::uint64_t offset,
                             std::uint64_t bytes) {
  if (is_unchanged(peer)) return sink_.placed(peer, envelope, prefix, offset, bytes);
  const InPlace piece = pairs_.piece_of(rail_, peer, envelope, prefix);
  if (piece.peer == nullptr || piece.delivered > offset) return;
  sink_.placed(peer, piece.envelope, piece.prefix, offset, bytes);
  pairs_.note_delivered(peer, piece, offset + bytes);
}

void Pairs::RailSink::part(std::uint32_t peer, const wire::Envelope& envelope,
                           std::span<const std::byte> prefix, std::uint64_t offset,
                           std::span<const std::byte> payload) {
  if (is_unchanged(peer)) return sink_.part(peer, envelope, prefix, offset, payload);
  const InPlace piece = pairs_.piece_of(rail_, peer, envelope, prefix);
  if (piece.peer == nullptr) return;
  const std::uint64_t end = offset + payload.size();
  if (end <= piece.delivered) return;
  const std::uint64_t begin = std::max(offset, piece.delivered);
  sink_.part(peer, piece.envelope, piece.prefix, begin, payload.subspan(begin - offset));
  pairs_.note_delivered(peer, piece, end);
}

void Pairs::RailSink::sent(std::uint64_t token, Sent how) {
  if (pairs_.rails_[rail_].under_way > 0) --pairs_.rails_[rail_].under_way;
  pairs_.note_sent(token, how);
}

void Pairs::fault(std::uint32_t number, const char* what) {
  lose(number, base::failure(base::ErrorClass::proc_aborted,
                             "rank %u sends what is no packet of a pair that shares several "
                             "networks (%s); its connections are closed",
                             number, what));
}

/// Whether a packet is to be delivered. If not, the peer is lost, the packet is of an earlier session,
/// or its path is closed.
bool Pairs::accept(std::uint32_t rail, std::uint32_t number, Peer& peer,
                   const wire::BundlePacket& head, wire::BundlePlace place, std::size_t rest) {
  if (peer.is_lost()) return false;
  const auto path = peer.path_of(rail);
  if (!peer.has_several() || !path) {
    fault(number, "over a network that the two do not share");
    return false;
  }
  if (peer.paths[*path].ended_here) return false;
  if (const char* const wrong = wire::fault_of(head, place, rest); wrong != nullptr) {
    fault(number, wrong);
    return false;
  }
  if (!is_current(number, peer, head)) return false;
  if (!peer.presence.is_connected()) peer.presence.open();
  if (peer.is_suspect) [[unlikely]]
    end_suspicion(number, peer);
  peer.paths[*path].is_connected = true;
  if (peer.paths[*path].back == Path::Return::tried) [[unlikely]]
    note_return(number, peer, *path);
  note_acknowledgement(number, peer, head.ack);
  return peer.has_several();
}

void Pairs::take_packet(std::uint32_t rail, std::uint32_t number, const wire::Envelope& envelope,
                        const Body& body, SinkRef sink) {
  Peer& peer = peer_at(number);
  const std::span<const std::byte> bytes = body.bytes();
  const auto head = wire::decode_bundle_packet(bytes);
  if (!head) {
    if (!peer.is_lost()) fault(number, "too short");
    return;
  }
  const std::span<const std::byte> rest = bytes.subspan(header_bytes);
  if (!accept(rail, number, peer, *head, wire::BundlePlace::packet, rest.size())) return;
  if (static_cast<wire::BundleWhat>(head->what) == wire::BundleWhat::ack) {
    return note_piece_ack(number, peer, read_as<wire::BundleAck>(rest));
  }
  take_in_order(number, peer, *head, envelope, rest, sink);
}

void Pairs::take_in_order(std::uint32_t number, Peer& peer, const wire::BundlePacket& head,
                          const wire::Envelope& envelope, std::span<const std::byte> rest,
                          SinkRef sink) {
  const std::int32_t ahead = peer.received.ahead(head.number);
  if (ahead < 0) {
    ++counters_.duplicates;
    return request_ack(number, peer);
  }
  if (ahead > 0) return fault(number, "a packet before it is missing");
  const auto what = static_cast<wire::BundleWhat>(head.what);
  if (peer.fin.fin_received() && what == wire::BundleWhat::packet) {
    return fault(number, "a packet behind its last");
  }
  peer.received.advance();
  peer.unacked_bytes += rest.size();
  if (head.flags != 0 || leaving_ || peer.received.unacknowledged() >= most_unacked_packets ||
      peer.unacked_bytes >= most_unacked_bytes) {
    request_ack(number, peer);
  }
  switch (what) {
    case wire::BundleWhat::down:
      return on_down(number, peer, read_as<wire::BundleAck>(rest));
    case wire::BundleWhat::up:
      return on_up(number, peer, read_as<wire::BundleAck>(rest));
    case wire::BundleWhat::bye:
      peer.presence.on_fin(Leaving::may_return, {});  // the FIN of the rails says whether for good
      peer.fin.on_fin(head.number);
      return request_ack(number, peer);
    default:
      break;
  }
  wire::Envelope inner = envelope;
  inner.length -= static_cast<std::uint32_t>(header_bytes);
  sink.packet(number, inner, Body(rest));
}

void Pairs::request_ack(std::uint32_t number, Peer& peer) {
  peer.ack_due = true;
  schedule(number, peer);
}

void Pairs::note_acknowledgement(std::uint32_t number, Peer& peer, std::uint32_t ack) {
  if (!peer.kept.acknowledge(ack)) fault(number, "it acknowledges what was not sent");
}

void Pairs::note_piece_ack(std::uint32_t number, Peer& peer, const wire::BundleAck& ack) {
  if (peer.out == nullptr) {
    if (ack.base != 0 || ack.map != 0) fault(number, "it acknowledges what was not sent");
    return;
  }
  OutPieces& out = *peer.out;
  // An older one may come later, over another rail.
  const auto ahead = static_cast<std::int32_t>(ack.base - out.base());
  const std::uint32_t under_way = out.next_number() - out.base();
  if (ahead < 0) return;
  const auto past = static_cast<std::uint32_t>(ahead);
  const bool beyond = past > under_way || (under_way - past < wire::bundle_pieces &&
                                           ack.map >> (under_way - past) != 0);
  if (beyond) return fault(number, "it acknowledges what was not sent");
  const std::uint64_t time = now();
  for (std::uint32_t i = 0; i < under_way; ++i) {
    const bool arrived = i < past || (ack.map >> (i - past) & 1) != 0;
    if (arrived) note_arrival(peer, out.at(out.base() + i), time);
  }
  out.shrink();
}

void Pairs::note_arrival(Peer& peer, OutPiece& piece, std::uint64_t now_ns) {
  if (piece.state != OutPiece::State::under_way && piece.state != OutPiece::State::stranded) return;
  Path& path = peer.paths[piece.path];
  if (piece.state == OutPiece::State::under_way) {
    path.speed.acknowledged(piece.envelope.length, piece.sent_ns, now_ns);
  }
  path.sent_bytes += piece.envelope.length;
  piece.state = OutPiece::State::arrived;
  if (!piece.held) conclude(piece, Sent::done);
}

void Pairs::conclude(OutPiece& piece, Sent how) {
  ended_sends_.push_back({piece.token, how});
  piece.state = OutPiece::State::none;
  piece.held = false;
}

/// A rail no longer needs the memory of a packet in place.
void Pairs::note_sent(std::uint64_t token, Sent how) {
  const auto operation = operations_.take(token);
  if (!operation) return;
  if (operation->kind == PendingOperations::Operation::Kind::unchanged) {
    return ended_sends_.push_back({operation->token, how});
  }
  Peer& peer = *peers_[operation->peer];
  if (operation->epoch != peer.epoch || peer.out == nullptr || !peer.out->has(operation->number))
    return;
  OutPiece& piece = peer.out->at(operation->number);
  piece.held = false;
  if (piece.state == OutPiece::State::arrived) {
    conclude(piece, Sent::done);
  } else if (peer.is_lost() && piece.state != OutPiece::State::none) {
    conclude(piece, Sent::lost);
  } else if (piece.state == OutPiece::State::stranded) {
    schedule(operation->peer, peer);
  }
  peer.out->shrink();
}

Pairs::InPlace Pairs::piece_of(std::uint32_t rail, std::uint32_t number,
                               const wire::Envelope& envelope, std::span<const std::byte> prefix) {
  Peer& peer = peer_at(number);
  const auto head = wire::decode_bundle_packet(prefix);
  if (!head) {
    if (!peer.is_lost()) fault(number, "too short");
    return {};
  }
  const std::span<const std::byte> rest = prefix.subspan(header_bytes);
  if (!accept(rail, number, peer, *head, wire::BundlePlace::in_place, rest.size())) return {};
  if (peer.in == nullptr) peer.in = std::make_unique<InPieces>();
  InPlace piece{&peer, head->number, envelope, rest, envelope.length - prefix.size(), 0};
  piece.envelope.length -= static_cast<std::uint32_t>(header_bytes);
  switch (peer.in->standing(head->number)) {
    case InPieces::Standing::wanted:
      piece.delivered = peer.in->delivered(head->number);
      return piece;
    case InPieces::Standing::complete:
      piece.delivered = piece.payload_bytes;
      return piece;
    case InPieces::Standing::impossible:
      break;
  }
  fault(number, "a piece before it is missing");
  return {};
}

/// The payload up to `end` was handed to the sink.
void Pairs::note_delivered(std::uint32_t number, const InPlace& piece, std::uint64_t end) {
  Peer& peer = *piece.peer;
  if (peer.in == nullptr || peer.in->standing(piece.number) != InPieces::Standing::wanted) return;
  peer.in->set_delivered(piece.number, end);
  if (end < piece.payload_bytes) return;
  peer.in->finish(piece.number);
  request_ack(number, peer);
}

}  // namespace fulmar::fabric::bundle
