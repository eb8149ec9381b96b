// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <cstring>

#include "rwapi/rwapi.h"
#include "wire/interfaces/rwapi.h"

/// Small messages between processes of one host: a message is one cache line, which the sender writes
/// in the receiver's arena (wire::RwapiSmallQueue) and the receiver takes from there. Neither makes a
/// system call, takes a lock or reads a line that the other one keeps writing to.
///
/// Thread rule: one thread at a time at each end. Nothing that the other end writes is believed.
namespace fulmar::rwapi {

static_assert(RWAPI_QUEUE == wire::rwapi_queue_cells);
static_assert(RWAPI_SMALL_BYTES == wire::rwapi_small_bytes);

/// The sender's end.
class SmallSender {
 public:
  SmallSender() = default;
  explicit SmallSender(wire::RwapiSmallQueue* queue) noexcept : queue_(queue) {}
  /// For tests: after so many messages.
  [[nodiscard]] static SmallSender at(wire::RwapiSmallQueue* queue, std::uint32_t sent) noexcept {
    SmallSender sender(queue);
    sender.sent_ = sender.taken_ = sent;
    return sender;
  }
  /// False: messages to this process do not go this way.
  [[nodiscard]] bool is_open() const noexcept { return queue_ != nullptr; }
  /// False: RWAPI_QUEUE messages wait to be taken.
  [[nodiscard]] bool send(const rwapi_small& message) noexcept {
    if (sent_ - taken_ >= wire::rwapi_queue_cells) {
      taken_ = queue_->taken.load(std::memory_order_acquire);
      if (sent_ - taken_ >= wire::rwapi_queue_cells) return false;
    }
    wire::RwapiSmallCell& cell = queue_->cells[sent_ % wire::rwapi_queue_cells];
    std::memcpy(cell.content.data(), message.data, sizeof message.data);
    cell.number.store(++sent_, std::memory_order_release);
    return true;
  }

 private:
  wire::RwapiSmallQueue* queue_ = nullptr;
  std::uint32_t sent_ = 0;
  std::uint32_t taken_ = 0;  ///< at least so many, by the last look
};

/// The receiver's end.
class SmallReceiver {
 public:
  explicit SmallReceiver(wire::RwapiSmallQueue& queue) noexcept : queue_(&queue) {}
  /// For tests: after so many messages.
  [[nodiscard]] static SmallReceiver at(wire::RwapiSmallQueue& queue,
                                        std::uint32_t taken) noexcept {
    SmallReceiver receiver(queue);
    receiver.taken_ = taken;
    return receiver;
  }
  /// False: there is none.
  [[nodiscard]] bool receive(rwapi_small& message) noexcept {
    const wire::RwapiSmallCell& cell = queue_->cells[taken_ % wire::rwapi_queue_cells];
    if (cell.number.load(std::memory_order_acquire) != taken_ + 1) return false;
    std::memcpy(message.data, cell.content.data(), sizeof message.data);
    queue_->taken.store(++taken_, std::memory_order_release);
    return true;
  }

 private:
  wire::RwapiSmallQueue* queue_;
  std::uint32_t taken_ = 0;
};

}  // namespace fulmar::rwapi
