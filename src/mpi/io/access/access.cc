// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// How the data of one process move -------------------------------- A view without gaps: one call
// of the system for as much as there is. Memory in pieces that are large is passed to vectored
// calls directly; small pieces are gathered in a buffer first, because a piece costs the kernel
// some 50 ns, as much as copying 500 bytes.
//
// A view with gaps: short runs are copied to or from mapped memory where the file system is known
// to take that well (mapped_access.h). Otherwise a call for each run of data, or *sieving*: reading
// a stretch with its gaps in one call and picking the data out of it. A call costs about 0.5 us; in
// that time some 2 KiB are copied from the page cache, or 4 KiB from memory that was just read.
// Writes would have to read the gaps and write them back, which undoes what another process has
// written there in between: they do so only if the hint romio_ds_write requests it, and then every
// write locks its part of the file.
#include "mpi/io/access/access.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <new>

#include "mpi/io/access/mapped_access.h"
#include "mpi/io/view/datarep.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::Result;

constexpr std::size_t segments_at_a_time = 256;
/// What is copied in the time of a call, from memory that was just read.
constexpr Count bytes_copied_a_call = 4096;
/// The same where each call goes to a file server.
constexpr Count largest_sieved_remote_gap = 4096;
constexpr Count smallest_vectored_piece = 2048;

using Segments = std::array<iovec, segments_at_a_time>;

/// Memory that may be refused.
class Buffer {
 public:
  explicit Buffer(Count bytes) noexcept
      : bytes_(static_cast<std::size_t>(bytes)), memory_(new(std::nothrow) std::byte[bytes_]) {}
  [[nodiscard]] bool failed() const noexcept { return memory_ == nullptr; }
  [[nodiscard]] Error error() const {
    return base::failure(ErrorClass::no_mem, "no memory for a buffer of %zu bytes", bytes_);
  }
  [[nodiscard]] std::span<std::byte> span() const noexcept { return {memory_.get(), bytes_}; }

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte[]> memory_;
};

/// A part of the file that contains some segments of a view.
struct Window {
  Count first;
  Count end;
  std::size_t segments;
  Count data;
};

/// As many of the segments, from the first on, as go forward and fit a window of `limit` bytes.
Window window_of(std::span<const iovec> segments, Count limit) noexcept {
  Window window{offset_in(segments[0]), offset_in(segments[0]), 0, 0};
  for (const iovec& segment : segments) {
    const Count end = offset_in(segment) + static_cast<Count>(segment.iov_len);
    if (offset_in(segment) < window.end || end - window.first > limit) break;
    window.end = end;
    ++window.segments;
    window.data += static_cast<Count>(segment.iov_len);
  }
  return window;
}

bool should_sieve(const Access& access, io::Use use, const Window& window) noexcept {
  if (use == io::Use::never || window.segments < 2) return false;
  if (use == io::Use::always) return true;
  const Count gaps = window.end - window.first - window.data;
  const auto calls = static_cast<Count>(window.segments);
  if (access.remote) return gaps <= largest_sieved_remote_gap * calls;
  // Gaps are read, at half the speed; data are read in either case, and copied once more.
  return 2 * gaps + window.data <= bytes_copied_a_call * calls;
}

/// Reads segment after segment. Returns how many bytes, less where the file ends.
Result<Count> read_runs(const Access& access, std::span<const iovec> segments, std::byte* to) {
  Count done = 0;
  for (const iovec& segment : segments) {
    const auto got = access.file->read(offset_in(segment), std::span(to + done, segment.iov_len));
    if (got.failed()) return got.error();
    done += static_cast<Count>(got.value());
    if (got.value() < segment.iov_len) break;
  }
  return done;
}

