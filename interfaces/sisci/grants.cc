// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "sisci/grants.h"

#include <algorithm>
#include <utility>

#include "sisci/landings.h"

namespace fulmar::sisci {
namespace {

using wire::SisciKind;
using wire::SisciObject;

constexpr std::uint64_t handle_of(std::uint32_t index, std::uint32_t generation) noexcept {
  return std::uint64_t{generation} << 32 | index;
}

std::uint64_t seal_of(const Library& library, const Grant& grant, std::uint32_t index) noexcept {
  const wire::SisciSealed sealed{
      handle_of(index, grant.generation), grant.bytes, grant.peer, grant.object, grant.number, 0};
  return library.port->seal(library.port->rank(), wire::bytes_of(sealed));
}

/// What a connection asks for, or why it cannot have it.
struct Found {
  sci_error_t status = SCI_ERR_OK;
  LocalSegment* segment = nullptr;
};

bool has_interrupt(const Library& library, std::uint32_t number) noexcept {
  return std::ranges::any_of(library.interrupts.all(), [&](const auto& each) {
    return each.second->number == number && each.second->segment == nullptr;
  });
}

bool has_data_interrupt(const Library& library, std::uint32_t number) noexcept {
  return std::ranges::any_of(library.data_interrupts.all(),
                             [&](const auto& each) { return each.second->number == number; });
}

Found find_object(const Library& library, std::uint32_t peer, const wire::SisciConnect& request) {
  switch (request.object) {
    case SisciObject::segment: {
      LocalSegment* const segment = segment_of(library, request.number);
      if (segment != nullptr && segment->is_available) return {SCI_ERR_OK, segment};
      break;
    }
    case SisciObject::attached_segment: {
      LocalSegment* const segment = segment_of(library, request.number);
      if (segment == nullptr || !library.port->on_node(peer)) break;
      if (!segment->is_shared) return {SCI_ERR_ACCESS, nullptr};
      return {SCI_ERR_OK, segment};
    }
    case SisciObject::interrupt:
      if (has_interrupt(library, request.number)) return {};
      break;
    case SisciObject::data_interrupt:
      if (has_data_interrupt(library, request.number)) return {};
      break;
  }
  return {SCI_ERR_NO_SUCH_SEGMENT, nullptr};
}

std::uint32_t take_grant(Library& library) {
  if (library.free_grants.empty()) {
    library.grants.emplace_back();
    return static_cast<std::uint32_t>(library.grants.size() - 1);
  }
  const std::uint32_t index = library.free_grants.front();
  library.free_grants.pop_front();
  return index;
}

void give_back(Library& library, std::uint32_t index) noexcept {
  Grant& grant = library.grants[index];
  grant.is_live = false;
  --library.peers[grant.peer].grants;
  if (grant.segment != nullptr) --grant.segment->grants;
  grant.segment = nullptr;
  library.free_grants.push_back(index);
}

/// The grant that a node shows, if it is its own and true.
Grant* grant_of(Library& library, std::uint32_t peer, const wire::SisciGrant& shown) noexcept {
  const auto index = static_cast<std::uint32_t>(shown.handle);
  if (index >= library.grants.size()) return nullptr;
  Grant& grant = library.grants[index];
  const bool is_own =
      grant.is_live && grant.peer == peer && handle_of(index, grant.generation) == shown.handle;
  return is_own && seal_of(library, grant, index) == shown.seal ? &grant : nullptr;
}

void answer(Library& library, std::uint32_t peer, std::uint64_t transfer,
            sci_error_t status) noexcept {
  const wire::SisciDone done{transfer, static_cast<std::uint32_t>(status), 0};
  (void)post(library, peer, SisciKind::done, wire::bytes_of(done));
}

/// Whether the transfer may take place.
sci_error_t check_transfer(const Grant* grant, const wire::SisciTransfer& request) noexcept {
  if (grant == nullptr || grant->segment == nullptr) return SCI_ERR_SEGMENT_NOT_CONNECTED;
  const std::uint64_t bytes = grant->segment->bytes;
  if (request.offset > bytes || request.bytes > bytes - request.offset) return SCI_ERR_OUT_OF_RANGE;
  const bool is_word =
      request.offset % sizeof(std::uint32_t) == 0 && request.bytes == sizeof(std::uint32_t);
  if (request.flags == wire::sisci_adds_one && !is_word) return SCI_ERR_OFFSET_ALIGNMENT;
  return SCI_ERR_OK;
}

/// A read that is being answered.
struct ServedRead : interfaces::SendCompletion {
  Library* library = nullptr;
  std::uint32_t peer = 0;
  LocalSegment* segment = nullptr;

