// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "fabric/fake/fake_memory.h"
#include "fabric/network.h"

namespace fulmar::fabric {

/// A network inside one process, for protocol tests: deterministic, one packet at a time, and it
/// refuses, delays, reorders between peers and kills on command.
class FakeNetwork {
 public:
  /// Is called with the port that polls, before it gets anything. Other ports may be used
  /// meanwhile: this is where ranks that share a thread take turns.
  using Turn = std::function<void(std::uint32_t port)>;

  struct Packet {
    wire::Envelope envelope;
    std::vector<std::byte> body;
    std::optional<std::uint16_t> word =
        std::nullopt;  ///< of `rdma_write_with_immediate`; no packet
  };

  explicit FakeNetwork(std::uint32_t ports, std::uint64_t seed = 1)
      : ports_(ports), random_(seed), memory_(ports, seed), ways_(ports), alive_(ports, true) {}

  [[nodiscard]] std::uint32_t ports() const noexcept { return ports_; }
  [[nodiscard]] std::deque<Packet>& queue(std::uint32_t from, std::uint32_t to) noexcept {
    return ways_[to][from].queue;
  }

  /// The next `count` posts of any port answer `again`; orders do not.
  void refuse_posts(unsigned count) noexcept { refusals_ = count; }
  /// Every post and order is refused with this probability, and a poll delivers nothing with the
  /// same one.
  void set_reluctance(double probability) noexcept { reluctance_ = probability; }
  /// What goes from one port to another is not there for the next `polls` polls of the receiver;
  /// what others send meanwhile overtakes it. A port that is held already is not held longer: everything
  /// arrives.
  void hold(std::uint32_t from, std::uint32_t to, unsigned polls) noexcept {
    unsigned& held = ways_[to][from].held_polls;
    if (held == 0) held = polls;
  }
  void set_turn(Turn turn) { turn_ = std::move(turn); }
  /// Is called with the receiver of each packet that is posted.
  using Posted = std::function<void(std::uint32_t to)>;
  void set_posted(Posted posted) { on_posted_ = std::move(posted); }
  void tell_posted(std::uint32_t to) {
    if (on_posted_) on_posted_(to);
  }
  void take_turns(std::uint32_t port) {
    if (turn_) turn_(port);
  }
  /// From now on the port neither sends nor receives. Packets that it sent stay in flight, unless they are
  /// behind a put that has not happened.
  void kill(std::uint32_t port) {
    alive_[port] = false;
    memory_.kill(port);
  }
  /// As `kill` for all others; the port itself goes on and has lost all others, so that what it has
  /// under way ends, too.
  void cut_off(std::uint32_t port) {
    alive_[port] = false;
    memory_.cut_off(port);
  }
  [[nodiscard]] bool alive(std::uint32_t port) const noexcept { return alive_[port]; }
  /// Memory that ports open for each other, as for adapters of RDMA; off at first.
  [[nodiscard]] FakeMemory& memory() noexcept { return memory_; }
  /// Posts are refused where so many packets are on one way already, as in a ring.
  void set_room(std::size_t packets) noexcept { room_ = packets; }
  [[nodiscard]] bool is_full(std::uint32_t from, std::uint32_t to) noexcept {
    return room_ != 0 && queue(from, to).size() >= room_;
  }
  /// Asked whether a port has left for good, see Network::gone; nothing: none has.
  using Left = std::function<bool(std::uint32_t port)>;
  void set_left(Left left) { left_ = std::move(left); }
  [[nodiscard]] bool has_left(std::uint32_t port) const { return left_ && left_(port); }
  /// Whether ports may read each other's memory, as on shared memory with single copy.
  void set_reach(bool reach) noexcept { reach_ = reach; }
  [[nodiscard]] bool reach() const noexcept { return reach_; }
  /// The next `count` reads and writes of memory fail.
  void fail_copies(unsigned count) noexcept { copy_failures_ = count; }

  [[nodiscard]] bool refuses() noexcept;
  [[nodiscard]] bool is_reluctant() noexcept;
  [[nodiscard]] bool copy_fails() noexcept;
  /// Picks the source of the next packet for `to` among those that have one; `ports()` if none has
  /// or the network does not feel like it.
  [[nodiscard]] std::uint32_t pick_source(std::uint32_t to) noexcept;
  /// May carry out an operation of the port; true if one has ended and has to be reported now.
  [[nodiscard]] bool look_at_orders(std::uint32_t port, FakeMemory::Ended& ended) noexcept;
  /// Lets quiet puts to the port go on, perhaps.
  void let_puts_in(std::uint32_t port) noexcept;
  [[nodiscard]] std::uint64_t packets_posted() const noexcept { return posted_; }
  void count_post() noexcept { ++posted_; }
  [[nodiscard]] std::uint64_t packets_taken() const noexcept { return taken_; }
  void count_taken() noexcept { ++taken_; }
  /// Whether there is a packet for the port.
  [[nodiscard]] bool has_packets(std::uint32_t to) const noexcept;
  /// A network of very many ports keeps no queue that is empty.
  void forget_if_idle(std::uint32_t from, std::uint32_t to) {
    constexpr std::uint32_t many = 256;
    if (ports_ <= many) return;
    const auto way = ways_[to].find(from);
    if (way->second.queue.empty() && way->second.held_polls == 0) ways_[to].erase(way);
  }
  /// Packets in flight.
  [[nodiscard]] std::size_t in_flight() const noexcept;

