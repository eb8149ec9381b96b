// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/engine/scratch.h"

#include <algorithm>
#include <array>

#include "base/copy.h"
#include "mpi/datatype/view.h"

namespace fulmar::mpi {

using base::Error;
using base::ErrorClass;
using base::failure;

Scratch::Scratch(const Datatype& type, Count count) noexcept {
  constexpr std::size_t alignment = 64;
  const Count steps = count > 0 ? count - 1 : 0;
  const Count lowest = type.true_lb + std::min<Count>(steps * type.extent, 0);
  bytes_ = static_cast<std::size_t>(type.true_extent + std::abs(steps * type.extent));
  const std::size_t padded_bytes = (bytes_ + alignment) / alignment * alignment;
  memory_.reset(std::aligned_alloc(alignment, padded_bytes));
  if (memory_ != nullptr) address_ = shifted(memory_.get(), -lowest);
}

Error Scratch::error() const {
  return failure(ErrorClass::no_mem, "%zu bytes for intermediate results are not available",
                 bytes_);
}

Error copy_data(const ConstData& from, const Data& to) noexcept {
  const Count bytes = bytes_of(from);
  const Count moved = std::min(bytes, bytes_of(to));
  if (from.type->contiguous && to.type->contiguous) {
    if (moved > 0 && from.address != to.address) {
      base::copy_bytes(to.address, from.address, static_cast<std::size_t>(moved));
    }
  } else {
    const View source(*from.type, from.count);
    const View target(*to.type, to.count);
    std::array<std::byte, 16384> piece;
    for (Count done = 0; done < moved;) {
      const auto part =
          static_cast<std::size_t>(std::min<Count>(moved - done, static_cast<Count>(piece.size())));
      const auto at = static_cast<std::uint64_t>(done);
      source.pack(from.address, at, std::span(piece).first(part));
      target.unpack(to.address, at, std::span<const std::byte>(piece).first(part));
      done += static_cast<Count>(part);
    }
  }
  if (moved == bytes) return {};
  return failure(ErrorClass::truncate,
                 "the own contribution of %lld bytes is longer than the %lld bytes of room for it",
                 static_cast<long long>(bytes), static_cast<long long>(moved));
}

Error check_counts(const char* argument, CountArray counts, int ranks) {
  if (counts.is_null()) {
    return failure(ErrorClass::arg, "argument %s: null pointer; give one count for each rank",
                   argument);
  }
  for (int i = 0; i < ranks; ++i) {
    const Count count = counts[static_cast<std::size_t>(i)];
    if (count < 0) {
      return failure(ErrorClass::count, "argument %s: entry %d is %lld, less than 0", argument, i,
                     static_cast<long long>(count));
    }
  }
  return {};
}

Error check_displs(const char* argument, CountArray displs) {
  if (!displs.is_null()) return {};
  return failure(ErrorClass::arg, "argument %s: null pointer; give one displacement for each rank",
                 argument);
}

Error refuse_in_place(const char* argument, const void* address, const char* where) {
  if (!is_in_place(address)) return {};
  return failure(ErrorClass::buffer, "argument %s: MPI_IN_PLACE is allowed %s only", argument,
                 where);
}

Error same_buffer(const void* address) {
  return failure(ErrorClass::buffer,
                 "arguments sendbuf and recvbuf are the same elements at %p; pass MPI_IN_PLACE for "
                 "one of them",
                 address);
}

Error check_operands(const void* send, const void* receive, Count count, const Datatype& type) {
  if (const Error bad = check_buffer("recvbuf", receive, count, type); bad.failed()) return bad;
  if (is_in_place(send)) return {};
  if (const Error bad = check_buffer("sendbuf", send, count, type); bad.failed()) return bad;
  if (send != receive || send == nullptr || count == 0) return {};
  return same_buffer(send);
}

}  // namespace fulmar::mpi
