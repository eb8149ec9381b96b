// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// SCIInitialize to SCIProbeNode. The process stays in its job until it exits: other nodes cannot tell a
// process that has left for a while from one that has failed, and programs begin and end SISCI as they like.
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "sisci/api.h"
#include "sisci/call.h"
#include "sisci/connections.h"

namespace fulmar::sisci {
namespace {

/// What is left of SISCI between SCITerminate and the next SCIInitialize.
struct Joined {
  std::mutex mutex;
  std::unique_ptr<Library> library;
};

Joined& joined() {
  static auto* const the_joined = new Joined;
  return *the_joined;
}

void leave_at_exit() {
  Joined& state = joined();
  const std::lock_guard guard(state.mutex);
  current() = nullptr;
  if (state.library != nullptr) leave(*state.library);
}

sci_error_t initialize(unsigned int flags) {
  if (flags != 0) return SCI_ERR_ILLEGAL_FLAG;
  Joined& state = joined();
  const std::lock_guard guard(state.mutex);
  if (state.library == nullptr) {
    auto library = std::make_unique<Library>();
    if (const sci_error_t status = join(*library); status != SCI_ERR_OK) return status;
    state.library = std::move(library);
    (void)std::atexit(leave_at_exit);
  }
  if (state.library->users == 0 && !read_nodes(*state.library)) return SCI_ERR_SYSTEM;
  ++state.library->users;
  current() = state.library.get();
  return SCI_ERR_OK;
}

void terminate() {
  Joined& state = joined();
  const std::lock_guard guard(state.mutex);
  if (current() == nullptr || --state.library->users != 0) return;
  current() = nullptr;
  state.library->callbacks.stop();
  const Locked lock(*state.library);
  clear(*state.library);
}

}  // namespace

Library*& current() noexcept {
  static Library* the_library = nullptr;
  return the_library;
}

}  // namespace fulmar::sisci

using fulmar::sisci::call;
using fulmar::sisci::check_adapter;
using fulmar::sisci::check_flags;
using fulmar::sisci::check_parameter;
using fulmar::sisci::Descriptor;
using fulmar::sisci::first_error;
using fulmar::sisci::Library;

void SCIInitialize(unsigned int flags, sci_error_t* error) {
  const sci_error_t status = fulmar::sisci::initialize(flags);
  if (error != nullptr) *error = status;
}

void SCITerminate(void) { fulmar::sisci::terminate(); }

void SCIOpen(sci_desc_t* sd, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    const sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_THREAD_SAFE), check_parameter(sd != nullptr));
    if (status != SCI_ERR_OK) return status;
    *sd = fulmar::sisci::handle_of<sci_desc_t>(library.descriptors.make(nullptr));
    return SCI_ERR_OK;
  });
}

void SCIClose(sci_desc_t sd, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    Descriptor* const descriptor = library.descriptors.find(sd);
    const sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(descriptor != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (descriptor->objects != 0) return SCI_ERR_BUSY;
    library.descriptors.remove(*descriptor);
    return SCI_ERR_OK;
  });
}

int SCIProbeNode(sci_desc_t sd, unsigned int localAdapterNo, unsigned int nodeId,
                 unsigned int flags, sci_error_t* error) {
  int is_there = 0;
  call(error, [&](Library& library) {
    std::uint32_t rank = 0;
    const sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(library.descriptors.find(sd) != nullptr),
                    check_adapter(localAdapterNo), fulmar::sisci::find_node(library, nodeId, rank));
    is_there = status == SCI_ERR_OK ? 1 : 0;
    return status;
  });
  return is_there;
}

void SCIGetLocalNodeId(unsigned int adapterNo, unsigned int* nodeId, unsigned int flags,
                       sci_error_t* error) {
  call(error, [&](Library& library) {
    const sci_error_t status = first_error(check_flags(flags, 0), check_adapter(adapterNo),
                                           check_parameter(nodeId != nullptr));
    if (status == SCI_ERR_OK) *nodeId = node_of(library, library.port->rank());
    return status;
  });
}

void SCIGetNodeIdByAdapterName(char* adaptername, dis_nodeId_list_t* nodeIdlist,
                               dis_virt_adapter_t* type, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    const sci_error_t status = first_error(
        check_flags(flags, 0), check_parameter(adaptername != nullptr && nodeIdlist != nullptr));
    if (status != SCI_ERR_OK) return status;
    const auto ids = library.nodes.named(adaptername);
    if (ids.empty()) return SCI_ERR_NO_SUCH_NODEID;
    std::memset(*nodeIdlist, 0, sizeof *nodeIdlist);
    for (std::size_t i = 0; i < ids.size() && i + 1 < DIS_NODEID_LIST_LENGTH; ++i) {
      (*nodeIdlist)[i] = ids[i];
    }
    if (type != nullptr) *type = 0;
    return SCI_ERR_OK;
  });
}
