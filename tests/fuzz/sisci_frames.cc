// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "fuzz/targets.h"
#include "interfaces/device_port.h"
#include "protocol/cluster.h"
#include "sisci/connections.h"
#include "sisci/library.h"
#include "sisci/transfers.h"

namespace fulmar::fuzz {
namespace {

constexpr std::size_t segment_bytes = 200;
constexpr std::size_t guard_bytes = 64;

/// A node with a segment, a data interrupt and an interrupt of number 1, and all of it connected to by the
/// other node.
struct Node {
  Node(device::Device& device)
      : memory(segment_bytes + guard_bytes),
        port(device, interfaces::PortId::sisci, library.frames) {
    sisci::attach(library, port);
    port.start();
    sisci::LocalSegment& segment = library.local_segments.make(nullptr);
    segment.id = 1;
    segment.bytes = segment_bytes;
    segment.base = memory.data();
    segment.is_available = segment.is_shared = true;
    library.interrupts.make(nullptr).number = 1;
    library.data_interrupts.make(nullptr).number = 1;
  }
  std::vector<std::byte> memory;
  sisci::Library library;
  interfaces::DevicePort port;
};

}  // namespace

/// Each piece of the input is a frame of node 1 to node 0: its kind, how much of a good header is put over its
/// own, its length, a header and a payload.
void sisci_frames(std::span<const std::uint8_t> input) {
  device::Cluster cluster(2);
  Node node(cluster.device(0));
  Node other(cluster.device(1));
  sisci::RemoteSegment& own = node.library.remote_segments.make(nullptr);
  sisci::RemoteSegment& theirs = other.library.remote_segments.make(nullptr);
  if (!ask(node.library, own, 1, wire::SisciObject::segment, 1)) std::abort();
  if (!ask(other.library, theirs, 0, wire::SisciObject::segment, 1)) std::abort();
  cluster.settle();
  std::vector<std::byte> target(100);
  sisci::TransferGroup group;
  while (input.size() >= 3) {
    const std::size_t count = std::min<std::size_t>(input[2] % 100, input.size() - 3);
    const auto bytes = std::as_bytes(input.subspan(3, count));
    std::vector<std::byte> header(bytes.begin(), bytes.end());
    const std::vector<std::byte> payload(input[0] % 3 == 0 ? 0 : input[1], std::byte{1});
    const wire::SisciTransfer good{theirs.grant, input[1] % 220U, payload.size(), input[0], 0, 0};
    const std::size_t covered = std::min<std::size_t>({input[1], sizeof good, count});
    std::ranges::copy(wire::bytes_of(good).first(covered), header.begin());
    if (!other.port.send(0, input[0] % 12, header, payload, nullptr)) std::abort();
    if (own.state == sisci::Connection::State::connected && group.under_way < 8) {
      start_read(node.library, own, 0, target, group);
    }
    cluster.step(2);
    input = input.subspan(3 + count);
  }
  cluster.settle();
  for (std::size_t i = 0; i < guard_bytes; ++i) {
    if (node.memory[segment_bytes + i] != std::byte{}) std::abort();
  }
  if (group.under_way != 0) std::abort();  // node 1 answers every read, whatever else it says
  node.port.stop(interfaces::Port::Leaving::together);
  other.port.stop(interfaces::Port::Leaving::together);
}

}  // namespace fulmar::fuzz
