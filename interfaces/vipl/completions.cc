// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "vipl/completions.h"

#include <utility>

#include "vipl/receive.h"
#include "vipl/send.h"

namespace fulmar::vipl {
namespace {

VIP_RETURN outcome_of(const VIP_DESCRIPTOR& descriptor) noexcept {
  return (descriptor.CS.Status & VIP_STATUS_ERROR_MASK) == 0 ? VIP_SUCCESS : VIP_DESCRIPTOR_ERROR;
}

void hand_over(Provider& provider, const Vi& vi, Notification<VIP_VI_CALLBACK> notification,
               VIP_DESCRIPTOR* descriptor) {
  call_later(provider, vi.nic, [notification, nic = vi.nic, handle = vi.handle, descriptor] {
    notification.handler(notification.context, pointer_of(nic), pointer_of(handle), descriptor);
  });
}

}  // namespace

void completed(Provider& provider, Vi& vi, bool is_receive) {
  Cq* const cq = is_receive ? vi.receive_cq : vi.send_cq;
  if (cq != nullptr) {
    cq->done.push_back({vi.handle, is_receive});
    serve_notifications(provider, *cq);
  } else {
    serve_notifications(provider, vi);
  }
}

VIP_RETURN take_send(Vi& vi, VIP_DESCRIPTOR*& descriptor) {
  descriptor = nullptr;
  if (vi.sends_done == 0) return VIP_NOT_DONE;
  std::unique_ptr<SendWork> work = std::move(vi.sends.front());
  vi.sends.pop_front();
  --vi.sends_done;
  --vi.sends_started;
  descriptor = work->descriptor;
  vi.spare_sends.push_back(std::move(work));
  return outcome_of(*descriptor);
}

VIP_RETURN take_receive(Vi& vi, VIP_DESCRIPTOR*& descriptor) {
  descriptor = nullptr;
  if (vi.receives_done == 0) return VIP_NOT_DONE;
  descriptor = vi.receives.front().descriptor;
  vi.receives.pop_front();
  --vi.receives_done;
  return outcome_of(*descriptor);
}

void poll(Provider& provider, Vi& vi) {
  poll_receives(provider, vi);
  advance(provider, vi);
}

void poll(Provider& provider, const Cq& cq) {
  provider.vis.for_each([&](Vi& vi) {
    if (vi.receive_cq == &cq || vi.send_cq == &cq) poll(provider, vi);
  });
}

void serve_notifications(Provider& provider, Vi& vi) {
  VIP_DESCRIPTOR* descriptor = nullptr;
  while (!vi.receive_notifications.empty() && take_receive(vi, descriptor) != VIP_NOT_DONE) {
    hand_over(provider, vi, vi.receive_notifications.front(), descriptor);
    vi.receive_notifications.pop_front();
  }
  while (!vi.send_notifications.empty() && take_send(vi, descriptor) != VIP_NOT_DONE) {
    hand_over(provider, vi, vi.send_notifications.front(), descriptor);
    vi.send_notifications.pop_front();
  }
}

void serve_notifications(Provider& provider, Cq& cq) {
  while (!cq.notifications.empty() && !cq.done.empty()) {
    const Cq::Entry entry = cq.done.front();
    cq.done.pop_front();
    call_later(provider, cq.nic, [notification = cq.notifications.front(), nic = cq.nic, entry] {
      notification.handler(notification.context, pointer_of(nic), pointer_of(entry.vi),
                           entry.is_receive ? VIP_TRUE : VIP_FALSE);
    });
    cq.notifications.pop_front();
  }
}

}  // namespace fulmar::vipl
