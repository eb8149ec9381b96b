// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

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
  void finish_group() const { MPI_Barrier(place_.comm); }

 private:
  Place place_;
  std::string path_;
  bool is_own_;
  MPI_File file_ = MPI_FILE_NULL;
  int descriptor_ = -1;
};

/// Memory of a rank that has been touched.
inline std::vector<char> filled(std::size_t bytes) { return std::vector<char>(bytes, 'f'); }

}  // namespace fulmar::files
