// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/posix_file.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <ctime>
#include <vector>

#include "base/clock.h"
#include "io/file_system/file_system.h"
#include "io/io_error.h"

namespace fulmar::io {
namespace {

using base::Error;
using base::Result;

/// What Linux moves at most in one call.
constexpr std::size_t most_bytes_a_call = 0x7ffff000;

/// Behind all data: bytes that are locked only for what a client does then, by all at the same time.
constexpr std::int64_t marker_offset = std::int64_t{1} << 62;
constexpr std::int64_t refreshing_offset = marker_offset + 1;
/// By one at a time, see GrowthLock.
constexpr std::int64_t growing_offset = marker_offset + 2;

/// Takes `bytes` away from the front of a list of pieces.
std::span<iovec> skipped(std::span<iovec> pieces, std::size_t bytes) noexcept {
  while (!pieces.empty() && bytes >= pieces.front().iov_len) {
    bytes -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  if (!pieces.empty()) {
    pieces.front().iov_base = static_cast<std::byte*>(pieces.front().iov_base) + bytes;
    pieces.front().iov_len -= bytes;
  }
  return pieces;
}

int pieces_a_call(std::span<iovec> pieces) noexcept {
  return static_cast<int>(std::min<std::size_t>(pieces.size(), IOV_MAX));
}

struct flock whole_lock(short type, std::int64_t offset, std::int64_t length) noexcept {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = length;
  return lock;
}

/// Held by one process of several that make a file longer at the same time: each would find a page in use by another
/// one, and could not drop it. Who waits for too long goes on without it, as only speed depends on it.
class GrowthLock {
 public:
  explicit GrowthLock(int descriptor) noexcept : descriptor_(descriptor) {
    constexpr int most_tries = 200;
    for (int tries = 0; tries < most_tries; ++tries) {
      struct flock lock = whole_lock(F_WRLCK, growing_offset, 1);
      held_ = ::fcntl(descriptor_, F_OFD_SETLK, &lock) == 0;
      if (held_ || (errno != EAGAIN && errno != EACCES)) return;
      (void)::sched_yield();
    }
  }
  GrowthLock(const GrowthLock&) = delete;
  GrowthLock& operator=(const GrowthLock&) = delete;
  ~GrowthLock() {
    if (!held_) return;
    struct flock lock = whole_lock(F_UNLCK, growing_offset, 1);
    (void)::fcntl(descriptor_, F_OFD_SETLK, &lock);
  }

 private:
  const int descriptor_;
  bool held_ = false;
};

Error held_too_long(const std::string& holder, const std::string& path, std::int64_t offset,
                    std::int64_t length, std::int64_t timeout_ns) {
  return base::failure(
      base::ErrorClass::io,
      "file \"%s\": %s has held a lock on bytes %lld to %lld for %.3g s; end it, or "
      "use neither atomic mode (MPI_File_set_atomicity) nor the hint romio_ds_write",
      path.c_str(), holder.c_str(), static_cast<long long>(offset),
      static_cast<long long>(offset) + static_cast<long long>(length),
      static_cast<double>(timeout_ns) / 1e9);
}

/// Who has a lock that was refused; the system knows it of one kind of locks only.
std::string holder_of(int descriptor, struct flock refused) {
  refused.l_pid = 0;
  const bool known = ::fcntl(descriptor, F_OFD_GETLK, &refused) == 0 && refused.l_type != F_UNLCK &&
                     refused.l_pid > 0;
  return known ? "process " + std::to_string(refused.l_pid) : "another process";
}

/// Clients of file servers remember names that were not there, NFS for up to a minute, also after
/// another machine has made the file. A client that learns that the folder has changed asks its
/// server for them again; here it is made to ask for the folder. False where no server has it.
bool refresh_names(const std::string& folder) {
  if (!file_system_of(folder).has_client_caches) return false;
  struct statx facts{};
  constexpr unsigned wanted = STATX_MTIME | STATX_CTIME;
  return ::statx(AT_FDCWD, folder.c_str(), AT_STATX_FORCE_SYNC, wanted, &facts) == 0;
}

/// Calls `read(part, offset)`, a call of the system, until all is read or the file ends.
template <class Read>
Error read_all(const std::string& path, std::int64_t offset, std::span<std::byte> to, Moved& moved,
               const Read& read) {
  while (moved.bytes < to.size()) {
    const std::span<std::byte> rest = to.subspan(moved.bytes);
    const std::int64_t at = offset + static_cast<std::int64_t>(moved.bytes);
    const ssize_t some = read(rest.first(std::min(rest.size(), most_bytes_a_call)), at);
    ++moved.calls;
    if (some == 0) break;
    if (some > 0) {
      moved.bytes += static_cast<std::size_t>(some);
    } else if (errno != EINTR) {
      return system_error("reading", path, at, errno);
    }
  }
  return {};
}

/// Calls `write(part, offset)`, a call of the system, until all is written.
template <class Write>
Error write_all(const std::string& path, std::int64_t offset, std::span<const std::byte> from,
                Moved& moved, const Write& write) {
  while (moved.bytes < from.size()) {
    const std::span<const std::byte> rest = from.subspan(moved.bytes);
    const std::int64_t at = offset + static_cast<std::int64_t>(moved.bytes);
    const ssize_t some = write(rest.first(std::min(rest.size(), most_bytes_a_call)), at);
    ++moved.calls;
    if (some > 0) {
      moved.bytes += static_cast<std::size_t>(some);
    } else if (some == 0 || errno != EINTR) {
      return system_error("writing", path, at, some == 0 ? EIO : errno);
    }
  }
  return {};
}

}  // namespace

Result<PosixFile> PosixFile::open(const std::string& path, int flags, mode_t permissions,
                                  const Stripes& stripes) {
  if ((flags & O_CREAT) != 0 && stripes.given()) {
    base::UniqueFd made = make_striped(path, flags, permissions, stripes);
    if (made.valid()) return PosixFile(std::move(made), path);
  }
  int problem = 0;
  for (bool may_be_stale = true;;) {
    const int descriptor = ::open(path.c_str(), flags | O_CLOEXEC, permissions);
    if (descriptor >= 0) return PosixFile(base::UniqueFd(descriptor), path);
    problem = errno;
    if (problem == EINTR) continue;
    if (problem != ENOENT || !may_be_stale || !refresh_names(folder_of(path))) break;
    may_be_stale = false;
  }
  return system_error("opening", path, no_offset, problem);
}

Error PosixFile::close() {
  const int descriptor = descriptor_.release();
  if (descriptor < 0) return {};
  mapped_.reset();
  direct_.reset();
  // Linux has closed it also where the call was interrupted.
  if (::close(descriptor) == 0 || errno == EINTR) return {};
  return system_error("closing", path_, no_offset, errno);
}

Result<std::size_t> PosixFile::read(std::int64_t offset, std::span<std::byte> to) const {
  if (direct_ != nullptr) [[unlikely]]
    return read_mostly_directly(offset, to);
  return read_through_memory(offset, to);
}

Result<std::size_t> PosixFile::read_mostly_directly(std::int64_t offset,
                                                    std::span<std::byte> to) const {
  std::size_t done = 0;
  while (done < to.size()) {
    const std::int64_t at = offset + static_cast<std::int64_t>(done);
    const DirectReads::Step step = direct_->next(at, to.subspan(done));
    const std::span<std::byte> piece = to.subspan(done, step.bytes);
    if (step.direct) {
      SystemCall call = begin("direct preadv", at, piece.size());
      const ssize_t moved = direct_->read(at, piece);
      call.ended(&FileStats::bytes_read, moved);
      if (moved > 0) {
        done += static_cast<std::size_t>(moved);
        continue;
      }
    }
    // Also where it could not be had directly: this call says why, or that the file ends.
    const Result<std::size_t> got = read_through_memory(at, piece);
    if (got.failed()) return got;
    done += got.value();
    if (got.value() < piece.size()) break;
  }
  return done;
}

Result<std::size_t> PosixFile::read_through_memory(std::int64_t offset,
                                                   std::span<std::byte> to) const {
  Moved moved;
  const Error error = read_all(path_, offset, to, moved, [&](std::span<std::byte> some, auto at) {
    SystemCall call = begin("pread", at, some.size());
    const ssize_t got = ::pread(descriptor_.get(), some.data(), some.size(), at);
    call.ended(&FileStats::bytes_read, got);
    return got;
  });
  if (error.failed()) return error;
  return static_cast<std::size_t>(moved.bytes);
}

Error PosixFile::read_unlogged(std::int64_t offset, std::span<std::byte> to, Moved& moved) const {
  return read_all(path_, offset, to, moved, [&](std::span<std::byte> some, auto at) {
    return ::pread(descriptor_.get(), some.data(), some.size(), at);
  });
}

bool PosixFile::read_from_cache(std::int64_t offset, std::span<std::byte> to) const noexcept {
  // To ask the system for it would make it read ahead.
  if (direct_ != nullptr && direct_->takes(offset, to)) [[unlikely]]
    return false;
  const iovec piece{to.data(), to.size()};
  SystemCall call = begin("preadv2", offset, to.size());
  const ssize_t moved = ::preadv2(descriptor_.get(), &piece, 1, offset, RWF_NOWAIT);
  call.ended(&FileStats::bytes_read, moved);
  return moved == static_cast<ssize_t>(to.size());
}

Error PosixFile::write(std::int64_t offset, std::span<const std::byte> from) const {
  Moved moved;
  return write_all(path_, offset, from, moved, [&](std::span<const std::byte> some, auto at) {
    SystemCall call = begin("pwrite", at, some.size());
    const ssize_t put = ::pwrite(descriptor_.get(), some.data(), some.size(), at);
    call.ended(&FileStats::bytes_written, put);
    return put;
  });
}

Error PosixFile::write_unlogged(std::int64_t offset, std::span<const std::byte> from,
                                Moved& moved) const {
  return write_all(path_, offset, from, moved, [&](std::span<const std::byte> some, auto at) {
    return ::pwrite(descriptor_.get(), some.data(), some.size(), at);
  });
}

Result<std::size_t> PosixFile::read(std::int64_t offset, std::span<iovec> to) const {
  std::size_t done = 0;
  to = skipped(to, 0);
  while (!to.empty()) {
    const std::int64_t at = offset + static_cast<std::int64_t>(done);
    SystemCall call = begin("preadv", at, 0);
    const ssize_t moved = ::preadv(descriptor_.get(), to.data(), pieces_a_call(to), at);
    call.ended(&FileStats::bytes_read, moved);
    if (moved == 0) break;
    if (moved > 0) {
      done += static_cast<std::size_t>(moved);
      to = skipped(to, static_cast<std::size_t>(moved));
    } else if (errno != EINTR) {
      return system_error("reading", path_, at, errno);
    }
  }
  return done;
}

Error PosixFile::write(std::int64_t offset, std::span<iovec> from) const {
  from = skipped(from, 0);
  while (!from.empty()) {
    SystemCall call = begin("pwritev", offset, 0);
    const ssize_t moved = ::pwritev(descriptor_.get(), from.data(), pieces_a_call(from), offset);
    call.ended(&FileStats::bytes_written, moved);
    if (moved > 0) {
      offset += moved;
      from = skipped(from, static_cast<std::size_t>(moved));
    } else if (moved == 0 || errno != EINTR) {
      return system_error("writing", path_, offset, moved == 0 ? EIO : errno);
    }
  }
  return {};
}

BlockTransfer PosixFile::transfer_of(BlockTransfer::Kind kind, std::int64_t offset,
                                     std::span<std::byte> memory) const noexcept {
  BlockTransfer transfer;
  transfer.file = descriptor_.get();
  transfer.kind = kind;
  transfer.offset = offset;
  transfer.memory = memory;
  return transfer;
}

Error PosixFile::note_transfer(const BlockTransfer& transfer) const {
  const bool writes = transfer.kind == BlockTransfer::Kind::write;
  SystemCall call =
      begin(writes ? "io_uring write" : "io_uring read", transfer.offset, transfer.memory.size());
  call.set_begin(transfer.begin_ns);
  call.ended(writes ? &FileStats::bytes_written : &FileStats::bytes_read,
             static_cast<std::int64_t>(transfer.moved));
  if (transfer.error == 0) return {};
  return system_error(writes ? "writing" : "reading", path_,
                      transfer.offset + static_cast<std::int64_t>(transfer.moved), transfer.error);
}

Result<std::int64_t> PosixFile::size() const {
  struct statx facts{};
  constexpr int flags = AT_EMPTY_PATH | AT_STATX_FORCE_SYNC;
  if (::statx(descriptor_.get(), "", flags, STATX_SIZE, &facts) != 0) {
    return system_error("finding the size", path_, no_offset, errno);
  }
  return static_cast<std::int64_t>(facts.stx_size);
}

Error PosixFile::set_size(std::int64_t size) const {
  while (::ftruncate(descriptor_.get(), size) != 0) {
    if (errno != EINTR) return system_error("setting the size", path_, size, errno);
  }
  return {};
}

Error PosixFile::preallocate(std::int64_t size) const {
  if (size == 0) return {};
  while (::fallocate(descriptor_.get(), 0, 0, size) != 0) {
    if (errno == EINTR) continue;
    if (errno == EOPNOTSUPP || errno == ENOSYS) return extend_with_zeros(size);
    return system_error("preallocating", path_, size, errno);
  }
  return {};
}

bool PosixFile::reserve(std::int64_t first, std::int64_t end) const noexcept {
  const GrowthLock growing(descriptor_.get());
  const Result<std::int64_t> old_size = size();
  if (old_size.ok() && old_size.value() >= end) return true;
  while (::fallocate(descriptor_.get(), 0, first, end - first) != 0) {
    if (errno != EINTR) return false;
  }
  // ext4 makes a page, without content, where a file ends within it or has ended until now. The block that it lies in
  // could not become one large page (MappedParts). Pages with content stay.
  constexpr std::int64_t page_bytes = 4096;
  const auto drop_page = [&](std::int64_t at) {
    (void)::posix_fadvise(descriptor_.get(), at / page_bytes * page_bytes, page_bytes,
                          POSIX_FADV_DONTNEED);
  };
  if (end % page_bytes != 0) drop_page(end);
  if (old_size.ok() && old_size.value() % page_bytes != 0) drop_page(old_size.value());
  return true;
}

Error PosixFile::extend_with_zeros(std::int64_t size) const {
  const Result<std::int64_t> old = this->size();
  if (old.failed()) return old.error();
  const std::vector<std::byte> zeros(1 << 20);
  for (std::int64_t at = old.value(); at < size;) {
    const auto bytes = std::min<std::int64_t>(static_cast<std::int64_t>(zeros.size()), size - at);
    const Error error = write(at, std::span(zeros).first(static_cast<std::size_t>(bytes)));
    if (error.failed()) return error;
    at += bytes;
  }
  return {};
}

Error PosixFile::sync() const {
  for (;;) {
    SystemCall call = begin("fsync", 0, 0);
    const int result = ::fsync(descriptor_.get());
    call.ended(nullptr, result);
    // Pipes and some devices have nothing to store.
    if (result == 0 || errno == EINVAL) return {};
    if (errno != EINTR) return system_error("storing the data", path_, no_offset, errno);
  }
}

void PosixFile::advise(Style style) const noexcept {
  const int advice = style == Style::random       ? POSIX_FADV_RANDOM
                     : style == Style::sequential ? POSIX_FADV_SEQUENTIAL
                                                  : POSIX_FADV_NORMAL;
  (void)::posix_fadvise(descriptor_.get(), 0, 0, advice);
}

void PosixFile::keep_log(FileLog& log) {
  log_ = &log;
  if (log.trace != nullptr) log_number_ = log.trace->number_of(path_);
}

void PosixFile::count_lock_wait(std::uint64_t ns) const noexcept {
  if (log_ == nullptr) return;
  FileStats::add(log_->figures.lock_waits);
  FileStats::add(log_->figures.lock_wait_ns, ns);
}

Error PosixFile::store_exactly() {
  // Linux' client of NFS does so while it holds a lock of a part of the file (nfs_can_extend_write). All readers
  // share this one. It cannot be had where there is no lock service, or reading is not allowed.
  struct flock lock = whole_lock(F_RDLCK, marker_offset, 1);
  if (::fcntl(descriptor_.get(), F_OFD_SETLK, &lock) == 0) return {};
  // It also does so where each write waits until it is stored.
  const int flags = ::fcntl(descriptor_.get(), F_GETFL);
  Result<PosixFile> again = open(path_, (flags & O_ACCMODE) | O_DSYNC, 0);
  if (again.ok()) descriptor_ = std::move(again.value().descriptor_);
  return again.error();
}

Error PosixFile::push() const {
  constexpr unsigned all =
      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  while (::sync_file_range(descriptor_.get(), 0, 0, all) != 0) {
    if (errno == ESPIPE || errno == EINVAL) return {};
    if (errno != EINTR) return system_error("storing the data", path_, no_offset, errno);
  }
  return {};
}

void PosixFile::refresh() const noexcept {
  // A client of NFS asks its server again when it gets a lock.
  struct flock lock = whole_lock(F_RDLCK, refreshing_offset, 1);
  if (::fcntl(descriptor_.get(), F_OFD_SETLK, &lock) == 0) {
    lock.l_type = F_UNLCK;
    (void)::fcntl(descriptor_.get(), F_OFD_SETLK, &lock);
  } else {
    (void)::posix_fadvise(descriptor_.get(), 0, 0, POSIX_FADV_DONTNEED);
  }
}

RangeLock::~RangeLock() {
  if (file_ == nullptr) return;
  if (locked_in_system_) {
    struct flock lock = whole_lock(F_UNLCK, offset_, length_);
    (void)::fcntl(file_->descriptor_.get(), F_OFD_SETLK, &lock);
  }
  file_->locked_->release(offset_, length_);
}

Error RangeLock::acquire(const PosixFile& file, std::int64_t offset, std::int64_t length, Mode mode,
                         std::int64_t timeout_ns) {
  if (!file.locked_->acquire(offset, length, timeout_ns)) {
    return held_too_long("another thread of this process", file.path(), offset, length, timeout_ns);
  }
  file_ = &file;
  offset_ = offset;
  length_ = length;
  const Error error = lock_in_system(mode, timeout_ns);
  locked_in_system_ = error.ok();
  return error;
}

Error RangeLock::lock_in_system(Mode mode, std::int64_t timeout_ns) const {
  constexpr long first_nap_ns = 1000;
  constexpr long longest_nap_ns = 1'000'000;
  const short type = mode == Mode::shared ? F_RDLCK : F_WRLCK;
  const std::uint64_t start = base::now_ns();
  long nap_ns = first_nap_ns;
  for (;;) {
    struct flock lock = whole_lock(type, offset_, length_);
    if (::fcntl(file_->descriptor_.get(), F_OFD_SETLK, &lock) == 0) {
      if (nap_ns > first_nap_ns) file_->count_lock_wait(base::now_ns() - start);
      return {};
    }
    if (errno != EAGAIN && errno != EACCES && errno != EINTR) {
      return system_error("locking a part", file_->path(), offset_, errno);
    }
    if (base::now_ns() - start > static_cast<std::uint64_t>(timeout_ns)) {
      return held_too_long(holder_of(file_->descriptor_.get(), whole_lock(type, offset_, length_)),
                           file_->path(), offset_, length_, timeout_ns);
    }
    const timespec nap{0, nap_ns};
    (void)::nanosleep(&nap, nullptr);
    nap_ns = std::min(nap_ns * 2, longest_nap_ns);
  }
}

}  // namespace fulmar::io
