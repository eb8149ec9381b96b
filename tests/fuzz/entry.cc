// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fuzz/targets.h"

/// FULMAR_FUZZ_TARGET is the function of fuzz/targets.h that this program is for; set by the build.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fulmar::fuzz::FULMAR_FUZZ_TARGET({data, size});
  return 0;
}
