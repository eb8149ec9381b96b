// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/measure/rings.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <utility>

namespace fulmar::measure {

namespace {

constexpr int forth_tag = 10;
constexpr int back_tag = 11;
constexpr int random_rings = 8;

/// Both receives may use one buffer: the data are not checked, as in the other tests.
void pass(const Team& team, Neighbours to, int bytes, const Buffers& buffers) {
  std::array<MPI_Request, 4> requests;
  MPI_Irecv(buffers.receive(), bytes, MPI_BYTE, to.before, forth_tag, team.comm, &requests[0]);
  MPI_Irecv(buffers.receive(), bytes, MPI_BYTE, to.behind, back_tag, team.comm, &requests[1]);
  MPI_Isend(buffers.send(), bytes, MPI_BYTE, to.behind, forth_tag, team.comm, &requests[2]);
  MPI_Isend(buffers.send(), bytes, MPI_BYTE, to.before, back_tag, team.comm, &requests[3]);
  MPI_Waitall(requests.size(), requests.data(), MPI_STATUSES_IGNORE);
}

}  // namespace

int rings_of(Kind test) { return test == Kind::random_ring ? random_rings : 1; }

std::vector<int> random_order(int size, int number) {
  std::vector<int> order(static_cast<std::size_t>(size));
  std::iota(order.begin(), order.end(), 0);
  // The numbers of this generator are the same everywhere, unlike what the library shuffles with.
  std::mt19937 chance(static_cast<std::mt19937::result_type>(number) + 1);
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[chance() % left]);
  }
  return order;
}

Neighbours neighbours_in(const std::vector<int>& order, int rank) {
  const auto place =
      static_cast<std::size_t>(std::find(order.begin(), order.end(), rank) - order.begin());
  const std::size_t size = order.size();
  return {order[(place + size - 1) % size], order[(place + 1) % size]};
}

void run_rings(Kind test, const Team& team, std::size_t bytes, const Buffers& buffers, int count) {
  std::vector<Neighbours> rings;
  for (int number = 0; number < rings_of(test); ++number) {
    std::vector<int> order(static_cast<std::size_t>(team.size));
    std::iota(order.begin(), order.end(), 0);
    if (test == Kind::random_ring) {
      order = random_order(team.size, number);
    }
    rings.push_back(neighbours_in(order, team.rank));
  }
  for (int i = 0; i < count; ++i) {
    for (const Neighbours& ring : rings) {
      pass(team, ring, static_cast<int>(bytes), buffers);
    }
  }
}

}  // namespace fulmar::measure
