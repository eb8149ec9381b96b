// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/messages.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/copy.h"
#include "wire/ofi/ofi_address.h"
#include "wire/travels.h"

/// Sending, and the end. Receiving is in messages_receive.cc.
namespace fulmar::fabric::ofi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using wire::OfiPacket;
using wire::OfiSignal;

/// How often the network is polled without a descriptor, and after a post was refused.
constexpr std::int64_t blind_interval_ns = 100'000;
constexpr std::int64_t refused_interval_ns = 1'000'000;

std::int64_t now() { return static_cast<std::int64_t>(base::now_ns()); }

}  // namespace

base::Result<std::unique_ptr<Messages>> Messages::open(const Config& config,
                                                       std::unique_ptr<Endpoint> endpoint) {
  const Capabilities& can = endpoint->capabilities();
  if (can.most_message_bytes < wire::ofi_max_packet_bytes) {
    return failure(ErrorClass::other,
                   "messages of libfabric's provider %s have at most %zu bytes, %zu are needed; "
                   "choose another one by FULMAR_OFI_PROVIDER",
                   can.provider.c_str(), can.most_message_bytes, wire::ofi_max_packet_bytes);
  }
  const auto hash = base::KeyedHash::load();
  if (hash.failed()) return hash.error();
  std::unique_ptr<Messages> messages(new Messages(config, hash.value(), std::move(endpoint)));
  if (const Error error = messages->prepare(); error.failed()) return error;
  return messages;
}

Messages::Messages(const Config& config, const base::KeyedHash& hash,
                   std::unique_ptr<Endpoint> endpoint)
    : config_(config),
      hash_(hash),
      own_name_(config.processes->own_name()),
      peers_(config.processes->size()),
      pool_(wire::ofi_max_packet_bytes),
      operations_(endpoint->capabilities().send_depth),
      endpoint_(std::move(endpoint)),
      can_(endpoint_->capabilities()) {
  if (can_.most_message_bytes < max_remote_bytes) can_.moves_remotely = false;
}

Error Messages::prepare() {
  const auto sending = endpoint_->enlist(pool_.memory());
  if (sending.failed()) return sending.error();
  pool_.set_descriptor(sending.value());
  const std::size_t bytes = can_.shares_buffers ? shared_buffer_bytes : wire::ofi_max_packet_bytes;
  const std::size_t count =
      std::min(can_.shares_buffers ? shared_buffers : single_buffers, can_.receive_depth);
  receive_memory_ = std::make_unique_for_overwrite<std::byte[]>(bytes * count);
  const auto receiving = endpoint_->enlist({receive_memory_.get(), bytes * count});
  if (receiving.failed()) return receiving.error();
  receive_descriptor_ = receiving.value();
  buffers_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    buffers_[i].memory = {receive_memory_.get() + i * bytes, bytes};
    unposted_.push_back(&buffers_[i]);
  }
  repost();
  if (unposted_.size() < count) return {};
  return failure(ErrorClass::other, "libfabric's provider %s takes no receive buffer (%s)",
                 can_.provider.c_str(), endpoint_->last_error().c_str());
}

base::Result<std::vector<std::byte>> Messages::address() const {
  const std::span<const std::byte> name = endpoint_->name();
  return wire::encode_ofi_address({can_.provider, can_.address_format, {name.begin(), name.end()}});
}

std::size_t Messages::held() const noexcept {
  std::size_t packets = 0;
  for (const std::uint32_t rank : known_) packets += peers_[rank]->held.size();
  return packets;
}

wire::ProcessName Messages::name_of(std::uint32_t rank) const noexcept {
  return config_.processes->name_of(rank).value_or(wire::ProcessName{});
}

/// The cookie for messages from one process to another, one of which is this one. 0, which no message
/// has, if the job of the other one is not known.
std::uint64_t Messages::cookie(const wire::ProcessName& from,
                               const wire::ProcessName& to) const noexcept {
  const wire::ProcessName& other = from == own_name_ ? to : from;
  const base::Key* const key = config_.processes->key_of(other.job);
  return key == nullptr ? 0 : pair_cookie(hash_, *key, from, to);
}

Peer& Messages::make_peer(std::uint32_t rank, std::uint64_t cookie_in) {
  peers_[rank] = std::make_unique<Peer>();
  known_.push_back(rank);
  Peer& peer = *peers_[rank];
  peer.cookie_in = cookie_in;
  peer.cookie_out = cookie(own_name_, name_of(rank));
  peer.place = "an address that was not asked for";
  if (next_probe_ns_ == 0) next_probe_ns_ = now() + config_.keep_alive_interval_ns;
  if (leaving_) {
    peer.fin.leave();
    note_pending_control(rank, peer);
  }
  return peer;
}

