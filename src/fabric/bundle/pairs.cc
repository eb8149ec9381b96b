// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/bundle/pairs.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.h"
#include "wire/ofi/ofi_address.h"
#include "wire/travels.h"
#include "wire/verbs/verbs_address.h"

/// Which rails are used for a peer, and sending.
namespace fulmar::fabric::bundle {

namespace {

using base::ErrorClass;
using base::failure;

/// While no rail has taken the first packet, each further rail is tried this much later than the one
/// before it: the first is the best one, but to connect it may take until its deadline.
constexpr std::uint64_t stagger_ns = 250'000'000;

/// The label of the only rail of a process without a bundle.
const char* label_of_single(std::span<const std::byte> address) {
  if (wire::is_ofi_address(address)) return "ofi";
  return wire::is_verbs_address(address) ? "verbs" : "tcp";
}

const wire::BundleRail* find_label(std::span<const wire::BundleRail> rails,
                                   const std::string& label) {
  const auto found = std::find_if(rails.begin(), rails.end(), [&](const wire::BundleRail& rail) {
    return rail.label == label;
  });
  return found == rails.end() ? nullptr : &*found;
}

}  // namespace

base::Result<std::unique_ptr<Pairs>> Pairs::open(const Config& config) {
  base::UniqueFd epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.valid()) {
    return failure(ErrorClass::other,
                   "epoll_create1: %s; raise the limit of open files (ulimit -n)",
                   std::strerror(errno));
  }
  return std::unique_ptr<Pairs>(new Pairs(config, std::move(epoll)));
}

Pairs::Pairs(const Config& config, base::UniqueFd epoll)
    : config_(config), epoll_(std::move(epoll)), peers_(config.processes->size()) {
  budget_.limit_bytes = config.memory_bytes;
  for (std::uint32_t i = 0; i < owners_.size(); ++i) owners_[i] = {this, i};
}

std::uint64_t Pairs::now() const noexcept {
  return config_.clock == nullptr ? base::now_ns() : config_.clock(config_.owner);
}

void Pairs::grow(std::uint32_t size) {
  if (size > peers_.size()) peers_.resize(size);
  for (const Member& member : rails_) member.rail->grow(size);
}

base::Error Pairs::watch(const Network& rail) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, rail.descriptor(), &event) == 0) return {};
  return failure(ErrorClass::other, "epoll_ctl for the network %s: %s", rail.name(),
                 std::strerror(errno));
}

base::Error Pairs::add(std::unique_ptr<Network> rail, std::string label, double bytes_per_second) {
  constexpr std::size_t least_prefix_bytes =
      sizeof(wire::BundlePacket) + wire::bundle_max_prefix_bytes;
  const NetworkAttributes& can = rail->attributes();
  if (!can.drops_peers || can.prefix_bytes < least_prefix_bytes) {
    return failure(ErrorClass::intern, "the network %s cannot be one of several (FULMAR_RAILS)",
                   rail->name());
  }
  if (const base::Error error = watch(*rail); error.failed()) return error;
  Member member;
  member.rail = std::move(rail);
  member.label = std::move(label);
  member.bytes_per_second = bytes_per_second;
  rails_.push_back(std::move(member));
  return {};
}

base::Result<std::vector<std::byte>> Pairs::address() const {
  std::vector<wire::BundleRail> rails;
  for (const Member& member : rails_) {
    auto address = member.rail->address();
    if (address.failed()) return address.error();
    rails.push_back({member.label, std::move(*address)});
  }
  return wire::encode_bundle_address(rails);
}

base::Result<std::vector<wire::BundleRail>> Pairs::rails_of(std::uint32_t number) const {
  auto blob = config_.find(config_.owner, number);
  if (blob.failed()) return blob.error();
  if (wire::is_bundle_address(*blob)) return wire::decode_bundle_address(*blob);
  std::vector<wire::BundleRail> single;
  single.push_back({label_of_single(*blob), std::move(*blob)});
  return single;
}

