// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/verbs/messages.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/copy.h"
#include "wire/travels.h"
#include "wire/verbs/verbs_address.h"

/// Sending, and the end. Receiving is in messages_receive.cc, connections in messages_connect.cc.
namespace fulmar::fabric::verbs {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using wire::VerbsPacket;
using wire::VerbsSignal;

/// How often a refused post is tried again.
constexpr std::int64_t refused_interval_ns = 1'000'000;
/// Every Nth send is signaled.
constexpr std::uint32_t unsignaled_inline = 16;
constexpr std::uint32_t unsignaled_copied = 4;
constexpr std::size_t most_inline = 256;

std::size_t bytes_of(std::span<const iovec> pieces) {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

}  // namespace

base::Result<std::unique_ptr<Messages>> Messages::open(
    const Config& config, std::unique_ptr<Adapter> adapter,
    std::unique_ptr<OobConnector> oob_connector) {
  std::unique_ptr<Messages> messages(
      new Messages(config, std::move(adapter), std::move(oob_connector)));
  if (const Error error = messages->prepare(); error.failed()) return error;
  return messages;
}

Messages::Messages(const Config& config, std::unique_ptr<Adapter> adapter,
                   std::unique_ptr<OobConnector> oob_connector)
    : config_(config),
      rings_(adapter->traits().places_in_order ? std::min(config.rings, most_rings) : 0),
      adapter_(std::move(adapter)),
      traits_(adapter_->traits()),
      room_(traits_.completion_depth - std::min<std::size_t>(64, traits_.completion_depth / 4)),
      oob_connector_(std::move(oob_connector)),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      peers_(config.processes->size()) {}

Messages::~Messages() = default;

Error Messages::prepare() {
  if (!epoll_.valid()) return failure(ErrorClass::other, "epoll_create1: %s", std::strerror(errno));
  if (traits_.max_reads == 0 || traits_.max_rdma_bytes < max_remote_bytes) {
    return failure(
        ErrorClass::other,
        "the adapter %s works at %u reads of memory at a time and moves at most %zu bytes "
        "by one order, the network verbs needs 1 and %zu; choose another one by "
        "FULMAR_VERBS_DEVICE, or leave verbs out of FULMAR_FABRIC",
        traits_.name.c_str(), unsigned{traits_.max_reads}, traits_.max_rdma_bytes,
        max_remote_bytes);
  }
  const std::size_t bytes = SendPool::memory_bytes(wire::verbs_max_packet_bytes);
  send_memory_ = base::Pages(bytes);
  if (send_memory_.bytes().empty()) {
    return failure(ErrorClass::no_mem, "no memory for %zu bytes of send buffers", bytes);
  }
  const auto opened = adapter_->open_memory(send_memory_.bytes(), Access::local);
  if (opened.failed()) return opened.error();
  send_key_ = opened.value().lkey;
  pool_ = std::make_unique<SendPool>(send_memory_.bytes(), wire::verbs_max_packet_bytes);
  if (const Error error = prepare_buffers(); error.failed()) return error;
  if (oob_connector_->address().size() > wire::max_verbs_connector_bytes) {
    return failure(ErrorClass::intern, "the address to meet at has %zu bytes",
                   oob_connector_->address().size());
  }
  return watch_all();
}

/// Posts as many receive buffers as the limit on locked memory allows.
Error Messages::prepare_buffers() {
  std::size_t count = traits_.receive_depth;
  const std::size_t fewest = std::min(fewest_buffers, count);
  while (true) {
    receive_memory_ = base::Pages(count * wire::verbs_max_packet_bytes);
    if (receive_memory_.bytes().empty()) {
      return failure(ErrorClass::no_mem, "no memory for %zu receive buffers", count);
    }
    const auto opened = adapter_->open_memory(receive_memory_.bytes(), Access::local);
    if (opened.ok()) {
      receive_key_ = opened.value().lkey;
      break;
    }
    if (count / 2 < fewest) return opened.error();
    count /= 2;
  }
  for (std::size_t i = 0; i < count; ++i) {
    buffers_.push_back(receive_memory_.bytes().subspan(i * wire::verbs_max_packet_bytes,
                                                       wire::verbs_max_packet_bytes));
    unposted_.push_back({buffers_.back(), receive_mark | i});
  }
  repost();
  if (unposted_.empty()) return {};
  return failure(ErrorClass::other, "the adapter %s takes %zu of %zu receive buffers",
                 traits_.name.c_str(), count - unposted_.size(), count);
}

std::vector<std::byte> Messages::address() const {
  return wire::encode_verbs_address({traits_.link, oob_connector_->address()});
}

Error Messages::lost_error(std::uint32_t rank, const std::string& cause) const {
  const std::string& place = peers_[rank]->place;
  return failure(ErrorClass::proc_aborted, "lost rank %u at %s, over verbs on %s: %s", rank,
                 place.empty() ? "an unknown port" : place.c_str(), traits_.name.c_str(),
                 cause.c_str());
}

Error Messages::failed_error(std::uint32_t rank, const std::string& cause) const {
  return lost_error(rank, cause +
                              "; run fulmar doctor on both hosts, or do without verbs "
                              "(FULMAR_FABRIC=shm,tcp)");
}

Peer& Messages::peer_at(std::uint32_t rank) {
  if (peers_[rank] == nullptr) peers_[rank] = std::make_unique<Peer>();
  return *peers_[rank];
}

/// The peer if packets can be sent to it now; else null, and `otherwise` is the answer.
Peer* Messages::ready_peer(std::uint32_t rank, wire::PacketKind kind, Post& otherwise) {
  otherwise = Post::done;
  if (leaving_) return nullptr;
  Peer& peer = peer_at(rank);
  Admission admission = peer.life.admit(kind, rules());
  if (admission == Admission::connect) {
    request_connection(rank, peer);
    admission = peer.life.admit(kind, rules());
  }
  if (admission == Admission::send) return &peer;
  otherwise = post_to_absent(rank, peer, admission);
  return nullptr;
}

Post Messages::post_to_absent(std::uint32_t rank, Peer& peer, Admission admission) {
  const bool in_vain =
      admission == Admission::unreachable && peer.life.exhaust(base::now_ns(), config_.patience_ns);
  if (in_vain || admission == Admission::never_returns) lose(rank, peer.life.absence_error(rank));
  return admission == Admission::drop || peer.life.is_lost() ? Post::done : Post::again;
}

Post Messages::post(std::uint32_t rank, const wire::Envelope& envelope,
                    std::span<const std::byte> body) {
  if (Peer* const peer = peers_[rank].get(); peer != nullptr && takes_in_ring(*peer, body.size())) {
    const PostResult taken = write_to_ring(rank, *peer, envelope, body);
    return taken == PostResult::later ? Post::again : Post::done;
  }
  Post otherwise = Post::done;
  Peer* const peer = ready_peer(rank, envelope.kind, otherwise);
  if (peer == nullptr) return otherwise;
  const PostResult taken =
      transmit(rank, *peer, wire::verbs_packet(envelope, 0), Payload{.prefix = body, .pieces = {}});
  return taken == PostResult::later ? Post::again : Post::done;
}

Post Messages::post_in_place(std::uint32_t rank, const wire::Envelope& envelope,
                             std::span<const std::byte> prefix, std::span<const iovec> pieces,
                             std::uint64_t token) {
  Post otherwise = Post::done;
  Peer* const peer = ready_peer(rank, envelope.kind, otherwise);
  if (peer == nullptr) {
    if (otherwise == Post::done) ended_.push_back({token, Sent::lost});
    return otherwise;
  }
  const PostResult taken = transmit(rank, *peer, wire::verbs_packet(envelope, prefix.size()),
                                    Payload{.prefix = prefix, .pieces = pieces});
  if (taken == PostResult::later) return Post::again;
  // The bytes were copied: the memory is free.
  ended_.push_back({token, taken == PostResult::yes ? Sent::done : Sent::lost});
  return Post::done;
}

bool Messages::has_room(const Peer& peer, const VerbsPacket& head) const noexcept {
  if (wire::is_verbs_signal(head.kind)) {
    return peer.under_way() < peer.depth && under_way_ < traits_.completion_depth;
  }
  if (!has_room_for_packet(peer)) return false;
  return head.prefix_bytes == 0 || peer.out.in_flight() < window_in_place;
}

/// Requests a completion before unsignaled work requests use up resources that others may wait for: room
/// in the queues, buffers. They take less than half of the room. (Signals are always signaled.)
bool Messages::wants_completion(const Peer& peer, const SendBuffer* buffer) const noexcept {
  if (under_way_ >= room_ / 2 || peer.under_way() >= peer.room / 2) return true;
  if (buffer == nullptr) return peer.unsignaled + 1 >= unsignaled_inline;
  return peer.unsignaled + 1 >= unsignaled_copied || pool_->runs_low(*buffer);
}

PostResult Messages::transmit(std::uint32_t rank, Peer& peer, VerbsPacket head,
                              const Payload& load) {
  if (!has_room(peer, head)) return PostResult::later;
  head.cookie = peer.cookie_out;
  head.sequence = peer.out.next();
  head.taken = peer.in.next();
  if (peer.outbound_ring != nullptr) head.heard = peer.outbound_ring->hear(peer.cookie_in);
  const std::size_t bytes = sizeof head + load.prefix.size() + bytes_of(load.pieces);
  const auto write = [&](std::byte* to) {
    std::memcpy(to, &head, sizeof head);
    to += sizeof head;
    base::copy_bytes(to, load.prefix.data(), load.prefix.size());
    to += load.prefix.size();
    for (const iovec& piece : load.pieces) {
      base::copy_bytes(to, piece.iov_base, piece.iov_len);
      to += piece.iov_len;
    }
  };
  SendWorkRequest work;
  if (bytes <= std::min(peer.inline_bytes, most_inline)) {
    std::array<std::byte, most_inline> message;
    write(message.data());
    work.message = std::span(message).first(bytes);
    work.is_inline = true;
    return post_work(rank, peer, head, work, nullptr);
  }
  SendBuffer* const buffer = pool_->take(bytes);
  if (buffer == nullptr) return PostResult::later;
  write(buffer->memory.data());
  work.message = buffer->memory.first(bytes);
  work.key = send_key_;
  return post_work(rank, peer, head, work, buffer);
}

/// Posts a packet to the adapter and updates the counts.
PostResult Messages::post_work(std::uint32_t rank, Peer& peer, const VerbsPacket& head,
                               SendWorkRequest work, SendBuffer* buffer) {
  work.id = next_id(rank, peer);
  work.is_signaled = wire::is_verbs_signal(head.kind) || wants_completion(peer, buffer);
  const PostResult taken = peer.queue->send(work);
  if (taken != PostResult::yes) return refused(rank, peer, taken, buffer);
  counters_.inline_sends += work.is_inline ? 1 : 0;
  note_packet(peer, head);
  note_posted(peer, work.is_signaled ? Signaled::yes : Signaled::no, buffer);
  return taken;
}

/// The adapter has not taken a packet.
PostResult Messages::refused(std::uint32_t rank, Peer& peer, PostResult taken, SendBuffer* buffer) {
  if (buffer != nullptr) pool_->give_back(*buffer);
  if (taken == PostResult::failed) lose(rank, failed_error(rank, peer.queue->last_error()));
  was_refused_ = was_refused_ || taken == PostResult::later;
  return taken;
}

/// The adapter has taken a work request, with a buffer or without.
void Messages::note_posted(Peer& peer, Signaled told, SendBuffer* buffer) noexcept {
  count_posted(peer);
  peer.unsignaled = told == Signaled::yes ? 0 : peer.unsignaled + 1;
  if (buffer == nullptr) return;
  buffer->number = peer.posted;
  buffer->next = nullptr;
  (peer.oldest == nullptr ? peer.oldest : peer.newest->next) = buffer;
  peer.newest = buffer;
}

void Messages::note_pending_control(std::uint32_t rank, Peer& peer) {
  if (std::exchange(peer.due.is_listed, true)) return;
  pending_control_.push_back(rank);
}

/// Sends the signals that are due.
void Messages::send_pending_control() {
  for (std::size_t i = 0; i < pending_control_.size();) {
    Peer& peer = *peers_[pending_control_[i]];
    if (!send_pending_control(pending_control_[i], peer)) {
      ++i;
      continue;
    }
    peer.due.is_listed = false;
    pending_control_[i] = pending_control_.back();
    pending_control_.pop_back();
  }
}

/// False: not all could be sent.
bool Messages::send_pending_control(std::uint32_t rank, Peer& peer) {
  if (peer.life.state() == PeerLife::State::absent || peer.life.is_pending()) return false;
  const auto signal = [&](VerbsSignal kind, std::span<const std::byte> body = {}) {
    return transmit(rank, peer, wire::verbs_packet(kind), Payload{.prefix = body, .pieces = {}}) ==
           PostResult::yes;
  };
  while (peer.life.is_connected()) {
    const bool is_quiet = peer.pending_rdma.empty();
    if (peer.fin.fin_due() && is_quiet) {
      // After the FIN packets have to come as messages, which wake a process that sleeps.
      const bool is_open =
          peer.inbound_ring != nullptr && peer.inbound_ring->state == InboundRing::State::open;
      if (is_open && !turn_gate(rank, peer, Gate::closed)) break;
      if (!signal(fin_signal_)) break;
      peer.due.lend = peer.due.gate = false;
      peer.fin.note_fin_sent();
    } else if (peer.fin.ack_due() && is_quiet) {
      if (!signal(VerbsSignal::seen)) break;
      peer.fin.note_ack_sent();
    } else if (peer.due.lend) {
      const wire::VerbsPlace place = peer.inbound_ring->ring->place();
      if (!signal(VerbsSignal::lend, std::as_bytes(std::span(&place, 1)))) break;
      peer.due.lend = false;
    } else if (peer.due.gate) {
      const wire::VerbsPlace place = gates_.place_of(peer.outbound_ring->gate);
      if (!signal(VerbsSignal::gate, std::as_bytes(std::span(&place, 1)))) break;
      peer.due.gate = false;
    } else if (peer.due.heard || (peer.due.credit && peer.in.unacknowledged() >= ack_interval)) {
      if (!signal(VerbsSignal::credit)) break;
      ++counters_.credits;
    } else {
      peer.due.credit = false;
      return !peer.fin.owes_anything();
    }
  }
  return !peer.life.is_connected();
}

void Messages::lose(std::uint32_t rank, const Error& why) {
  Peer& peer = peer_at(rank);
  if (!peer.life.lose(why)) return;
  count_pending(peer);
  lost_.push_back(rank);
}

void Messages::drop(std::uint32_t rank) {
  lose(rank, base::failure(ErrorClass::proc_aborted, "rank %u was given up", rank));
  drop_connection(*peers_[rank]);
}

/// Closes the connections of lost peers and reports them.
void Messages::reap() {
  for (std::size_t i = 0; i < lost_.size(); ++i) {
    Peer& peer = *peers_[lost_[i]];
    drop_connection(peer);
    if (config_.lost != nullptr) config_.lost(config_.owner, lost_[i], peer.life.why());
  }
  lost_.clear();
}

void Messages::drop_connection(Peer& peer) {
  if (peer.queue != nullptr) {
    if (last_queue_ == peer.queue->number()) last_queue_ = 0;
    ranks_.erase(peer.queue->number());
    peer.queue.reset();
  }
  // Their completions may still be unread: they keep their room until the queue was empty.
  const std::size_t left = peer.under_way();
  complete(peer, peer.posted);
  forget_rings(peer);
  under_way_ += left;
  orphaned_ += left;
  abandon_rdma(peer);
  peer.exchange.reset();
  close_socket(peer);
}

/// A child of fork() may hold the socket open, so epoll would go on reporting it.
void Messages::close_socket(Peer& peer) noexcept {
  if (peer.socket.valid()) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, peer.socket.get(), nullptr);
  peer.socket.reset();
}

