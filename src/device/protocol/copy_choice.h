// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <utility>

namespace fulmar::device {

/// How the bytes of a long message are copied, where there is a choice.
enum class LongCopy : std::uint8_t {
  automatic,
  share,   ///< single copies through the kernel, by both sides
  stream,  ///< two copies through the ring, at the same time
};

/// Measures which way is faster on this machine, at this time.
///
/// A single copy through the kernel moves each byte once but pays for every page that it pins; a
/// copy through shared memory moves it twice, on two cores at a time, out of caches. Which wins
/// depends on the processor (seen: 27 against 31 GB/s on one kind, 41 against 20 on another), on
/// how far apart the cores are, which a virtual machine's host may change at any time, and on
/// whether messages come one by one or in queues. So the receiver times its transfers, and those of
/// a size class mostly go the way that is faster.
///
/// A single transfer is a poor sample: a sender may have run ahead through the ring while the
/// receiver was busy with earlier messages, and memory that is touched for the first time is slow.
/// So messages use the same way in spells, and the first half of a spell that changes the way does
/// not count. The counted ones are summed up: messages of a queue end in bursts, so neither the
/// best nor the median is representative. Now and then a spell tries the other way, soon at first
/// and then more rarely; more rarely, too, where that way is far slower. A class of which nothing is
/// known takes the way of the class of half its length where that is far faster: the first messages
/// of each length count as well.
///
/// Where both sides send, two of these decide, and the measurements of one depend on the choice of
/// the other: beside kernel copies of the other direction the ring seems slow even where it would
/// be twice as fast for both. So both try at the same count of messages, which in programs of that
/// kind is the same time; and the cost of the way in use rises slowly, so that a receiver that has
/// measured a fast way keeps it until the other has measured it, too.
class CopyChoice {
 public:
  explicit CopyChoice(LongCopy fixed) noexcept : fixed_(fixed) {}

  /// Changes the way; what was measured stays.
  void fix(LongCopy way) noexcept { fixed_ = way; }

  /// The choice for one message.
  struct Pick {
    LongCopy way = LongCopy::automatic;
    bool counts = false;  ///< `record` is to be called when it is complete
  };

  /// The way of the next message of `length` bytes.
  [[nodiscard]] Pick pick(std::uint64_t length) noexcept {
    if (fixed_ != LongCopy::automatic) return {fixed_, false};
    Class& one = classes_[index(length)];
    if (one.left == 0) {
      one.left = spell(length);
      const LongCopy before = std::exchange(one.way, next_way(one, classes_[index(length) - 1]));
      one.uncounted = before == one.way ? 0 : spell(length) / 2;
    }
    --one.left;
    if (one.uncounted == 0) return {one.way, true};
    --one.uncounted;
    return {one.way, false};
  }

  /// A message that counts is complete; it occupied the path from its sender for `ns`.
  void record(LongCopy way, std::uint64_t length, std::uint64_t ns) noexcept {
    Class& one = classes_[index(length)];
    Sum& sum = way == LongCopy::share ? one.shared : one.streamed;
    sum.ns += ns;
    sum.bytes += length;
    if (++sum.messages >= spell(length) / 2) settle(one, way, std::exchange(sum, {}));
  }

  /// Nanoseconds a byte, as far as known; 0 if not.
  [[nodiscard]] float cost(LongCopy way, std::uint64_t length) const noexcept {
    const Class& one = classes_[index(length)];
    return way == LongCopy::share ? one.share : one.stream;
  }

