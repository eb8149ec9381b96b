// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/regcache/memory_opener.h"

#include <algorithm>
#include <utility>

namespace fulmar::device {
namespace {

constexpr std::uint32_t longest_pause = 255;
/// Shorter blocks of MPI_Alloc_mem are not registered as a whole.
constexpr std::size_t shortest_owned_bytes = 4096;

TakenMemory taken(Registrations& cache, Registration& registration) noexcept {
  return {registration.opened(), &cache, &registration};
}

}  // namespace

void RegistrationCache::keep(std::uint64_t bytes) {
  budget_.bytes = bytes;
  for (const auto& cache : caches_) cache->registrations.set_budget(budget_);
}

base::Result<TakenMemory> RegistrationCache::take(fabric::Network& network,
                                                  std::span<std::byte> memory,
                                                  fabric::Access access, Holds holds) {
  return take_from(cache_of(network), memory, access, holds);
}

RegistrationCache::Cache& RegistrationCache::cache_of(fabric::Network& network) {
  for (const auto& cache : caches_) {
    if (cache->network == &network) return *cache;
  }
  if (!watch_) watch_.emplace();
  caches_.push_back(std::make_unique<Cache>(network, *watch_, budget_));
  Cache& made = *caches_.back();
  for (const auto& [begin, bytes] : owned_) {
    made.registrations.own({const_cast<std::byte*>(begin), bytes});
  }
  return made;
}

base::Result<TakenMemory> RegistrationCache::take_from(Cache& cache, std::span<std::byte> memory,
                                                       fabric::Access access, Holds holds) {
  Registrations& registrations = cache.registrations;
  Registration* const kept = registrations.take_kept(memory, access);
  if (kept != nullptr) return taken(registrations, *kept);
  if (cache.pause > 0 && memory.size() >= cache.refused_bytes) {
    --cache.pause;
    return base::Error(base::ErrorClass::no_mem);
  }
  auto opened = registrations.take(memory, access, holds);
  if (opened.failed()) {
    // Memory that no adapter can register says nothing about other memory.
    if (opened.error().error_class() != base::ErrorClass::no_mem) return opened.error();
    cache.refused_bytes = memory.size();
    cache.next_pause = std::min(2 * cache.next_pause + 1, longest_pause);
    cache.pause = cache.next_pause;
    return opened.error();
  }
  if (memory.size() >= cache.refused_bytes) cache.next_pause = 0;
  return taken(registrations, **opened);
}

void RegistrationCache::give_back(const TakenMemory& memory) {
  memory.cache->give_back(*memory.registration);
}

void RegistrationCache::own(std::span<std::byte> block) {
  if (block.size() < shortest_owned_bytes) return;
  owned_[block.data()] = block.size();
  for (const auto& cache : caches_) cache->registrations.own(block);
}

void RegistrationCache::disown(const std::byte* begin) {
  if (owned_.erase(begin) == 0) return;
  for (const auto& cache : caches_) cache->registrations.disown(begin);
}

void RegistrationCache::settle() {
  if (watch_) (void)watch_->settle();
}

void RegistrationCache::close() {
  caches_.clear();
  watch_.reset();
}

Registrations::Figures RegistrationCache::figures() const noexcept {
  Registrations::Figures sum;
  for (const auto& cache : caches_) {
    const Registrations::Figures& each = cache->registrations.figures();
    sum.hits += each.hits;
    sum.opened += each.opened;
    sum.not_kept += each.not_kept;
    sum.evicted += each.evicted;
    sum.unlisted += each.unlisted;
    sum.regions += each.regions;
    sum.bytes += each.bytes;
  }
  return sum;
}

}  // namespace fulmar::device
