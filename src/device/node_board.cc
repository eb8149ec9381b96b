// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/node_board.h"

#include <algorithm>

#include "channel/mapped_channel.inl"
#include "device/device.h"

namespace fulmar::device {
namespace {

template <class Channel>
concept HasBoards = requires(Channel& channel, std::uint32_t peer) { channel.board(peer, 0U); };

}  // namespace

void NodeBoard::wait_before(int last) noexcept {
  std::size_t next = 0;
  const auto end = static_cast<std::size_t>(last);
  device_.wait_for_memory(
      [&]() noexcept {
        while (next < end && posted(next)) ++next;
        return next == end;
      },
      {WaitNote::Kind::board, this});
}

void NodeBoard::wait_all() noexcept {
  wait_before(size());
  seen_all_ = round_;
}

void NodeBoard::wait_for(int member) noexcept {
  device_.wait_for_memory([&]() noexcept { return posted(static_cast<std::size_t>(member)); },
                          {WaitNote::Kind::board, this});
}

void NodeBoard::wake(std::uint32_t number) noexcept { device_.wake(number); }

std::uint64_t BoardPool::offer() noexcept {
  if (offered_) return 0;
  std::erase_if(leaving_, [&](const Leaving& group) {
    const bool all_left = std::all_of(
        group.members.begin(), group.members.end(), [&](const NodeBoard::Member& member) {
          return member.board->left.load(std::memory_order_acquire) >= group.base;
        });
    if (all_left) free_ |= std::uint64_t{1} << group.index;
    return all_left;
  });
  offered_ = free_ != 0;
  return free_;
}

void BoardPool::give_back(NodeBoard& board) noexcept {
  board.leave();
  newest_round_ = std::max(newest_round_, board.round());
  leaving_.push_back({board.index(), board.base(), board.members()});
}

std::unique_ptr<NodeBoard> Device::make_board(std::uint32_t index,
                                              std::span<const std::uint32_t> peers, int self,
                                              std::uint64_t first_round) {
  if (peers.size() < 2 || peers.size() > NodeBoard::max_members) return nullptr;
  std::unique_ptr<NodeBoard> board;
  rails_.for_each([&](auto& channel) {
    if constexpr (HasBoards<std::remove_cvref_t<decltype(channel)>>) {
      std::vector<NodeBoard::Member> members;
      for (const std::uint32_t peer : peers) {
        const std::uint32_t number = rails_.number_in_node(peer);
        if (number == EnabledRails::not_here) return;
        members.push_back({&channel.board(number, index), &channel.control(number), number});
      }
      board = std::make_unique<NodeBoard>(*this, index, std::move(members), self, first_round);
    }
  });
  return board;
}

void Device::wake(std::uint32_t number) noexcept {
  rails_.for_each([&](auto& channel) {
    if constexpr (HasBoards<std::remove_cvref_t<decltype(channel)>>) {
      channel.provider().wake(number);
    }
  });
}

/// The condition is watched with progress, so that it also keeps a leader awake, and wakes threads
/// of this process that wait for it while another one leads.
void Device::wait_watching(bool (*finished)(void*) noexcept, void* argument,
                           WaitNote note) noexcept {
  struct Watch : Hook {
    Device* device;
    bool (*finished)(void*) noexcept;
    void* argument;
  };
  Watch watch;
  watch.device = this;
  watch.finished = finished;
  watch.argument = argument;
  watch.step = [](Hook& hook) {
    auto& self = static_cast<Watch&>(hook);
    if (!self.finished(self.argument)) return 0U;
    if (self.device->first_waiter_ != nullptr) self.device->waiters_stale_ = true;
    return 1U;
  };
  if (config_.oversubscribed && !lock_.enabled()) {
    // Whoever is waited for needs this core: one look for messages, then it is theirs.
    for (int turn = 0; turn < yields_before_sleep; ++turn) {
      progress();
      if (finished(argument)) return;
      ::sched_yield();
      if (finished(argument)) return;
    }
  }
  add_hook(watch);
  wait([&]() noexcept { return finished(argument); }, note);
  remove_hook(watch);
}

}  // namespace fulmar::device
