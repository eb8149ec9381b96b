// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/memory/memory_watch.h"
#include "device/regcache/registrations.h"
#include "fabric/network.h"

namespace fulmar::device {

/// Memory that is open for a transfer.
struct TakenMemory {
  fabric::MemoryRegion opened;
  Registrations* cache = nullptr;  ///< to which it goes back
  Registration* registration = nullptr;
};

/// Registers memory for the transfers of a device. Registrations that can be kept for the next
/// transfer stay, within a budget, in a cache for each network (device/regcache/registrations.h);
/// others are closed after their transfer. The only place that decides how long memory stays
/// registered.
///
/// After a failure for lack of resources (no_mem) a network is not asked for as much again at once:
/// where the limit on locked memory is low, every long message would pay for a failing system call,
/// and for the registrations that the cache evicts.
///
/// Thread rule: under the lock of the engine.
class RegistrationCache {
 public:
  /// Keeps nothing until `keep` sets a budget.
  RegistrationCache() = default;
  RegistrationCache(const RegistrationCache&) = delete;
  RegistrationCache& operator=(const RegistrationCache&) = delete;
  ~RegistrationCache() { close(); }

  /// Keeps up to `bytes` bytes of each network registered between transfers; 0: none.
  void keep(std::uint64_t bytes);

  /// Opens `memory` (not empty) or finds it open. Fails as `open_memory` of the network does, or
  /// because that has failed lately. The network outlives this, or `close` is called.
  [[nodiscard]] base::Result<TakenMemory> take(fabric::Network& network,
                                               std::span<std::byte> memory, fabric::Access access,
                                               Holds holds);
  /// No work request of this process uses the memory any more.
  void give_back(const TakenMemory& memory);

  /// A block of MPI_Alloc_mem, until `disown`: registered once, as a whole. Short blocks are not
  /// worth that and are ignored.
  void own(std::span<std::byte> block);
  /// The block that begins here is about to be freed; no effect if it is unknown.
  void disown(const std::byte* begin);

  /// Whether registered memory has been unmapped or changed; `settle` then closes its
  /// registrations.
  [[nodiscard]] bool has_events() const noexcept { return watch_ && watch_->has_events(); }
  void settle();

  /// Closes everything; nothing is in use. Networks may go then.
  void close();

  /// Of all networks together.
  [[nodiscard]] Registrations::Figures figures() const noexcept;

 private:
  struct Cache {
    Cache(fabric::Network& network, base::MemoryWatch& watch, const Registrations::Budget& budget)
        : network(&network), registrar(network), registrations(registrar, &watch, budget) {}

    const fabric::Network* network;
    NetworkRegistrar registrar;
    Registrations registrations;
    std::size_t refused_bytes = 0;  ///< size of the last registration that failed
    std::uint32_t pause = 0;        ///< registrations of that size to skip
    std::uint32_t next_pause = 0;
  };

  Cache& cache_of(fabric::Network& network);
  [[nodiscard]] static base::Result<TakenMemory> take_from(Cache& cache,
                                                           std::span<std::byte> memory,
                                                           fabric::Access access, Holds holds);

  Registrations::Budget budget_{.bytes = 0};
  std::map<const std::byte*, std::size_t> owned_;  ///< bytes of blocks
  std::optional<base::MemoryWatch> watch_;         ///< with the first cache
  std::vector<std::unique_ptr<Cache>> caches_;
};

}  // namespace fulmar::device
