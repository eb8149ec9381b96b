// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fulmar/measure/results.h"

/// The papers' experiments with the layers of an MPI library, as data: what to run, which figures
/// to draw of it, and what the papers found.
namespace fulmar::layers {

/// One way to set the library up, measured once.
struct Setting {
  std::string name;   ///< by which figures ask for it
  std::string label;  ///< in legends
  std::vector<std::pair<std::string, std::string>> environment;
  bool only_bandwidth = false;
};

/// All settings, in the order in which they are measured.
std::vector<Setting> settings();

/// The results of each setting by its name, and of the bare machine as "raw", if it was measured.
using Measured = std::map<std::string, measure::Results>;

/// What a sentence comes to on this machine.
enum class Outcome { holds, differs, unknown };

struct Verdict {
  Outcome outcome = Outcome::unknown;
  std::string here;  ///< the figures of this machine, in words
};

/// One picture and what the paper says of it.
struct Figure {
  std::string title;
  std::string paper;  ///< which, and its figures
  std::string found;  ///< what the paper found, one sentence
  std::string test;   ///< latency or bandwidth
  std::size_t largest = 0;
  std::vector<std::string> names;  ///< of settings
  Verdict (*judge)(const Measured&) = nullptr;
};

std::vector<Figure> figures();

/// A table of counts: what each design does for a message of `bytes` bytes.
struct CountedSize {
  std::size_t bytes;
  std::string title;
};
std::vector<CountedSize> counted_sizes();

/// What the counters say of the designs, whatever the machine hides.
Verdict judge_counts(const Measured& measured);

}  // namespace fulmar::layers