/// Both sides number the rails that they share in the order of the process with the lower name.
base::Error Pairs::match(std::uint32_t number, Peer& peer) {
  auto theirs = rails_of(number);
  if (theirs.failed()) return theirs.error();
  const bool theirs_first = config_.processes->name_of(number) < config_.processes->own_name();
  std::vector<std::uint8_t> shared;
  const auto add = [&](const std::string& label) {
    const auto found = std::find_if(rails_.begin(), rails_.end(),
                                    [&](const Member& member) { return member.label == label; });
    if (found == rails_.end() || find_label(*theirs, label) == nullptr) return;
    shared.push_back(static_cast<std::uint8_t>(found - rails_.begin()));
  };
  if (theirs_first) {
    for (const wire::BundleRail& rail : *theirs) add(rail.label);
  } else {
    for (const Member& member : rails_) add(member.label);
  }
  if (shared.empty()) {
    return failure(ErrorClass::other,
                   "rank %u and rank %u have no network in common (%s here, %s there); set "
                   "FULMAR_FABRIC and FULMAR_RAILS to the same on all hosts",
                   self(), number, rails_.front().label.c_str(), theirs->front().label.c_str());
  }
  peer.rail = shared.front();
  if (shared.size() == 1) return {};
  peer.rails = Peer::Rails::several;
  for (const std::uint8_t rail : shared) {
    Path& path = peer.paths[peer.path_count++];
    path.rail = rail;
    path.speed = Speed(rails_[rail].bytes_per_second);
    rails_[rail].rail->set_patience(number, Network::Patience::brief);
  }
  return {};
}

Peer& Pairs::peer_at(std::uint32_t number) {
  if (peers_[number] != nullptr) [[likely]]
    return *peers_[number];
  peers_[number] = std::make_unique<Peer>(budget_);
  Peer& peer = *peers_[number];
  if (const base::Error error = match(number, peer); error.failed()) lose(number, error);
  return peer;
}

std::size_t Pairs::body_limit(std::uint32_t number) {
  const Peer& peer = peer_at(number);
  if (!peer.has_several()) {
    return std::min(max_body_bytes, rails_[peer.rail].rail->body_limit(number));
  }
  std::size_t limit = max_body_bytes;
  for (std::uint8_t i = 0; i < peer.path_count; ++i) {
    limit = std::min(limit, rails_[peer.paths[i].rail].rail->body_limit(number) - header_bytes);
  }
  return limit;
}

std::size_t Pairs::in_place_limit(std::uint32_t number) {
  const Peer& peer = peer_at(number);
  if (!peer.has_several()) {
    return std::min(max_in_place_bytes, rails_[peer.rail].rail->in_place_limit(number));
  }
  std::size_t limit = max_in_place_bytes;
  for (std::uint8_t i = 0; i < peer.path_count; ++i) {
    limit = std::min(limit, rails_[peer.paths[i].rail].rail->in_place_limit(number) - header_bytes);
  }
  return limit;
}

void Pairs::schedule(std::uint32_t number, Peer& peer) {
  if (std::exchange(peer.is_scheduled, true)) return;
  scheduled_.push_back(number);
}

/// Packets for a peer that is leaving wait until its rails have ended; those decide then, also where the
/// peer never returns.
std::optional<Post> Pairs::answer_without_sending(std::uint32_t number, Peer& peer,
                                                  wire::PacketKind kind) const {
  if (!peer.presence.is_open()) [[unlikely]]
    peer.presence.set_gone(gone(number));
  switch (peer.presence.admit(kind, {.peers_return = true, .leaving = leaving_})) {
    case Admission::send:
    case Admission::connect:
      return std::nullopt;
    case Admission::drop:
      return Post::done;
    default:
      return Post::again;
  }
}

Post Pairs::post(std::uint32_t number, const wire::Envelope& envelope,
                 std::span<const std::byte> body) {
  Peer& peer = peer_at(number);
  if (peer.has_single()) return rails_[peer.rail].rail->post(number, envelope, body);
  if (const auto answer = answer_without_sending(number, peer, envelope.kind)) return *answer;
  if (peer.kept.has_unsent() && !send_unsent(number, peer)) return Post::again;
  if (!peer.kept.add(envelope, wire::BundleWhat::packet, body, KeptPackets::Rank::ordinary)) {
    return Post::again;
  }
  if (send_unsent(number, peer)) return Post::done;
  peer.kept.take_back();
  return Post::again;
}

