// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// SCICreateInterrupt to SCIGetConditionalInterruptTrigCounter.
#include <cstdint>

#include "sisci/api.h"
#include "sisci/call.h"
#include "sisci/interrupts.h"

namespace fulmar::sisci {
namespace {

/// One at this word of the segment.
bool has_flag(const Library& library, const LocalSegment& segment, std::size_t offset) noexcept {
  for (const auto& [handle, each] : library.interrupts.all()) {
    if (each->segment == &segment && each->offset == offset) return true;
  }
  return false;
}

/// Sets the word to 0, unless it changes meanwhile.
bool clear_word(const LocalInterrupt& interrupt) noexcept {
  auto* const word = reinterpret_cast<std::uint32_t*>(interrupt.segment->base + interrupt.offset);
  std::uint32_t seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
  return __atomic_compare_exchange_n(word, &seen, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

}  // namespace

void remove_interrupt(Library& library, LocalInterrupt& interrupt) {
  const std::uint64_t serial = interrupt.serial;
  await_callback(library, library.interrupts, interrupt);
  if (!library.interrupts.has(&interrupt, serial)) return;
  if (interrupt.segment != nullptr) --interrupt.segment->flags;
  remove_last(library, library.interrupts, interrupt, wire::SisciObject::interrupt);
}

}  // namespace fulmar::sisci

using fulmar::sisci::call;
using fulmar::sisci::check_adapter;
using fulmar::sisci::check_flags;
using fulmar::sisci::check_parameter;
using fulmar::sisci::first_error;
using fulmar::sisci::Library;
using fulmar::sisci::LocalInterrupt;
using fulmar::sisci::LocalSegment;
using fulmar::sisci::RemoteInterrupt;

void SCICreateInterrupt(sci_desc_t sd, sci_local_interrupt_t* interrupt,
                        unsigned int localAdapterNo, unsigned int* interruptNo,
                        sci_cb_interrupt_t callback, void* callbackArg, unsigned int flags,
                        sci_error_t* error) {
  call(error, [&](Library& library) {
    const fulmar::sisci::Creation<sci_cb_interrupt_t> wanted{sd,       localAdapterNo, interruptNo,
                                                             callback, callbackArg,    flags};
    return create_interrupt(library, library.interrupts, wanted, 0, interrupt);
  });
}

void SCIRemoveInterrupt(sci_local_interrupt_t interrupt, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    return remove_interrupt(library, library.interrupts, interrupt, flags);
  });
}

void SCIWaitForInterrupt(sci_local_interrupt_t interrupt, unsigned int timeout, unsigned int flags,
                         sci_error_t* error) {
  call(error, [&](Library& library) {
    LocalInterrupt* const found = library.interrupts.find(interrupt);
    sci_error_t status = first_error(check_flags(flags, 0), check_parameter(found != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (found->uses_callback) return SCI_ERR_ILLEGAL_OPERATION;
    status = wait_for(library, library.interrupts, *found, timeout,
                      [](const LocalInterrupt& each) { return each.pending != 0; });
    if (status == SCI_ERR_OK) --found->pending;
    return status;
  });
}

void SCIConnectInterrupt(sci_desc_t sd, sci_remote_interrupt_t* interrupt, unsigned int nodeId,
                         unsigned int localAdapterNo, unsigned int interruptNo,
                         unsigned int timeout, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    const fulmar::sisci::Wanted wanted{sd, nodeId, localAdapterNo, interruptNo, timeout, flags};
    return connect_interrupt(library, library.remote_interrupts,
                             fulmar::wire::SisciObject::interrupt, wanted, interrupt);
  });
}

void SCIDisconnectInterrupt(sci_remote_interrupt_t interrupt, unsigned int flags,
                            sci_error_t* error) {
  call(error, [&](Library& library) {
    return disconnect_interrupt(library, library.remote_interrupts, interrupt, flags);
  });
}

