// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/attribute_cells.h"

#include <pthread.h>

#include <cstdint>
#include <cstdlib>

namespace fulmar::fortran {
namespace {

struct Cell {
  MPI_Aint value;  // first: C reads it at the cell's address
  Cell* next;
};

constexpr std::size_t bucket_count = 256;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Cell* buckets[bucket_count];  // under `lock`

class Guard {
 public:
  Guard() { pthread_mutex_lock(&lock); }
  ~Guard() { pthread_mutex_unlock(&lock); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
};

Cell** bucket_of(const void* attribute) {
  return &buckets[(reinterpret_cast<std::uintptr_t>(attribute) / sizeof(Cell)) % bucket_count];
}

/// The link to the cell at an address, or to the null at the end of its list.
Cell** find(const void* attribute) {
  Cell** link = bucket_of(attribute);
  while (*link != nullptr && *link != attribute) link = &(*link)->next;
  return link;
}

}  // namespace

void* make_cell(MPI_Aint value) {
  auto* cell = static_cast<Cell*>(std::malloc(sizeof(Cell)));
  if (cell == nullptr) return nullptr;
  const Guard guard;
  Cell** bucket = bucket_of(cell);
  cell->value = value;
  cell->next = *bucket;
  *bucket = cell;
  return cell;
}

MPI_Aint value_of_attribute(void* attribute) {
  const Guard guard;
  const Cell* cell = *find(attribute);
  return cell != nullptr ? cell->value : reinterpret_cast<MPI_Aint>(attribute);
}

bool is_cell(const void* attribute) {
  const Guard guard;
  return *find(attribute) != nullptr;
}

void free_cell(void* attribute) {
  const Guard guard;
  Cell** link = find(attribute);
  Cell* cell = *link;
  if (cell == nullptr) return;
  *link = cell->next;
  std::free(cell);
}

}  // namespace fulmar::fortran
