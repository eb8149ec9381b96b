// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Errors and adapters as texts.
#include <algorithm>
#include <array>

#include "sisci/api.h"

namespace {

struct Text {
  sci_error_t code;
  const char* text;
};

constexpr std::array texts{
    Text{SCI_ERR_OK, "No error"},
    Text{SCI_ERR_BUSY, "Busy: maps, connections or transfers have to end first"},
    Text{SCI_ERR_FLAG_NOT_IMPLEMENTED, "The flag is one of SISCI that this library does not have"},
    Text{SCI_ERR_ILLEGAL_FLAG, "The call has no such flag"},
    Text{SCI_ERR_NOSPC, "No memory"},
    Text{SCI_ERR_API_NOSPC, "The library has no room"},
    Text{SCI_ERR_HW_NOSPC, "The adapter has no room"},
    Text{SCI_ERR_NOT_IMPLEMENTED, "The call is one of SISCI that this library does not have"},
    Text{SCI_ERR_ILLEGAL_ADAPTERNO, "No adapter can have this number"},
    Text{SCI_ERR_NO_SUCH_ADAPTERNO, "There is no adapter of this number; use adapter 0"},
    Text{SCI_ERR_TIMEOUT, "The time is over"},
    Text{SCI_ERR_OUT_OF_RANGE, "Offset and size leave the segment, the map or the buffer"},
    Text{SCI_ERR_NO_SUCH_SEGMENT,
         "The node has no such segment or interrupt, or it is not available"},
    Text{SCI_ERR_ILLEGAL_NODEID, "No node can have this number"},
    Text{SCI_ERR_CONNECTION_REFUSED, "The other node has refused the connection"},
    Text{SCI_ERR_SEGMENT_NOT_CONNECTED, "The segment is not connected, or not any more"},
    Text{SCI_ERR_SIZE_ALIGNMENT, "The size is 0, or not a multiple of what is required"},
    Text{SCI_ERR_OFFSET_ALIGNMENT, "The offset is not a multiple of what is required"},
    Text{SCI_ERR_ILLEGAL_PARAMETER, "A parameter is NULL, 0 or a handle of nothing"},
    Text{SCI_ERR_MAX_ENTRIES, "The DMA queue or vector has no room for more entries"},
    Text{SCI_ERR_SEGMENT_NOT_PREPARED, "The segment is not prepared; call SCIPrepareSegment"},
    Text{SCI_ERR_ILLEGAL_ADDRESS, "The address cannot be used"},
    Text{SCI_ERR_ILLEGAL_OPERATION, "The object, or its state, does not allow this"},
    Text{SCI_ERR_ILLEGAL_QUERY, "There is no such query"},
    Text{SCI_ERR_SEGMENTID_USED, "The number is used by another segment or interrupt of this node"},
    Text{SCI_ERR_SYSTEM, "A call of the system has failed"},
    Text{SCI_ERR_CANCELLED, "The object was removed, or the transfer aborted"},
    Text{SCI_ERR_NOT_CONNECTED, "The interrupt is not connected, or not any more"},
    Text{SCI_ERR_NOT_AVAILABLE, "Not available"},
    Text{SCI_ERR_INCONSISTENT_VERSIONS, "libsisci and libmpi_abi are of different builds"},
    Text{SCI_ERR_COND_INT_RACE_PROBLEM, "The interrupt was triggered while it was enabled"},
    Text{SCI_ERR_OVERFLOW, "More triggers than can be counted"},
    Text{SCI_ERR_NOT_INITIALIZED, "SISCI is not initialised; call SCIInitialize"},
    Text{SCI_ERR_ACCESS, "The segment is not shared; its owner has to call SCIShareSegment"},
    Text{SCI_ERR_NOT_SUPPORTED, "The network, or this kind of memory, cannot do this"},
    Text{SCI_ERR_DEPRECATED, "The call is not used any more"},
    Text{SCI_ERR_DMA_NOT_AVAILABLE, "There is no DMA"},
    Text{SCI_ERR_DMA_DISABLED, "DMA is disabled"},
    Text{SCI_ERR_NO_SUCH_NODEID, "No process of the job is the node of this number"},
    Text{SCI_ERR_NODE_NOT_RESPONDING, "The node's process has ended"},
    Text{SCI_ERR_NO_REMOTE_LINK_ACCESS, "The other node's link does not work"},
    Text{SCI_ERR_NO_LINK_ACCESS, "The job cannot be joined; a line on stderr says why"},
    Text{SCI_ERR_TRANSFER_FAILED, "The transfer has failed"},
    Text{SCI_ERR_NO_SUCH_FDID, "No device has this number"},
    Text{SCI_ERR_SEMAPHORE_COUNT_EXCEEDED, "A semaphore counts too much"},
    Text{SCI_ERR_IRQL_ILLEGAL, "Not at this interrupt level"},
    Text{SCI_ERR_REMOTE_BUSY, "The other node has not taken what it was sent before"},
    Text{SCI_ERR_LOCAL_BUSY, "This node is busy"},
    Text{SCI_ERR_ALL_BUSY, "All nodes are busy"},
};

}  // namespace

const char* SCIGetErrorString(sci_error_t code) {
  const auto* const place = std::ranges::find(texts, code, &Text::code);
  return place == texts.end() ? "Unknown error" : place->text;
}

const char* SCIGetAdapterTypeString(unsigned int type) {
  return type == 0 ? "Fulmar" : "Unknown adapter";
}
