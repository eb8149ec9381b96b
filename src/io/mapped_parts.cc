// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/mapped_parts.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace fulmar::io {
namespace {

// Linux 5.14; headers may be older.
constexpr int populate_read = 22;
constexpr int populate_write = 23;

constexpr std::int64_t page_bytes = 4096;

/// -1 where it is not known.
std::int64_t size_of(int descriptor) noexcept {
  struct stat facts{};
  return ::fstat(descriptor, &facts) == 0 ? facts.st_size : -1;
}

/// Whether all pages of a part of memory are there.
bool are_present(std::byte* memory, std::size_t bytes) noexcept {
  std::array<unsigned char, MappedParts::chunk_bytes / page_bytes> pages;
  if (::mincore(memory, bytes, pages.data()) != 0) return false;
  const std::size_t count = (bytes + page_bytes - 1) / page_bytes;
  for (std::size_t i = 0; i < count; ++i) {
    if ((pages[i] & 1U) == 0) return false;
  }
  return true;
}

/// Whether a page that was made for reading takes writes, too, without another fault: nothing has to be told to a device.
bool is_without_device(int descriptor) noexcept {
  struct statfs facts{};
  return ::fstatfs(descriptor, &facts) == 0 && facts.f_type == TMPFS_MAGIC;
}

/// The same file once more, for reading and writing.
int opened_for_both(int descriptor) noexcept {
  std::array<char, 32> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/fd/%d", descriptor);
  return ::open(path.data(), O_RDWR | O_CLOEXEC);
}

}  // namespace

MappedParts::~MappedParts() {
  for (const Chunk& chunk : chunks_) {
    if (chunk.memory != nullptr) ::munmap(chunk.memory, chunk_bytes);
  }
}

/// How the file may be mapped at all. Needs the lock.
bool MappedParts::prepare(int descriptor) {
  if (state_ != State::unknown) return state_ == State::usable;
  state_ = State::unusable;
  const int flags = ::fcntl(descriptor, F_GETFL);
  if (flags < 0) return false;
  protection_ = (flags & O_ACCMODE) == O_RDONLY ? PROT_READ : PROT_READ | PROT_WRITE;
  if ((flags & O_ACCMODE) == O_WRONLY) {
    readable_.reset(opened_for_both(descriptor));
    if (!readable_.valid()) return false;
  }
  writing_advice_ = is_without_device(descriptor) ? populate_read : populate_write;
  state_ = State::usable;
  return true;
}

std::byte* MappedParts::map(int descriptor, std::int64_t first) {
  const int from = readable_.valid() ? readable_.get() : descriptor;
  void* const memory = ::mmap(nullptr, chunk_bytes, protection_, MAP_SHARED, from, first);
  if (memory != MAP_FAILED) return static_cast<std::byte*>(memory);
  if (errno != ENOMEM) state_ = State::unusable;
  return nullptr;
}

/// The chunk that begins there, mapped if it was not, in place of the one that was not used for longest;
/// `most_chunks` if that cannot be. Needs the lock.
std::size_t MappedParts::find(int descriptor, std::int64_t first) {
  std::size_t best = most_chunks;
  for (std::size_t i = 0; i < most_chunks; ++i) {
    const Chunk& chunk = chunks_[i];
    if (chunk.memory != nullptr && chunk.first == first) return i;
    if (chunk.users != 0) continue;
    if (best == most_chunks || chunk.last_use < chunks_[best].last_use) best = i;
  }
  if (best == most_chunks) return best;
  Chunk& chunk = chunks_[best];
  if (chunk.memory != nullptr) ::munmap(chunk.memory, chunk_bytes);
  chunk = {first, map(descriptor, first), 0, 0, {}, {}, {}};
  return chunk.memory == nullptr ? most_chunks : best;
}

/// Those that [first, end) of the file touches and that the expected write fills by half at least; once each, before
/// anything makes pages there. Needs the lock.
void MappedParts::ask_for_whole_blocks(Chunk& chunk, std::int64_t first, std::int64_t end,
                                       std::int64_t file_end) const noexcept {
  const std::int64_t last_page_end = (file_end + page_bytes - 1) / page_bytes * page_bytes;
  for (std::int64_t at = first / block_bytes * block_bytes; at < end; at += block_bytes) {
    const auto block = static_cast<std::size_t>((at - chunk.first) / block_bytes);
    if (chunk.asked.test(block)) continue;
    chunk.asked.set(block);
    std::byte* const memory = chunk.memory + (at - chunk.first);
    const std::int64_t written =
        std::min(expected_end_, at + block_bytes) - std::max(expected_first_, at);
    const bool aligned = reinterpret_cast<std::uintptr_t>(memory) % block_bytes == 0;
    if (written < block_bytes / 2 || at + block_bytes > last_page_end || !aligned) continue;
    // A kernel that cannot do so makes pages as ever. Without the first advice it also reads ahead: a rank that finds this block
    // made by another one would make small pages in the next.
    (void)::madvise(memory, block_bytes, MADV_RANDOM);
    (void)::madvise(memory, block_bytes, MADV_HUGEPAGE);
  }
}

