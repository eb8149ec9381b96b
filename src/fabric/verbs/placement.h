// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

namespace fulmar::fabric::verbs {

/// Whether adapters of this maker (ibv_device_attr::vendor_id) are known to place the bytes of one
/// write of less than an MTU in memory in the order of their addresses, as long as the memory is not
/// opened with relaxed ordering.
///
/// No standard promises that. It holds for adapters that write a packet to the bus by posted writes
/// that do not pass each other: those of Mellanox and NVIDIA (mlx4, mlx5), whose memory MPI libraries
/// have polled for twenty years. Where packets of a connection overtake each other on the way
/// (adaptive routing), they do so as a whole. Soft-RoCE and soft-iWARP copy by the processor, with
/// whatever instructions its kernel likes, so their bytes come in any order; of other makers nothing is
/// known here.
[[nodiscard]] constexpr bool places_in_order(std::uint32_t vendor) noexcept {
  constexpr std::uint32_t mellanox_oui = 0x02c9;
  constexpr std::uint32_t mellanox_pci = 0x15b3;
  return vendor == mellanox_oui || vendor == mellanox_pci;
}

}  // namespace fulmar::fabric::verbs
