// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// VipCreateVi to VipSetViAttributes, and protection tags.
#include "vipl/api.h"
#include "vipl/call.h"
#include "vipl/connections.h"
#include "vipl/descriptors.h"

namespace fulmar::vipl {
namespace {

VIP_RETURN check_attributes(Provider& provider, const Nic& nic,
                            const VIP_VI_ATTRIBUTES& attributes) noexcept {
  const VIP_RELIABILITY_LEVEL level = attributes.ReliabilityLevel;
  const bool is_level = level == VIP_SERVICE_UNRELIABLE || level == VIP_SERVICE_RELIABLE_DELIVERY ||
                        level == VIP_SERVICE_RELIABLE_RECEPTION;
  if (!is_level) return VIP_INVALID_RELIABILITY_LEVEL;
  if (attributes.MaxTransferSize == 0 || attributes.MaxTransferSize > most_transfer_bytes)
    return VIP_INVALID_MTU;
  if (attributes.QoS != nullptr) return VIP_INVALID_QOS;
  if (find_ptag(provider, nic, attributes.Ptag) == nullptr) return VIP_INVALID_PTAG;
  const bool reads = attributes.EnableRdmaRead != VIP_FALSE;
  return reads && level == VIP_SERVICE_UNRELIABLE ? VIP_INVALID_RDMAREAD : VIP_SUCCESS;
}

void set_attributes(Provider& provider, Vi& vi, const VIP_VI_ATTRIBUTES& attributes) noexcept {
  if (Ptag* const before = provider.ptags.find(vi.ptag); before != nullptr) --before->uses;
  Ptag* const ptag = provider.ptags.find(attributes.Ptag);
  ++ptag->uses;
  vi.ptag = ptag->handle;
  vi.attributes = attributes;
}

/// A completion queue of this NIC, or none. False: it is another thing.
bool find_cq(Provider& provider, const Nic& nic, VIP_CQ_HANDLE handle, Cq*& cq) noexcept {
  cq = handle == nullptr ? nullptr : provider.cqs.find(handle);
  return handle == nullptr || (cq != nullptr && cq->nic == nic.handle);
}

VIP_RETURN create(Provider& provider, const Nic& nic, const VIP_VI_ATTRIBUTES& attributes,
                  Cq* send_cq, Cq* receive_cq, VIP_VI_HANDLE& handle) {
  Vi* const vi = provider.vis.add(std::make_unique<Vi>());
  if (vi == nullptr) return VIP_ERROR_RESOURCE;
  vi->nic = nic.handle;
  vi->send_cq = send_cq;
  vi->receive_cq = receive_cq;
  if (send_cq != nullptr) ++send_cq->uses;
  if (receive_cq != nullptr) ++receive_cq->uses;
  set_attributes(provider, *vi, attributes);
  handle = pointer_of(vi->handle);
  return VIP_SUCCESS;
}

}  // namespace

void remove(Provider& provider, Vi& vi) {
  if (vi.state != VIP_STATE_IDLE) disconnect(provider, vi);
  for (const auto& work : vi.sends) release(work->pieces);
  for (ReceiveWork& work : vi.receives) release(work.pieces);
  if (vi.send_cq != nullptr) --vi.send_cq->uses;
  if (vi.receive_cq != nullptr) --vi.receive_cq->uses;
  if (Ptag* const ptag = provider.ptags.find(vi.ptag); ptag != nullptr) --ptag->uses;
  provider.vis.remove(vi);
}

}  // namespace fulmar::vipl

using fulmar::vipl::call;
using fulmar::vipl::Lock;
using fulmar::vipl::Nic;
using fulmar::vipl::Provider;
using fulmar::vipl::Ptag;
using fulmar::vipl::Vi;

