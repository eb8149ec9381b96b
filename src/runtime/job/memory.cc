// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "runtime/abort.h"
#include "runtime/library_access.h"
#include "runtime/process.h"

/// The library's own `new`. It is compiled without exceptions, so the one of the C++ library would
/// end the process without a message when memory is used up, for example in a vector
/// that grows. This one prints the cause and ends the job, so that no rank waits for one that has
/// ended. Large allocations, which may fail, use `new (std::nothrow)` and return MPI_ERR_NO_MEM.
///
/// Not visible to programs: the library exports the functions of MPI only.
namespace fulmar::runtime {
namespace {

[[noreturn]] void end_without_memory(std::size_t bytes) noexcept {
  const bool joined = usable_library.load(std::memory_order_relaxed) != nullptr;
  std::array<char, 200> text;
  const int length = std::snprintf(
      text.data(), text.size(),
      "fulmar: rank %d: no memory for %zu bytes of the library's own; raise the limit on memory "
      "(ulimit -v), or use less\n",
      joined ? process().errors().rank : 0, bytes);
  const auto size = std::min(static_cast<std::size_t>(std::max(length, 0)), text.size() - 1);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), size);
  if (joined) abort_job(process().job(), 1);
  std::abort();
}

void* allocate(std::size_t bytes) noexcept { return std::malloc(bytes == 0 ? 1 : bytes); }

void* allocate(std::size_t bytes, std::align_val_t alignment) noexcept {
  const auto unit = static_cast<std::size_t>(alignment);
  return std::aligned_alloc(unit, std::max((bytes + unit - 1) / unit * unit, unit));
}

template <class... Alignment>
void* allocate_or_end(std::size_t bytes, Alignment... alignment) noexcept {
  void* memory = allocate(bytes, alignment...);
  if (memory == nullptr) end_without_memory(bytes);
  return memory;
}

}  // namespace
}  // namespace fulmar::runtime

using fulmar::runtime::allocate;
using fulmar::runtime::allocate_or_end;

void* operator new(std::size_t bytes) { return allocate_or_end(bytes); }
void* operator new[](std::size_t bytes) { return allocate_or_end(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_end(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return allocate_or_end(bytes, alignment);
}
void* operator new(std::size_t bytes, const std::nothrow_t& /*returns null*/) noexcept {
  return allocate(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t& /*returns null*/) noexcept {
  return allocate(bytes);
}
void* operator new(std::size_t bytes, std::align_val_t alignment,
                   const std::nothrow_t& /*returns null*/) noexcept {
  return allocate(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment,
                     const std::nothrow_t& /*returns null*/) noexcept {
  return allocate(bytes, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t /*bytes*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t /*alignment*/) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*bytes*/, std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
void operator delete[](void* memory, std::size_t /*bytes*/,
                       std::align_val_t /*alignment*/) noexcept {
  std::free(memory);
}
