// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/libfabric/library.h"

#include <dlfcn.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace fulmar::fabric::ofi {
namespace {

using base::ErrorClass;
using base::failure;

/// Newer libraries export several functions of one name for the sake of old programs. These are the
/// ones whose structures begin like those of every header since 1.3.
template <class Function>
bool find(void* library, const char* name, const char* version, Function& function) {
  function = reinterpret_cast<Function>(::dlvsym(library, name, version));
  return function != nullptr;
}

std::string_view base_name(const char* provider) noexcept {
  const std::string_view name(provider);
  return name.substr(0, name.find(';'));
}

bool one_of(std::string_view name, std::initializer_list<std::string_view> list) noexcept {
  return std::find(list.begin(), list.end(), name) != list.end();
}

/// `free` of the C library, which freeinfo calls on names.
char* copy_of(const std::string& text) { return text.empty() ? nullptr : ::strdup(text.c_str()); }

void fill(fi_info& hints, const Demand& demand) {
  hints.caps = FI_MSG | (demand.shared_buffers ? FI_MULTI_RECV : 0);
  if (demand.remote) {
    hints.caps |= FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
    if (demand.atomics) hints.caps |= FI_ATOMIC;
    hints.tx_attr->op_flags = FI_DELIVERY_COMPLETE;
  }
  hints.mode = FI_CONTEXT | FI_CONTEXT2;
  hints.ep_attr->type = FI_EP_RDM;
  // Not FI_MR_RAW: keys that are longer than 64 bits do not fit into a packet.
  hints.domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints.domain_attr->threading = FI_THREAD_DOMAIN;
  hints.domain_attr->control_progress = FI_PROGRESS_MANUAL;
  hints.domain_attr->data_progress = FI_PROGRESS_MANUAL;
  hints.domain_attr->resource_mgmt = FI_RM_ENABLED;
  if (demand.ordered) hints.tx_attr->msg_order = hints.rx_attr->msg_order = FI_ORDER_SAS;
  hints.fabric_attr->prov_name = copy_of(demand.provider);
}

}  // namespace

base::Result<Library> Library::load(const char* file) {
  void* const opened = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* const reason = ::dlerror();
    return failure(ErrorClass::other,
                   "the network ofi needs libfabric, which cannot be opened (%s); install the "
                   "package libfabric1, or leave ofi out of FULMAR_FABRIC",
                   reason == nullptr ? file : reason);
  }
  Library library;
  if (!find(opened, "fi_version", "FABRIC_1.0", library.version) ||
      !find(opened, "fi_getinfo", "FABRIC_1.3", library.getinfo) ||
      !find(opened, "fi_freeinfo", "FABRIC_1.3", library.freeinfo) ||
      !find(opened, "fi_dupinfo", "FABRIC_1.3", library.dupinfo) ||
      !find(opened, "fi_fabric", "FABRIC_1.1", library.fabric) ||
      !find(opened, "fi_strerror", "FABRIC_1.0", library.strerror)) {
    return failure(ErrorClass::other, "%s is no libfabric that this version of Fulmar knows", file);
  }
  const std::uint32_t version = library.version();
  if (version < api_version) {
    return failure(ErrorClass::other,
                   "libfabric %u.%u is too old for the network ofi; install 1.17 or newer",
                   FI_MAJOR(version), FI_MINOR(version));
  }
  return library;
}

base::Result<InfoList> list_providers(const Library& library, const Demand& demand) {
  const InfoList hints(library, library.dupinfo(nullptr));
  if (hints.first() == nullptr) return failure(ErrorClass::no_mem, "no memory for libfabric");
  fill(*hints.first(), demand);
  fi_info* list = nullptr;
  const int result = library.getinfo(api_version, nullptr, nullptr, 0, hints.first(), &list);
  if (result == 0 && list != nullptr) {
    InfoList found(library, list);
    if (demand.domain.empty() || found.skip_to(demand.domain)) return found;
  }
  return failure(ErrorClass::other,
                 "libfabric has no reliable endpoint for messages%s%s%s%s (%s); fi_info lists what "
                 "it has, FULMAR_OFI_PROVIDER chooses",
                 demand.provider.empty() ? "" : " of the provider ", demand.provider.c_str(),
                 demand.domain.empty() ? "" : " on ", demand.domain.c_str(),
                 library.strerror(result == 0 ? FI_ENODATA : -result));
}

bool serves_hosts(const char* provider) noexcept {
  return !one_of(base_name(provider), {"shm", "sm2", "self", "lnx", "udp", "UDP", "sockets",
                                       "ofi_mrail", "ofi_rxd", "ofi_rxm"}) &&
         !base_name(provider).starts_with("ofi_hook");
}

bool listens_on_tcp(const char* provider) noexcept {
  return one_of(base_name(provider), {"tcp", "net", "xnet"});
}

bool needs_hardware(const char* provider) noexcept {
  return serves_hosts(provider) && !listens_on_tcp(provider);
}

}  // namespace fulmar::fabric::ofi
