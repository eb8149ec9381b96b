// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "sisci/library.h"

namespace fulmar::sisci {

/// Removes the segment, and ends connections to it. SCI_ERR_BUSY while it is used; `forced`: transfers are waited
/// for. Waits for its callback.
enum class Removal : std::uint8_t { polite, forced };
[[nodiscard]] sci_error_t remove_segment(Library& library, LocalSegment& segment, Removal removal);
/// The same for one of another node; posted writes are waited for.
[[nodiscard]] sci_error_t remove_segment(Library& library, RemoteSegment& segment);
/// Removes the map; requires that nothing uses it.
void remove_map(Library& library, Map& map) noexcept;

}  // namespace fulmar::sisci
