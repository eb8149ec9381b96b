// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Generated one-sided programs: windows of every kind, epochs of every kind, datatypes on both sides, operations that
// overlap where MPI orders them. Arguments: SEED and COUNT say which; tests/soak.d/windows runs more.
//
// ranks: 1 2 3 4
// args: 1 60
// timeout: 120
#include "random/main.h"
#include "rma/generated/run_windows.h"

int main(int argc, char** argv) {
  return generated::run_main(argc, argv, 1, generated::run_window_programs);
}
