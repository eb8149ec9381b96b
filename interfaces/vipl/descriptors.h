// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <vector>

#include "vipl/provider.h"

/// Descriptors of the program: what they say, checked, and how they are marked.
namespace fulmar::vipl {

/// Whether the descriptor lies in memory of this handle that the VI may use.
[[nodiscard]] bool is_registered(const Provider& provider, const Vi& vi,
                                 const VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE memory) noexcept;

/// Reads the descriptor; the pieces are in use from then on, unless there is an error: its status bits.
[[nodiscard]] std::uint32_t read(const Provider& provider, const Vi& vi, SendWork& work);
[[nodiscard]] std::uint32_t read(const Provider& provider, const Vi& vi, ReceiveWork& work);
/// Pieces are not in use any more.
void release(std::vector<Piece>& pieces) noexcept;

/// Not done yet.
void clear_status(VIP_DESCRIPTOR& descriptor) noexcept;
/// Done. Programs may look at the status of a descriptor that they have not got back.
void set_done(VIP_DESCRIPTOR& descriptor, std::uint32_t status, std::uint64_t bytes) noexcept;

/// Copies between pieces, from `offset` of all their bytes on, and their shadows, and counts that.
enum class Copy : std::uint8_t { to_shadow, from_shadow };
void copy(Provider& provider, const Piece& piece, Copy direction);
void copy_from_shadows(Provider& provider, const std::vector<Piece>& pieces, std::uint64_t bytes);
/// Makes sure that there is memory that processes of the host can address. False: there is no room.
[[nodiscard]] bool share(Provider& provider, Region& region);

}  // namespace fulmar::vipl
