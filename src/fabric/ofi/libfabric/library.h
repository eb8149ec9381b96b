// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <rdma/fabric.h>

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"

namespace fulmar::fabric::ofi {

/// The interface that is asked for: that of the oldest library we take.
inline constexpr std::uint32_t api_version = FI_VERSION(1, 17);

/// The functions that libfabric exports; all others are calls through its tables. Stays open for
/// good: it registers functions that run when the process exits.
struct Library {
  decltype(&::fi_version) version = nullptr;
  decltype(&::fi_getinfo) getinfo = nullptr;
  decltype(&::fi_freeinfo) freeinfo = nullptr;
  decltype(&::fi_dupinfo) dupinfo = nullptr;
  decltype(&::fi_fabric) fabric = nullptr;
  decltype(&::fi_strerror) strerror = nullptr;

  /// Fails (other) where there is none, or one that is too old.
  static base::Result<Library> load(const char* file);
};

/// A list of libfabric's descriptions, freed at the end.
class InfoList {
 public:
  InfoList(const Library& library, fi_info* all) : all_(all, library.freeinfo), first_(all) {}

  [[nodiscard]] fi_info* first() const noexcept { return first_; }
  /// Goes on to the first one of this device; false if there is none. libfabric's own choice by
  /// device is not to be relied on: providers that lie on others pass it over.
  [[nodiscard]] bool skip_to(const std::string& domain) noexcept {
    while (first_ != nullptr && domain != first_->domain_attr->name) first_ = first_->next;
    return first_ != nullptr;
  }

 private:
  std::unique_ptr<fi_info, decltype(&::fi_freeinfo)> all_;
  fi_info* first_;
};

/// What to ask libfabric for.
struct Demand {
  std::string provider;  ///< empty: any
  std::string domain;    ///< empty: any
  bool shared_buffers = false;
  bool ordered = false;
  bool remote = false;   ///< RDMA with FI_DELIVERY_COMPLETE
  bool atomics = false;  ///< with `remote`: atomic operations on it
};

/// All that fits, in libfabric's order. Fails (other).
base::Result<InfoList> list_providers(const Library& library, const Demand& demand);

/// Whether a provider serves other hosts, and reliably, without one of the others under it.
[[nodiscard]] bool serves_hosts(const char* provider) noexcept;
/// Whether its endpoints listen on TCP sockets at the addresses that are their names. (Names of
/// verbs;ofi_rxm have the same form, without a listener.)
[[nodiscard]] bool listens_on_tcp(const char* provider) noexcept;
/// Whether a provider needs hardware that nothing else of ours can use.
[[nodiscard]] bool needs_hardware(const char* provider) noexcept;

}  // namespace fulmar::fabric::ofi
