// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/error.h"
#include "base/os/fd.h"
#include "io/async/direct_reads.h"
#include "io/async/io_ring.h"
#include "io/file_log.h"
#include "io/file_system/striping.h"
#include "io/hints.h"
#include "io/locked_ranges.h"
#include "io/mapped_parts.h"

namespace fulmar::io {

/// An open file of the operating system. Interrupted and short system calls are continued. Offsets
/// and lengths are in bytes. Errors: see io_error.h.
///
/// Thread rule: reads, writes and locks from any thread at the same time; no call may run beside
/// `close` or an assignment.
class PosixFile {
 public:
  PosixFile() noexcept = default;

  /// `flags` are those of open(2); O_CLOEXEC is added. A file that another machine has just made is
  /// found also where this one remembers that there was none. A file that is made lies on servers as
  /// `stripes` say, if that can be.
  [[nodiscard]] static base::Result<PosixFile> open(const std::string& path, int flags,
                                                    mode_t permissions,
                                                    const Stripes& stripes = {});
  /// Fails where the system reports at the end that data were not stored.
  base::Error close();

  /// Says to the system in which order the file will be read. That it does not heed it is no error.
  void advise(Style style) const noexcept;
  /// The program reads no part twice: long reads of what the system does not have in memory come straight from the device
  /// from now on, if that can be (DirectReads). Not while other threads use the file.
  void read_once() { direct_ = DirectReads::open(descriptor_.get()); }
  /// From now on system calls are counted, and recorded, in `log`, which lives as long as this.
  void keep_log(FileLog& log);

  /// Of a call that is about to move data, for the log; the functions below do it themselves.
  [[nodiscard]] SystemCall begin(const char* name, std::int64_t offset,
                                 std::size_t bytes) const noexcept {
    return {log_, name, log_number_, offset, bytes};
  }
  /// Of this file in records of the log.
  [[nodiscard]] std::uint32_t log_number() const noexcept { return log_number_; }

  [[nodiscard]] bool is_open() const noexcept { return descriptor_.valid(); }
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Reads until `to` is full or the file ends; returns how many bytes were read.
  [[nodiscard]] base::Result<std::size_t> read(std::int64_t offset, std::span<std::byte> to) const;
  /// Reads all of `to` if the system has it in memory and can give it without waiting; false, and
  /// `to` is undefined, where it is not so or not known.
  [[nodiscard]] bool read_from_cache(std::int64_t offset, std::span<std::byte> to) const noexcept;
  /// Writes all of `from`. After an error part of it may be in the file.
  base::Error write(std::int64_t offset, std::span<const std::byte> from) const;
  /// The same two outside of the log: the caller counts what was moved, also after an error. Not after `read_once`.
  base::Error read_unlogged(std::int64_t offset, std::span<std::byte> to, Moved& moved) const;
  base::Error write_unlogged(std::int64_t offset, std::span<const std::byte> from,
                             Moved& moved) const;
  /// Whether `read_once` has been called and has an effect.
  [[nodiscard]] bool reads_directly() const noexcept { return direct_ != nullptr; }
  /// The same for pieces of memory that follow each other in the file. Changes the pieces.
  [[nodiscard]] base::Result<std::size_t> read(std::int64_t offset, std::span<iovec> to) const;
  base::Error write(std::int64_t offset, std::span<iovec> from) const;

  /// A read or write of one block for `IoRing`.
  [[nodiscard]] BlockTransfer transfer_of(BlockTransfer::Kind kind, std::int64_t offset,
                                          std::span<std::byte> memory) const noexcept;
  /// Counts one that is done, on any thread, and returns its error.
  base::Error note_transfer(const BlockTransfer& transfer) const;

