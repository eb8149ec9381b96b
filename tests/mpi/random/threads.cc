// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Generated programs (see programs.cc), a different one in each of three threads at the same time.
//
// ranks: 2 3
// args: 1 10
#include "main.h"
#include "program.h"

int main(int argc, char** argv) {
  return generated::run_main(argc, argv, 3, generated::run_programs);
}