bool Pairs::send_unsent(std::uint32_t number, Peer& peer) {
  while (peer.kept.has_unsent()) {
    const KeptPackets::Packet packet = peer.kept.first_unsent();
    wire::BundlePacket head;
    std::memcpy(&head, packet.bytes.data(), sizeof head);
    const std::uint32_t packet_number = head.number;
    head = head_for(peer, static_cast<wire::BundleWhat>(head.what), peer.kept.unsent_count() - 1);
    head.number = packet_number;
    head.flags = budget_.is_scarce() || peer.fin.fin_sent() ? wire::bundle_answer_soon : 0;
    std::memcpy(packet.bytes.data(), &head, sizeof head);
    if (transmit(number, peer, packet.envelope, packet.bytes) == Post::again) {
      schedule(number, peer);
      return false;
    }
    peer.kept.note_sent();
    peer.received.note_acknowledged(head.ack);
    peer.unacked_bytes = 0;
  }
  return true;
}

/// A header without a number. `unsent`: ordered packets that wait behind it. A peer that has sent `bye`
/// goes when that is acknowledged, so everything else has to be sent to it before.
wire::BundlePacket Pairs::head_for(const Peer& peer, wire::BundleWhat what,
                                   std::uint32_t unsent) const noexcept {
  wire::BundlePacket head;
  const bool holds_back = peer.fin.fin_received() && unsent != 0;
  head.ack = holds_back ? peer.fin.peer_fin_number() : peer.received.next();
  head.what = static_cast<std::uint8_t>(what);
  head.life = life_;
  head.to_life = peer.life;
  return head;
}

void Pairs::set_primary(Peer& peer, std::uint8_t path) noexcept {
  if (peer.primary != no_path) --rails_[peer.paths[peer.primary].rail].primaries;
  peer.primary = path;
  if (path != no_path) ++rails_[peer.paths[path].rail].primaries;
}

/// Posts an ordered packet to the primary rail, or to the first rail that takes it, which becomes the
/// primary one.
Post Pairs::transmit(std::uint32_t number, Peer& peer, const wire::Envelope& envelope,
                     std::span<const std::byte> bytes) {
  if (peer.primary != no_path) [[likely]] {
    return rails_[peer.paths[peer.primary].rail].rail->post(number, envelope, bytes);
  }
  const std::uint64_t time = now();
  if (peer.since_ns == 0) peer.since_ns = time;
  std::uint64_t wait_ns = 0;
  for (std::uint8_t i = 0; i < peer.path_count; ++i) {
    Path& path = peer.paths[i];
    if (!peer.may_use(path)) continue;
    if (!path.is_connected) {
      const bool early = time - peer.since_ns < wait_ns;
      wait_ns += stagger_ns;
      if (early) continue;
      // A rail drops such packets for a peer that was away, even if it is back.
      const bool may_be_dropped =
          wire::is_about_flow(envelope.kind) || wire::is_about_withdrawal(envelope.kind);
      if (may_be_dropped && !send_first(number, peer, i)) continue;
    }
    if (rails_[path.rail].rail->post(number, envelope, bytes) == Post::again) continue;
    path.is_connected = true;
    set_primary(peer, i);
    return Post::done;
  }
  schedule(number, peer);
  return Post::again;
}

Post Pairs::post_unchanged(std::uint32_t number, const Peer& peer, const wire::Envelope& envelope,
                           std::span<const std::byte> prefix, std::span<const iovec> pieces,
                           std::uint64_t token) {
  Member& member = rails_[peer.rail];
  const std::uint64_t own =
      operations_.add({number, 0, 0, token, PendingOperations::Operation::Kind::unchanged});
  const Post post = member.rail->post_in_place(number, envelope, prefix, pieces, own);
  if (post == Post::again) {
    static_cast<void>(operations_.take(own));
  } else {
    ++member.under_way;
  }
  return post;
}

