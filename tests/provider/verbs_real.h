// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>

#include "fabric/verbs/open.h"
#include "provider/verbs_net.h"

/// Real adapters, or the kernel's soft-RoCE: all ranks on one port.
namespace fulmar::fabric {

/// Why there is nothing to test with; empty if there is.
inline std::string lacking_adapter() {
  const auto adapter = verbs::open_adapter({});
  return adapter.failed() ? adapter.error().text() : std::string();
}

/// Requires that there is one.
inline std::unique_ptr<VerbsNet> real_verbs_net(std::uint32_t size) {
  return std::make_unique<VerbsNet>(size, VerbsHabits{}, [](std::uint32_t) {
    auto adapter = verbs::open_adapter({});
    if (adapter.failed()) std::abort();
    return std::move(adapter.value());
  });
}

}  // namespace fulmar::fabric
