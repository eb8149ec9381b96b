// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "fabric/ofi/endpoint.h"

/// The way to libfabric, which is opened at run time: programs that need no such network do without
/// it. A build without its headers has this interface, too, and says so.
namespace fulmar::fabric::ofi {

struct Wish {
  /// libfabric's name of a provider, perhaps ":" and the name of one of its devices behind it
  /// ("tcp;ofi_rxm:eth1"); empty: the first in libfabric's order that serves several hosts.
  std::string provider;
  std::uint32_t peers = 1;          ///< how many addresses there will be, about
  std::size_t longest_message = 0;  ///< shared buffers are freed when this no longer fits
  const char* library = "libfabric.so.1";
};

/// Fails (other) with a text that names the package to install, the providers that there are, or
/// what libfabric says.
[[nodiscard]] base::Result<std::unique_ptr<Endpoint>> open_endpoint(const Wish& wish);

/// libfabric's name for a network that only it reaches: EFA, CXI, PSM3, verbs and the like; empty
/// if there is none. On a host without such hardware libfabric is not even opened.
[[nodiscard]] std::string hardware_provider();

/// Whether this build knows libfabric.
[[nodiscard]] bool is_built() noexcept;
/// "libfabric 1.17", or why it is not there; empty in a build without it.
[[nodiscard]] std::string library_text();

}  // namespace fulmar::fabric::ofi
