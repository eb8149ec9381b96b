// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <infiniband/verbs.h>

#include <utility>
#include <vector>

#include "base/error.h"
#include "fabric/verbs/ports.h"

namespace fulmar::fabric::verbs {

/// The functions that libibverbs exports; posting and polling are calls through the tables of an
/// open device. Stays open for good, as the drivers that it has loaded do.
struct Library {
  decltype(&::ibv_get_device_list) get_device_list = nullptr;
  decltype(&::ibv_free_device_list) free_device_list = nullptr;
  decltype(&::ibv_get_device_name) get_device_name = nullptr;
  decltype(&::ibv_open_device) open_device = nullptr;
  decltype(&::ibv_close_device) close_device = nullptr;
  decltype(&::ibv_query_device) query_device = nullptr;
  decltype(&::ibv_query_port) query_port = nullptr;
  decltype(&::_ibv_query_gid_ex) query_gid_ex = nullptr;
  decltype(&::ibv_alloc_pd) alloc_pd = nullptr;
  decltype(&::ibv_dealloc_pd) dealloc_pd = nullptr;
  decltype(&::ibv_reg_mr) reg_mr = nullptr;
  decltype(&::ibv_dereg_mr) dereg_mr = nullptr;
  decltype(&::ibv_create_comp_channel) create_comp_channel = nullptr;
  decltype(&::ibv_destroy_comp_channel) destroy_comp_channel = nullptr;
  decltype(&::ibv_create_cq) create_cq = nullptr;
  decltype(&::ibv_destroy_cq) destroy_cq = nullptr;
  decltype(&::ibv_get_cq_event) get_cq_event = nullptr;
  decltype(&::ibv_ack_cq_events) ack_cq_events = nullptr;
  decltype(&::ibv_get_async_event) get_async_event = nullptr;
  decltype(&::ibv_ack_async_event) ack_async_event = nullptr;
  decltype(&::ibv_create_srq) create_srq = nullptr;
  decltype(&::ibv_destroy_srq) destroy_srq = nullptr;
  decltype(&::ibv_create_qp) create_qp = nullptr;
  decltype(&::ibv_modify_qp) modify_qp = nullptr;
  decltype(&::ibv_destroy_qp) destroy_qp = nullptr;
  decltype(&::ibv_fork_init) fork_init = nullptr;
  decltype(&::ibv_wc_status_str) wc_status_str = nullptr;
  decltype(&::ibv_event_type_str) event_type_str = nullptr;

  /// Fails (other) where there is none, or one that is too old.
  static base::Result<Library> load(const char* file);
};

/// An object of libibverbs, closed at the end.
template <class Object>
class Owned {
 public:
  using Close = int (*)(Object*);

  Owned() = default;
  Owned(Object* object, Close close) noexcept : object_(object), close_(close) {}
  Owned(Owned&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), close_(other.close_) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(object_, other.object_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Owned() {
    if (object_ != nullptr) close_(object_);
  }

  [[nodiscard]] Object* get() const noexcept { return object_; }
  [[nodiscard]] Object* operator->() const noexcept { return object_; }
  [[nodiscard]] explicit operator bool() const noexcept { return object_ != nullptr; }

 private:
  Object* object_ = nullptr;
  Close close_ = nullptr;
};

/// A device that was opened.
using Context = Owned<ibv_context>;

/// All ports of all devices that can be opened, with the open device of each.
struct Survey {
  std::vector<PortInfo> ports;
  std::vector<std::size_t> contexts;  ///< of each port: index in `open`
  std::vector<Context> open;
  std::string refused;  ///< devices that could not be opened, and why
};
Survey survey_devices(const Library& library);

/// 0, or the number of what went wrong.
int query_port(const Library& library, ibv_context* context, unsigned port,
               ibv_port_attr& attributes);

}  // namespace fulmar::fabric::verbs