Result<Count> read_sieved(const Access& access, const Window& window,
                          std::span<const iovec> segments, std::span<std::byte> buffer,
                          std::byte* to) {
  const auto length = static_cast<std::size_t>(window.end - window.first);
  const auto got = access.file->read(window.first, buffer.first(length));
  if (got.failed()) return got.error();
  Count done = 0;
  for (const iovec& segment : segments) {
    const auto at = static_cast<std::size_t>(offset_in(segment) - window.first);
    const std::size_t there = got.value() > at ? got.value() - at : 0;
    const std::size_t bytes = std::min(segment.iov_len, there);
    std::memcpy(to + done, buffer.data() + at, bytes);
    done += static_cast<Count>(bytes);
    if (bytes < segment.iov_len) break;
  }
  return done;
}

Error write_runs(const Access& access, std::span<const iovec> segments, const std::byte* from) {
  for (const iovec& segment : segments) {
    const Error error = access.file->write(offset_in(segment), std::span(from, segment.iov_len));
    if (error.failed()) return error;
    from += segment.iov_len;
  }
  return {};
}

/// Reads what is there, puts the data into it, and writes it back. The access has a lock.
Error write_sieved(const Access& access, const Window& window, std::span<const iovec> segments,
                   std::span<std::byte> buffer, const std::byte* from) {
  const Count length = window.end - window.first;
  const auto stretch = buffer.first(static_cast<std::size_t>(length));
  const auto got = access.file->read(window.first, stretch);
  if (got.failed()) return got.error();
  std::ranges::fill(stretch.subspan(got.value()), std::byte{0});
  for (const iovec& segment : segments) {
    std::memcpy(stretch.data() + (offset_in(segment) - window.first), from, segment.iov_len);
    from += segment.iov_len;
  }
  return access.file->write(window.first, stretch);
}

std::span<std::byte> sieve_buffer(std::unique_ptr<Buffer>& buffer, Count bytes) {
  if (buffer == nullptr) buffer.reset(new (std::nothrow) Buffer(bytes));
  return buffer == nullptr || buffer->failed() ? std::span<std::byte>() : buffer->span();
}

/// About how many bytes of elements are converted at a time.
constexpr Count converted_bytes = 4 << 20;

Count elements_at_a_time(const Access& access) {
  const Count each = access.bytes / std::max<Count>(access.memory.count, 1);
  // Functions of the user get everything at once.
  if (access.view->representation().kind == Representation::Kind::user) return access.memory.count;
  return std::max<Count>(converted_bytes / std::max<Count>(each, 1), 1);
}

Data part_of(const Data& data, Count first, Count count) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(data.address) +
                       static_cast<std::uintptr_t>(first * data.type->extent);
  return {reinterpret_cast<void*>(address), count, data.type};
}

Error write_converted(const Access& access) {
  const Count each = access.bytes / access.memory.count;
  const Count step = std::min(elements_at_a_time(access), access.memory.count);
  const Buffer buffer(step * each);
  if (buffer.failed()) return buffer.error();
  for (Count done = 0; done < access.memory.count; done += step) {
    const Count some = std::min(step, access.memory.count - done);
    const Data part = part_of(access.memory, done, some);
    Error error = convert_to_file(access.view->representation(),
                                  {part.address, part.count, part.type}, buffer.span().data());
    if (error.ok()) {
      error = write_stream(access, access.position + done * each,
                           buffer.span().first(static_cast<std::size_t>(some * each)));
    }
    if (error.failed()) return error;
  }
  return {};
}

Error read_converted(const Access& access, Count& moved) {
  const Count each = access.bytes / access.memory.count;
  const Count step = std::min(elements_at_a_time(access), access.memory.count);
  const Buffer buffer(step * each);
  if (buffer.failed()) return buffer.error();
  for (Count done = 0; done < access.memory.count;) {
    const Count some = std::min(step, access.memory.count - done);
    const auto got = read_stream(access, access.position + done * each,
                                 buffer.span().first(static_cast<std::size_t>(some * each)));
    if (got.failed()) return got.error();
    Count converted = 0;
    const Error error =
        convert_from_file(access.view->representation(), buffer.span().data(), got.value(),
                          part_of(access.memory, done, some), converted);
    if (error.failed()) return error;
    done += some;
    moved += converted;
    if (converted < some * access.memory.type->size) break;
  }
  return {};
}

