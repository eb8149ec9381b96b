// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstring>

// The private words of MPI_Status (MPI 5.0 chapter 20 leaves them to the library): the number of
// bytes received in the first two, bit 0 of the third says cancelled.

namespace fulmar::mpi {

inline constexpr int status_cancelled_bit = 1;

[[nodiscard]] inline MPI_Count status_bytes(const MPI_Status& status) noexcept {
  MPI_Count bytes = 0;
  std::memcpy(&bytes, status.MPI_internal, sizeof bytes);
  return bytes;
}
inline void set_status_bytes(MPI_Status& status, MPI_Count bytes) noexcept {
  std::memcpy(status.MPI_internal, &bytes, sizeof bytes);
}
[[nodiscard]] inline bool status_cancelled(const MPI_Status& status) noexcept {
  return (status.MPI_internal[2] & status_cancelled_bit) != 0;
}
enum class Cancelled : bool { no, yes };
inline void set_status_cancelled(MPI_Status& status, Cancelled cancelled) noexcept {
  const int others = status.MPI_internal[2] & ~status_cancelled_bit;
  status.MPI_internal[2] = cancelled == Cancelled::yes ? others | status_cancelled_bit : others;
}

}  // namespace fulmar::mpi
