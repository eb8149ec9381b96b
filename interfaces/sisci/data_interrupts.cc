// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// SCICreateDataInterrupt to SCITriggerDataInterrupt.
#include <cstring>

#include "sisci/api.h"
#include "sisci/call.h"
#include "sisci/interrupts.h"
#include "sisci/transfers.h"

namespace fulmar::sisci {
void remove_interrupt(Library& library, LocalDataInterrupt& interrupt) {
  const std::uint64_t serial = interrupt.serial;
  await_callback(library, library.data_interrupts, interrupt);
  if (!library.data_interrupts.has(&interrupt, serial)) return;
  remove_last(library, library.data_interrupts, interrupt, wire::SisciObject::data_interrupt);
}

}  // namespace fulmar::sisci

using fulmar::sisci::call;
using fulmar::sisci::check_flags;
using fulmar::sisci::check_parameter;
using fulmar::sisci::first_error;
using fulmar::sisci::Library;
using fulmar::sisci::LocalDataInterrupt;
using fulmar::sisci::RemoteDataInterrupt;

void SCICreateDataInterrupt(sci_desc_t sd, sci_local_data_interrupt_t* interrupt,
                            unsigned int localAdapterNo, unsigned int* interruptNo,
                            sci_cb_data_interrupt_t callback, void* callbackArg, unsigned int flags,
                            sci_error_t* error) {
  call(error, [&](Library& library) {
    const fulmar::sisci::Creation<sci_cb_data_interrupt_t> wanted{
        sd, localAdapterNo, interruptNo, callback, callbackArg, flags};
    return create_interrupt(library, library.data_interrupts, wanted, SCI_FLAG_BROADCAST,
                            interrupt);
  });
}

void SCIRemoveDataInterrupt(sci_local_data_interrupt_t interrupt, unsigned int flags,
                            sci_error_t* error) {
  call(error, [&](Library& library) {
    return remove_interrupt(library, library.data_interrupts, interrupt, flags);
  });
}

void SCIWaitForDataInterrupt(sci_local_data_interrupt_t interrupt, void* data, unsigned int* length,
                             unsigned int timeout, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    LocalDataInterrupt* const found = library.data_interrupts.find(interrupt);
    sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(found != nullptr && length != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (found->uses_callback) return SCI_ERR_ILLEGAL_OPERATION;
    status = wait_for(library, library.data_interrupts, *found, timeout,
                      [](const LocalDataInterrupt& each) { return !each.queue.empty(); });
    if (status != SCI_ERR_OK) return status;
    const std::vector<std::byte>& bytes = found->queue.front();
    const bool fits = bytes.size() <= *length && (data != nullptr || bytes.empty());
    *length = static_cast<unsigned int>(bytes.size());
    if (!fits) return SCI_ERR_OUT_OF_RANGE;
    if (!bytes.empty()) std::memcpy(data, bytes.data(), bytes.size());
    found->queue.pop_front();
    return SCI_ERR_OK;
  });
}

void SCIConnectDataInterrupt(sci_desc_t sd, sci_remote_data_interrupt_t* interrupt,
                             unsigned int nodeId, unsigned int localAdapterNo,
                             unsigned int interruptNo, unsigned int timeout, unsigned int flags,
                             sci_error_t* error) {
  call(error, [&](Library& library) {
    const fulmar::sisci::Wanted wanted{sd, nodeId, localAdapterNo, interruptNo, timeout, flags};
    return connect_interrupt(library, library.remote_data_interrupts,
                             fulmar::wire::SisciObject::data_interrupt, wanted, interrupt);
  });
}

void SCIDisconnectDataInterrupt(sci_remote_data_interrupt_t interrupt, unsigned int flags,
                                sci_error_t* error) {
  call(error, [&](Library& library) {
    return disconnect_interrupt(library, library.remote_data_interrupts, interrupt, flags);
  });
}

void SCITriggerDataInterrupt(sci_remote_data_interrupt_t interrupt, void* data, unsigned int length,
                             unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    const RemoteDataInterrupt* const found = library.remote_data_interrupts.find(interrupt);
    const sci_error_t status =
        first_error(check_flags(flags, 0, SCI_FLAG_BROADCAST),
                    check_parameter(found != nullptr && data != nullptr && length != 0));
    if (status != SCI_ERR_OK) return status;
    if (length > SCI_DATA_INTERRUPT_BYTES) return SCI_ERR_OUT_OF_RANGE;
    if (found->state != fulmar::sisci::Connection::State::connected) return SCI_ERR_NOT_CONNECTED;
    fulmar::sisci::TransferGroup group;
    (void)start_write(library, *found, 0, {static_cast<const std::byte*>(data), length}, 0, group);
    (void)await_group(library, group, UINT32_MAX);
    // Programs know a full queue as SCI_ERR_NOSPC, wherever it is, and try again.
    if (group.status == SCI_ERR_REMOTE_BUSY) return SCI_ERR_NOSPC;
    const bool is_told = group.status == SCI_ERR_OK || group.status == SCI_ERR_NOSPC;
    return is_told ? group.status : SCI_ERR_NOT_CONNECTED;
  });
}
