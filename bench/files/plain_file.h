// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <vector>

#include "cases.h"

namespace fulmar::files {

/// A file that is there while a case runs: of all ranks, or one for each of them. Also through the
/// operating system alone (`Place::raw`).
class PlainFile {
 public:
  enum class Sharing { one_for_all, one_for_each };
  /// A file of `bytes_of_rank` for each rank that has been written once.
  PlainFile(const Place& place, Sharing sharing, std::size_t bytes_of_rank);
  PlainFile(const PlainFile&) = delete;
  PlainFile& operator=(const PlainFile&) = delete;
  ~PlainFile();

  [[nodiscard]] MPI_File mpi() const noexcept { return file_; }
  void write_at(MPI_Offset offset, const void* from, std::size_t bytes) const;
  void read_at(MPI_Offset offset, void* to, std::size_t bytes) const;
  /// The system drops what it has of the file in memory, where a device has it.
  void forget() const;
  void finish_group() const { MPI_Barrier(place_.comm); }

 private:
  Place place_;
  std::string path_;
  bool is_own_;
  MPI_File file_ = MPI_FILE_NULL;
  int descriptor_ = -1;
};

/// Gives memory in large pages, so that it is as fast in every run.
template <class T>
struct LargePages {
  using value_type = T;
  T* allocate(std::size_t count) {
    constexpr std::size_t page = std::size_t{2} << 20;
    const std::size_t bytes = (count * sizeof(T) + page - 1) / page * page;
    void* const memory = std::aligned_alloc(page, bytes);
    if (memory == nullptr) throw std::bad_alloc();
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t /*count*/) noexcept { std::free(memory); }
  bool operator==(const LargePages& /*other*/) const noexcept { return true; }
};
using Memory = std::vector<char, LargePages<char>>;

/// Memory of a rank that has been touched.
inline Memory filled(std::size_t bytes) { return Memory(bytes, 'f'); }

}  // namespace fulmar::files
