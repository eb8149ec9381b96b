// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>

#include "io/file_system/file_system.h"
#include "io/file_system/striping.h"

namespace fulmar::io {

/// What `fulmar info --files` says of the place of a file. Nothing is changed there: locks are tried
/// at a file that has no name, or at the file itself where it exists, and given back.
struct Storage {
  enum class Exists : std::uint8_t { no_folder, folder_only, file, folder };
  enum class Locks : std::uint8_t {
    work,        ///< a lock of a part of a file was granted
    refused,     ///< see `lock_error`
    not_tested,  ///< no file could be opened to try it; see `lock_error`
  };

  Exists exists = Exists::no_folder;
  std::uint32_t magic = 0;  ///< of statfs(2)
  FileSystem system;
  std::string mount_point;  ///< empty where it was not found
  std::string mounted_from;
  std::string mount_options;
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  ///< that this user may fill
  std::int64_t block_bytes = 0;
  Stripes stripes;
  Locks locks = Locks::not_tested;
  int lock_error = 0;      ///< errno
  int io_uring_error = 0;  ///< errno of setting up a ring; 0: this process may have one
};

/// `path` names a file, which need not exist, or a folder.
[[nodiscard]] Storage find_storage(const std::string& path);

/// The mount that holds a path with all links resolved, from the text of /proc/self/mountinfo.
struct Mount {
  std::string point;
  std::string source;
  std::string options;
};
[[nodiscard]] Mount find_mount(const std::string& mountinfo, const std::string& real_path);

}  // namespace fulmar::io
