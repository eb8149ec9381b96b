// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "fulmar/measure/results.h"
#include "fulmar/trace/tree.h"

/// The papers' experiments with the layers of an MPI library, as data: what to run, which figures
/// to draw of it, and what the papers found.
namespace fulmar::layers {

/// What carries the messages of a setting.
enum class Network : std::uint8_t {
  shm,    ///< memory that both processes map; everywhere
  verbs,  ///< an RDMA adapter, also between two processes of one host
};

/// One job of `fulmar bench`.
struct Run {
  std::vector<std::string> tests;
  std::vector<std::size_t> sizes;  ///< of messages, in bytes
  enum class Ranks : std::uint8_t { two, four, six, all };
  Ranks ranks = Ranks::two;
  enum class Counted : std::uint8_t { no, yes };
  Counted counted = Counted::no;  ///< also what is done for a message; see counted_sizes
  enum class Joins : std::uint8_t { no, between, beside };
  Joins joins =
      Joins::no;  ///< a rank joins and leaves (fulmar/joining): the tests are those of that
};

/// A program of the NAS Parallel Benchmarks, of its own name, on so many ranks.
struct Application {
  std::string name;
  int ranks = 0;
};

/// One way to set the library up, measured once.
struct Setting {
  std::string name;   ///< by which figures ask for it
  std::string label;  ///< in legends
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<Run> runs;
  Network network = Network::shm;
  std::vector<Application> applications = {};  ///< where their programs are named
};

/// All settings, in the order in which they are measured.
std::vector<Setting> settings();

/// What was found of a setting: the medians of its rounds, and the rounds. Figures without rounds are given ones, which
/// have no spread.
struct Sample : measure::Results {
  Sample() = default;
  Sample(measure::Results middle) : measure::Results(std::move(middle)) {}
  std::vector<measure::Results> rounds;
};

/// The results of each setting by its name, and of the bare machine as "raw", of a bare adapter as
/// "raw-verbs", if they were measured.
using Measured = std::map<std::string, Sample>;

/// What a sentence comes to on this machine; undecided where what it says is smaller than the spread, unclaimed where the
/// paper draws figures and says nothing of them.
enum class Outcome { holds, differs, undecided, unclaimed, unknown };

struct Verdict {
  Outcome outcome = Outcome::unknown;
  std::string here;  ///< the figures of this machine, in words
};

/// A curve of a picture, or its dots: one test of one setting.
struct Curve {
  std::string setting;
  std::string test;
  std::string label = {};  ///< empty: that of the setting
  /// Of `rows`: what it is called; empty: the test.
  std::string row = {};
  /// Of `rows`: the figure of a point.
  enum class Of : std::uint8_t { median, low, high };
  Of of = Of::median;
  /// Of `rows`: where a test was measured with several numbers of ranks.
  enum class Team : std::uint8_t { smallest, largest };
  Team team = Team::smallest;
  /// Operations of a call, where a figure is of calls: MPI_Sendrecv is a message each way.
  int operations = 1;
};

/// A figure that the paper gives in its text.
struct Mark {
  std::string label;
  std::size_t bytes;
  double value;
};

/// One picture and what the paper says of it.
struct Figure {
  std::string title;
  std::string paper;  ///< which, and its figures
  std::string found;  ///< what the paper found, one sentence
  enum class Form : std::uint8_t {
    microseconds,  ///< curves over message sizes
    calls,         ///< microseconds of a call; curves over message sizes
    megabytes,     ///< a second; curves over message sizes
    rows,          ///< microseconds of the smallest size: a row for each test, a dot for a setting
    timeline,      ///< as rows, below what the steps of an exchange took over time
    programs,      ///< applications: as rows, in per cent of the time with the first setting
  };
  Form form = Form::microseconds;
  std::size_t largest = 0;
  std::vector<Curve> curves;
  Verdict (*judge)(const Measured&) = nullptr;
  std::vector<Mark> marks = {};
};

std::vector<Figure> figures();
/// Those of them that need an RDMA adapter.
std::vector<Figure> adapter_figures();
/// Those of one-sided operations, and the settings that they need.
std::vector<Figure> one_sided_figures();
std::vector<Setting> one_sided_settings();
/// Those of the length from which messages are announced, and of barriers of several nodes, and the settings that they need.
std::vector<Figure> length_figures();
std::vector<Setting> length_settings();
/// That of a rank that joins and leaves, and the settings that it needs.
std::vector<Figure> joining_figures();
std::vector<Setting> joining_settings();
/// Those of whole programs.
std::vector<Figure> application_figures();

/// A table of counts: what each design does for a message of `bytes` bytes.
struct CountedSize {
  std::size_t bytes;
  std::string title;
};
std::vector<CountedSize> counted_sizes();

/// A test whose calls are traced: what stages they have, how often, and how long those take.
struct Traced {
  std::string name;
  std::string title;
  std::string test;
  std::size_t bytes;
  std::vector<std::pair<std::string, std::string>> environment;
  Network network = Network::shm;
};
std::vector<Traced> traced_runs();

/// The trees of both ranks together, by the name of the run.
using Trees = std::map<std::string, trace::Node>;

/// How many packets besides data long messages need, whatever they take.
Verdict judge_handshakes(const Trees& trees);

/// What the counters say of the designs, whatever the machine hides: over shared memory, and over
/// an adapter.
Verdict judge_counts(const Measured& measured);
Verdict judge_adapter_counts(const Measured& measured);

}  // namespace fulmar::layers
