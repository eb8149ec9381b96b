// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/copy.h"
#include "base/error.h"
#include "channel/store_choice.h"
#include "device/shm_coll/buffer_swap.h"
#include "device/shm_coll/member_memory.h"
#include "device/shm_coll/shared_work.h"
#include "device/shm_coll/staging_ring.h"
#include "wire/node/shm_area.h"

/// Collective operations among processes that map each other's memory.
///
/// Each member of a group owns one collective block in its own shared area, which the others read.
/// The rounds of the group are numbered. In round r a member stores its payload, if any, in slot r
/// % depth of its block (a longer one in the block's staging buffer) and then stores r in the slot.
/// A reader polls the slot until that number is at least r. So a barrier of two costs one cache
/// line each way, and no cache line has two writers.
///
/// A member that has posted round r no longer reads the payloads of earlier rounds. So before a
/// payload overwrites an older one, its writer waits until all members have posted a round later
/// than that of the old one. With several slots a member may run some rounds ahead of the others:
/// where ranks share cores, that saves most of the context switches if an operation depends on only
/// one other member. A member that has to wait waits for several rounds at once.
///
/// A collective area is used by one group after the other. Round numbers continue from the largest
/// that any member has used, so an old number is never mistaken for a new one. A member stores its
/// last round in `left` when it leaves the group, and does not use the area for another group
/// before all members have left.
namespace fulmar::device {

class Device;

class ShmCollArea {
 public:
  static constexpr std::size_t depth = wire::coll_slots_per_block;
  /// With more members than this, messages are faster than polling every member.
  static constexpr std::size_t max_members = 64;

  using Member = CollMember;

  /// `crowded`: members share cores.
  ShmCollArea(Device& device, std::uint32_t index, std::vector<Member> members, int self,
              std::uint64_t first_round, bool crowded) noexcept
      : device_(device),
        members_(std::move(members)),
        own_(*members_[static_cast<std::size_t>(self)].coll_area),
        self_(self),
        index_(index),
        base_(first_round),
        round_(first_round),
        max_ahead_(crowded ? depth : warm_depth),
        all_posted_(first_round),
        swap_(members_.size(), staging_bytes() - short_bytes(staging_bytes()), self),
        short_payloads_(0, short_bytes(staging_bytes()), StagingRing::Reuse::earliest),
        long_payloads_(short_bytes(staging_bytes()),
                       staging_bytes() - short_bytes(staging_bytes()) - swap_.part_bytes(),
                       crowded ? StagingRing::Reuse::earliest : StagingRing::Reuse::whole_ring) {}

  /// The longest payload.
  [[nodiscard]] std::size_t largest_payload() const noexcept {
    return std::max(short_payloads_.largest(), long_payloads_.largest());
  }
  [[nodiscard]] int self() const noexcept { return self_; }
  [[nodiscard]] int size() const noexcept { return static_cast<int>(members_.size()); }
  [[nodiscard]] std::uint32_t index() const noexcept { return index_; }
  [[nodiscard]] std::uint64_t base() const noexcept { return base_; }
  [[nodiscard]] std::uint64_t round() const noexcept { return round_; }
  [[nodiscard]] const std::vector<Member>& members() const noexcept { return members_; }

  /// A member has failed: every wait ends, and nothing is posted any more, so that payloads which
  /// others may still read stay as they are.
  void fail() noexcept {
    failed_ = true;
    max_ahead_ = all_posted_ = 0;  // each post checks these first, and fails
  }
  [[nodiscard]] bool failed() const noexcept { return failed_; }

  // One round is: `post` once, then any of the waits, then `payload` of the members waited for.

  /// The bytes of one payload, and of all payloads that this member posts in the call.
  struct Length {
    std::size_t bytes = 0;
    std::uint64_t whole_bytes = 0;
  };

  /// Begins the next round without a payload. Waits only for members that may still read the
  /// slot's previous round.
  void post() noexcept {
    const std::uint64_t round = round_ + 1;
    end_swap();
    if (all_posted_ + max_ahead_ <= round) [[unlikely]] {
      if (!free_slot(round)) return;
    }
    wire::CollSlot& slot = own_.slots[round % depth];
    slot.whole_bytes = 0;
    slot.place = 0;
    round_ = round;
    publish();
  }
  /// Begins the next round with a payload of at most largest_payload() bytes, which
  /// `fill(std::byte*, base::StoreKind)` writes.
  template <class Fill>
  void post(Length length, Fill&& fill) noexcept {
    end_swap();
    post_payload(length, std::forward<Fill>(fill),
                 [&](std::uint64_t round) noexcept { return place_for(length.bytes, round); });
  }
  /// The same for a round in which every member posts a payload and waits for all others. This
  /// member must not read its own payload afterwards.
  template <class Fill>
  void post_exchange(Length length, Fill&& fill) noexcept {
    end_swap();
    if (swap_.part_bytes() != 0) swap_.begin();
    post_payload(length, std::forward<Fill>(fill), [&](std::uint64_t round) noexcept {
      const std::optional<std::uint32_t> part = swap_.give(length.bytes);
      return part ? *part : place_for(length.bytes, round);
    });
  }