/// False: the peer is lost.
bool Messages::find(std::uint32_t rank, Peer& peer) {
  if (peer.found) return true;
  if (const Error error = insert(rank, peer); error.failed()) {
    lose(rank, error);
    return false;
  }
  return peer.found = true;
}

Error Messages::insert(std::uint32_t rank, Peer& peer) {
  const auto blob = config_.find(config_.owner, rank);
  if (blob.failed()) return blob.error();
  const auto theirs = wire::decode_ofi_address(blob.value());
  if (theirs.failed()) return theirs.error();
  const wire::OfiAddress& address = theirs.value();
  if (address.provider != can_.provider || address.format != can_.address_format) {
    return failure(ErrorClass::other,
                   "rank %u uses libfabric's provider %s (address format %u), rank %u %s (%u); set "
                   "FULMAR_OFI_PROVIDER to one that all hosts have",
                   rank, address.provider.c_str(), address.format, config_.processes->self(),
                   can_.provider.c_str(), can_.address_format);
  }
  const auto number = endpoint_->insert(address.name);
  if (number.failed()) return number.error();
  peer.address = number.value();
  peer.place = endpoint_->text_of(address.name);
  peer.name = address.name;
  return {};
}

/// The peer if packets can be sent to it now; else null, and `otherwise` is the answer. A post to a peer
/// that has left and may return counts as waiting for that return.
Peer* Messages::ready_peer(std::uint32_t rank, wire::PacketKind kind, Post& otherwise) {
  otherwise = Post::done;
  if (leaving_) return nullptr;
  Peer& peer =
      peers_[rank] != nullptr ? *peers_[rank] : make_peer(rank, cookie(name_of(rank), own_name_));
  const Admission admission = peer.life.admit(kind, rules());
  if (admission == Admission::never_returns) lose(rank, peer.life.absence_error(rank));
  if (admission == Admission::connect) {
    peer.life.expect_return();
  } else if (admission != Admission::send) {
    return nullptr;
  }
  peer.fin_heard = false;
  peer.has_traffic = true;
  return find(rank, peer) ? &peer : nullptr;
}

bool Messages::window_is_full(const Peer& peer) const noexcept {
  return !can_.ordered && peer.out.in_flight() >= window;
}

Post Messages::post(std::uint32_t rank, const wire::Envelope& envelope,
                    std::span<const std::byte> body) {
  Post otherwise = Post::done;
  Peer* const peer = ready_peer(rank, envelope.kind, otherwise);
  if (peer == nullptr) return otherwise;
  OfiPacket head = wire::ofi_packet(envelope, 0);
  head.sequence = peer->out.next();
  if (waits_for_writes(*peer) || window_is_full(*peer)) return refuse(Post::again);
  return refuse(transmit(rank, *peer, head, body) == PostResult::later ? Post::again : Post::done);
}

Post Messages::post_in_place(std::uint32_t rank, const wire::Envelope& envelope,
                             std::span<const std::byte> prefix, std::span<const iovec> pieces,
                             std::uint64_t token) {
  Post otherwise = Post::done;
  Peer* const peer = ready_peer(rank, envelope.kind, otherwise);
  if (peer == nullptr) {
    ended_.push_back({token, Sent::lost});
    return otherwise;
  }
  if (waits_for_writes(*peer) || in_place_under_way_ >= most_in_place) return refuse(Post::again);
  const OfiPacket head = wire::ofi_packet(envelope, prefix.size());
  const PostResult taken = transmit_pieces(rank, *peer, head, prefix, pieces, token);
  if (taken == PostResult::failed) ended_.push_back({token, Sent::lost});
  return refuse(taken == PostResult::later ? Post::again : Post::done);
}

void Messages::fill_in(Peer& peer, OfiPacket& head) const noexcept {
  wire::set_sender(head, own_name_);
  head.cookie = peer.cookie_out;
  head.ack = peer.in.next();
}

PostResult Messages::note_posted(std::uint32_t rank, Peer& peer, const OfiPacket& head,
                                 PostResult taken) {
  if (taken == PostResult::failed) lose_over_network(rank, endpoint_->last_error());
  if (taken != PostResult::yes) return taken;
  peer.in.note_acknowledged(head.ack);
  if (head.prefix_bytes != 0) {
    ++peer.in_place_out;
  } else if (head.kind != static_cast<std::uint8_t>(OfiSignal::seen) &&
             head.sequence == peer.out.next()) {
    peer.out.advance();
  }
  return taken;
}

