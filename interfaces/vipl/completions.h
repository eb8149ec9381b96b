// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "vipl/provider.h"

/// What happens to descriptors that are done.
namespace fulmar::vipl {

/// One more of the queue is done: its completion queue has it, or who waits for notification.
void completed(Provider& provider, Vi& vi, bool is_receive);
/// Gives a descriptor back: the oldest of the queue, if it is done.
[[nodiscard]] VIP_RETURN take_send(Vi& vi, VIP_DESCRIPTOR*& descriptor);
[[nodiscard]] VIP_RETURN take_receive(Vi& vi, VIP_DESCRIPTOR*& descriptor);
/// Looks at what the other end has done, and goes on.
void poll(Provider& provider, Vi& vi);
void poll(Provider& provider, const Cq& cq);
/// Has the handlers called that wait for what is done.
void serve_notifications(Provider& provider, Vi& vi);
void serve_notifications(Provider& provider, Cq& cq);

}  // namespace fulmar::vipl
