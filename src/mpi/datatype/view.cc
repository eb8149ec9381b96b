// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/view.h"

#include <algorithm>
#include <cstring>

#include "mpi/datatype/datatype.h"
#include "mpi/datatype/walk.h"

namespace fulmar::mpi {
namespace {

/// Plain arithmetic: a base address may be null (MPI_BOTTOM) while displacements are addresses.
template <class Byte>
Byte* address(Byte* base, std::int64_t at) {
  return reinterpret_cast<Byte*>(reinterpret_cast<std::uintptr_t>(base) +
                                 static_cast<std::uintptr_t>(at));
}

/// Equal runs of a size known to the compiler: each copy is one load and one store.
template <std::size_t block>
void copy_equal(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                std::int64_t count) {
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < count; ++i) {
    std::memcpy(to + i * to_step, from + i * from_step, block);
  }
}

void copy_runs(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
               std::int64_t count, std::int64_t block) {
  switch (block) {
    case 1:
      return copy_equal<1>(to, to_step, from, from_step, count);
    case 2:
      return copy_equal<2>(to, to_step, from, from_step, count);
    case 4:
      return copy_equal<4>(to, to_step, from, from_step, count);
    case 8:
      return copy_equal<8>(to, to_step, from, from_step, count);
    case 16:
      return copy_equal<16>(to, to_step, from, from_step, count);
    default:
      for (std::int64_t i = 0; i < count; ++i) {
        std::memcpy(to + i * to_step, from + i * from_step, static_cast<std::size_t>(block));
      }
  }
}

/// One run; most runs of scattered data are one number.
void copy_run(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else if (bytes == 4) {
    std::memcpy(to, from, 4);
  } else {
    std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
}

struct PackSink {
  const std::byte* base;
  std::byte* out;

  bool run(std::int64_t at, std::int64_t bytes) {
    copy_run(out, address(base, at), bytes);
    out += bytes;
    return true;
  }
  bool strided(std::int64_t at, std::int64_t count, std::int64_t stride, std::int64_t block) {
    copy_runs(out, block, address(base, at), stride, count, block);
    out += count * block;
    return true;
  }
};

struct UnpackSink {
  std::byte* base;
  const std::byte* in;

  bool run(std::int64_t at, std::int64_t bytes) {
    copy_run(address(base, at), in, bytes);
    in += bytes;
    return true;
  }
  bool strided(std::int64_t at, std::int64_t count, std::int64_t stride, std::int64_t block) {
    copy_runs(address(base, at), stride, in, block, count, block);
    in += count * block;
    return true;
  }
};

struct SegmentSink {
  std::byte* base;
  std::span<iovec> out;
  std::size_t used = 0;

  bool run(std::int64_t at, std::int64_t bytes) {
    std::byte* start = address(base, at);
    if (used > 0) {
      iovec& last = out[used - 1];
      if (static_cast<std::byte*>(last.iov_base) + last.iov_len == start) {
        last.iov_len += static_cast<std::size_t>(bytes);
        return true;
      }
    }
    if (used == out.size()) return false;
    out[used++] = {start, static_cast<std::size_t>(bytes)};
    return true;
  }
  bool strided(std::int64_t at, std::int64_t count, std::int64_t stride, std::int64_t block) {
    for (std::int64_t i = 0; i < count; ++i) {
      if (!run(at + i * stride, block)) return false;
    }
    return true;
  }
};

}  // namespace

View::View(const Datatype& type, std::int64_t count) noexcept
    : layout_(type.layout.get()), count_(count), extent_(type.extent), bytes_(type.size * count) {}

template <class Sink>
void View::walk_range(std::uint64_t offset, std::uint64_t length, Sink& sink) const noexcept {
  const auto from = static_cast<std::int64_t>(offset);
  const auto to = from + static_cast<std::int64_t>(length);
  const bool run = layout_->shape == Layout::Shape::run;
  if (run && (count_ == 1 || layout_->block == extent_)) {
    if (to > from) sink.run(layout_->at + from, to - from);
  } else if (count_ == 1) {
    walk(*layout_, 0, from, to, sink);
  } else if (run) {
    walk_strided(layout_->at, extent_, layout_->block, from, to, sink);
  } else {
    walk_loop(*layout_, 0, extent_, from, to, sink);
  }
}

std::size_t View::pack(const void* base, std::uint64_t offset,
                       std::span<std::byte> to) const noexcept {
  if (offset >= bytes()) return 0;
  const std::uint64_t length = std::min<std::uint64_t>(to.size(), bytes() - offset);
  PackSink sink{static_cast<const std::byte*>(base), to.data()};
  walk_range(offset, length, sink);
  return length;
}

std::size_t View::unpack(void* base, std::uint64_t offset,
                         std::span<const std::byte> from) const noexcept {
  if (offset >= bytes()) return 0;
  const std::uint64_t length = std::min<std::uint64_t>(from.size(), bytes() - offset);
  UnpackSink sink{static_cast<std::byte*>(base), from.data()};
  walk_range(offset, length, sink);
  return length;
}

std::size_t View::segments(const void* base, std::uint64_t offset, std::uint64_t length,
                           std::span<iovec> out) const noexcept {
  if (offset >= bytes() || out.empty()) return 0;
  SegmentSink sink{static_cast<std::byte*>(const_cast<void*>(base)), out};
  walk_range(offset, std::min(length, bytes() - offset), sink);
  return sink.used;
}

}  // namespace fulmar::mpi
