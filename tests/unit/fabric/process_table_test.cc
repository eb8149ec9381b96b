// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/process_table.h"

#include <gtest/gtest.h>

namespace fulmar::fabric {
namespace {

using wire::ProcessName;

TEST(ProcessTable, Ids_of_a_job_follow_each_other) {
  ProcessTable table({7, 1}, 4);
  EXPECT_EQ(table.self(), 1U);
  EXPECT_EQ(table.add_job(9, 3, {}), 4U);
  EXPECT_EQ(table.size(), 7U);
  for (std::uint32_t id = 0; id < table.size(); ++id) {
    const ProcessName name = id < 4 ? ProcessName{7, id} : ProcessName{9, id - 4};
    EXPECT_EQ(table.name_of(id), name);
    EXPECT_EQ(table.id_of(name), id);
  }
  EXPECT_FALSE(table.name_of(7).has_value());
}

TEST(ProcessTable, A_job_that_is_known_keeps_its_ids_and_its_key) {
  ProcessTable table({1, 0}, 2, {1});
  ASSERT_EQ(table.add_job(2, 2, {2}), 2U);
  EXPECT_EQ(table.add_job(1, 2, {3}), 0U);
  EXPECT_EQ(table.add_job(2, 5, {3}), 2U);
  EXPECT_EQ(table.size(), 4U);
  ASSERT_NE(table.key_of(1), nullptr);
  EXPECT_EQ(*table.key_of(1), (base::Key{1}));
  ASSERT_NE(table.key_of(2), nullptr);
  EXPECT_EQ(*table.key_of(2), (base::Key{2}));
}

TEST(ProcessTable, What_is_not_known_is_refused) {
  ProcessTable table({1, 0}, 2);
  EXPECT_FALSE(table.id_of({1, 2}).has_value());
  EXPECT_FALSE(table.id_of({2, 0}).has_value());
  EXPECT_FALSE(table.id_of({1, 0, 1}).has_value()) << "an engine that nobody has";
  EXPECT_FALSE(table.name_of(UINT32_MAX).has_value());
  EXPECT_EQ(table.key_of(2), nullptr);
  EXPECT_FALSE(table.add_job(2, UINT32_MAX, {}).has_value());
  EXPECT_FALSE(table.add_job(0, 1, {}).has_value()) << "no job has this number";
  EXPECT_EQ(table.size(), 2U);
}

TEST(ProcessTable, Ids_of_a_job_that_is_forgotten_go_to_the_next_that_fits) {
  ProcessTable table({1, 0}, 2, {1});
  ASSERT_EQ(table.add_job(2, 3, {2}), 2U);
  ASSERT_EQ(table.add_job(3, 2, {3}), 5U);
  ASSERT_EQ(table.add_job(4, 1, {4}), 7U);
  table.remove_job(2);
  EXPECT_EQ(table.key_of(2), nullptr);
  EXPECT_FALSE(table.id_of({2, 0}).has_value());
  EXPECT_FALSE(table.name_of(2).has_value());
  EXPECT_FALSE(table.name_of(4).has_value());
  EXPECT_EQ(table.name_of(5), (ProcessName{3, 0}));
  EXPECT_EQ(table.other_jobs().size(), 2U);
  EXPECT_EQ(table.add_job(5, 4, {5}), 8U) << "too many for the ids that are free";
  EXPECT_EQ(table.add_job(6, 1, {6}), 2U);
  EXPECT_EQ(table.add_job(7, 2, {7}), 3U);
  EXPECT_EQ(table.name_of(2), (ProcessName{6, 0}));
  EXPECT_EQ(table.name_of(4), (ProcessName{7, 1}));
  EXPECT_EQ(table.id_of({5, 3}), 11U);
  EXPECT_EQ(table.size(), 12U);
  table.remove_job(5);
  EXPECT_EQ(table.size(), 12U) << "tables behind it never shrink";
  EXPECT_EQ(table.add_job(2, 6, {8}), 8U) << "it comes back, larger, with another key";
  EXPECT_EQ(*table.key_of(2), (base::Key{8}));
  table.remove_job(1);
  EXPECT_EQ(table.name_of(1), (ProcessName{1, 1})) << "the own job stays";
}

TEST(ProcessTable, A_job_without_processes_takes_no_id) {
  ProcessTable table({1, 0}, 1);
  ASSERT_EQ(table.add_job(3, 0, {}), 1U);
  ASSERT_EQ(table.add_job(2, 1, {}), 1U);
  EXPECT_EQ(table.name_of(1), (ProcessName{2, 0}));
  EXPECT_FALSE(table.id_of({3, 0}).has_value());
}

TEST(ProcessTable, Texts_name_the_job_where_it_is_another) {
  ProcessTable table({1, 0}, 2);
  ASSERT_EQ(table.add_job(0xabc, 2, {}), 2U);
  EXPECT_EQ(table.text_of(1), "rank 1");
  EXPECT_EQ(table.text_of(3), "rank 1 of job 00000abc");
}

TEST(ProcessName, Names_are_ordered_alike_everywhere) {
  EXPECT_LT((ProcessName{1, 9}), (ProcessName{2, 0}));
  EXPECT_LT((ProcessName{2, 0}), (ProcessName{2, 1}));
  EXPECT_LT((ProcessName{2, 1, 0}), (ProcessName{2, 1, 1}));
}

}  // namespace
}  // namespace fulmar::fabric
