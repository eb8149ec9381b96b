// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "fulmar/measure/batches.h"

namespace fulmar::raw {

inline constexpr std::size_t line = 64;

/// A variable alone in its cache line (two lines, because processors fetch neighbours in pairs).
template <typename Value>
struct alignas(2 * line) Alone {
  std::atomic<Value> value{};
};

/// Memory shared by the processes of one test; anonymous, gone with the last of them.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  template <typename Object>
  [[nodiscard]] Object& at(std::size_t offset) const {
    return *reinterpret_cast<Object*>(data_ + offset);
  }

 private:
  std::byte* data_;
  std::size_t bytes_;
};

/// What a process of a test knows.
struct Member {
  int rank;
  int size;
  int other_pid;         ///< of the other process, in a team of two
  measure::Agree agree;  ///< rank 0's value on all
};

enum class Placement { pinned, free };

/// Forks size-1 processes, runs `body` on all of them and returns rank 0's point. Pinned processes
/// are bound to one core each, round robin; free ones go where the scheduler puts them. Ends the
/// program if a process fails.
measure::Point run_team(int size, Placement placement,
                        const std::function<measure::Point(const Member&)>& body);

/// Tells the processor that this is a spin loop.
inline void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace fulmar::raw
