// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <linux/membarrier.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <vector>

#include "device/device.h"

namespace fulmar::device {

enum class Threads { one, several };

inline constexpr std::uint64_t node_area_bytes = 8U << 20;

/// Devices over one mapping, as those of the ranks of a node, but in one process. `failures` is for device 0.
class Node {
 public:
  explicit Node(Threads threads, std::uint32_t size = 2, const FailureObserver& failures = {})
      : memory_(::mmap(nullptr, size * node_area_bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        pid_(static_cast<std::int32_t>(::getpid())),
        size_(size) {
    const bool barrier =
        ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
    for (std::uint32_t self = 0; self < size; ++self) {
      fabric::Shm::Config shm;
      shm.self = self;
      shm.size = size;
      shm.areas = static_cast<std::byte*>(memory_);
      shm.area_bytes = node_area_bytes;
      shm.processes.assign(size, {&pid_, nullptr});
      shm.token = self + 1;
      providers_.push_back(std::make_unique<fabric::Shm>(shm));
      locks_.push_back(std::make_unique<base::EngineLock>());
      locks_.back()->set_enabled(threads == Threads::several);
      Device::Config config;
      config.self = self;
      config.size = size;
      config.oversubscribed = true;
      config.has_membarrier = barrier;
      if (self == 0) config.failures = failures;
      devices_.push_back(std::make_unique<Device>(config, *locks_.back()));
      devices_.back()->use(*providers_.back());
      NodeChannel& node = *devices_.back()->node();
      node.channel().set_cut_through(channel::CutThrough::on);
      if (!barrier) node.channel().require_sender_fence();
    }
  }
  ~Node() {
    devices_.clear();
    ::munmap(memory_, size_ * node_area_bytes);
  }
  Device& device(std::uint32_t id) { return *devices_[id]; }

 private:
  void* memory_;
  std::atomic<std::int32_t> pid_;
  std::uint32_t size_;
  std::vector<std::unique_ptr<fabric::Shm>> providers_;
  std::vector<std::unique_ptr<base::EngineLock>> locks_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace fulmar::device
