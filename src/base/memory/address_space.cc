// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/memory/address_space.h"

#include <sys/mman.h>

namespace fulmar::base::address_space {

void* reserve(std::size_t bytes) noexcept {
  void* range =
      ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return range == MAP_FAILED ? nullptr : range;
}

bool make_usable(void* begin, std::size_t bytes) noexcept {
  return ::mprotect(begin, bytes, PROT_READ | PROT_WRITE) == 0;
}

void release(void* range, std::size_t bytes) noexcept { ::munmap(range, bytes); }

}  // namespace fulmar::base::address_space
