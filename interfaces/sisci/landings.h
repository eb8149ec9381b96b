// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>

#include "sisci/library.h"

namespace fulmar::sisci {

/// Room for the data of a trigger, in the landing; null, with the landing's status, where there is none.
[[nodiscard]] std::byte* begin_data(Library& library, const Grant& grant,
                                    Landing& landing) noexcept;
/// The data have come, for all interrupts of the grant's number: how that went.
[[nodiscard]] sci_error_t deliver_data(Library& library, Landing& landing) noexcept;

}  // namespace fulmar::sisci
