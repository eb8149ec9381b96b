// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>
#include <vector>

#include "fulmar/report/chart.h"

namespace fulmar::report {

/// A value axis: maps values to pixels and knows where to put lines and labels.
class Axis {
 public:
  /// `from` and `to` are the pixels of the least and the greatest value. Both values must be
  /// positive on a logarithmic axis.
  Axis(Scale scale, double least, double greatest, double from, double to);

  [[nodiscard]] double pixel(double value) const;
  /// Values that get a label, by growing value.
  [[nodiscard]] std::vector<double> ticks() const;
  /// Values that get a thin line only.
  [[nodiscard]] std::vector<double> minor_ticks() const;
  [[nodiscard]] double least() const { return least_; }
  [[nodiscard]] double greatest() const { return greatest_; }

 private:
  Scale scale_;
  double least_;
  double greatest_;
  double from_;
  double to_;
};

/// A linear axis from zero to a round number not below `greatest`, or whole decades around both
/// values.
Axis fitting_axis(Scale scale, double least, double greatest, double from, double to);

}  // namespace fulmar::report
