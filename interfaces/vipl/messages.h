// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>

#include "vipl/provider.h"

/// Messages between the providers of two processes, and what they have to do with each other besides.
namespace fulmar::vipl {

/// What is known of the process with this number; made with the first question.
[[nodiscard]] Peer& peer_of(Provider& provider, std::uint32_t node);
/// Has the manager send the message, as soon as the process has a NIC that is open. In order.
void post(Provider& provider, std::uint32_t node, const wire::ViplMessage& message);
/// A message of this VI to its other end.
[[nodiscard]] wire::ViplMessage message_of(const Provider& provider, const Vi& vi,
                                           wire::ViplKind kind);
/// Something for the process was written to one of its segments; `is_urgent`: it sleeps, if it is on another host.
enum class Urgency : std::uint8_t { can_wait, wakes };
void ring(const Peer& peer, Urgency urgency) noexcept;

/// A message has come: nothing of it has been checked.
void on_message(Provider& provider, std::span<const std::byte> bytes);

/// What the manager does for peers, with the lock, which is given up meanwhile. Returns when to do it next.
[[nodiscard]] Clock::time_point work_on_peers(Provider& provider, Lock& lock);
/// Removes what there is of peers. The manager has ended.
void remove_peers(Provider& provider);

}  // namespace fulmar::vipl
