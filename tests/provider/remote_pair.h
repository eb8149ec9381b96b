// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "fabric/provider.h"
#include "provider/tcp_net.h"

/// Two ranks that read and write each other's memory, for tests of what fabric::Network promises of
/// peers' memory.
namespace fulmar::fabric {

/// Records what is reported; an operation that ends twice is a failure.
struct RemoteSink {
  std::map<std::uint64_t, Sent> ended;  ///< by token
  std::vector<std::int32_t> tags;       ///< of packets
  std::vector<std::uint16_t> words;     ///< immediate data
  std::function<void(std::int32_t)> on_packet;
  std::function<void(std::uint64_t, Sent)> on_sent;
  std::function<void(std::uint16_t)> on_word;

  void packet(std::uint32_t, const wire::Envelope& envelope, const Body& body) {
    const auto bytes = body.bytes();
    const auto expected = pattern(bytes.size(), static_cast<unsigned>(envelope.tag));
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), expected.begin())) << envelope.tag;
    tags.push_back(envelope.tag);
    if (on_packet) on_packet(envelope.tag);
  }
  void sent(std::uint64_t token, Sent how) {
    EXPECT_TRUE(ended.emplace(token, how).second) << token << " ended twice";
    if (on_sent) on_sent(token, how);
  }
  void immediate_received(std::uint32_t, std::uint16_t word) {
    words.push_back(word);
    if (on_word) on_word(word);
  }
  [[nodiscard]] std::size_t count(Sent how) const {
    std::size_t found = 0;
    for (const auto& [token, end] : ended) found += end == how ? 1 : 0;
    return found;
  }
};

/// A maker has
/// * `Provider`, `name`, and `lacking()`: why there is nothing to test with; empty if there is;
/// * `at(rank)`: the provider of rank 0 or 1, null once it was killed;
/// * `kill(rank)`: ends a rank without a word;
/// * `has_lost(rank)`: whether its provider has reported the loss of the other rank.
template <class Maker>
struct RemotePair {
  Maker maker;
  std::array<RemoteSink, 2> sinks;

  void step() {
    for (unsigned rank = 0; rank < 2; ++rank) {
      if (auto* const provider = maker.at(rank); provider != nullptr) provider->poll(sinks[rank]);
    }
  }
  /// False: not within the time that a slow machine may need.
  template <class Done>
  [[nodiscard]] bool until(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    for (unsigned i = 1; !done(); ++i) {
      step();
      if (i % 256 == 0 && std::chrono::steady_clock::now() > end) return false;
    }
    return true;
  }
  [[nodiscard]] bool until_ended(unsigned rank, std::size_t count) {
    return until([&] { return sinks[rank].ended.size() >= count; });
  }

  [[nodiscard]] bool post(unsigned from, std::int32_t tag) {
    const std::size_t bytes = tag % 3 == 0 ? 8 : 3000;
    const auto body = pattern(bytes, static_cast<unsigned>(tag));
    return until(
        [&] { return maker.at(from)->post(1 - from, envelope(bytes, tag), body) == Post::done; });
  }
  [[nodiscard]] bool connect() {
    return post(0, 0) && until([&] { return sinks[1].tags.size() == 1; });
  }
  /// Posts as often as it takes.
  [[nodiscard]] bool fetch(unsigned from, std::span<std::byte> to, std::uint32_t lkey,
                           const RemoteAddress& place, std::uint64_t token) {
    return until(
        [&] { return maker.at(from)->rdma_read(1 - from, to, lkey, place, token) == Post::done; });
  }
  [[nodiscard]] bool put(unsigned from, std::span<const std::byte> bytes, std::uint32_t lkey,
                         const RemoteAddress& place, std::uint64_t token) {
    return until([&] {
      return maker.at(from)->rdma_write(1 - from, bytes, lkey, place, token) == Post::done;
    });
  }

  /// Memory of a rank, open as long as this lives.
  class Memory {
   public:
    Memory(RemotePair& pair, unsigned rank, Access access, std::span<std::byte> bytes)
        : pair_(pair), rank_(rank), bytes_(bytes) {
      const auto opened = pair.maker.at(rank)->open_memory(bytes, access);
      EXPECT_TRUE(opened.ok()) << opened.error().text();
      if (opened.ok()) opened_ = opened.value();
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { close(); }
    void close() {
      auto* const provider = pair_.maker.at(rank_);
      if (provider != nullptr && !closed_) provider->close_memory(opened_);
      closed_ = true;
    }
    [[nodiscard]] std::uint32_t lkey() const { return opened_.lkey; }
    [[nodiscard]] RemoteAddress place(std::size_t offset = 0) const {
      return {opened_.name_of(bytes_.data()) + offset, opened_.rkey};
    }
    [[nodiscard]] std::span<std::byte> part(std::size_t offset, std::size_t count) const {
      return bytes_.subspan(offset, count);
    }

   private:
    RemotePair& pair_;
    unsigned rank_;
    std::span<std::byte> bytes_;
    MemoryRegion opened_;
    bool closed_ = false;
  };
};

}  // namespace fulmar::fabric
