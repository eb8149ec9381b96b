// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <optional>
#include <utility>

#include "vipl/completions.h"
#include "vipl/connections.h"
#include "vipl/messages.h"
#include "vipl/provider.h"
#include "vipl/segments.h"

namespace fulmar::vipl {
namespace {

/// Between two tries to remove a segment that is in use.
constexpr std::chrono::milliseconds removal_patience(2);

/// False: some are still in use.
bool remove_segments(Provider& provider, Lock& lock) {
  auto segments = std::exchange(provider.jobs.segments, {});
  lock.unlock();
  std::erase_if(segments, [](const auto& segment) { return disconnect(*segment); });
  lock.lock();
  const bool has_removed_all = segments.empty();
  for (auto& segment : segments) provider.jobs.segments.push_back(std::move(segment));
  return has_removed_all;
}

/// Whether something may happen to the VI that nobody else looks for.
bool needs_attention(const Vi& vi) noexcept {
  const bool is_blocked = vi.state == VIP_STATE_CONNECTED && vi.sends_started < vi.sends.size();
  return is_blocked || !vi.send_notifications.empty() || !vi.receive_notifications.empty();
}

/// Works for the VIs of which the program may not think; whether there are any.
bool work_on_vis(Provider& provider) {
  bool has_any = false;
  provider.vis.for_each([&](Vi& vi) {
    const bool is_awaited = (vi.receive_cq != nullptr && !vi.receive_cq->notifications.empty()) ||
                            (vi.send_cq != nullptr && !vi.send_cq->notifications.empty());
    if (!needs_attention(vi) && !is_awaited) return;
    has_any = true;
    poll(provider, vi);
  });
  return has_any;
}

/// Attempts to connect that nobody waits for; when the next one of them is over.
Clock::time_point expire_attempts(Provider& provider) {
  auto next = Clock::time_point::max();
  provider.vis.for_each([&](Vi& vi) {
    if (vi.attempt.kind != Attempt::Kind::peer || vi.attempt.is_over || !vi.attempt.has_end) return;
    if (!expire(provider, vi)) next = std::min(next, vi.attempt.end);
  });
  return next;
}

std::int64_t ns_until(Clock::time_point time) noexcept {
  if (time == Clock::time_point::max()) return -1;
  const auto left =
      std::chrono::duration_cast<std::chrono::nanoseconds>(time - Clock::now()).count();
  return left < 0 ? 0 : left;
}

/// Whether nothing is left that others are to hear.
bool has_sent_all(const Provider& provider) noexcept {
  return std::ranges::all_of(provider.peers, [](const auto& each) {
    return each.second->outbox.empty() || each.second->state != Peer::State::ready;
  });
}

}  // namespace

void manage(Provider& provider) {
  Lock lock = locked(provider);
  for (;;) {
    provider.has_work = false;
    std::optional<Listening> listening;
    if (work_on_vis(provider)) listening.emplace(provider);
    provider.is_manager_listening = listening.has_value();
    const std::uint32_t seen = provider.bell->rings.load(std::memory_order_seq_cst);
    if (listening) (void)work_on_vis(provider);
    auto next = std::min(work_on_peers(provider, lock), expire_attempts(provider));
    if (!remove_segments(provider, lock)) next = std::min(next, Clock::now() + removal_patience);
    if (provider.is_stopping && has_sent_all(provider)) return;
    if (provider.has_work) continue;
    provider.is_manager_asleep = true;
    sleep(provider, lock, seen, ns_until(next));
    provider.is_manager_asleep = false;
  }
}

}  // namespace fulmar::vipl
