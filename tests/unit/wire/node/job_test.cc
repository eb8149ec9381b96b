// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/node/job.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>

namespace fulmar::wire {
namespace {

struct FreeDeleter {
  void operator()(std::byte* memory) const { std::free(memory); }
};

/// A segment in private memory, formatted for three ranks.
class Segment {
 public:
  Segment() : bytes_(total_bytes_for(3, min_area_bytes)) {
    memory_.reset(static_cast<std::byte*>(std::aligned_alloc(4096, bytes_)));
    std::memset(memory_.get(), 0, control_bytes_for(3));
    plan_.rank_count = 3;
    plan_.app_count = 2;
    plan_.core_count = 5;
    plan_.flags = job_flag_oversubscribed;
    plan_.job_id = 77;
    plan_.job_key[31] = 9;
    plan_.mpiexec_pid = 4711;
    EXPECT_TRUE(format_job(mapping(), plan_).ok());
  }
  [[nodiscard]] std::span<std::byte> mapping() const { return {memory_.get(), bytes_}; }
  template <class T>
  void poke(std::size_t offset, T value) {
    std::memcpy(memory_.get() + offset, &value, sizeof value);
  }
  JobPlan plan_;

 private:
  std::size_t bytes_;
  std::unique_ptr<std::byte, FreeDeleter> memory_;
};

TEST(Job, Attach_reads_back_what_format_wrote) {
  const Segment segment;
  auto view = attach_job(segment.mapping());
  ASSERT_TRUE(view.ok()) << view.error().text();
  EXPECT_EQ(view->rank_count, 3U);
  EXPECT_EQ(view->app_count, 2U);
  EXPECT_EQ(view->core_count, 5U);
  EXPECT_EQ(view->flags, job_flag_oversubscribed);
  EXPECT_EQ(view->job_id, 77U);
  EXPECT_EQ(view->job_key[31], 9);
  EXPECT_EQ(view->mpiexec_pid, 4711);
  EXPECT_EQ(view->records.size(), 3U);
  EXPECT_EQ(view->area(2).data() + view->area(2).size(),
            segment.mapping().data() + segment.mapping().size());
  EXPECT_EQ(view->header->abort.load(), static_cast<std::uint32_t>(JobAbort::running));
}

TEST(Job, Areas_are_apart_and_aligned) {
  const Segment segment;
  auto view = attach_job(segment.mapping());
  ASSERT_TRUE(view.ok());
  for (std::uint32_t rank = 0; rank + 1 < 3; ++rank) {
    EXPECT_EQ(view->area(rank).data() + view->area(rank).size(), view->area(rank + 1).data());
  }
  EXPECT_EQ(view->areas_offset % area_alignment, 0U);
  EXPECT_GE(view->areas_offset, sizeof(JobHeader) + 3 * sizeof(RankRecord));
}

TEST(Job, Area_size_grows_with_ranks_by_at_most_64_bytes_each) {
  EXPECT_EQ(area_bytes_for(1) % area_alignment, 0U);
  EXPECT_LE(area_bytes_for(max_job_ranks),
            area_bytes_for(1) + std::uint64_t{64} * max_job_ranks + area_alignment);
}

TEST(Job, Format_rejects_numbers_out_of_range) {
  const Segment segment;
  JobPlan plan = segment.plan_;
  plan.rank_count = 0;
  EXPECT_TRUE(format_job(segment.mapping(), plan).failed());
  plan = segment.plan_;
  plan.app_count = 4;
  EXPECT_TRUE(format_job(segment.mapping(), plan).failed());
  plan = segment.plan_;
  plan.area_bytes = min_area_bytes + 1;
  EXPECT_TRUE(format_job(segment.mapping(), plan).failed());
  EXPECT_TRUE(format_job(segment.mapping().first(64), segment.plan_).failed());
}

TEST(Job, Attach_rejects_a_file_of_another_size) {
  const Segment segment;
  for (const std::size_t bytes :
       {0UL, 1UL, 255UL, 256UL, 4096UL, segment.mapping().size() - 4096}) {
    EXPECT_TRUE(attach_job(segment.mapping().first(bytes)).failed()) << bytes;
  }
}

TEST(Job, Attach_names_the_wrong_field) {
  Segment segment;
  segment.poke(offsetof(JobHeader, rank_count), std::uint32_t{0});
  EXPECT_NE(attach_job(segment.mapping()).error().text().find("rank_count is 0"),
            std::string::npos);
  Segment other;
  other.poke(offsetof(JobHeader, version), std::uint32_t{99});
  EXPECT_NE(attach_job(other.mapping()).error().text().find("layout version 99"),
            std::string::npos);
}

TEST(Job, Attach_rejects_each_damaged_field) {
  struct Damage {
    std::size_t offset;
    std::uint64_t value;
    std::size_t bytes;
  };
  const Damage damages[] = {
      {offsetof(JobHeader, magic), 0, 1},
      {offsetof(JobHeader, version), job_layout_version + 1, 4},
      {offsetof(JobHeader, header_bytes), 128, 4},
      {offsetof(JobHeader, total_bytes), UINT64_MAX, 8},
      {offsetof(JobHeader, rank_count), 4, 4},
      {offsetof(JobHeader, rank_count), UINT32_MAX, 4},
      {offsetof(JobHeader, app_count), 0, 4},
      {offsetof(JobHeader, app_count), 4, 4},
      {offsetof(JobHeader, core_count), 0, 4},
      {offsetof(JobHeader, job_id), 0, 4},
      {offsetof(JobHeader, record_bytes), 64, 4},
      {offsetof(JobHeader, records_offset), 0, 8},
      {offsetof(JobHeader, records_offset), UINT64_MAX - 127, 8},
      {offsetof(JobHeader, areas_offset), 0, 8},
      {offsetof(JobHeader, areas_offset), UINT64_MAX & ~(area_alignment - 1), 8},
      {offsetof(JobHeader, area_bytes), 0, 8},
      {offsetof(JobHeader, area_bytes), min_area_bytes * 2, 8},
      {offsetof(JobHeader, area_bytes), UINT64_MAX, 8},
  };
  for (const Damage& damage : damages) {
    const Segment segment;
    std::memcpy(segment.mapping().data() + damage.offset, &damage.value, damage.bytes);
    EXPECT_TRUE(attach_job(segment.mapping()).failed())
        << "offset " << damage.offset << " value " << damage.value;
  }
}

TEST(Job, Failed_ranks_are_marked_and_counted_once) {
  const Segment segment;
  const JobView view = attach_job(segment.mapping()).value();
  EXPECT_TRUE(mark_failed(*view.header, view.records[1]));
  EXPECT_FALSE(mark_failed(*view.header, view.records[1]));
  EXPECT_EQ(view.header->failed_ranks, 1U);
  EXPECT_EQ(view.records[1].gone, static_cast<std::uint32_t>(RankGone::failed));
  EXPECT_EQ(view.records[0].gone, static_cast<std::uint32_t>(RankGone::no));
  mark_end(*view.header, view.records);
  EXPECT_EQ(view.header->abort, static_cast<std::uint32_t>(JobAbort::ending));
  for (const RankRecord& record : view.records) {
    EXPECT_EQ(record.gone, static_cast<std::uint32_t>(RankGone::job_ends));
  }
  EXPECT_FALSE(mark_failed(*view.header, view.records[0])) << "the job is ending anyway";
  EXPECT_EQ(view.header->failed_ranks, 1U);
}

TEST(Job, Attach_of_random_damage_stays_inside_the_mapping) {
  std::mt19937_64 random(20260101);
  const Segment segment;
  std::array<std::byte, 128> clean;
  std::memcpy(clean.data(), segment.mapping().data(), clean.size());
  const std::byte* end = segment.mapping().data() + segment.mapping().size();
  for (int round = 0; round < 20000; ++round) {
    std::memcpy(segment.mapping().data(), clean.data(), clean.size());
    for (std::uint64_t hits = 1 + random() % 3; hits > 0; --hits) {
      segment.mapping()[random() % clean.size()] = static_cast<std::byte>(random());
    }
    auto view = attach_job(segment.mapping());
    if (view.failed()) continue;
    ASSERT_LE(reinterpret_cast<std::byte*>(view->records.data() + view->records.size()),
              view->areas);
    ASSERT_EQ(view->area(view->rank_count - 1).data() + view->area_bytes, end);
  }
}

}  // namespace
}  // namespace fulmar::wire
