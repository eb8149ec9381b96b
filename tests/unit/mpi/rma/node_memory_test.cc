// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/node/node_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os/fd.h"

namespace fulmar::mpi {
namespace {

using base::ErrorClass;

constexpr std::uint64_t bytes = 8192;

base::UniqueFd plain_file(std::uint64_t length) {
  base::UniqueFd file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(length)), 0);
  return file;
}

TEST(NodeMemory, All_who_map_a_file_share_it) {
  auto file = NodeMemory::make_file(bytes);
  ASSERT_TRUE(file.ok());
  auto first = NodeMemory::map(file->get(), bytes, 1);
  auto second = NodeMemory::map(file->get(), bytes, 1);
  ASSERT_TRUE(first.ok() && second.ok());
  *(*first)->at(bytes - 1) = std::byte{7};
  EXPECT_EQ(*(*second)->at(bytes - 1), std::byte{7});
}

TEST(NodeMemory, A_file_keeps_its_length) {
  auto file = NodeMemory::make_file(bytes);
  ASSERT_TRUE(file.ok());
  EXPECT_NE(::ftruncate(file->get(), 0), 0);
  EXPECT_NE(::ftruncate(file->get(), 2 * bytes), 0);
}

TEST(NodeMemory, A_file_that_is_too_short_is_refused) {
  auto file = NodeMemory::make_file(bytes);
  ASSERT_TRUE(file.ok());
  const auto memory = NodeMemory::map(file->get(), bytes + 4096, 1);
  ASSERT_TRUE(memory.failed());
  EXPECT_EQ(memory.error().error_class(), ErrorClass::other);
  EXPECT_EQ(memory.error().text(),
            "the memory file of a window has 8192 bytes, where 12288 were agreed on; the rank that "
            "made it runs another version of the library, or is broken");
}

TEST(NodeMemory, A_file_that_could_become_shorter_is_refused) {
  const base::UniqueFd file = plain_file(bytes);
  const auto memory = NodeMemory::map(file.get(), bytes, 1);
  ASSERT_TRUE(memory.failed());
  EXPECT_EQ(memory.error().error_class(), ErrorClass::other);
}

TEST(NodeMemory, Memory_of_one_process_needs_no_file) {
  auto memory = NodeMemory::map(-1, bytes, std::uint64_t{1} << 16);
  ASSERT_TRUE(memory.ok());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>((*memory)->at(0)) % (1 << 16), 0U);
  EXPECT_EQ(*(*memory)->at(bytes - 1), std::byte{0});
}

}  // namespace
}  // namespace fulmar::mpi
