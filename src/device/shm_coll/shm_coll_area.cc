// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/shm_coll/shm_coll_area.h"

#include <algorithm>

#include "base/clock.h"
#include "device/device.h"

namespace fulmar::device {

bool ShmCollArea::wait_posted(std::size_t begin, std::size_t end, std::uint64_t round) noexcept {
  std::size_t next = begin;
  device_.wait_for_memory(
      [&]() noexcept {
        while (next < end && posted(next, round)) ++next;
        return next == end || failed_;
      },
      {WaitNote::Kind::coll_area, this});
  return next == end;
}

bool ShmCollArea::wait_all() noexcept {
  if (!wait_posted(0, members_.size(), round_)) return false;
  all_posted_ = round_;
  return true;
}

bool ShmCollArea::wait_all_posted(std::uint64_t round) noexcept {
  if (failed_ || !wait_posted(0, members_.size(), round)) return false;
  all_posted_ = std::max(all_posted_, round);
  return true;
}

bool ShmCollArea::free_slot(std::uint64_t round) noexcept {
  if (failed_) return false;
  const std::uint64_t middle = round - max_ahead_ / 2;
  for (std::size_t member = 0; member < members_.size(); ++member) {
    if (!posted(member, middle)) return wait_all_posted(round - max_ahead_ + 1);
  }
  all_posted_ = std::max(all_posted_, middle);  // several rounds need not ask again
  return true;
}

bool ShmCollArea::all_arrived() noexcept {
  for (std::size_t member = 0; member < members_.size(); ++member) {
    if (!posted(member, round_)) return false;
  }
  if (!failed_) all_posted_ = round_;
  return true;
}

void ShmCollArea::update_all_posted() noexcept {
  std::uint64_t all = round_;
  for (std::size_t member = 0; member < members_.size(); ++member) {
    while (all > all_posted_ && !posted(member, all)) --all;
  }
  all_posted_ = std::max(all_posted_, all);
}

bool ShmCollArea::can_post(std::size_t bytes) noexcept {
  if (failed_) return true;
  const std::uint64_t round = round_ + 1;
  const auto holds = [&]() noexcept {
    if (all_posted_ + max_ahead_ <= round) return false;
    if (bytes <= wire::coll_slot_bytes) return true;
    StagingRing& ring = bytes <= wire::coll_block_bytes ? short_payloads_ : long_payloads_;
    return ring.can_place(static_cast<std::uint32_t>(bytes), all_posted_);
  };
  if (holds()) return true;
  update_all_posted();
  return holds();
}

void ShmCollArea::finish(int chunk) noexcept {
  work().finish(chunk, self_);
  wake_sleepers();
}

bool ShmCollArea::wait_finished(int chunks) noexcept {
  bool all = false;
  device_.wait_for_memory(
      [&]() noexcept {
        all = work().finished(chunks);
        return all || failed_;
      },
      {WaitNote::Kind::coll_area, this});
  return all;
}

void ShmCollArea::wake(std::uint32_t number) noexcept { device_.wake(number); }

std::uint64_t ShmCollAreaPool::offer() noexcept {
  if (offered_) return 0;
  std::erase_if(leaving_, [&](const Leaving& group) {
    const bool all_left = std::all_of(
        group.members.begin(), group.members.end(), [&](const ShmCollArea::Member& member) {
          return member.coll_area->left.load(std::memory_order_acquire) >= group.base;
        });
    if (all_left) free_ |= std::uint64_t{1} << group.index;
    return all_left;
  });
  offered_ = free_ != 0;
  return free_;
}

void ShmCollAreaPool::give_back(ShmCollArea& coll_area) noexcept {
  coll_area.leave();
  newest_round_ = std::max(newest_round_, coll_area.round() + 1);
  leaving_.push_back({coll_area.index(), coll_area.base(), coll_area.members()});
}

std::unique_ptr<ShmCollArea> Device::make_coll_area(std::uint32_t index,
                                                    std::span<const std::uint32_t> peers, int self,
                                                    std::uint64_t first_round) {
  if (peers.size() < 2 || peers.size() > ShmCollArea::max_members || node() == nullptr)
    return nullptr;
  NodeChannel::Channel& channel = node()->channel();
  std::vector<ShmCollArea::Member> members;
  for (const std::uint32_t peer : peers) {
    const std::uint32_t number = node()->number_of(peer);
    if (number == NodeChannel::not_here) return nullptr;
    members.push_back({&channel.coll_area(number, index), channel.staging_of(number, index),
                       &channel.control(number), number});
  }
  return std::make_unique<ShmCollArea>(*this, index, std::move(members), self, first_round,
                                       config_.oversubscribed);
}

void Device::wake(std::uint32_t number) noexcept { node()->shm().wake(number); }

/// The condition is watched with progress, so that it also keeps a leader awake, and wakes threads
/// of this process that wait for it while another one leads.
void Device::wait_watching(bool (*finished)(void*) noexcept, void* argument,
                           WaitNote note) noexcept {
  struct Watch : ProgressCallback {
    Device* device;
    bool (*finished)(void*) noexcept;
    void* argument;
  };
  Watch watch;
  watch.device = this;
  watch.finished = finished;
  watch.argument = argument;
  watch.step = [](ProgressCallback& hook) {
    auto& self = static_cast<Watch&>(hook);
    if (!self.finished(self.argument)) return 0U;
    self.device->waiting_.note_change();
    return 1U;
  };
  if (config_.oversubscribed && !lock_.enabled()) {
    // Whoever is waited for needs this core: one look for messages, then it is theirs.
    // Beside other programs a yield takes as long as their turns. Only the wait below notices that a process has
    // ended, so it must not be far.
    constexpr int yields_before_sleep = 1000;
    constexpr std::uint64_t longest_ns = 50'000'000;
    constexpr int yields_per_clock = 4;
    std::uint64_t end_ns = 0;
    for (int turn = 0; turn < yields_before_sleep; ++turn) {
      if (turn % yields_per_clock == yields_per_clock - 1) {
        const std::uint64_t now = base::now_ns();
        if (end_ns == 0) end_ns = now + longest_ns;
        if (now > end_ns) break;
      }
      progress();
      if (finished(argument)) return release_held();
      ::sched_yield();
      if (finished(argument)) return release_held();
    }
  }
  add_progress_callback(watch);
  wait([&]() noexcept { return finished(argument); }, note);
  remove_progress_callback(watch);
}

}  // namespace fulmar::device
