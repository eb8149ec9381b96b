// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "channel/design_connection.h"
#include "fabric/provider.h"
#include "wire/shm_area.h"

/// The designs of the study as a channel for the device, in place of MappedChannel.
///
/// Short packets are units of their own. Long ones come as fabric::SendsInPlace says: the channel
/// is told where their bytes lie and where they belong, and each design moves them in its way. A
/// process that begins to send to another sets its bit in the other's doorbell, once; from then on
/// the other looks at its pipe. Sleeping and waking are MappedChannel's, word for word.
namespace fulmar::channel {

struct DesignLink {
  std::uint32_t peer = 0;
};

namespace detail {
template <class P>
struct LaneOf {
  using type = MappedLane;
  static type make(P& provider, std::uint32_t peer, std::uint64_t offset) {
    return MappedLane(provider.area(peer) + offset);
  }
};
/// Providers whose peers' memory is not mapped bring a lane of their own.
template <class P>
  requires requires { typename P::PipeLane; }
struct LaneOf<P> {
  using type = typename P::PipeLane;
  static type make(P& provider, std::uint32_t peer, std::uint64_t offset) {
    return provider.pipe_lane(peer, offset);
  }
};
}  // namespace detail

/// Thread rule: the lock of the engine. `P` has, beyond fabric::MapsPeers, `reach`, `read` and
/// `write` (fabric::ReachesMemory) for the zero-copy design.
template <class P>
class DesignChannel {
 public:
  using Link = DesignLink;
  static constexpr const char* name = P::name;
  static constexpr std::size_t max_body_bytes = least_chunk_bytes;
  static constexpr std::size_t max_prefix_bytes = most_prefix_bytes;
  static constexpr std::size_t max_pieces = most_pipe_pieces;
  static constexpr std::size_t max_in_place_bytes = std::size_t{1} << 30;

  explicit DesignChannel(P& provider)
      : provider_(provider),
        layout_(layout_of(provider.size(), provider.area_bytes())),
        control_(control_of(provider.self())),
        connections_(provider.size()) {}

  /// Where the pipes lie in areas of that size; `pipe_bytes` is 0 if there is no room for them.
  static constexpr PipeLayout layout_of(std::uint32_t ranks, std::uint64_t area_bytes) noexcept {
    return PipeLayout::fit(ranks, wire::AreaLayout::fit(ranks, area_bytes).rings, area_bytes);
  }

  /// What to do; before the first packet, and the same everywhere.
  void choose(const DesignPlan& plan) noexcept {
    plan_ = plan;
    plan_.chunk_bytes = usable_chunk(plan.chunk_bytes, layout_.ring_bytes);
  }
  [[nodiscard]] const DesignPlan& plan() const noexcept { return plan_; }
  [[nodiscard]] const DesignCounters& design_counters() const noexcept { return counters_; }

  [[nodiscard]] std::unique_ptr<Link> connect(std::uint32_t peer) {
    connection(peer);
    return std::make_unique<Link>(Link{peer});
  }

  template <class Fill>
  [[nodiscard]] fabric::Post put(Link& link, const wire::Envelope& envelope, Fill&& fill) noexcept {
    Connection& to = connection(link.peer);
    if (put_unit(to, wire::PipePart::packet, envelope, envelope.length, fill) ==
        fabric::Post::again) {
      return fabric::Post::again;
    }
    ++to.packets_sent;
    if (envelope.length != 0) ++counters_.copies;
    counters_.copied_bytes += envelope.length;
    return fabric::Post::done;
  }
  [[nodiscard]] std::size_t body_limit(Link& link, std::size_t /*wanted*/) noexcept {
    return connection(link.peer).body_limit();
  }

  template <fabric::Sink S>
  unsigned get(S& sink) noexcept {
    unsigned moved = 0;
    for (std::uint32_t word = 0; word <= (provider_.size() - 1) / 4096; ++word) {
      if (control_->doorbell_summary[word].load(std::memory_order_relaxed) != 0) [[unlikely]]
        answer_doorbell(word);
    }
    // A packet may open further connections.
    for (std::size_t i = 0; i < polled_.size(); ++i) {
      Connection& from = *polled_[i];
      moved += drain(from, sink);
      if (from.should_tell()) tell(from);
      if (from.is_busy()) moved += advance(from, sink);
    }
    if (!ended_.empty()) moved += tell_ended(sink);
    return moved;
  }

  // Sleeping: see MappedChannel.
  void announce_sleep(wire::Asleep where = wire::Asleep::on_word) noexcept {
    control_->asleep.store(static_cast<std::uint32_t>(where), std::memory_order_seq_cst);
  }
  void announce_awake() noexcept { control_->asleep.store(0, std::memory_order_relaxed); }
  [[nodiscard]] std::atomic<std::uint32_t>& sleep_word() noexcept { return control_->asleep; }
  void require_sender_fence() noexcept {
    for (std::uint32_t peer = 0; peer < provider_.size(); ++peer) {
      control_of(peer)->senders_fence.store(1);
    }
  }
  /// Who told how much it took wakes who sleeps.
  void want_credit(Link& /*link*/) noexcept {}
  void balance(std::span<Link* const> /*links*/) noexcept {}

  [[nodiscard]] std::size_t rings_polled() const noexcept { return polled_.size(); }
  [[nodiscard]] std::uint64_t packets_sent(const Link& link) const noexcept {
    return connections_[link.peer]->packets_sent;
  }
  [[nodiscard]] std::uint64_t packets_received() const noexcept {
    return counters_.packets_received;
  }

