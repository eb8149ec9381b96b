// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "fabric/tcp/stream/inbox.h"
#include "fuzz/targets.h"
#include "wire/tcp/tcp_frame.h"

namespace fulmar::fuzz {
namespace {

/// Takes everything; its memory is exactly as large as it says, so that a sanitizer sees a byte
/// too many.
class GreedySink {
 public:
  explicit GreedySink(std::uint8_t habit) : habit_(habit) {}

  void packet(std::uint32_t, const wire::Envelope& envelope, const fabric::Body& body) {
    if (body.size() != envelope.length) std::abort();
    count(body.bytes());
  }
  void sent(std::uint64_t, fabric::Sent) {}
  bool expect(std::uint32_t, const wire::Envelope& envelope) {
    if (envelope.length == 0) std::abort();  // it is complete
    return habit_ % 3 == 0;
  }
  std::span<const iovec> place(std::uint32_t, const wire::Envelope& envelope,
                               std::span<const std::byte> prefix, std::uint64_t offset,
                               std::uint64_t bytes) {
    if (prefix.size() + offset + bytes != envelope.length || bytes == 0) std::abort();
    if (habit_ % 4 == 0) return {};
    const std::uint64_t wanted = std::min<std::uint64_t>(bytes, habit_);
    memory_.assign(wanted, std::byte{0});
    memory_.shrink_to_fit();
    pieces_ = {{memory_.data(), 0}, {memory_.data(), wanted / 2}};
    pieces_.push_back({memory_.data() + wanted / 2, wanted - wanted / 2});
    return pieces_;
  }
  void placed(std::uint32_t, const wire::Envelope&, std::span<const std::byte>, std::uint64_t,
              std::uint64_t bytes) {
    if (bytes != memory_.size()) std::abort();
    count(memory_);
  }
  void part(std::uint32_t, const wire::Envelope& envelope, std::span<const std::byte> prefix,
            std::uint64_t offset, std::span<const std::byte> payload) {
    if (prefix.size() + offset + payload.size() > envelope.length) std::abort();
    count(payload);
  }
  [[nodiscard]] std::uint64_t sum() const { return sum_; }

 private:
  void count(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) sum_ += static_cast<std::uint8_t>(byte);
  }

  std::uint8_t habit_;
  std::uint64_t sum_ = 0;
  std::vector<std::byte> memory_;
  std::vector<iovec> pieces_;
};

/// Most of the input is nonsense at the first header; some headers are made to be nearly right.
std::vector<std::byte> stream_of(std::span<const std::uint8_t> input) {
  std::vector<std::byte> stream;
  std::uint32_t sequence = 0;
  while (input.size() >= 6) {
    wire::TcpFrame frame;
    frame.kind = input[0] < 240 ? input[0] % 16 : input[0];
    frame.prefix_bytes = input[1] % 4 == 0 ? input[1] % 40 : 0;
    frame.length = input[2];
    if (input[3] == 255) frame.length = 0xffffff00U | input[2];
    frame.flags = input[3];
    frame.reserved = input[4] == 255 ? 1 : 0;
    frame.sequence = input[5] == 255 ? sequence + 1 : sequence;
    ++sequence;
    const auto* header = reinterpret_cast<const std::byte*>(&frame);
    stream.insert(stream.end(), header, header + sizeof frame);
    input = input.subspan(6);
    const std::size_t body = std::min<std::size_t>(frame.length, input.size());
    const auto* bytes = reinterpret_cast<const std::byte*>(input.data());
    stream.insert(stream.end(), bytes, bytes + body);
    input = input.subspan(body);
  }
  return stream;
}

}  // namespace

void tcp_stream(std::span<const std::uint8_t> input) {
  if (input.size() < 2) return;
  const std::size_t step = input[0] % 64 + 1U;
  GreedySink sink(input[1]);
  const std::vector<std::byte> stream = stream_of(input.subspan(2));
  fabric::tcp::Inbox inbox;
  fabric::tcp::Buffers buffers(1U << 20);
  for (std::size_t at = 0; at < stream.size(); at += step) {
    // A copy of its own, so that a sanitizer sees where it ends.
    const std::vector<std::byte> bytes(
        stream.begin() + static_cast<long>(at),
        stream.begin() + static_cast<long>(std::min(at + step, stream.size())));
    if (inbox.take(bytes, 0, fabric::SinkRef(sink), buffers) != nullptr) break;
  }
  if (buffers.bytes_in_use() > wire::tcp_max_body_bytes) std::abort();
  inbox.abandon(buffers);
  if (buffers.bytes_in_use() != 0) std::abort();
}

}  // namespace fulmar::fuzz
