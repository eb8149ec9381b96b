// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/device.h"
#include "device/protocol/protocol.h"

/// The protocols, each a record (device/protocol/protocol.h), and the choice between them.
namespace fulmar::device {

namespace {

using Transport = Protocol::Transport;

constexpr std::uint64_t from_first(const Config&) { return 0; }
constexpr std::uint64_t to_eager(const Config& config) { return config.eager_bytes; }
constexpr std::uint64_t above_eager(const Config& config) { return config.eager_bytes + 1; }
constexpr std::uint64_t from_share(const Config& config) { return config.share_bytes; }
constexpr std::uint64_t from_rdma(const Config& config) { return config.remote_bytes; }
constexpr std::uint64_t to_any(const Config&) { return UINT64_MAX; }

}  // namespace

/// In the order of preference: the receiver of an announced message takes the first one that
/// applies and can start. The last one always does.
const std::array<Protocol, protocol_count> Device::protocol_table = {{
    {.name = "eager",
     .transport = Transport::any,
     .needs = "fits into one packet",
     .cost = "copied on both sides; the send is done at once",
     .packets = "eager",
     .from_bytes = from_first,
     .to_bytes = to_eager,
     .post = &Device::post_eager},
    {.name = "eager_sync",
     .transport = Transport::any,
     .needs = "a synchronous send; fits into one packet",
     .cost = "copied on both sides; the send is done when it is matched",
     .packets = "eager_sync, sync_ack",
     .from_bytes = from_first,
     .to_bytes = to_eager,
     .post = &Device::post_eager},
    {.name = "rndv_read",
     .transport = Transport::network,
     .needs = "an adapter that reads peers' memory; one run of memory at the sender",
     .cost = "no copy; memory is registered on both sides",
     .packets = "rts, the receiver's adapter reads, fin",
     .from_bytes = from_rdma,
     .to_bytes = to_any,
     .applies = &Device::can_rndv_read,
     .start = &Device::start_rndv_read,
     .step = &Device::step_rdma,
     .abort = &Device::abort_rdma},
    {.name = "rndv_write",
     .transport = Transport::network,
     .needs = "an adapter that writes peers' memory; one run of memory at the receiver",
     .cost = "no copy; memory is registered on both sides",
     .packets = "rts, cts_put, the sender's adapter writes, fin",
     .from_bytes = from_rdma,
     .to_bytes = to_any,
     .applies = &Device::can_rndv_write,
     .start = &Device::start_rndv_write,
     .step = &Device::step_rdma,
     .abort = &Device::abort_rdma},
    {.name = "rndv_share",
     .transport = Transport::shared_memory,
     .needs = "one run of memory on both sides; where measured faster than rndv_stream",
     .cost = "one copy through the kernel, by both sides at the same time",
     .packets = "rts, cts_shared, both copy pieces, fin",
     .from_bytes = from_share,
     .to_bytes = to_any,
     .applies = &Device::can_rndv_share,
     .start = &Device::start_rndv_share,
     .step = &Device::step_rndv_share,
     .abort = &Device::abort_rndv_share},
    {.name = "rndv_copy",
     .transport = Transport::any,
     .needs = "both processes on one host; one run of memory at the sender",
     .cost = "one copy through the kernel, by the receiver",
     .packets = "rts, the receiver copies, fin",
     .from_bytes = above_eager,
     .to_bytes = to_any,
     .applies = &Device::can_rndv_copy,
     .start = &Device::start_rndv_copy,
     .step = &Device::step_rndv_copy,
     .abort = &Device::abort_rndv_copy},
    {.name = "rndv_stream",
     .transport = Transport::any,
     .needs = "",
     .cost = "copied on both sides at the same time; without a copy by networks that can",
     .packets = "rts, cts_stream, data ...",
     .from_bytes = above_eager,
     .to_bytes = to_any,
     .start = &Device::start_rndv_stream,
     .step = &Device::step_rndv_stream,
     .abort = &Device::abort_rndv_stream},
}};

namespace {

bool fits_eager(const Config& config, Transports& transports, Peer& peer,
                std::uint64_t bytes) noexcept {
  return bytes <= config.eager_bytes && bytes <= transports.body_limit(peer, bytes);
}

}  // namespace

/// Whether a message of so many bytes goes without an announcement.
bool Device::sends_eagerly(std::uint32_t to, std::uint64_t bytes) noexcept {
  return fits_eager(config_, transports_, peers_.connect(to), bytes);
}

/// The message, or its announcement.
fabric::Post Device::post_message(Operation& operation) noexcept {
  const bool sync = operation.mode == SendMode::synchronous;
  const std::uint64_t body = operation.buffer.bytes + (sync ? sizeof(wire::SyncBody) : 0);
  if (!fits_eager(config_, transports_, *operation.peer, body)) return post_announcement(operation);
  return (this->*protocol(sync ? ProtocolId::eager_sync : ProtocolId::eager).post)(operation);
}

void Device::start_rendezvous(Operation& receive, Peer& peer, const Announced& message) noexcept {
  receive.peer = &peer;
  receive.peer_cookie = message.send;
  receive.remote = message.address;
  receive.moved = 0;
  receive.inlined = message.inlined;
  if (peer.failed) return failures_.fail(receive, {base::ErrorClass::proc_failed, peer.id});
  if (receive.length <= message.inlined) {
    receive.way = LongCopy::automatic;
    return finish_rendezvous(receive);
  }
  choose_copy(receive);
  run_rendezvous(receive, message);
}

void Device::run_rendezvous(Operation& receive, const Announced& message) noexcept {
  for (const Protocol& protocol : protocol_table) {
    if (protocol.start == nullptr) continue;
    const bool applies = protocol.applies == nullptr || (this->*protocol.applies)(receive, message);
    if (applies && (this->*protocol.start)(receive, message)) return;
  }
}

unsigned Device::advance(Operation& operation, bool& in_place) noexcept {
  return (this->*operation.protocol->step)(operation, in_place);
}

void Device::abort(Operation& operation, base::ErrorClass error) noexcept {
  if (operation.protocol == nullptr) return fail(operation, error);
  (this->*operation.protocol->abort)(operation, error);
}

/// No network uses the memory of the operation.
void Device::fail(Operation& operation, base::ErrorClass error) noexcept {
  if (operation.transfer != nullptr) close_memory(operation);
  operation.outcome.error = error;
  operation.outcome.bytes = 0;
  finish_send(operation);
}

}  // namespace fulmar::device
