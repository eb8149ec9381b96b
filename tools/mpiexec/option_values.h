// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "mpiexec/options.h"

/// Values of options that have a syntax of their own. All functions fail (arg) with a text that
/// names the option, the value, and what is expected.
namespace fulmar::mpiexec {

/// A number from `low` to `high`; nothing but digits.
[[nodiscard]] base::Error parse_number(const char* what, std::string_view text, std::uint32_t low,
                                       std::uint32_t high, std::uint32_t& out);

/// A number of seconds from `low` on (above 0 where that is not 0), perhaps with a fraction.
[[nodiscard]] base::Error parse_seconds(const char* what, const std::string& text, double low,
                                        double& out);
/// The seconds after which a job that stands still is explained, whatever its ranks call.
[[nodiscard]] base::Error parse_deadlock_timeout(const char* what, const std::string& text,
                                                 Options& options);
/// MPI_UNIVERSE_SIZE: a number, "INFINITE" or "SYSTEM".
[[nodiscard]] base::Error parse_universe(const char* what, const std::string& text,
                                         Options& options);
/// `--with-ft` of Open MPI: "ulfm" and other names of it let ranks go on after a failure.
[[nodiscard]] base::Error parse_fault_tolerance(const std::string& text, Options& options);

/// The parts between separators, without empty ones.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

/// `--map-by`: "OBJECT", "ppr:N:OBJECT", each perhaps with ":MODIFIER,MODIFIER...", or modifiers
/// alone. Objects: those of Place, "node", "slot". Modifiers: "PE=N", "HWTCPUS", and those that
/// need nothing done here ("OVERSUBSCRIBE", "SPAN"...).
[[nodiscard]] base::Error parse_map_by(const std::string& text, Options& options);

/// `--bind-to`: "OBJECT", "OBJECT:N" (so many of them for each rank, as Hydra has it) or
/// "OBJECT:MODIFIER".
[[nodiscard]] base::Error parse_bind_to(const std::string& text, Options& options);

/// `--output`: a list of "tag", "timestamp", "merge-stderr-to-stdout", "dir=NAME", "filename=NAME"
/// with "nocopy", "nojobid", "pattern" among them or behind a colon, as Open MPI 5 has it.
[[nodiscard]] base::Error parse_output(const std::string& text, Options& options);
/// `--output-filename` and its like: a folder, with modifiers behind a colon.
[[nodiscard]] base::Error parse_output_folder(const std::string& text, Options& options);

/// `--display`: a list of "map", "bind", "allocation".
[[nodiscard]] base::Error parse_display(const std::string& text, Options& options);

/// `-memory-alloc-kinds`: "kind:restrictor:restrictor,kind..." (MPI 5.0 section 11.4.3). Only the
/// syntax is checked: kinds that are not known mean nothing.
[[nodiscard]] base::Error check_memory_kinds(const std::string& text);

}  // namespace fulmar::mpiexec
