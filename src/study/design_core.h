// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "fabric/provider.h"
#include "study/design_connection.h"
#include "study/transit.h"

/// The designs of the study as a channel for the device, but for what differs between memory that
/// is mapped (design_channel.h) and memory that adapters write to (remote_channel.h): the *ground*
/// on which pipes lie.
///
/// Short packets are units of their own. Long ones come as post_in_place of fabric::Network says:
/// the channel gets their source and their destination, and each design moves them in its way.
namespace fulmar::study {

struct DesignLink {
  std::uint32_t peer = 0;
};

enum class Direction : std::uint8_t { in, out };

/// * `Lane`, `TransitOf`: how this ground writes to pipes, and how it moves bytes of programs.
/// * `open(peer)`: the lane to a peer, and the pipe here that the peer writes to. Once for each;
///   then `opened(peer)`, when the pair is there.
/// * `transit(peer, direction)`: makes one.
/// * `for_callers(f)`: f(peer) for peers that have begun to write here; f may open.
/// * `written(peer)`: something was written to the peer, which may sleep.
/// * `lost(peer)`: the peer reads and writes no more; it stays so.
/// * `refuse(peer)`: the peer has written nonsense; nothing is read from it any more.
/// * `plan(plan)`: what is done. `ring_bytes()`: of each pipe.
template <class G>
concept Ground = requires(G& ground, const G& view, std::uint32_t peer, const DesignPlan& plan) {
  requires Lane<typename G::Lane>;
  requires Transit<typename G::TransitOf>;
  { ground.open(peer).lane } -> std::convertible_to<typename G::Lane>;
  { ground.transit(peer, Direction::in) } -> std::same_as<typename G::TransitOf>;
  ground.opened(peer);
  ground.plan(plan);
  ground.for_callers([](std::uint32_t) {});
  ground.written(peer);
  { ground.lost(peer) } -> std::same_as<bool>;
  ground.refuse(peer);
  { view.ring_bytes() } -> std::same_as<std::uint64_t>;
};

/// Thread rule: the lock of the engine.
template <Ground G>
class DesignCore {
 public:
  using Link = DesignLink;
  static constexpr std::size_t max_body_bytes = least_chunk_bytes;
  static constexpr std::size_t max_prefix_bytes = most_prefix_bytes;
  static constexpr std::size_t max_pieces = most_pipe_pieces;
  static constexpr std::size_t max_in_place_bytes = std::size_t{1} << 30;

  /// What to do; before the first packet, and the same everywhere.
  void choose(const DesignPlan& plan) noexcept {
    plan_ = plan;
    plan_.chunk_bytes = usable_chunk(plan.chunk_bytes, ground_.ring_bytes());
    ground_.plan(plan_);
  }
  [[nodiscard]] const DesignPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] const DesignCounters& design_counters() const noexcept { return counters_; }

  [[nodiscard]] std::unique_ptr<Link> connect(std::uint32_t peer) {
    pair_with(peer);
    return std::make_unique<Link>(Link{peer});
  }