  // What the device asks of a provider: this channel is its own.
  [[nodiscard]] DesignChannel& provider() noexcept { return *this; }
  [[nodiscard]] std::uint32_t self() const noexcept { return provider_.self(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return provider_.size(); }
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept { return provider_.alive(peer); }
  void wake(std::uint32_t peer) noexcept { provider_.wake(peer); }
  template <class Socket>
  void use_wake_socket(const Socket& socket) noexcept {
    if constexpr (requires { provider_.use_wake_socket(socket); }) {
      provider_.use_wake_socket(socket);
    }
  }
  [[nodiscard]] fabric::Post post(std::uint32_t peer, const wire::Envelope& envelope,
                                  std::span<const std::byte> body) noexcept {
    Link link{peer};
    return put(link, envelope, [&](std::span<std::byte> to, std::uint64_t at) {
      std::memcpy(to.data(), body.data() + at, to.size());
    });
  }
  template <fabric::Sink S>
  unsigned poll(S& sink) noexcept {
    return get(sink);
  }
  [[nodiscard]] fabric::Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                           std::span<const std::byte> prefix,
                                           std::span<const iovec> pieces, std::uint64_t token);
  [[nodiscard]] bool reach(std::uint32_t peer) noexcept {
    return plan_.bypass == Bypass::yes && provider_.reach(peer);
  }
  [[nodiscard]] base::Error read(std::uint32_t peer, std::span<const iovec> local,
                                 std::uint64_t remote, std::uint64_t bytes) noexcept {
    return provider_.read(peer, local, remote, bytes);
  }
  [[nodiscard]] base::Error write(std::uint32_t peer, std::span<const iovec> local,
                                  std::uint64_t remote, std::uint64_t bytes) noexcept {
    return provider_.write(peer, local, remote, bytes);
  }

 private:
  using LaneType = typename detail::LaneOf<P>::type;
  using Connection = DesignConnection<LaneType>;
  static constexpr unsigned burst = 32;

  wire::AreaControl* control_of(std::uint32_t peer) noexcept {
    return reinterpret_cast<wire::AreaControl*>(provider_.area(peer));
  }
  Connection& connection(std::uint32_t peer) {
    if (connections_[peer] == nullptr) [[unlikely]]
      open(peer);
    return *connections_[peer];
  }
  void open(std::uint32_t peer);
  void answer_doorbell(std::uint32_t summary_word);

  template <class Fill>
  fabric::Post put_unit(Connection& to, wire::PipePart part, const wire::Envelope& envelope,
                        std::uint32_t bytes, Fill&& fill) noexcept {
    const fabric::Post post = to.put(part, envelope, bytes, fill, counters_);
    if (post == fabric::Post::done) wake_sleeper(to.peer);
    return post;
  }
  void wake_sleeper(std::uint32_t peer) noexcept {
    const wire::AreaControl* control = control_of(peer);
    // The compiler must not look at the wake word before the unit is written either.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (control->senders_fence.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    if (control->asleep.load(std::memory_order_relaxed) != 0) [[unlikely]]
      provider_.wake(peer);
  }
  void tell(Connection& from) noexcept {
    if (from.tell(counters_)) wake_sleeper(from.peer);
  }

  template <class S>
  unsigned drain(Connection& from, S& sink) {
    unsigned taken = 0;
    while (taken < burst && !from.broken) {
      Unit unit;
      const Found found = from.look(unit);
      if (found == Found::nothing) break;
      if (found == Found::nonsense || !handle(from, unit, sink)) [[unlikely]] {
        from.broken = true;
        break;
      }
      from.take();
      ++taken;
      if (from.should_tell()) tell(from);
    }
    return taken;
  }
  template <class S>
  [[nodiscard]] bool handle(Connection& from, const Unit& unit, S& sink) {
    if (unit.part == wire::PipePart::packet) [[likely]] {
      ++counters_.packets_received;
      if (!unit.body.empty()) ++counters_.copies;
      counters_.copied_bytes += unit.body.size();
      sink.packet(from.peer, unit.envelope, unit.body);
      return true;
    }
    if (unit.part == wire::PipePart::begin || unit.part == wire::PipePart::more) {
      // A sender that cannot write where it was offered memory copies the rest.
      if (from.pull.stage == Pull::Stage::offered) from.pull.stage = Pull::Stage::idle;
      if (unit.part == wire::PipePart::begin) ++counters_.packets_received;
      return take_chunk(from.receiving, from.peer, unit, sink, counters_);
    }
    return handle_long(from, unit, sink);
  }
  template <class S>
  [[nodiscard]] bool handle_long(Connection& from, const Unit& unit, S& sink);
  template <class S>
  unsigned advance(Connection& with, S& sink);
  unsigned advance_sending(Connection& to);
  template <class S>
  unsigned tell_ended(S& sink);

  P& provider_;
  PipeLayout layout_;
  DesignPlan plan_;
  wire::AreaControl* control_;
  std::vector<std::unique_ptr<Connection>> connections_;  ///< by peer
  std::vector<Connection*> polled_;
  std::vector<std::uint64_t> ended_;  ///< tokens of long packets that the sink is to hear of
  std::uint64_t next_id_ = 1;
  DesignCounters counters_;
};

}  // namespace fulmar::channel

#include "channel/design_channel.inl"
