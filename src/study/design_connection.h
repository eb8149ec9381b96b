// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <variant>
#include <vector>

#include "study/basic_design.h"
#include "study/piggyback_design.h"
#include "study/pipeline_design.h"
#include "study/zerocopy_design.h"

namespace fulmar::study {

/// Both pipes between this process and one peer, and the long packets that are under way on them.
/// Does not move: the sender keeps a reference to the lane.
template <Lane L>
class DesignConnection {
 public:
  /// `own_pipe`: the memory that the peer writes to.
  DesignConnection(std::uint32_t peer, L lane, const std::byte* own_pipe, std::uint64_t ring_bytes,
                   const DesignPlan& plan)
      : peer(peer),
        body_limit_(plan.chunk_bytes),
        lane_(lane),
        tail_(reinterpret_cast<const wire::PipeControl*>(own_pipe)->tail),
        out_(plan.design == Design::basic
                 ? Out(std::in_place_type<BasicSender<L>>, lane_, ring_bytes)
                 : Out(std::in_place_type<SlotSender<L>>, lane_, ring_bytes, plan.chunk_bytes)),
        in_(plan.design == Design::basic
                ? In(std::in_place_type<BasicReceiver<L>>, own_pipe, ring_bytes)
                : In(std::in_place_type<SlotReceiver<L>>, own_pipe, ring_bytes, plan.chunk_bytes)) {
  }
  DesignConnection(const DesignConnection&) = delete;
  DesignConnection& operator=(const DesignConnection&) = delete;

  /// The longest body of a packet, the same in all designs.
  [[nodiscard]] std::size_t body_limit() const noexcept { return body_limit_; }
  /// The longest part of a long packet that goes as one unit.
  [[nodiscard]] std::size_t chunk_limit() const noexcept {
    return std::visit([](const auto& out) { return out.body_limit(); }, out_);
  }

  template <class Fill>
  [[nodiscard]] fabric::Post put(wire::PipePart part, const wire::Envelope& envelope,
                                 std::uint32_t bytes, Fill&& fill, DesignCounters& counters,
                                 Writing writing = Writing::at_once) noexcept {
    if (auto* slots = std::get_if<SlotSender<L>>(&out_)) {
      auto& in = *std::get_if<SlotReceiver<L>>(&in_);
      const fabric::Post post =
          slots->put(part, envelope, bytes, tail_, in.taken(), fill, counters, writing);
      if (post == fabric::Post::done) in.told();
      return post;
    }
    return std::get_if<BasicSender<L>>(&out_)->put(part, envelope, bytes, tail_, fill, counters);
  }
  /// Writes what was put `with_release`.
  void release(DesignCounters& counters) noexcept {
    if (auto* slots = std::get_if<SlotSender<L>>(&out_)) slots->release(counters);
  }

  [[nodiscard]] Found look(Unit& unit) noexcept {
    if (auto* slots = std::get_if<SlotReceiver<L>>(&in_)) {
      std::uint64_t their_taken = 0;
      const Found found = slots->look(unit, their_taken);
      if (found == Found::unit) std::get_if<SlotSender<L>>(&out_)->learn(their_taken);
      return found;
    }
    return std::get_if<BasicReceiver<L>>(&in_)->look(unit);
  }
  void take() noexcept {
    std::visit([](auto& in) { in.take(); }, in_);
  }
  [[nodiscard]] bool should_tell() const noexcept {
    return std::visit([](const auto& in) { return in.should_tell(); }, in_);
  }
  /// Sends a credit. False: no room for the write now.
  [[nodiscard]] bool tell(DesignCounters& counters) noexcept {
    if (!lane_.has_room(1)) return false;
    std::visit(
        [&](auto& in) {
          lane_.publish(offsetof(wire::PipeControl, tail), sizeof(std::uint64_t), in.taken());
          in.told();
        },
        in_);
    ++counters.writes;
    ++counters.credit_writes;
    return true;
  }

  /// Whether something is to be done here without anything arriving.
  [[nodiscard]] bool is_busy() const noexcept {
    using Send = LongSend::Stage;
    const bool waits = sending.stage == Send::idle || sending.stage == Send::described;
    return !waits || !owed.empty() || pull.stage == Pull::Stage::reading ||
           pull.stage == Pull::Stage::offering;
  }

  const std::uint32_t peer;
  std::uint64_t packets_sent = 0;
  bool broken = false;  ///< the peer wrote nonsense: nothing is read any more
  LongSend sending;
  LongReceive receiving;
  Pull pull;
  std::vector<OwedUnit> owed;

 private:
  using Out = std::variant<BasicSender<L>, SlotSender<L>>;
  using In = std::variant<BasicReceiver<L>, SlotReceiver<L>>;

  std::size_t body_limit_;
  L lane_;
  const std::atomic<std::uint64_t>& tail_;
  Out out_;
  In in_;
};

}  // namespace fulmar::study
