// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Generated programs: communicators made from communicators, random datatypes, every kind of
// message and of collective call, all at the same time. SEED and COUNT say which;
// tests/soak.d/random runs more.
//
// ranks: 1 2 3 4 5
// args: 1 40
#include "main.h"
#include "program.h"

int main(int argc, char** argv) {
  return generated::run_main(argc, argv, 1, generated::run_programs);
}
