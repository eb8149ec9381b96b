// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/async/direct_reads.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <new>

namespace fulmar::io {
namespace {

constexpr std::size_t page_bytes = 4096;
/// What is looked for in memory, and then read, at a time; a rest that is too short for a step of its own is added.
constexpr std::size_t bytes_a_step = 16 << 20;
constexpr std::size_t most_pages_a_step =
    (bytes_a_step + DirectReads::least_bytes) / page_bytes + 2;

}  // namespace

std::unique_ptr<DirectReads> DirectReads::open(int descriptor) noexcept {
  std::array<char, 32> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", descriptor);
  base::UniqueFd direct(::open(path.data(), O_RDONLY | O_DIRECT | O_CLOEXEC));
  if (!direct.valid()) return nullptr;
  std::size_t memory_unit = page_bytes;
  std::size_t file_unit = page_bytes;
#ifdef STATX_DIOALIGN
  struct statx facts{};
  if (::statx(direct.get(), "", AT_EMPTY_PATH, STATX_DIOALIGN, &facts) == 0 &&
      (facts.stx_mask & STATX_DIOALIGN) != 0) {
    if (facts.stx_dio_offset_align == 0) return nullptr;
    memory_unit = facts.stx_dio_mem_align;
    file_unit = facts.stx_dio_offset_align;
  }
#endif
  if (memory_unit > page_bytes || file_unit > page_bytes) return nullptr;
  return std::unique_ptr<DirectReads>(new (std::nothrow)
                                          DirectReads(std::move(direct), memory_unit, file_unit));
}

DirectReads::Step DirectReads::next(std::int64_t offset, std::span<std::byte> to) const noexcept {
  if (to.size() < least_bytes) return {to.size(), false};
  const std::size_t in_block = static_cast<std::size_t>(offset - block_of(offset));
  const bool is_last = to.size() < bytes_a_step + least_bytes - in_block;
  const std::size_t bytes = is_last ? to.size() : bytes_a_step - in_block;
  return {bytes, !is_in_memory(offset, bytes)};
}

/// The device writes whole blocks to places that it can reach. Those of the middle are in `to`, a bit behind where their bytes
/// belong; the first block and the last ones, of which not all may be wanted, come to a buffer.
ssize_t DirectReads::read(std::int64_t offset, std::span<std::byte> to) const noexcept {
  alignas(page_bytes) std::array<std::byte, page_bytes> first;
  alignas(page_bytes) std::array<std::byte, 2 * page_bytes> last;
  const std::int64_t start = block_of(offset);
  const auto in_block = static_cast<std::size_t>(offset - start);
  const std::size_t first_bytes = in_block == 0 ? 0 : file_unit_;
  const std::size_t before_middle = first_bytes - in_block;  // bytes of the first block
  const std::size_t misfit =
      (reinterpret_cast<std::uintptr_t>(to.data()) + before_middle) % memory_unit_;
  const std::size_t shift = misfit == 0 ? 0 : memory_unit_ - misfit;
  const std::size_t middle_bytes = (to.size() - before_middle - shift) / file_unit_ * file_unit_;
  const std::size_t behind_middle = to.size() - before_middle - middle_bytes;
  const std::size_t last_bytes = (behind_middle + file_unit_ - 1) / file_unit_ * file_unit_;
  std::byte* const middle = to.data() + before_middle;
  const std::array<iovec, 3> all{iovec{first.data(), first_bytes},
                                 iovec{middle + shift, middle_bytes},
                                 iovec{last.data(), last_bytes}};
  const ssize_t got = ::preadv(descriptor_.get(), all.data(), static_cast<int>(all.size()), start);
  if (got <= static_cast<ssize_t>(in_block)) return std::min<ssize_t>(got, 0);
  // The file may end in each of them.
  const std::size_t there = std::min(static_cast<std::size_t>(got) - in_block, to.size());
  const std::size_t in_middle = std::min(there - std::min(there, before_middle), middle_bytes);
  if (shift != 0) std::memmove(middle, middle + shift, in_middle);
  std::memcpy(to.data(), first.data() + in_block, std::min(there, before_middle));
  if (there > before_middle + middle_bytes) {
    std::memcpy(middle + middle_bytes, last.data(), there - before_middle - middle_bytes);
  }
  return static_cast<ssize_t>(there);
}

/// At least half of it. The system does not answer for files that the process could neither write nor owns: it says that
/// all is there.
bool DirectReads::is_in_memory(std::int64_t offset, std::size_t bytes) const noexcept {
  const std::size_t before = static_cast<std::size_t>(offset) % page_bytes;
  const std::size_t length = before + bytes;
  void* const pages = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, descriptor_.get(),
                             offset - static_cast<std::int64_t>(before));
  if (pages == MAP_FAILED) return true;
  std::array<unsigned char, most_pages_a_step> there;
  const bool known = ::mincore(pages, length, there.data()) == 0;
  (void)::munmap(pages, length);
  if (!known) return true;
  const std::size_t count = (length + page_bytes - 1) / page_bytes;
  const auto found =
      std::count_if(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(count),
                    [](unsigned char page) { return (page & 1U) != 0; });
  return 2 * static_cast<std::size_t>(found) >= count;
}

}  // namespace fulmar::io
