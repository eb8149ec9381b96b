// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "wire/shm_area.h"

/// Short collective operations among processes that map each other's memory.
///
/// Each member of a group owns one board in its own area, which the others read. The operations of
/// the group are numbered; in round r a member puts what it has to tell, if anything, on notice
/// r % 2 of its board and writes r there. Whoever needs it looks until the number is at least r. So
/// a barrier of two costs one cache line each way, and nobody writes a line that another one
/// writes.
///
/// Two notices are enough if nobody changes the text of round r - 2 while another member may still
/// read it. A member that has posted round r - 1 is done with round r - 2; so before a member posts
/// a text it waits until all have posted the round before. After a round in which it saw all others
/// it knows that already.
///
/// A board is used by one group after the other. Numbers of rounds go on from the largest that any
/// member has used, so an old number is never taken for a new one; and a member writes to `left`
/// when it is done with the group, and does not use its board for another one before all members
/// have left.
namespace fulmar::device {

class Device;

class NodeBoard {
 public:
  static constexpr std::size_t max_bytes = wire::board_body_bytes;
  /// With more members than this messages are faster than looking at everybody.
  static constexpr std::size_t max_members = 64;

  struct Member {
    wire::Board* board;
    const wire::AreaControl* control;
    std::uint32_t number;  ///< of the process among those of the node
  };

  NodeBoard(Device& device, std::uint32_t index, std::vector<Member> members, int self,
            std::uint64_t first_round) noexcept
      : device_(device),
        members_(std::move(members)),
        own_(*members_[static_cast<std::size_t>(self)].board),
        index_(index),
        base_(first_round),
        round_(first_round),
        seen_all_(first_round) {}

  [[nodiscard]] int size() const noexcept { return static_cast<int>(members_.size()); }
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
  [[nodiscard]] std::uint64_t base() const noexcept { return base_; }
  [[nodiscard]] std::uint64_t round() const noexcept { return round_; }
  [[nodiscard]] const std::vector<Member>& members() const noexcept { return members_; }

  // One round is: `post` once, then any of the waits, then `text` of those that were waited for.

  /// Begins the next round; tells nothing.
  void post() noexcept {
    ++round_;
    publish();
  }
  /// Begins the next round with a text of at most max_bytes bytes, which `fill(std::byte*)` writes.
  template <class Fill>
  void post(std::size_t bytes, Fill&& fill) noexcept {
    if (seen_all_ < round_) [[unlikely]]
      wait_for_others();
    ++round_;
    fill(room(own_, bytes));
    publish();
  }

  /// Until every member has posted this round.
  void wait_all() noexcept;
  /// Until members 0 to `last` - 1 have.
  void wait_before(int last) noexcept;
  void wait_for(int member) noexcept;

  /// What a member posted in this round, in memory that it may still write to: never to be trusted.
  /// Aligned to 16 bytes.
  [[nodiscard]] const std::byte* text(int member, std::size_t bytes) const noexcept {
    return room(*members_[static_cast<std::size_t>(member)].board, bytes);
  }

  /// This process is done with the group; other members may not be.
  void leave() noexcept { own_.left.store(round_, std::memory_order_release); }

 private:
  [[nodiscard]] std::byte* room(wire::Board& board, std::size_t bytes) const noexcept {
    return bytes <= wire::board_short_bytes ? board.notices[round_ % 2].body.data()
                                            : board.bodies[round_ % 2].data();
  }
  [[nodiscard]] bool posted(std::size_t member) const noexcept {
    return members_[member].board->notices[round_ % 2].round.load(std::memory_order_acquire) >=
           round_;
  }
  void publish() noexcept {
    own_.notices[round_ % 2].round.store(round_, std::memory_order_release);
    wake_sleepers();
  }
  /// As the channel does after a packet: who sleeps has told so, see device/wait.cc.
  void wake_sleepers() noexcept {
    std::atomic_signal_fence(std::memory_order_seq_cst);
    for (const Member& member : members_) {
      if (member.control->senders_fence.load(std::memory_order_relaxed) != 0) [[unlikely]] {
        std::atomic_thread_fence(std::memory_order_seq_cst);
      }
      if (member.control->asleep.load(std::memory_order_relaxed) != 0) [[unlikely]]
        wake(member.number);
    }
  }
  [[gnu::cold]] void wake(std::uint32_t number) noexcept;
  [[gnu::noinline]] void wait_for_others() noexcept { wait_all(); }

  Device& device_;
  std::vector<Member> members_;
  wire::Board& own_;
  std::uint32_t index_;
  std::uint64_t base_;
  std::uint64_t round_;
  std::uint64_t seen_all_;  ///< the last round in which every member was seen
};

/// The boards of this process: which are free, and until when the others may still look at one.
class BoardPool {
 public:
  /// For groups that agree on a board: the free ones as bits; 0 if there is none, or while another
  /// group is being made. Each offer that is not 0 is followed by `settle`.
  [[nodiscard]] std::uint64_t offer() noexcept;
  /// A round later than any on a board of this process.
  [[nodiscard]] std::uint64_t newest_round() const noexcept { return newest_round_; }
  /// The end of an offer, after `take` if something came of it.
  void settle() noexcept { offered_ = false; }
  void take(std::uint32_t index) noexcept { free_ &= ~(std::uint64_t{1} << index); }
  /// The group ends here.
  void give_back(NodeBoard& board) noexcept;

 private:
  /// A board whose group this process left.
  struct Leaving {
    std::uint32_t index;
    std::uint64_t base;
    std::vector<NodeBoard::Member> members;
  };
  static_assert(wire::boards_per_area == 64);

  std::uint64_t free_ = ~std::uint64_t{0};
  std::uint64_t newest_round_ = 0;
  bool offered_ = false;
  std::vector<Leaving> leaving_;
};

}  // namespace fulmar::device