void Messages::leave(Leaving how) {
  if (std::exchange(leaving_, true)) return;
  fin_signal_ = how == Leaving::for_good ? VerbsSignal::farewell : VerbsSignal::bye;
  leave_timeout_.start(signed_now_ns(), max_leave_wait_ns);
  close_gates();
  disconnect_from_self();
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    if (peers_[rank] == nullptr || !peers_[rank]->life.is_connected()) continue;
    peers_[rank]->fin.leave();
    note_pending_control(rank, *peers_[rank]);
  }
  send_pending_control();
}

bool Messages::quiesced() const noexcept {
  return leaving_ && ended_.empty() &&
         std::all_of(peers_.begin(), peers_.end(), [&](const auto& peer) {
           if (peer == nullptr) return true;
           if (peer->life.state() == PeerLife::State::connecting) {
             const bool may_speak = config_.left != nullptr && peer->exchange->is_ready();
             return !may_speak && leave_timeout_.expired();
           }
           if (!peer->life.is_connected()) return true;
           return peer->fin.complete() && !peer->due.is_listed && peer->under_way() == 0;
         });
}

void Messages::end() noexcept {
  if (over_) return;
  take_buffers();
  over_ = true;
  for (const auto& peer : peers_) {
    if (peer == nullptr) continue;
    drop_connection(*peer);
    peer->life.end();
  }
  for (const int unwatched : {oob_connector_->descriptor(), adapter_->descriptor(),
                              adapter_->completion_descriptor(), adapter_->event_descriptor()}) {
    if (unwatched >= 0) ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, unwatched, nullptr);
  }
}

