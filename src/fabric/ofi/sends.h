// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "fabric/ofi/endpoint.h"

namespace fulmar::fabric::ofi {

/// A send in flight, with memory for the message, or for its front.
struct SendTicket : Ticket {
  std::span<std::byte> memory;
  std::uint32_t peer = 0;
  std::optional<std::uint64_t> token;  ///< of a packet posted in place
  void* descriptor = nullptr;          ///< of the memory
  bool is_copy = true;                 ///< no other memory goes out with this one
  bool in_use = false;
  bool abandoned = false;  ///< replaced by another ticket
  SendTicket* next = nullptr;
};

/// Memory for messages in flight to all peers: a fixed number of short and long buffers, and a further one
/// for each abandoned one. Pages that were never used cost nothing.
class SendPool {
 public:
  static constexpr std::size_t short_bytes = 4096;
  static constexpr std::size_t short_count = 256;
  static constexpr std::size_t long_count = 16;

  explicit SendPool(std::size_t long_bytes);

  /// All memory, for Endpoint::enlist; `descriptor` is its result.
  [[nodiscard]] std::span<std::byte> memory() noexcept;
  void set_descriptor(void* descriptor) noexcept;

  /// A piece of at least `bytes` (at most long_bytes); null if all such pieces are in use.
  [[nodiscard]] SendTicket* take(std::size_t bytes) noexcept;
  void give_back(SendTicket& ticket) noexcept;
  [[nodiscard]] std::size_t in_use() const noexcept { return in_use_; }

  /// The tickets in use for a peer, without abandoned ones.
  [[nodiscard]] std::vector<SendTicket*> under_way_to(std::uint32_t peer);
  /// Abandons a ticket, which is given back when its send ends, if ever. Returns another one with memory of
  /// the same size, in use; the caller sets its descriptor.
  [[nodiscard]] SendTicket& replace(SendTicket& ticket);

 private:
  std::size_t long_bytes_;
  std::unique_ptr<std::byte[]> bytes_;
  std::deque<SendTicket> tickets_;                     ///< they stay where they are
  std::vector<std::unique_ptr<std::byte[]>> further_;  ///< of those that took another's place
  SendTicket* free_short_ = nullptr;
  SendTicket* free_long_ = nullptr;
  std::size_t in_use_ = 0;
};

}  // namespace fulmar::fabric::ofi
