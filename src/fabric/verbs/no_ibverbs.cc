// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/verbs/open.h"

/// In place of ibverbs/ in a build without its headers.
namespace fulmar::fabric::verbs {

base::Result<std::unique_ptr<Adapter>> open_adapter(const Wish& /*wish*/) {
  return base::failure(base::ErrorClass::other,
                       "this Fulmar was built without libibverbs; install the package "
                       "libibverbs-dev and build it again, or leave verbs out of FULMAR_FABRIC");
}

bool is_built() noexcept { return false; }

std::string library_text() { return {}; }

}  // namespace fulmar::fabric::verbs