  // Each wait returns false if a member has failed before the condition was met.

  /// Until every member has posted this round.
  [[nodiscard]] bool wait_all() noexcept;
  /// Until members `first` to `last` - 1 have.
  [[nodiscard]] bool wait_members(int first, int last) noexcept {
    return wait_posted(static_cast<std::size_t>(first), static_cast<std::size_t>(last), round_);
  }

  // For calls that must not wait (MPI 5.0 section 6.12).

  /// Whether the next round can be posted, with a payload of `bytes` bytes (0: none), without a
  /// wait for other members. Also true once a member has failed: then `post` does nothing.
  [[nodiscard]] bool can_post(std::size_t bytes) noexcept;
  /// Whether a member has posted this round.
  [[nodiscard]] bool arrived(int member) const noexcept {
    return posted(static_cast<std::size_t>(member), round_);
  }
  [[nodiscard]] bool all_arrived() noexcept;
  /// Whether a member has posted the round after this one already.
  [[nodiscard]] bool next_arrived(int member) const noexcept {
    return posted(static_cast<std::size_t>(member), round_ + 1);
  }
  /// The length that the member has posted for that round.
  [[nodiscard]] std::uint32_t next_whole_bytes(int member) const noexcept {
    const Member& from = members_[static_cast<std::size_t>(member)];
    return from.coll_area->slots[(round_ + 1) % depth].whole_bytes;
  }
  [[nodiscard]] bool next_has_length(int member, std::uint64_t whole_bytes) const noexcept {
    return next_arrived(member) && next_whole_bytes(member) == clamped(whole_bytes);
  }

  /// What a member posted in this round, in memory that it may still write to: validate before use.
  /// Aligned to 16 bytes, longer payloads to 64.
  [[nodiscard]] const std::byte* payload(int member, std::size_t bytes) const noexcept {
    return payload_of(members_[static_cast<std::size_t>(member)], bytes);
  }
  /// Whether a member posted as much in this call as this process expects. All lengths of 4 GiB and
  /// more compare equal.
  [[nodiscard]] bool has_length(int member, std::uint64_t whole_bytes) const noexcept {
    return whole_bytes_of(member) == clamped(whole_bytes);
  }
  [[nodiscard]] std::uint32_t whole_bytes_of(int member) const noexcept {
    return members_[static_cast<std::size_t>(member)].coll_area->slots[round_ % depth].whole_bytes;
  }
  /// This member's own payload, for writing parts that no other member reads.
  [[nodiscard]] std::byte* own_payload(std::size_t bytes) noexcept {
    return payload_of(members_[static_cast<std::size_t>(self_)], bytes);
  }

  /// Private memory of the other members, in any round.
  [[nodiscard]] MemberMemory memory() noexcept { return {device_, members_, self_}; }

  // Shared work of a round, after `wait_all`: `claim` until there is none, `finish` each; then
  // `wait_finished`.

  [[nodiscard]] SharedWork work() const noexcept { return {members_[0].coll_area->work, round_}; }
  /// Marks a chunk that this process has claimed as done.
  void finish(int chunk) noexcept;
  [[nodiscard]] bool wait_finished(int chunks) noexcept;

  /// This process is done with the group; other members may not be.
  void leave() noexcept { own_.left.store(round_, std::memory_order_release); }

 private:
  /// Rounds to be ahead where each member has a core: no member waits for a context switch, and the
  /// payloads of more rounds would not stay in the writer's cache.
  static constexpr std::uint64_t warm_depth = 16;
  static constexpr std::uint32_t smallest_short_bytes = 4 * wire::coll_block_bytes;
  static constexpr std::uint32_t largest_short_bytes = 16 * smallest_short_bytes;

