// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

/// The PMI-1 wire protocol between launchers and ranks: lines of text
/// of the form `cmd=NAME key=value key=value\n` on a socket that the rank inherits. Each request of
/// a rank has one answer. What is used here:
///
///     init pmi_version pmi_subversion    response_to_init rc pmi_version pmi_subversion
///     get_maxes                          maxes kvsname_max keylen_max vallen_max
///     get_appnum                         appnum appnum
///     get_my_kvsname                     my_kvsname kvsname
///     get_universe_size                  universe_size size
///     put kvsname key value              put_result rc msg
///     get kvsname key                    get_result rc value
///     barrier_in                         barrier_out, when all ranks are in
///     finalize                           finalize_ack
///     abort exitcode                     (none)
///     publish_name service port          publish_result rc
///     lookup_name service                lookup_result rc port
///     unpublish_name service             unpublish_result rc
///     mcmd=spawn ... endcmd              spawn_result rc
///
/// A spawn is a block of lines `key=value` for each program, all sent before the one answer:
/// nprocs, execname, totspawns (blocks), spawnssofar (this one's number, from 1), arg1..., argcnt,
/// preput_num, preput_key_0, preput_val_0... (what the new processes find in their key-value
/// space), info_num, info_key_0, info_val_0...
///
/// With a port in place of a socket the rank begins with `initack pmiid`, and is sent `initack` and
/// `set size`, `set rank`, `set debug`.
namespace fulmar::wire {

/// Names in the environment of a rank.
inline constexpr const char* env_pmi_fd = "PMI_FD";
inline constexpr const char* env_pmi_port = "PMI_PORT";
inline constexpr const char* env_pmi_id = "PMI_ID";
inline constexpr const char* env_pmi_rank = "PMI_RANK";
inline constexpr const char* env_pmi_size = "PMI_SIZE";
/// Beside PMI_FD from Fulmar's own mpiexec, with the same number: a PMI_FD without it, or with
/// another number, is from a launcher that was started by a rank.
inline constexpr const char* env_own_pmi_fd = "FULMAR_PMI_FD";

/// Set in a process that was spawned.
inline constexpr const char* env_pmi_spawned = "PMI_SPAWNED";
/// The longest line that is accepted: process mappings of large jobs are the longest ones seen.
inline constexpr std::size_t pmi_line_limit = std::size_t{1} << 16;
/// The limit of the values that we put: some servers advertise 1024 bytes and fail near 1000.
inline constexpr std::size_t pmi_value_limit = 600;

/// The parts of a line; refers to the text that was parsed.
class PmiLine {
 public:
  /// `line` is without its newline. Fails (other) when it is too long, holds a zero byte or control
  /// character, or does not begin with `cmd=` or `mcmd=`.
  static base::Result<PmiLine> parse(std::string_view line);

  [[nodiscard]] std::string_view command() const noexcept { return command_; }
  /// The first field of that name.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view name) const noexcept;
  /// Nothing when absent or no whole decimal number.
  [[nodiscard]] std::optional<long> number(std::string_view name) const noexcept;

 private:
  struct Field {
    std::string_view name;
    std::string_view value;
  };
  std::string_view command_;
  std::vector<Field> fields_;
};

/// A whole decimal number, perhaps negative; nothing for any other text.
std::optional<long> parse_decimal(std::string_view text) noexcept;

/// The value of the key `PMI_process_mapping`, `(vector,(first node,nodes,ranks of each),...)`:
/// gives the node of each of `size` ranks. Blocks are repeated until all ranks have one. Fails
/// (other) on any other text, and where a number is out of range.
base::Result<std::vector<std::uint32_t>> parse_process_mapping(std::string_view text,
                                                               std::uint32_t size);
/// The same for ranks that are all on one node.
std::string one_node_mapping(std::uint32_t size);

}  // namespace fulmar::wire
