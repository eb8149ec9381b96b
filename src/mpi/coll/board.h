// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <optional>

#include "device/node_board.h"
#include "mpi/coll/scratch.h"
#include "mpi/comm/comm.h"
#include "mpi/request/request.h"

/// Typed data on the board of a communicator (device/node_board.h), for the short forms of the
/// collective calls. Whether a call takes the short form depends on numbers of bytes that are the
/// same in every rank, never on datatypes, which need not be.
namespace fulmar::mpi {

/// The board, if the communicator has one and texts of `bytes` bytes fit.
[[nodiscard]] inline device::NodeBoard* board_for(const Comm& comm, Count bytes) noexcept {
  constexpr auto limit = static_cast<Count>(device::NodeBoard::max_bytes);
  return bytes <= limit ? comm.board.get() : nullptr;
}

inline void post_data(device::NodeBoard& board, const ConstData& data) noexcept {
  std::optional<TypePacker> packer;
  const device::Buffer buffer = buffer_of(data, packer);
  board.post(buffer.bytes,
             [&](std::byte* to) { device::read_buffer(buffer, 0, {to, buffer.bytes}); });
}

/// Stores what a member posted, `bytes` bytes.
inline void take_data(const device::NodeBoard& board, int member, Count bytes,
                      const Data& data) noexcept {
  std::optional<TypePacker> packer;
  const device::Buffer buffer = buffer_of(as_const(data), packer);
  const auto posted = static_cast<std::size_t>(bytes);
  const std::size_t length = std::min<std::size_t>(buffer.bytes, posted);
  device::write_buffer(buffer, 0, {board.text(member, posted), length});
}

}  // namespace fulmar::mpi
