// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <type_traits>
#include <utility>

#include "mpi/library.h"

namespace fulmar::mpi {

/// What `call` returns, made without the lock of the library: for requests to a launcher, which may
/// take long. `call` uses nothing that the lock guards.
template <class Call>
auto unlocked(Library& library, Call&& call) {
  const std::uint32_t depth = library.lock.suspend();
  if constexpr (std::is_void_v<std::invoke_result_t<Call>>) {
    std::forward<Call>(call)();
    library.lock.resume(depth);
  } else {
    auto result = std::forward<Call>(call)();
    library.lock.resume(depth);
    return result;
  }
}

}  // namespace fulmar::mpi
