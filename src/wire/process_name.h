// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "wire/network_order.h"

namespace fulmar::wire {

/// The global name of a process: the same in every process. All data that
/// cross a process boundary identify processes by it (docs/adr/0023); the short local ids
/// (fabric/process_table.h) never leave the process.
struct ProcessName {
  /// Drawn at random by the launcher of the job, together with its key. Never 0.
  std::uint32_t job = 0;
  std::uint32_t rank = 0;   ///< in the job's world
  std::uint8_t engine = 0;  ///< which of the process's engines; one has them all so far, 0

  friend constexpr auto operator<=>(const ProcessName&, const ProcessName&) noexcept = default;
};

/// In network byte order: u32 job, u32 rank, u8 engine.
inline constexpr std::size_t process_name_bytes = 9;

inline void put_process_name(NetworkWriter& out, const ProcessName& name) noexcept {
  out.number(name.job);
  out.number(name.rank);
  out.number(name.engine);
}
/// Any bytes decode; a name with job 0 is invalid.
[[nodiscard]] inline ProcessName get_process_name(NetworkReader& in) noexcept {
  ProcessName name;
  name.job = in.number<std::uint32_t>();
  name.rank = in.number<std::uint32_t>();
  name.engine = in.number<std::uint8_t>();
  return name;
}

}  // namespace fulmar::wire
