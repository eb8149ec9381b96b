// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/job_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <limits>

#include "wire/job.h"
#include "wire/shm_area.h"

namespace fulmar::wire {
namespace {

constexpr std::uint64_t mib = std::uint64_t{1} << 20;

TEST(JobFile, Areas_keep_their_size_where_address_space_is_plenty) {
  for (const std::uint32_t ranks : {1U, 2U, 8U, 256U}) {
    const std::uint64_t wished = area_bytes_for(ranks);
    const std::uint64_t enough = address_space_fraction * total_bytes_for(ranks, wished);
    EXPECT_EQ(area_bytes_within(ranks, wished, std::numeric_limits<std::uint64_t>::max()), wished);
    EXPECT_EQ(area_bytes_within(ranks, wished, enough), wished);
    EXPECT_LT(area_bytes_within(ranks, wished, enough - 1), wished);
  }
}

TEST(JobFile, Areas_leave_most_of_a_limited_address_space_to_the_program) {
  for (const std::uint32_t ranks : {2U, 8U, 32U}) {
    for (const std::uint64_t limit : {200 * mib, 500 * mib, 1000 * mib, 4000 * mib}) {
      const std::uint64_t area = area_bytes_within(ranks, area_bytes_for(ranks), limit);
      EXPECT_LE(total_bytes_for(ranks, area), limit / address_space_fraction) << ranks;
      EXPECT_EQ(area % area_granule, 0U);
      EXPECT_GT(AreaLayout::fit(ranks, area).ring_count, 0U) << ranks << " in " << limit;
    }
  }
}

TEST(JobFile, Areas_have_a_least_size) {
  EXPECT_EQ(area_bytes_within(1000, area_bytes_for(1000), 200 * mib), min_area_bytes);
  EXPECT_EQ(area_bytes_within(2, min_area_bytes, 1), min_area_bytes);
}

TEST(JobFile, The_limit_of_the_process_counts) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_AS, &before), 0);
  if (before.rlim_cur != RLIM_INFINITY) GTEST_SKIP() << "address space is limited here";
  constexpr std::uint32_t ranks = 4096;
  const std::uint64_t wished = area_bytes_for(ranks);
  // Far above what this process has, and too little for so many ranks.
  const rlimit limited{std::uint64_t{1} << 38, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &limited), 0);
  auto file = make_job_file(ranks, wished);
  ASSERT_EQ(::setrlimit(RLIMIT_AS, &before), 0);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(file->area_bytes, area_bytes_within(ranks, wished, limited.rlim_cur));
  EXPECT_LT(file->area_bytes, wished);
  struct stat status{};
  ASSERT_EQ(::fstat(file->fd.get(), &status), 0);
  EXPECT_EQ(static_cast<std::uint64_t>(status.st_size), total_bytes_for(ranks, file->area_bytes));
}

}  // namespace
}  // namespace fulmar::wire
