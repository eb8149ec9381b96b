// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdint>
#include <vector>

#include "mpi/topo/calls.h"

namespace fulmar::mpi {

using base::Error;
using base::ErrorClass;

namespace {

// In ascending order.
std::vector<int> divisors(int number) {
  std::vector<int> found;
  for (int i = 1; i <= number / i; ++i) {
    if (number % i != 0) continue;
    found.push_back(i);
    if (i != number / i) found.push_back(number / i);
  }
  std::sort(found.begin(), found.end());
  return found;
}

// Searches for `left` factors of `number`, none above `limit`, in descending order, whose largest
// is as small and, among those, whose next ones are as small as possible: as close as they get. The
// candidates are the divisors of the whole, tried from the smallest on that can do it.
bool divide(int number, std::size_t left, int limit, std::span<const int> candidates,
            std::vector<int>& factors) {
  if (left == 1) {
    if (number > limit) return false;
    factors.push_back(number);
    return true;
  }
  for (const int largest : candidates) {
    if (largest > limit) break;
    if (number % largest != 0) continue;
    std::int64_t reach = 1;  // the most that `left` factors of at most `largest` make
    for (std::size_t i = 0; i < left && reach < number; ++i) reach *= largest;
    if (reach < number) continue;
    factors.push_back(largest);
    if (divide(number / largest, left - 1, largest, candidates, factors)) return true;
    factors.pop_back();
  }
  return false;
}

}  // namespace

Error dims_create(int nodes, int /*count*/, std::span<int> dims) {
  if (nodes < 1) {
    return base::failure(ErrorClass::arg, "argument nnodes: %d is not positive", nodes);
  }
  int left = nodes;
  std::size_t open = 0;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0) {
      return base::failure(ErrorClass::dims,
                           "argument dims: dims[%zu] is %d; use 0 for one to be "
                           "chosen",
                           i, dims[i]);
    }
    open += dims[i] == 0 ? 1 : 0;
    if (dims[i] != 0 && left % dims[i] != 0) {
      return base::failure(ErrorClass::dims,
                           "argument dims: the product of the given ones does not divide nnodes %d "
                           "(dims[%zu] is %d)",
                           nodes, i, dims[i]);
    }
    left /= std::max(dims[i], 1);
  }
  if (open == 0) {
    if (left == 1) return {};
    return base::failure(ErrorClass::dims, "argument dims: the product is %d, not nnodes %d",
                         nodes / left, nodes);
  }
  std::vector<int> factors;
  (void)divide(left, open, left, divisors(left), factors);
  std::size_t next = 0;
  for (int& dim : dims) {
    if (dim == 0) dim = factors[next++];
  }
  return {};
}

}  // namespace fulmar::mpi
