// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>

#include "device/progress/waiter.h"
#include "wire/node/wait_record.h"

namespace fulmar::runtime {

/// A rank without which a wait cannot end, of those for which `never_joined(context, rank)` is true
/// (their processes have ended without entering MPI); nothing if there is none. `body` describes
/// the wait `note`: a wait for any of several messages is stuck only if all its ranks are missing;
/// the members of a communicator beyond rank 1023 are not checked.
[[nodiscard]] std::optional<std::uint32_t> find_missing(
    const device::WaitNote& note, const wire::WaitBody& body,
    bool (*never_joined)(const void* context, std::uint32_t rank), const void* context) noexcept;

}  // namespace fulmar::runtime
