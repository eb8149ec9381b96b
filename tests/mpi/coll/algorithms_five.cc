// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The all-reduce whose parts travel in segments: parts of none, one and many.
// ranks: 1 2 3 5 8
// env: FULMAR_COLL=allreduce:segments

#include "support/collectives.h"

namespace {

void run() {
  const test::Shapes shapes;
  int seed = 0;
  for (const int count : {0, 1, 7, 20000, 70000, 140000, 260000}) {
    for (const bool in_place : {false, true}) {
      test::Collective one(test::Kind::allreduce, MPI_COMM_WORLD, shapes.at(0), count, 0, in_place);
      one.fill(++seed);
      one.call(test::Collective::Form::blocking);
      one.check();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  run();
  return test::finish();
}
