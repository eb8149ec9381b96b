// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/memory/address_range.h"

namespace fulmar::base {

/// The kind of mapping at addresses of this process.
enum class MappingKind : std::uint8_t {
  anonymous,  ///< private memory without a file: heap, most of what mmap gives, threads' stacks
  shared,     ///< others may map it too, and may empty it
  file,  ///< a private mapping of a file, which may be cut short: variables with initial values
  huge_pages,  ///< of hugetlbfs
  stack,       ///< of the first thread; it grows by itself
  special,     ///< the kernel's own, or unknown
  unmapped,    ///< nothing is mapped, at least in part
};

/// The kind of all of `range`, or the first in it that is not `anonymous`. Reads /proc/self/maps
/// (or `file`): tens of microseconds, more in processes with thousands of mappings. Any thread;
/// does not allocate. `special` where the file cannot be read.
[[nodiscard]] MappingKind mapping_kind(const AddressRange& range,
                                       const char* file = "/proc/self/maps") noexcept;

/// As text: "shared memory" and so on.
[[nodiscard]] const char* mapping_kind_text(MappingKind kind) noexcept;

}  // namespace fulmar::base
