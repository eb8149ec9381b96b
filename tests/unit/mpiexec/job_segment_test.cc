// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/job_segment.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>
#include <cstdint>

#include "wire/node/shm_area.h"

namespace fulmar::mpiexec {
namespace {

wire::JobPlan plan_for(std::uint32_t ranks) {
  wire::JobPlan plan;
  plan.rank_count = ranks;
  return plan;
}

void enter(JobSegment& segment, std::uint32_t rank, wire::RankState state) {
  segment.records()[rank].taken.store(1);
  segment.records()[rank].state.store(static_cast<std::uint32_t>(state));
}

/// The first page of a rank's area.
class Area {
 public:
  Area(const JobSegment& segment, std::uint32_t rank) {
    const std::uint64_t at =
        segment.header().areas_offset + std::uint64_t{rank} * segment.header().area_bytes;
    start_ = ::mmap(nullptr, wire::area_granule, PROT_READ | PROT_WRITE, MAP_SHARED, segment.fd(),
                    static_cast<off_t>(at));
  }
  ~Area() { ::munmap(start_, wire::area_granule); }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;
  [[nodiscard]] std::atomic<std::uint32_t>& asleep() const {
    return static_cast<wire::AreaControl*>(start_)->asleep;
  }

 private:
  void* start_;
};

constexpr auto on_word = static_cast<std::uint32_t>(wire::Asleep::on_word);

TEST(JobSegment, Failure_touches_no_area_of_a_rank_outside_mpi) {
  auto segment = JobSegment::create(plan_for(16));
  ASSERT_TRUE(segment.ok());
  enter(*segment, 3, wire::RankState::exited);
  const auto pages = [&] {
    struct stat status{};
    EXPECT_EQ(::fstat(segment->fd(), &status), 0);
    return status.st_blocks;
  };
  const auto before = pages();
  for (std::uint32_t rank = 0; rank < 16; ++rank) segment->announce_failure(rank);
  EXPECT_EQ(pages(), before);
}

TEST(JobSegment, Failure_wakes_ranks_that_sleep_in_mpi) {
  auto segment = JobSegment::create(plan_for(3));
  ASSERT_TRUE(segment.ok());
  enter(*segment, 2, wire::RankState::initialised);
  const Area sleeper(*segment, 2);
  sleeper.asleep().store(on_word);
  segment->announce_failure(0);
  EXPECT_EQ(sleeper.asleep().load(), 0U);
}

}  // namespace
}  // namespace fulmar::mpiexec
