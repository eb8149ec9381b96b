// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/checkpoint/area_image.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fulmar::runtime {
namespace {

/// Reading untouched pages of a memory file makes the system allocate them, so they are given back piece
/// by piece.
constexpr std::size_t piece_bytes = std::size_t{2} << 20;

bool is_zero(std::span<const std::byte> page) noexcept {
  return page[0] == std::byte{0} && std::memcmp(page.data(), page.data() + 1, page.size() - 1) == 0;
}

struct Run {
  std::size_t begin;
  std::size_t end;
};

/// The next bytes from `at` on that may have been touched; of no file all. Ends of runs are rounded to pages.
Run next_run(const AreaImage::File& file, std::size_t at, std::size_t size) noexcept {
  const auto page_of = [](off_t place, std::uint64_t offset, std::size_t up) {
    const auto inside = static_cast<std::size_t>(place) - offset + up;
    return inside / AreaImage::page_bytes * AreaImage::page_bytes;
  };
  if (file.descriptor < 0) return {at, size};
  const auto from = static_cast<off_t>(file.offset + at);
  const off_t data = ::lseek(file.descriptor, from, SEEK_DATA);
  if (data < 0) return errno == ENXIO ? Run{size, size} : Run{at, size};
  const std::size_t begin = std::min(page_of(data, file.offset, 0), size);
  const off_t hole = ::lseek(file.descriptor, data, SEEK_HOLE);
  if (hole < 0) return {begin, size};
  return {begin, std::min(page_of(hole, file.offset, AreaImage::page_bytes - 1), size)};
}

}  // namespace

void AreaImage::save(std::span<std::byte> area, const File& file) {
  pages_.clear();
  contents_.clear();
  for (std::size_t at = 0; at < area.size();) {
    const Run run = next_run(file, at, area.size());
    for (at = run.begin; at < run.end;) {
      const std::size_t end = std::min(at + piece_bytes, run.end);
      save_piece(area, at, end);
      at = end;
    }
  }
}

void AreaImage::save_piece(std::span<std::byte> area, std::size_t begin, std::size_t end) {
  for (std::size_t at = begin; at < end; at += page_bytes) {
    const std::span<const std::byte> page = area.subspan(at, page_bytes);
    if (is_zero(page)) continue;
    pages_.push_back(static_cast<std::uint32_t>(at / page_bytes));
    contents_.insert(contents_.end(), page.begin(), page.end());
  }
  (void)::madvise(area.data() + begin, end - begin, MADV_REMOVE);
}

void AreaImage::restore(std::span<std::byte> area) noexcept {
  const std::byte* from = contents_.data();
  for (const std::uint32_t page : pages_) {
    std::memcpy(area.data() + page * page_bytes, from, page_bytes);
    from += page_bytes;
  }
  pages_ = {};
  contents_ = {};
}

}  // namespace fulmar::runtime
