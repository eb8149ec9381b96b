// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Generated one-sided programs (see programs.cc), a different one in each of three threads at the same time.
//
// ranks: 2 3
// args: 1 12
// timeout: 120
#include "random/main.h"
#include "rma/generated/run_windows.h"

int main(int argc, char** argv) {
  return generated::run_main(argc, argv, 3, generated::run_window_programs);
}
