// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "vipl/rdma.h"

#include <algorithm>

#include "vipl/connections.h"
#include "vipl/descriptors.h"
#include "vipl/messages.h"
#include "vipl/segments.h"

namespace fulmar::vipl {
namespace {

using wire::ViplKind;
using wire::ViplMessage;
using Step = SendWork::Step;

constexpr std::uint32_t access_write = 1;
constexpr std::uint32_t access_read = 2;

std::uint32_t access_of(const SendWork& work) noexcept {
  return work.operation == VIP_CONTROL_OP_RDMAWRITE ? access_write : access_read;
}

/// Of what is known of memory of the other end, for this access.
std::uint64_t key_of(std::uint32_t handle, std::uint32_t access) noexcept {
  return std::uint64_t{handle} << 2 | access;
}

bool contains(std::uint64_t begin, std::uint64_t size, std::uint64_t address,
              std::uint64_t bytes) noexcept {
  return address >= begin && address - begin <= size && bytes <= size - (address - begin);
}

ViplMessage question_of(const Provider& provider, const Vi& vi, const SendWork& work,
                        ViplKind kind) {
  ViplMessage message = message_of(provider, vi, kind);
  message.handle = work.remote_handle;
  message.address = work.remote_address;
  message.length = work.bytes;
  message.status = access_of(work);
  return message;
}

/// Asks the owner of the memory.
Start ask_owner(Provider& provider, Vi& vi, const SendWork& work) {
  vi.remote_regions[key_of(work.remote_handle, access_of(work))] = {};
  post(provider, vi.node, question_of(provider, vi, work, ViplKind::resolve));
  return Start::later;
}

/// Has the owner copy between its memory and the shadow.
void have_copied(Provider& provider, const Vi& vi, SendWork& work, ViplKind kind) {
  ViplMessage message = question_of(provider, vi, work, kind);
  message.number = work.question = ++provider.last_question;
  ++work.pending;
  post(provider, vi.node, message);
}

void move(Provider& provider, const Vi& vi, SendWork& work) {
  RemoteSegment* const segment = find_reached(provider, vi.node, work.target);
  if (segment == nullptr || segment->state != RemoteSegment::State::ready) {
    work.status |= VIP_STATUS_RDMA_PROT_ERROR;
    return;
  }
  std::uint64_t offset = work.target_offset;
  for (const Piece& piece : work.pieces) {
    if (work.operation == VIP_CONTROL_OP_RDMAWRITE) {
      move_out(provider, work, piece, *segment, offset);
    } else {
      move_in(provider, work, piece, *segment, offset);
    }
    offset += piece.bytes;
  }
}

/// What the owner has said of the memory, if it has.
Start find_memory(Provider& provider, Vi& vi, SendWork& work, RemoteRegion& memory) {
  const auto place = vi.remote_regions.find(key_of(work.remote_handle, access_of(work)));
  if (place == vi.remote_regions.end()) return ask_owner(provider, vi, work);
  memory = place->second;
  if (memory.state == RemoteRegion::State::asked) return Start::later;
  if (memory.state == RemoteRegion::State::refused) {
    vi.remote_regions.erase(place);
    work.status |= VIP_STATUS_RDMA_PROT_ERROR;
    return Start::over;
  }
  // Beyond its end: the owner is to hear of it.
  const bool is_inside = contains(memory.base, memory.bytes, work.remote_address, work.bytes);
  return is_inside ? Start::on : ask_owner(provider, vi, work);
}

/// Whether the other end of the VI may access this memory of it.
Region* find_allowed(Provider& provider, const Vi& vi, const ViplMessage& message) noexcept {
  Region* const region = provider.regions.find(message.handle);
  const bool writes = message.status == access_write;
  if (region == nullptr || region->nic != vi.nic || region->ptag != vi.ptag) return nullptr;
  const bool vi_allows =
      (writes ? vi.attributes.EnableRdmaWrite : vi.attributes.EnableRdmaRead) != VIP_FALSE;
  const bool is_allowed = vi_allows && (writes ? region->allows_write : region->allows_read);
  const auto begin = reinterpret_cast<std::uintptr_t>(region->base);
  return is_allowed && contains(begin, region->bytes, message.address, message.length) ? region
                                                                                       : nullptr;
}

/// Of this end, when the other one wanted what it may not.
void refuse(Provider& provider, Vi& vi, std::uint32_t access) {
  const VIP_ERROR_CODE code = access == access_write ? VIP_ERROR_RDMAW_PROT : VIP_ERROR_RDMAR_PROT;
  if (vi.attributes.ReliabilityLevel == VIP_SERVICE_UNRELIABLE) return report(provider, vi, code);
  break_off(provider, vi, code);
}

bool is_from_other_end(const Vi& vi, const ViplMessage& message) noexcept {
  return vi.state == VIP_STATE_CONNECTED && message.from == vi.other;
}

}  // namespace

Start start_rdma(Provider& provider, Vi& vi, SendWork& work) {
  RemoteRegion memory;
  if (const Start found = find_memory(provider, vi, work, memory); found != Start::on) return found;
  if (has_left(vi)) return Start::later;
  if (work.has_immediate) {
    if (const Start push = take_push(provider, vi, work); push != Start::on) return push;
  }
  const bool has_shadow_only = !memory.is_allocated && memory.direct == 0;
  work.target = memory.is_allocated || has_shadow_only ? memory.shared : memory.direct;
  const RemoteSegment& segment = reach(provider, vi.node, work.target);
  if (segment.state == RemoteSegment::State::connecting) return Start::later;
  work.target_offset = work.remote_address - memory.base;
  const bool is_there = segment.state == RemoteSegment::State::ready &&
                        contains(0, segment.bytes, work.target_offset, work.bytes);
  if (!is_there) {
    if (!work.was_asked_again) {
      work.was_asked_again = true;
      return ask_owner(provider, vi, work);
    }
    work.status |= VIP_STATUS_TRANSPORT_ERROR;
    return Start::over;
  }
  if (work.has_immediate) work.number = ++vi.sent;
  const bool writes = work.operation == VIP_CONTROL_OP_RDMAWRITE;
  if (has_shadow_only && writes) work.after = Step::take_in;
  if (has_shadow_only && !writes) work.before = Step::bring_out;
  if (work.before == Step::bring_out) {
    have_copied(provider, vi, work, ViplKind::copy_out);
  } else {
    move(provider, vi, work);
  }
  return Start::on;
}

bool finish_rdma(Provider& provider, Vi& vi, SendWork& work) {
  if (work.status != 0) return true;
  if (work.before != Step::none) {
    work.before = Step::none;
    move(provider, vi, work);
    return false;
  }
  const RemoteSegment* const segment = find_reached(provider, vi.node, work.target);
  if (segment == nullptr || segment->state != RemoteSegment::State::ready || !is_whole(*segment)) {
    // Its owner has taken it back meanwhile.
    work.status |= VIP_STATUS_RDMA_PROT_ERROR;
    return true;
  }
  const Step after = work.after;
  work.after = Step::none;
  if (after == Step::copy_home) copy_from_shadows(provider, work.pieces, work.bytes);
  if (after != Step::take_in) return true;
  have_copied(provider, vi, work, ViplKind::copy_in);
  return false;
}

void revoke_access(Provider& provider, Lock& lock, const Region& region) {
  const std::uint64_t question = ++provider.last_question;
  provider.vis.for_each([&](Vi& vi) {
    if (vi.nic != region.nic || vi.state != VIP_STATE_CONNECTED) return;
    ViplMessage message = message_of(provider, vi, ViplKind::revoke);
    message.handle = region.handle;
    message.number = vi.revoke_asked = question;
    post(provider, vi.node, message);
  });
  revoke(region.shared);
  revoke(region.direct);
  (void)wait(provider, lock, Deadline(VIP_INFINITE), [&] {
    bool has_answered = true;
    provider.vis.for_each([&](const Vi& vi) {
      const bool waits = vi.state == VIP_STATE_CONNECTED && vi.revoke_asked >= question &&
                         vi.revoke_answered < question;
      has_answered = has_answered && !waits;
    });
    return has_answered;
  });
}

void on_revoke(Provider& provider, Vi& vi, const ViplMessage& message) {
  if (!is_from_other_end(vi, message)) return;
  vi.remote_regions.erase(key_of(message.handle, access_write));
  vi.remote_regions.erase(key_of(message.handle, access_read));
  ViplMessage reply = message_of(provider, vi, ViplKind::revoked);
  reply.number = message.number;
  post(provider, vi.node, reply);
}

void on_revoked(Provider& /*provider*/, Vi& vi, const ViplMessage& message) {
  if (!is_from_other_end(vi, message) || message.number > vi.revoke_asked) return;
  vi.revoke_answered = std::max(vi.revoke_answered, message.number);
}

void on_resolve(Provider& provider, Vi& vi, const ViplMessage& message) {
  if (!is_from_other_end(vi, message)) return;
  if (message.status != access_write && message.status != access_read) return;
  ViplMessage reply = message_of(provider, vi, ViplKind::resolved);
  reply.handle = message.handle;
  reply.number = message.status;
  const Region* const region = find_allowed(provider, vi, message);
  if (region == nullptr) {
    post(provider, vi.node, reply);
    return refuse(provider, vi, message.status);
  }
  reply.status = message.status;
  reply.address = reinterpret_cast<std::uintptr_t>(region->base);
  reply.length = region->bytes;
  reply.shared = region->shared.number;
  reply.direct = region->direct.number;
  reply.flags = region->is_allocated ? wire::vipl_allocated : 0;
  post(provider, vi.node, reply);
}

void on_resolved(Provider& provider, Vi& vi, const ViplMessage& message) {
  if (!is_from_other_end(vi, message)) return;
  const auto access = static_cast<std::uint32_t>(message.number);
  const auto place = vi.remote_regions.find(key_of(message.handle, access));
  if (place == vi.remote_regions.end() || place->second.state != RemoteRegion::State::asked) return;
  RemoteRegion& memory = place->second;
  memory.state =
      message.status == access ? RemoteRegion::State::allowed : RemoteRegion::State::refused;
  memory.base = message.address;
  memory.bytes = message.length;
  memory.shared = message.shared;
  memory.direct = message.direct;
  memory.is_allocated = (message.flags & wire::vipl_allocated) != 0;
  advance(provider, vi);
}

void on_copy(Provider& provider, Vi& vi, const ViplMessage& message) {
  if (!is_from_other_end(vi, message)) return;
  ViplMessage reply = message_of(provider, vi, ViplKind::copied);
  reply.number = message.number;
  const bool comes_in = message.kind == ViplKind::copy_in;
  ViplMessage access = message;
  access.status = comes_in ? access_write : access_read;
  Region* const region = find_allowed(provider, vi, access);
  if (region != nullptr && region->shared.base != nullptr) {
    const std::uint64_t offset = message.address - reinterpret_cast<std::uintptr_t>(region->base);
    copy(provider, {region, offset, message.length},
         comes_in ? Copy::from_shadow : Copy::to_shadow);
    reply.status = 1;
  }
  post(provider, vi.node, reply);
}

void on_copied(Provider& provider, Vi& vi, const ViplMessage& message) {
  if (!is_from_other_end(vi, message) || message.number == 0) return;
  for (std::size_t i = vi.sends_done; i < vi.sends_started; ++i) {
    SendWork& work = *vi.sends[i];
    if (work.question != message.number) continue;
    work.question = 0;
    --work.pending;
    if (message.status == 0) work.status |= VIP_STATUS_RDMA_PROT_ERROR;
    return advance(provider, vi);
  }
}

}  // namespace fulmar::vipl
