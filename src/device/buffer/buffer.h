// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/copy.h"
#include "base/memcheck.h"
#include "channel/ring.h"
#include "fabric/provider.h"

namespace fulmar::device {

/// Reads and writes data that are not one run of bytes, by position in the packed stream. Made by
/// the layer that knows datatypes, for one type and count; must live until the operation is
/// complete.
class Packer {
 public:
  Packer() = default;
  Packer(const Packer&) = delete;
  Packer& operator=(const Packer&) = delete;
  virtual ~Packer() = default;

  /// Copies packed bytes [offset, offset + to.size()) out of the buffer at `base`; returns how many
  /// there were.
  virtual std::size_t pack(const void* base, std::uint64_t offset,
                           std::span<std::byte> to) const = 0;
  /// The reverse.
  virtual std::size_t unpack(void* base, std::uint64_t offset,
                             std::span<const std::byte> from) const = 0;
  /// Describes packed bytes from `offset` on as pieces of memory, at most `bytes` bytes and
  /// `out.size()` pieces; returns the number of pieces.
  virtual std::size_t segments(void* base, std::uint64_t offset, std::uint64_t bytes,
                               std::span<iovec> out) const = 0;
};

/// The user's memory of a message: `bytes` bytes at `address`, or, with a packer, as many packed
/// bytes of the data that start there.
struct Buffer {
  void* address = nullptr;
  std::uint64_t bytes = 0;
  const Packer* packer = nullptr;
};

/// Packed bytes [offset, offset + to.size()) of a buffer.
inline void read_buffer(const Buffer& buffer, std::uint64_t offset, std::span<std::byte> to,
                        base::StoreKind stores = base::StoreKind::cached) noexcept {
  if (buffer.packer != nullptr) [[unlikely]] {
    buffer.packer->pack(buffer.address, offset, to);
  } else {
    base::copy_bytes(to.data(), static_cast<const std::byte*>(buffer.address) + offset, to.size(),
                     stores);
  }
}
inline void write_buffer(const Buffer& buffer, std::uint64_t offset,
                         std::span<const std::byte> from) noexcept {
  if (buffer.packer != nullptr) [[unlikely]] {
    buffer.packer->unpack(buffer.address, offset, from);
  } else {
    base::copy_bytes(static_cast<std::byte*>(buffer.address) + offset, from.data(), from.size());
  }
}

/// Calls `note(address, bytes)` for each run of memory of the first `bytes` bytes of a buffer,
/// under valgrind only.
template <class Note>
void for_memcheck(const Buffer& buffer, std::uint64_t bytes, Note&& note) noexcept {
  if (base::valgrind_depth() == 0) [[likely]]
    return;
  if (buffer.packer == nullptr) {
    note(buffer.address, bytes);
    return;
  }
  std::array<iovec, 64> runs;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::size_t count = buffer.packer->segments(buffer.address, done, bytes - done, runs);
    if (count == 0) return;
    for (std::size_t i = 0; i < count; ++i) {
      note(runs[i].iov_base, runs[i].iov_len);
      done += runs[i].iov_len;
    }
  }
}
/// A long message is in its place, moved there by its sender or an adapter.
inline void note_written_by_peer(const Buffer& buffer, std::uint64_t bytes) noexcept {
  for_memcheck(buffer, bytes, base::note_written_by_peer);
}
/// A long message is announced: its receiver may read it from now on.
inline void check_read_by_peer(const Buffer& buffer) noexcept {
  for_memcheck(buffer, buffer.bytes, [](const void* address, std::uint64_t bytes) noexcept {
    base::check_read_by_peer(address, bytes);
  });
}

/// Writes a packet's body, piece by piece: `prefix`, then packed bytes of a buffer from `offset`
/// on. The prefix fits into the first piece. Names both, owns neither.
class BodyWriter {
 public:
  BodyWriter(std::span<const std::byte> prefix, const Buffer& buffer, std::uint64_t offset) noexcept
      : prefix_(prefix), buffer_(buffer), offset_(offset) {}

  void operator()(std::span<std::byte> to, std::uint64_t at,
                  base::StoreKind stores = base::StoreKind::cached) const noexcept {
    if (at == 0 && !prefix_.empty()) {
      base::copy_bytes(to.data(), prefix_.data(), prefix_.size());
      if (to.size() <= prefix_.size()) return;
      to = to.subspan(prefix_.size());
    } else {
      at -= prefix_.size();
    }
    read_buffer(buffer_, offset_ + at, to, stores);
  }

  /// The body of `bytes` bytes where it lies, for channels that only read it; nothing if it is not
  /// one run of memory.
  [[nodiscard]] std::span<const std::byte> run(std::size_t bytes) const noexcept {
    if (!prefix_.empty() || buffer_.packer != nullptr) return {};
    return {static_cast<const std::byte*>(buffer_.address) + offset_, bytes};
  }

 private:
  std::span<const std::byte> prefix_;
  const Buffer& buffer_;
  std::uint64_t offset_;
};

/// Copies bytes [from, from + count) of a packet's body to `offset` of a buffer, each piece as soon
/// as it is there.
inline void copy_body(const Buffer& buffer, std::uint64_t offset, const fabric::Body& body,
                      std::uint64_t from, std::uint64_t count) noexcept {
  if (body.complete()) [[likely]] {
    write_buffer(buffer, offset, body.part(from, count));
    return;
  }
  const auto length = static_cast<std::uint32_t>(body.size());
  for (std::uint32_t at = 0; at < from + count;) {
    const std::uint32_t end = channel::cut_through_end(length, at);
    const std::uint64_t first = std::max<std::uint64_t>(at, from);
    const std::uint64_t last = std::min<std::uint64_t>(end, from + count);
    if (first < last) write_buffer(buffer, offset + first - from, body.part(first, last - first));
    at = end;
  }
}

}  // namespace fulmar::device
