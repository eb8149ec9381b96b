// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
//
// Numbers of two bytes under the handles of MPICH and Open MPI: sizes, messages, reductions, numbers of Fortran.
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

using Number = std::uint16_t;  // its bits

/// A type whose one and two are these bits, alone or in both parts of complex numbers.
void check(MPI_Datatype type, const char* what, int parts, Number one, Number two) {
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  expect_equal(bytes, 2 * parts, what);
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  MPI_Type_get_name(type, name.data(), &length);
  expect(std::strstr(name.data(), "FLOAT") != nullptr, "it has a name");
  expect(MPI_Type_f2c(MPI_Type_c2f(type)) == type, "its number in Fortran");
  std::array<Number, 2> in{one, 0};
  std::array<Number, 2> out{};
  expect_class(MPI_Allreduce(in.data(), out.data(), 1, type, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS,
               what);
  expect_equal(out[0], test::size_of(MPI_COMM_WORLD) == 1 ? one : two, "the sum of ones");
  in = {two, 0};
  expect_class(MPI_Allreduce(in.data(), out.data(), 1, type, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP,
               "no bits to combine");
  MPI_Datatype pair;
  MPI_Type_contiguous(2, type, &pair);
  MPI_Type_commit(&pair);
  std::array<Number, 4> message{one, two, two, one};
  std::array<Number, 4> received{};
  MPI_Sendrecv(message.data(), 1, pair, test::rank_of(MPI_COMM_WORLD), 1, received.data(), 2, type,
               test::rank_of(MPI_COMM_WORLD), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  expect(std::memcmp(message.data(), received.data(), 4 * static_cast<unsigned>(parts)) == 0,
         "a message");
  MPI_Datatype inner = MPI_DATATYPE_NULL;
  MPI_Type_get_contents(pair, 1, 0, 1, &length, nullptr, &inner);
  expect(inner == type, "what it is made of");
  MPI_Type_free(&pair);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  check(MPIX_C_FLOAT16, "MPIX_C_FLOAT16", 1, 0x3c00, 0x4000);
#ifdef MPIX_BFLOAT16
  check(MPIX_BFLOAT16, "MPIX_BFLOAT16", 1, 0x3f80, 0x4000);
#endif
#ifdef MPIX_C_FLOAT16_COMPLEX
  check(MPIX_C_FLOAT16_COMPLEX, "a complex number of C", 2, 0x3c00, 0x4000);
  check(MPIX_CXX_FLOAT16_COMPLEX, "a complex number of C++", 2, 0x3c00, 0x4000);
#endif
  MPI_Finalize();
  return test::failures() == 0 ? 0 : 1;
}
