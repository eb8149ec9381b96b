// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/collective/window_job.h"

#include <algorithm>
#include <new>

namespace fulmar::mpi {
namespace {

/// Gaps that are read along are no longer than this on average: what a call costs is copied in the
/// same time.
constexpr Count largest_read_gap = 4096;

}  // namespace

void merge(std::vector<Extent>& extents) {
  if (extents.size() < 2) return;
  const auto earlier = [](const Extent& a, const Extent& b) { return a.first < b.first; };
  if (!std::is_sorted(extents.begin(), extents.end(), earlier)) {
    std::sort(extents.begin(), extents.end(), earlier);
  }
  std::size_t last = 0;
  for (std::size_t i = 1; i < extents.size(); ++i) {
    if (extents[i].first <= extents[last].end) {
      extents[last].end = std::max(extents[last].end, extents[i].end);
    } else {
      extents[++last] = extents[i];
    }
  }
  extents.resize(last + 1);
}

WindowJob::WindowJob(File& file, Direction direction, Locking locking) noexcept
    : file_(file), direction_(direction), locking_(locking) {
  file_.library->acquire(file_);
  operation = &completion_;
  completion_.on_done = on_done;
}

WindowJob::~WindowJob() { file_.library->release(file_); }

WindowJob::Ref WindowJob::make(File& file, Direction direction, Locking locking) noexcept {
  return Ref(new (std::nothrow) WindowJob(file, direction, locking));
}

bool WindowJob::place(Extent where) noexcept {
  const Count bytes = where.end - where.first;
  if (bytes > room_) {
    memory_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
    room_ = memory_ == nullptr ? 0 : bytes;
  }
  where_ = where;
  return bytes <= room_;
}

void WindowJob::start() noexcept { file_.library->files->submit(*this); }

CollContext::Wait WindowJob::wait(CollContext& exchange) noexcept {
  if (under_way()) {
    awaited_ = true;
    exchange.expect(part_);
    part_.transfer.operation.stage = device::Stage::queued;
  }
  return exchange.wait_for(part_);
}

void WindowJob::on_done(device::Operation& operation) noexcept {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winvalid-offsetof"
  auto& job = *reinterpret_cast<WindowJob*>(reinterpret_cast<std::byte*>(&operation) -
                                            offsetof(WindowJob, completion_));
#pragma GCC diagnostic pop
  if (job.orphaned_) {
    delete &job;
  } else if (job.awaited_) {
    job.awaited_ = false;
    job.file_.library->device->complete(job.part_.transfer.operation);
  }
}

void WindowJob::let_go() noexcept {
  if (under_way()) {
    orphaned_ = true;
  } else {
    delete this;
  }
}

void WindowJob::run() noexcept {
  error_ = {};
  valid_end_ = std::numeric_limits<Count>::max();
  if (extents.empty()) return;
  if (direction_ == Direction::read) {
    read_all();
  } else {
    write_all();
  }
}

bool WindowJob::read_extent(const Extent& extent) noexcept {
  const auto bytes = static_cast<std::size_t>(extent.end - extent.first);
  const auto got = file_.open->file.read(extent.first, std::span(memory_at(extent.first), bytes));
  error_ = got.error();
  if (got.failed() || got.value() == bytes) return got.ok();
  valid_end_ = extent.first + static_cast<Count>(got.value());
  return false;
}

void WindowJob::read_all() noexcept {
  Count data = 0;
  for (const Extent& extent : extents) data += extent.end - extent.first;
  const Extent whole{extents.front().first, extents.back().end};
  const Count gaps = whole.end - whole.first - data;
  if (gaps <= largest_read_gap * static_cast<Count>(extents.size())) {
    (void)read_extent(whole);
    return;
  }
  for (const Extent& extent : extents) {
    if (!read_extent(extent)) return;
  }
}

/// An independent write of a rank may be under way beside a non-blocking or split collective one. If it sieves, it writes
/// back what it has read between its data.
void WindowJob::write_all() noexcept {
  io::RangeLock lock;
  if (locking_ == Locking::of_writes) {
    const Extent whole{extents.front().first, extents.back().end};
    error_ = lock.acquire(file_.open->file, whole.first, whole.end - whole.first,
                          io::RangeLock::Mode::exclusive);
    if (error_.failed()) return;
  }
  for (const Extent& extent : extents) {
    const auto bytes = static_cast<std::size_t>(extent.end - extent.first);
    error_ = file_.open->file.write(extent.first, std::span(memory_at(extent.first), bytes));
    if (error_.failed()) return;
  }
}

}  // namespace fulmar::mpi