PostResult Messages::transmit(std::uint32_t rank, Peer& peer, OfiPacket head,
                              std::span<const std::byte> body) {
  fill_in(peer, head);
  const std::size_t bytes = sizeof head + body.size();
  const auto write = [&](std::byte* to) {
    std::memcpy(to, &head, sizeof head);
    base::copy_bytes(to + sizeof head, body.data(), body.size());
  };
  constexpr std::size_t most_injected = 512;
  // Injected packets have no completion, but a process that leaves has to wait for them.
  if (bytes <= std::min(can_.inject_bytes, most_injected) && !wire::is_ofi_signal(head.kind)) {
    std::array<std::byte, most_injected> message;
    write(message.data());
    return note_posted(rank, peer, head, endpoint_->inject(peer.address, {message.data(), bytes}));
  }
  SendTicket* const ticket = pool_.take(bytes);
  if (ticket == nullptr) return PostResult::later;
  write(ticket->memory.data());
  ticket->peer = rank;
  const iovec piece{ticket->memory.data(), bytes};
  const PostResult taken = endpoint_->send(peer.address, {&piece, 1}, ticket->descriptor, *ticket);
  if (taken == PostResult::yes) {
    ++peer.under_way;
  } else {
    pool_.give_back(*ticket);
  }
  return note_posted(rank, peer, head, taken);
}

/// Without a copy, if the endpoint can do that and this is the only network to the peer; else through
/// memory of the pool.
PostResult Messages::transmit_pieces(std::uint32_t rank, Peer& peer, OfiPacket head,
                                     std::span<const std::byte> prefix,
                                     std::span<const iovec> pieces, std::uint64_t token) {
  fill_in(peer, head);
  const bool gather =
      !peer.has_other_networks && !can_.registers_memory && pieces.size() < can_.most_pieces;
  SendTicket* const ticket =
      pool_.take(sizeof head + (gather ? prefix.size() : std::size_t{head.length}));
  if (ticket == nullptr) return PostResult::later;
  std::byte* at = ticket->memory.data();
  const auto append = [&](const void* from, std::size_t bytes) {
    base::copy_bytes(at, from, bytes);
    at += bytes;
  };
  append(&head, sizeof head);
  append(prefix.data(), prefix.size());
  std::array<iovec, 64> parts;
  std::size_t count = 1;
  for (const iovec& piece : pieces) {
    if (gather) {
      parts[count++] = piece;
    } else {
      append(piece.iov_base, piece.iov_len);
    }
  }
  parts[0] = {ticket->memory.data(), static_cast<std::size_t>(at - ticket->memory.data())};
  ticket->peer = rank;
  ticket->token = token;
  ticket->is_copy = !gather;
  const PostResult taken =
      endpoint_->send(peer.address, std::span(parts).first(count), ticket->descriptor, *ticket);
  if (taken == PostResult::yes) {
    ++peer.under_way;
    ++in_place_under_way_;
  } else {
    pool_.give_back(*ticket);
  }
  return note_posted(rank, peer, head, taken);
}

PostResult Messages::signal(std::uint32_t rank, Peer& peer, OfiSignal kind) {
  OfiPacket head = wire::ofi_packet(kind, kind == OfiSignal::bye ? peer.in_place_out : 0);
  if (kind == OfiSignal::bye) {
    head.sequence = peer.fin.fin_sent() ? peer.fin.fin_number() : peer.out.next();
    head.tag = how_ == Leaving::for_good ? 1 : 0;
  }
  return transmit(rank, peer, head, {});
}

void Messages::note_pending_control(std::uint32_t rank, Peer& peer) {
  if (std::exchange(peer.is_owed, true)) return;
  pending_control_.push_back(rank);
}

/// Sends the signals that are due. A `bye` also acknowledges, also a repeated one.
void Messages::send_pending_control() {
  for (std::size_t i = 0; i < pending_control_.size();) {
    const std::uint32_t rank = pending_control_[i];
    Peer& peer = *peers_[rank];
    FinHandshake& fin = peer.fin;
    if (peer.life.has_left() && !peer.owes_any_ack()) fin.waive_fin();
    const bool owes = fin.fin_due() || peer.owes_any_ack();
    bool paid = peer.life.is_lost() || !owes || !find(rank, peer);
    const bool may = peer.orders == 0 || !fin.fin_due();  // a FIN follows this process's RDMA
    if (!paid && may) {
      const bool is_fin = fin.fin_due() || fin.fin_sent();
      const std::uint32_t number = fin.fin_sent() ? fin.fin_number() : peer.out.next();
      const PostResult taken = signal(rank, peer, is_fin ? OfiSignal::bye : OfiSignal::seen);
      paid = taken != PostResult::later;
      if (taken == PostResult::yes && is_fin) fin.note_fin_sent(number);
      if (paid) {
        fin.waive_fin();
        fin.note_ack_sent();
        peer.owes_ack = false;
      }
    }
    if (!paid) {
      ++i;
      continue;
    }
    peer.is_owed = false;
    pending_control_[i] = pending_control_.back();
    pending_control_.pop_back();
  }
}

