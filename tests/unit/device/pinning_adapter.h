// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <linux/io_uring.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "base/os/fd.h"
#include "device/regcache/registrations.h"

namespace fulmar::device {

/// An adapter without hardware that sees pages as one with hardware does: io_uring pins the buffers
/// that are registered with it, by the same function of the kernel as RDMA drivers (long-term
/// pins), and then moves bytes between the pinned pages and a file, whatever is mapped at their
/// addresses by now. `read` is thus what a peer would fetch, `write` what a peer would put. One
/// thread at a time.
class PinningAdapter final : public Registrar {
 public:
  explicit PinningAdapter(std::size_t most_bytes) : used_(slots, 0) {
    const char* const failed = set_up(most_bytes);
    if (failed != nullptr) {
      refusal_ =
          std::string("no io_uring to pin pages with: ") + failed + ": " + std::strerror(errno);
    }
  }
  PinningAdapter(const PinningAdapter&) = delete;
  PinningAdapter& operator=(const PinningAdapter&) = delete;
  ~PinningAdapter() override {
    for (const std::span<std::byte> each : mappings_) ::munmap(each.data(), each.size());
  }

  /// Why it does not work here; empty if it does.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  [[nodiscard]] std::size_t open_regions() const { return open_; }

  base::Result<fabric::MemoryRegion> open(std::span<std::byte> memory, fabric::Access) override {
    for (std::size_t i = 0; i < slots; ++i, next_ = (next_ + 1) % slots) {
      if (used_[next_] != 0) continue;
      const iovec buffer{memory.data(), memory.size()};
      if (update(next_, buffer) < 0) {
        return base::failure(base::ErrorClass::no_mem, "pinning: %s", std::strerror(errno));
      }
      used_[next_] = 1;
      ++open_;
      const auto key = static_cast<std::uint32_t>(next_);
      return fabric::MemoryRegion{next_, key, key};
    }
    return base::failure(base::ErrorClass::no_mem, "all %zu slots are in use", slots);
  }
  void close(const fabric::MemoryRegion& opened) override {
    (void)update(opened.handle, iovec{nullptr, 0});
    used_[opened.handle] = 0;
    --open_;
  }

  /// What lies in the pinned pages of `memory`, which was opened with this key.
  [[nodiscard]] bool read(std::uint32_t key, std::span<const std::byte> memory,
                          std::span<std::byte> to) {
    return move(IORING_OP_WRITE_FIXED, key, memory) &&
           ::pread(file_.get(), to.data(), memory.size(), 0) == static_cast<ssize_t>(memory.size());
  }
  [[nodiscard]] bool write(std::uint32_t key, std::span<const std::byte> memory,
                           std::span<const std::byte> from) {
    return ::pwrite(file_.get(), from.data(), memory.size(), 0) ==
               static_cast<ssize_t>(memory.size()) &&
           move(IORING_OP_READ_FIXED, key, memory);
  }

 private:
  static constexpr std::size_t slots = 512;

  /// The call that failed, or null.
  const char* set_up(std::size_t most_bytes) {
    ring_.reset(static_cast<int>(::syscall(SYS_io_uring_setup, 1, &params_)));
    if (!ring_.valid()) return "io_uring_setup";
    const std::size_t ring_bytes =
        std::max(params_.sq_off.array + params_.sq_entries * sizeof(unsigned),
                 params_.cq_off.cqes + params_.cq_entries * sizeof(io_uring_cqe));
    sq_ = map(ring_bytes, IORING_OFF_SQ_RING);
    cq_ = map(ring_bytes, IORING_OFF_CQ_RING);
    orders_ = reinterpret_cast<io_uring_sqe*>(
        map(params_.sq_entries * sizeof(io_uring_sqe), IORING_OFF_SQES));
    if (sq_ == nullptr || cq_ == nullptr || orders_ == nullptr) return "mmap";
    io_uring_rsrc_register sparse{};
    sparse.nr = slots;
    sparse.flags = IORING_RSRC_REGISTER_SPARSE;
    if (::syscall(SYS_io_uring_register, ring_.get(), IORING_REGISTER_BUFFERS2, &sparse,
                  sizeof sparse) < 0) {
      return "io_uring_register";
    }
    file_.reset(::memfd_create("pinning_adapter", MFD_CLOEXEC));
    return ::ftruncate(file_.get(), static_cast<off_t>(most_bytes)) == 0 ? nullptr : "ftruncate";
  }
  std::byte* map(std::size_t bytes, off_t offset) {
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring_.get(), offset);
    if (memory == MAP_FAILED) return nullptr;
    mappings_.push_back({static_cast<std::byte*>(memory), bytes});
    return mappings_.back().data();
  }
  long update(std::size_t slot, const iovec& buffer) {
    io_uring_rsrc_update2 update{};
    update.offset = static_cast<unsigned>(slot);
    update.data = reinterpret_cast<std::uintptr_t>(&buffer);
    update.nr = 1;
    return ::syscall(SYS_io_uring_register, ring_.get(), IORING_REGISTER_BUFFERS_UPDATE, &update,
                     sizeof update);
  }
  [[nodiscard]] std::atomic_ref<unsigned> word(std::byte* ring, unsigned offset) const {
    return std::atomic_ref<unsigned>(*reinterpret_cast<unsigned*>(ring + offset));
  }
  /// One order, and its completion.
  bool move(std::uint8_t operation, std::uint32_t key, std::span<const std::byte> memory) {
    const auto tail = word(sq_, params_.sq_off.tail);
    const unsigned mask = word(sq_, params_.sq_off.ring_mask).load();
    const unsigned place = tail.load() & mask;
    io_uring_sqe& order = orders_[place];
    order = {};
    order.opcode = operation;
    order.fd = file_.get();
    order.addr = reinterpret_cast<std::uintptr_t>(memory.data());
    order.len = static_cast<unsigned>(memory.size());
    order.buf_index = static_cast<std::uint16_t>(key);
    reinterpret_cast<unsigned*>(sq_ + params_.sq_off.array)[place] = place;
    tail.store(tail.load() + 1, std::memory_order_release);
    while (::syscall(SYS_io_uring_enter, ring_.get(), 1, 1, IORING_ENTER_GETEVENTS, nullptr, 0) <
           0) {
      if (errno != EINTR) return false;
    }
    const auto head = word(cq_, params_.cq_off.head);
    const unsigned cq_mask = word(cq_, params_.cq_off.ring_mask).load();
    while (head.load() == word(cq_, params_.cq_off.tail).load(std::memory_order_acquire)) continue;
    const auto* const done = reinterpret_cast<const io_uring_cqe*>(cq_ + params_.cq_off.cqes);
    const int moved = done[head.load() & cq_mask].res;
    head.store(head.load() + 1, std::memory_order_release);
    return moved == static_cast<int>(memory.size());
  }

  base::UniqueFd ring_;
  base::UniqueFd file_;
  std::string refusal_;
  std::vector<std::span<std::byte>> mappings_;
  io_uring_params params_{};
  std::byte* sq_ = nullptr;
  std::byte* cq_ = nullptr;
  io_uring_sqe* orders_ = nullptr;
  std::vector<char> used_;
  std::size_t next_ = 0;
  std::size_t open_ = 0;
};

}  // namespace fulmar::device
