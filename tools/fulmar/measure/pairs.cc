// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/measure/pairs.h"

#include <algorithm>

namespace fulmar::measure {

namespace {

constexpr int data_tag = 12;
constexpr int control_tag = 7003;
constexpr int result_tag = 7004;
constexpr int turn_tag = 7005;

/// One of two ranks that measure, the others being quiet. The lower rank leads.
struct Side {
  MPI_Comm comm;
  bool leads;
  int peer;
};

int agree(const Side& side, int value) {
  if (side.leads) {
    MPI_Send(&value, 1, MPI_INT, side.peer, control_tag, side.comm);
  } else {
    MPI_Recv(&value, 1, MPI_INT, side.peer, control_tag, side.comm, MPI_STATUS_IGNORE);
  }
  return value;
}

void ping_pong(const Side& side, int bytes, const Buffers& buffers, int count) {
  for (int i = 0; i < count; ++i) {
    if (side.leads) {
      MPI_Send(buffers.send(), bytes, MPI_BYTE, side.peer, data_tag, side.comm);
    }
    MPI_Recv(buffers.receive(), bytes, MPI_BYTE, side.peer, data_tag, side.comm, MPI_STATUS_IGNORE);
    if (!side.leads) {
      MPI_Send(buffers.send(), bytes, MPI_BYTE, side.peer, data_tag, side.comm);
    }
  }
}

Point run_pair(const Side& side, std::size_t bytes, const Buffers& buffers, const Budget& budget) {
  return measure([&](int value) { return agree(side, value); }, bytes, 2, budget,
                 [&](int count) { ping_pong(side, static_cast<int>(bytes), buffers, count); });
}

/// Rank 0 sends both ranks of a pair their turn, so that all other ranks wait.
void give_turn(const Team& team, std::pair<int, int> pair) {
  for (const int rank : {pair.first, pair.second}) {
    if (team.rank == 0 && rank != 0) {
      MPI_Send(nullptr, 0, MPI_BYTE, rank, turn_tag, team.comm);
    } else if (team.rank == rank && rank != 0) {
      MPI_Recv(nullptr, 0, MPI_BYTE, 0, turn_tag, team.comm, MPI_STATUS_IGNORE);
    }
  }
}

/// The point of the pair's first rank, on rank 0.
Point collect(const Team& team, int from, Point point) {
  if (from == 0 || (team.rank != 0 && team.rank != from)) {
    return point;
  }
  if (team.rank == from) {
    MPI_Send(&point, sizeof point, MPI_BYTE, 0, result_tag, team.comm);
  } else {
    MPI_Recv(&point, sizeof point, MPI_BYTE, from, result_tag, team.comm, MPI_STATUS_IGNORE);
  }
  return point;
}

}  // namespace

std::vector<std::pair<int, int>> pairs_of(int size) {
  std::vector<std::pair<int, int>> pairs;
  for (int first = 0; first < size; ++first) {
    for (int second = first + 1; second < size; ++second) {
      pairs.emplace_back(first, second);
    }
  }
  return pairs;
}

Point over_pairs(const std::vector<Point>& pairs) {
  Point sum{pairs.front().bytes, 0, pairs.front().median_ns, 0, 0, 0};
  for (const Point& pair : pairs) {
    sum.median_ns += pair.median_ns / static_cast<double>(pairs.size());
    sum.low_ns = std::min(sum.low_ns, pair.median_ns);
    sum.high_ns = std::max(sum.high_ns, pair.median_ns);
    sum.operations += pair.operations;
    sum.batches += pair.batches;
  }
  return sum;
}

Point run_pairs(const Team& team, std::size_t bytes, const Buffers& buffers, const Budget& budget) {
  const auto pairs = pairs_of(team.size);
  Budget share = budget;
  share.point_ns = budget.point_ns / static_cast<double>(pairs.size());
  std::vector<Point> points;
  for (const auto& pair : pairs) {
    give_turn(team, pair);
    Point point;
    if (team.rank == pair.first || team.rank == pair.second) {
      const bool leads = team.rank == pair.first;
      point = run_pair({team.comm, leads, leads ? pair.second : pair.first}, bytes, buffers, share);
    }
    points.push_back(collect(team, pair.first, point));
  }
  return over_pairs(points);
}

}  // namespace fulmar::measure
