// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "wire/process_name.h"

/// The announcement of a process's network address. It is published through the launcher, a node's
/// segment, or later another job, and contains the name of the process. In network
/// byte order:
///
///     0   magic "FPA1"
///     4   name of the process (wire/process_name.h), 3 zero bytes
///     16  the address of its network: tcp, verbs, ofi, or several (wire/tcp/tcp_address.h, ...)
namespace fulmar::wire {

struct ProcessAddress {
  ProcessName process;
  std::vector<std::byte> network;

  bool operator==(const ProcessAddress&) const = default;
};

inline constexpr std::size_t process_address_header_bytes = 16;
inline constexpr std::size_t max_network_address_bytes = 600;
inline constexpr std::size_t max_process_address_bytes =
    process_address_header_bytes + max_network_address_bytes;

/// Fails (other) where the network's address is empty or has more than max_network_address_bytes.
base::Result<std::vector<std::byte>> encode_process_address(const ProcessName& process,
                                                            std::span<const std::byte> network);
/// Fails (other) with a text that names the invalid field.
base::Result<ProcessAddress> decode_process_address(std::span<const std::byte> bytes);

}  // namespace fulmar::wire
