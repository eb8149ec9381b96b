// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdlib>
#include <memory>

#include "mpi/args.h"
#include "mpi/datatype/buffers.h"

namespace fulmar::mpi {

/// `address` moved by a number of bytes; MPI_BOTTOM counts as address 0.
[[nodiscard]] inline void* shifted(void* address, Count bytes) noexcept {
  return reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(address) + bytes);
}
[[nodiscard]] inline const void* shifted(const void* address, Count bytes) noexcept {
  return reinterpret_cast<const void*>(reinterpret_cast<std::intptr_t>(address) + bytes);
}

/// A temporary buffer for `count` elements of a type.
class Scratch {
 public:
  Scratch(const Datatype& type, Count count) noexcept;

  /// The address of the buffer as for an MPI call; nullptr where memory is used up.
  [[nodiscard]] void* address() const noexcept { return address_; }
  [[nodiscard]] bool failed() const noexcept { return memory_ == nullptr; }
  [[nodiscard]] base::Error error() const;

 private:
  struct Free {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<void, Free> memory_;
  void* address_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Bytes of data of `count` elements.
[[nodiscard]] inline Count bytes_of(const ConstData& data) noexcept {
  return data.count * data.type->size;
}
[[nodiscard]] inline Count bytes_of(const Data& data) noexcept {
  return data.count * data.type->size;
}
[[nodiscard]] inline ConstData as_const(const Data& data) noexcept {
  return {data.address, data.count, data.type};
}

/// Copies data within this process, as a message to itself would; MPI_ERR_TRUNCATE where there is
/// too little space. Buffers must not overlap.
base::Error copy_data(const ConstData& from, const Data& to) noexcept;

/// MPI_ERR_COUNT where one of `ranks` counts is negative, MPI_ERR_ARG where an array is missing.
base::Error check_counts(const char* argument, CountArray counts, int ranks);
base::Error check_displs(const char* argument, CountArray displs);
/// MPI_ERR_BUFFER for MPI_IN_PLACE where it is not allowed.
base::Error refuse_in_place(const char* argument, const void* address, const char* where);
/// MPI_ERR_BUFFER where a call reads and writes the same buffer; MPI_IN_PLACE is for that. Layouts
/// that overlap only in part are not detected.
[[gnu::cold]] base::Error same_buffer(const void* address);
[[nodiscard]] inline base::Error refuse_same(const ConstData& read, const Data& written) {
  const bool same = read.address == written.address && read.type == written.type &&
                    bytes_of(read) > 0 && bytes_of(written) > 0;
  return same ? same_buffer(read.address) : base::Error{};
}
/// The buffers of a reduction, `send` not at the others' of MPI_IN_PLACE. MPI_ERR_BUFFER also where
/// it would read and write the same elements without MPI_IN_PLACE.
base::Error check_operands(const void* send, const void* receive, Count count,
                           const Datatype& type);

}  // namespace fulmar::mpi
