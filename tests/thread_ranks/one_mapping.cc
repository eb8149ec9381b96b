// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Every memory file is mapped once in this process. Ranks of several processes have mappings of their own of
// the memory of a window; with those the thread sanitizer, which goes by addresses, would take each for memory
// of one thread alone. So calls of mmap and munmap come here (ld's --wrap).

#include <sys/mman.h>
#include <sys/stat.h>

#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

// NOLINTBEGIN: the linker has these names
extern "C" {
void* __real_mmap(void* place, std::size_t bytes, int protection, int flags, int file,
                  off_t offset);
int __real_munmap(void* begin, std::size_t bytes);
void* __wrap_mmap(void* place, std::size_t bytes, int protection, int flags, int file,
                  off_t offset);
int __wrap_munmap(void* begin, std::size_t bytes);
}
// NOLINTEND

namespace {

using FileName = std::pair<dev_t, ino_t>;

struct Mapping {
  FileName file;
  int users = 0;
};

/// Lives until the process ends.
struct Mappings {
  std::mutex lock;
  std::map<void*, Mapping> by_begin;
};
Mappings& mappings() {
  static auto* all = new Mappings;
  return *all;
}

}  // namespace

void* __wrap_mmap(void* place, std::size_t bytes, int protection, int flags, int file,
                  off_t offset) {
  struct stat facts{};
  const bool whole = file >= 0 && offset == 0 && (flags & MAP_SHARED) != 0;
  if (!whole || ::fstat(file, &facts) != 0 || facts.st_size != static_cast<off_t>(bytes)) {
    return __real_mmap(place, bytes, protection, flags, file, offset);
  }
  const FileName name(facts.st_dev, facts.st_ino);
  const std::lock_guard guard(mappings().lock);
  for (auto& [begin, mapping] : mappings().by_begin) {
    if (mapping.file != name) continue;
    ++mapping.users;
    if (place != nullptr) __real_munmap(place, bytes);  // it was reserved for this
    return begin;
  }
  void* const begin = __real_mmap(place, bytes, protection, flags, file, offset);
  if (begin != MAP_FAILED) mappings().by_begin[begin] = {name, 1};
  return begin;
}

int __wrap_munmap(void* begin, std::size_t bytes) {
  const std::lock_guard guard(mappings().lock);
  const auto found = mappings().by_begin.find(begin);
  if (found != mappings().by_begin.end()) {
    if (--found->second.users > 0) return 0;
    mappings().by_begin.erase(found);
  }
  return __real_munmap(begin, bytes);
}
