// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/os/wake_socket.h"
#include "wire/node/shm_area.h"

namespace fulmar::fabric {

/// Ranks of one node: memory that all of them map, and single copies between their address spaces
/// with process_vm_readv and process_vm_writev.
///
/// Does not own the mapping: `runtime` made it (or inherited it) and keeps it until the provider is
/// gone.
class Shm {
 public:
  static constexpr const char* name = "shm";

  /// How to find out about a peer process; the words live in the job's segment.
  struct PeerProcess {
    const std::atomic<std::int32_t>* pid = nullptr;    ///< 0 until the peer runs
    const std::atomic<std::uint32_t>* gone = nullptr;  ///< not 0 when it, or its job, has ended
  };
  struct Config {
    std::uint32_t self = 0;
    std::uint32_t size = 1;
    std::byte* areas =
        nullptr;  ///< `size` areas, one after the other, zero at the start of the job
    std::uint64_t area_bytes = 0;  ///< of each; a multiple of the page size
    std::vector<PeerProcess> processes;
    bool single_copy = true;  ///< false: never reach into other address spaces
    std::uint64_t token = 0;  ///< random; peers that can read it may reach this address space
  };

  explicit Shm(Config config) noexcept;
  Shm(const Shm&) = delete;
  Shm& operator=(const Shm&) = delete;

  [[nodiscard]] std::uint32_t self() const noexcept { return self_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  [[nodiscard]] std::byte* area(std::uint32_t peer) noexcept {
    return areas_ + std::uint64_t{peer} * area_bytes_;
  }
  [[nodiscard]] std::uint64_t area_bytes() const noexcept { return area_bytes_; }
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept;
  /// Nonzero once the peer has ended; null if that is not recorded.
  [[nodiscard]] const std::atomic<std::uint32_t>* gone(std::uint32_t peer) const noexcept {
    return processes_[peer].gone;
  }
  /// Requires that a peer which may sleep on its wake socket (wire::Asleep) can be rung: see
  /// `use_wake_socket`.
  void wake(std::uint32_t peer) noexcept;
  /// From now on peers that sleep on a wake socket are rung with this one, which outlives the
  /// provider, and this process may do so itself.
  void use_wake_socket(const base::WakeSocket& socket) noexcept;
  /// The socket goes; no peer that sleeps on one is rung any more.
  void forget_wake_socket() noexcept { wake_socket_ = nullptr; }
  /// The areas are others at the same place, with the same contents, and peers may be other processes:
  /// whether their memory can be reached is probed again.
  void came_back() noexcept;

  /// Probed with the first question: reads a known word of the peer's memory through the kernel.
  [[nodiscard]] bool reach(std::uint32_t peer) noexcept;
  /// Copies between local pieces and the peer's memory; moves all bytes or fails. A failure that
  /// will not go away (permission, no such call) makes `reach` false from then on.
  [[nodiscard]] base::Error read(std::uint32_t peer, std::span<const iovec> local,
                                 std::uint64_t remote, std::uint64_t bytes) noexcept;
  [[nodiscard]] base::Error write(std::uint32_t peer, std::span<const iovec> local,
                                  std::uint64_t remote, std::uint64_t bytes) noexcept;

 private:
  enum class Reach : std::uint8_t { unknown, yes, no };
  enum class Direction { read, write };

  Reach probe(std::uint32_t peer) noexcept;
  base::Error copy(Direction direction, std::uint32_t peer, std::span<const iovec> local,
                   std::uint64_t remote, std::uint64_t bytes) noexcept;

  std::uint32_t self_;
  std::uint32_t size_;
  std::byte* areas_;
  std::uint64_t area_bytes_;
  std::vector<PeerProcess> processes_;
  std::vector<Reach> reach_;
  const base::WakeSocket* wake_socket_ = nullptr;
  std::uint64_t token_;  ///< read by peers that probe
};

}  // namespace fulmar::fabric
