// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/mapped_parts.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string>

#include "io/file_system/file_system.h"

namespace fulmar::io {
namespace {

using Purpose = MappedParts::Purpose;

/// An anonymous file of `bytes`.
base::UniqueFd file_of(std::int64_t bytes) {
  base::UniqueFd file(::memfd_create("mapped_parts_test", MFD_CLOEXEC));
  EXPECT_EQ(::ftruncate(file.get(), bytes), 0);
  return file;
}

base::UniqueFd reopened(const base::UniqueFd& file, int flags) {
  const std::string path = "/proc/self/fd/" + std::to_string(file.get());
  return base::UniqueFd(::open(path.c_str(), flags | O_CLOEXEC));
}

char* at(const MappedParts::Hold& part, std::int64_t offset) {
  return reinterpret_cast<char*>(part.address_of_zero() + static_cast<std::uintptr_t>(offset));
}

TEST(MappedParts, WhatIsStored_IsInTheFile) {
  const base::UniqueFd file = file_of(100'000);
  MappedParts parts;
  {
    const auto part = parts.hold(file.get(), 70'000, 70'010, Purpose::writing);
    ASSERT_TRUE(part.ok());
    std::memcpy(at(part, 70'000), "0123456789", 10);
  }
  char back[12] = "";
  ASSERT_EQ(::pread(file.get(), back, 11, 69'999), 11);
  EXPECT_EQ(std::string(back + 1), "0123456789");
  EXPECT_EQ(back[0], '\0') << "nothing beside it";
}

TEST(MappedParts, BehindTheEnd_NothingIsHandedOut) {
  const base::UniqueFd file = file_of(10'000);
  MappedParts parts;
  EXPECT_TRUE(parts.hold(file.get(), 0, 10'000, Purpose::writing).ok());
  EXPECT_FALSE(parts.hold(file.get(), 9'999, 10'001, Purpose::writing).ok());
  ASSERT_EQ(::ftruncate(file.get(), 20'000), 0);
  EXPECT_TRUE(parts.hold(file.get(), 9'999, 20'000, Purpose::writing).ok()) << "it has grown";
  ASSERT_EQ(::ftruncate(file.get(), 5'000), 0);
  EXPECT_FALSE(parts.hold(file.get(), 0, 10'000, Purpose::reading).ok()) << "it has shrunk";
}

TEST(MappedParts, PagesThatWentAway_AreMadeUsableAgain) {
  const base::UniqueFd file = file_of(1 << 20);
  MappedParts parts;
  ASSERT_TRUE(parts.hold(file.get(), 0, 1 << 20, Purpose::writing).ok());
  ASSERT_EQ(::ftruncate(file.get(), 0), 0);
  ASSERT_EQ(::ftruncate(file.get(), 1 << 20), 0);
  const auto part = parts.hold(file.get(), 0, 1 << 20, Purpose::writing);
  ASSERT_TRUE(part.ok());
  unsigned char present = 0;
  const auto page = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(at(part, 4096)));
  ASSERT_EQ(::mincore(page, 4096, &present), 0);
  EXPECT_EQ(present & 1, 1);
}

TEST(MappedParts, AFileForReading_IsNotWrittenTo) {
  const base::UniqueFd file = file_of(10'000);
  ASSERT_EQ(::pwrite(file.get(), "abc", 3, 5'000), 3);
  const base::UniqueFd reading = reopened(file, O_RDONLY);
  MappedParts parts;
  EXPECT_FALSE(parts.hold(reading.get(), 0, 100, Purpose::writing).ok());
  MappedParts others;
  const auto part = others.hold(reading.get(), 5'000, 5'003, Purpose::reading);
  ASSERT_TRUE(part.ok());
  EXPECT_EQ(std::string(at(part, 5'000), 3), "abc");
}

TEST(MappedParts, AFileForWriting_IsOpenedOnceMore) {
  const base::UniqueFd file = file_of(10'000);
  const base::UniqueFd writing = reopened(file, O_WRONLY);
  MappedParts parts;
  const auto part = parts.hold(writing.get(), 10, 11, Purpose::writing);
  ASSERT_TRUE(part.ok());
  *at(part, 10) = 'x';
  char back = 0;
  ASSERT_EQ(::pread(file.get(), &back, 1, 10), 1);
  EXPECT_EQ(back, 'x');
}

TEST(MappedParts, MoreChunksThanFit_TakeTurns) {
  constexpr auto chunks = static_cast<std::int64_t>(MappedParts::most_chunks) + 3;
  const base::UniqueFd file = file_of(chunks * MappedParts::chunk_bytes);
  MappedParts parts;
  const auto first = parts.hold(file.get(), 0, 1, Purpose::writing);
  ASSERT_TRUE(first.ok());
  for (std::int64_t i = 1; i < chunks; ++i) {
    const std::int64_t offset = i * MappedParts::chunk_bytes;
    const auto part = parts.hold(file.get(), offset, offset + 1, Purpose::writing);
    ASSERT_TRUE(part.ok());
    *at(part, offset) = 'c';
  }
  *at(first, 0) = 'f';
  char back = 0;
  ASSERT_EQ(::pread(file.get(), &back, 1, 0), 1);
  EXPECT_EQ(back, 'f') << "what is held stays mapped";
}

/// How often the calling thread has touched a page that it had no place for.
long faults() {
  rusage usage{};
  EXPECT_EQ(::getrusage(RUSAGE_THREAD, &usage), 0);
  return usage.ru_minflt;
}

TEST(MappedParts, ABlockThatIsExpected_IsOnePage) {
  if (!file_system_of("/tmp").has_large_pages) GTEST_SKIP() << "/tmp has no large pages";
  std::array<char, 64> name{"/tmp/fulmar-unit-XXXXXX"};
  const base::UniqueFd file(::mkstemp(name.data()));
  ::unlink(name.data());
  constexpr std::int64_t block = MappedParts::block_bytes;
  constexpr std::int64_t size = 3 * block;
  ASSERT_EQ(::ftruncate(file.get(), size), 0);
  MappedParts parts;
  parts.expect_write(block, size);
  long before = faults();
  for (std::int64_t first = block; first < size; first += MappedParts::granule_bytes) {
    const auto part =
        parts.hold(file.get(), first, first + MappedParts::granule_bytes, Purpose::writing);
    ASSERT_TRUE(part.ok());
    *at(part, first) = 'b';
  }
  EXPECT_LT(faults() - before, 512)
      << "two blocks of 512 small pages, and what a sanitizer touches";
  before = faults();
  ASSERT_TRUE(parts.hold(file.get(), 0, block, Purpose::writing).ok());
  EXPECT_GT(faults() - before, 100) << "the block that is not";
  std::array<char, 2> back{};
  ASSERT_EQ(::pread(file.get(), back.data(), 2, 2 * block), 2);
  EXPECT_EQ(back[0], 'b');
  EXPECT_EQ(back[1], '\0') << "nothing beside it";
}

TEST(MappedParts, ABlockBehindTheEnd_IsUsableAsFarAsTheFileGoes) {
  constexpr std::int64_t block = MappedParts::block_bytes;
  const base::UniqueFd file = file_of(block / 2);
  MappedParts parts;
  parts.expect_write(0, 2 * block);
  EXPECT_TRUE(parts.hold(file.get(), 0, block / 2, Purpose::writing).ok());
  EXPECT_FALSE(parts.hold(file.get(), 0, block / 2 + 1, Purpose::writing).ok());
}

TEST(MappedParts, APipe_IsNotMapped) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const base::UniqueFd in(ends[0]);
  const base::UniqueFd out(ends[1]);
  MappedParts parts;
  EXPECT_FALSE(parts.hold(out.get(), 0, 1, Purpose::writing).ok());
}

TEST(MappedParts, Seen_IsWhatWasAskedForBefore) {
  constexpr std::int64_t granule = MappedParts::granule_bytes;
  MappedParts parts;
  EXPECT_FALSE(parts.seen_before(0, 2 * granule));
  EXPECT_TRUE(parts.seen_before(granule, granule + 1));
  EXPECT_FALSE(parts.seen_before(granule, 2 * granule + 1));
  EXPECT_TRUE(parts.seen_before(0, 3 * granule));
  EXPECT_FALSE(
      parts.seen_before(256 * MappedParts::chunk_bytes, 256 * MappedParts::chunk_bytes + 1))
      << "another chunk in the same place";
}

}  // namespace
}  // namespace fulmar::io
