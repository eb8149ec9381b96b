// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include "sisci/library.h"

namespace fulmar::sisci {
namespace {

const char*& reason() {
  static const char* the_reason = "";
  return the_reason;
}

TEST(Join, A_job_that_cannot_be_joined_is_SCI_ERR_NO_LINK_ACCESS) {
  reason() = "the launcher does not answer";
  Library library;
  testing::internal::CaptureStderr();
  EXPECT_EQ(join(library), SCI_ERR_NO_LINK_ACCESS);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "fulmar: SCIInitialize: the launcher does not answer\n");
}

TEST(Join, A_libmpi_abi_of_another_build_is_SCI_ERR_INCONSISTENT_VERSIONS) {
  reason() = "the library was built for version 1 of the core, and this one has version 2";
  Library library;
  testing::internal::CaptureStderr();
  EXPECT_EQ(join(library), SCI_ERR_INCONSISTENT_VERSIONS);
  (void)testing::internal::GetCapturedStderr();
}

}  // namespace
}  // namespace fulmar::sisci

/// In place of that of libmpi_abi: no job, whatever is asked for.
fulmar::interfaces::Port* fulmar_interfaces_open(std::uint32_t, fulmar::interfaces::PortId,
                                                 fulmar::interfaces::Client*,
                                                 fulmar::interfaces::Threads,
                                                 const char** why) noexcept {
  *why = fulmar::sisci::reason();
  return nullptr;
}
