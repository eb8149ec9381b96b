// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"
#include "fabric/network.h"
#include "fabric/shm/shm.h"
#include "runtime/network/host_ways.h"

namespace fulmar::runtime {

/// A network, and the ways to processes of other jobs through memory (host_ways.h), as one network:
/// peers with a way are reached by that, all others by the network.
///
/// **Polling.** Memory is looked at by every `poll`, the network, which costs a system call, only now
/// and then once nothing has come from it for a while; but always after `arm`.
///
/// **Sleeping.** The descriptor watches that of the network and the socket of the ways.
///
/// Thread rule: the lock of the engine.
class HostNetwork final : public fabric::Network {
 public:
  /// Takes the network if it succeeds. Fails (other) where the system has no descriptor left.
  [[nodiscard]] static base::Result<std::unique_ptr<HostNetwork>> open(
      std::unique_ptr<fabric::Network>& network, HostWays::Config config);

  [[nodiscard]] HostWays& ways() noexcept { return ways_; }

  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override {
    return network_->address();
  }
  void grow(std::uint32_t size) override { network_->grow(size); }
  [[nodiscard]] fabric::Post post(std::uint32_t peer, const wire::Envelope& envelope,
                                  std::span<const std::byte> body) override;
  [[nodiscard]] fabric::Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                           std::span<const std::byte> prefix,
                                           std::span<const iovec> pieces,
                                           std::uint64_t token) override;
  unsigned poll(fabric::SinkRef sink) override;
  [[nodiscard]] bool has_unsent() const noexcept override { return network_->has_unsent(); }
  void flush() override { network_->flush(); }

  [[nodiscard]] int descriptor() const noexcept override { return epoll_.get(); }
  [[nodiscard]] bool arm() override;
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override {
    return network_->next_deadline_ns();
  }
  [[nodiscard]] int completion_descriptor() const noexcept override {
    return network_->completion_descriptor();
  }
  void set_completion_wakeup(fabric::CompletionWakeup how) override {
    network_->set_completion_wakeup(how);
  }
  [[nodiscard]] bool arm_completions() override { return network_->arm_completions(); }

  [[nodiscard]] bool moves_remotely(std::uint32_t peer) const noexcept override {
    return !ways_.leads_to(peer) && network_->moves_remotely(peer);
  }
  [[nodiscard]] base::Result<fabric::MemoryRegion> open_memory(std::span<std::byte> memory,
                                                               fabric::Access access) override {
    return network_->open_memory(memory, access);
  }
  void close_memory(const fabric::MemoryRegion& opened) override { network_->close_memory(opened); }
  [[nodiscard]] fabric::Post rdma_read(std::uint32_t peer, std::span<std::byte> to,
                                       std::uint32_t lkey, const fabric::RemoteAddress& from,
                                       std::uint64_t token) override {
    return network_->rdma_read(peer, to, lkey, from, token);
  }
  [[nodiscard]] fabric::Post rdma_write(std::uint32_t peer, std::span<const std::byte> from,
                                        std::uint32_t lkey, const fabric::RemoteAddress& to,
                                        std::uint64_t token) override {
    return network_->rdma_write(peer, from, lkey, to, token);
  }
  [[nodiscard]] Changes changes_memory() const noexcept override {
    return network_->changes_memory();
  }
  [[nodiscard]] fabric::Post fetch_add(std::uint32_t peer, std::span<std::byte> was,
                                       std::uint32_t lkey, const fabric::RemoteAddress& place,
                                       std::uint64_t value, std::uint64_t token) override {
    return network_->fetch_add(peer, was, lkey, place, value, token);
  }
  [[nodiscard]] fabric::Post compare_swap(std::uint32_t peer, std::span<std::byte> was,
                                          std::uint32_t lkey, const fabric::RemoteAddress& place,
                                          std::uint64_t expected, std::uint64_t value,
                                          std::uint64_t token) override {
    return network_->compare_swap(peer, was, lkey, place, expected, value, token);
  }

  [[nodiscard]] bool reach(std::uint32_t peer) noexcept override {
    return ways_.leads_to(peer) ? ways_.reach(peer) : network_->reach(peer);
  }
  [[nodiscard]] base::Error read(std::uint32_t peer, std::span<const iovec> local,
                                 std::uint64_t remote, std::uint64_t bytes) noexcept override {
    return ways_.leads_to(peer) ? ways_.read(peer, local, remote, bytes)
                                : network_->read(peer, local, remote, bytes);
  }
  [[nodiscard]] base::Error write(std::uint32_t peer, std::span<const iovec> local,
                                  std::uint64_t remote, std::uint64_t bytes) noexcept override {
    return ways_.leads_to(peer) ? ways_.write(peer, local, remote, bytes)
                                : network_->write(peer, local, remote, bytes);
  }

  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept override {
    return ways_.leads_to(peer) ? ways_.alive(peer) : network_->alive(peer);
  }
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept override {
    return ways_.leads_to(peer) ? ways_.gone(peer) : network_->gone(peer);
  }
  void leave(fabric::Leaving how) override;
  [[nodiscard]] bool quiesced() const noexcept override { return network_->quiesced(); }
  void end() noexcept override;
  void close() noexcept override;
  [[nodiscard]] base::Error resume() override;
  void disconnect(std::uint32_t peer) override { network_->disconnect(peer); }
  [[nodiscard]] bool forget(std::uint32_t peer) override {
    return !ways_.leads_to(peer) && network_->forget(peer);
  }
  [[nodiscard]] std::vector<std::uint32_t> known_peers() const override {
    return network_->known_peers();
  }

  [[nodiscard]] const char* name_of(std::uint32_t peer) const noexcept override {
    return ways_.leads_to(peer) ? fabric::Shm::name : network_->name_of(peer);
  }
  [[nodiscard]] std::string text_of(std::uint32_t peer) const override {
    return ways_.leads_to(peer) ? "shared memory of this host" : network_->text_of(peer);
  }
  [[nodiscard]] std::uint64_t counted(std::string_view what) const noexcept override {
    return network_->counted(what);
  }

 private:
  HostNetwork(std::unique_ptr<fabric::Network> network, HostWays::Config config,
              base::WakeSocket socket);
  [[nodiscard]] std::size_t body_limit_of(std::uint32_t peer) override;
  [[nodiscard]] std::size_t in_place_limit_of(std::uint32_t peer) override;
  unsigned poll_network(fabric::SinkRef& sink);
  [[nodiscard]] base::Error watch();

  /// An end of a packet in place that the next poll tells.
  struct Ended {
    std::uint64_t token;
    fabric::Sent how;
  };

  std::unique_ptr<fabric::Network> network_;
  HostWays ways_;
  base::UniqueFd epoll_;
  std::vector<Ended> ended_;
  fabric::Leaving leaving_ = fabric::Leaving::may_return;
  bool armed_ = false;
  bool over_ = false;             ///< after `end`
  std::uint32_t idle_polls_ = 0;  ///< of the network, since something came from it
};

}  // namespace fulmar::runtime
