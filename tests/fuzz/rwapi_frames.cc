// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "fuzz/targets.h"
#include "interfaces/device_port.h"
#include "protocol/cluster.h"
#include "rwapi/node.h"

namespace fulmar::fuzz {

/// Each piece of the input is a frame of node 1 to node 0: its kind, how much of a good address is put
/// over its header, its length, a header and a payload that is the same bytes.
void rwapi_frames(std::span<const std::uint8_t> input) {
  device::Cluster cluster(2);
  rwapi::Node node;
  rwapi::Node sender;
  interfaces::DevicePort port(cluster.device(0), interfaces::PortId::rwapi, node);
  interfaces::DevicePort other(cluster.device(1), interfaces::PortId::rwapi, sender);
  if (!node.attach(port, 1 << 20) || !sender.attach(other, 1 << 20)) std::abort();
  constexpr std::size_t block_bytes = 200;
  rwapi_net net{};
  rwapi_net guard_net{};
  (void)node.allocate(block_bytes, net);
  const auto* const guard = static_cast<const std::uint8_t*>(node.allocate(64, guard_net));
  const rwapi_sid sid = node.write(1, net, guard_net, 1);
  while (input.size() >= 3) {
    const std::size_t count = std::min<std::size_t>(input[2] % 100, input.size() - 3);
    const auto bytes = std::as_bytes(input.subspan(3, count));
    std::vector<std::byte> header(bytes.begin(), bytes.end());
    const wire::RwapiWrite good{1, input[1] % 220U, net.block, net.generation, net.seal};
    const std::size_t covered = std::min<std::size_t>({input[1], sizeof good, count});
    std::ranges::copy(wire::bytes_of(good).first(covered), header.begin());
    const std::vector<std::byte> payload(input[0] % 3 == 0 ? 0 : count * 3, std::byte{1});
    if (!other.send(0, input[0] % 9, header, payload, nullptr)) std::abort();
    cluster.step(2);
    rwapi_node from = 0;
    rwapi_small message{};
    if (node.receive(from, message) == 1 && from != 1) std::abort();
    if (node.is_sent(sid) > 1) std::abort();
    input = input.subspan(3 + count);
  }
  cluster.settle();
  for (std::size_t i = 0; i < 64; ++i) {
    if (guard[i] != 0) std::abort();  // behind the block that may be written to
  }
  port.stop(interfaces::Port::Leaving::together);
  other.stop(interfaces::Port::Leaving::together);
  node.detach();
  sender.detach();
}

}  // namespace fulmar::fuzz
