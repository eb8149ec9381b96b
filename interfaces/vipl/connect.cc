// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// VipConnectWait to VipConnectPeerWait.
#include <algorithm>
#include <cstring>

#include "vipl/api.h"
#include "vipl/call.h"
#include "vipl/connections.h"

namespace fulmar::vipl {

bool read_address(const VIP_NET_ADDRESS* address, Address& result) {
  if (address == nullptr || address->HostAddressLen != VIP_HOST_ADDRESS_BYTES ||
      address->DiscriminatorLen > wire::vipl_most_discriminator_bytes) {
    return false;
  }
  const VIP_UINT8* const bytes = &address->HostAddress[0];
  result.node = std::uint32_t{bytes[2]} << 24 | std::uint32_t{bytes[3]} << 16 |
                std::uint32_t{bytes[4]} << 8 | bytes[5];
  const auto* const begin = reinterpret_cast<const std::byte*>(bytes + VIP_HOST_ADDRESS_BYTES);
  result.discriminator.assign(begin, begin + address->DiscriminatorLen);
  return bytes[0] == 0x02 && bytes[1] == 0x46;
}

void write_address(const Address& address, VIP_NET_ADDRESS& result) noexcept {
  result.HostAddressLen = VIP_HOST_ADDRESS_BYTES;
  result.DiscriminatorLen = static_cast<VIP_UINT16>(address.discriminator.size());
  VIP_UINT8* const bytes = &result.HostAddress[0];
  const std::array<VIP_UINT8, VIP_HOST_ADDRESS_BYTES> host = {
      0x02,
      0x46,
      static_cast<VIP_UINT8>(address.node >> 24),
      static_cast<VIP_UINT8>(address.node >> 16),
      static_cast<VIP_UINT8>(address.node >> 8),
      static_cast<VIP_UINT8>(address.node)};
  std::memcpy(bytes, host.data(), host.size());
  std::memcpy(bytes + host.size(), address.discriminator.data(), address.discriminator.size());
}

namespace {

/// Takes the oldest request to this discriminator.
Arrived* take_request(Provider& provider, const Nic& nic, const Address& local) {
  const auto place = std::ranges::find_if(provider.arrived, [&](const wire::ViplMessage& each) {
    return each.kind == wire::ViplKind::request &&
           receiver_of(provider, each).discriminator == local.discriminator;
  });
  if (place == provider.arrived.end()) return nullptr;
  auto made = std::make_unique<Arrived>();
  made->nic = nic.handle;
  made->message = *place;
  Arrived* const taken = provider.connections.add(std::move(made));
  if (taken != nullptr) provider.arrived.erase(place);
  return taken;
}

/// What a server has to say to a request.
void answer(Provider& provider, const wire::ViplMessage& request, wire::ViplKind kind) {
  wire::ViplMessage message{};
  message.kind = kind;
  message.to = request.from;
  post(provider, request.node, message);
}

/// A request with an end.
Attempt attempt_of(Attempt::Kind kind, Address local, Address remote, VIP_ULONG timeout) {
  Attempt attempt;
  attempt.kind = kind;
  attempt.local = std::move(local);
  attempt.remote = std::move(remote);
  const Deadline deadline(timeout);
  attempt.has_end = !deadline.is_infinite();
  attempt.end = deadline.end();
  return attempt;
}

VIP_RETURN accept(Provider& provider, Lock& lock, Arrived& taken, Vi& vi) {
  const wire::ViplMessage request = taken.message;
  if (vi.state != VIP_STATE_IDLE) return VIP_INVALID_STATE;
  if (taken.end == VIP_SUCCESS && request.reliability != vi.attributes.ReliabilityLevel) {
    return VIP_INVALID_RELIABILITY_LEVEL;
  }
  const VIP_RETURN end = taken.end;
  provider.connections.remove(taken);
  if (end != VIP_SUCCESS) return end;
  Attempt attempt = attempt_of(Attempt::Kind::server, receiver_of(provider, request),
                               sender_of(request), VIP_INFINITE);
  if (!begin(provider, vi, std::move(attempt))) return VIP_ERROR_RESOURCE;
  vi.other = request.from;
  ask(provider, vi, wire::ViplKind::accept);
  link_to(provider, vi, request);
  const VIP_RETURN status = wait_for(provider, lock, vi, VIP_INFINITE,
                                     [](const Vi& each) { return each.attempt.is_over; });
  return status == VIP_SUCCESS ? vi.attempt.result : status;
}

VIP_RETURN request(Provider& provider, Lock& lock, Vi& vi, Attempt attempt, VIP_ULONG timeout) {
  if (vi.state != VIP_STATE_IDLE) return VIP_INVALID_STATE;
  if (!begin(provider, vi, std::move(attempt))) return VIP_ERROR_RESOURCE;
  ask(provider, vi, wire::ViplKind::request);
  const VIP_RETURN status =
      wait_for(provider, lock, vi, timeout, [](const Vi& each) { return each.attempt.is_over; });
  if (status == VIP_INVALID_PARAMETER) return status;
  if (status == VIP_TIMEOUT) (void)expire(provider, vi);
  return vi.attempt.result;
}

/// How a peer's request has ended, which is told once.
VIP_RETURN end_of_attempt(Vi& vi, VIP_VI_ATTRIBUTES* attributes) {
  const VIP_RETURN result = vi.attempt.result;
  vi.attempt.kind = Attempt::Kind::none;
  if (result == VIP_SUCCESS && attributes != nullptr) *attributes = vi.remote_attributes;
  return result;
}

}  // namespace
}  // namespace fulmar::vipl

