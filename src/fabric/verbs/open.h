// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/error.h"
#include "fabric/verbs/adapter.h"
#include "fabric/verbs/config.h"

/// The way to libibverbs, which is opened at run time: programs that need no such network do
/// without it. A build without its headers has this interface, too, and says so.
namespace fulmar::fabric::verbs {

struct Wish {
  std::string device;  ///< FULMAR_VERBS_DEVICE, see choose_port
  std::size_t receive_depth = 256;
  std::size_t send_depth = 128;         ///< of a queue
  std::size_t completion_depth = 2048;  ///< sends on the way, of all queues
  CompletionQueues completion_queues = CompletionQueues::one;
  const char* library = "libibverbs.so.1";
};

/// Fails (arg, other, no_mem) with a text that names the package to install, the devices that there
/// are and why they will not do, or the call that was refused.
[[nodiscard]] base::Result<std::unique_ptr<Adapter>> open_adapter(const Wish& wish);

/// Whether this build knows libibverbs.
[[nodiscard]] bool is_built() noexcept;
/// The ports that there are ("rxe0:1 (up)"), or why libibverbs is not there; empty in a build
/// without it.
[[nodiscard]] std::string library_text();

}  // namespace fulmar::fabric::verbs
