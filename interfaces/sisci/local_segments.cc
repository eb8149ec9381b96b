// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// SCICreateSegment to SCIGetLocalSegmentId.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sisci/api.h"
#include "sisci/call.h"
#include "sisci/connections.h"
#include "sisci/grants.h"
#include "sisci/segments.h"

namespace fulmar::sisci {
namespace {

/// Numbers that the library chooses lie above those that programs do.
std::uint32_t free_id(const Library& library) noexcept {
  std::uint32_t id = 0x80000000U;
  while (segment_of(library, id) != nullptr) ++id;
  return id;
}

void give_back_memory(Library& library, LocalSegment& segment) noexcept {
  if (segment.attached != nullptr) {
    close(library, *segment.attached);
  } else if (segment.base != nullptr) {
    library.port->disown({segment.base, segment.bytes});
    if (segment.memory != nullptr) library.port->release_segment(segment.memory);
  }
  segment.base = nullptr;
  segment.memory = nullptr;
}

sci_error_t give_memory(Library& library, LocalSegment& segment) {
  const char* why = "";
  segment.memory = library.port->make_segment(segment.bytes, &why);
  if (segment.memory == nullptr) return SCI_ERR_NOSPC;
  segment.base = segment.memory->base;
  library.port->own({segment.base, segment.bytes});
  return SCI_ERR_OK;
}

/// A shared segment of any process of this host, as a connection: the first that has one. Processes that have
/// not begun SISCI do not answer, so this waits for them for a while only.
sci_error_t find_shared(Library& library, std::uint32_t id, std::unique_ptr<Connection>& found) {
  constexpr std::uint32_t patience_ms = 10'000;
  std::vector<std::unique_ptr<Connection>> asked;
  for (std::uint32_t rank = 0; rank < library.port->size(); ++rank) {
    if (!library.port->on_node(rank) || library.port->lost(rank)) continue;
    asked.push_back(std::make_unique<Connection>());
    (void)ask(library, *asked.back(), rank, wire::SisciObject::attached_segment, id);
  }
  const auto is_found = [](const auto& each) {
    return each->state == Connection::State::connected;
  };
  (void)wait(
      library,
      [&]() noexcept {
        return std::ranges::any_of(asked, is_found) ||
               std::ranges::all_of(asked, [](const auto& each) { return is_settled(*each); });
      },
      patience_ms);
  sci_error_t status = SCI_ERR_NO_SUCH_SEGMENT;
  for (std::unique_ptr<Connection>& each : asked) {
    if (each->status == SCI_ERR_ACCESS) status = SCI_ERR_ACCESS;
    if (found == nullptr && is_found(each)) {
      found = std::move(each);
    } else {
      close(library, *each);
    }
  }
  if (found == nullptr) return status;
  if (found->base != nullptr) return SCI_ERR_OK;
  close(library, *found);
  return SCI_ERR_NOSPC;
}

constexpr std::uint32_t create_flags = SCI_FLAG_USE_CALLBACK | SCI_FLAG_EMPTY | SCI_FLAG_PRIVATE |
                                       SCI_FLAG_AUTO_ID | SCI_FLAG_DMA_GLOBAL |
                                       SCI_FLAG_DMA_SOURCE_ONLY | SCI_FLAG_ALLOW_UNICAST;

}  // namespace

sci_error_t remove_segment(Library& library, LocalSegment& segment, Removal removal) {
  const bool is_forced = removal == Removal::forced;
  if (segment.maps != 0 || segment.flags != 0) return SCI_ERR_BUSY;
  if (!is_forced && segment.uses != 0) return SCI_ERR_BUSY;
  segment.is_available = false;
  segment.is_shared = false;
  end_grants(library, segment, wire::SisciEnd::forced);
  const std::uint64_t serial = segment.serial;
  const auto is_unused = [&]() noexcept {
    return !library.local_segments.has(&segment, serial) || segment.uses == 0;
  };
  if (!is_unused()) (void)wait(library, is_unused, UINT32_MAX);
  if (!library.local_segments.has(&segment, serial)) return SCI_ERR_OK;
  await_callback(library, library.local_segments, segment);
  if (!library.local_segments.has(&segment, serial)) return SCI_ERR_OK;
  give_back_memory(library, segment);
  remove(library.local_segments, segment);
  library.port->notify();
  return SCI_ERR_OK;
}

}  // namespace fulmar::sisci

using fulmar::sisci::call;
using fulmar::sisci::check_adapter;
using fulmar::sisci::check_flags;
using fulmar::sisci::check_parameter;
using fulmar::sisci::Descriptor;
using fulmar::sisci::first_error;
using fulmar::sisci::Library;
using fulmar::sisci::LocalSegment;

