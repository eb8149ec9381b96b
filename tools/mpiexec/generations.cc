// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/generations.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/process_end.h"

namespace fulmar::mpiexec {
namespace {

void set_state(wire::RankRecord& record, wire::RankState state) {
  record.state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
}

}  // namespace

base::Error draw_identity(wire::JobPlan& plan) {
  if (::getrandom(&plan.job_id, sizeof plan.job_id, 0) != sizeof plan.job_id ||
      ::getrandom(plan.job_key.data(), plan.job_key.size(), 0) !=
          static_cast<ssize_t>(plan.job_key.size())) {
    return base::failure(base::ErrorClass::other, "getrandom: %s", std::strerror(errno));
  }
  plan.job_id = std::max<std::uint32_t>(plan.job_id, 1);
  return {};
}

Generations::Generations(JobSegment first, const wire::JobPlan& plan, const Roster& roster,
                         Fill fill)
    : plan_(plan), roster_(roster), fill_(std::move(fill)), ranks_(plan.rank_count) {
  segments_.emplace(0, std::move(first));
  fill_(this->first().records());
}

Generations::Answer Generations::admit(std::uint32_t rank, pid_t asker) {
  Answer answer;
  Rank& own = ranks_[rank];
  const wire::RankRecord& record = this->record(rank);
  const wire::RankState state = wire::state_of(record);
  const bool taken = record.taken.load(std::memory_order_acquire) != 0;
  if (taken || state > wire::RankState::started) {
    answer.holder = record.pid.load(std::memory_order_acquire);
    const bool gone = answer.holder == asker || base::process_has_ended(answer.holder) ||
                      !descends_from(answer.holder, roster_.sessions());
    answer.step =
        state == wire::RankState::finalized ? wire::JoinStep::still_alive : wire::JoinStep::in_use;
    if (state != wire::RankState::finalized || !gone) return answer;
    if (answer.error = make(own.generation + 1); answer.error.failed()) {
      answer.step = wire::JoinStep::no_segment;
      return answer;
    }
    ++own.generation;
    release_unused();
  }
  answer.step = wire::JoinStep::granted;
  answer.fd = segments_.at(own.generation).fd();
  return answer;
}

base::Error Generations::make(std::uint32_t generation) {
  if (segments_.contains(generation)) return {};
  wire::JobPlan plan = plan_;
  plan.generation = generation;
  if (base::Error error = draw_identity(plan); error.failed()) return error;
  auto segment = JobSegment::create(plan);
  if (segment.failed()) return segment.error();
  const std::span<wire::RankRecord> records = segment->records();
  fill_(records);
  for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
    set_state(records[rank],
              ranks_[rank].ended ? wire::RankState::exited : wire::RankState::started);
    if (ranks_[rank].ended) segment->announce_failure(rank);
  }
  segments_.emplace(generation, std::move(*segment));
  return {};
}

/// Generations that every rank has left behind. The wrappers hold the first segment open, and only
/// its pages are given back.
void Generations::release_unused() {
  std::uint32_t oldest = UINT32_MAX;
  for (const Rank& rank : ranks_) {
    if (!rank.ended) oldest = std::min(oldest, rank.generation);
  }
  if (oldest == 0 || oldest == UINT32_MAX) return;
  first().discard_areas();
  std::erase_if(segments_, [&](const auto& entry) {
    const std::uint32_t generation = entry.first;
    const bool is_last = std::any_of(ranks_.begin(), ranks_.end(), [&](const Rank& rank) {
      return rank.generation == generation;
    });
    return generation != 0 && generation < oldest && !is_last;
  });
}

void Generations::mark_ended(std::uint32_t rank) {
  Rank& own = ranks_[rank];
  own.ended = true;
  for (auto& [generation, segment] : segments_) {
    if (generation < own.generation) continue;
    wire::RankRecord& record = segment.records()[rank];
    const bool had_left = wire::state_of(record) == wire::RankState::finalized;
    // Who sees the end can see that it is a failure, and who is woken by the failure sees the end.
    const bool is_news = !had_left && segment.mark_failed(rank);
    set_state(record, wire::RankState::exited);
    if (is_news) segment.wake_others(rank);
  }
}

void Generations::announce_failure(std::uint32_t rank) const noexcept {
  for (const auto& [generation, segment] : segments_) {
    if (generation >= ranks_[rank].generation) segment.announce_failure(rank);
  }
}

void Generations::announce_end() const noexcept {
  for (const auto& [generation, segment] : segments_) segment.announce_end();
}

}  // namespace fulmar::mpiexec
