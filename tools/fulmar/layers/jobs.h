// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fulmar/layers/study.h"

/// Jobs of this installation's own programs, for the study of layers.
namespace fulmar::layers {

/// A folder for result files that goes with the object.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  [[nodiscard]] bool good() const { return !folder_.empty(); }
  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder_ / name).string();
  }

 private:
  std::filesystem::path folder_;
};

struct Programs {
  std::string self;
  std::string mpiexec;
  std::string raw;  ///< empty: not installed
};

/// Those beside this program's own file; nothing without /proc.
std::optional<Programs> find_programs();

using Environment = std::vector<std::pair<std::string, std::string>>;

/// The environment of this process with these values, and without any other setting of the study.
std::vector<std::string> environment_with(const Environment& settings);

/// Runs a program whose output goes to a file, and waits for it; its exit code, or -1 where it could
/// not be started or was killed.
int run_program(std::vector<std::string> words, std::vector<std::string> environment,
                const std::string& output = "/dev/null");

/// Adds what another job of the same setting found: sizes of a test that are there stay as they
/// are.
void add_results(measure::Results& all, const measure::Results& more);

/// Several rounds of the same jobs as one: each figure of a point is the median over the rounds
/// that have it, so that one round beside other work does not decide. Counts are those of the first
/// round that has them, as they do not depend on the clock; what is said of machine and library is
/// the first round's. At least one round.
measure::Results median_of(const std::vector<measure::Results>& rounds);

/// How much to measure.
struct Effort {
  double milliseconds = 20;        ///< for one figure
  std::size_t largest = SIZE_MAX;  ///< bytes of a message; sizes above are left out
  int ranks = 2;                   ///< where a run wants all
};

/// The words of one job of `fulmar bench` whose results go to `file`.
std::vector<std::string> command_of(const Run& run, const Programs& programs, const Effort& effort,
                                    const std::string& file);

}  // namespace fulmar::layers