using fulmar::vipl::Address;
using fulmar::vipl::Arrived;
using fulmar::vipl::Attempt;
using fulmar::vipl::call;
using fulmar::vipl::Lock;
using fulmar::vipl::Nic;
using fulmar::vipl::Provider;
using fulmar::vipl::Vi;

VIP_RETURN VipConnectWait(VIP_NIC_HANDLE NicHandle, VIP_NET_ADDRESS* LocalAddr, VIP_ULONG Timeout,
                          VIP_NET_ADDRESS* RemoteAddr, VIP_VI_ATTRIBUTES* RemoteViAttribs,
                          VIP_CONN_HANDLE* ConnHandle) {
  return call<Nic>(NicHandle, [&](Provider& provider, Lock& lock, Nic& nic) {
    Address local;
    if (ConnHandle == nullptr || !fulmar::vipl::read_address(LocalAddr, local))
      return VIP_INVALID_PARAMETER;
    const Arrived* taken = nullptr;
    const VIP_RETURN status = wait_for(provider, lock, nic, Timeout, [&](const Nic& each) {
      taken = fulmar::vipl::take_request(provider, each, local);
      return taken != nullptr;
    });
    if (status != VIP_SUCCESS) return status;
    fulmar::vipl::answer(provider, taken->message, fulmar::wire::ViplKind::matched);
    if (RemoteAddr != nullptr)
      fulmar::vipl::write_address(fulmar::vipl::sender_of(taken->message), *RemoteAddr);
    if (RemoteViAttribs != nullptr) *RemoteViAttribs = fulmar::vipl::attributes_of(taken->message);
    *ConnHandle = fulmar::vipl::pointer_of(taken->handle);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipConnectAccept(VIP_CONN_HANDLE ConnHandle, VIP_VI_HANDLE ViHandle) {
  return call<Arrived>(ConnHandle, [&](Provider& provider, Lock& lock, Arrived& taken) {
    Vi* const vi = provider.vis.find(ViHandle);
    if (vi == nullptr || vi->nic != taken.nic) return VIP_INVALID_PARAMETER;
    return fulmar::vipl::accept(provider, lock, taken, *vi);
  });
}

VIP_RETURN VipConnectReject(VIP_CONN_HANDLE ConnHandle) {
  return call<Arrived>(ConnHandle, [&](Provider& provider, const Lock&, Arrived& taken) {
    if (taken.end == VIP_SUCCESS)
      fulmar::vipl::answer(provider, taken.message, fulmar::wire::ViplKind::reject);
    provider.connections.remove(taken);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipConnectRequest(VIP_VI_HANDLE ViHandle, VIP_NET_ADDRESS* LocalAddr,
                             VIP_NET_ADDRESS* RemoteAddr, VIP_ULONG Timeout,
                             VIP_VI_ATTRIBUTES* RemoteViAttribs) {
  return call<Vi>(ViHandle, [&](Provider& provider, Lock& lock, Vi& vi) {
    Address local;
    Address remote;
    if (LocalAddr == nullptr || RemoteAddr == nullptr) return VIP_INVALID_PARAMETER;
    if (!fulmar::vipl::read_address(LocalAddr, local)) return VIP_INVALID_PARAMETER;
    if (!fulmar::vipl::read_address(RemoteAddr, remote)) return VIP_NOT_REACHABLE;
    Attempt attempt = fulmar::vipl::attempt_of(Attempt::Kind::client, local, remote, Timeout);
    const VIP_RETURN status =
        fulmar::vipl::request(provider, lock, vi, std::move(attempt), Timeout);
    if (status == VIP_SUCCESS && RemoteViAttribs != nullptr)
      *RemoteViAttribs = vi.remote_attributes;
    return status;
  });
}

VIP_RETURN VipDisconnect(VIP_VI_HANDLE ViHandle) {
  return call<Vi>(ViHandle, [&](Provider& provider, const Lock&, Vi& vi) {
    if (vi.state == VIP_STATE_IDLE) return VIP_INVALID_STATE;
    disconnect(provider, vi);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipConnectPeerRequest(VIP_VI_HANDLE ViHandle, VIP_NET_ADDRESS* LocalAddr,
                                 VIP_NET_ADDRESS* RemoteAddr, VIP_ULONG Timeout) {
  return call<Vi>(ViHandle, [&](Provider& provider, const Lock&, Vi& vi) {
    Address local;
    Address remote;
    if (LocalAddr == nullptr || RemoteAddr == nullptr) return VIP_INVALID_PARAMETER;
    if (!fulmar::vipl::read_address(LocalAddr, local)) return VIP_INVALID_PARAMETER;
    if (!fulmar::vipl::read_address(RemoteAddr, remote)) return VIP_NOT_REACHABLE;
    if (vi.state != VIP_STATE_IDLE) return VIP_INVALID_STATE;
    Attempt attempt = fulmar::vipl::attempt_of(Attempt::Kind::peer, local, remote, Timeout);
    if (!begin(provider, vi, std::move(attempt))) return VIP_ERROR_RESOURCE;
    ask(provider, vi, fulmar::wire::ViplKind::peer_request);
    match_peer(provider, vi);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipConnectPeerDone(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* RemoteViAttribs) {
  return call<Vi>(ViHandle, [&](Provider& provider, const Lock&, Vi& vi) {
    if (vi.attempt.kind != Attempt::Kind::peer) return VIP_INVALID_STATE;
    (void)expire(provider, vi);
    return vi.attempt.is_over ? fulmar::vipl::end_of_attempt(vi, RemoteViAttribs) : VIP_NOT_DONE;
  });
}

VIP_RETURN VipConnectPeerWait(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* RemoteViAttribs) {
  return call<Vi>(ViHandle, [&](Provider& provider, Lock& lock, Vi& vi) {
    if (vi.attempt.kind != Attempt::Kind::peer) return VIP_INVALID_STATE;
    const VIP_RETURN status = wait_for(provider, lock, vi, VIP_INFINITE, [](const Vi& each) {
      return each.attempt.is_over || each.attempt.kind != Attempt::Kind::peer;
    });
    if (status != VIP_SUCCESS) return status;
    if (vi.attempt.kind != Attempt::Kind::peer) return VIP_INVALID_STATE;
    return fulmar::vipl::end_of_attempt(vi, RemoteViAttribs);
  });
}
