// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <vector>

#include "fulmar/measure/results.h"
#include "fulmar/report/chart.h"

namespace fulmar::report {

/// The files that a page shows: libraries with their colours, and the bare machine if it was
/// measured.
struct Subjects {
  std::vector<const measure::Results*> libraries;
  const measure::Results* raw = nullptr;
};

Subjects subjects_of(const std::vector<measure::Results>& files);

/// What a chart shows of a point.
enum class Figure { microseconds, gigabytes, megabytes, million };

double figure_of(Figure figure, const measure::Point& point);

/// The four pictures: latency, bandwidth, bandwidth both ways, message rate. Those without data are
/// left out.
std::vector<Chart> charts_of(const Subjects& subjects);

/// Barrier, allreduce and MPI_Init.
/// Whether a series of that name is of a collective operation.
bool is_collective(const std::string& test);
std::vector<DotRow> collective_rows(const Subjects& subjects);
std::vector<DotRow> start_rows(const Subjects& subjects);

/// CSS class of the library with that index.
std::string style_of(std::size_t index);

}  // namespace fulmar::report
