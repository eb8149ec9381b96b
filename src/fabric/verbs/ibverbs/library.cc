// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/verbs/ibverbs/library.h"

#include <dlfcn.h>

namespace fulmar::fabric::verbs {
namespace {

using base::ErrorClass;
using base::failure;

/// The versions matter: before 1.1 the structures were others.
class Finder {
 public:
  explicit Finder(void* library) noexcept : library_(library) {}

  template <class Function>
  void operator()(const char* name, const char* version, Function& function) {
    function = reinterpret_cast<Function>(::dlvsym(library_, name, version));
    if (function == nullptr && missing_ == nullptr) missing_ = name;
  }
  /// The first that is not there; null if all are.
  [[nodiscard]] const char* missing() const noexcept { return missing_; }

 private:
  void* library_;
  const char* missing_ = nullptr;
};

void find_device_calls(Finder& find, Library& library) {
  find("ibv_get_device_list", "IBVERBS_1.1", library.get_device_list);
  find("ibv_free_device_list", "IBVERBS_1.1", library.free_device_list);
  find("ibv_get_device_name", "IBVERBS_1.1", library.get_device_name);
  find("ibv_open_device", "IBVERBS_1.1", library.open_device);
  find("ibv_close_device", "IBVERBS_1.1", library.close_device);
  find("ibv_query_device", "IBVERBS_1.1", library.query_device);
  find("ibv_query_port", "IBVERBS_1.1", library.query_port);
  find("_ibv_query_gid_ex", "IBVERBS_1.11", library.query_gid_ex);
  find("ibv_get_async_event", "IBVERBS_1.1", library.get_async_event);
  find("ibv_ack_async_event", "IBVERBS_1.1", library.ack_async_event);
  find("ibv_fork_init", "IBVERBS_1.1", library.fork_init);
  find("ibv_wc_status_str", "IBVERBS_1.1", library.wc_status_str);
  find("ibv_event_type_str", "IBVERBS_1.1", library.event_type_str);
}

void find_object_calls(Finder& find, Library& library) {
  find("ibv_alloc_pd", "IBVERBS_1.1", library.alloc_pd);
  find("ibv_dealloc_pd", "IBVERBS_1.1", library.dealloc_pd);
  find("ibv_reg_mr", "IBVERBS_1.1", library.reg_mr);
  find("ibv_dereg_mr", "IBVERBS_1.1", library.dereg_mr);
  find("ibv_create_comp_channel", "IBVERBS_1.0", library.create_comp_channel);
  find("ibv_destroy_comp_channel", "IBVERBS_1.0", library.destroy_comp_channel);
  find("ibv_create_cq", "IBVERBS_1.1", library.create_cq);
  find("ibv_destroy_cq", "IBVERBS_1.1", library.destroy_cq);
  find("ibv_get_cq_event", "IBVERBS_1.1", library.get_cq_event);
  find("ibv_ack_cq_events", "IBVERBS_1.1", library.ack_cq_events);
  find("ibv_create_srq", "IBVERBS_1.1", library.create_srq);
  find("ibv_destroy_srq", "IBVERBS_1.1", library.destroy_srq);
  find("ibv_create_qp", "IBVERBS_1.1", library.create_qp);
  find("ibv_modify_qp", "IBVERBS_1.1", library.modify_qp);
  find("ibv_destroy_qp", "IBVERBS_1.1", library.destroy_qp);
}

}  // namespace

base::Result<Library> Library::load(const char* file) {
  void* const opened = ::dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (opened == nullptr) {
    const char* const reason = ::dlerror();
    return failure(ErrorClass::other,
                   "the network verbs needs libibverbs, which cannot be opened (%s); install the "
                   "packages libibverbs1 and ibverbs-providers, or leave verbs out of "
                   "FULMAR_FABRIC",
                   reason == nullptr ? file : reason);
  }
  Library library;
  Finder find(opened);
  find_device_calls(find, library);
  find_object_calls(find, library);
  if (find.missing() != nullptr) {
    return failure(ErrorClass::other,
                   "%s has no %s, it is too old for the network verbs; install rdma-core 32 or "
                   "newer, or leave verbs out of FULMAR_FABRIC",
                   file, find.missing());
  }
  // Where the kernel does not keep the pages of a parent for itself, this makes libibverbs do it;
  // too late if other code has registered memory before, and then that code had to call it.
  (void)library.fork_init();
  return library;
}

}  // namespace fulmar::fabric::verbs
