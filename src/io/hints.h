// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fulmar::io {

/// Whether a method is used: the library decides by its cost, or always, or never.
enum class Use : std::uint8_t { automatic, always, never };

/// In which order a program goes through a file.
enum class Style : std::uint8_t { unknown, sequential, random };

/// What the hints of a file mean here (docs/files.md says what each does). Hints that are not
/// known, or whose value is invalid, are ignored, as MPI 5.0 section 10 requires.
struct Hints {
  Use two_phase_write = Use::automatic;        ///< romio_cb_write, collective_buffering
  Use two_phase_read = Use::automatic;         ///< romio_cb_read, collective_buffering
  Use sieve_read = Use::automatic;             ///< romio_ds_read
  Use sieve_write = Use::never;                ///< romio_ds_write
  int aggregators = 0;                         ///< cb_nodes; 0: one on each node
  std::int64_t window_bytes = 16 << 20;        ///< cb_buffer_size
  std::int64_t read_piece_bytes = 512 << 10;   ///< ind_rd_buffer_size
  std::int64_t write_piece_bytes = 512 << 10;  ///< ind_wr_buffer_size
  Use mapped = Use::automatic;                 ///< fulmar_mapped; never `always`
  std::int64_t unit_bytes = 0;                 ///< striping_unit; 0: what the file system likes
  /// striping_factor: servers that a new file of Lustre lies on, as in Stripes.
  std::int64_t stripe_count = 0;
  /// fulmar_shared_pointer: in memory of the node where that can be, or by messages in any case.
  bool shared_by_messages = false;
  std::string aggregator_list;   ///< cb_config_list; empty: not given
  Style style = Style::unknown;  ///< access_style
  bool read_once = false;        ///< access_style
  mode_t permissions = 0666;     ///< file_perm, before the umask
  bool checked = false;          ///< no hint: FULMAR_CHECK=files

  /// Takes one hint. `permissions` and `stripe_count` count only when a file is made.
  void set(std::string_view key, std::string_view value);
  /// Every hint that has an effect, with the value that is in effect, in the form that `set` takes.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> in_effect() const;
};

/// A file of hints: a key and a value on each line, # begins a comment. Nothing where it cannot be
/// read.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> read_hints_file(
    const std::string& path);

}  // namespace fulmar::io
