// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdio>
#include <optional>
#include <vector>

#include "fulmar/measure/plan.h"
#include "fulmar/measure/results.h"

namespace fulmar::bench {

/// Prints the table while the run goes on: a row as soon as all tests of its size are measured, and
/// in between, on a terminal, how far the run is. With results to compare with, every figure is
/// followed by how many times faster it is than the fastest of those.
class Table {
 public:
  Table(const measure::Plan& plan, std::vector<measure::Results> others, std::FILE* out);

  void add(const measure::Progress& progress, int ranks);
  /// Prints the row that is not complete yet, if any.
  void finish();

 private:
  void print_head();
  void print_row();
  void print_collective(const measure::Progress& progress, int ranks);
  void show_progress(const measure::Progress& progress);
  /// A column: a test and what is shown of it. The message rate is shown of `rate` or, without it,
  /// of `bandwidth`.
  struct Column {
    measure::Kind test;
    measure::Kind shown_as;
  };

  [[nodiscard]] std::string cell(const Column& column, const measure::Point& point,
                                 int ranks) const;
  [[nodiscard]] std::string ratio(measure::Kind test, const measure::Point& point, int ranks) const;

  std::vector<Column> columns_;
  std::vector<measure::Results> others_;
  std::FILE* out_;
  std::vector<std::optional<measure::Point>> row_;
  int pair_ranks_ = 2;
  std::size_t row_bytes_ = 0;
  bool started_ = false;
  bool collectives_started_ = false;
};

}  // namespace fulmar::bench
