// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>

#include "base/error.h"
#include "mpi/datatype/view.h"
#include "mpi/io/access/access.h"

namespace fulmar::mpi {

/// Some bytes of an access during the transfer: their places, and the memory if it is a copy.
class MovedBytes {
 public:
  MovedBytes() noexcept = default;
  /// The user's memory, or memory that lives as long.
  explicit MovedBytes(std::byte* data) noexcept : data_(data) {}
  /// A copy; null where there was no memory.
  explicit MovedBytes(std::unique_ptr<std::byte[]> copy) noexcept
      : copy_(std::move(copy)), data_(copy_.get()) {}

  [[nodiscard]] bool failed() const noexcept { return data_ == nullptr; }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] bool is_copy() const noexcept { return copy_ != nullptr; }

 private:
  std::unique_ptr<std::byte[]> copy_;
  std::byte* data_ = nullptr;
};

/// The memory of a collective access, as the bytes that are in the file: any part of them can be
/// taken or given. Data that are converted are so as a whole, at the beginning or the end.
class MemorySide {
 public:
  explicit MemorySide(const Access& access, bool writes) noexcept;

  /// There was no memory for the converted data.
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  /// Of the conversion of data to be written.
  [[nodiscard]] base::Error error() const noexcept { return error_; }

  /// The bytes at a position of the view's stream, to be written to the file.
  [[nodiscard]] MovedBytes to_send(Count position, Count bytes) const noexcept;
  /// A buffer for them; `received` follows.
  [[nodiscard]] MovedBytes to_receive(Count position, Count bytes) const noexcept;
  void received(Count position, Count bytes, const MovedBytes& from) const noexcept;
  /// After all was received: `bytes` of the file are there. Sets how many bytes in memory that
  /// makes.
  base::Error finish(Count bytes, Count& moved) const noexcept;

 private:
  const Access& access_;
  View pieces_;
  std::unique_ptr<std::byte[]> converted_;
  std::byte* block_ = nullptr;  ///< null: in pieces
  bool failed_ = false;
  base::Error error_;
};

}  // namespace fulmar::mpi
