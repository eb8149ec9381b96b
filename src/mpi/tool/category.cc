// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/tool/category.h"

namespace fulmar::mpi {
namespace {

constexpr int options_index = 1;
constexpr Category table[] = {
    {"fulmar", "Everything that this library tells of itself.", -1},
    {"options", "What can be set: the options, which are also environment variables.", 0},
    {"library", "The library as a whole.", 0},
    {"objects", "MPI objects that the program made and that are alive.", 0},
    {"device", "Protocols, memory and waiting.", 0},
    {"match", "The queues of receives and of messages without a receive.", 4},
    {"channel", "Packets between processes, and the rings that carry them.", 4},
    {"rma", "One-sided communication, and who carries it out.", 0},
    {"file", "Access to files.", 0},
};

}  // namespace

std::span<const Category> categories() noexcept { return table; }

int category_of(std::string_view variable) noexcept {
  const std::string_view prefix = variable.substr(0, variable.find('_'));
  int index = 0;
  for (const Category& category : table) {
    if (prefix == category.name) return index;
    ++index;
  }
  return 0;
}

int category_of_options() noexcept { return options_index; }

}  // namespace fulmar::mpi
