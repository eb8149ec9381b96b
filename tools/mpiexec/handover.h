// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "mpiexec/managers.h"
#include "mpiexec/options.h"

/// Ranks on several hosts are started by a process manager that the site has: mpiexec translates
/// its own command line into that one's and becomes it (docs/mpiexec.md).
namespace fulmar::mpiexec {

/// The command line of another launcher.
struct Handover {
  std::vector<std::string> words;    ///< words[0] is the file
  std::vector<EnvSetting> settings;  ///< of its environment, besides that of mpiexec
  std::vector<std::string> notes;    ///< what it does in another way, for the user
  bool no_input = false;             ///< its standard input shall be empty
};

/// Translates checked options. `shares` are the ranks of each host, in the order of the ranks;
/// empty: the manager knows the hosts (an allocation of Slurm). `environment` (NAME=VALUE) is that
/// of mpiexec without what describes an outer job: what is to be passed on to ranks elsewhere.
/// Fails (arg) where the manager has nothing that does what an option asks for; the text names
/// option and manager.
base::Result<Handover> translate(const Options& options, std::span<const Share> shares,
                                 const FoundManager& manager,
                                 std::span<const std::string> environment);

/// The command line as one would type it into a shell, with the settings ahead.
std::string shell_text(const Handover& handover);

/// Where the ranks of a command line are to be started.
struct Destination {
  bool here = true;           ///< by this mpiexec
  std::vector<Share> shares;  ///< else; empty: by Slurm as it likes
};
/// `self` is the name of this host.
Destination destination_of(const Options& options, const ManagerSearch& search,
                           std::string_view self);

/// Finds a manager and becomes it; or, for Action::show, prints the line. Returns only then and on
/// failure, which it has reported: the exit code.
int hand_over(const Options& options, const Destination& destination);

}  // namespace fulmar::mpiexec
