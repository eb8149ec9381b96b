// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// VipCreateCQ to VipCQNotify.
#include "vipl/api.h"
#include "vipl/call.h"
#include "vipl/completions.h"

namespace fulmar::vipl {
namespace {

VIP_RETURN check_entries(VIP_ULONG entries) noexcept {
  if (entries == 0) return VIP_INVALID_PARAMETER;
  return entries > most_cq_entries ? VIP_ERROR_RESOURCE : VIP_SUCCESS;
}

/// Takes the oldest completion; false: there is none.
bool take(Provider& provider, Cq& cq, Cq::Entry& entry) {
  if (cq.done.empty()) poll(provider, cq);
  if (cq.done.empty()) return false;
  entry = cq.done.front();
  cq.done.pop_front();
  return true;
}

void give(const Cq::Entry& entry, VIP_VI_HANDLE& vi, VIP_BOOLEAN& is_receive) noexcept {
  vi = pointer_of(entry.vi);
  is_receive = entry.is_receive ? VIP_TRUE : VIP_FALSE;
}

}  // namespace
}  // namespace fulmar::vipl

using fulmar::vipl::call;
using fulmar::vipl::Cq;
using fulmar::vipl::Lock;
using fulmar::vipl::Nic;
using fulmar::vipl::Provider;

VIP_RETURN VipCreateCQ(VIP_NIC_HANDLE NicHandle, VIP_ULONG EntryCount, VIP_CQ_HANDLE* CQHandle) {
  return call<Nic>(NicHandle, [&](Provider& provider, const Lock&, const Nic& nic) {
    if (CQHandle == nullptr) return VIP_INVALID_PARAMETER;
    if (const VIP_RETURN status = fulmar::vipl::check_entries(EntryCount); status != VIP_SUCCESS)
      return status;
    Cq* const cq = provider.cqs.add(std::make_unique<Cq>());
    if (cq == nullptr) return VIP_ERROR_RESOURCE;
    cq->nic = nic.handle;
    cq->entries = EntryCount;
    *CQHandle = fulmar::vipl::pointer_of(cq->handle);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE CQHandle) {
  return call<Cq>(CQHandle, [&](Provider& provider, const Lock&, Cq& cq) {
    if (cq.uses != 0) return VIP_ERROR_RESOURCE;
    provider.cqs.remove(cq);
    notify(provider);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipResizeCQ(VIP_CQ_HANDLE CQHandle, VIP_ULONG EntryCount) {
  return call<Cq>(CQHandle, [&](const Provider&, const Lock&, Cq& cq) {
    if (const VIP_RETURN status = fulmar::vipl::check_entries(EntryCount); status != VIP_SUCCESS)
      return status;
    if (cq.done.size() > EntryCount) return VIP_ERROR_RESOURCE;
    cq.entries = EntryCount;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipCQDone(VIP_CQ_HANDLE CQHandle, VIP_VI_HANDLE* ViHandle, VIP_BOOLEAN* RecvQueue) {
  return call<Cq>(CQHandle, [&](Provider& provider, Lock& lock, Cq& cq) {
    if (ViHandle == nullptr || RecvQueue == nullptr) return VIP_INVALID_PARAMETER;
    Cq::Entry entry{};
    if (!fulmar::vipl::take(provider, cq, entry)) {
      give_way(provider, lock);
      return VIP_NOT_DONE;
    }
    fulmar::vipl::give(entry, *ViHandle, *RecvQueue);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipCQWait(VIP_CQ_HANDLE CQHandle, VIP_ULONG Timeout, VIP_VI_HANDLE* ViHandle,
                     VIP_BOOLEAN* RecvQueue) {
  return call<Cq>(CQHandle, [&](Provider& provider, Lock& lock, Cq& cq) {
    if (ViHandle == nullptr || RecvQueue == nullptr) return VIP_INVALID_PARAMETER;
    Cq::Entry entry{};
    const VIP_RETURN status = wait_for(provider, lock, cq, Timeout, [&](Cq& each) {
      return fulmar::vipl::take(provider, each, entry);
    });
    if (status == VIP_SUCCESS) fulmar::vipl::give(entry, *ViHandle, *RecvQueue);
    return status;
  });
}

VIP_RETURN VipCQNotify(VIP_CQ_HANDLE CQHandle, VIP_PVOID Context, VIP_CQ_CALLBACK Handler) {
  return call<Cq>(CQHandle, [&](Provider& provider, const Lock&, Cq& cq) {
    if (Handler == nullptr) return VIP_INVALID_PARAMETER;
    cq.notifications.push_back({Handler, Context});
    poll(provider, cq);
    serve_notifications(provider, cq);
    wake_manager(provider);
    return VIP_SUCCESS;
  });
}
