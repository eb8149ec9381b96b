// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>

#include "base/error.h"
#include "fabric/verbs/verbs.h"
#include "study/design_network.h"
#include "study/mapped_design.h"
#include "study/split_network.h"

/// What the runtime asks of the study: FULMAR_CHANNEL and FULMAR_STACK.
namespace fulmar::study {

/// The network verbs with a design on top. Fails (other) where the adapter may write the bytes of
/// one write in any order.
[[nodiscard]] base::Result<std::unique_ptr<DesignNetwork>> design_over(
    std::unique_ptr<fabric::Verbs> verbs, const DesignPlan& plan);

}  // namespace fulmar::study
