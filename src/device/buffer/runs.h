// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "device/buffer/buffer.h"

namespace fulmar::device {

/// Runs of data that are not one are worth an order each if they are this long on average.
inline constexpr std::uint64_t shortest_run_bytes = 4096;

/// The memory that an adapter has to know to reach bytes [0, length) of a buffer: the run of which
/// they are a part, or, with a packer, everything from the first byte to the last. Empty where the
/// bytes are better copied: the runs are shorter than `shortest_run_bytes` on average, or more lies
/// between them than in them. A hull may contain what is not the message's, so it is never opened
/// to peers.
[[nodiscard]] std::span<std::byte> bounding_range(const Buffer& buffer,
                                                  std::uint64_t length) noexcept;

/// The run that begins with byte `offset` of a buffer, at most `bytes` of it.
[[nodiscard]] std::span<std::byte> run_at(const Buffer& buffer, std::uint64_t offset,
                                          std::uint64_t bytes) noexcept;

}  // namespace fulmar::device
