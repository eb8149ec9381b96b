// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/error.h"

/// The message of MPI_Comm_join over the program's socket: magic "FJN1", the length of a port's
/// name (u16, network byte order), and the name (port_name.h). Nothing else is sent, so that the
/// program can use the socket afterwards.
namespace fulmar::wire {

inline constexpr std::size_t join_greeting_header_bytes = 6;

[[nodiscard]] std::vector<std::byte> encode_join_greeting(std::string_view port_name);
/// How many bytes follow the header: 1 to max_port_name_bytes. Fails (port) for an invalid
/// greeting.
[[nodiscard]] base::Result<std::size_t> join_greeting_length(std::span<const std::byte> header);

}  // namespace fulmar::wire
