// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstring>
#include <vector>

#include "mpi/tool/calls.h"
#include "mpi/tool/category.h"
#include "mpi/tool/text.h"

namespace fulmar::mpi {
namespace {

bool is_category(int index) { return index >= 0 && index < static_cast<int>(categories().size()); }

/// The indices of those of `count` things that `belongs` accepts.
template <class Belongs>
std::vector<int> members(std::size_t count, Belongs belongs) {
  std::vector<int> found;
  for (std::size_t i = 0; i < count; ++i) {
    if (belongs(i)) found.push_back(static_cast<int>(i));
  }
  return found;
}

std::vector<int> controls_in(Tool& tool, int category) {
  return members(tool.tables().controls.size(),
                 [=](std::size_t) { return category == category_of_options(); });
}

std::vector<int> performance_in(int category) {
  const auto all = performance_variables();
  return members(all.size(), [=](std::size_t i) { return category_of(all[i].name) == category; });
}

std::vector<int> categories_in(int category) {
  const auto all = categories();
  return members(all.size(), [=](std::size_t i) { return all[i].parent == category; });
}

std::vector<int> events_in(int category) {
  const auto all = event_types();
  return members(all.size(), [=](std::size_t i) { return category_of(all[i].name) == category; });
}

/// Returns as many as fit into the array.
int give_indices(int category, const std::vector<int>& found, int len, int* indices) {
  if (!is_category(category)) return MPI_T_ERR_INVALID_INDEX;
  if (len < 0 || (indices == nullptr && len > 0)) return MPI_T_ERR_INVALID;
  for (int i = 0; i < len && i < static_cast<int>(found.size()); ++i) {
    indices[i] = found[static_cast<std::size_t>(i)];
  }
  return MPI_SUCCESS;
}

}  // namespace

int t_category_get_num(Tool& /*tool*/, int* count) {
  if (count == nullptr) return MPI_T_ERR_INVALID;
  *count = static_cast<int>(categories().size());
  return MPI_SUCCESS;
}

int t_category_get_info(Tool& tool, int index, char* name, int* name_len, char* desc, int* desc_len,
                        int* num_cvars, int* num_pvars, int* num_categories) {
  if (!is_category(index)) return MPI_T_ERR_INVALID_INDEX;
  const Category& category = categories()[static_cast<std::size_t>(index)];
  give_text(category.name, name, name_len);
  give_text(category.description, desc, desc_len);
  give(num_cvars, controls_in(tool, index).size());
  give(num_pvars, performance_in(index).size());
  give(num_categories, categories_in(index).size());
  return MPI_SUCCESS;
}

int t_category_get_num_events(Tool& /*tool*/, int index, int* num_events) {
  if (!is_category(index)) return MPI_T_ERR_INVALID_INDEX;
  if (num_events == nullptr) return MPI_T_ERR_INVALID;
  *num_events = static_cast<int>(events_in(index).size());
  return MPI_SUCCESS;
}

int t_category_get_index(Tool& /*tool*/, const char* name, int* index) {
  if (name == nullptr || index == nullptr) return MPI_T_ERR_INVALID;
  int at = 0;
  for (const Category& category : categories()) {
    if (std::strcmp(category.name, name) == 0) {
      *index = at;
      return MPI_SUCCESS;
    }
    ++at;
  }
  return MPI_T_ERR_INVALID_NAME;
}

int t_category_get_cvars(Tool& tool, int index, int len, int indices[]) {
  return give_indices(index, controls_in(tool, index), len, indices);
}

int t_category_get_pvars(Tool& /*tool*/, int index, int len, int indices[]) {
  return give_indices(index, performance_in(index), len, indices);
}

int t_category_get_events(Tool& /*tool*/, int index, int len, int indices[]) {
  return give_indices(index, events_in(index), len, indices);
}

int t_category_get_categories(Tool& /*tool*/, int index, int len, int indices[]) {
  return give_indices(index, categories_in(index), len, indices);
}

int t_category_changed(Tool& /*tool*/, int* update_number) {
  if (update_number == nullptr) return MPI_T_ERR_INVALID;
  *update_number = 0;
  return MPI_SUCCESS;
}

}  // namespace fulmar::mpi
