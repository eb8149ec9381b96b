// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <mpi.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>

#include "interfaces/core.h"
#include "interfaces/device_port.h"
#include "runtime/init_lock.h"
#include "runtime/process.h"

namespace fulmar::interfaces {
namespace {

/// The ports of this process, by PortId, and what the last failure was. Guarded by the init lock.
struct Ports {
  std::array<std::unique_ptr<DevicePort>, 4> open;
  std::array<std::uint32_t, 4> lives{};  ///< how often each was open
  std::string why;
};

Ports& ports() {
  static auto* const the_ports = new Ports;
  return *the_ports;
}

void forget(PortId id) noexcept {
  const std::lock_guard guard(runtime::init_lock());
  ports().open[static_cast<std::size_t>(id)].reset();
  runtime::process().leave();
}

base::Error check(std::uint32_t version, PortId id) {
  if (version != core_version) {
    return base::failure(base::ErrorClass::other,
                         "the library was built for version %u of Fulmar's core, and this "
                         "libmpi_abi has version %u; install both from one build",
                         version, core_version);
  }
  const auto number = static_cast<std::size_t>(id);
  if (number >= ports().open.size() || ports().open[number] != nullptr) {
    return base::failure(base::ErrorClass::other,
                         "port %zu is open already; initialise the library once", number);
  }
  return {};
}

}  // namespace
}  // namespace fulmar::interfaces

namespace interfaces = fulmar::interfaces;

interfaces::Port* fulmar_interfaces_open(std::uint32_t version, interfaces::PortId id,
                                         interfaces::Client* client, interfaces::Threads threads,
                                         const char** why) noexcept {
  const std::lock_guard guard(fulmar::runtime::init_lock());
  interfaces::Ports& ports = interfaces::ports();
  fulmar::runtime::Process& process = fulmar::runtime::process();
  fulmar::base::Error error = interfaces::check(version, id);
  if (error.ok()) {
    const bool many = threads == interfaces::Threads::many;
    error = process.enter(many ? MPI_THREAD_MULTIPLE : MPI_THREAD_SERIALIZED);
  }
  if (error.failed()) {
    ports.why = error.text();
    *why = ports.why.c_str();
    return nullptr;
  }
  process.keep_progressing();
  const auto number = static_cast<std::size_t>(id);
  auto& place = ports.open[number];
  place = std::make_unique<interfaces::DevicePort>(*process.library().device, id, *client,
                                                   ports.lives[number]++);
  place->on_closed = interfaces::forget;
  return place.get();
}
