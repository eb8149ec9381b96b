// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mpiexec/options.h"

namespace fulmar::mpiexec {

/// The environment variables for the library in a rank; see wire/node/job.h for the names.
struct RankVariables {
  int job_fd = -1;
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::uint32_t appnum = 0;
  std::string_view job_socket = {};     ///< empty: there is none
  int pmi_fd = -1;                      ///< -1: there is none
  std::uint32_t program_size = 1;       ///< ranks of the own program
  std::string_view launch_socket = {};  ///< wire/launch/launch_message.h; empty: there is none
  std::string_view parent_port = {};    ///< empty: the job was not spawned
  std::uint32_t universe_size = 0;      ///< 0: not known
};

/// Whether a variable describes the rank of another job (the one that mpiexec itself runs in), so
/// that children must not see it. Options such as FULMAR_FABRIC stay.
bool describes_outer_job(std::string_view name);

/// The environment that all ranks of one program share, as NAME=VALUE: mpiexec's own (`outer`, null
/// terminated) without what describes an outer job, cut down and extended by the rules of the whole
/// line and then of the program. A later setting of a name replaces an earlier one.
std::vector<std::string> program_environment(const char* const* outer, const EnvRules& global,
                                             const EnvRules& program);

/// The further variables of one rank, as NAME=VALUE.
std::vector<std::string> rank_environment(const RankVariables& variables);

/// The value of NAME in such a list; null if absent.
const char* find_variable(const std::vector<std::string>& environment, std::string_view name);

}  // namespace fulmar::mpiexec
