// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>

#include "fabric/provider.h"
#include "study/design_core.h"
#include "wire/node/shm_area.h"

/// The designs of the study over mapped memory, in place of MappedChannel.
///
/// A process that begins to send to another sets its bit in the other's doorbell, once; from then
/// on the other polls its pipe. Sleeping and waking are MappedChannel's, word for word.
namespace fulmar::study {

namespace detail {
template <class P>
struct LaneOf {
  using type = MappedLane;
  static type make(P& provider, std::uint32_t peer, std::uint64_t offset) {
    return MappedLane(provider.area(peer) + offset);
  }
};
/// Tests have lanes of their own.
template <class P>
  requires requires { typename P::PipeLane; }
struct LaneOf<P> {
  using type = typename P::PipeLane;
  static type make(P& provider, std::uint32_t peer, std::uint64_t offset) {
    return provider.pipe_lane(peer, offset);
  }
};

/// Where the pipes lie in areas of that size; `pipe_bytes` is 0 if there is no room for them.
constexpr PipeLayout pipe_layout(std::uint32_t ranks, std::uint64_t area_bytes) noexcept {
  return PipeLayout::fit(ranks, wire::AreaLayout::fit(ranks, area_bytes).rings, area_bytes);
}
}  // namespace detail

/// Pipes in the areas of a provider.
template <fabric::MapsPeers P>
class MappedPipeMemory {
 public:
  using Lane = typename detail::LaneOf<P>::type;
  using TransitOf = MappedTransit<P>;
  struct Opened {
    Lane lane;
    const std::byte* own_pipe;
  };

  explicit MappedPipeMemory(P& provider) noexcept
      : provider_(provider),
        layout_(detail::pipe_layout(provider.size(), provider.area_bytes())),
        control_(control_of(provider.self())) {}

  [[nodiscard]] std::uint64_t ring_bytes() const noexcept { return layout_.ring_bytes; }
  void plan(const DesignPlan& /*plan*/) noexcept {}
  [[nodiscard]] Opened open(std::uint32_t peer) {
    const std::uint32_t self = provider_.self();
    return {detail::LaneOf<P>::make(provider_, peer, layout_.offset(peer, self)),
            provider_.area(self) + layout_.offset(self, peer)};
  }
  void opened(std::uint32_t peer) {
    const std::uint32_t self = provider_.self();
    wire::AreaControl* control = control_of(peer);
    control->doorbell[self / 64].fetch_or(std::uint64_t{1} << (self % 64),
                                          std::memory_order_acq_rel);
    control->doorbell_summary[self / 4096].fetch_or(std::uint64_t{1} << (self / 64 % 64),
                                                    std::memory_order_seq_cst);
    if (control->asleep.load(std::memory_order_seq_cst) != 0) provider_.wake(peer);
  }
  [[nodiscard]] TransitOf transit(std::uint32_t /*peer*/, Direction /*direction*/) noexcept {
    return TransitOf(provider_);
  }
  /// Whether `for_callers` would find one.
  [[nodiscard]] bool has_callers() const noexcept {
    for (std::uint32_t word = 0; word <= (provider_.size() - 1) / 4096; ++word) {
      if (control_->doorbell_summary[word].load(std::memory_order_relaxed) != 0) return true;
    }
    return false;
  }
  template <class F>
  void for_callers(F&& f) {
    for (std::uint32_t word = 0; word <= (provider_.size() - 1) / 4096; ++word) {
      if (control_->doorbell_summary[word].load(std::memory_order_relaxed) != 0) [[unlikely]]
        answer_doorbell(word, f);
    }
  }
  void written(std::uint32_t peer) noexcept {
    const wire::AreaControl* control = control_of(peer);
    // The compiler must not load the wake word before the unit is written either.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (control->senders_fence.load(std::memory_order_relaxed) != 0) [[unlikely]] {
      std::atomic_thread_fence(std::memory_order_seq_cst);
    }
    if (control->asleep.load(std::memory_order_relaxed) != 0) [[unlikely]]
      provider_.wake(peer);
  }
  /// Others end the job then.
  [[nodiscard]] bool lost(std::uint32_t /*peer*/) const noexcept { return false; }
  void refuse(std::uint32_t /*peer*/) noexcept {}

  [[nodiscard]] wire::AreaControl* control_of(std::uint32_t peer) noexcept {
    return reinterpret_cast<wire::AreaControl*>(provider_.area(peer));
  }
  [[nodiscard]] wire::AreaControl& control() noexcept { return *control_; }

 private:
  template <class F>
  void answer_doorbell(std::uint32_t summary_word, F& f) {
    std::uint64_t words =
        control_->doorbell_summary[summary_word].exchange(0, std::memory_order_acq_rel);
    for (; words != 0; words &= words - 1) {
      const std::uint32_t word =
          summary_word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(words));
      std::uint64_t bits = control_->doorbell[word].exchange(0, std::memory_order_acq_rel);
      for (; bits != 0; bits &= bits - 1) {
        const std::uint32_t peer = word * 64 + static_cast<std::uint32_t>(__builtin_ctzll(bits));
        if (peer < provider_.size() && peer != provider_.self()) f(peer);
      }
    }
  }

  P& provider_;
  PipeLayout layout_;
  wire::AreaControl* control_;
};

/// Thread rule: the lock of the engine. `P` has, beyond fabric::MapsPeers, `reach`, `read` and
/// `write` (fabric::ReachesMemory) for the zero-copy design.
template <fabric::MapsPeers P>
class DesignChannel : public DesignCore<MappedPipeMemory<P>> {
  using Core = DesignCore<MappedPipeMemory<P>>;

 public:
  explicit DesignChannel(P& provider) : Core(provider.size(), provider), provider_(provider) {}

  static constexpr PipeLayout layout_of(std::uint32_t ranks, std::uint64_t area_bytes) noexcept {
    return detail::pipe_layout(ranks, area_bytes);
  }

  template <fabric::Sink S>
  unsigned get(S& sink) noexcept {
    return this->look(sink);
  }

  // Sleeping: see MappedChannel.
  void announce_sleep(wire::Asleep where = wire::Asleep::on_word) noexcept {
    sleep_word().store(static_cast<std::uint32_t>(where), std::memory_order_seq_cst);
  }
  /// Whether a poll would find something.
  [[nodiscard]] bool has_news() noexcept {
    return this->ground().has_callers() || this->has_units();
  }
  [[nodiscard]] std::atomic<std::uint32_t>& sleep_word() noexcept {
    return this->ground().control().asleep;
  }
  void require_sender_fence() noexcept {
    for (std::uint32_t peer = 0; peer < provider_.size(); ++peer) {
      this->ground().control_of(peer)->senders_fence.store(1);
    }
  }

  [[nodiscard]] bool reach(std::uint32_t peer) noexcept {
    return this->plan().bypass == Bypass::yes && provider_.reach(peer);
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
  P& provider_;
};

}  // namespace fulmar::study