  /// Also where a server has the file: that of now, not the one that the client remembers.
  [[nodiscard]] base::Result<std::int64_t> size() const;
  base::Error set_size(std::int64_t size) const;
  /// Sees to it that the first `size` bytes have space on the device; never makes the file shorter.
  /// Where the file system cannot reserve space, zeros are written behind the end of the file.
  base::Error preallocate(std::int64_t size) const;
  /// Makes a shorter file end at `end`, with space for the bytes [first, end); a longer one stays as it is. False where the
  /// file system cannot, or has no space; a write says why.
  [[nodiscard]] bool reserve(std::int64_t first, std::int64_t end) const noexcept;
  base::Error sync() const;
  /// Of a file that a server has and that other machines write, too: from now on exactly the bytes
  /// that are written are stored. Clients may else store the whole pages of their cache that they
  /// lie in, and so undo what others have written beside them. Not while other threads use the
  /// file.
  base::Error store_exactly();
  /// What was written is with the server, if one has the file; it need not be on its disk.
  base::Error push() const;
  /// Of a file that a server has: this machine asks the server again for what it has in its cache,
  /// and so sees what other machines have stored there. Nothing happens where the system has no
  /// means for that.
  void refresh() const noexcept;

  /// The bytes [first, end) as memory, if that can be: see MappedParts::hold.
  [[nodiscard]] MappedParts::Hold mapped(std::int64_t first, std::int64_t end,
                                         MappedParts::Purpose purpose) const {
    return mapped_->hold(descriptor_.get(), first, end, purpose);
  }
  /// See MappedParts::expect_write.
  void expect_write(std::int64_t first, std::int64_t end) const noexcept {
    mapped_->expect_write(first, end);
  }
  /// See MappedParts::forget_pages.
  void forget_pages() const noexcept { mapped_->forget_pages(); }
  /// See MappedParts::seen_before.
  [[nodiscard]] bool seen_before(std::int64_t first, std::int64_t end) const {
    return mapped_->seen_before(first, end);
  }

 private:
  friend class RangeLock;

  PosixFile(base::UniqueFd descriptor, std::string path) noexcept
      : descriptor_(std::move(descriptor)),
        path_(std::move(path)),
        locked_(std::make_unique<LockedRanges>()),
        mapped_(std::make_unique<MappedParts>()) {}
  [[nodiscard]] base::Result<std::size_t> read_mostly_directly(std::int64_t offset,
                                                               std::span<std::byte> to) const;
  [[nodiscard]] base::Result<std::size_t> read_through_memory(std::int64_t offset,
                                                              std::span<std::byte> to) const;
  base::Error extend_with_zeros(std::int64_t size) const;
  void count_lock_wait(std::uint64_t ns) const noexcept;

  base::UniqueFd descriptor_;
  std::string path_;
  std::unique_ptr<LockedRanges> locked_;  ///< by threads of this process
  FileLog* log_ = nullptr;
  std::uint32_t log_number_ = 0;
  std::unique_ptr<MappedParts> mapped_;
  std::unique_ptr<DirectReads> direct_;  ///< after `read_once`, if that can be
};

/// Holds a part of a file while it exists: against every other open file, of this process and of
/// others, by a lock of the operating system; and against other threads that use the same one
/// (LockedRanges). Used in atomic mode, and for read-modify-write.
class RangeLock {
 public:
  enum class Mode : std::uint8_t { shared, exclusive };
  /// How long one waits for others before that is an error.
  static constexpr std::int64_t patience_ns = 60'000'000'000;

  RangeLock() noexcept = default;
  RangeLock(const RangeLock&) = delete;
  RangeLock& operator=(const RangeLock&) = delete;
  ~RangeLock();

  /// Locks [offset, offset + length); waits for others. Fails (MPI_ERR_IO) where the file system
  /// has no locks, or with a text with a remedy when the lock is not released for `timeout_ns`.
  /// `file` lives longer than this.
  base::Error acquire(const PosixFile& file, std::int64_t offset, std::int64_t length, Mode mode,
                      std::int64_t timeout_ns = patience_ns);

 private:
  base::Error lock_in_system(Mode mode, std::int64_t timeout_ns) const;

  const PosixFile* file_ = nullptr;
  bool locked_in_system_ = false;
  std::int64_t offset_ = 0;
  std::int64_t length_ = 0;
};

}  // namespace fulmar::io
