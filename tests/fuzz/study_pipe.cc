// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstdlib>
#include <cstring>

#include "fuzz/targets.h"
#include "unit/study/studied_memory.h"

namespace fulmar::fuzz {
namespace {

using study::DesignChannel;
using study::StudiedPort;

/// Looks at every byte that it gets, and gives memory of its own for long packets.
struct CheckingSink {
  void packet(std::uint32_t peer, const wire::Envelope& envelope, const fabric::Body& body) {
    if (peer != 1 || body.size() != envelope.length) std::abort();
    add(body.bytes());
  }
  std::span<const iovec> place(std::uint32_t, const wire::Envelope& envelope,
                               std::span<const std::byte> prefix, std::uint64_t offset,
                               std::uint64_t bytes) {
    check(envelope, prefix, offset, bytes);
    if (bytes > sizeof room) return {};
    piece = {room, bytes};
    return {&piece, 1};
  }
  void placed(std::uint32_t, const wire::Envelope& envelope, std::span<const std::byte> prefix,
              std::uint64_t offset, std::uint64_t bytes) {
    check(envelope, prefix, offset, bytes);
  }
  void part(std::uint32_t, const wire::Envelope& envelope, std::span<const std::byte> prefix,
            std::uint64_t offset, std::span<const std::byte> payload) {
    check(envelope, prefix, offset, payload.size());
    add(payload);
  }
  void sent(std::uint64_t token, fabric::Sent) {
    if (token != 5) std::abort();
  }

 private:
  void add(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) sum += static_cast<unsigned>(byte);
  }
  void check(const wire::Envelope& envelope, std::span<const std::byte> prefix,
             std::uint64_t offset, std::uint64_t bytes) {
    add(prefix);
    if (prefix.size() > envelope.length || offset + bytes > envelope.length - prefix.size()) {
      std::abort();
    }
  }
  std::byte room[4096];
  iovec piece{};
  unsigned sum = 0;
};
static_assert(fabric::PlacesBodies<CheckingSink>);

}  // namespace

/// Rank 1 writes what it likes into its pipe at rank 0, which also sends to it: short packets and
/// long ones, so that answers of all kinds find something that they may be answers to.
void study_pipe(std::span<const std::uint8_t> input) {
  if (input.size() < 2) return;
  channel::PlainMemory memory(2, 1U << 20);
  StudiedPort port(memory, 0);
  port.touches = false;
  const study::DesignPlan plan{static_cast<study::Design>(input[0] % 4),
                               static_cast<study::Mover>(input[0] / 4 % 2), study::Bypass::no,
                               1024};
  DesignChannel<StudiedPort> receiver(port);
  receiver.choose(plan);
  const auto layout = DesignChannel<StudiedPort>::layout_of(2, 1U << 20);
  std::byte* pipe = memory.area(0) + layout.offset(0, 1);
  const std::uint64_t slot =
      study::SlotSender<study::MappedLane>::slot_size(receiver.plan().chunk_bytes);
  CheckingSink sink;
  auto link = receiver.connect(1);
  std::byte text[3000] = {};
  input = input.subspan(1);
  // The input names a slot, a place in it, and what to write there.
  while (input.size() >= 4) {
    const std::uint64_t base =
        input[0] % 8 == 7 ? 0 : sizeof(wire::PipeControl) + input[0] % 8 * slot;
    const std::uint64_t at = base + input[1] % 128;
    const std::size_t count = std::min<std::size_t>(1 + input[2] % 32, input.size() - 4);
    std::memcpy(pipe + at, input.data() + 4, count);
    if (input[3] % 4 == 0) {
      const iovec piece{text, sizeof text};
      (void)receiver.post_in_place(1, {wire::PacketKind::data, 0, 0, 0, sizeof text + 4},
                                   std::span<const std::byte>(text, 4), {&piece, 1}, 5);
    }
    if (input[3] % 4 == 1) {
      (void)receiver.put(*link, {wire::PacketKind::eager, 0, 0, 0, 8},
                         [](std::span<std::byte> to, std::uint64_t) { to[0] = std::byte{1}; });
    }
    input = input.subspan(4 + count);
    for (int look = 0; look < 3; ++look) receiver.get(sink);
  }
}

}  // namespace fulmar::fuzz
