// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/file_trace.h"

#include <algorithm>
#include <bit>

namespace fulmar::io {
namespace {

constexpr auto relaxed = std::memory_order_relaxed;

}  // namespace

FileTrace::FileTrace(std::size_t records)
    : ring_(std::bit_ceil(std::max<std::size_t>(records, 2))) {}

std::uint32_t FileTrace::number_of(const std::string& path) {
  const std::lock_guard guard(mutex_);
  const auto found = std::ranges::find(paths_, path);
  if (found == paths_.end()) {
    if (paths_.size() == most_files) return most_files - 1;
    paths_.push_back(path);
    return static_cast<std::uint32_t>(paths_.size() - 1);
  }
  return static_cast<std::uint32_t>(found - paths_.begin());
}

void FileTrace::add(const Record& record) noexcept {
  Slot& slot = ring_[next_.fetch_add(1, relaxed) & (ring_.size() - 1)];
  slot.begin_ns.store(record.begin_ns, relaxed);
  slot.end_ns.store(record.end_ns, relaxed);
  slot.name.store(record.name, relaxed);
  slot.kind.store(record.kind, relaxed);
  slot.file.store(record.file, relaxed);
  slot.first.store(record.first, relaxed);
  slot.end.store(record.end, relaxed);
  slot.bytes.store(record.bytes, relaxed);
}

FileTrace::Taken FileTrace::take() const {
  Taken taken;
  {
    const std::lock_guard guard(mutex_);
    taken.paths = paths_;
  }
  const std::uint64_t end = next_.load(relaxed);
  const std::uint64_t count = std::min<std::uint64_t>(end, ring_.size());
  taken.lost = end - count;
  for (std::uint64_t place = end - count; place != end; ++place) {
    const Slot& slot = ring_[place & (ring_.size() - 1)];
    Record record{slot.begin_ns.load(relaxed), slot.end_ns.load(relaxed), slot.name.load(relaxed),
                  slot.kind.load(relaxed),     slot.file.load(relaxed),   slot.first.load(relaxed),
                  slot.end.load(relaxed),      slot.bytes.load(relaxed)};
    if (record.name != nullptr && record.file < taken.paths.size()) taken.records.push_back(record);
  }
  return taken;
}

}  // namespace fulmar::io
