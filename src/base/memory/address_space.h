// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>

/// Ranges of addresses that get memory in steps. Jobs that are simulated in one process
/// (tests/simulated) have definitions of their own.
namespace fulmar::base::address_space {

/// `bytes` of addresses, aligned to pages, that cannot be used yet; nullptr where the process is
/// not allowed as many.
[[nodiscard]] void* reserve(std::size_t bytes) noexcept;
/// Puts memory, zeros, behind a part of a reserved range that has none; both are whole pages.
/// False where there is none left.
[[nodiscard]] bool make_usable(void* begin, std::size_t bytes) noexcept;
/// Gives a whole range back.
void release(void* range, std::size_t bytes) noexcept;

}  // namespace fulmar::base::address_space
