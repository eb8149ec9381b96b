// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstdlib>
#include <cstring>

#include "fuzz/targets.h"
#include "unit/channel/plain_memory.h"

namespace fulmar::fuzz {
namespace {

struct CheckingSink {
  const channel::PlainMemory& memory;
  void packet(std::uint32_t peer, const wire::Envelope& envelope, const fabric::Body& body) {
    if (peer == 0 || peer >= memory.ranks || body.size() != envelope.length) std::abort();
    if (!body.complete()) return;  // would wait for a sender that there is not
    for (const std::byte byte : body.bytes()) sum += static_cast<unsigned>(byte);
  }
  unsigned sum = 0;
};

}  // namespace

void channel_area(std::span<const std::uint8_t> input) {
  channel::PlainMemory memory(3, 1U << 20);
  channel::Port port(memory, 0);
  channel::MappedChannel<channel::Port> receiver(port);
  const auto link = receiver.connect(1);  // its ring is at rank 1; answers to it come to rank 0
  const wire::AreaLayout layout = memory.layout();
  CheckingSink sink{memory};
  // The input names a part, a place in it, and what to write there.
  const std::array<std::uint64_t, 6> parts = {
      0,
      layout.mailboxes,
      layout.claims,
      layout.rings,
      layout.rings + offsetof(wire::Ring, cells),
      offsetof(wire::AreaControl, ring_owner),
  };
  while (input.size() >= 4) {
    const std::uint64_t at = parts[input[0] % parts.size()] + input[1] + input[2] % 4 * 64;
    const std::size_t count = std::min<std::size_t>(1 + input[3] % 8, input.size() - 4);
    std::memcpy(memory.area(0) + at, input.data() + 4, count);
    input = input.subspan(4 + count);
    // The sender of a body that is cut through is trusted to finish it: see channel/ring.h.
    for (std::uint32_t ring = 0; ring < layout.ring_count; ++ring) {
      memory.ring(0, ring).filled.store(std::uint64_t{1} << 62);
    }
    memory.control(0).doorbell[0].store(~std::uint64_t{0});
    memory.control(0).doorbell_summary[0].store(~std::uint64_t{0});
    receiver.get(sink);
    static_cast<void>(channel::put(receiver, *link, 0, input.size() % 200));
    receiver.balance();
  }
}

}  // namespace fulmar::fuzz
