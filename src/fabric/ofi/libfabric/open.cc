// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/open.h"

#include <dirent.h>

#include <array>
#include <string_view>
#include <utility>

#include "fabric/ofi/libfabric/fabric_endpoint.h"
#include "fabric/ofi/libfabric/library.h"

/// Which of libfabric's descriptions is used: the first that serves other hosts, or the one that
/// was asked for, in its most able variant.
namespace fulmar::fabric::ofi {
namespace {

using base::ErrorClass;
using base::failure;

bool has_entries(const char* folder) {
  DIR* const open = ::opendir(folder);
  if (open == nullptr) return false;
  bool any = false;
  while (const dirent* const entry = ::readdir(open)) any = any || entry->d_name[0] != '.';
  ::closedir(open);
  return any;
}

Demand demand_of(const std::string& wish) {
  Demand demand;
  const std::size_t colon = wish.find(':');
  demand.provider = wish.substr(0, colon);
  if (colon != std::string::npos) demand.domain = wish.substr(colon + 1);
  return demand;
}

std::string names_in(const InfoList& list) {
  std::string names;
  for (const fi_info* info = list.first(); info != nullptr; info = info->next) {
    const std::string name = info->fabric_attr->prov_name;
    if (names.find(name) == std::string::npos) names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

/// The provider and device to use.
base::Result<Demand> choose(const Library& library, const Demand& wanted) {
  auto list = list_providers(library, wanted);
  if (list.failed()) {
    const auto any = list_providers(library, {});
    if (wanted.provider.empty() || any.failed()) return list.error();
    return failure(ErrorClass::other,
                   "FULMAR_OFI_PROVIDER=%s%s%s: libfabric has no such reliable endpoint for "
                   "messages; it has: %s",
                   wanted.provider.c_str(), wanted.domain.empty() ? "" : ":", wanted.domain.c_str(),
                   names_in(any.value()).c_str());
  }
  for (const fi_info* info = list->first(); info != nullptr; info = info->next) {
    const char* const provider = info->fabric_attr->prov_name;
    if (wanted.provider.empty() && !serves_hosts(provider)) continue;
    Demand chosen;
    chosen.provider = provider;
    chosen.domain = info->domain_attr->name;
    return chosen;
  }
  return failure(ErrorClass::other,
                 "libfabric reaches no other host here, it has only: %s; leave ofi out of "
                 "FULMAR_FABRIC, or choose one by FULMAR_OFI_PROVIDER",
                 names_in(list.value()).c_str());
}

/// A description of the chosen one that can as much as possible: reads and writes of peers' memory
/// save a copy, order waiting, shared buffers memory; atomic operations are the first to do without.
base::Result<InfoList> most_able(const Library& library, Demand demand) {
  constexpr unsigned everything = 15;
  for (unsigned lacks = 0; lacks < everything; ++lacks) {
    demand.remote = (lacks & 8) == 0;
    demand.ordered = (lacks & 4) == 0;
    demand.shared_buffers = (lacks & 2) == 0;
    demand.atomics = demand.remote && (lacks & 1) == 0;
    auto list = list_providers(library, demand);
    if (list.ok()) return list;
  }
  demand.remote = demand.atomics = demand.shared_buffers = demand.ordered = false;
  return list_providers(library, demand);
}

}  // namespace

base::Result<std::unique_ptr<Endpoint>> open_endpoint(const Wish& wish) {
  const auto library = Library::load(wish.library);
  if (library.failed()) return library.error();
  const auto chosen = choose(library.value(), demand_of(wish.provider));
  if (chosen.failed()) return chosen.error();
  auto list = most_able(library.value(), chosen.value());
  if (list.failed()) return list.error();
  return FabricEndpoint::open(library.value(), std::move(list.value()), wish);
}

std::string hardware_provider() {
  if (!has_entries("/sys/class/infiniband") && !has_entries("/sys/class/cxi")) return {};
  const auto library = Library::load(Wish().library);
  if (library.failed()) return {};
  const auto list = list_providers(library.value(), {});
  if (list.failed()) return {};
  for (const fi_info* info = list.value().first(); info != nullptr; info = info->next) {
    if (needs_hardware(info->fabric_attr->prov_name)) return info->fabric_attr->prov_name;
  }
  return {};
}

bool is_built() noexcept { return true; }

std::string library_text() {
  const auto library = Library::load(Wish().library);
  if (library.failed()) return library.error().text();
  const std::uint32_t version = library.value().version();
  return "libfabric " + std::to_string(FI_MAJOR(version)) + "." + std::to_string(FI_MINOR(version));
}

}  // namespace fulmar::fabric::ofi
