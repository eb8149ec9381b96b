// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/view/memory_side.h"

#include <new>

#include "mpi/io/view/datarep.h"

namespace fulmar::mpi {
namespace {

std::unique_ptr<std::byte[]> bytes_or_null(Count bytes) noexcept {
  return std::unique_ptr<std::byte[]>(new (std::nothrow)
                                          std::byte[static_cast<std::size_t>(bytes)]);
}

}  // namespace

MemorySide::MemorySide(const Access& access, bool writes) noexcept
    : access_(access), pieces_(*access.memory.type, access.memory.count) {
  if (access.in_one_block()) {
    block_ = static_cast<std::byte*>(access.memory.address);
    return;
  }
  if (access.view->representation().as_in_memory() || access.bytes == 0) return;
  converted_ = bytes_or_null(access.bytes);
  block_ = converted_.get();
  failed_ = block_ == nullptr;
  if (!writes || failed_) return;
  const Data& memory = access.memory;
  error_ = convert_to_file(access.view->representation(),
                           {memory.address, memory.count, memory.type}, block_);
}

MovedBytes MemorySide::to_send(Count position, Count bytes) const noexcept {
  const Count at = position - access_.position;
  if (block_ != nullptr) return MovedBytes(block_ + at);
  auto copy = bytes_or_null(bytes);
  if (copy != nullptr) {
    (void)pieces_.pack(access_.memory.address, static_cast<std::uint64_t>(at),
                       {copy.get(), static_cast<std::size_t>(bytes)});
  }
  return MovedBytes(std::move(copy));
}

MovedBytes MemorySide::to_receive(Count position, Count bytes) const noexcept {
  if (block_ != nullptr) return MovedBytes(block_ + (position - access_.position));
  return MovedBytes(bytes_or_null(bytes));
}

void MemorySide::received(Count position, Count bytes, const MovedBytes& from) const noexcept {
  if (!from.is_copy()) return;
  (void)pieces_.unpack(access_.memory.address,
                       static_cast<std::uint64_t>(position - access_.position),
                       {from.data(), static_cast<std::size_t>(bytes)});
}

base::Error MemorySide::finish(Count bytes, Count& moved) const noexcept {
  moved = bytes;
  if (converted_ == nullptr) return {};
  return convert_from_file(access_.view->representation(), converted_.get(), bytes, access_.memory,
                           moved);
}

}  // namespace fulmar::mpi
