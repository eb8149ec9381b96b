// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>

#include "fabric/verbs/ibverbs/library.h"

/// What there is: devices, ports, addresses.
namespace fulmar::fabric::verbs {
namespace {

/// Codes of the InfiniBand specification for lanes and for the speed of each; newer ones are taken
/// to be as fast as the fastest that is known.
std::uint64_t megabits_of(const ibv_port_attr& port) {
  const std::uint64_t lanes = port.active_width == 1    ? 1
                              : port.active_width == 2  ? 4
                              : port.active_width == 4  ? 8
                              : port.active_width == 8  ? 12
                              : port.active_width == 16 ? 2
                                                        : 1;
  switch (port.active_speed) {
    case 1:
      return lanes * 2'500;
    case 2:
      return lanes * 5'000;
    case 4:
    case 8:
      return lanes * 10'000;
    case 16:
      return lanes * 14'000;
    case 32:
      return lanes * 25'000;
    case 64:
      return lanes * 50'000;
    default:
      return lanes * (port.active_speed == 0 ? 2'500 : 100'000);
  }
}

const char* text_of_state(const ibv_port_attr& port) {
  switch (port.state) {
    case IBV_PORT_DOWN:
      return "down";
    case IBV_PORT_INIT:
    case IBV_PORT_ARMED:
      return "waiting for a subnet manager";
    default:
      return "not active";
  }
}

std::vector<GidInfo> gids_of(const Library& library, ibv_context* context, unsigned port,
                             int count) {
  std::vector<GidInfo> gids;
  for (int i = 0; i < count; ++i) {
    ibv_gid_entry entry{};
    const auto index = static_cast<std::uint32_t>(i);
    if (library.query_gid_ex(context, port, index, &entry, 0, sizeof entry) != 0) continue;
    GidInfo facts;
    facts.index = index;
    std::memcpy(facts.gid.data(), entry.gid.raw, facts.gid.size());
    facts.kind = entry.gid_type == IBV_GID_TYPE_ROCE_V2   ? GidInfo::Kind::roce_v2
                 : entry.gid_type == IBV_GID_TYPE_ROCE_V1 ? GidInfo::Kind::roce_v1
                                                          : GidInfo::Kind::infiniband;
    gids.push_back(facts);
  }
  return gids;
}

PortInfo facts_of(const Library& library, ibv_context* context, const char* device,
                  unsigned number) {
  PortInfo facts;
  facts.device = device;
  facts.port = number;
  const auto transport = context->device->transport_type;
  if (transport == IBV_TRANSPORT_IWARP) {
    facts.transport = "iWARP";
  } else if (transport != IBV_TRANSPORT_IB) {
    facts.transport = "a protocol of its own";
  }
  ibv_port_attr port{};
  if (const int problem = query_port(library, context, number, port); problem != 0) {
    facts.state = std::string("ibv_query_port: ") + std::strerror(problem);
    return facts;
  }
  facts.up = port.state == IBV_PORT_ACTIVE;
  facts.state = text_of_state(port);
  facts.link = port.link_layer == IBV_LINK_LAYER_ETHERNET ? wire::VerbsLink::ethernet
                                                          : wire::VerbsLink::infiniband;
  facts.lid = port.lid;
  facts.megabits = megabits_of(port);
  if (facts.up) facts.gids = gids_of(library, context, number, port.gid_tbl_len);
  return facts;
}

}  // namespace

/// The exported function knows an older, shorter structure: what it leaves out stays zero. The
/// driver's own one, which is stored in front of the context, fills in all.
int query_port(const Library& library, ibv_context* context, unsigned port,
               ibv_port_attr& attributes) {
  attributes = {};
  const auto number = static_cast<std::uint8_t>(port);
  const verbs_context* const extended = ::verbs_get_ctx(context);
  constexpr std::size_t needed = sizeof(verbs_context) - offsetof(verbs_context, query_port);
  if (extended != nullptr && extended->sz >= needed && extended->query_port != nullptr) {
    return extended->query_port(context, number, &attributes, sizeof attributes);
  }
  return library.query_port(context, number, reinterpret_cast<_compat_ibv_port_attr*>(&attributes));
}

Survey survey_devices(const Library& library) {
  Survey survey;
  int count = 0;
  const std::unique_ptr<ibv_device*, decltype(&::ibv_free_device_list)> list(
      library.get_device_list(&count), library.free_device_list);
  for (int i = 0; list != nullptr && i < count; ++i) {
    ibv_device* const device = list.get()[i];
    const char* const name = library.get_device_name(device);
    Context context(library.open_device(device), library.close_device);
    if (!context) {
      survey.refused += std::string(survey.refused.empty() ? "" : ", ") + name +
                        " cannot be opened (" + std::strerror(errno) + ")";
      continue;
    }
    ibv_device_attr attributes{};
    if (library.query_device(context.get(), &attributes) != 0) continue;
    for (unsigned port = 1; port <= attributes.phys_port_cnt; ++port) {
      survey.ports.push_back(facts_of(library, context.get(), name, port));
      survey.contexts.push_back(survey.open.size());
    }
    survey.open.push_back(std::move(context));
  }
  return survey;
}

}  // namespace fulmar::fabric::verbs
