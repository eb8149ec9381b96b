// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <memory>
#include <span>

#include "base/memory/memory_watch.h"

/// Ends of a watch in programs that fork, or close what they have not opened. A thread that is held
/// up for ever shows as a test that does not end.
namespace fulmar::base {
namespace {

const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

std::span<std::byte> map_pages(std::size_t count) {
  void* const memory =
      ::mmap(nullptr, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  return {static_cast<std::byte*>(memory), count * page};
}

/// Nothing is told of what mremap adds, which is watched, too.
TEST(MemoryWatchEnds, memory_that_grew_is_free_afterwards_although_a_child_lives_on) {
  auto watch = std::make_unique<MemoryWatch>();
  const std::span<std::byte> pages = map_pages(4);
  if (watch->watch(range_of(pages)).failed()) GTEST_SKIP() << watch->refusal();
  void* const grown = ::mremap(pages.data(), 4 * page, 16 * page, MREMAP_MAYMOVE);
  ASSERT_NE(grown, MAP_FAILED);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    ::close(ends[1]);
    ::_exit(::read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  watch.reset();
  ::munmap(grown, 16 * page);
  ::close(ends[0]);
  ::close(ends[1]);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

/// As a daemon does, in a child, which has other descriptors afterwards.
TEST(MemoryWatchEnds, descriptors_that_took_the_place_of_closed_ones_are_left_alone) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    const std::span<std::byte> pages = map_pages(1);
    auto own = std::make_unique<MemoryWatch>();
    if (own->watch(range_of(pages)).failed()) ::_exit(own->refusal().empty() ? 2 : 0);
    ::close_range(3, ~0U, 0);
    std::array<int, 4> ends{};
    if (::pipe(ends.data()) != 0 || ::pipe(&ends[2]) != 0) ::_exit(3);
    const std::array<char, 64> text{"text of the program"};
    for (const int end : {ends[1], ends[3]}) (void)!::write(end, text.data(), text.size());
    (void)own->settle();
    ::munmap(pages.data(), page);  // wakes the reader
    own.reset();
    for (const int end : {ends[0], ends[2]}) {
      int left = 0;
      if (::ioctl(end, FIONREAD, &left) != 0 || left != 64) ::_exit(4);
    }
    for (const int end : ends) {
      if (::fcntl(end, F_GETFD) < 0) ::_exit(5);
    }
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace fulmar::base
