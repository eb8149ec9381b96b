// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <vector>

#include "fuzz/targets.h"
#include "interfaces/device_port.h"
#include "protocol/cluster.h"

namespace fulmar::fuzz {
namespace {

/// Takes payloads up to 1 MiB; what is behind one of them must stay as it is.
class Taker final : public interfaces::Client {
 public:
  std::byte* begin(const interfaces::Frame& frame) noexcept override {
    if (frame.payload_bytes > (1U << 20)) return nullptr;
    places_.emplace_back(frame.payload_bytes + 1, std::byte{0});
    places_.back().back() = std::byte{77};
    return places_.back().data();
  }
  void deliver(const interfaces::Frame& frame, Payload payload) noexcept override {
    if (frame.header.size() > interfaces::frame_bytes) std::abort();
    if (payload != Payload::here && payload != Payload::lost) return;
    if (places_.empty() || places_.front().size() != frame.payload_bytes + 1) std::abort();
    if (places_.front().back() != std::byte{77}) std::abort();
    places_.pop_front();
  }
  void segment_mapped(std::uint32_t, std::uint64_t,
                      interfaces::Segment* segment) noexcept override {
    if (segment != nullptr) std::abort();
  }
  void peer_lost(std::uint32_t) noexcept override {}
  unsigned step() noexcept override { return 0; }

 private:
  std::deque<std::vector<std::byte>> places_;
};

}  // namespace

/// Each piece of the input is a frame: a length, whether the next number is put in, the bytes.
void interface_frames(std::span<const std::uint8_t> input) {
  device::Cluster cluster(2);
  Taker client;
  interfaces::DevicePort port(cluster.device(0), interfaces::PortId::sisci, client);
  port.start();
  std::uint32_t sequence = 1;
  while (input.size() >= 2) {
    const std::size_t count = std::min<std::size_t>(input[0] % 120, input.size() - 2);
    const bool is_numbered = input[1] % 4 != 0;
    const auto bytes = std::as_bytes(input.subspan(2, count));
    std::vector<std::byte> frame(bytes.begin(), bytes.end());
    if (count >= sizeof(wire::FrameHeader) && is_numbered) {
      frame[1] &= std::byte{wire::frame_inline | wire::frame_system};
      std::memcpy(frame.data() + offsetof(wire::FrameHeader, sequence), &sequence, sizeof sequence);
      ++sequence;
    }
    cluster.network.queue(1, 0).push_back({{wire::PacketKind::eager, 0, wire::frame_context(2, 0),
                                            0, static_cast<std::uint32_t>(count)},
                                           frame});
    cluster.device(0).progress();
    cluster.network.queue(0, 1).clear();
    input = input.subspan(2 + count);
  }
  cluster.device(0).failures().add(1, "the end of the input");
  for (int i = 0; i < 100; ++i) cluster.device(0).progress();
  port.stop(interfaces::Port::Leaving::together);
}

}  // namespace fulmar::fuzz
