// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/os/wake_socket.h"
#include "fabric/shm/shm.h"
#include "study/design_channel.h"
#include "study/design_network.h"

namespace fulmar::study {

/// A design over the shared memory of a node, as a network of its ranks.
///
/// **Sleeping.** A process that sleeps says so in its area, and whoever writes to it then rings its
/// socket. The word stays as it is when the process wakes by itself: that costs one ring too many.
class MappedDesign final : public DesignNetwork {
 public:
  struct Config {
    DesignPlan plan;
    /// The ranks of the node, in ascending order: shared memory numbers them from 0.
    std::vector<std::uint32_t> ranks;
    bool has_membarrier = false;
    /// Called with `owner`: whether a rank has left MPI, see Network::gone. Null: not known.
    bool (*has_left)(const void* owner, std::uint32_t rank) = nullptr;
    const void* owner = nullptr;
  };

  /// `shm` outlives this. Fails (no_mem) where its areas have no room for pipes, and (other) where
  /// the system has no descriptor left.
  [[nodiscard]] static base::Result<std::unique_ptr<MappedDesign>> open(fabric::Shm& shm,
                                                                        Config config);

  /// No addresses are needed.
  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override {
    return std::vector<std::byte>();
  }
  [[nodiscard]] fabric::Post post(std::uint32_t peer, const wire::Envelope& envelope,
                                  std::span<const std::byte> body) override;
  [[nodiscard]] fabric::Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                           std::span<const std::byte> prefix,
                                           std::span<const iovec> pieces,
                                           std::uint64_t token) override;
  unsigned poll(fabric::SinkRef sink) override;
  [[nodiscard]] int descriptor() const noexcept override { return socket_.descriptor(); }
  [[nodiscard]] bool arm() override;
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override { return -1; }

  /// With Bypass::yes.
  [[nodiscard]] bool reach(std::uint32_t peer) noexcept override;
  [[nodiscard]] base::Error read(std::uint32_t peer, std::span<const iovec> local,
                                 std::uint64_t remote, std::uint64_t bytes) noexcept override;
  [[nodiscard]] base::Error write(std::uint32_t peer, std::span<const iovec> local,
                                  std::uint64_t remote, std::uint64_t bytes) noexcept override;

  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept override;
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept override;
  /// Everything written is in the peers' memory already.
  void leave(fabric::Leaving /*how*/) override {}
  [[nodiscard]] bool quiesced() const noexcept override { return true; }
  [[nodiscard]] base::Error resume() override { return {}; }

  [[nodiscard]] const DesignCounters& counters() const noexcept override {
    return channel_.design_counters();
  }

 private:
  using Channel = DesignChannel<fabric::Shm>;
  class RankSink;

  MappedDesign(fabric::Shm& shm, Config config, std::uint32_t chunk_bytes, base::WakeSocket socket);
  [[nodiscard]] std::uint32_t number_of(std::uint32_t rank) const noexcept;

  Config config_;
  fabric::Shm& shm_;
  base::WakeSocket socket_;
  Channel channel_;
};

}  // namespace fulmar::study