void SCICreateSegment(sci_desc_t sd, sci_local_segment_t* segment, unsigned int segmentId,
                      size_t size, sci_cb_local_segment_t callback, void* callbackArg,
                      unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    Descriptor* const descriptor = library.descriptors.find(sd);
    const bool uses_callback = (flags & SCI_FLAG_USE_CALLBACK) != 0;
    const sci_error_t status =
        first_error(check_flags(flags, fulmar::sisci::create_flags, SCI_FLAG_BROADCAST),
                    check_parameter(descriptor != nullptr && segment != nullptr &&
                                    (callback != nullptr || !uses_callback)),
                    size == 0 ? SCI_ERR_SIZE_ALIGNMENT : SCI_ERR_OK);
    if (status != SCI_ERR_OK) return status;
    const bool has_number = (flags & (SCI_FLAG_PRIVATE | SCI_FLAG_AUTO_ID)) == 0;
    if (has_number && segment_of(library, segmentId) != nullptr) return SCI_ERR_SEGMENTID_USED;
    const unsigned int id =
        (flags & SCI_FLAG_AUTO_ID) != 0 ? fulmar::sisci::free_id(library) : segmentId;
    LocalSegment& made = make(library.local_segments, *descriptor);
    made.id = id;
    made.bytes = size;
    made.is_private = (flags & SCI_FLAG_PRIVATE) != 0;
    made.is_source_only = (flags & SCI_FLAG_DMA_SOURCE_ONLY) != 0;
    made.events.uses_callback = uses_callback;
    made.events.callback = callback;
    made.events.argument = callbackArg;
    const bool is_empty = (flags & SCI_FLAG_EMPTY) != 0;
    const sci_error_t memory = is_empty ? SCI_ERR_OK : fulmar::sisci::give_memory(library, made);
    if (memory != SCI_ERR_OK) {
      remove(library.local_segments, made);
      return memory;
    }
    *segment = fulmar::sisci::handle_of<sci_local_segment_t>(made);
    return SCI_ERR_OK;
  });
}

void SCIPrepareSegment(sci_local_segment_t segment, unsigned int localAdapterNo, unsigned int flags,
                       sci_error_t* error) {
  call(error, [&](Library& library) {
    LocalSegment* const found = library.local_segments.find(segment);
    const sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_DMA_SOURCE_ONLY | SCI_FLAG_DMA_GLOBAL),
                    check_parameter(found != nullptr), check_adapter(localAdapterNo));
    if (status != SCI_ERR_OK) return status;
    found->is_prepared = true;
    found->is_source_only |= (flags & SCI_FLAG_DMA_SOURCE_ONLY) != 0;
    return SCI_ERR_OK;
  });
}

void SCISetSegmentAvailable(sci_local_segment_t segment, unsigned int localAdapterNo,
                            unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    LocalSegment* const found = library.local_segments.find(segment);
    const sci_error_t status = first_error(check_flags(flags, 0), check_parameter(found != nullptr),
                                           check_adapter(localAdapterNo));
    if (status != SCI_ERR_OK) return status;
    const bool can_be = !found->is_private && !found->is_source_only && found->base != nullptr &&
                        found->attached == nullptr;
    if (!can_be) return SCI_ERR_ILLEGAL_OPERATION;
    if (!found->is_prepared) return SCI_ERR_SEGMENT_NOT_PREPARED;
    found->is_available = true;
    return SCI_ERR_OK;
  });
}

void SCISetSegmentUnavailable(sci_local_segment_t segment, unsigned int localAdapterNo,
                              unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    LocalSegment* const found = library.local_segments.find(segment);
    const sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_FORCE_DISCONNECT | SCI_FLAG_NOTIFY),
                    check_parameter(found != nullptr), check_adapter(localAdapterNo));
    if (status != SCI_ERR_OK) return status;
    if (!found->is_available) return SCI_ERR_ILLEGAL_OPERATION;
    found->is_available = false;
    if ((flags & SCI_FLAG_FORCE_DISCONNECT) != 0) {
      end_grants(library, *found, fulmar::wire::SisciEnd::forced);
    } else if ((flags & SCI_FLAG_NOTIFY) != 0) {
      end_grants(library, *found, fulmar::wire::SisciEnd::invited);
    }
    return SCI_ERR_OK;
  });
}

