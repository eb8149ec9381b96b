// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <utility>

#include "fabric/verbs/messages.h"

/// What comes.
namespace fulmar::fabric::verbs {
namespace {

using wire::VerbsPacket;
using wire::VerbsSignal;

/// How often one look asks the adapter, so that other networks get their turn.
constexpr unsigned reads_per_look = 4;
/// Without a reason to, sockets and events are looked at with every so manieth look.
constexpr std::uint32_t look_interval = 64;
/// Buffers are posted together, or when there is nothing else to do: whoever waits for what has
/// come should not wait for this, too.
constexpr std::size_t posted_together = 16;

}  // namespace

void Messages::begin() {
  was_refused_ = moved_ = false;
  reads_left_ = reads_per_look;
  if (over_) return;
  if (meetings_ != 0 || armed_ || ++looks_ % look_interval == 0) [[unlikely]]
    look_around();
  if (!owed_.empty()) pay();
}

bool Messages::next(Arrival& arrival) {
  while (true) {
    if (spent_) {
      const std::size_t buffer = *std::exchange(spent_, std::nullopt);
      unposted_.push_back({buffers_[buffer], receive_mark | buffer});
      if (many_unposted()) repost();
    }
    if (next_completion_ == completion_count_) {
      if (reads_left_ == 0 || over_) return false;
      --reads_left_;
      read();
      if (completion_count_ < completions_.size()) reads_left_ = 0;
      if (completion_count_ == 0) return false;
      moved_ = true;
    }
    if (take(completions_[next_completion_++], arrival)) return true;
  }
}

bool Messages::next_ended(EndedSend& ended) {
  if (ended_.empty()) return false;
  ended = ended_.front();
  ended_.pop_front();
  return true;
}

void Messages::finish() {
  if (!unposted_.empty() && (!moved_ || many_unposted())) repost();
  if (!owed_.empty()) pay();
  if (!ending_.empty() && drained_ && next_completion_ == completion_count_) judge_ended();
  moved_ = moved_ || !lost_.empty();
  if (!lost_.empty()) [[unlikely]]
    bury();
}

void Messages::read() {
  next_completion_ = 0;
  completion_count_ = adapter_->read(completions_);
  drained_ = completion_count_ == 0;
  if (drained_ && ghosts_ != 0) [[unlikely]]
    under_way_ -= std::exchange(ghosts_, 0);
}

bool Messages::many_unposted() const noexcept {
  return unposted_.size() >= std::min(posted_together, buffers_.size() / 4);
}

/// Buffers that the adapter does not take now are tried again with the next look.
void Messages::repost() {
  const std::size_t taken = adapter_->receive(unposted_, receive_key_);
  unposted_.erase(unposted_.begin(), unposted_.begin() + static_cast<std::ptrdiff_t>(taken));
}

std::optional<std::uint32_t> Messages::rank_of(std::uint32_t queue) {
  if (queue == last_queue_ && queue != 0) return last_rank_;
  const auto found = ranks_.find(queue);
  if (found == ranks_.end()) return std::nullopt;
  last_queue_ = queue;
  last_rank_ = found->second;
  return found->second;
}

bool Messages::take(const Completion& completion, Arrival& arrival) {
  if ((completion.id & receive_mark) == 0) {
    end_order(completion);
    return false;
  }
  const std::size_t buffer = completion.id & ~receive_mark;
  spent_ = buffer;
  if (completion.kind == Completion::Kind::came) {
    return accept(completion, buffers_[buffer].first(completion.bytes), arrival);
  }
  if (completion.kind == Completion::Kind::told) return accept_word(completion, arrival);
  const auto rank = rank_of(completion.queue);
  if (rank && !peers_[*rank]->has_left) {
    lose(*rank, failed_error(*rank, adapter_->text_of(completion.status)));
  }
  return false;
}

void Messages::end_order(const Completion& completion) {
  const auto rank = rank_of(completion.queue);
  if (!rank || *rank != static_cast<std::uint32_t>(completion.id >> 32)) return;
  Peer& peer = *peers_[*rank];
  const auto number = static_cast<std::uint32_t>(completion.id);
  ++counters_.completions;
  complete(peer, number);
  if (completion.kind == Completion::Kind::sent) return finish_orders(peer, number);
  // One that has left may have gone before it acknowledged the last word.
  if (peer.has_left && peer.orders.empty()) return;
  lose(*rank, failed_error(*rank, adapter_->text_of(completion.status)));
}

/// The adapter is done with the orders up to this number. Fetches and puts end elsewhere.
void Messages::complete(Peer& peer, std::uint32_t number) {
  const std::uint32_t done = number - peer.completed;
  if (static_cast<std::int32_t>(done) <= 0) return;
  peer.completed = number;
  under_way_ -= done;
  while (peer.oldest != nullptr && static_cast<std::int32_t>(number - peer.oldest->number) >= 0) {
    SendBuffer* const buffer = std::exchange(peer.oldest, peer.oldest->next);
    pool_->give_back(*buffer);
  }
}

/// Why a packet is none of the peer's; null if it is. Takes note of what it says was taken.
const char* Messages::fault_in(Peer& peer, const VerbsPacket& packet,
                               std::size_t body_bytes) const noexcept {
  if (packet.cookie != peer.cookie_in) return "a wrong cookie: somebody else has sent it";
  if (packet.sequence != peer.next_in) return "a wrong number: somebody else has sent one";
  if (const char* const fault = wire::fault_of(packet, body_bytes); fault != nullptr) return fault;
  if (peer.next_out - packet.taken > peer.next_out - peer.taken_out) {
    return "it has taken what was not sent";
  }
  const bool may_follow = packet.kind == static_cast<std::uint8_t>(VerbsSignal::seen) ||
                          packet.kind == static_cast<std::uint8_t>(VerbsSignal::credit);
  if (peer.has_left && !may_follow) return "a packet behind its last";
  peer.taken_out = packet.taken;
  return nullptr;
}

bool Messages::accept(const Completion& completion, std::span<const std::byte> bytes,
                      Arrival& arrival) {
  const auto rank = rank_of(completion.queue);
  if (!rank || peers_[*rank]->state == Peer::State::lost) {
    ++counters_.strays;
    return false;
  }
  Peer& peer = *peers_[*rank];
  const auto packet = wire::decode_verbs_packet(bytes);
  const char* const fault =
      packet ? fault_in(peer, *packet, bytes.size() - sizeof *packet) : "fewer bytes than a header";
  if (fault != nullptr) [[unlikely]] {
    lose(*rank, lost_error(*rank, std::string("what came is no packet of it (") + fault + ")"));
    return false;
  }
  count_taken(*rank, peer);
  if (wire::is_verbs_signal(packet->kind)) {
    on_signal(*rank, peer, static_cast<VerbsSignal>(packet->kind));
    return false;
  }
  const auto kind = packet->prefix_bytes == 0 ? Arrival::Kind::packet : Arrival::Kind::in_place;
  arrival = {*rank, wire::envelope_of(*packet), kind,
             0,     packet->prefix_bytes,       bytes.subspan(sizeof *packet)};
  return true;
}

/// A put that tells of itself has used up a buffer, as a packet does.
bool Messages::accept_word(const Completion& completion, Arrival& arrival) {
  const auto rank = rank_of(completion.queue);
  if (!rank || peers_[*rank]->state == Peer::State::lost) {
    ++counters_.strays;
    return false;
  }
  Peer& peer = *peers_[*rank];
  const auto word = static_cast<std::uint16_t>(completion.word);
  const bool genuine = wire::verbs_word(peer.cookie_in, peer.next_in, word) == completion.word;
  if (!genuine || peer.has_left) [[unlikely]] {
    lose(*rank, lost_error(*rank, genuine ? "what came is no packet of it (a put behind its last)"
                                          : "what came is no packet of it (a wrong proof with a "
                                            "put: somebody else has sent it)"));
    return false;
  }
  count_taken(*rank, peer);
  arrival = {*rank, {}, Arrival::Kind::word, word, 0, {}};
  return true;
}

/// A buffer was used up, which is told when a quarter of the window was not.
void Messages::count_taken(std::uint32_t rank, Peer& peer) {
  ++peer.next_in;
  if (peer.next_in - peer.told_in < silent_packets) return;
  peer.owes_credit = true;
  owe(rank, peer);
}

void Messages::on_signal(std::uint32_t rank, Peer& peer, VerbsSignal signal) {
  switch (signal) {
    case VerbsSignal::bye:
      peer.has_left = true;
      peer.owes_seen = true;
      return owe(rank, peer);
    case VerbsSignal::seen:
      peer.bye_seen = peer.bye_sent;
      return;
    case VerbsSignal::credit:
      return;
  }
}

}  // namespace fulmar::fabric::verbs