void SCITriggerInterrupt(sci_remote_interrupt_t interrupt, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    const RemoteInterrupt* const found = library.remote_interrupts.find(interrupt);
    const sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(found != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (found->state != fulmar::sisci::Connection::State::connected) return SCI_ERR_NOT_CONNECTED;
    const bool is_sent = post(library, found->rank, fulmar::wire::SisciKind::trigger,
                              fulmar::wire::bytes_of(found->grant));
    return is_sent ? SCI_ERR_OK : SCI_ERR_NOSPC;
  });
}

void SCIRegisterInterruptFlag(unsigned int localAdapterNo, sci_local_interrupt_t* interrupt,
                              sci_local_segment_t segment, size_t offset,
                              sci_cb_interrupt_t callback, void* callbackArg, unsigned int flags,
                              sci_error_t* error) {
  call(error, [&](Library& library) {
    LocalSegment* const found = library.local_segments.find(segment);
    const bool wants_callback = (flags & SCI_FLAG_USE_CALLBACK) != 0;
    const sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_USE_CALLBACK | SCI_FLAG_CONDITIONAL_INTERRUPT),
                    check_parameter(found != nullptr && interrupt != nullptr &&
                                    (callback != nullptr || !wants_callback)),
                    check_adapter(localAdapterNo));
    if (status != SCI_ERR_OK) return status;
    if (found->base == nullptr || found->attached != nullptr) return SCI_ERR_ILLEGAL_OPERATION;
    if (offset % sizeof(std::uint32_t) != 0) return SCI_ERR_OFFSET_ALIGNMENT;
    if (fulmar::sisci::check_range(offset, sizeof(std::uint32_t), found->bytes) != SCI_ERR_OK) {
      return SCI_ERR_OUT_OF_RANGE;
    }
    if (fulmar::sisci::has_flag(library, *found, offset)) return SCI_ERR_INTNO_USED;
    LocalInterrupt& made = make(library.interrupts, *found->descriptor);
    made.segment = found;
    ++found->flags;
    made.offset = offset;
    made.is_conditional = (flags & SCI_FLAG_CONDITIONAL_INTERRUPT) != 0;
    made.callback = callback;
    made.argument = callbackArg;
    made.uses_callback = callback != nullptr;
    *interrupt = fulmar::sisci::handle_of<sci_local_interrupt_t>(made);
    return SCI_ERR_OK;
  });
}

void SCIEnableConditionalInterrupt(sci_local_interrupt_t interrupt, unsigned int flags,
                                   sci_error_t* error) {
  call(error, [&](Library& library) {
    LocalInterrupt* const found = library.interrupts.find(interrupt);
    const sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(found != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (!found->is_conditional) return SCI_ERR_ILLEGAL_OPERATION;
    if (!fulmar::sisci::clear_word(*found)) return SCI_ERR_COND_INT_RACE_PROBLEM;
    found->counter = {true, 0};
    return SCI_ERR_OK;
  });
}

void SCIDisableConditionalInterrupt(sci_local_interrupt_t interrupt, unsigned int flags,
                                    sci_error_t* error) {
  call(error, [&](Library& library) {
    LocalInterrupt* const found = library.interrupts.find(interrupt);
    const sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(found != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (!found->is_conditional) return SCI_ERR_ILLEGAL_OPERATION;
    found->counter = {false, 0};
    return SCI_ERR_OK;
  });
}

void SCIGetConditionalInterruptTrigCounter(sci_local_interrupt_t interrupt,
                                           unsigned int* interruptTrigCounter, unsigned int flags,
                                           sci_error_t* error) {
  call(error, [&](Library& library) {
    const LocalInterrupt* const found = library.interrupts.find(interrupt);
    const sci_error_t status =
        first_error(check_flags(flags, 0),
                    check_parameter(found != nullptr && interruptTrigCounter != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (!found->is_conditional) return SCI_ERR_ILLEGAL_OPERATION;
    if (found->counter.triggers > fulmar::sisci::ConditionalCounter::most) return SCI_ERR_OVERFLOW;
    *interruptTrigCounter = static_cast<unsigned int>(found->counter.triggers);
    return SCI_ERR_OK;
  });
}
