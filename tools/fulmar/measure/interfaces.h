// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>

#include "fulmar/measure/tests.h"

namespace fulmar::measure {

/// The patterns latency, bandwidth, bibw and burst with messages of the interfaces beside MPI (docs/interfaces), in
/// jobs of two ranks. A message counts as received when the receiver has been told of it and its data are in place:
///
/// rwapi: up to 32 bytes rwapi_send, else rwapi_write and rwapi_send. sisci: stores to a mapped segment (SCIMemCpy where
/// it cannot be mapped), and to a counter behind it on which the receiver polls. vipl: VipPostSend to a posted receive
/// descriptor, of memory that was registered; vipl-alloc: of memory of VipAllocMem.
///
/// MPI carries what the two have to agree on. The libraries are loaded when they are measured, so that this program runs
/// with any library of the standard ABI.
[[nodiscard]] bool is_of_interface(Kind test);
/// Why the test cannot be run: the library is not found. Empty: it can.
[[nodiscard]] std::string missing_library(Kind test);
/// Called by both ranks; the result is valid on rank 0. Ends the job where the library fails.
Point run_interface(Kind test, const Team& team, std::size_t bytes, const Budget& budget,
                    const Agree& agree);

}  // namespace fulmar::measure