void Messages::lose(std::uint32_t rank, const Error& why) {
  Peer& peer = *peers_[rank];
  if (!peer.life.lose(why)) return;
  end_probe(peer);
  peer.held.clear();
  lost_.push_back(rank);
}

void Messages::drop(std::uint32_t rank) {
  if (peers_[rank] == nullptr) make_peer(rank, cookie(name_of(rank), own_name_));
  lose(rank, failure(ErrorClass::proc_aborted, "rank %u was given up", rank));
  if (peers_[rank]->under_way != 0) write_off(rank);
}

/// Sends in flight to a lost peer stay with libfabric for an unknown time. Their memory is replaced, so
/// that other peers can be sent to, and posts of copies are completed.
void Messages::write_off(std::uint32_t rank) {
  for (SendTicket* const ticket : pool_.under_way_to(rank)) {
    if (ticket->token && !ticket->is_copy) continue;
    if (ticket->token) {
      --in_place_under_way_;
      ended_.push_back({*std::exchange(ticket->token, std::nullopt), Sent::lost});
    }
    SendTicket& other = pool_.replace(*ticket);
    const auto enlisted = endpoint_->enlist(other.memory);
    if (enlisted.failed()) {  // the pool has one buffer less from now on
      other.abandoned = true;
      continue;
    }
    other.descriptor = enlisted.value();
    pool_.give_back(other);
  }
}

void Messages::lose_over_network(std::uint32_t rank, const std::string& what) {
  lose(rank, failure(ErrorClass::proc_aborted, "lost rank %u at %s, over %s of libfabric: %s", rank,
                     peers_[rank]->place.c_str(), can_.provider.c_str(), what.c_str()));
}

void Messages::leave(Leaving how) {
  if (std::exchange(leaving_, true)) return;
  how_ = how;
  leave_timeout_.start(now(), max_leave_wait_ns);
  for (const std::uint32_t rank : known_) {
    Peer& peer = *peers_[rank];
    if (peer.life.is_lost()) continue;
    // A process does RDMA to its own memory, but sends itself no signals.
    if (rank == config_.processes->self()) peer.has_traffic = false;
    if (peer.has_traffic && !peer.life.has_left()) peer.fin.leave();
    note_pending_control(rank, peer);
  }
  send_pending_control();
}

bool Messages::quiesced() const noexcept {
  return leaving_ && std::all_of(known_.begin(), known_.end(), [&](std::uint32_t rank) {
           const Peer* const peer = peers_[rank].get();
           if (peer->life.is_lost()) return true;
           if (!peer->has_traffic && !peer->owes_any_ack()) return true;
           if (peer->life.has_left() && leave_timeout_.expired()) return true;
           if (peer->fin.fin_due() || peer->owes_any_ack()) return false;
           if (peer->under_way != 0 || peer->orders != 0) return false;
           if (peer->life.has_left() && !peer->fin.fin_sent()) return true;
           return peer->fin.fin_acknowledged() && (peer->life.has_left() || !peer->fin_heard);
         });
}

void Messages::resume() {
  leaving_ = false;
  leave_timeout_.reset();
  for (const std::uint32_t rank : known_) {
    peers_[rank]->has_traffic = false;
    peers_[rank]->fin.restart();
  }
}

std::vector<std::uint32_t> Messages::known_peers() const {
  std::vector<std::uint32_t> known;
  for (const std::uint32_t rank : known_) {
    const bool is_self = rank == config_.processes->self();
    if (!peers_[rank]->life.is_lost() && !is_self) known.push_back(rank);
  }
  std::sort(known.begin(), known.end());
  return known;
}

bool Messages::arm() {
  if (!pending_control_.empty()) send_pending_control();
  if (next_event_ != event_count_ || !ended_.empty() || !lost_.empty() || !ready_peers_.empty()) {
    return false;
  }
  deadline_ns_ = -1;
  if (descriptor() < 0) {
    deadline_ns_ = now() + blind_interval_ns;
  } else if (refused_ || !pending_control_.empty() || !unposted_.empty()) {
    deadline_ns_ = now() + refused_interval_ns;
  }
  deadline_ns_ = earlier_wake(deadline_ns_, leave_timeout_.wake_ns());
  if (next_probe_ns_ != 0) deadline_ns_ = earlier_wake(deadline_ns_, next_probe_ns_);
  has_slept_ = true;
  return endpoint_->arm();
}

}  // namespace fulmar::fabric::ofi
