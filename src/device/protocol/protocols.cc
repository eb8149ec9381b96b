// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/protocol/protocols.h"

#include <algorithm>

#include "device/buffer/runs.h"
#include "device/matching/arrival.h"

/// Long messages. The sender announces address and length (`rts`); once the receive is known the
/// receiver chooses how the bytes move:
///
/// * share: sender and receiver copy together. The receiver names a descriptor in its memory from
///   which both take the next piece until none is left, and each moves its pieces by a single copy
///   between the two address spaces, the receiver reading, the sender writing. Two cores copy twice
///   as fast as one. A sender that is busy elsewhere takes no pieces, and the receiver does not
///   wait for it.
/// * read: the receiver reads everything; for what is too short to share.
/// * stream: the sender copies pieces into the ring and the receiver out of it, both at once.
///   This always works. It is used for data that are not one run at the sender, and the others fall
///   back to it, also in the middle of a message, when the kernel refuses a copy. Networks take the
///   bytes from the sender's memory and put them into the receiver's; see
///   device/protocol/placement.cc. Within a node the first bytes travel with the announcement (`Heads`).
/// * fetch, put: adapters read or write the peer's memory; see device/protocol/rndv_rdma.cc.
///
/// One handshake in each case: rts, and `fin` when the receiver has all (stream needs none).
/// The bytes move inside progress, a bounded amount in each call, so that a test call returns
/// soon.
///
/// Each protocol is a record (device/protocol/protocol.h) of this table.
namespace fulmar::device {

namespace {

using Transport = Protocol::Transport;

constexpr std::uint64_t from_first(const Config&) { return 0; }
constexpr std::uint64_t to_eager(const Config& config) { return config.eager_bytes; }
constexpr std::uint64_t above_eager(const Config& config) { return config.eager_bytes + 1; }
constexpr std::uint64_t from_share(const Config& config) { return config.share_bytes; }
constexpr std::uint64_t from_rdma(const Config& config) { return config.remote_bytes; }
constexpr std::uint64_t to_any(const Config&) { return UINT64_MAX; }

/// A member function of one of the parts, for a record.
template <auto member, auto part>
struct Call;
template <class Part, class Result, class... Arguments,
          Result (Part::*member)(Arguments...) noexcept, auto part>
struct Call<member, part> {
  static Result call(const RndvParts& parts, Arguments... arguments) noexcept {
    return ((parts.*part)->*member)(arguments...);
  }
};

bool start_stream(const RndvParts& parts, Operation& receive,
                  const Announced& /*message*/) noexcept {
  parts.stream->start(receive);
  return true;
}

}  // namespace

const std::array<Protocol, protocol_count> protocol_table = {{
    {.name = "eager",
     .transport = Transport::any,
     .needs = "fits into one packet",
     .cost = "copied on both sides; the send is done at once",
     .packets = "eager",
     .from_bytes = from_first,
     .to_bytes = to_eager},
    {.name = "eager_sync",
     .transport = Transport::any,
     .needs = "a synchronous send; fits into one packet",
     .cost = "copied on both sides; the send is done when it is matched",
     .packets = "eager_sync, sync_ack",
     .from_bytes = from_first,
     .to_bytes = to_eager},
    {.name = "rndv_read",
     .transport = Transport::network,
     .needs = "an adapter that reads peers' memory; one run of memory at the sender",
     .cost = "no copy; memory is registered on both sides",
     .packets = "rts, the receiver's adapter reads, fin",
     .from_bytes = from_rdma,
     .to_bytes = to_any,
     .applies = Call<&RndvRdma::can_read, &RndvParts::rdma>::call,
     .start = Call<&RndvRdma::start_read, &RndvParts::rdma>::call,
     .step = Call<&RndvRdma::step, &RndvParts::rdma>::call,
     .abort = Call<&RndvRdma::abort, &RndvParts::rdma>::call},
    {.name = "rndv_write",
     .transport = Transport::network,
     .needs = "an adapter that writes peers' memory; one run of memory at the receiver",
     .cost = "no copy; memory is registered on both sides",
     .packets = "rts, cts_put, the sender's adapter writes, fin",
     .from_bytes = from_rdma,
     .to_bytes = to_any,
     .applies = Call<&RndvRdma::can_write, &RndvParts::rdma>::call,
     .start = Call<&RndvRdma::start_write, &RndvParts::rdma>::call,
     .step = Call<&RndvRdma::step, &RndvParts::rdma>::call,
     .abort = Call<&RndvRdma::abort, &RndvParts::rdma>::call},
    {.name = "rndv_share",
     .transport = Transport::shared_memory,
     .needs = "one run of memory on both sides; where measured faster than rndv_stream",
     .cost = "one copy through the kernel, by both sides at the same time",
     .packets = "rts, cts_shared, both copy pieces, fin",
     .from_bytes = from_share,
     .to_bytes = to_any,
     .applies = Call<&RndvCopy::can_share, &RndvParts::copy>::call,
     .start = Call<&RndvCopy::start_share, &RndvParts::copy>::call,
     .step = Call<&RndvCopy::step_share, &RndvParts::copy>::call,
     .abort = Call<&RndvCopy::abort_share, &RndvParts::copy>::call},
    {.name = "rndv_copy",
     .transport = Transport::any,
     .needs = "both processes on one host; one run of memory at the sender",
     .cost = "one copy through the kernel, by the receiver",
     .packets = "rts, the receiver copies, fin",
     .from_bytes = above_eager,
     .to_bytes = to_any,
     .applies = Call<&RndvCopy::can_read, &RndvParts::copy>::call,
     .start = Call<&RndvCopy::start_read, &RndvParts::copy>::call,
     .step = Call<&RndvCopy::step_read, &RndvParts::copy>::call,
     .abort = Call<&RndvCopy::abort_read, &RndvParts::copy>::call},
    {.name = "rndv_stream",
     .transport = Transport::any,
     .needs = "",
     .cost = "copied on both sides at the same time; without a copy by networks that can",
     .packets = "rts, cts_stream, data ...",
     .from_bytes = above_eager,
     .to_bytes = to_any,
     .start = start_stream,
     .step = Call<&RndvStream::step, &RndvParts::stream>::call,
     .abort = Call<&RndvStream::abort, &RndvParts::stream>::call},
}};

void Protocols::start(Operation& receive, Peer& peer, const Announced& message) noexcept {
  receive.peer = &peer;
  receive.peer_cookie = message.send;
  receive.remote = message.address;
  receive.moved = 0;
  receive.inlined = message.inlined;
  if (peer.failed) return parts_.failures.fail(receive, {base::ErrorClass::proc_failed, peer.id});
  if (receive.length <= message.inlined) {
    receive.way = LongCopy::automatic;
    return parts_.copy.finish(receive);
  }
  parts_.copy.choose(receive);
  choose(receive, message);
}

/// Some of the bytes may yet be on their way through the ring.
void Protocols::start_with_head(Operation& receive, Peer& peer, const Announced& message,
                                const fabric::Body& body) noexcept {
  const std::uint64_t bytes = std::min<std::uint64_t>(message.inlined, receive.length);
  const bool has_rest = receive.length > bytes;
  receive.peer = &peer;
  receive.peer_cookie = message.send;
  receive.remote = message.address;
  receive.inlined = message.inlined;
  receive.moved = 0;
  receive.way = LongCopy::automatic;
  if (has_rest) parts_.copy.choose(receive);
  const bool streams = receive.way == LongCopy::stream;
  if (streams) parts_.stream.start(receive);
  copy_body(receive.buffer, 0, body, sizeof(wire::RtsBody), bytes);
  if (streams)
    return;  // should the peer have died meanwhile, that ends the receive as any other one
  if (body.torn()) [[unlikely]] {
    receive.outcome.error = base::ErrorClass::proc_failed;
    return parts_.operations.finish(receive);
  }
  has_rest ? choose(receive, message) : parts_.copy.finish(receive);
}

void Protocols::choose(Operation& receive, const Announced& message) noexcept {
  for (const Protocol& protocol : protocol_table) {
    if (protocol.start == nullptr) continue;
    const bool applies = protocol.applies == nullptr || protocol.applies(rndv_, receive, message);
    if (applies && protocol.start(rndv_, receive, message)) return;
  }
}

void Protocols::abort(Operation& operation, base::ErrorClass error) noexcept {
  if (operation.protocol == nullptr) return parts_.operations.fail(operation, error);
  operation.protocol->abort(rndv_, operation, error);
}

/// Of each direction to each peer the oldest, and the next only where that one has nothing to do, so that
/// buffers stay in the cache and measured times are meaningful. A network that takes bytes from the user's
/// memory is given the next as well when it has all of one, so that they leave in one call. A completion
/// may start, end or free other transfers.
unsigned Protocols::advance_active() noexcept {
  unsigned moved = 0;
  const Peer* busy[2] = {nullptr, nullptr};
  bool gathered = false;
  parts_.active.for_each([&](Operation& operation) {
    const Peer* peer = operation.peer;
    const bool is_send = operation.is_send;
    if (busy[is_send ? 1 : 0] == peer || peer->failed) return;
    const bool fills_way = is_send && operation.stage == Stage::streaming;
    bool in_place = false;
    const unsigned step = operation.protocol->step(rndv_, operation, in_place);
    if ((step != 0 || fills_way) && !in_place) busy[is_send ? 1 : 0] = peer;
    gathered = gathered || (fills_way && step != 0);
    moved += step;
  });
  if (gathered) parts_.transports.flush();
  return moved;
}

}  // namespace fulmar::device