  static void sent(interfaces::SendCompletion& completion, interfaces::Outcome) noexcept {
    const std::unique_ptr<ServedRead> self(static_cast<ServedRead*>(&completion));
    --self->segment->uses;
    --self->library->peers[self->peer].reads_served;
  }
};

/// The interrupts that a write to this place triggers.
void trigger_at(Library& library, LocalSegment& segment, std::uint64_t offset,
                std::uint64_t bytes) {
  for (const auto& [handle, interrupt] : library.interrupts.all()) {
    const bool is_there = interrupt->segment == &segment && !interrupt->is_conditional &&
                          interrupt->offset >= offset && interrupt->offset < offset + bytes;
    if (is_there) trigger(library, *interrupt);
  }
}

void add_one(Library& library, LocalSegment& segment, std::uint64_t offset) {
  auto* const word = reinterpret_cast<std::uint32_t*>(segment.base + offset);
  const std::uint32_t before = __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
  for (const auto& [handle, interrupt] : library.interrupts.all()) {
    if (interrupt->segment != &segment || !interrupt->is_conditional ||
        interrupt->offset != offset) {
      continue;
    }
    ++interrupt->counter.triggers;
    if (before != 0 || !interrupt->counter.is_enabled) continue;
    interrupt->counter.is_enabled = false;
    trigger(library, *interrupt);
  }
}

}  // namespace

LocalSegment* segment_of(const Library& library, std::uint32_t id) noexcept {
  for (const auto& [handle, segment] : library.local_segments.all()) {
    if (segment->id == id && !segment->is_private && segment->attached == nullptr) {
      return segment.get();
    }
  }
  return nullptr;
}

void on_connect(Library& library, const interfaces::Frame& frame) noexcept {
  const auto request = wire::decode_sisci_connect(frame.header);
  if (!request) return;
  Peer& peer = library.peers[frame.peer];
  Found found{SCI_ERR_CONNECTION_REFUSED, nullptr};
  if (peer.grants < most_grants) found = find_object(library, frame.peer, *request);
  wire::SisciConnected reply{
      request->request, 0, 0, 0, static_cast<std::uint32_t>(found.status), 0};
  if (found.status == SCI_ERR_OK) {
    const std::uint32_t index = take_grant(library);
    Grant& grant = library.grants[index];
    const std::uint64_t bytes = found.segment == nullptr ? 0 : found.segment->bytes;
    grant = {
        true,  grant.generation + 1, frame.peer, request->request, request->object, request->number,
        bytes, found.segment};
    ++peer.grants;
    reply.handle = handle_of(index, grant.generation);
    reply.seal = seal_of(library, grant, index);
    reply.bytes = bytes;
    if (found.segment != nullptr) {
      ++found.segment->grants;
      const bool shares = found.segment->memory != nullptr && frame.peer != library.port->rank() &&
                          library.port->on_node(frame.peer) &&
                          library.port->share(found.segment->memory, frame.peer, request->request);
      reply.flags = shares ? wire::sisci_shares_memory : 0;
    }
  }
  (void)post(library, frame.peer, SisciKind::connected, wire::bytes_of(reply));
  if (found.segment != nullptr) {
    push(library, *found.segment, {SCI_CB_CONNECT, node_of(library, frame.peer), SCI_ERR_OK});
  }
}

void on_disconnect(Library& library, const interfaces::Frame& frame) noexcept {
  const auto shown = wire::decode_sisci<wire::SisciGrant>(frame.header);
  Grant* const grant = shown ? grant_of(library, frame.peer, *shown) : nullptr;
  if (grant == nullptr) return;
  LocalSegment* const segment = grant->segment;
  give_back(library, static_cast<std::uint32_t>(grant - library.grants.data()));
  if (segment == nullptr) return;
  push(library, *segment, {SCI_CB_DISCONNECT, node_of(library, frame.peer), SCI_ERR_OK});
}

void on_trigger(Library& library, const interfaces::Frame& frame) noexcept {
  const auto shown = wire::decode_sisci<wire::SisciGrant>(frame.header);
  const Grant* const grant = shown ? grant_of(library, frame.peer, *shown) : nullptr;
  if (grant == nullptr || grant->object != SisciObject::interrupt) return;
  for (const auto& [handle, interrupt] : library.interrupts.all()) {
    if (interrupt->number == grant->number && interrupt->segment == nullptr) {
      trigger(library, *interrupt);
    }
  }
}

void on_read(Library& library, const interfaces::Frame& frame) noexcept {
  const auto request =
      wire::decode_sisci_transfer(frame.header, frame.payload_bytes, SisciKind::read);
  if (!request) return;
  Grant* const grant = grant_of(library, frame.peer, request->grant);
  sci_error_t status = check_transfer(grant, *request);
  Peer& peer = library.peers[frame.peer];
  if (status == SCI_ERR_OK && peer.reads_served >= most_reads) status = SCI_ERR_REMOTE_BUSY;
  wire::SisciDone reply{request->transfer, static_cast<std::uint32_t>(status), 0};
  if (status != SCI_ERR_OK) {
    (void)post(library, frame.peer, SisciKind::data, wire::bytes_of(reply));
    return;
  }
  auto served = std::make_unique<ServedRead>();
  served->done = ServedRead::sent;
  served->library = &library;
  served->peer = frame.peer;
  served->segment = grant->segment;
  ++grant->segment->uses;
  ++peer.reads_served;
  const std::span bytes(grant->segment->base + request->offset, request->bytes);
  ServedRead* const kept = served.release();
  if (post(library, frame.peer, SisciKind::data, wire::bytes_of(reply), bytes, kept)) return;
  ServedRead::sent(*kept, interfaces::Outcome::failed);
}

std::byte* begin_write(Library& library, const interfaces::Frame& frame,
                       Landing& landing) noexcept {
  landing.status = SCI_ERR_TRANSFER_FAILED;
  const auto request =
      wire::decode_sisci_transfer(frame.header, frame.payload_bytes, SisciKind::write);
  if (!request) return nullptr;
  landing.request = *request;
  Grant* const grant = grant_of(library, frame.peer, request->grant);
  if (grant != nullptr && grant->object == SisciObject::data_interrupt) {
    return begin_data(library, *grant, landing);
  }
  landing.status = check_transfer(grant, *request);
  if (landing.status != SCI_ERR_OK) return nullptr;
  landing.segment = grant->segment;
  ++landing.segment->uses;
  // What is added is 1, whatever comes.
  if (request->flags == wire::sisci_adds_one) return reinterpret_cast<std::byte*>(&landing.addend);
  return landing.segment->base + request->offset;
}

void end_write(Library& library, const interfaces::Frame& frame, Landing& landing,
               interfaces::Client::Payload payload) noexcept {
  const wire::SisciTransfer& request = landing.request;
  if (payload == interfaces::Client::Payload::lost) landing.status = SCI_ERR_TRANSFER_FAILED;
  const bool is_here = landing.status == SCI_ERR_OK;
  if (landing.segment != nullptr) {
    --landing.segment->uses;
    if (is_here && request.flags == wire::sisci_adds_one) {
      add_one(library, *landing.segment, request.offset);
    } else if (is_here && request.flags == wire::sisci_interrupts) {
      trigger_at(library, *landing.segment, request.offset, request.bytes);
    }
  } else if (is_here) {
    landing.status = deliver_data(library, landing);
  }
  answer(library, frame.peer, request.transfer, landing.status);
}

void lose_grants(Library& library, std::uint32_t rank) noexcept {
  for (std::uint32_t index = 0; index < library.grants.size(); ++index) {
    const Grant grant = library.grants[index];
    if (!grant.is_live || grant.peer != rank) continue;
    give_back(library, index);
    if (grant.segment == nullptr) continue;
    push(library, *grant.segment, {SCI_CB_LOST, node_of(library, rank), SCI_ERR_OK});
  }
}

namespace {

template <class Concerns>
void end_some(Library& library, wire::SisciEnd end, Concerns&& concerns) noexcept {
  for (std::uint32_t index = 0; index < library.grants.size(); ++index) {
    const Grant grant = library.grants[index];
    if (!grant.is_live || !concerns(grant)) continue;
    if (end == wire::SisciEnd::forced) give_back(library, index);
    const wire::SisciEnded ended{grant.request, end, 0};
    (void)post(library, grant.peer, SisciKind::ended, wire::bytes_of(ended));
  }
}

}  // namespace

void end_grants(Library& library, LocalSegment& segment, wire::SisciEnd end) noexcept {
  end_some(library, end, [&](const Grant& grant) { return grant.segment == &segment; });
}

void end_grants(Library& library, SisciObject object, std::uint32_t number) noexcept {
  end_some(library, wire::SisciEnd::forced,
           [&](const Grant& grant) { return grant.object == object && grant.number == number; });
}

}  // namespace fulmar::sisci
