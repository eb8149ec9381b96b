// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

/// The hosts that a command line names, and how ranks are dealt over them.
namespace fulmar::mpiexec {

/// A host and how many ranks it takes before the next one gets some.
struct Host {
  std::string name;
  std::uint32_t places = 1;

  bool operator==(const Host&) const = default;
};

/// "a,b:4,node[0-3,7]:2": names with a number of places each, 1 where none is given; a host that is
/// named again gets as many places more. An IPv6 address with a number stands in brackets. Fails
/// (arg) with a text that begins with `option` and names the entry.
base::Result<std::vector<Host>> parse_host_list(std::string_view option, std::string_view text);

/// The text of a file: a host a line, "host", "host:N" or "host slots=N", and # before a comment.
/// Fails (arg) with the name of the file and the line.
base::Result<std::vector<Host>> parse_host_file(const std::string& file, std::string_view text);
/// The same with the file's contents.
base::Result<std::vector<Host>> read_host_file(const std::string& file);

/// Adds hosts; one that is there already gets more places.
void add_hosts(std::vector<Host>& hosts, std::span<const Host> more);

/// The places of all hosts together.
[[nodiscard]] std::uint64_t places_of(std::span<const Host> hosts);

/// The ranks of one host, which follow each other but when they are dealt in turn.
struct Share {
  std::string host;
  std::uint32_t ranks = 0;

  bool operator==(const Share&) const = default;
};

enum class Dealing : std::uint8_t {
  fill,     ///< a host gets as many as it has places, then the next one; in blocks of ranks
  in_turn,  ///< each host in turn gets one
};

/// How many ranks each host gets; hosts without a rank are left out. More ranks than places are
/// dealt beginning with the first host again. Requires a host and a rank.
std::vector<Share> share_ranks(std::span<const Host> hosts, std::uint32_t ranks, Dealing dealing);

/// Whether a name or address means the machine that this process runs on: "localhost", an address
/// of one of its interfaces, or its own host name (`self`), with or without a domain.
[[nodiscard]] bool is_this_machine(std::string_view name, std::string_view self);
/// The name that this machine has, empty if it has none.
[[nodiscard]] std::string own_host_name();

}  // namespace fulmar::mpiexec
