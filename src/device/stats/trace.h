// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "wire/cell.h"

namespace fulmar::device {

/// The label in the trace for posting a packet of this kind: "post rts".
[[nodiscard]] const char* posting(wire::PacketKind kind) noexcept;

}  // namespace fulmar::device
