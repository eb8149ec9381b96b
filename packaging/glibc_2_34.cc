// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What libstdc++ and libgcc, linked in, ask of a C library that is newer than 2.34: two functions, here for
// systems that have not got them (FULMAR_PORTABLE, for packages that have to run on other distributions than the one
// they were built on). Both are hidden, so nothing else of a program meets them.
#include <dlfcn.h>
#include <link.h>
#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>

#if __GLIBC_PREREQ(2, 35)
namespace {

struct Search {
  std::uintptr_t address;
  dl_find_object* result;
};

/// Stops at the object whose loadable segments contain the address; it needs the table of frames to count.
int look_at(dl_phdr_info* info, std::size_t /*size*/, void* context) {
  auto& search = *static_cast<Search*>(context);
  std::uintptr_t begin = UINTPTR_MAX;
  std::uintptr_t end = 0;
  const ElfW(Phdr)* frames = nullptr;
  bool contains = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = info->dlpi_phdr[i];
    const std::uintptr_t from = info->dlpi_addr + header.p_vaddr;
    const std::uintptr_t to = from + header.p_memsz;
    if (header.p_type == PT_GNU_EH_FRAME) frames = &header;
    if (header.p_type != PT_LOAD) continue;
    begin = from < begin ? from : begin;
    end = to > end ? to : end;
    contains = contains || (search.address >= from && search.address < to);
  }
  if (!contains || frames == nullptr) return 0;
  *search.result = {};
  search.result->dlfo_map_start = reinterpret_cast<void*>(begin);
  search.result->dlfo_map_end = reinterpret_cast<void*>(end);
  search.result->dlfo_eh_frame = reinterpret_cast<void*>(info->dlpi_addr + frames->p_vaddr);
  return 1;
}

}  // namespace

/// 0 and the object, or -1: no object that was loaded contains the address.
extern "C" [[gnu::visibility("hidden")]] int _dl_find_object(void* address,
                                                             dl_find_object* result) noexcept {
  Search search{reinterpret_cast<std::uintptr_t>(address), result};
  return dl_iterate_phdr(look_at, &search) == 1 ? 0 : -1;
}
#endif

#if __GLIBC_PREREQ(2, 36)
/// Random bits from the kernel.
extern "C" [[gnu::visibility("hidden")]] std::uint32_t arc4random() noexcept {
  std::uint32_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
    if (errno != EINTR) std::abort();
  }
  return bits;
}
#endif
