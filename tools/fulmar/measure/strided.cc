// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/measure/strided.h"

#include <array>
#include <cmath>

namespace fulmar::measure {

namespace {

constexpr int face_tag = 9;

/// The side of the cube one of whose faces has `bytes` bytes.
int side_of(std::size_t bytes) {
  const auto doubles = bytes / sizeof(double);
  return static_cast<int>(std::lround(std::sqrt(static_cast<double>(doubles))));
}

MPI_Datatype face_of(int side, int direction) {
  const std::array<int, 3> sizes{side, side, side};
  std::array<int, 3> part{side, side, side};
  std::array<int, 3> start{0, 0, 0};
  part[static_cast<std::size_t>(direction)] = 1;
  start[static_cast<std::size_t>(direction)] = side - 1;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(3, sizes.data(), part.data(), start.data(), MPI_ORDER_C, MPI_DOUBLE,
                           &type);
  return type;
}

MPI_Datatype type_of(Kind test, std::size_t bytes) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  switch (test) {
    case Kind::face_x:
      type = face_of(side_of(bytes), 2);
      break;
    case Kind::face_y:
      type = face_of(side_of(bytes), 1);
      break;
    case Kind::face_z:
      type = face_of(side_of(bytes), 0);
      break;
    case Kind::typed:
      MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type);
      break;
    default:
      MPI_Type_vector(static_cast<int>(bytes / sizeof(double)), 1, 2, MPI_DOUBLE, &type);
  }
  MPI_Type_commit(&type);
  return type;
}

}  // namespace

void run_strided(Kind test, const Team& team, std::size_t bytes, const Buffers& buffers,
                 int count) {
  MPI_Datatype type = type_of(test, bytes);
  const int peer = 1 - team.rank;
  for (int i = 0; i < count; ++i) {
    if (team.rank == 0) {
      MPI_Send(buffers.send(), 1, type, peer, face_tag, team.comm);
    }
    MPI_Recv(buffers.receive(), 1, type, peer, face_tag, team.comm, MPI_STATUS_IGNORE);
    if (team.rank == 1) {
      MPI_Send(buffers.send(), 1, type, peer, face_tag, team.comm);
    }
  }
  MPI_Type_free(&type);
}

std::size_t strided_span(Kind test, std::size_t bytes) {
  if (test == Kind::strided) {
    return 2 * bytes;
  }
  if (test == Kind::typed) {
    return bytes;
  }
  const auto side = static_cast<std::size_t>(side_of(bytes));
  return side * side * side * sizeof(double);
}

}  // namespace fulmar::measure
