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

/// Opens memory for the transfers of a device. What can be kept open for the next transfer is,
/// within a budget, in a cache of each network (device/regcache/registrations.h); the rest is
/// closed behind its transfer. The one place that knows how long memory stays open.
///
/// A network that had no room (no_mem) is not asked again at once for as much: where the limit on
/// locked memory is low, every long message would pay for a system call that fails, and for what
/// the cache closes to make room.
///
/// Thread rule: under the lock of the engine.
class RegistrationCache {
 public:
  /// Keeps nothing until `keep` says how much.
  RegistrationCache() = default;
  RegistrationCache(const RegistrationCache&) = delete;
  RegistrationCache& operator=(const RegistrationCache&) = delete;
  ~RegistrationCache() { close(); }

  /// Keeps up to so many bytes of each network open between transfers; 0: nothing.
  void keep(std::uint64_t bytes);

  /// Opens `memory` (not empty) or finds it open. Fails as `open_memory` of the network does, or
  /// because that has failed lately. The network outlives this, or `close` is called.
  [[nodiscard]] base::Result<TakenMemory> take(fabric::Network& network,
                                               std::span<std::byte> memory, fabric::Access access,
                                               Holds holds);
  /// No order of this process uses the memory any more.
  void give_back(const TakenMemory& memory);

  /// A block of MPI_Alloc_mem, until `disown`: opened once, as a whole. Short ones are never worth
  /// that and not remembered.
  void own(std::span<std::byte> block);
  /// The block that begins here is about to be freed; nothing happens if it is not known.
  void disown(const std::byte* begin);

  /// Whether memory that is kept open has gone, which `settle` lets it be closed for.
  [[nodiscard]] bool has_news() const noexcept { return watch_ && watch_->has_news(); }
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
    std::size_t refused_bytes = 0;  ///< last time
    std::uint32_t pause = 0;        ///< times that so much is not asked for
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