VIP_RETURN VipCreateVi(VIP_NIC_HANDLE NicHandle, VIP_VI_ATTRIBUTES* ViAttribs,
                       VIP_CQ_HANDLE SendCQHandle, VIP_CQ_HANDLE RecvCQHandle,
                       VIP_VI_HANDLE* ViHandle) {
  return call<Nic>(NicHandle, [&](Provider& provider, const Lock&, const Nic& nic) {
    fulmar::vipl::Cq* send_cq = nullptr;
    fulmar::vipl::Cq* receive_cq = nullptr;
    const bool has_queues = fulmar::vipl::find_cq(provider, nic, SendCQHandle, send_cq) &&
                            fulmar::vipl::find_cq(provider, nic, RecvCQHandle, receive_cq);
    if (ViAttribs == nullptr || ViHandle == nullptr || !has_queues) return VIP_INVALID_PARAMETER;
    const VIP_RETURN status = fulmar::vipl::check_attributes(provider, nic, *ViAttribs);
    if (status != VIP_SUCCESS) return status;
    return fulmar::vipl::create(provider, nic, *ViAttribs, send_cq, receive_cq, *ViHandle);
  });
}

VIP_RETURN VipDestroyVi(VIP_VI_HANDLE ViHandle) {
  return call<Vi>(ViHandle, [&](Provider& provider, const Lock&, Vi& vi) {
    if (vi.state != VIP_STATE_IDLE) return VIP_INVALID_STATE;
    if (!vi.sends.empty() || !vi.receives.empty()) return VIP_ERROR_RESOURCE;
    remove(provider, vi);
    notify(provider);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipQueryVi(VIP_VI_HANDLE ViHandle, VIP_VI_STATE* State, VIP_VI_ATTRIBUTES* ViAttribs,
                      VIP_BOOLEAN* ViSendQEmpty, VIP_BOOLEAN* ViRecvQEmpty) {
  return call<Vi>(ViHandle, [&](const Provider&, const Lock&, const Vi& vi) {
    if (State != nullptr) *State = vi.state;
    if (ViAttribs != nullptr) *ViAttribs = vi.attributes;
    if (ViSendQEmpty != nullptr) *ViSendQEmpty = vi.sends.empty() ? VIP_TRUE : VIP_FALSE;
    if (ViRecvQEmpty != nullptr) *ViRecvQEmpty = vi.receives.empty() ? VIP_TRUE : VIP_FALSE;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipSetViAttributes(VIP_VI_HANDLE ViHandle, VIP_VI_ATTRIBUTES* ViAttribs) {
  return call<Vi>(ViHandle, [&](Provider& provider, const Lock&, Vi& vi) {
    if (ViAttribs == nullptr) return VIP_INVALID_PARAMETER;
    if (vi.state != VIP_STATE_IDLE) return VIP_INVALID_STATE;
    const Nic& nic = *provider.nics.find(vi.nic);
    const VIP_RETURN status = fulmar::vipl::check_attributes(provider, nic, *ViAttribs);
    if (status == VIP_SUCCESS) fulmar::vipl::set_attributes(provider, vi, *ViAttribs);
    return status;
  });
}

VIP_RETURN VipCreatePtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE* Ptag) {
  return call<Nic>(NicHandle, [&](Provider& provider, const Lock&, const Nic& nic) {
    if (Ptag == nullptr) return VIP_INVALID_PARAMETER;
    auto* const made = provider.ptags.add(std::make_unique<fulmar::vipl::Ptag>());
    if (made == nullptr) return VIP_ERROR_RESOURCE;
    made->nic = nic.handle;
    *Ptag = fulmar::vipl::pointer_of(made->handle);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipDestroyPtag(VIP_NIC_HANDLE NicHandle, VIP_PROTECTION_HANDLE Ptag) {
  return call<Nic>(NicHandle, [&](Provider& provider, const Lock&, const Nic& nic) {
    auto* const found = find_ptag(provider, nic, Ptag);
    if (found == nullptr) return VIP_INVALID_PTAG;
    if (found->uses != 0) return VIP_ERROR_RESOURCE;
    provider.ptags.remove(*found);
    return VIP_SUCCESS;
  });
}
