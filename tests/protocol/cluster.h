// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/engine_lock.h"
#include "device/device.h"
#include "fabric/fake/fake.h"

namespace fulmar::device {

/// Data with holes: `block` bytes, then `gap` bytes that are not part of them, and so on.
class Strided : public Packer {
 public:
  Strided(std::size_t block, std::size_t gap) : block_(block), gap_(gap) {}

  [[nodiscard]] std::size_t pack(const void* base, std::uint64_t offset,
                                 std::span<std::byte> to) const override {
    for (std::byte& byte : to) byte = static_cast<const std::byte*>(base)[place(offset++)];
    return to.size();
  }
  [[nodiscard]] std::size_t unpack(void* base, std::uint64_t offset,
                                   std::span<const std::byte> from) const override {
    for (const std::byte byte : from) static_cast<std::byte*>(base)[place(offset++)] = byte;
    return from.size();
  }
  [[nodiscard]] std::size_t segments(void* base, std::uint64_t offset, std::uint64_t bytes,
                                     std::span<iovec> out) const override {
    std::size_t count = 0;
    while (bytes > 0 && count < out.size()) {
      const std::uint64_t length = std::min<std::uint64_t>(bytes, block_ - offset % block_);
      out[count++] = {static_cast<std::byte*>(base) + place(offset), length};
      offset += length;
      bytes -= length;
    }
    return count;
  }
  [[nodiscard]] std::size_t extent(std::size_t bytes) const {
    return bytes == 0 ? 0 : place(bytes - 1) + 1;
  }

 private:
  [[nodiscard]] std::size_t place(std::uint64_t offset) const {
    return offset / block_ * (block_ + gap_) + offset % block_;
  }
  std::size_t block_;
  std::size_t gap_;
};

/// `runs`: a strided one whose blocks are long enough for orders of their own.
enum class Layout { dense, strided, runs };

/// One send or receive with the memory that it needs.
struct Message {
  Operation operation;
  Strided blocks{7, 3};
  Strided runs{5000, 40};
  std::vector<std::byte> memory;
  Layout layout = Layout::dense;

  [[nodiscard]] const Strided* packer() const {
    return layout == Layout::dense ? nullptr : layout == Layout::runs ? &runs : &blocks;
  }
  /// The bytes of the message in order, wherever they lie.
  [[nodiscard]] std::vector<std::byte> bytes() const {
    std::vector<std::byte> packed(operation.buffer.bytes);
    read_buffer(operation.buffer, 0, packed);
    return packed;
  }
  [[nodiscard]] const Outcome& outcome() const { return operation.outcome; }
  [[nodiscard]] bool done() const { return operation.done(); }
  [[nodiscard]] Stage stage() const { return operation.stage; }
};

/// What message number `seed` contains.
inline std::byte content(std::uint32_t seed, std::size_t at) {
  return static_cast<std::byte>((at * 131 + at / 256 * 17 + seed * 7919U) >> 3);
}

/// Several devices on one fake network, in one thread. Nothing moves unless a test lets it.
class Cluster {
 public:
  explicit Cluster(std::uint32_t size, Device::Config config = {}, std::uint64_t seed = 1)
      : network(size, seed) {
    config.size = size;
    for (std::uint32_t id = 0; id < size; ++id) {
      config.self = id;
      nodes_.push_back(std::make_unique<Node>(network, config));
    }
  }

  [[nodiscard]] Device& device(std::uint32_t id) { return nodes_[id]->device; }

  /// A message of `bytes` bytes with the content of `seed`, not started.
  std::unique_ptr<Message> make(match::Key key, std::size_t bytes, Layout layout,
                                std::uint32_t seed) {
    auto message = std::make_unique<Message>();
    message->layout = layout;
    const Strided* packer = message->packer();
    message->memory.resize(packer == nullptr ? bytes : packer->extent(bytes));
    message->operation.posted.key = key;
    message->operation.buffer = {message->memory.data(), bytes, packer};
    for (std::size_t at = 0; at < bytes; ++at) {
      const std::byte byte = content(seed, at);
      write_buffer(message->operation.buffer, at, {&byte, 1});
    }
    return message;
  }
  std::unique_ptr<Message> send(std::uint32_t from, std::uint32_t to, std::int32_t tag,
                                std::size_t bytes, std::uint32_t seed = 1,
                                SendMode mode = SendMode::standard, Layout layout = Layout::dense,
                                std::uint32_t context = 0) {
    auto message = make({context, to, tag}, bytes, layout, seed);
    message->operation.mode = mode;
    device(from).start_send(message->operation);
    return message;
  }
  std::unique_ptr<Message> receive(std::uint32_t at, std::uint32_t from, std::int32_t tag,
                                   std::size_t bytes, Layout layout = Layout::dense,
                                   std::uint32_t context = 0) {
    auto message = make({context, from, tag}, bytes, layout, 0xffff);
    device(at).start_receive(message->operation);
    return message;
  }

  /// Lets everything move until nothing does.
  void settle() {
    network.set_reluctance(0);
    network.refuse_posts(0);
    network.memory().let_orders_go();
    for (unsigned still = 0; still < 3;) {
      unsigned moved = 0;
      for (auto& node : nodes_) moved += node->device.progress();
      const bool quiet = network.in_flight() == 0 && network.memory().under_way() == 0;
      still = moved == 0 && quiet ? still + 1 : 0;
    }
  }
  /// Every device polls `times` times.
  void step(unsigned times = 1) {
    for (unsigned i = 0; i < times; ++i) {
      for (auto& node : nodes_) node->device.progress();
    }
  }
  /// Nothing is left of any message.
  [[nodiscard]] bool clean() {
    fabric::FakeMemory& memory = network.memory();
    bool clean = network.in_flight() == 0 && memory.under_way() == 0 &&
                 memory.open_regions() == 0 && memory.counters().breaches == 0 &&
                 memory.counters().bad_places == 0;
    for (auto& node : nodes_) {
      Device& device = node->device;
      clean = clean && device.unexpected_bytes() == 0 && device.named_operations() == 0 &&
              device.matcher().posted_count() == 0 && device.matcher().unexpected_count() == 0 &&
              device.backlogged_peers() == 0 && device.transfers() == 0;
    }
    return clean;
  }

  fabric::FakeNetwork network;

 private:
  struct Node {
    Node(fabric::FakeNetwork& network, const Device::Config& config)
        : port(network, config.self), device(config, lock) {
      lock.set_enabled(false);
      device.use(port);
    }
    base::EngineLock lock;
    fabric::Fake port;
    Device device;
  };
  std::vector<std::unique_ptr<Node>> nodes_;
};

/// Whether the first `bytes` bytes of a received message are those of message `seed`.
inline bool holds(const Message& message, std::uint32_t seed, std::size_t bytes) {
  const std::vector<std::byte> packed = message.bytes();
  if (packed.size() < bytes) return false;
  for (std::size_t at = 0; at < bytes; ++at) {
    if (packed[at] != content(seed, at)) return false;
  }
  // Memory behind the message was not touched.
  for (std::size_t at = bytes; at < packed.size(); ++at) {
    if (packed[at] != content(0xffff, at)) return false;
  }
  return true;
}

}  // namespace fulmar::device
