// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// SCIConnectSegment to SCIGetRemoteSegmentNodeId.
#include "sisci/api.h"
#include "sisci/call.h"
#include "sisci/connections.h"
#include "sisci/segments.h"
#include "sisci/transfers.h"

namespace fulmar::sisci {
namespace {

constexpr std::uint32_t connect_flags =
    SCI_FLAG_USE_CALLBACK | SCI_FLAG_ASYNCHRONOUS_CONNECT | SCI_FLAG_DMA_GLOBAL;

/// A connection that the program waits for: how it ended. The segment is removed where it failed.
sci_error_t await_connection(Library& library, RemoteSegment& segment, std::uint32_t timeout_ms) {
  sci_error_t status = wait_for(library, library.remote_segments, segment, timeout_ms,
                                [](const RemoteSegment& each) { return is_settled(each); });
  if (status == SCI_ERR_CANCELLED) return status;
  if (status == SCI_ERR_OK) status = segment.status;
  if (status == SCI_ERR_OK) return status;
  close(library, segment);
  remove(library.remote_segments, segment);
  return status;
}

}  // namespace

sci_error_t remove_segment(Library& library, RemoteSegment& segment) {
  if (segment.maps != 0 || segment.uses != 0) return SCI_ERR_BUSY;
  const std::uint64_t serial = segment.serial;
  const auto exists = [&]() noexcept { return library.remote_segments.has(&segment, serial); };
  (void)wait(
      library, [&]() noexcept { return !exists() || segment.posted.under_way == 0; }, UINT32_MAX);
  if (exists()) await_callback(library, library.remote_segments, segment);
  if (!exists()) return SCI_ERR_OK;
  close(library, segment);
  remove(library.remote_segments, segment);
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
using fulmar::sisci::RemoteSegment;

void SCIConnectSegment(sci_desc_t sd, sci_remote_segment_t* segment, unsigned int nodeId,
                       unsigned int segmentId, unsigned int localAdapterNo,
                       sci_cb_remote_segment_t callback, void* callbackArg, unsigned int timeout,
                       unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    Descriptor* const descriptor = library.descriptors.find(sd);
    const bool uses_callback = (flags & SCI_FLAG_USE_CALLBACK) != 0;
    const bool is_asynchronous = (flags & SCI_FLAG_ASYNCHRONOUS_CONNECT) != 0;
    std::uint32_t rank = 0;
    const sci_error_t status =
        first_error(check_flags(flags, fulmar::sisci::connect_flags, SCI_FLAG_BROADCAST),
                    check_parameter(descriptor != nullptr && segment != nullptr &&
                                    (callback != nullptr || !uses_callback)),
                    check_adapter(localAdapterNo), fulmar::sisci::find_node(library, nodeId, rank));
    if (status != SCI_ERR_OK) return status;
    RemoteSegment& made = make(library.remote_segments, *descriptor);
    made.events.uses_callback = uses_callback;
    made.events.callback = callback;
    made.events.argument = callbackArg;
    made.owner = &made;
    made.tells_connect = is_asynchronous;
    if (!ask(library, made, rank, fulmar::wire::SisciObject::segment, segmentId)) {
      close(library, made);
      remove(library.remote_segments, made);
      return SCI_ERR_NOSPC;
    }
    if (!is_asynchronous) {
      const sci_error_t outcome = fulmar::sisci::await_connection(library, made, timeout);
      if (outcome != SCI_ERR_OK) return outcome;
    }
    *segment = fulmar::sisci::handle_of<sci_remote_segment_t>(made);
    return SCI_ERR_OK;
  });
}

void SCIDisconnectSegment(sci_remote_segment_t segment, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    RemoteSegment* const found = library.remote_segments.find(segment);
    const sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(found != nullptr));
    return status != SCI_ERR_OK ? status : remove_segment(library, *found);
  });
}

sci_segment_cb_reason_t SCIWaitForRemoteSegmentEvent(sci_remote_segment_t segment,
                                                     sci_error_t* status, unsigned int timeout,
                                                     unsigned int flags, sci_error_t* error) {
  fulmar::sisci::Event event{};
  call(error, [&](Library& library) {
    const sci_error_t outcome =
        await_event(library, library.remote_segments, segment, {timeout, flags}, event);
    if (outcome == SCI_ERR_OK && status != nullptr) *status = event.status;
    return outcome;
  });
  return event.reason;
}

size_t SCIGetRemoteSegmentSize(sci_remote_segment_t segment) {
  size_t size = 0;
  fulmar::sisci::look_at(&Library::remote_segments, segment,
                         [&](const RemoteSegment& found) { size = found.bytes; });
  return size;
}

unsigned int SCIGetRemoteSegmentId(sci_remote_segment_t segment) {
  unsigned int id = 0;
  fulmar::sisci::look_at(&Library::remote_segments, segment,
                         [&](const RemoteSegment& found) { id = found.number; });
  return id;
}

unsigned int SCIGetRemoteSegmentNodeId(sci_remote_segment_t segment) {
  unsigned int node = 0;
  fulmar::sisci::look_at(&Library::remote_segments, segment, [&](const RemoteSegment& found) {
    node = node_of(*fulmar::sisci::current(), found.rank);
  });
  return node;
}