void SCIRemoveSegment(sci_local_segment_t segment, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    LocalSegment* const found = library.local_segments.find(segment);
    const sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_FORCE_REMOVE), check_parameter(found != nullptr));
    if (status != SCI_ERR_OK) return status;
    const bool is_forced = (flags & SCI_FLAG_FORCE_REMOVE) != 0;
    return remove_segment(
        library, *found,
        is_forced ? fulmar::sisci::Removal::forced : fulmar::sisci::Removal::polite);
  });
}

void SCIShareSegment(sci_local_segment_t segment, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    LocalSegment* const found = library.local_segments.find(segment);
    const sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(found != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (found->memory == nullptr || found->is_private) return SCI_ERR_ILLEGAL_OPERATION;
    found->is_shared = true;
    return SCI_ERR_OK;
  });
}

void SCIAttachLocalSegment(sci_desc_t sd, sci_local_segment_t* segment, unsigned int segmentId,
                           size_t* size, sci_cb_local_segment_t callback, void* callbackArg,
                           unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    const bool uses_callback = (flags & SCI_FLAG_USE_CALLBACK) != 0;
    sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_USE_CALLBACK),
                    check_parameter(library.descriptors.find(sd) != nullptr && segment != nullptr &&
                                    (callback != nullptr || !uses_callback)));
    if (status != SCI_ERR_OK) return status;
    std::unique_ptr<fulmar::sisci::Connection> found;
    status = fulmar::sisci::find_shared(library, segmentId, found);
    if (status != SCI_ERR_OK) return status;
    Descriptor* const descriptor = library.descriptors.find(sd);
    if (descriptor == nullptr) {
      close(library, *found);
      return SCI_ERR_CANCELLED;
    }
    LocalSegment& made = make(library.local_segments, *descriptor);
    made.id = segmentId;
    made.bytes = found->bytes;
    made.base = found->base;
    made.events.uses_callback = uses_callback;
    made.events.callback = callback;
    made.events.argument = callbackArg;
    found->owner = &made;
    made.attached = std::move(found);
    *segment = fulmar::sisci::handle_of<sci_local_segment_t>(made);
    if (size != nullptr) *size = made.bytes;
    return SCI_ERR_OK;
  });
}

void SCIRegisterSegmentMemory(void* address, size_t size, sci_local_segment_t segment,
                              unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    LocalSegment* const found = library.local_segments.find(segment);
    const sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_LOCK_USER_MEM), check_parameter(found != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (found->base != nullptr) return SCI_ERR_ILLEGAL_OPERATION;
    if (size == 0) return SCI_ERR_SIZE_ALIGNMENT;
    if (size > found->bytes) return SCI_ERR_OUT_OF_RANGE;
    const auto begin = reinterpret_cast<std::uintptr_t>(address);
    if (begin == 0 || size > UINTPTR_MAX - begin) return SCI_ERR_ILLEGAL_ADDRESS;
    found->base = static_cast<std::byte*>(address);
    found->bytes = size;
    library.port->own({found->base, size});
    return SCI_ERR_OK;
  });
}

void SCIAttachPhysicalMemory(sci_ioaddr_t /*ioaddress*/, void* /*address*/, unsigned int /*busNo*/,
                             size_t /*size*/, sci_local_segment_t segment, unsigned int flags,
                             sci_error_t* error) {
  call(error, [&](Library& library) {
    return first_error(check_flags(flags, 0),
                       check_parameter(library.local_segments.find(segment) != nullptr),
                       SCI_ERR_NOT_SUPPORTED);
  });
}

sci_segment_cb_reason_t SCIWaitForLocalSegmentEvent(sci_local_segment_t segment,
                                                    unsigned int* sourcenodeId,
                                                    unsigned int* localAdapterNo,
                                                    unsigned int timeout, unsigned int flags,
                                                    sci_error_t* error) {
  fulmar::sisci::Event event{};
  call(error, [&](Library& library) {
    const sci_error_t status =
        await_event(library, library.local_segments, segment, {timeout, flags}, event);
    if (status != SCI_ERR_OK) return status;
    if (sourcenodeId != nullptr) *sourcenodeId = event.node;
    if (localAdapterNo != nullptr) *localAdapterNo = 0;
    return SCI_ERR_OK;
  });
  return event.reason;
}

size_t SCIGetLocalSegmentSize(sci_local_segment_t segment) {
  size_t size = 0;
  fulmar::sisci::look_at(&Library::local_segments, segment,
                         [&](const LocalSegment& found) { size = found.bytes; });
  return size;
}

unsigned int SCIGetLocalSegmentId(sci_local_segment_t segment) {
  unsigned int id = 0;
  fulmar::sisci::look_at(&Library::local_segments, segment,
                         [&](const LocalSegment& found) { id = found.id; });
  return id;
}