/// Of [from, to) of a chunk that is held. Granules that the file ends in are not remembered.
bool MappedParts::make_usable(std::size_t place, std::int64_t from, std::int64_t to,
                              std::int64_t file_end, Purpose purpose) {
  Chunk& chunk = chunks_[place];
  const auto first = static_cast<std::size_t>(from / granule_bytes);
  const auto last = static_cast<std::size_t>((to + granule_bytes - 1) / granule_bytes);
  Granules wanted;
  for (std::size_t i = first; i < last; ++i) wanted.set(i);
  {
    const std::lock_guard guard(mutex_);
    const Granules& usable = purpose == Purpose::writing ? chunk.writable : chunk.readable;
    if ((wanted & usable) == wanted) wanted.reset();
  }
  const std::int64_t start = from / page_bytes * page_bytes;
  if (wanted.none() && are_present(chunk.memory + start, static_cast<std::size_t>(to - start))) {
    return true;
  }
  const std::int64_t begin = static_cast<std::int64_t>(first) * granule_bytes;
  const std::int64_t end =
      std::min(static_cast<std::int64_t>(last) * granule_bytes, file_end - chunk.first);
  const int advice = purpose == Purpose::writing ? writing_advice_ : populate_read;
  int problem = 0;
  do {
    const auto bytes = static_cast<std::size_t>(end - begin);
    problem = ::madvise(chunk.memory + begin, bytes, advice) == 0 ? 0 : errno;
  } while (problem == EINTR || problem == EAGAIN);
  const std::lock_guard guard(mutex_);
  if (problem == EINVAL) state_ = State::unusable;
  if (problem != 0) return false;
  if (end % granule_bytes != 0) wanted.reset(last - 1);
  chunk.readable |= wanted;
  if (purpose == Purpose::writing || writing_advice_ == populate_read) chunk.writable |= wanted;
  return true;
}

MappedParts::Hold MappedParts::hold(int descriptor, std::int64_t first, std::int64_t end,
                                    Purpose purpose) {
  const std::int64_t size = size_of(descriptor);
  if (size < end) return {};
  const std::int64_t chunk_first = first / chunk_bytes * chunk_bytes;
  std::size_t place = most_chunks;
  {
    const std::lock_guard guard(mutex_);
    if (!prepare(descriptor)) return {};
    if (purpose == Purpose::writing && (protection_ & PROT_WRITE) == 0) return {};
    place = find(descriptor, chunk_first);
    if (place == most_chunks) return {};
    ++chunks_[place].users;
    chunks_[place].last_use = ++uses_;
    if (purpose == Purpose::writing) ask_for_whole_blocks(chunks_[place], first, end, size);
  }
  Hold held(this, place,
            reinterpret_cast<std::uintptr_t>(chunks_[place].memory) -
                static_cast<std::uintptr_t>(chunk_first));
  if (!make_usable(place, first - chunk_first, end - chunk_first, size, purpose)) return {};
  return held;
}

void MappedParts::expect_write(std::int64_t first, std::int64_t end) noexcept {
  const std::lock_guard guard(mutex_);
  expected_first_ = first;
  expected_end_ = end;
}

void MappedParts::forget_pages() noexcept {
  const std::lock_guard guard(mutex_);
  for (Chunk& chunk : chunks_) {
    chunk.readable.reset();
    chunk.writable.reset();
  }
}

bool MappedParts::seen_before(std::int64_t first, std::int64_t end) {
  const std::lock_guard guard(mutex_);
  bool all = true;
  for (std::int64_t at = first / granule_bytes; at <= (end - 1) / granule_bytes; ++at) {
    const std::int64_t chunk = at / static_cast<std::int64_t>(granules);
    Seen& seen = seen_[static_cast<std::size_t>(chunk) % seen_.size()];
    if (seen.chunk != chunk) seen = {chunk, {}};
    const auto bit = static_cast<std::size_t>(at % static_cast<std::int64_t>(granules));
    all = all && seen.granules.test(bit);
    seen.granules.set(bit);
  }
  return all;
}

void MappedParts::release(std::size_t chunk) noexcept {
  const std::lock_guard guard(mutex_);
  --chunks_[chunk].users;
}

}  // namespace fulmar::io
