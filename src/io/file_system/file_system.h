// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fulmar::io {

/// A file name as users give it may begin with the kind of file system, as other libraries take it:
/// "ufs:/scratch/a" is "/scratch/a". Kinds are recognised here by themselves, so the prefix has no
/// further effect. Letters of either case; anything else before a colon belongs to the name.
[[nodiscard]] std::string_view without_prefix(std::string_view name) noexcept;

/// The folder of a file name: "." where it names none.
[[nodiscard]] std::string folder_of(const std::string& path);

/// What is known of a file system by its magic number (statfs).
struct FileSystem {
  const char* name = "unknown";
  /// Served by other machines: a call costs a message, so few large ones are worth an exchange
  /// between ranks.
  bool remote = false;
  /// How much several ranks write to at most without getting into each other's way, in bytes: file
  /// domains of collective calls are multiples of this.
  std::int64_t unit_bytes = 4096;
  /// Memory that a file is mapped to is as good as calls of the system, for all processes that see
  /// it.
  bool maps = false;
  /// Has no device: nothing is waited for.
  bool in_memory = false;
  /// Its clients keep data and sizes in caches of their own, which are not kept equal.
  bool has_client_caches = false;
  /// May keep 2 MiB of a file as one page of memory, with this kernel.
  bool has_large_pages = false;
  /// Servers that this file is spread over (Lustre); 0: not known.
  std::int64_t stripe_count = 0;

  /// Takes as much care as `other` needs: what processes do that reach one file in different ways, as at its
  /// server and by NFS. The name stays.
  void respect(const FileSystem& other) noexcept;
};

/// The file system of a file, or of its folder if there is no such file. Its unit is a stripe where that is known.
[[nodiscard]] FileSystem file_system_of(const std::string& path);

/// Whether a file or folder lies on Lustre.
[[nodiscard]] bool is_lustre(const std::string& path);

}  // namespace fulmar::io
