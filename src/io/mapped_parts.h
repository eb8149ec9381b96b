// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>

#include "base/os/fd.h"

// Files as memory --------------- Data in short runs between gaps cost a call of the system for
// each run, which takes 0.4 to 8 us; or reading a stretch and, for a write, writing it back, which
// undoes what others write into the gaps. A file that is mapped takes exactly the bytes that are
// stored, and a page costs 0.2 to 0.5 us when it is touched first and nothing later. So parts of a
// file stay mapped.
//
// What is new costs more than calls for runs from some KiB on: so these come by calls the first
// time and from memory later (`seen_before`).
//
// Most of what a new page of a device's file costs is its own fault, and its own call of the file
// system. Where an access writes most of a block of 2 MiB the kernel is asked for the whole block
// as one page (MADV_HUGEPAGE): ext4 of Linux 6.16 and xfs then make it at once, in 0.2 ms in place
// of 1.9. It has to find no smaller page there yet, and none of it behind the end of the file.
//
// What memory must not do is end the program by a signal where a call would return an error. So no
// part is handed out that the file does not reach, and the kernel is asked to make its pages usable
// beforehand (MADV_POPULATE_WRITE, Linux 5.14), which fails where the file system has no space or
// the device an error; of pages that were made usable earlier it is asked whether they are still
// there. What remains is a file that another process truncates during the copy itself.

namespace fulmar::io {

/// Parts of an open file in memory.
///
/// Thread rule: any thread.
class MappedParts {
 public:
  /// Held parts are between two multiples of this.
  static constexpr std::int64_t chunk_bytes = 16 << 20;
  static constexpr std::size_t most_chunks = 32;
  /// Pages are made usable in groups of this many bytes.
  static constexpr std::int64_t granule_bytes = 64 << 10;
  /// A page table's worth of pages, which may be one.
  static constexpr std::int64_t block_bytes = 2 << 20;

  enum class Purpose : std::uint8_t { reading, writing };

  /// A part while it is used.
  class Hold {
   public:
    Hold() noexcept = default;
    Hold(Hold&& other) noexcept
        : owner_(std::exchange(other.owner_, nullptr)), chunk_(other.chunk_), zero_(other.zero_) {}
    Hold& operator=(Hold&&) = delete;
    ~Hold() {
      if (owner_ != nullptr) owner_->release(chunk_);
    }
    [[nodiscard]] bool ok() const noexcept { return owner_ != nullptr; }
    /// The address that byte 0 of the file would have. Only the bytes of the part are there.
    [[nodiscard]] std::uintptr_t address_of_zero() const noexcept { return zero_; }

   private:
    friend class MappedParts;
    Hold(MappedParts* owner, std::size_t chunk, std::uintptr_t zero) noexcept
        : owner_(owner), chunk_(chunk), zero_(zero) {}
    MappedParts* owner_ = nullptr;
    std::size_t chunk_ = 0;
    std::uintptr_t zero_ = 0;
  };

  MappedParts() noexcept = default;
  ~MappedParts();
  MappedParts(const MappedParts&) = delete;
  MappedParts& operator=(const MappedParts&) = delete;

  /// The bytes [first, end) of the file open as `descriptor`, between two multiples of
  /// `chunk_bytes`; not ok() where the file ends before, or where it or the system does not allow
  /// it: then calls of the system do, and say why not.
  [[nodiscard]] Hold hold(int descriptor, std::int64_t first, std::int64_t end, Purpose purpose);

  /// The next parts that are held for writing belong to a write of [first, end), which leaves only short gaps.
  void expect_write(std::int64_t first, std::int64_t end) noexcept;

  /// The file has become shorter, or longer again: what was known of its pages does not hold any more.
  void forget_pages() noexcept;

  /// Whether this was asked of all granules of [first, end) before, not too long ago. Remembers it.
  [[nodiscard]] bool seen_before(std::int64_t first, std::int64_t end);

 private:
  static constexpr std::size_t granules = chunk_bytes / granule_bytes;
  using Granules = std::bitset<granules>;
  using Blocks = std::bitset<chunk_bytes / block_bytes>;

  struct Chunk {
    std::int64_t first = -1;
    std::byte* memory = nullptr;
    int users = 0;
    std::uint64_t last_use = 0;
    Granules readable;  ///< made usable
    Granules writable;
    Blocks asked;  ///< whether to be one page is decided
  };
  /// Which granules of a chunk have been accessed.
  struct Seen {
    std::int64_t chunk = -1;
    Granules granules;
  };
  [[nodiscard]] std::size_t find(int descriptor, std::int64_t first);
  [[nodiscard]] std::byte* map(int descriptor, std::int64_t first);
  [[nodiscard]] bool prepare(int descriptor);
  [[nodiscard]] bool make_usable(std::size_t place, std::int64_t from, std::int64_t to,
                                 std::int64_t file_end, Purpose purpose);
  void ask_for_whole_blocks(Chunk& chunk, std::int64_t first, std::int64_t end,
                            std::int64_t file_end) const noexcept;
  void release(std::size_t chunk) noexcept;

  enum class State : std::uint8_t { unknown, usable, unusable };

  std::mutex mutex_;
  State state_ = State::unknown;
  int protection_ = 0;
  int writing_advice_ = 0;   ///< to madvise
  base::UniqueFd readable_;  ///< where the file itself was opened for writing only
  std::uint64_t uses_ = 0;
  std::int64_t expected_first_ = 0;  ///< see expect_write
  std::int64_t expected_end_ = 0;
  std::array<Chunk, most_chunks> chunks_;
  std::array<Seen, 256> seen_;
};

}  // namespace fulmar::io
