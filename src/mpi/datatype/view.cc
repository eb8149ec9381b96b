// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/view.h"

#include <algorithm>
#include <cstring>

#include "base/copy.h"
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

/// Copies a run whose length is known to the compiler (`least` == `bytes`), or is between `least`
/// and twice that, by two moves that overlap.
template <std::int64_t least>
void copy_between(std::byte* to, const std::byte* from, std::int64_t bytes) {
  std::memcpy(to, from, least);
  std::memcpy(to + bytes - least, from + bytes - least, least);
}

/// One run; most runs of scattered data are a few numbers.
inline void copy_run(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else if (bytes > 64) {
    base::copy_bytes(to, from, static_cast<std::size_t>(bytes));
  } else if (bytes > 32) {
    copy_between<32>(to, from, bytes);
  } else if (bytes >= 16) {
    copy_between<16>(to, from, bytes);
  } else if (bytes > 8) {
    copy_between<8>(to, from, bytes);
  } else if (bytes >= 4) {
    copy_between<4>(to, from, bytes);
  } else {
    for (std::int64_t i = 0; i < bytes; ++i) to[i] = from[i];
  }
}

/// Equal runs of one size: each copy is one load and one store. The running pointers leave the loop
/// without multiplications.
template <std::size_t block>
void copy_equal(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
                std::int64_t count) {
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < count; ++i, to += to_step, from += from_step) {
    std::memcpy(to, from, block);
  }
}
template <std::int64_t least>
void copy_near(std::byte* to, std::int64_t to_step, const std::byte* from, std::int64_t from_step,
               std::int64_t count, std::int64_t block) {
  for (std::int64_t i = 0; i < count; ++i, to += to_step, from += from_step) {
    copy_between<least>(to, from, block);
  }
}

/// `count` runs of `block` bytes. The size is tested once, not for each of them.
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
    case 32:
      return copy_equal<32>(to, to_step, from, from_step, count);
    default:
      break;
  }
  if (block == 3) return copy_near<2>(to, to_step, from, from_step, count, block);
  if (block < 8) return copy_near<4>(to, to_step, from, from_step, count, block);
  if (block < 16) return copy_near<8>(to, to_step, from, from_step, count, block);
  if (block < 32) return copy_near<16>(to, to_step, from, from_step, count, block);
  if (block <= 64) return copy_near<32>(to, to_step, from, from_step, count, block);
  for (std::int64_t i = 0; i < count; ++i, to += to_step, from += from_step) {
    base::copy_bytes(to, from, static_cast<std::size_t>(block));
  }
}

/// A list of runs, `count` times: run by run instead of element by element, so that each inner loop
/// moves one size, in pieces that stay in the first cache. `copy(packed, at, n, bytes)` moves n
/// runs of one place in the list.
template <class Copy>
void copy_interleaved(std::int64_t at, std::int64_t count, std::int64_t stride, std::int64_t bytes,
                      std::span<const Layout::Block> runs, const Copy& copy) {
  constexpr std::int64_t piece_bytes = 4096;
  const std::int64_t piece = std::max<std::int64_t>(piece_bytes / bytes, 1);
  for (std::int64_t done = 0; done < count; done += piece) {
    const std::int64_t n = std::min(piece, count - done);
    for (const auto& run : runs) {
      copy(done * bytes + run.packed, at + done * stride + run.at, n, run.bytes);
    }
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
  bool interleaved(std::int64_t at, std::int64_t count, std::int64_t stride, std::int64_t bytes,
                   std::span<const Layout::Block> runs) {
    copy_interleaved(at, count, stride, bytes, runs,
                     [&](std::int64_t packed, std::int64_t from, std::int64_t n, std::int64_t run) {
                       copy_runs(out + packed, bytes, address(base, from), stride, n, run);
                     });
    out += count * bytes;
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
  bool interleaved(std::int64_t at, std::int64_t count, std::int64_t stride, std::int64_t bytes,
                   std::span<const Layout::Block> runs) {
    copy_interleaved(at, count, stride, bytes, runs,
                     [&](std::int64_t packed, std::int64_t to, std::int64_t n, std::int64_t run) {
                       copy_runs(address(base, to), stride, in + packed, bytes, n, run);
                     });
    in += count * bytes;
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
  bool interleaved(std::int64_t at, std::int64_t count, std::int64_t stride, std::int64_t,
                   std::span<const Layout::Block> runs) {
    for (std::int64_t i = 0; i < count; ++i) {
      for (const auto& each : runs) {
        if (!run(at + i * stride + each.at, each.bytes)) return false;
      }
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
