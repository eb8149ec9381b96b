// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/async/io_ring.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/clock.h"

namespace fulmar::io {
namespace {

/// The kernel moves no more in one call.
constexpr std::size_t most_bytes_an_order = 0x7ffff000;

bool is_passing(int error) noexcept { return error == EINTR || error == EAGAIN; }

}  // namespace

int IoRing::open() noexcept {
  if (runs_) return 0;
  bell_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!bell_.valid()) return errno;
  if (const int error = queues_.open(); error != 0) return error;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int error = ::pthread_create(&thread_, nullptr, run, this);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  runs_ = error == 0;
  if (!runs_) queues_.close();
  return error;
}

void IoRing::submit(BlockTransfer& transfer) noexcept {
  transfer.next = nullptr;
  transfer.begin_ns = base::now_ns();
  const std::lock_guard guard(mutex_);
  *last_ = &transfer;
  last_ = &transfer.next;
  ring_bell();
}

void IoRing::ring_bell() noexcept {
  if (bell_rung_) return;
  bell_rung_ = true;
  const std::uint64_t one = 1;
  // An eventfd is full after 2^64 - 2 of them; a signal does not interrupt a write that need not wait.
  (void)!::write(bell_.get(), &one, sizeof one);
}

void IoRing::stop() noexcept {
  if (!runs_) return;
  {
    const std::lock_guard guard(mutex_);
    stops_ = true;
    ring_bell();
  }
  (void)::pthread_join(thread_, nullptr);
  runs_ = false;
  stops_ = false;
  bell_rung_ = false;
  queues_.close();
}

void* IoRing::run(void* self) noexcept {
  ::pthread_setname_np(::pthread_self(), "fulmar-ring");
  static_cast<IoRing*>(self)->work();
  return nullptr;
}

/// The bell has been heard. Whether the thread goes on when all is done.
bool IoRing::take_new() noexcept {
  const std::lock_guard guard(mutex_);
  bell_rung_ = false;
  if (first_ != nullptr) {
    *last_waiting_ = first_;
    last_waiting_ = last_;
    first_ = nullptr;
    last_ = &first_;
  }
  return !stops_;
}

void IoRing::start(BlockTransfer& transfer) noexcept {
  const std::span<std::byte> rest = transfer.memory.subspan(transfer.moved);
  queues_.put({transfer.kind == BlockTransfer::Kind::write, transfer.file, rest.data(),
               static_cast<std::uint32_t>(std::min(rest.size(), most_bytes_an_order)),
               transfer.offset + static_cast<std::int64_t>(transfer.moved),
               reinterpret_cast<std::uintptr_t>(&transfer)});
}

/// What the kernel says of an order: the transfer goes on, or is done.
void IoRing::finish(BlockTransfer& transfer, std::int32_t result) noexcept {
  if (result > 0) transfer.moved += static_cast<std::size_t>(result);
  const bool ends = result == 0 || transfer.moved == transfer.memory.size();
  if (!ends && (result > 0 || is_passing(-result))) return start(transfer);
  if (result < 0) transfer.error = -result;
  if (result == 0 && transfer.kind == BlockTransfer::Kind::write) transfer.error = EIO;
  --under_way_;
  receiver_.done(receiver_.context, transfer);
}

void IoRing::work() noexcept {
  constexpr std::uint64_t bell_token = 0;
  std::array<KernelQueues::Outcome, KernelQueues::depth> room;
  bool heard = true;  // what was submitted before is waiting
  bool goes_on = true;
  while (goes_on || under_way_ > 0 || waiting_ != nullptr) {
    if (heard) {
      queues_.put({false, bell_.get(), &bell_count_, sizeof bell_count_, 0, bell_token});
      heard = false;
    }
    while (waiting_ != nullptr && under_way_ < KernelQueues::depth - 1) {
      BlockTransfer& next = *waiting_;
      waiting_ = next.next;
      if (waiting_ == nullptr) last_waiting_ = &waiting_;
      ++under_way_;
      start(next);
    }
    queues_.pass();
    for (const KernelQueues::Outcome& outcome : queues_.take(room)) {
      if (outcome.token == bell_token) {
        heard = true;
        goes_on = take_new();
      } else {
        finish(*reinterpret_cast<BlockTransfer*>(outcome.token), outcome.result);
      }
    }
  }
}

}  // namespace fulmar::io
