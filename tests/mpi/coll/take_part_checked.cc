// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// With FULMAR_CHECK=collectives every rank hears of an argument that is wrong in one of them.
// ranks: 1 2 3 4
// env: FULMAR_CHECK=collectives

#include <string>

#include "coll/take_part.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_in_step;

bool last = false;
int size = 1;

/// The last rank has an error of its own, the others one that reports it.
void expect_told(int code, int own_class, const std::string& call) {
  expect_class(code, last ? own_class : MPI_ERR_OTHER, call.c_str());
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  const std::string wanted = "rank " + std::to_string(size - 1) + " called " + call +
                             " with a wrong argument (" + call + ": argument count: -1";
  const bool said = last || std::string(text).find(wanted) != std::string::npos;
  expect(said, call.c_str());
  if (!said) std::fprintf(stderr, "  got: %s\n  expected: %s\n", text, wanted.c_str());
  expect_in_step(MPI_COMM_WORLD, call.c_str());
}

void counts() {
  const MPI_Comm comm = MPI_COMM_WORLD;
  int word = 1;
  int other = 0;
  const int count = last ? -1 : 1;
  expect_told(MPI_Allreduce(&word, &other, count, MPI_INT, MPI_SUM, comm), MPI_ERR_COUNT,
              "MPI_Allreduce");
  expect_told(MPI_Bcast(&word, count, MPI_INT, 0, comm), MPI_ERR_COUNT, "MPI_Bcast");
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Iallreduce(&word, &other, count, MPI_INT, MPI_SUM, comm, &request);
  if (!last) {
    expect_class(code, MPI_SUCCESS, "MPI_Iallreduce begins");
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  expect(request == MPI_REQUEST_NULL, "no request");
  expect_told(code, MPI_ERR_COUNT, "MPI_Iallreduce");
}

/// What is found only after the calls were compared.
void buffers() {
  for (const test::Operation& operation : test::operations) {
    for (const bool blocking : {true, false}) {
      const bool nothing = size == 1 && std::string(operation.name) == "exscan";
      test::Part part(20, last && !nothing ? test::Fault::same : test::Fault::none);
      MPI_Request request = MPI_REQUEST_NULL;
      int code = operation.call(part, blocking ? nullptr : &request);
      if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
      expect_class(code, last && !nothing ? MPI_ERR_BUFFER : MPI_SUCCESS, operation.name);
      expect_in_step(MPI_COMM_WORLD, operation.name);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  size = test::size_of(MPI_COMM_WORLD);
  last = test::rank_of(MPI_COMM_WORLD) == size - 1;
  counts();
  buffers();
  return test::finish();
}
