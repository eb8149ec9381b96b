// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/os/wake_socket.h"
#include "device/transport/node_channel.h"
#include "fabric/process_table.h"
#include "fabric/provider.h"
#include "fabric/sink_ref.h"
#include "runtime/network/host_segment.h"

namespace fulmar::runtime {

/// The ways to processes of other jobs through memory of this host (host_segment.h), of which there
/// may be several. Members with a peer require that there is a way to it, where nothing else is said.
///
/// **Sleeping.** A process that sleeps says so in its area of each memory (`announce_sleep`), and who
/// writes to it then rings its socket. The caller polls between that and the sleep, behind a barrier
/// that all senders pass (device/progress/waiting.cc).
///
/// **Failures.** `look` asks the system about the processes behind the memory. What a dead one had
/// written is still handed to the sink.
///
/// Thread rule: the lock of the engine.
class HostWays {
 public:
  struct Config {
    void* owner = nullptr;
    /// A process that is reached through memory has died.
    void (*lost)(void* owner, std::uint32_t peer, const base::Error& why) = nullptr;
    /// Such a process has left MPI.
    void (*left)(void* owner, std::uint32_t peer) = nullptr;
    fabric::Processes processes;
    bool has_membarrier = false;
  };
  HostWays(Config config, base::WakeSocket socket) noexcept
      : config_(std::move(config)), socket_(std::move(socket)) {}

  /// From now on the members with these ids, none of which has a way, are reached through it.
  void add(std::unique_ptr<HostSegment> segment, std::span<const std::uint32_t> reached);
  /// Whether a process is reached through memory.
  [[nodiscard]] bool leads_to(std::uint32_t peer) const noexcept { return find(peer) != nullptr; }
  /// Ends the way to a process, from which nothing more is awaited; memory without any is unmapped.
  /// No effect where there is no way.
  void detach(std::uint32_t peer);
  /// Looks for processes that have died. Once a second is often enough.
  void look();

  /// What such a process says of itself; `absent` where there is no way.
  [[nodiscard]] wire::HostMemberState state_of(std::uint32_t peer) const noexcept;
  /// Says what this process is, in the memory through which it reaches the peer: `inside` or
  /// `released`. And in all.
  void set_state(std::uint32_t peer, wire::HostMemberState state) noexcept;
  void set_states(wire::HostMemberState state) noexcept;
  /// Processes that are reached through the same memory as this one, itself included; all.
  [[nodiscard]] std::vector<std::uint32_t> beside(std::uint32_t peer) const;
  [[nodiscard]] std::vector<std::uint32_t> reached() const;
  [[nodiscard]] std::size_t segments() const noexcept { return grounds_.size(); }

  // --- see fabric::Network

  [[nodiscard]] fabric::Post post(std::uint32_t peer, const wire::Envelope& envelope,
                                  std::span<const std::byte> body) noexcept;
  /// The longest body. Takes a ring, if there is none yet.
  [[nodiscard]] std::size_t body_limit(std::uint32_t peer) noexcept;
  unsigned poll(fabric::SinkRef& sink);
  [[nodiscard]] int descriptor() const noexcept { return socket_.descriptor(); }
  void announce_sleep() noexcept;
  [[nodiscard]] bool reach(std::uint32_t peer) noexcept;
  [[nodiscard]] base::Error read(std::uint32_t peer, std::span<const iovec> local,
                                 std::uint64_t remote, std::uint64_t bytes) noexcept;
  [[nodiscard]] base::Error write(std::uint32_t peer, std::span<const iovec> local,
                                  std::uint64_t remote, std::uint64_t bytes) noexcept;
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept { return !find(peer)->dead; }
  /// A caller that asks again after a poll gets the answer.
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept;

 private:
  /// Memory and its channel.
  struct Ground {
    Ground(std::unique_ptr<HostSegment> memory, std::span<const std::uint32_t> ids)
        : segment(std::move(memory)), channel(segment->shm(), ids) {}
    std::unique_ptr<HostSegment> segment;
    device::NodeChannel channel;
    std::uint32_t ways = 0;
  };
  /// A peer that is reached through it.
  struct Way {
    Ground* ground = nullptr;
    std::uint32_t peer = 0;
    std::uint32_t number = 0;  ///< in the memory
    std::unique_ptr<device::NodeChannel::Link> link;
    bool blocked = false;  ///< the last post found no space
    bool dead = false;
    bool closed = false;   ///< it was seen to have left for good
    bool drained = false;  ///< and what it had sent has been handed to the sink since
    bool told = false;     ///< `left` was called
  };

  [[nodiscard]] Way* find(std::uint32_t peer) const noexcept {
    return peer < ways_.size() ? ways_[peer].get() : nullptr;
  }
  void look_at(Way& way);

  Config config_;
  base::WakeSocket socket_;
  std::vector<std::unique_ptr<Ground>> grounds_;
  std::vector<std::unique_ptr<Way>> ways_;  ///< by id; null: none
};

}  // namespace fulmar::runtime
