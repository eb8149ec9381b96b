// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/device.h"
#include "fabric/shm/shm.h"

namespace fulmar::device {

/// The shared memory of a node whose ranks are in one process: one mapping for all of them. Outlives
/// the devices that use it.
class NodeAreas {
 public:
  static constexpr std::uint64_t bytes_of_each = 8U << 20;

  explicit NodeAreas(std::uint32_t size)
      : memory_(::mmap(nullptr, size * bytes_of_each, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        pid_(static_cast<std::int32_t>(::getpid())),
        size_(size),
        barrier_(::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0) {
    for (std::uint32_t self = 0; self < size; ++self) {
      fabric::Shm::Config shm;
      shm.self = self;
      shm.size = size;
      shm.areas = static_cast<std::byte*>(memory_);
      shm.area_bytes = bytes_of_each;
      shm.processes.assign(size, {&pid_, nullptr});
      shm.token = self + 1;
      providers_.push_back(std::make_unique<fabric::Shm>(shm));
    }
  }
  ~NodeAreas() { ::munmap(memory_, size_ * bytes_of_each); }
  NodeAreas(const NodeAreas&) = delete;
  NodeAreas& operator=(const NodeAreas&) = delete;

  /// Of the device of rank `self`.
  [[nodiscard]] Device::Config config_of(std::uint32_t self) const {
    Device::Config config;
    config.self = self;
    config.size = size_;
    config.oversubscribed = true;
    config.has_membarrier = barrier_;
    return config;
  }
  /// Gives that device the memory. In any order, but before messages.
  void give(Device& device, std::uint32_t self) {
    device.use(*providers_[self]);
    NodeChannel& node = *device.node();
    node.channel().set_cut_through(channel::CutThrough::on);
    if (!barrier_) node.channel().require_sender_fence();
  }

 private:
  void* memory_;
  std::atomic<std::int32_t> pid_;
  std::uint32_t size_;
  bool barrier_;
  std::vector<std::unique_ptr<fabric::Shm>> providers_;
};

}  // namespace fulmar::device
