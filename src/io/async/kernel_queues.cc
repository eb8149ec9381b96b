// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/async/kernel_queues.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <ctime>

namespace fulmar::io {
namespace {

/// The kernel reads and writes these words, too.
std::uint32_t load(std::uint32_t* word) noexcept {
  return std::atomic_ref(*word).load(std::memory_order_acquire);
}
void store(std::uint32_t* word, std::uint32_t value) noexcept {
  std::atomic_ref(*word).store(value, std::memory_order_release);
}

}  // namespace

void KernelQueues::close() noexcept {
  if (words_ != nullptr) ::munmap(words_, words_bytes_);
  if (orders_ != nullptr) ::munmap(orders_, orders_bytes_);
  words_ = nullptr;
  orders_ = nullptr;
  not_passed_ = 0;
  ring_.reset();
}

int KernelQueues::open() noexcept {
  const int error = set_up();
  if (error != 0) close();
  return error;
}

std::byte* KernelQueues::map(std::size_t bytes, std::int64_t offset) noexcept {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                              ring_.get(), offset);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

int KernelQueues::set_up() noexcept {
  io_uring_params given{};
  ring_.reset(static_cast<int>(::syscall(SYS_io_uring_setup, depth, &given)));
  if (!ring_.valid()) return errno;
  // One mapping for both queues, and orders that read and write without a list of pieces (Linux 5.6).
  constexpr std::uint32_t needed = IORING_FEAT_SINGLE_MMAP | IORING_FEAT_RW_CUR_POS;
  if ((given.features & needed) != needed) return ENOSYS;
  words_bytes_ = std::max(given.sq_off.array + given.sq_entries * sizeof(std::uint32_t),
                          given.cq_off.cqes + given.cq_entries * sizeof(io_uring_cqe));
  orders_bytes_ = given.sq_entries * sizeof(io_uring_sqe);
  words_ = map(words_bytes_, IORING_OFF_SQ_RING);
  orders_ = reinterpret_cast<io_uring_sqe*>(map(orders_bytes_, IORING_OFF_SQES));
  if (words_ == nullptr || orders_ == nullptr) return errno;
  const auto word = [&](std::uint32_t at) { return reinterpret_cast<std::uint32_t*>(words_ + at); };
  order_tail_ = word(given.sq_off.tail);
  order_mask_ = *word(given.sq_off.ring_mask);
  outcome_head_ = word(given.cq_off.head);
  outcome_tail_ = word(given.cq_off.tail);
  outcome_mask_ = *word(given.cq_off.ring_mask);
  outcomes_ = reinterpret_cast<const io_uring_cqe*>(words_ + given.cq_off.cqes);
  for (std::uint32_t i = 0; i < given.sq_entries; ++i) word(given.sq_off.array)[i] = i;
  // A sandbox may allow to make queues and forbid to use them.
  return ::syscall(SYS_io_uring_enter, ring_.get(), 0, 0, 0, nullptr, 0) < 0 ? errno : 0;
}

void KernelQueues::put(const Order& order) noexcept {
  const std::uint32_t tail = *order_tail_;  // only this thread changes it
  io_uring_sqe& entry = orders_[tail & order_mask_];
  entry = {};
  entry.opcode = order.writes ? IORING_OP_WRITE : IORING_OP_READ;
  entry.fd = order.file;
  entry.addr = reinterpret_cast<std::uintptr_t>(order.memory);
  entry.len = order.bytes;
  entry.off = static_cast<std::uint64_t>(order.offset);
  entry.user_data = order.token;
  store(order_tail_, tail + 1);
  ++not_passed_;
}

void KernelQueues::pass() noexcept {
  const long passed = ::syscall(SYS_io_uring_enter, ring_.get(), not_passed_, 1,
                                IORING_ENTER_GETEVENTS, nullptr, 0);
  if (passed >= 0) {
    not_passed_ -= static_cast<unsigned>(passed);
  } else if (errno != EINTR) {
    // No memory in the kernel at the moment.
    const timespec nap{0, 100'000};
    (void)::nanosleep(&nap, nullptr);
  }
}

std::span<KernelQueues::Outcome> KernelQueues::take(std::span<Outcome> room) noexcept {
  const std::uint32_t end = load(outcome_tail_);
  std::uint32_t at = *outcome_head_;  // only this thread changes it
  std::size_t found = 0;
  for (; at != end && found < room.size(); ++at, ++found) {
    const io_uring_cqe& entry = outcomes_[at & outcome_mask_];
    room[found] = {entry.user_data, entry.res};
  }
  store(outcome_head_, at);
  return room.first(found);
}

}  // namespace fulmar::io
