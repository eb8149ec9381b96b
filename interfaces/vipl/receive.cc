// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "vipl/receive.h"

#include <cstring>

#include "vipl/completions.h"
#include "vipl/connections.h"
#include "vipl/descriptors.h"
#include "vipl/messages.h"
#include "vipl/put_entry.h"

namespace fulmar::vipl {
namespace {

/// What the other end is to know of a piece. With a shadow, where that is the way to it.
wire::ViplTarget target_of(Provider& provider, const Vi& vi, const Piece& piece) {
  Region& region = *piece.region;
  const bool is_near = vi.link->base != nullptr;
  if (is_near && provider.registration == Registration::automatic && !region.is_allocated) {
    (void)share(provider, region);
  }
  return {region.shared.number, region.direct.number, piece.offset,
          static_cast<std::uint32_t>(piece.bytes), region.is_allocated ? wire::vipl_allocated : 0};
}

void give(Provider& provider, Vi& vi, const ReceiveWork& work) {
  wire::ViplPush& entry = provider.scratch;
  entry.head = {++vi.given, 0, static_cast<std::uint32_t>(work.pieces.size()), 0};
  for (std::size_t i = 0; i < work.pieces.size(); ++i)
    entry.targets[i] = target_of(provider, vi, work.pieces[i]);
  entry.head.check = vipl_check_of(entry);
  const std::size_t index = (vi.given - 1) % wire::vipl_window;
  put(vi, offsetof(wire::ViplArea, pushes) + index * sizeof entry, &entry,
      sizeof entry.head + work.pieces.size() * sizeof(wire::ViplTarget));
  ++provider.counters.Pushed;
  ++vi.receives_given;
}

/// A receive descriptor is done.
void finish(Provider& provider, Vi& vi, ReceiveWork& work, std::uint32_t status,
            std::uint64_t bytes) {
  release(work.pieces);
  ++vi.receives_done;
  set_done(*work.descriptor, status, bytes);
  completed(provider, vi, true);
}

void take(Provider& provider, Vi& vi, const wire::ViplCompletion& entry) {
  ReceiveWork& work = vi.receives[vi.receives_done];
  --vi.receives_given;
  ++vi.received;
  const bool is_write = (entry.flags & wire::vipl_remote_write) != 0;
  std::uint32_t status = entry.status;
  if (!is_write && entry.length > work.bytes) status |= VIP_STATUS_LENGTH_ERROR;
  const bool has_data = status == 0 && !is_write;
  if (has_data && (entry.flags & wire::vipl_in_shadow) != 0)
    copy_from_shadows(provider, work.pieces, entry.length);
  const std::uint32_t errors = status;
  status |= is_write ? VIP_STATUS_OP_REMOTE_RDMA_WRITE : VIP_STATUS_OP_RECEIVE;
  if ((entry.flags & wire::vipl_has_immediate) != 0) {
    work.descriptor->CS.ImmediateData = entry.immediate;
    status |= VIP_STATUS_IMMEDIATE;
  }
  if (errors == 0) {
    ++provider.counters.Receives;
    provider.counters.Bytes += entry.length;
  }
  finish(provider, vi, work, status, errors == 0 ? entry.length : 0);
  if (errors != 0 && vi.attributes.ReliabilityLevel != VIP_SERVICE_UNRELIABLE) {
    break_off(provider, vi, VIP_ERROR_COMP_PROT);
  }
}

}  // namespace

void give_receives(Provider& provider, Vi& vi) {
  bool has_given = false;
  for (;;) {
    const std::size_t next = vi.receives_done + vi.receives_given;
    if (next >= vi.receives.size()) break;
    ReceiveWork& work = vi.receives[next];
    if (work.errors != 0) {
      // In its turn.
      if (vi.receives_given != 0) break;
      end_receive(provider, vi, work, work.errors);
      continue;
    }
    if (vi.state != VIP_STATE_CONNECTED || vi.given >= vi.received + wire::vipl_window) break;
    give(provider, vi, work);
    has_given = true;
  }
  if (!has_given) return;
  ring(*vi.peer, vi.was_asked ? Urgency::wakes : Urgency::can_wait);
  vi.was_asked = false;
}

void poll_receives(Provider& provider, Vi& vi) {
  if (vi.state != VIP_STATE_CONNECTED) return;
  bool has_taken = false;
  while (vi.state == VIP_STATE_CONNECTED && vi.receives_given != 0) {
    const std::uint64_t number = vi.received + 1;
    const auto entry =
        wire::read_vipl_completion(vi.area->completions[(number - 1) % wire::vipl_window], number);
    if (!entry) break;
    take(provider, vi, *entry);
    has_taken = true;
  }
  if (has_taken) give_receives(provider, vi);
}

void flush_receives(Provider& provider, Vi& vi) {
  vi.receives_given = 0;
  while (vi.receives_done < vi.receives.size()) {
    ReceiveWork& work = vi.receives[vi.receives_done];
    end_receive(provider, vi, work, work.errors != 0 ? work.errors : VIP_STATUS_DESC_FLUSHED_ERROR);
  }
}

void end_receive(Provider& provider, Vi& vi, ReceiveWork& work, std::uint32_t status) {
  finish(provider, vi, work, status | VIP_STATUS_OP_RECEIVE, 0);
}

void on_ask(Provider& provider, Vi& vi, const wire::ViplMessage& message) {
  if (vi.state != VIP_STATE_CONNECTED || message.from != vi.other) return;
  poll_receives(provider, vi);
  if (vi.state != VIP_STATE_CONNECTED || message.number != vi.received + 1 + vi.receives_given) {
    // It was given one meanwhile, and may sleep.
    vi.was_asked = true;
    ring(*vi.peer, Urgency::wakes);
    return;
  }
  wire::ViplMessage reply = message_of(provider, vi, wire::ViplKind::empty);
  reply.number = message.number;
  post(provider, vi.node, reply);
  if (vi.attributes.ReliabilityLevel == VIP_SERVICE_UNRELIABLE) return;
  break_off(provider, vi, VIP_ERROR_RECVQ_EMPTY);
}

}  // namespace fulmar::vipl