  template <class Fill>
  [[nodiscard]] fabric::Post put(Link& link, const wire::Envelope& envelope, Fill&& fill) noexcept {
    Pair& to = pair_with(link.peer);
    if (ground_.lost(link.peer)) [[unlikely]]
      return fabric::Post::done;
    if (put_unit(to, wire::PipePart::packet, envelope, envelope.length, fill) ==
        fabric::Post::again) {
      return fabric::Post::again;
    }
    ++to.connection.packets_sent;
    if (envelope.length != 0) ++counters_.copies;
    counters_.copied_bytes += envelope.length;
    return fabric::Post::done;
  }
  [[nodiscard]] std::size_t body_limit(Link& link, std::size_t /*wanted*/) noexcept {
    return pair_with(link.peer).connection.body_limit();
  }
  /// As those of fabric::Network.
  [[nodiscard]] fabric::Post post(std::uint32_t peer, const wire::Envelope& envelope,
                                  std::span<const std::byte> body) noexcept {
    Link link{peer};
    return put(link, envelope, [&](std::span<std::byte> to, std::uint64_t at) {
      std::memcpy(to.data(), body.data() + at, to.size());
    });
  }
  [[nodiscard]] fabric::Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                           std::span<const std::byte> prefix,
                                           std::span<const iovec> pieces, std::uint64_t token);

 protected:
  using Connection = DesignConnection<typename G::Lane>;
  /// Everything about one peer.
  struct Pair {
    Pair(G& ground, std::uint32_t peer, const typename G::Opened& opened, const DesignPlan& plan)
        : connection(peer, opened.lane, opened.own_pipe, ground.ring_bytes(), plan),
          reading(ground.transit(peer, Direction::in)),
          writing(ground.transit(peer, Direction::out)) {}
    Connection connection;
    typename G::TransitOf reading;  ///< into memory here
    typename G::TransitOf writing;
  };

  template <class... Arguments>
  explicit DesignCore(std::uint32_t size, Arguments&&... arguments)
      : ground_(std::forward<Arguments>(arguments)...), pairs_(size) {}

  [[nodiscard]] G& ground() noexcept { return ground_; }
  [[nodiscard]] const G& ground() const noexcept { return ground_; }
  Pair& pair_with(std::uint32_t peer) {
    if (pairs_[peer] == nullptr) [[unlikely]] {
      pairs_[peer] = std::make_unique<Pair>(ground_, peer, ground_.open(peer), plan_);
      polled_.push_back(pairs_[peer].get());
      ground_.opened(peer);
    }
    return *pairs_[peer];
  }
  /// The pair with this peer, if there is one.
  [[nodiscard]] Pair* known(std::uint32_t peer) noexcept { return pairs_[peer].get(); }
  [[nodiscard]] std::span<Pair* const> pairs() const noexcept { return polled_; }

  /// Whether one of the pipes has a unit that was not taken.
  [[nodiscard]] bool has_units() noexcept {
    return std::any_of(polled_.begin(), polled_.end(), [](Pair* pair) {
      Unit unit;
      return !pair->connection.broken && pair->connection.look(unit) != Found::nothing;
    });
  }

  /// Polls all pipes once.
  template <fabric::Sink S>
  unsigned look(S& sink) noexcept {
    unsigned moved = 0;
    ground_.for_callers([this](std::uint32_t peer) { pair_with(peer); });
    // A packet may open further pairs.
    for (std::size_t i = 0; i < polled_.size(); ++i) {
      Pair& from = *polled_[i];
      moved += drain(from, sink);
      if (from.connection.should_tell()) tell(from);
      if (from.connection.is_busy()) moved += advance(from, sink);
      if (ground_.lost(from.connection.peer)) [[unlikely]]
        bury(from);
    }
    if (!ended_.empty()) moved += tell_ended(sink);
    return moved;
  }

 private:
  static constexpr unsigned burst = 32;
  struct Ended {
    std::uint64_t token;
    fabric::Sent how;
  };

  template <class Fill>
  fabric::Post put_unit(Pair& to, wire::PipePart part, const wire::Envelope& envelope,
                        std::uint32_t bytes, Fill&& fill) noexcept {
    const fabric::Post post = to.connection.put(part, envelope, bytes, fill, counters_);
    if (post == fabric::Post::done) ground_.written(to.connection.peer);
    return post;
  }
  void tell(Pair& from) noexcept {
    if (from.connection.tell(counters_)) ground_.written(from.connection.peer);
  }

  template <class S>
  unsigned drain(Pair& from, S& sink) {
    Connection& connection = from.connection;
    unsigned taken = 0;
    while (taken < burst && !connection.broken) {
      Unit unit;
      const Found found = connection.look(unit);
      if (found == Found::nothing) break;
      if (found == Found::nonsense || !handle(from, unit, sink)) [[unlikely]] {
        connection.broken = true;
        ground_.refuse(connection.peer);
        break;
      }
      connection.take();
      ++taken;
      if (connection.should_tell()) tell(from);
    }
    return taken;
  }
  template <class S>
  [[nodiscard]] bool handle(Pair& from, const Unit& unit, S& sink) {
    Connection& connection = from.connection;
    if (unit.part == wire::PipePart::packet) [[likely]] {
      ++counters_.packets_received;
      if (!unit.body.empty()) ++counters_.copies;
      counters_.copied_bytes += unit.body.size();
      sink.packet(connection.peer, unit.envelope, unit.body);
      return true;
    }
    if (unit.part == wire::PipePart::begin || unit.part == wire::PipePart::more) {
      take_back_offer(connection.pull, from.reading);
      if (unit.part == wire::PipePart::begin) ++counters_.packets_received;
      return take_chunk(connection.receiving, connection.peer, unit, sink, counters_);
    }
    return handle_long(from, unit, sink);
  }
  template <class S>
  [[nodiscard]] bool handle_long(Pair& from, const Unit& unit, S& sink);
  template <class S>
  unsigned advance(Pair& with, S& sink);
  unsigned advance_sending(Pair& to);
  unsigned send_copies(Pair& to);
  void finish_sending(Pair& to, fabric::Sent how);
  void bury(Pair& with);
  template <class S>
  unsigned tell_ended(S& sink);

  G ground_;
  DesignPlan plan_;
  std::vector<std::unique_ptr<Pair>> pairs_;  ///< by peer
  std::vector<Pair*> polled_;
  std::vector<Ended> ended_;  ///< long packets that the sink is to hear of
  std::uint64_t next_id_ = 1;
  DesignCounters counters_;
};

}  // namespace fulmar::study

#include "study/design_core.inl"
