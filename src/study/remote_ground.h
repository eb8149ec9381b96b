// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/error.h"
#include "fabric/network.h"
#include "study/design.h"
#include "study/design_core.h"
#include "study/remote_pipe.h"
#include "study/transit.h"
#include "wire/packets.h"
#include "wire/study/pipe.h"

/// The ground of the designs where adapters write to peers' memory.
///
/// Two processes that communicate send each other the address of a pipe (wire::PipeCard), as an ordinary
/// packet of the provider, which also makes the connection; nothing else is sent so. A process that gets
/// the first card of a peer opens a pipe for it and answers with its own. Memory is registered only for
/// peers with traffic, and so much for each that a job of hundreds of ranks fits into
/// what hosts allow to be locked.
namespace fulmar::study {

template <fabric::WritesUnsignaled P>
class RemotePipeMemory {
 public:
  using Lane = PutLane<P>;
  using TransitOf = RemoteTransit<P>;
  struct Opened {
    Lane lane;
    const std::byte* own_pipe;
  };
  static constexpr std::uint64_t pipe_ring_bytes = 256U << 10;

  explicit RemotePipeMemory(P& provider)
      : provider_(provider),
        own_lender_(provider),
        lender_(&own_lender_),
        peers_(provider.size()) {}
  RemotePipeMemory(const RemotePipeMemory&) = delete;
  RemotePipeMemory& operator=(const RemotePipeMemory&) = delete;

  /// Opens memory of the program from now on; outlives this. Before the first packet.
  void use(Lender& lender) noexcept { lender_ = &lender; }

  [[nodiscard]] std::uint64_t ring_bytes() const noexcept { return pipe_ring_bytes; }
  void plan(const DesignPlan& plan) noexcept { plan_ = plan; }

  /// A pipe that cannot be opened makes the peer lost: its memory exists, but is not announced.
  [[nodiscard]] Opened open(std::uint32_t peer) {
    peers_[peer] = std::make_unique<Peer>(provider_, peer);
    const base::Error error = peers_[peer]->pipe.open(pipe_ring_bytes);
    if (error.failed()) {
      constexpr std::size_t bytes = sizeof(wire::PipeControl) + pipe_ring_bytes;
      give_up(peer, base::failure(error.error_class(),
                                  "a channel design needs two pieces of %zu bytes for each peer: "
                                  "%s; or leave FULMAR_CHANNEL and FULMAR_STACK out",
                                  bytes, error.text().c_str()));
    }
    return {Lane(peers_[peer]->pipe), peers_[peer]->pipe.own()};
  }
  void opened(std::uint32_t peer) {
    uncarded_.push_back(peer);
    send_cards();
  }
  [[nodiscard]] TransitOf transit(std::uint32_t peer, Direction direction) noexcept {
    const std::uint32_t side = direction == Direction::in ? 0 : 1;
    return TransitOf(provider_, lender_, fabric::channel_token(peer << 1 | side));
  }
  template <class F>
  void for_callers(F&& f) {
    for (const Caller& caller : std::exchange(callers_, {})) {
      f(caller.peer);
      meet(caller);
    }
    send_cards();
  }
  void written(std::uint32_t /*peer*/) noexcept {}
  [[nodiscard]] bool lost(std::uint32_t peer) const noexcept { return !provider_.alive(peer); }
  void refuse(std::uint32_t peer) {
    give_up(peer, base::failure(base::ErrorClass::other,
                                "what it wrote into the pipe of the "
                                "channel design makes no sense"));
  }

  /// A packet of the provider: only cards are sent so.
  void packet(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> body) {
    Caller caller{peer, {}};
    const bool is_card =
        envelope.kind == wire::PacketKind::pipe_card && body.size() == sizeof caller.card;
    if (!is_card) return refuse(peer);
    std::memcpy(&caller.card, body.data(), sizeof caller.card);
    callers_.push_back(caller);
  }
  /// Gives what the provider had no room for. True if something moved.
  bool flush(std::uint32_t peer) { return peers_[peer]->pipe.flush(); }
  /// Nothing waits here for room at the provider.
  [[nodiscard]] bool is_flushed() const noexcept {
    return uncarded_.empty() && std::all_of(peers_.begin(), peers_.end(), [](const auto& peer) {
             return peer == nullptr || peer->pipe.is_flushed();
           });
  }
  /// Whether peers may write to memory here without a word.
  [[nodiscard]] bool has_pipes() const noexcept { return has_pipes_; }
  [[nodiscard]] unsigned open_pieces() const noexcept {
    unsigned pieces = 0;
    for (const auto& peer : peers_) pieces += peer == nullptr ? 0 : peer->pipe.open_pieces();
    return pieces;
  }

 private:
  struct Peer {
    Peer(P& provider, std::uint32_t number) noexcept : pipe(provider, number) {}
    RemotePipe<P> pipe;
  };
  struct Caller {
    std::uint32_t peer;
    wire::PipeInfo card;
  };

  void give_up(std::uint32_t peer, const base::Error& why) {
    if (provider_.alive(peer)) provider_.give_up(peer, why);
  }
  [[nodiscard]] wire::PipeInfo card_for(std::uint32_t peer) const noexcept {
    const fabric::RemoteAddress place = peers_[peer]->pipe.place();
    return {wire::PipeInfo::genuine,
            static_cast<std::uint8_t>(plan_.design),
            static_cast<std::uint8_t>(plan_.mover),
            {},
            place.address,
            place.key,
            static_cast<std::uint32_t>(pipe_ring_bytes),
            plan_.chunk_bytes};
  }
  void send_cards() {
    std::erase_if(uncarded_, [&](std::uint32_t peer) {
      if (lost(peer)) return true;
      const wire::PipeInfo card = card_for(peer);
      const wire::Envelope envelope{wire::PacketKind::pipe_card, 0, 0, 0, sizeof card};
      return provider_.post(peer, envelope, wire::bytes_of(card)) == fabric::Post::done;
    });
  }
  /// The card is the peer's word: it has to fit, and comes once.
  void meet(const Caller& caller) {
    const wire::PipeInfo& card = caller.card;
    Peer& peer = *peers_[caller.peer];
    if (lost(caller.peer)) return;
    const bool makes_sense =
        card.magic == wire::PipeInfo::genuine && !peer.pipe.is_met() && card.address != 0 &&
        card.ring_bytes == pipe_ring_bytes && card.address % 64 == 0 &&
        wire::is_range(card.address, sizeof(wire::PipeControl) + card.ring_bytes);
    const bool same = card.chunk_bytes == plan_.chunk_bytes &&
                      card.design == static_cast<std::uint8_t>(plan_.design) &&
                      card.mover == static_cast<std::uint8_t>(plan_.mover);
    if (!makes_sense) {
      return give_up(caller.peer, base::failure(base::ErrorClass::other,
                                                "its card of a pipe makes no sense; is it the same "
                                                "version of Fulmar?"));
    }
    if (!same) {
      return give_up(caller.peer,
                     base::failure(base::ErrorClass::other,
                                   "it uses another channel design; set FULMAR_CHANNEL, "
                                   "FULMAR_STACK, FULMAR_CHUNK_BYTES and FULMAR_RDMA to the same "
                                   "in all processes"));
    }
    peer.pipe.meet({card.address, card.key});
    has_pipes_ = true;
  }

  P& provider_;
  PlainLender<P> own_lender_;
  Lender* lender_;
  DesignPlan plan_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::vector<std::uint32_t> uncarded_;  ///< peers that wait for a card
  std::vector<Caller> callers_;          ///< cards that have come
  bool has_pipes_ = false;
};

}  // namespace fulmar::study
