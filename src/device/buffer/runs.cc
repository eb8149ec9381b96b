// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/buffer/runs.h"

#include <algorithm>
#include <array>

namespace fulmar::device {
namespace {

constexpr std::size_t runs_at_a_time = 64;

std::span<std::byte> memory_from(std::uintptr_t begin, std::uintptr_t end) noexcept {
  return {reinterpret_cast<std::byte*>(begin), end - begin};
}

}  // namespace

std::span<std::byte> bounding_range(const Buffer& buffer, std::uint64_t length) noexcept {
  if (buffer.packer == nullptr) return {static_cast<std::byte*>(buffer.address), length};
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
  std::array<iovec, runs_at_a_time> runs;
  for (std::uint64_t offset = 0; offset < length;) {
    const std::size_t count =
        buffer.packer->segments(buffer.address, offset, length - offset, runs);
    std::uint64_t covered = 0;
    for (const iovec& run : std::span(runs).first(count)) {
      const auto at = reinterpret_cast<std::uintptr_t>(run.iov_base);
      begin = std::min(begin, at);
      end = std::max(end, at + run.iov_len);
      covered += run.iov_len;
    }
    if (covered == 0 || covered < count * shortest_run_bytes) return {};
    offset += covered;
  }
  if (begin >= end || end - begin > 2 * length) return {};
  return memory_from(begin, end);
}

std::span<std::byte> run_at(const Buffer& buffer, std::uint64_t offset,
                            std::uint64_t bytes) noexcept {
  if (buffer.packer == nullptr) return {static_cast<std::byte*>(buffer.address) + offset, bytes};
  iovec run{};
  if (buffer.packer->segments(buffer.address, offset, bytes, {&run, 1}) == 0) return {};
  return {static_cast<std::byte*>(run.iov_base), run.iov_len};
}

}  // namespace fulmar::device