 private:
  struct Way {
    std::deque<Packet> queue;
    unsigned held_polls = 0;
  };

  std::uint32_t ports_;
  std::mt19937_64 random_;
  FakeMemory memory_;
  /// By receiver and sender. Only those that were ever used: a network may have thousands of ports.
  std::vector<std::map<std::uint32_t, Way>> ways_;
  std::vector<bool> alive_;
  unsigned refusals_ = 0;
  std::size_t room_ = 0;  ///< 0: any number
  unsigned copy_failures_ = 0;
  double reluctance_ = 0;
  bool reach_ = true;
  std::uint64_t posted_ = 0;
  std::uint64_t taken_ = 0;
  Turn turn_;
  Posted on_posted_;
  Left left_;
};

/// One port of a FakeNetwork.
class Fake : public Network {
 public:
  static constexpr std::size_t max_body_bytes = 4096;
  static constexpr std::size_t max_remote_bytes = 20'000;
  static constexpr std::size_t copied_write_bytes = 64;

  Fake(FakeNetwork& network, std::uint32_t self) noexcept
      : Network("fake", {.body_bytes = max_body_bytes, .rdma_bytes = max_remote_bytes}),
        network_(network),
        self_(self) {}

  [[nodiscard]] std::uint32_t self() const noexcept { return self_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return network_.ports(); }
  /// No addresses are needed.
  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override {
    return std::vector<std::byte>();
  }
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept override {
    return are_connected(peer) && !network_.memory().broken(self_, peer);
  }
  [[nodiscard]] Post post(std::uint32_t peer, const wire::Envelope& envelope,
                          std::span<const std::byte> body) override;

  unsigned poll(SinkRef sink) override;

  /// Polling finds packets; there is no descriptor.
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  [[nodiscard]] bool arm() override { return false; }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override { return -1; }
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept override {
    return network_.has_left(peer);
  }
  void leave(Leaving /*how*/) override {}
  [[nodiscard]] bool quiesced() const noexcept override { return true; }

  [[nodiscard]] bool moves_remotely(std::uint32_t peer) const noexcept override {
    return alive(peer);
  }
  [[nodiscard]] base::Result<MemoryRegion> open_memory(std::span<std::byte> memory,
                                                       Access access) override {
    return network_.memory().open(self_, memory, access);
  }
  void close_memory(const MemoryRegion& opened) override { network_.memory().close(self_, opened); }
  [[nodiscard]] Post rdma_read(std::uint32_t peer, std::span<std::byte> to, std::uint32_t lkey,
                               const RemoteAddress& from, std::uint64_t token) override;
  [[nodiscard]] Post rdma_write(std::uint32_t peer, std::span<const std::byte> from,
                                std::uint32_t lkey, const RemoteAddress& to,
                                std::uint64_t token) override;

  /// See WritesUnsignaled and WritesWithImmediate.
  [[nodiscard]] static bool writes_in_order() noexcept { return true; }
  [[nodiscard]] Post rdma_write_unsignaled(std::uint32_t peer, std::span<const std::byte> from,
                                           std::uint32_t lkey, const RemoteAddress& to);
  void give_up(std::uint32_t peer, const base::Error& /*why*/) {
    network_.memory().part(self_, peer);
  }
  [[nodiscard]] Post rdma_write_with_immediate(std::uint32_t peer, std::span<const std::byte> from,
                                               std::uint32_t lkey, const RemoteAddress& to,
                                               std::uint16_t word, std::uint64_t token);
  [[nodiscard]] Changes changes_memory() const noexcept override { return Changes::by_adapter; }
  [[nodiscard]] Post fetch_add(std::uint32_t peer, std::span<std::byte> was, std::uint32_t lkey,
                               const RemoteAddress& place, std::uint64_t value,
                               std::uint64_t token) override;
  [[nodiscard]] Post compare_swap(std::uint32_t peer, std::span<std::byte> was, std::uint32_t lkey,
                                  const RemoteAddress& place, std::uint64_t expected,
                                  std::uint64_t value, std::uint64_t token) override;

  [[nodiscard]] bool reach(std::uint32_t peer) noexcept override {
    return network_.reach() && are_connected(peer);
  }
  [[nodiscard]] base::Error read(std::uint32_t peer, std::span<const iovec> local,
                                 std::uint64_t remote, std::uint64_t bytes) noexcept override;
  [[nodiscard]] base::Error write(std::uint32_t peer, std::span<const iovec> local,
                                  std::uint64_t remote, std::uint64_t bytes) noexcept override;

 private:
  [[nodiscard]] bool are_connected(std::uint32_t peer) const noexcept {
    return network_.alive(peer) && (peer == self_ || network_.alive(self_));
  }
  [[nodiscard]] Post give(FakeMemory::Order order);

  FakeNetwork& network_;
  std::uint32_t self_;
};

}  // namespace fulmar::fabric
