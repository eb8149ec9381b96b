// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// SCIQuery, and the registers that there are not.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "sisci/api.h"
#include "sisci/call.h"
#include "sisci/copies.h"

namespace fulmar::sisci {
namespace {

sci_error_t give_text(const sci_query_string_t& query, std::string_view text) noexcept {
  if (query.str == nullptr || query.length == 0) return SCI_ERR_ILLEGAL_PARAMETER;
  const std::size_t count = std::min<std::size_t>(text.size(), query.length - 1);
  std::memcpy(query.str, text.data(), count);
  query.str[count] = '\0';
  return SCI_ERR_OK;
}

/// What is true of the adapter; nothing for what is no query.
std::optional<unsigned int> adapter_value(const Library& library, unsigned int subcommand) {
  switch (subcommand) {
    case SCI_Q_ADAPTER_DMA_SIZE_ALIGNMENT:
    case SCI_Q_ADAPTER_DMA_OFFSET_ALIGNMENT:
    case SCI_Q_ADAPTER_SUGGESTED_MIN_DMA_SIZE:
    case SCI_Q_ADAPTER_SUGGESTED_MIN_BLOCK_SIZE:
    case SCI_Q_ADAPTER_CONFIGURED:
    case SCI_Q_ADAPTER_LINK_OPERATIONAL:
    case SCI_Q_ADAPTER_HW_LINK_STATUS_IS_OK:
    case SCI_Q_ADAPTER_FIRMWARE_OK:
    case SCI_Q_ADAPTER_CONNECTED_TO_EXPECTED_SWITCH_PORT:
      return 1;
    case SCI_Q_ADAPTER_DMA_MTU:
      return UINT32_MAX;
    case SCI_Q_ADAPTER_NODEID:
    case SCI_Q_ADAPTER_SERIAL_NUMBER:
    case SCI_Q_ADAPTER_PHYS_MEM_NODEID:
    case SCI_Q_ADAPTER_PHYS_MBX_NODEID:
    case SCI_Q_ADAPTER_PHYS_LINK_PORT_NODEID:
      return node_of(library, library.port->rank());
    case SCI_Q_ADAPTER_ATT_PAGE_SIZE:
      return static_cast<unsigned int>(::sysconf(_SC_PAGESIZE));
    case SCI_Q_ADAPTER_ATT_NUMBER_OF_ENTRIES:
    case SCI_Q_ADAPTER_ATT_AVAILABLE_ENTRIES:
      return UINT32_MAX;
    case SCI_Q_ADAPTER_CARD_TYPE:
    case SCI_Q_ADAPTER_NUMBER_OF_STREAMS:
    case SCI_Q_ADAPTER_STREAM_BUFFER_SIZE:
    case SCI_Q_ADAPTER_NUMBER:
    case SCI_Q_ADAPTER_INSTANCE_NUMBER:
    case SCI_Q_ADAPTER_CONNECTED_TO_SWITCH:
    case SCI_Q_ADAPTER_LOCAL_SWITCH_TYPE:
    case SCI_Q_ADAPTER_LOCAL_SWITCH_PORT_NUMBER:
    case SCI_Q_ADAPTER_SCI_LINK_FREQUENCY:
    case SCI_Q_ADAPTER_B_LINK_FREQUENCY:
    case SCI_Q_ADAPTER_IO_BUS_FREQUENCY:
      return 0;
    default:
      return std::nullopt;
  }
}

sci_error_t give_number(void* place, std::optional<unsigned int> value) noexcept {
  if (place == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (!value) return SCI_ERR_ILLEGAL_QUERY;
  std::memcpy(place, &*value, sizeof *value);
  return SCI_ERR_OK;
}

sci_error_t query_adapter(const Library& library, const sci_query_adapter_t& query) {
  const sci_error_t status = check_adapter(query.localAdapterNo);
  return status != SCI_ERR_OK ? status
                              : give_number(query.data, adapter_value(library, query.subcommand));
}

sci_error_t query_system(const sci_query_system_t& query) noexcept {
  const bool is_known = query.subcommand >= SCI_Q_SYSTEM_HOSTBRIDGE &&
                        query.subcommand <= SCI_Q_SYSTEM_WRITE_COMBINING_ENABLED;
  return give_number(query.data, is_known ? std::optional(0U) : std::nullopt);
}

sci_error_t query_map(const Library& library, sci_query_map_t& query) noexcept {
  const Map* const map = library.maps.find(query.map);
  if (map == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  if (query.subcommand != SCI_Q_MAP_MAPPED_TO_LOCAL_TARGET &&
      query.subcommand != SCI_Q_MAP_QUERY_REMOTE_MAPPED_TO_LOCAL_TARGET) {
    return SCI_ERR_ILLEGAL_QUERY;
  }
  query.data = base_of(*map) != nullptr ? 1 : 0;
  return SCI_ERR_OK;
}

/// An address on a bus: there is none.
template <class Query, class Segments>
sci_error_t query_segment(const Segments& segments, const Query& query, unsigned int known) {
  if (segments.find(query.segment) == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
  return query.subcommand == known ? SCI_ERR_NOT_SUPPORTED : SCI_ERR_ILLEGAL_QUERY;
}

sci_error_t query(const Library& library, unsigned int command, void* data) {
  switch (command) {
    case SCI_Q_VENDORID:
      return give_text(*static_cast<sci_query_string_t*>(data), "Fulmar");
    case SCI_Q_API:
      return give_text(*static_cast<sci_query_string_t*>(data), "SISCI over Fulmar");
    case SCI_Q_ADAPTER:
      return query_adapter(library, *static_cast<sci_query_adapter_t*>(data));
    case SCI_Q_SYSTEM:
      return query_system(*static_cast<sci_query_system_t*>(data));
    case SCI_Q_LOCAL_SEGMENT:
      return query_segment(library.local_segments, *static_cast<sci_query_local_segment_t*>(data),
                           SCI_Q_LOCAL_SEGMENT_IOADDR);
    case SCI_Q_REMOTE_SEGMENT:
      return query_segment(library.remote_segments, *static_cast<sci_query_remote_segment_t*>(data),
                           SCI_Q_REMOTE_SEGMENT_IOADDR);
    case SCI_Q_MAP:
      return query_map(library, *static_cast<sci_query_map_t*>(data));
    default:
      return SCI_ERR_ILLEGAL_QUERY;
  }
}

/// A register of an adapter of this node.
void refuse(sci_desc_t sd, unsigned int adapter, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    return first_error(check_flags(flags, 0),
                       check_parameter(library.descriptors.find(sd) != nullptr),
                       check_adapter(adapter), SCI_ERR_NOT_IMPLEMENTED);
  });
}

}  // namespace
}  // namespace fulmar::sisci

void SCIQuery(unsigned int command, void* data, unsigned int flags, sci_error_t* error) {
  fulmar::sisci::call(error, [&](fulmar::sisci::Library& library) {
    const sci_error_t status = fulmar::sisci::first_error(
        fulmar::sisci::check_flags(flags, 0), fulmar::sisci::check_parameter(data != nullptr));
    return status != SCI_ERR_OK ? status : fulmar::sisci::query(library, command, data);
  });
}

unsigned int SCIGetCSRRegister(sci_desc_t sd, unsigned int localAdapterNo,
                               unsigned int /*SCINodeId*/, unsigned int /*CSROffset*/,
                               unsigned int flags, sci_error_t* error) {
  fulmar::sisci::refuse(sd, localAdapterNo, flags, error);
  return 0;
}

void SCISetCSRRegister(sci_desc_t sd, unsigned int localAdapterNo, unsigned int /*SCINodeId*/,
                       unsigned int /*CSROffset*/, unsigned int /*CSRValue*/, unsigned int flags,
                       sci_error_t* error) {
  fulmar::sisci::refuse(sd, localAdapterNo, flags, error);
}

unsigned int SCIGetLocalCSR(sci_desc_t sd, unsigned int localAdapterNo, unsigned int /*CSROffset*/,
                            unsigned int flags, sci_error_t* error) {
  fulmar::sisci::refuse(sd, localAdapterNo, flags, error);
  return 0;
}

void SCISetLocalCSR(sci_desc_t sd, unsigned int localAdapterNo, unsigned int /*CSROffset*/,
                    unsigned int /*CSRValue*/, unsigned int flags, sci_error_t* error) {
  fulmar::sisci::refuse(sd, localAdapterNo, flags, error);
}
