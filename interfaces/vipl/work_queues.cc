// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// VipPostSend to VipRecvNotify.
#include <cstdint>
#include <memory>
#include <utility>

#include "vipl/api.h"
#include "vipl/call.h"
#include "vipl/completions.h"
#include "vipl/descriptors.h"
#include "vipl/receive.h"
#include "vipl/send.h"

namespace fulmar::vipl {
namespace {

/// Whether the descriptor may be posted: VIP_SUCCESS, or what is wrong.
VIP_RETURN check_post(Provider& provider, const Vi& vi, const VIP_DESCRIPTOR* descriptor,
                      VIP_MEM_HANDLE memory, std::size_t posted) {
  if (descriptor == nullptr ||
      reinterpret_cast<std::uintptr_t>(descriptor) % VIP_DESCRIPTOR_ALIGNMENT != 0) {
    return VIP_INVALID_PARAMETER;
  }
  if (!is_registered(provider, vi, descriptor, memory)) {
    report(provider, vi, VIP_ERROR_POST_DESC);
    return VIP_INVALID_PARAMETER;
  }
  return posted >= most_descriptors ? VIP_ERROR_RESOURCE : VIP_SUCCESS;
}

/// One that was used before, as new.
std::unique_ptr<SendWork> take_work(Vi& vi) {
  if (vi.spare_sends.empty()) return std::make_unique<SendWork>();
  std::unique_ptr<SendWork> work = std::move(vi.spare_sends.back());
  vi.spare_sends.pop_back();
  auto pieces = std::move(work->pieces);
  *work = {};
  work->pieces = std::move(pieces);
  return work;
}

VIP_RETURN post_send(Provider& provider, Vi& vi, VIP_DESCRIPTOR* descriptor,
                     VIP_MEM_HANDLE memory) {
  const VIP_RETURN status = check_post(provider, vi, descriptor, memory, vi.sends.size());
  if (status != VIP_SUCCESS) return status;
  std::unique_ptr<SendWork> work = take_work(vi);
  work->vi = &vi;
  work->descriptor = descriptor;
  clear_status(*descriptor);
  work->status = read(provider, vi, *work);
  vi.sends.push_back(std::move(work));
  advance(provider, vi);
  const bool is_blocked = vi.sends_started < vi.sends.size();
  if (is_blocked && !provider.is_manager_listening) wake_manager(provider);
  return VIP_SUCCESS;
}

VIP_RETURN post_receive(Provider& provider, Vi& vi, VIP_DESCRIPTOR* descriptor,
                        VIP_MEM_HANDLE memory) {
  const VIP_RETURN status = check_post(provider, vi, descriptor, memory, vi.receives.size());
  if (status != VIP_SUCCESS) return status;
  ReceiveWork& work = vi.receives.emplace_back();
  work.descriptor = descriptor;
  clear_status(*descriptor);
  work.errors = read(provider, vi, work);
  if (vi.state == VIP_STATE_ERROR) {
    flush_receives(provider, vi);
  } else {
    give_receives(provider, vi);
  }
  return VIP_SUCCESS;
}

/// VipSendWait and VipRecvWait.
template <class Take>
VIP_RETURN await_descriptor(Provider& provider, Lock& lock, Vi& vi, VIP_ULONG timeout,
                            Take&& take) {
  VIP_RETURN result = VIP_NOT_DONE;
  const VIP_RETURN status = wait_for(provider, lock, vi, timeout, [&](Vi& each) {
    poll(provider, each);
    result = take(each);
    return result != VIP_NOT_DONE;
  });
  return status == VIP_SUCCESS ? result : status;
}

}  // namespace
}  // namespace fulmar::vipl

using fulmar::vipl::call;
using fulmar::vipl::Lock;
using fulmar::vipl::Provider;
using fulmar::vipl::Vi;

VIP_RETURN VipPostSend(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR* DescriptorPtr,
                       VIP_MEM_HANDLE MemoryHandle) {
  return call<Vi>(ViHandle, [&](Provider& provider, const Lock&, Vi& vi) {
    return fulmar::vipl::post_send(provider, vi, DescriptorPtr, MemoryHandle);
  });
}

VIP_RETURN VipSendDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr) {
  return call<Vi>(ViHandle, [&](Provider& provider, Lock& lock, Vi& vi) {
    if (DescriptorPtr == nullptr) return VIP_INVALID_PARAMETER;
    poll(provider, vi);
    const VIP_RETURN result = take_send(vi, *DescriptorPtr);
    if (result == VIP_NOT_DONE) give_way(provider, lock);
    return result;
  });
}

VIP_RETURN VipSendWait(VIP_VI_HANDLE ViHandle, VIP_ULONG Timeout, VIP_DESCRIPTOR** DescriptorPtr) {
  return call<Vi>(ViHandle, [&](Provider& provider, Lock& lock, Vi& vi) {
    if (DescriptorPtr == nullptr || vi.send_cq != nullptr) return VIP_INVALID_PARAMETER;
    *DescriptorPtr = nullptr;
    return fulmar::vipl::await_descriptor(
        provider, lock, vi, Timeout, [&](Vi& each) { return take_send(each, *DescriptorPtr); });
  });
}

VIP_RETURN VipSendNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context, VIP_VI_CALLBACK Handler) {
  return call<Vi>(ViHandle, [&](Provider& provider, const Lock&, Vi& vi) {
    if (Handler == nullptr || vi.send_cq != nullptr) return VIP_INVALID_PARAMETER;
    vi.send_notifications.push_back({Handler, Context});
    poll(provider, vi);
    serve_notifications(provider, vi);
    wake_manager(provider);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipPostRecv(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR* DescriptorPtr,
                       VIP_MEM_HANDLE MemoryHandle) {
  return call<Vi>(ViHandle, [&](Provider& provider, const Lock&, Vi& vi) {
    return fulmar::vipl::post_receive(provider, vi, DescriptorPtr, MemoryHandle);
  });
}

VIP_RETURN VipRecvDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR** DescriptorPtr) {
  return call<Vi>(ViHandle, [&](Provider& provider, Lock& lock, Vi& vi) {
    if (DescriptorPtr == nullptr) return VIP_INVALID_PARAMETER;
    poll(provider, vi);
    const VIP_RETURN result = take_receive(vi, *DescriptorPtr);
    if (result == VIP_NOT_DONE) give_way(provider, lock);
    return result;
  });
}

VIP_RETURN VipRecvWait(VIP_VI_HANDLE ViHandle, VIP_ULONG Timeout, VIP_DESCRIPTOR** DescriptorPtr) {
  return call<Vi>(ViHandle, [&](Provider& provider, Lock& lock, Vi& vi) {
    if (DescriptorPtr == nullptr || vi.receive_cq != nullptr) return VIP_INVALID_PARAMETER;
    *DescriptorPtr = nullptr;
    return fulmar::vipl::await_descriptor(
        provider, lock, vi, Timeout, [&](Vi& each) { return take_receive(each, *DescriptorPtr); });
  });
}

VIP_RETURN VipRecvNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context, VIP_VI_CALLBACK Handler) {
  return call<Vi>(ViHandle, [&](Provider& provider, const Lock&, Vi& vi) {
    if (Handler == nullptr || vi.receive_cq != nullptr) return VIP_INVALID_PARAMETER;
    vi.receive_notifications.push_back({Handler, Context});
    poll(provider, vi);
    serve_notifications(provider, vi);
    wake_manager(provider);
    return VIP_SUCCESS;
  });
}
