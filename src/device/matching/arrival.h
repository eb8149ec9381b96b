// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "match/matcher.h"
#include "wire/packets.h"

namespace fulmar::device {

struct Operation;

/// Where an `rts` says that the bytes are.
struct Announced {
  wire::Cookie send = 0;
  std::uint64_t address = 0;
  std::uint64_t flags = 0;
  std::uint64_t key = 0;
  std::uint32_t inlined = 0;  ///< bytes that came with it and are in place
};

/// An unexpected message: its bytes, or where the sender keeps them.
struct Arrival {
  enum class Kind : std::uint8_t {
    eager,       ///< the bytes follow this record
    eager_sync,  ///< the same, and the sender waits for an acknowledgement of the match
    announced,   ///< an rts: the bytes are at the sender
    local,       ///< a send of this process to itself that has not been matched
  };

  match::Unexpected unexpected;
  Kind kind = Kind::eager;
  std::uint8_t flags = 0;      ///< of the rts of an announced one
  std::uint16_t inlined = 0;   ///< bytes of an announced one that came with it: behind this record
  std::uint32_t capacity = 0;  ///< bytes behind the record
  std::uint64_t length = 0;    ///< of the message
  wire::Cookie send = 0;
  std::uint64_t address = 0;
  std::uint64_t order = 0;  ///< of a message that was kept, at its sender
  union {
    Operation* local = nullptr;  ///< of local ones
    std::uint64_t rkey;          ///< of announced ones: the key of the rts
  };

  [[nodiscard]] const match::Key& key() const noexcept { return unexpected.key; }
  /// Of an announced message.
  [[nodiscard]] Announced announced() const noexcept {
    return {send, address, flags, rkey, inlined};
  }
  [[nodiscard]] std::byte* bytes() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  static Arrival* of(match::Unexpected* unexpected) noexcept {
    return reinterpret_cast<Arrival*>(unexpected);
  }
};

/// Records of arrivals, and how many bytes they take. Short ones are reused without the allocator.
class ArrivalPool {
 public:
  ArrivalPool() = default;
  ~ArrivalPool();
  ArrivalPool(const ArrivalPool&) = delete;
  ArrivalPool& operator=(const ArrivalPool&) = delete;

  /// A record followed by space for `bytes` bytes; nullptr when memory is used up.
  [[nodiscard]] Arrival* make(std::uint64_t bytes) noexcept;
  void free(Arrival* arrival) noexcept;
  /// Bytes of live records.
  [[nodiscard]] std::uint64_t bytes_in_use() const noexcept { return in_use_; }

 private:
  static constexpr std::uint32_t short_capacity = 64;
  static constexpr std::uint32_t most_spare = 256;

  Arrival* spare_ = nullptr;  ///< chained through unexpected.in_order.next
  std::uint32_t spare_count_ = 0;
  std::uint64_t in_use_ = 0;
};

}  // namespace fulmar::device
