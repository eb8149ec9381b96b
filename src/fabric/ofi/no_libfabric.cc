// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/open.h"

/// In place of libfabric/ in a build without its headers.
namespace fulmar::fabric::ofi {

base::Result<std::unique_ptr<Endpoint>> open_endpoint(const Wish& /*wish*/) {
  return base::failure(base::ErrorClass::other,
                       "this Fulmar was built without libfabric; install the package "
                       "libfabric-dev and build it again, or leave ofi out of FULMAR_FABRIC");
}

std::string hardware_provider() { return {}; }

bool is_built() noexcept { return false; }

std::string library_text() { return {}; }

}  // namespace fulmar::fabric::ofi
