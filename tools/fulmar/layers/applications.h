// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fulmar/layers/study.h"

/// The NAS Parallel Benchmarks, by which the papers judged their designs. Nothing of them is part
/// of this installation: a folder with the programs is named (docs/benchmarks.md).
namespace fulmar::layers {

/// Where the programs are: files like `is.A.x`, as their makefiles call them.
struct ApplicationFolder {
  std::string path;  ///< empty: none was named
  std::string few = "A";
  std::string many = "B";  ///< the problems' classes on few and on many ranks

  [[nodiscard]] std::string file_of(const Application& application) const;
  /// Why applications are not measured, one sentence; empty where every program is there.
  [[nodiscard]] std::string lacking() const;
};

/// By which figures ask for an application.
std::string test_of(const Application& application);

/// Those of the papers' figures: on few ranks all eight, on many those that take any power of two.
std::vector<Application> few_applications();
std::vector<Application> many_applications();
/// The one that the slides on MVAPICH2 show.
Application integer_sort();

/// What a program says that it took; nothing unless it says that its result is right.
std::optional<double> seconds_of(const std::string& output);

}  // namespace fulmar::layers