  /// How much of a staging buffer is for payloads of up to `coll_block_bytes` bytes.
  static constexpr std::uint32_t short_bytes(std::uint32_t staging) noexcept {
    return staging / 4 < largest_short_bytes ? std::max(staging / 4, smallest_short_bytes)
                                             : largest_short_bytes;
  }
  static constexpr std::uint32_t clamped(std::uint64_t bytes) noexcept {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(bytes, UINT32_MAX));
  }
  [[nodiscard]] std::uint32_t staging_bytes() const noexcept {
    return static_cast<std::uint32_t>(members_[static_cast<std::size_t>(self_)].staging.size());
  }
  template <class Fill, class Place>
  void post_payload(Length length, Fill&& fill, Place&& place) noexcept {
    const std::uint64_t round = round_ + 1;
    if (all_posted_ + max_ahead_ <= round) [[unlikely]] {
      if (!wait_all_posted(round - max_ahead_ / 2)) return;
    }
    const Member& self = members_[static_cast<std::size_t>(self_)];
    wire::CollSlot& slot = own_.slots[round % depth];
    if (length.bytes <= wire::coll_slot_bytes) {
      slot.place = 0;
      fill(slot.body.data(), base::StoreKind::cached);
    } else {
      const std::uint32_t chosen = place(round);
      if (failed_) [[unlikely]]
        return;
      slot.place = chosen;
      std::byte* const to = memory_at(self, chosen, length.bytes);
      // A swapped part is in this core's cache: the peer has just written it and this member read
      // it.
      if (length.bytes < channel::StoreChoice::least_bytes || BufferSwap::is_part(chosen)) {
        fill(to, base::StoreKind::cached);
      } else {
        store_choice_.write(length.bytes, [&](base::StoreKind stores) { fill(to, stores); });
      }
    }
    slot.whole_bytes = clamped(length.whole_bytes);
    round_ = round;
    publish();
  }
  /// Where a payload of a member is; inside a staging buffer whatever `place` is.
  [[nodiscard]] std::byte* memory_at(const Member& writer, std::uint32_t place,
                                     std::size_t bytes) const noexcept {
    if (BufferSwap::is_part(place) && bytes <= swap_.part_bytes()) {
      const std::span<std::byte> staging = members_[BufferSwap::member_of(place)].staging;
      return staging.data() + staging.size() - swap_.part_bytes();
    }
    return writer.staging.data() + (place + bytes <= writer.staging.size() ? place : 0);
  }
  [[nodiscard]] std::byte* payload_of(const Member& member, std::size_t bytes) const noexcept {
    wire::CollSlot& slot = member.coll_area->slots[round_ % depth];
    if (bytes <= wire::coll_slot_bytes) return slot.body.data();
    return memory_at(member, slot.place, bytes);
  }
  /// Before the round after an exchange: this member has read the other's payload.
  void end_swap() noexcept {
    if (!swap_.began()) return;
    const auto other = static_cast<std::size_t>(1 - self_);
    if (posted(other, round_)) [[likely]] {
      swap_.end(members_[other].coll_area->slots[round_ % depth].place);
    } else {
      swap_.give_up();
    }
  }
  std::uint32_t place_for(std::size_t bytes, std::uint64_t round) noexcept {
    StagingRing& ring = bytes <= wire::coll_block_bytes ? short_payloads_ : long_payloads_;
    return ring.place(static_cast<std::uint32_t>(bytes), round, all_posted_,
                      [this](std::uint64_t until) noexcept { (void)wait_all_posted(until); });
  }
  [[nodiscard]] bool posted(std::size_t member, std::uint64_t round) const noexcept {
    return members_[member].coll_area->slots[round % depth].round.load(std::memory_order_acquire) >=
           round;
  }
  void publish() noexcept {
    own_.slots[round_ % depth].round.store(round_, std::memory_order_release);
    wake_sleepers();
  }
  /// As the channel does after a packet: sleeping members set `asleep`, see
  /// device/progress/waiting.cc.
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
  /// Waits until all have posted `round`, at most this member's own. False: a member has failed.
  [[gnu::noinline]] bool wait_all_posted(std::uint64_t round) noexcept;
  /// Waits until all have read the slot that `round` will use. False: a member has failed.
  [[gnu::noinline]] bool free_slot(std::uint64_t round) noexcept;
  bool wait_posted(std::size_t begin, std::size_t end, std::uint64_t round) noexcept;
  /// Reads the slots of all members and advances `all_posted_`.
  void update_all_posted() noexcept;

  Device& device_;
  std::vector<Member> members_;
  wire::CollBlock& own_;
  int self_;
  std::uint32_t index_;
  std::uint64_t base_;
  std::uint64_t round_;
  std::uint64_t max_ahead_;   ///< how many rounds this member may be ahead of another
  std::uint64_t all_posted_;  ///< the last round that every member is known to have posted
  bool failed_ = false;
  BufferSwap swap_;
  StagingRing short_payloads_;
  StagingRing long_payloads_;
  channel::StoreChoice store_choice_;
};

/// The collective areas of this process: which are free, and which other members may still read.
class ShmCollAreaPool {
 public:
  /// For groups that agree on a collective area: the free ones as a bit mask; 0 if there is none,
  /// or while another group is being made. Each offer other than 0 is followed by `settle`.
  [[nodiscard]] std::uint64_t offer() noexcept;
  /// A round later than any on a collective area of this process.
  [[nodiscard]] std::uint64_t newest_round() const noexcept { return newest_round_; }
  /// The end of an offer, after `take` if the group was made.
  void settle() noexcept { offered_ = false; }
  void take(std::uint32_t index) noexcept { free_ &= ~(std::uint64_t{1} << index); }
  /// The group ends here.
  void give_back(ShmCollArea& coll_area) noexcept;

 private:
  /// A collective area whose group this process left.
  struct Leaving {
    std::uint32_t index;
    std::uint64_t base;
    std::vector<ShmCollArea::Member> members;
  };
  static_assert(wire::coll_blocks_per_area == 64);

  std::uint64_t free_ = ~std::uint64_t{0};
  std::uint64_t newest_round_ = 1;  ///< every member's `left` is less until it has left
  bool offered_ = false;
  std::vector<Leaving> leaving_;
};

}  // namespace fulmar::device
