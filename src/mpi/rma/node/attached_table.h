// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mpi/rma/win.h"
#include "wire/rma/rma_call_slot.h"

namespace fulmar::mpi {

/// Writes what this process has attached, and the name of its heap, to where the other ranks of the
/// node read it. Pieces that do not fit the `lines` cache lines of the table are left out. By the
/// owner of the table alone.
void publish_attached(wire::RmaAttachedTable& table, std::size_t lines,
                      std::span<const Win::Attached> attached, std::uint64_t heap = 0) noexcept;

/// Whether the table of another process says that all `bytes` bytes from `address` on lie in one
/// attached piece. False also where that is not known: it changes, it has no room, or it makes no
/// sense.
[[nodiscard]] bool is_published(wire::RmaAttachedTable& table, std::size_t lines,
                                std::uint64_t address, std::uint64_t bytes) noexcept;

}  // namespace fulmar::mpi
