// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace fulmar::mpi {

struct Datatype;
struct Layout;

/// `count` elements of a datatype, as one stretch of packed bytes. Cheap to make; names the
/// datatype, which must outlive it. Any offset may come at any time and in any order: nothing is
/// remembered between calls. Thread-safe.
class View {
 public:
  View(const Datatype& type, std::int64_t count) noexcept;

  /// Packed bytes of all elements.
  [[nodiscard]] std::uint64_t bytes() const noexcept { return static_cast<std::uint64_t>(bytes_); }
  /// Copies packed bytes from `offset` on into `to` until it is full or the data ends.
  /// Returns how many bytes.
  std::size_t pack(const void* base, std::uint64_t offset, std::span<std::byte> to) const noexcept;
  /// The same in the other direction.
  std::size_t unpack(void* base, std::uint64_t offset,
                     std::span<const std::byte> from) const noexcept;
  /// Describes the memory of the packed bytes [offset, offset + bytes) by at most out.size()
  /// entries. Neighbours are joined. Returns the number of entries written; their lengths say how
  /// far they reach.
  std::size_t segments(const void* base, std::uint64_t offset, std::uint64_t bytes,
                       std::span<iovec> out) const noexcept;

 private:
  template <class Sink>
  void walk_range(std::uint64_t offset, std::uint64_t length, Sink& sink) const noexcept;

  const Layout* layout_;
  std::int64_t count_;
  std::int64_t extent_;
  std::int64_t bytes_;
};

}  // namespace fulmar::mpi
