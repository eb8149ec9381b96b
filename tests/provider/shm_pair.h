// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <new>

#include "fabric/shm/shm.h"

namespace fulmar::fabric {

/// The memory of two ranks, shared with processes that are forked later.
class ShmPair {
 public:
  static constexpr std::uint64_t area_bytes = 1U << 20;

  struct Words {
    std::atomic<std::int32_t> pid[2];
    std::atomic<std::uint32_t> gone[2];
    std::atomic<std::uint64_t> address;
  };

  ShmPair() {
    memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    words = new (static_cast<std::byte*>(memory_) + 2 * area_bytes) Words();
    for (auto& pid : words->pid) pid = static_cast<std::int32_t>(::getpid());
  }
  ~ShmPair() { ::munmap(memory_, bytes); }
  ShmPair(const ShmPair&) = delete;
  ShmPair& operator=(const ShmPair&) = delete;

  [[nodiscard]] Shm::Config config(std::uint32_t self) const {
    Shm::Config config;
    config.self = self;
    config.size = 2;
    config.areas = static_cast<std::byte*>(memory_);
    config.area_bytes = area_bytes;
    for (unsigned rank = 0; rank < 2; ++rank) {
      config.processes.push_back({&words->pid[rank], &words->gone[rank]});
    }
    config.token = 0x1234567890abcdef + self;
    return config;
  }
  [[nodiscard]] wire::AreaControl& control(std::uint32_t rank) const {
    return *reinterpret_cast<wire::AreaControl*>(static_cast<std::byte*>(memory_) +
                                                 rank * area_bytes);
  }
  Words* words = nullptr;

 private:
  static constexpr std::uint64_t bytes = 2 * area_bytes + 4096;
  void* memory_ = nullptr;
};

}  // namespace fulmar::fabric
