// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// VipNSInit to VipNSShutdown. A process is asked for the name of its host once.
#include "vipl/names.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "vipl/api.h"
#include "vipl/call.h"
#include "vipl/nodes.h"

namespace fulmar::vipl {
namespace {

/// For processes that have not opened a NIC.
constexpr VIP_ULONG patience_ms = 10'000;

std::string own_name() {
  std::array<char, wire::vipl_most_name_bytes + 1> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

/// The whole name, or what is before its first dot.
bool is_called(const std::string& host, std::string_view name) noexcept {
  return host == name || std::string_view(host).substr(0, host.find('.')) == name;
}

/// The host of the process; empty: it does not answer.
std::string host_of(Provider& provider, Lock& lock, const Nic& nic, std::uint32_t node) {
  if (node == provider.node) return own_name();
  Peer& peer = peer_of(provider, node);
  if (peer.name.empty() && !peer.was_asked_name) {
    peer.was_asked_name = true;
    wire::ViplMessage question{};
    question.kind = wire::ViplKind::name;
    post(provider, node, question);
  }
  const std::uint32_t handle = nic.handle;
  bool is_gone = false;
  const bool is_known = wait(provider, lock, Deadline(patience_ms), [&] {
    is_gone = provider.nics.find(handle) == nullptr;
    return is_gone || peer.has_ended || !peer.name.empty();
  });
  return is_known && !is_gone ? peer.name : std::string();
}

/// The process that the program means; false: there is none.
bool find_process(Provider& provider, Lock& lock, const Nic& nic, const char* name, VIP_ULONG index,
                  std::uint32_t& node) {
  const auto numbered = nodes_named(name);
  if (!numbered.empty()) {
    if (index >= numbered.size()) return false;
    node = numbered[index];
    return true;
  }
  VIP_ULONG count = 0;
  for (const std::uint32_t each : nodes_of_job()) {
    if (!is_called(host_of(provider, lock, nic, each), name) || count++ != index) continue;
    node = each;
    return true;
  }
  return false;
}

}  // namespace

std::vector<std::uint32_t> nodes_named(const char* name) {
  std::string text(name);
  dis_nodeId_list_t list{};
  sci_error_t error = SCI_ERR_OK;
  SCIGetNodeIdByAdapterName(text.data(), &list, nullptr, 0, &error);
  if (error != SCI_ERR_OK) return {};
  // A 0 ends the list, but in front it is node 0.
  std::size_t count = 1;
  while (count < DIS_NODEID_LIST_LENGTH && list[count] != 0) ++count;
  return {list, list + count};
}

std::vector<std::uint32_t> nodes_of_job() {
  std::vector<std::uint32_t> nodes;
  for (std::uint32_t rank = 0;; ++rank) {
    const auto found = nodes_named(std::to_string(rank).c_str());
    if (found.empty()) return nodes;
    nodes.push_back(found.front());
  }
}

void on_name(Provider& provider, const wire::ViplMessage& message) {
  wire::ViplMessage reply{};
  reply.kind = wire::ViplKind::named;
  const std::string name = own_name();
  reply.from_bytes =
      static_cast<std::uint16_t>(std::min<std::size_t>(name.size(), wire::vipl_most_name_bytes));
  std::memcpy(reply.text.data(), name.data(), reply.from_bytes);
  post(provider, message.node, reply);
}

void on_named(Provider& provider, const wire::ViplMessage& message) {
  const auto place = provider.peers.find(message.node);
  if (place == provider.peers.end() || !place->second->was_asked_name) return;
  place->second->name.assign(reinterpret_cast<const char*>(message.text.data()),
                             message.from_bytes);
}

}  // namespace fulmar::vipl

using fulmar::vipl::call;
using fulmar::vipl::Lock;
using fulmar::vipl::Nic;
using fulmar::vipl::Provider;

VIP_RETURN VipNSInit(VIP_NIC_HANDLE NicHandle, VIP_PVOID /*NSInitInfo*/) {
  return call<Nic>(NicHandle, [](const Provider&, const Lock&, Nic& nic) {
    nic.has_names = true;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipNSGetHostByName(VIP_NIC_HANDLE NicHandle, VIP_CHAR* Name, VIP_NET_ADDRESS* Address,
                              VIP_ULONG NameIndex) {
  return call<Nic>(NicHandle, [&](Provider& provider, Lock& lock, const Nic& nic) {
    if (Name == nullptr || Address == nullptr) return VIP_INVALID_PARAMETER;
    std::uint32_t node = 0;
    const bool is_found =
        nic.has_names && fulmar::vipl::find_process(provider, lock, nic, Name, NameIndex, node);
    if (!is_found) return VIP_ERROR_NAMESERVICE;
    fulmar::vipl::write_address({node, {}}, *Address);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipNSGetHostByAddr(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS* Address, VIP_CHAR* Name,
                              VIP_ULONG* NameLen) {
  return call<Nic>(NicHandle, [&](Provider& provider, Lock& lock, const Nic& nic) {
    fulmar::vipl::Address address;
    if (NameLen == nullptr || !fulmar::vipl::read_address(Address, address))
      return VIP_INVALID_PARAMETER;
    const auto nodes = fulmar::vipl::nodes_of_job();
    const bool is_node = std::ranges::find(nodes, address.node) != nodes.end();
    if (!nic.has_names || !is_node) return VIP_ERROR_NAMESERVICE;
    const std::string host = fulmar::vipl::host_of(provider, lock, nic, address.node);
    if (host.empty()) return VIP_ERROR_NAMESERVICE;
    const bool fits = Name != nullptr && host.size() < *NameLen;
    *NameLen = host.size() + 1;
    if (!fits) return VIP_ERROR_RESOURCE;
    std::memcpy(Name, host.c_str(), host.size() + 1);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipNSShutdown(VIP_NIC_HANDLE NicHandle) {
  return call<Nic>(NicHandle, [](const Provider&, const Lock&, Nic& nic) {
    if (!nic.has_names) return VIP_ERROR_NAMESERVICE;
    nic.has_names = false;
    return VIP_SUCCESS;
  });
}