  /// How many messages of `length` bytes use the same way before another may be chosen. Half of
  /// them are as much as a ring holds.
  static constexpr std::uint32_t spell(std::uint64_t length) noexcept {
    const std::uint64_t wanted = spell_bytes >> (index(length) - 1);
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, 8, 32));
  }

 private:
  static constexpr std::uint64_t spell_bytes = std::uint64_t{4} << 20;
  /// From this spell on every so many go the other way, before it those of a power of two do.
  static constexpr std::uint32_t trial_spells = 128;
  static constexpr std::uint32_t known_first_trial = 4;
  static constexpr std::uint32_t clear_first_trial = 16;
  static constexpr float clear_ratio = 1.5F;
  static constexpr float most_rise = 1.15F;
  static constexpr float least_cost = 1e-6F;  ///< 0 means unknown

  /// Of the messages that count since the cost of their way was settled.
  struct Sum {
    std::uint64_t ns = 0;
    std::uint64_t bytes = 0;
    std::uint32_t messages = 0;
  };
  struct Class {
    float share = 0;  ///< cost
    float stream = 0;
    Sum shared;
    Sum streamed;
    LongCopy way = LongCopy::automatic;  ///< of the spell that is picked
    std::uint32_t left = 0;              ///< messages of it
    std::uint32_t uncounted = 0;         ///< of those, that do not count
    std::uint32_t spells = 0;            ///< picked so far
  };

  static constexpr std::size_t index(std::uint64_t length) noexcept {
    return std::clamp<std::size_t>(static_cast<std::size_t>(std::bit_width(length)), 1, 31);
  }
  static constexpr LongCopy other(LongCopy way) noexcept {
    return way == LongCopy::share ? LongCopy::stream : LongCopy::share;
  }

  static LongCopy faster(const Class& one) noexcept {
    return one.share < one.stream ? LongCopy::share : LongCopy::stream;
  }

  /// Whether both costs are known, and one is far higher.
  static bool is_clear(const Class& one) noexcept {
    return one.share != 0 && one.stream != 0 &&
           std::max(one.share, one.stream) > clear_ratio * std::min(one.share, one.stream);
  }

  /// `shorter` is the class of half the length.
  static LongCopy next_way(Class& one, const Class& shorter) noexcept {
    const std::uint32_t spell = one.spells++;
    if (spell == 0 && is_clear(shorter)) {
      one.share = shorter.share;
      one.stream = shorter.stream;
    }
    if (one.share == 0 || one.stream == 0) {
      return spell % 2 == 0 ? LongCopy::share : LongCopy::stream;
    }
    const std::uint32_t first_trial = is_clear(one) ? clear_first_trial : known_first_trial;
    const bool trial = spell < trial_spells ? std::has_single_bit(spell) && spell >= first_trial
                                            : spell % trial_spells == 0;
    return trial ? other(faster(one)) : faster(one);
  }

  static void settle(Class& one, LongCopy way, const Sum& sum) noexcept {
    float measured = static_cast<float>(sum.ns) / static_cast<float>(sum.bytes);
    float& cost = way == LongCopy::share ? one.share : one.stream;
    if (cost != 0 && way == faster(one)) measured = std::min(measured, cost * most_rise);
    cost = std::max(measured, least_cost);
  }

  LongCopy fixed_;
  std::array<Class, 32> classes_{};
};

/// What a sender knows of the way that its long messages to ranks of the node take: it puts the first bytes behind
/// the announcement of those that have lately been streamed, so that the receiver copies them while its answer is
/// under way. One at a time: in a queue of messages the answer is there before it is needed.
class Heads {
 public:
  /// Bytes that travel with the announcement, and the longest message for which that counts.
  static constexpr std::uint64_t head_bytes = std::uint64_t{32} << 10;
  static constexpr std::uint64_t longest_bytes = std::uint64_t{1} << 20;

  [[nodiscard]] std::uint64_t wanted(std::uint64_t length) const noexcept {
    const bool fits = length > head_bytes && length <= longest_bytes;
    return fits && under_way_ == nullptr && (lengths_ & bit(length)) != 0 ? head_bytes : 0;
  }
  /// The announcement of `send` has left with a head.
  void begin(const void* send) noexcept { under_way_ = send; }
  /// The answer to it has come, or will not.
  void end(const void* send) noexcept {
    if (under_way_ == send) under_way_ = nullptr;
  }
  /// How a message was or is moved.
  void note(std::uint64_t length, bool streamed) noexcept {
    lengths_ = streamed ? lengths_ | bit(length) : lengths_ & ~bit(length);
  }

 private:
  static constexpr std::uint64_t bit(std::uint64_t length) noexcept {
    return std::uint64_t{1} << (std::bit_width(length) & 63);
  }

  const void* under_way_ = nullptr;
  std::uint64_t lengths_ = 0;  ///< bit n: of lengths with n significant bits
};

/// The timed messages of one sender: how long each occupied the path from the sender. In a
/// queue that is counted from the end of the previous one.
class Occupied {
 public:
  /// A message that was requested at `asked_ns` is complete at `now_ns`, of the same clock.
  std::uint64_t end(std::uint64_t asked_ns, std::uint64_t now_ns) noexcept {
    return now_ns - std::max(asked_ns, std::exchange(end_ns_, now_ns));
  }

 private:
  std::uint64_t end_ns_ = 0;
};

}  // namespace fulmar::device