Post Pairs::post_in_place(std::uint32_t number, const wire::Envelope& envelope,
                          std::span<const std::byte> prefix, std::span<const iovec> pieces,
                          std::uint64_t token) {
  Peer& peer = peer_at(number);
  if (peer.has_single()) {
    return post_unchanged(number, peer, envelope, prefix, pieces, token);
  }
  if (const auto answer = answer_without_sending(number, peer, envelope.kind)) {
    if (*answer == Post::done) ended_sends_.push_back({token, Sent::lost});
    return *answer;
  }
  if (peer.out == nullptr) peer.out = std::make_unique<OutPieces>();
  if (!peer.out->has_room()) return Post::again;
  try_unconnected(number, peer);
  const std::uint8_t path = best_path(peer, envelope.length);
  if (path == no_path) return Post::again;
  const std::uint32_t piece_number = peer.out->next_number();
  OutPiece& piece = peer.out->at(piece_number);
  piece.envelope = envelope;
  piece.prefix_bytes = static_cast<std::uint8_t>(prefix.size());
  std::copy(prefix.begin(), prefix.end(), piece.prefix.begin());
  piece.pieces.assign(pieces.begin(), pieces.end());
  piece.token = token;
  if (send_piece(number, peer, piece_number, path) == Post::again) return Post::again;
  peer.out->add();
  return Post::done;
}

/// Makes rails that are not connected to this peer connect: at most once in each poll.
void Pairs::try_unconnected(std::uint32_t number, Peer& peer) {
  if (std::exchange(peer.tried_in_poll, polls_ + 1) == polls_ + 1) return;
  for (std::uint8_t i = 0; i < peer.path_count; ++i) {
    Path& path = peer.paths[i];
    if (path.is_connected || !peer.may_use(path)) continue;
    path.is_connected = send_first(number, peer, i);
  }
}

/// Sends an acknowledgement that is not needed, so that the rail connects. True once it was taken.
bool Pairs::send_first(std::uint32_t number, Peer& peer, std::uint8_t path) {
  if (!post_ack(number, peer, path, wire::bundle_signal_kind)) return false;
  return peer.sent_unnumbered = true;
}

/// The path that would deliver so many bytes first; no_path if that one has enough in flight.
std::uint8_t Pairs::best_path(const Peer& peer, std::uint64_t bytes) const noexcept {
  std::uint8_t best = no_path;
  double finish_ns = 0;
  for (std::uint8_t i = 0; i < peer.path_count; ++i) {
    const Path& path = peer.paths[i];
    if (!path.is_connected || path.ended_here) continue;
    const double this_one_ns = path.speed.finish_ns(bytes);
    if (best != no_path && this_one_ns >= finish_ns) continue;
    best = i;
    finish_ns = this_one_ns;
  }
  return best != no_path && peer.paths[best].speed.has_room() ? best : no_path;
}

/// The piece is described in the window already.
Post Pairs::send_piece(std::uint32_t number, Peer& peer, std::uint32_t piece_number,
                       std::uint8_t path_number) {
  OutPiece& piece = peer.out->at(piece_number);
  Path& path = peer.paths[path_number];
  Member& member = rails_[path.rail];
  wire::BundlePacket head = head_for(peer, wire::BundleWhat::piece, peer.kept.unsent_count());
  head.number = piece_number;
  std::array<std::byte, header_bytes + max_prefix_bytes> prefix;
  std::memcpy(prefix.data(), &head, sizeof head);
  std::memcpy(prefix.data() + sizeof head, piece.prefix.data(), piece.prefix_bytes);
  wire::Envelope envelope = piece.envelope;
  envelope.length += static_cast<std::uint32_t>(header_bytes);
  const std::uint64_t own = operations_.add(
      {number, piece_number, peer.epoch, 0, PendingOperations::Operation::Kind::piece});
  const Post post = member.rail->post_in_place(
      number, envelope, std::span(prefix).first(header_bytes + piece.prefix_bytes), piece.pieces,
      own);
  if (post == Post::again) {
    static_cast<void>(operations_.take(own));
    return post;
  }
  piece.state = OutPiece::State::under_way;
  piece.held = true;
  piece.path = path_number;
  piece.sent_ns = now();
  path.speed.sent(piece.envelope.length, piece.sent_ns);
  ++member.under_way;
  return post;
}

}  // namespace fulmar::fabric::bundle