/// Memory in pieces, and a file without gaps: vectored calls while the pieces are large. Returns
/// how far that went.
template <class Move>
Count move_pieces(const Access& access, const View& pieces, Error& error, const Move& move) {
  if (!access.view->contiguous()) return 0;
  Segments memory;
  Count done = 0;
  while (done < access.bytes) {
    const std::size_t found =
        pieces.segments(access.memory.address, static_cast<std::uint64_t>(done),
                        static_cast<std::uint64_t>(access.bytes - done), memory);
    Count length = 0;
    for (const iovec& piece : std::span(memory).first(found)) {
      length += static_cast<Count>(piece.iov_len);
    }
    if (length < smallest_vectored_piece * static_cast<Count>(found)) break;
    const Count moved = move(done, std::span(memory).first(found), error);
    done += moved;
    if (error.failed() || moved < length) break;
  }
  return done;
}

Error write_packed(const Access& access) {
  const View pieces(*access.memory.type, access.memory.count);
  Error error;
  Count done = move_pieces(access, pieces, error, [&](Count at, auto memory, Error& bad) {
    Count length = 0;
    for (const iovec& piece : memory) length += static_cast<Count>(piece.iov_len);
    bad = access.file->write(access.view->start() + access.position + at, memory);
    return length;
  });
  if (error.failed() || done == access.bytes) return error;
  const Buffer buffer(std::min(access.bytes - done, access.hints.write_piece_bytes));
  if (buffer.failed()) return buffer.error();
  while (done < access.bytes) {
    const std::size_t bytes =
        pieces.pack(access.memory.address, static_cast<std::uint64_t>(done), buffer.span());
    error = write_stream(access, access.position + done, buffer.span().first(bytes));
    if (error.failed()) return error;
    done += static_cast<Count>(bytes);
  }
  return {};
}

Error read_packed(const Access& access, Count& moved) {
  const View pieces(*access.memory.type, access.memory.count);
  Error error;
  bool ended = false;
  moved = move_pieces(access, pieces, error, [&](Count at, auto memory, Error& bad) -> Count {
    Count length = 0;
    for (const iovec& piece : memory) length += static_cast<Count>(piece.iov_len);
    const auto got = access.file->read(access.view->start() + access.position + at, memory);
    bad = got.error();
    if (got.failed()) return 0;
    ended = static_cast<Count>(got.value()) < length;
    return static_cast<Count>(got.value());
  });
  if (error.failed() || ended || moved == access.bytes) return error;
  const Buffer buffer(std::min(access.bytes - moved, access.hints.read_piece_bytes));
  if (buffer.failed()) return buffer.error();
  while (moved < access.bytes) {
    const Count wanted = std::min(access.bytes - moved, static_cast<Count>(buffer.span().size()));
    const auto part = buffer.span().first(static_cast<std::size_t>(wanted));
    const auto got = read_stream(access, access.position + moved, part);
    if (got.failed()) return got.error();
    (void)pieces.unpack(access.memory.address, static_cast<std::uint64_t>(moved),
                        part.first(static_cast<std::size_t>(got.value())));
    moved += got.value();
    if (got.value() < wanted) break;
  }
  return {};
}

/// In atomic mode; and while a rank may use data sieving, which would undo concurrent writes.
Error lock_whole(io::RangeLock& lock, const Access& access, io::RangeLock::Mode mode) {
  const bool sieves =
      mode == io::RangeLock::Mode::exclusive && access.hints.sieve_write == io::Use::always;
  if (!access.atomic && !sieves) return {};
  const FileView::Part part = access.part();
  return lock.acquire(*access.file, part.first, part.end - part.first, mode);
}

}  // namespace

