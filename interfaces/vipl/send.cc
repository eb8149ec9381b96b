// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "vipl/send.h"

#include <algorithm>
#include <cstring>

#include "vipl/completions.h"
#include "vipl/connections.h"
#include "vipl/descriptors.h"
#include "vipl/messages.h"
#include "vipl/put_entry.h"
#include "vipl/rdma.h"
#include "vipl/segments.h"

namespace fulmar::vipl {
namespace {

using State = SendWork::State;

/// Descriptors of one VI that are under way at a time.
constexpr std::size_t most_moving = 32;

/// A block that moves by itself.
struct Transfer {
  Provider* provider;
  SendWork* work;
};

int on_transfer(void* argument, sci_block_transfer_t, sci_error_t status) {
  const std::unique_ptr<Transfer> transfer(static_cast<Transfer*>(argument));
  Provider& provider = *transfer->provider;
  const Lock lock = locked(provider);
  SendWork& work = *transfer->work;
  if (status != SCI_ERR_OK) work.status |= VIP_STATUS_TRANSPORT_ERROR | VIP_STATUS_PARTIAL_ERROR;
  if (--work.pending == 0) {
    advance(provider, *work.vi);
    notify(provider);
  }
  return 0;
}

void transfer(Provider& provider, SendWork& work, sci_map_t from, std::uint64_t from_offset,
              sci_map_t to, std::uint64_t to_offset, std::uint64_t bytes) {
  sci_block_transfer_t block = nullptr;
  sci_error_t error = SCI_ERR_OK;
  auto made = std::make_unique<Transfer>(Transfer{&provider, &work});
  ++work.pending;
  ++provider.counters.Transfers;
  SCITransferBlockAsync(from, from_offset, to, to_offset, bytes, &block, on_transfer, made.get(),
                        SCI_FLAG_USE_CALLBACK, &error);
  if (error == SCI_ERR_OK) {
    (void)made.release();  // its callback's
    return;
  }
  --work.pending;
  work.status |= VIP_STATUS_TRANSPORT_ERROR;
}

/// The map that is the source or the target of explicit transfers.
sci_map_t map_of(const Region& region) noexcept {
  return region.direct.map != nullptr ? region.direct.map : region.shared.map;
}
/// Whether such transfers go by way of the shadow.
bool has_shadow_only(const Region& region) noexcept {
  return !region.is_allocated && region.direct.map == nullptr;
}

bool is_reliable(const Vi& vi) noexcept {
  return vi.attributes.ReliabilityLevel != VIP_SERVICE_UNRELIABLE;
}

/// What the sender's descriptor has when the receiver's is the fault.
std::uint32_t remote_error(const Vi& vi) noexcept {
  if (!is_reliable(vi)) return 0;
  return vi.attributes.ReliabilityLevel == VIP_SERVICE_RELIABLE_RECEPTION
             ? VIP_STATUS_REMOTE_DESC_ERROR
             : VIP_STATUS_TRANSPORT_ERROR;
}

/// By which segments of the receiver a message goes: all its shadows, or all of its memory directly.
struct Way {
  bool is_possible = true;
  bool uses_shadow = false;
};
Way way_to(const Vi& vi, std::uint64_t bytes) noexcept {
  bool all_shared = true;
  bool all_direct = true;
  for (std::uint32_t i = 0; i < vi.push.head.targets; ++i) {
    const wire::ViplTarget& target = vi.push.targets[i];
    if ((target.flags & wire::vipl_allocated) != 0) continue;
    all_shared = all_shared && target.shared != 0;
    all_direct = all_direct && target.direct != 0;
  }
  const bool is_near = vi.link->base != nullptr;
  if (all_shared && (!all_direct || (is_near && bytes <= shadow_bytes))) return {true, true};
  return {all_direct, false};
}
std::uint32_t number_of(const wire::ViplTarget& target, Way way) noexcept {
  const bool is_shared = way.uses_shadow || (target.flags & wire::vipl_allocated) != 0;
  return is_shared ? target.shared : target.direct;
}

/// Whether all segments that the message goes to can be reached.
Start reach_targets(Provider& provider, const Vi& vi, const SendWork& work, Way way) {
  std::uint64_t left = work.bytes;
  Start start = Start::on;
  for (std::uint32_t i = 0; i < vi.push.head.targets && left != 0; ++i) {
    const wire::ViplTarget& target = vi.push.targets[i];
    const RemoteSegment& segment = reach(provider, vi.node, number_of(target, way));
    if (segment.state == RemoteSegment::State::failed) return Start::over;
    if (segment.state == RemoteSegment::State::connecting) start = Start::later;
    const bool is_inside =
        segment.state != RemoteSegment::State::ready ||
        (target.offset <= segment.bytes && target.length <= segment.bytes - target.offset);
    if (!is_inside) return Start::over;
    left -= std::min<std::uint64_t>(left, target.length);
  }
  return start;
}

/// Gathers and scatters: blocks that are contiguous on both sides.
void move_to_targets(Provider& provider, const Vi& vi, SendWork& work, Way way) {
  std::uint32_t index = 0;
  std::uint64_t done = 0;  // of the target
  for (const Piece& piece : work.pieces) {
    std::uint64_t moved = 0;
    while (moved != piece.bytes) {
      const wire::ViplTarget& target = vi.push.targets[index];
      const std::uint64_t bytes = std::min(piece.bytes - moved, target.length - done);
      if (bytes != 0) {
        RemoteSegment& segment = reach(provider, vi.node, number_of(target, way));
        move_out(provider, work, {piece.region, piece.offset + moved, bytes}, segment,
                 target.offset + done);
      }
      moved += bytes;
      done += bytes;
      if (done == target.length && moved != piece.bytes) {
        ++index;
        done = 0;
      }
    }
  }
}

std::uint64_t bytes_of(const wire::ViplPush& push) noexcept {
  std::uint64_t bytes = 0;
  for (std::uint32_t i = 0; i < push.head.targets; ++i) bytes += push.targets[i].length;
  return bytes;
}

Start start_message(Provider& provider, Vi& vi, SendWork& work) {
  if (const Start push = take_push(provider, vi, work); push != Start::on) return push;
  if (has_left(vi)) return Start::later;
  const Way way = way_to(vi, work.bytes);
  const bool fits = work.bytes <= bytes_of(vi.push);
  Start start = Start::over;
  if (fits && (way.is_possible || work.bytes == 0)) start = reach_targets(provider, vi, work, way);
  if (start == Start::later) return start;
  work.number = ++vi.sent;
  if (start == Start::over) {
    work.status |= fits ? VIP_STATUS_TRANSPORT_ERROR : remote_error(vi);
    work.remote_status = fits ? VIP_STATUS_TRANSPORT_ERROR : VIP_STATUS_LENGTH_ERROR;
    return start;
  }
  work.is_in_shadow = way.uses_shadow;
  move_to_targets(provider, vi, work, way);
  return Start::on;
}

/// Whether an RDMA read is under way.
bool has_read(const Vi& vi) noexcept {
  for (std::size_t i = vi.sends_done; i < vi.sends_started; ++i) {
    const SendWork& work = *vi.sends[i];
    if (work.operation == VIP_CONTROL_OP_RDMAREAD && work.state == State::moving) return true;
  }
  return false;
}

/// Whether the next one has started, or has ended.
bool start_next(Provider& provider, Vi& vi) {
  SendWork& work = *vi.sends[vi.sends_started];
  if (work.status != 0) {
    work.state = State::ended;
    return true;
  }
  if (work.has_fence && has_read(vi)) return false;
  const bool is_message = work.operation == VIP_CONTROL_OP_SENDRECV;
  const Start start =
      is_message ? start_message(provider, vi, work) : start_rdma(provider, vi, work);
  if (start == Start::later) return false;
  work.state = start == Start::on ? State::moving : State::ended;
  return true;
}

/// Tells the receiver of the descriptor that was consumed.
void publish(const Vi& vi, const SendWork& work) {
  const bool is_write = work.operation == VIP_CONTROL_OP_RDMAWRITE;
  wire::ViplCompletion entry{work.number,        0,
                             work.remote_status, static_cast<std::uint32_t>(work.bytes),
                             work.immediate,     0};
  if (work.status != 0 && work.remote_status == 0)
    entry.status = work.status & (VIP_STATUS_TRANSPORT_ERROR | VIP_STATUS_PARTIAL_ERROR);
  entry.flags = (work.is_in_shadow ? wire::vipl_in_shadow : 0) |
                (is_write ? wire::vipl_remote_write : 0) |
                (work.has_immediate ? wire::vipl_has_immediate : 0);
  entry.check = vipl_check_of(entry);
  put(vi,
      offsetof(wire::ViplArea, completions) + (work.number - 1) % wire::vipl_window * sizeof entry,
      &entry, sizeof entry);
  ring(*vi.peer, Urgency::wakes);
}

std::uint32_t operation_bits(const SendWork& work) noexcept {
  if (work.operation == VIP_CONTROL_OP_RDMAWRITE) return VIP_STATUS_OP_RDMA_WRITE;
  return work.operation == VIP_CONTROL_OP_RDMAREAD ? VIP_STATUS_OP_RDMA_READ : VIP_STATUS_OP_SEND;
}

/// The oldest one that is not done is over.
void finish(Provider& provider, Vi& vi, SendWork& work) {
  if (vi.state == VIP_STATE_CONNECTED && work.number != 0) publish(vi, work);
  if (vi.state != VIP_STATE_CONNECTED && work.status == 0) {
    work.status = VIP_STATUS_DESC_FLUSHED_ERROR | VIP_STATUS_PARTIAL_ERROR;
  }
  release(work.pieces);
  work.state = State::done;
  ++vi.sends_done;
  if (work.status == 0) {
    ++provider.counters.Sends;
    provider.counters.Bytes += work.bytes;
  }
  set_done(*work.descriptor, work.status | operation_bits(work), work.status == 0 ? work.bytes : 0);
  completed(provider, vi, false);
  const bool breaks = work.status != 0 && is_reliable(vi);
  VIP_ERROR_CODE code = VIP_ERROR_CONN_LOST;
  if (work.operation != VIP_CONTROL_OP_SENDRECV) code = VIP_ERROR_RDMA_TRANSPORT;
  if (breaks) break_off(provider, vi, code, &work);
}

void finish_all(Provider& provider, Vi& vi) {
  while (vi.sends_done < vi.sends_started) {
    SendWork& work = *vi.sends[vi.sends_done];
    if (work.state == State::moving) {
      if (work.pending != 0) return;
      const bool is_rdma = work.operation != VIP_CONTROL_OP_SENDRECV;
      if (is_rdma && vi.state == VIP_STATE_CONNECTED && !finish_rdma(provider, vi, work)) {
        if (work.pending != 0) return;
        continue;
      }
    }
    finish(provider, vi, work);
  }
}

}  // namespace

bool has_left(const Vi& vi) noexcept { return vi.link->state != RemoteSegment::State::ready; }

Start take_push(Provider& provider, Vi& vi, SendWork& work) {
  const std::uint64_t number = vi.sent + 1;
  const bool has_push =
      vi.push.head.number == number ||
      wire::read_vipl_push(vi.area->pushes[(number - 1) % wire::vipl_window], number, vi.push);
  if (has_push) {
    vi.awaits_receive = vi.found_empty = false;
    return Start::on;
  }
  vi.push.head.number = 0;  // what was read of it may be half of one
  if (vi.found_empty) {
    vi.awaits_receive = vi.found_empty = false;
    work.status |= remote_error(vi);
    return Start::over;
  }
  if (!vi.awaits_receive) {
    vi.awaits_receive = true;
    wire::ViplMessage question = message_of(provider, vi, wire::ViplKind::ask);
    question.number = number;
    post(provider, vi.node, question);
    ++provider.counters.Asked;
  }
  return Start::later;
}

void move_out(Provider& provider, SendWork& work, const Piece& piece, RemoteSegment& segment,
              std::uint64_t offset) {
  const Region& region = *piece.region;
  const bool copies =
      !region.is_allocated && (provider.registration == Registration::shadow ||
                               (segment.base == nullptr && has_shadow_only(region)));
  if (copies) copy(provider, piece, Copy::to_shadow);
  if (segment.base == nullptr) {
    return transfer(provider, work, map_of(region), piece.offset, segment.map, offset, piece.bytes);
  }
  std::memcpy(segment.base + offset, (copies ? region.shared.base : region.base) + piece.offset,
              piece.bytes);
  ++provider.counters.Stored;
}

void move_in(Provider& provider, SendWork& work, const Piece& piece, RemoteSegment& segment,
             std::uint64_t offset) {
  const Region& region = *piece.region;
  if (segment.base == nullptr) {
    if (has_shadow_only(region)) work.after = SendWork::Step::copy_home;
    return transfer(provider, work, segment.map, offset, map_of(region), piece.offset, piece.bytes);
  }
  std::memcpy(region.base + piece.offset, segment.base + offset, piece.bytes);
  ++provider.counters.Stored;
}

void advance(Provider& provider, Vi& vi) {
  while (vi.state == VIP_STATE_CONNECTED && vi.sends_started < vi.sends.size() &&
         vi.sends_started - vi.sends_done < most_moving && start_next(provider, vi)) {
    ++vi.sends_started;
    finish_all(provider, vi);
  }
  finish_all(provider, vi);
  if (vi.state != VIP_STATE_CONNECTED) flush_sends(provider, vi);
}

void flush_sends(Provider& provider, Vi& vi) {
  for (; vi.sends_started < vi.sends.size(); ++vi.sends_started) {
    SendWork& work = *vi.sends[vi.sends_started];
    work.state = State::ended;
    if (work.status == 0) work.status = VIP_STATUS_DESC_FLUSHED_ERROR;
  }
  for (std::size_t i = vi.sends_done; i < vi.sends_started; ++i) {
    // No answer comes any more.
    SendWork& work = *vi.sends[i];
    if (work.question != 0) --work.pending;
    work.question = 0;
  }
  finish_all(provider, vi);
}

void on_empty(Provider& provider, Vi& vi, const wire::ViplMessage& message) {
  if (message.from != vi.other || !vi.awaits_receive || message.number != vi.sent + 1) return;
  vi.found_empty = true;
  advance(provider, vi);
}

}  // namespace fulmar::vipl
