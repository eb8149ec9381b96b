// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The address space of arenas in simulated jobs, which comes before the library of that layer. A
// process may have some 65,000 mappings; 100,000 ranks need ten arenas each. All of them lie in one
// mapping here, whose pages get memory when they are touched.

#include "base/memory/address_space.h"

#include <sys/mman.h>

#include <map>
#include <vector>

namespace fulmar::base::address_space {
namespace {

constexpr std::size_t all_bytes = std::size_t{1} << 41;

struct Space {
  std::byte* next = nullptr;
  std::byte* end = nullptr;
  std::map<std::size_t, std::vector<void*>> released;  ///< by size

  Space() {
    void* all = ::mmap(nullptr, all_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED) return;
    next = static_cast<std::byte*>(all);
    end = next + all_bytes;
  }
};

/// Lives until the process ends: arenas of static objects may be released late.
Space& space() {
  static auto* all = new Space;
  return *all;
}

}  // namespace

void* reserve(std::size_t bytes) noexcept {
  std::vector<void*>& again = space().released[bytes];
  if (!again.empty()) {
    void* range = again.back();
    again.pop_back();
    return range;
  }
  if (static_cast<std::size_t>(space().end - space().next) < bytes) return nullptr;
  void* range = space().next;
  space().next += bytes;
  return range;
}

bool make_usable(void* /*begin*/, std::size_t /*bytes*/) noexcept { return true; }

void release(void* range, std::size_t bytes) noexcept {
  (void)::madvise(range, bytes, MADV_DONTNEED);
  space().released[bytes].push_back(range);
}

}  // namespace fulmar::base::address_space