Error write_stream(const Access& access, Count position, std::span<const std::byte> from) {
  if (access.hints.sieve_write != io::Use::always) {
    const Count done = write_mapped(access, position, from);
    position += done;
    from = from.subspan(static_cast<std::size_t>(done));
  }
  std::unique_ptr<Buffer> buffer;
  Segments segments;
  while (!from.empty()) {
    const std::size_t found =
        access.view->segments(position, static_cast<Count>(from.size()), segments);
    for (std::size_t at = 0; at < found;) {
      const auto rest = std::span(segments).subspan(at, found - at);
      const Window window = window_of(rest, access.hints.write_piece_bytes);
      const bool sieves = should_sieve(access, access.hints.sieve_write, window);
      const auto some = rest.first(std::max<std::size_t>(window.segments, 1));
      std::size_t bytes = 0;
      for (const iovec& segment : some) bytes += segment.iov_len;
      const auto room =
          sieves ? sieve_buffer(buffer, access.hints.write_piece_bytes) : std::span<std::byte>();
      const Error error = room.empty() ? write_runs(access, some, from.data())
                                       : write_sieved(access, window, some, room, from.data());
      if (error.failed()) return error;
      position += static_cast<Count>(bytes);
      from = from.subspan(bytes);
      at += some.size();
    }
  }
  return {};
}

Result<Count> read_stream(const Access& access, Count position, std::span<std::byte> to) {
  std::unique_ptr<Buffer> buffer;
  Segments segments;
  Count done =
      access.hints.sieve_read == io::Use::automatic ? read_mapped(access, position, to) : 0;
  while (done < static_cast<Count>(to.size())) {
    const Count left = static_cast<Count>(to.size()) - done;
    const std::size_t found = access.view->segments(position + done, left, segments);
    for (std::size_t at = 0; at < found;) {
      const auto rest = std::span(segments).subspan(at, found - at);
      const Window window = window_of(rest, access.hints.read_piece_bytes);
      const bool sieves = should_sieve(access, access.hints.sieve_read, window);
      const auto some = rest.first(std::max<std::size_t>(window.segments, 1));
      Count bytes = 0;
      for (const iovec& segment : some) bytes += static_cast<Count>(segment.iov_len);
      const auto room =
          sieves ? sieve_buffer(buffer, access.hints.read_piece_bytes) : std::span<std::byte>();
      const auto got = room.empty() ? read_runs(access, some, to.data() + done)
                                    : read_sieved(access, window, some, room, to.data() + done);
      if (got.failed()) return got;
      done += got.value();
      if (got.value() < bytes) return done;
      at += some.size();
    }
  }
  return done;
}

Error write_data(const Access& access, Count& moved) {
  moved = 0;
  if (access.bytes == 0) return {};
  io::RangeLock lock;
  Error error = lock_whole(lock, access, io::RangeLock::Mode::exclusive);
  if (error.failed()) return error;
  if (!access.view->representation().as_in_memory()) {
    error = write_converted(access);
  } else if (access.memory.type->contiguous) {
    error = write_stream(access, access.position,
                         {static_cast<const std::byte*>(access.memory.address),
                          static_cast<std::size_t>(access.bytes)});
  } else {
    error = write_packed(access);
  }
  if (error.ok()) moved = access.memory.count * access.memory.type->size;
  return error;
}

Error read_data(const Access& access, Count& moved) {
  moved = 0;
  if (access.bytes == 0) return {};
  io::RangeLock lock;
  Error error = lock_whole(lock, access, io::RangeLock::Mode::shared);
  if (error.failed()) return error;
  if (!access.view->representation().as_in_memory()) return read_converted(access, moved);
  if (!access.memory.type->contiguous) return read_packed(access, moved);
  const auto got = read_stream(
      access, access.position,
      {static_cast<std::byte*>(access.memory.address), static_cast<std::size_t>(access.bytes)});
  if (got.failed()) return got.error();
  moved = got.value();
  return {};
}

}  // namespace fulmar::mpi
