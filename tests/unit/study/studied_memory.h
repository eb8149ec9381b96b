// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "study/design_channel.h"
#include "unit/channel/plain_memory.h"

namespace fulmar::study {

using channel::Collector;
using channel::content;
using channel::PlainMemory;
using channel::Port;
using channel::put;
using channel::sound;

/// A rank whose peers' memory is mapped, and may be read and written in place.
class StudiedPort : public Port {
 public:
  using Port::Port;

  [[nodiscard]] bool reach(std::uint32_t) const noexcept { return reaches; }
  base::Error read(std::uint32_t, std::span<const iovec> local, std::uint64_t remote,
                   std::uint64_t bytes) {
    return move(local, remote, bytes, true);
  }
  base::Error write(std::uint32_t, std::span<const iovec> local, std::uint64_t remote,
                    std::uint64_t bytes) {
    return move(local, remote, bytes, false);
  }
  bool reaches = true;
  unsigned moves_before_failure = UINT32_MAX;
  bool touches = true;  ///< false: addresses are nobody's, only counted

 private:
  base::Error move(std::span<const iovec> local, std::uint64_t remote, std::uint64_t bytes,
                   bool reads) {
    if (moves_before_failure == 0) return base::Error(base::ErrorClass::other);
    --moves_before_failure;
    auto* there = reinterpret_cast<std::byte*>(remote);
    for (const iovec& piece : local) {
      const std::size_t count = std::min<std::uint64_t>(piece.iov_len, bytes);
      if (touches && reads) std::memcpy(piece.iov_base, there, count);
      if (touches && !reads) std::memcpy(there, piece.iov_base, count);
      there += count;
      bytes -= count;
    }
    return bytes == 0 ? base::Error() : base::Error(base::ErrorClass::intern);
  }
};
static_assert(fabric::MapsPeers<StudiedPort> && fabric::ReachesMemory<StudiedPort>);

/// Writes that are under way: those of one pair arrive in order, front half first; which pair is
/// next is drawn by lot.
class LateNetwork {
 public:
  LateNetwork(PlainMemory& memory, unsigned seed) : memory(memory), random_(seed) {}

  void give(std::uint32_t from, std::uint32_t to, std::uint64_t at, const std::byte* bytes,
            std::size_t count) {
    queues_[std::size_t{from} * memory.ranks + to].push_back({at, {bytes, bytes + count}, to});
    ++under_way_;
  }
  [[nodiscard]] std::size_t under_way(std::uint32_t from, std::uint32_t to) {
    return queues_[std::size_t{from} * memory.ranks + to].size();
  }
  [[nodiscard]] std::size_t under_way() const { return under_way_; }
  /// Half a write happens, if there is one.
  void step() {
    if (under_way_ == 0) return;
    std::size_t start = random_() % queues_.size();
    while (queues_[start].empty()) start = (start + 1) % queues_.size();
    Write& write = queues_[start].front();
    const std::size_t half = write.bytes.size() > 8 ? write.bytes.size() / 2 / 8 * 8 : 0;
    const std::size_t from = write.half_done ? half : 0;
    const std::size_t to = write.half_done || half == 0 ? write.bytes.size() : half;
    std::memcpy(memory.area(write.to) + write.at + from, write.bytes.data() + from, to - from);
    if (to < write.bytes.size()) {
      write.half_done = true;
      return;
    }
    queues_[start].pop_front();
    --under_way_;
  }

  PlainMemory& memory;

 private:
  struct Write {
    std::uint64_t at;
    std::vector<std::byte> bytes;
    std::uint32_t to;
    bool half_done = false;
  };
  std::mt19937 random_;
  std::vector<std::deque<Write>> queues_ =
      std::vector<std::deque<Write>>(std::size_t{memory.ranks} * memory.ranks);
  std::size_t under_way_ = 0;
};

/// As an adapter would carry it: from an image of the pipe, some time later.
class LateLane {
 public:
  static constexpr bool bottom_word = true;
  static constexpr std::size_t most_under_way = 6;

  LateLane(LateNetwork& network, std::uint32_t from, std::uint32_t to, std::uint64_t offset)
      : network_(&network),
        from_(from),
        to_(to),
        offset_(offset),
        image_(std::make_shared<std::vector<std::byte>>(PipeLayout::most_ring_bytes + 4096)) {}

  [[nodiscard]] std::byte* image(std::uint64_t at) noexcept { return image_->data() + at; }
  [[nodiscard]] bool has_room(unsigned writes) const noexcept {
    return network_->under_way(from_, to_) + writes <=
           std::max<std::size_t>(writes, most_under_way);
  }
  void write(std::uint64_t at, std::uint64_t bytes) {
    network_->give(from_, to_, offset_ + at, image(at), bytes);
  }
  void publish(std::uint64_t at, std::uint64_t bytes, std::uint64_t word) {
    std::memcpy(image(at), &word, sizeof word);
    write(at, bytes);
  }

 private:
  LateNetwork* network_;
  std::uint32_t from_;
  std::uint32_t to_;
  std::uint64_t offset_;
  std::shared_ptr<std::vector<std::byte>> image_;
};
static_assert(Lane<LateLane>);

class LatePort : public StudiedPort {
 public:
  using PipeLane = LateLane;
  LatePort(LateNetwork& network, std::uint32_t self)
      : StudiedPort(network.memory, self), network_(network) {}
  [[nodiscard]] LateLane pipe_lane(std::uint32_t peer, std::uint64_t offset) {
    return {network_, self(), peer, offset};
  }

 private:
  LateNetwork& network_;
};

/// Takes packets, and one long packet at a time into `room`.
struct LongCollector : Collector {
  std::vector<std::byte> room;
  std::size_t piece_bytes = SIZE_MAX;  ///< of which `place` makes its answers; 0: none
  std::uint64_t arrived = 0;
  std::uint64_t parts = 0;
  std::uint64_t placed_bytes = 0;
  std::vector<std::uint64_t> ended;
  std::vector<std::byte> prefix;
  wire::Envelope envelope;

  std::span<const iovec> place(std::uint32_t, const wire::Envelope&, std::span<const std::byte>,
                               std::uint64_t offset, std::uint64_t bytes) {
    pieces_.clear();
    for (std::uint64_t at = offset; piece_bytes != 0 && at < offset + bytes && pieces_.size() < 100;
         at += piece_bytes) {
      const std::size_t count = std::min<std::uint64_t>(piece_bytes, offset + bytes - at);
      if (at + count <= room.size()) pieces_.push_back({room.data() + at, count});
    }
    return pieces_;
  }
  void placed(std::uint32_t, const wire::Envelope& what, std::span<const std::byte> head,
              std::uint64_t, std::uint64_t bytes) {
    envelope = what;
    prefix.assign(head.begin(), head.end());
    arrived += bytes;
    placed_bytes += bytes;
  }
  void part(std::uint32_t, const wire::Envelope& what, std::span<const std::byte> head,
            std::uint64_t offset, std::span<const std::byte> payload) {
    envelope = what;
    prefix.assign(head.begin(), head.end());
    if (offset + payload.size() <= room.size()) {
      std::copy(payload.begin(), payload.end(), room.data() + offset);
    }
    arrived += payload.size();
    ++parts;
  }
  void sent(std::uint64_t token, fabric::Sent) { ended.push_back(token); }

 private:
  std::vector<iovec> pieces_;
};
static_assert(fabric::PlacesBodies<LongCollector>);

}  // namespace fulmar::study