std::vector<std::uint32_t> Messages::known_peers() const {
  std::vector<std::uint32_t> known;
  for (std::uint32_t rank = 0; rank < peers_.size(); ++rank) {
    if (peers_[rank] != nullptr && rank != config_.processes->self()) known.push_back(rank);
  }
  return known;
}

/// With a new descriptor, as nothing that was in the old one is of now.
Error Messages::resume() {
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_.valid()) {
    return failure(ErrorClass::other,
                   "epoll_create1: %s; raise the limit of open files (ulimit -n)",
                   std::strerror(errno));
  }
  for (std::unique_ptr<Peer>& peer : peers_) peer.reset();
  for (auto* const ranks : {&pending_control_, &lost_, &ending_, &gated_}) ranks->clear();
  pending_connections_ = 0;
  leaving_ = over_ = false;
  leave_timeout_.reset();
  step_due_ = true;
  oob_connector_->forget_all();
  const Error error = watch_all();
  set_completion_wakeup(ends_);
  return error;
}

bool Messages::arm() {
  deadline_ns_ = -1;
  if (over_) return true;
  armed_ = step_due_ = true;
  ++sleeps_;
  polls_cq_rarely_ = false;
  close_gates();
  poll_gates();
  if (!pending_control_.empty()) send_pending_control();
  if (!unposted_.empty()) repost();
  adapter_->arm();
  if (ends_ == CompletionWakeup::shared) adapter_->arm_completions();
  if (read_once_more() || !ended_.empty() || !lost_.empty()) return false;
  if (!ending_.empty() || rings_have_news()) return false;
  if (was_refused_ || !unposted_.empty()) wake_by(signed_now_ns() + refused_interval_ns);
  if (pending_connections_ != 0)
    deadline_ns_ = earlier_wake(deadline_ns_, leave_timeout_.wake_ns());
  limit_sleep();
  return true;
}

/// The adapter has been armed: completions from before do not wake the process. True if there are any.
bool Messages::read_once_more() {
  if (next_completion_ == completion_count_) read();
  return next_completion_ != completion_count_;
}

bool Messages::arm_completions() {
  if (over_) return true;
  adapter_->arm_completions();
  return !read_once_more() && ended_.empty();
}

std::int64_t Messages::next_deadline_ns() const noexcept {
  return earlier_wake(deadline_ns_, over_ ? -1 : oob_connector_->next_deadline_ns());
}

}  // namespace fulmar::fabric::verbs
