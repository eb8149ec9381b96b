// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/report/axis.h"

#include <algorithm>
#include <cmath>

namespace fulmar::report {

namespace {

constexpr int wanted_ticks = 6;

/// 1, 2 or 5 times a power of ten, so that about `wanted_ticks` steps reach `range`.
double round_step(double range) {
  const double rough = range / wanted_ticks;
  const double decade = std::pow(10, std::floor(std::log10(rough)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * decade >= rough) {
      return factor * decade;
    }
  }
  return 10 * decade;
}

}  // namespace

Axis::Axis(Scale scale, double least, double greatest, double from, double to)
    : scale_(scale), least_(least), greatest_(greatest), from_(from), to_(to) {}

double Axis::pixel(double value) const {
  const double clamped = std::clamp(value, least_, greatest_);
  double part = (clamped - least_) / (greatest_ - least_);
  if (scale_ == Scale::logarithmic) {
    part = std::log(clamped / least_) / std::log(greatest_ / least_);
  }
  return from_ + part * (to_ - from_);
}

std::vector<double> Axis::ticks() const {
  std::vector<double> values;
  if (scale_ == Scale::logarithmic) {
    constexpr double just = 1.0001;
    for (double value = least_; value <= greatest_ * just; value *= 10) {
      values.push_back(value);
    }
    return values;
  }
  const double step = round_step(greatest_);
  const int count = static_cast<int>(std::lround(greatest_ / step));
  for (int i = 0; i <= count; ++i) {
    values.push_back(step * i);
  }
  return values;
}

std::vector<double> Axis::minor_ticks() const {
  std::vector<double> values;
  if (scale_ == Scale::logarithmic) {
    for (double decade = least_; decade < greatest_; decade *= 10) {
      for (int factor = 2; factor < 10; ++factor) {
        values.push_back(decade * factor);
      }
    }
  }
  return values;
}

Axis fitting_axis(Scale scale, double least, double greatest, double from, double to) {
  if (scale == Scale::logarithmic) {
    double low = std::pow(10, std::floor(std::log10(least)));
    double high = std::pow(10, std::ceil(std::log10(greatest)));
    return Axis(scale, low, high > low ? high : low * 10, from, to);
  }
  const double step = round_step(greatest);
  return Axis(scale, 0, step * std::ceil(greatest / step), from, to);
}

}  // namespace fulmar::report
