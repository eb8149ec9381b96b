// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The same as lengths.cc with the algorithms for ranks that have cores of their own, of which some read and write
// each other's memory from some length on.
// ranks: 3 5
// env: FULMAR_COLL=cores:own

#include "lengths.cc"  // NOLINT(bugprone-suspicious-include): the same program
