// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/check.h"

// What the programs on files share.
namespace test {

/// The mode of a file that is created, and deleted when it is closed.
inline constexpr int scratch = MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE;

/// A folder for the files of a test, the same in all ranks; rank 0 makes it, and removes it at the end
/// if it is empty.
class Folder {
 public:
  explicit Folder(const char* parent = std::getenv("TMPDIR")) {
    std::snprintf(path_.data(), path_.size(), "%s/fulmar-io-XXXXXX",
                  parent != nullptr ? parent : "/tmp");
    if (rank_of(MPI_COMM_WORLD) == 0 && ::mkdtemp(path_.data()) == nullptr) {
      std::perror("mkdtemp");
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Bcast(path_.data(), static_cast<int>(path_.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank_of(MPI_COMM_WORLD) == 0) expect(::rmdir(path_.data()) == 0, "no file is left behind");
  }

  [[nodiscard]] std::string file(const char* name) const {
    return std::string(path_.data()) + "/" + name;
  }

 private:
  std::array<char, 256> path_{};
};

inline void succeeds(int code, const char* what,
                     std::source_location where = std::source_location::current()) {
  if (code == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  expect(false, what, where);
  std::fprintf(stderr, "  %s\n", text.data());
}

inline MPI_File open_file(MPI_Comm comm, const std::string& name, int amode,
                          MPI_Info info = MPI_INFO_NULL,
                          std::source_location where = std::source_location::current()) {
  MPI_File file = MPI_FILE_NULL;
  succeeds(MPI_File_open(comm, name.c_str(), amode, info, &file), "MPI_File_open", where);
  if (file == MPI_FILE_NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return file;
}

/// What the operating system finds in a file.
inline std::vector<char> content_of(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline int count_of(const MPI_Status& status, MPI_Datatype type) {
  int count = -1;
  MPI_Get_count(&status, type, &count);
  return count;
}

/// An info object with these hints.
class Hints {
 public:
  Hints() { MPI_Info_create(&info_); }
  Hints(const Hints&) = delete;
  Hints& operator=(const Hints&) = delete;
  ~Hints() { MPI_Info_free(&info_); }
  Hints& set(const char* key, const char* value) {
    MPI_Info_set(info_, key, value);
    return *this;
  }
  [[nodiscard]] MPI_Info info() const { return info_; }
  [[nodiscard]] static std::string value(MPI_File file, const char* key) {
    MPI_Info info = MPI_INFO_NULL;
    succeeds(MPI_File_get_info(file, &info), "MPI_File_get_info");
    std::array<char, MPI_MAX_INFO_VAL> text{};
    int room = static_cast<int>(text.size());
    int found = 0;
    MPI_Info_get_string(info, key, &room, text.data(), &found);
    MPI_Info_free(&info);
    return found != 0 ? text.data() : "";
  }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

}  // namespace test
