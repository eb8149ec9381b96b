// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/jobs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fulmar/layers/applications.h"
#include "fulmar/layers/study.h"

namespace fulmar::layers {
namespace {

using measure::Results;

void add(Results& results, const char* test, std::size_t bytes, double ns, int ranks = 2) {
  series_of(results, test, ranks).points.push_back({bytes, ns, ns, ns, 1, 1});
}

TEST(Jobs, take_nothing_of_a_setting_from_outside) {
  ::setenv("FULMAR_CHANNEL", "basic", 1);
  ::setenv("FULMAR_KEPT_MEMORY", "0", 1);
  ::setenv("FULMAR_YIELD", "always", 1);
  const auto words = environment_with({{"FULMAR_RDMA", "put"}});
  const auto has = [&](const char* word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  EXPECT_TRUE(has("FULMAR_RDMA=put"));
  EXPECT_TRUE(has("FULMAR_YIELD=always"));
  EXPECT_FALSE(has("FULMAR_CHANNEL=basic"));
  EXPECT_FALSE(has("FULMAR_KEPT_MEMORY=0"));
  for (const char* name : {"FULMAR_CHANNEL", "FULMAR_KEPT_MEMORY", "FULMAR_YIELD"}) {
    ::unsetenv(name);
  }
}

/// Every setting is taken out of the environment of the others.
TEST(Jobs, know_what_settings_set) {
  for (const Setting& setting : settings()) {
    for (const auto& [name, value] : setting.environment) {
      ::setenv(name.c_str(), "outside", 1);
      for (const std::string& word : environment_with({})) {
        EXPECT_FALSE(word.starts_with(name + "=")) << word;
      }
      ::unsetenv(name.c_str());
    }
  }
}

TEST(Jobs, are_told_sizes_and_ranks) {
  const Programs programs{"fulmar", "mpiexec", ""};
  layers::Run run{{"ring"}, {8, 64, 128}, layers::Run::Ranks::all};
  const std::vector<std::string> expected{"mpiexec",        "-n",   "6",       "fulmar",
                                          "bench",          "ring", "--sizes", "8,64",
                                          "--milliseconds", "10",   "--json",  "file"};
  EXPECT_EQ(command_of(run, programs, {10, 64, 6}, "file"), expected);
  run.ranks = layers::Run::Ranks::two;
  EXPECT_EQ(command_of(run, programs, {10, 64, 6}, "file")[2], "2");
}

TEST(Jobs, of_joining_are_told_who_calls) {
  const Programs programs{"fulmar", "mpiexec", ""};
  layers::Run run{{"joining"}, {8}};
  run.joins = layers::Run::Joins::between;
  const std::vector<std::string> expected{"mpiexec",        "-n",      "2",      "fulmar",
                                          "bench",          "joining", "--call", "between",
                                          "--milliseconds", "10",      "--json", "file"};
  EXPECT_EQ(command_of(run, programs, {10, 64, 6}, "file"), expected);
  run.joins = layers::Run::Joins::beside;
  EXPECT_EQ(command_of(run, programs, {10, 64, 6}, "file")[7], "beside");
}

TEST(Jobs, figures_of_several_rounds_are_medians) {
  std::vector<Results> rounds(3);
  add(rounds[0], "latency", 8, 900);
  add(rounds[1], "latency", 8, 100);
  add(rounds[2], "latency", 8, 200);
  add(rounds[1], "latency", 64, 300);  // the others failed there
  add(rounds[2], "latency", 64, 500);
  add(rounds[2], "ring", 8, 50, 4);
  rounds[0].processor = "one";
  rounds[1].counts = {{"device_sleeps", 8, 1}};
  rounds[2].counts = {{"device_sleeps", 8, 7}};
  const Results all = median_of(rounds);
  EXPECT_EQ(all.processor, "one");
  const auto* latency = measure::find_series(all, "latency", 2);
  ASSERT_EQ(latency->points.size(), 2U);
  EXPECT_EQ(latency->points[0].median_ns, 200);
  EXPECT_EQ(latency->points[0].high_ns, 200);
  EXPECT_EQ(latency->points[0].batches, 3U);
  EXPECT_EQ(latency->points[1].median_ns, 400);
  EXPECT_EQ(measure::find_series(all, "ring", 4)->points[0].median_ns, 50);
  ASSERT_EQ(all.counts.size(), 1U);
  EXPECT_EQ(all.counts[0].per_message, 1);
}

TEST(Jobs, results_of_several_are_put_together) {
  Results all;
  add(all, "latency", 8, 100);
  add(all, "latency", 4096, 400);
  Results more;
  add(more, "latency", 8, 999);
  add(more, "latency", 64, 200);
  add(more, "latency", 8, 500, 4);
  more.counts = {{"device_sleeps", 8, 1}};
  add_results(all, more);
  const auto* series = measure::find_series(all, "latency", 2);
  ASSERT_EQ(series->points.size(), 3U);
  EXPECT_EQ(series->points[0].median_ns, 100);
  EXPECT_EQ(series->points[1].bytes, 64U);
  EXPECT_EQ(measure::find_series(all, "latency", 4)->points.size(), 1U);
  EXPECT_EQ(all.counts.size(), 1U);
}

TEST(Jobs, write_their_output_where_it_is_wanted) {
  const Scratch scratch;
  const std::string file = scratch.path("output");
  ASSERT_EQ(run_program({"/bin/echo", "longer than what follows"}, {}, file), 0);
  ASSERT_EQ(run_program({"/bin/echo", "short"}, {}, file), 0);
  std::ifstream stream(file);
  std::string text;
  std::getline(stream, text, '\0');
  EXPECT_EQ(text, "short\n");
  EXPECT_EQ(run_program({"/bin/false"}, {}), 1);
}

/// The second thread needs a queue to sleep on.
TEST(Settings, two_threads_have_two_queues) {
  for (const Setting& setting : settings()) {
    const auto has = [&](const char* name) {
      const std::pair<std::string, std::string> wanted{name, "two"};
      return std::find(setting.environment.begin(), setting.environment.end(), wanted) !=
             setting.environment.end();
    };
    EXPECT_EQ(has("FULMAR_PROGRESS_THREAD"), setting.name == "verbs-thread-two") << setting.name;
    EXPECT_TRUE(!has("FULMAR_PROGRESS_THREAD") || has("FULMAR_VERBS_QUEUES")) << setting.name;
  }
}

/// The fast designs have to be as fast as each other, not faster than the basic one alone.
TEST(Applications, count_when_their_result_is_right) {
  const std::string time = " Time in seconds =                     0.13\n";
  const std::string right = " Verification    =               SUCCESSFUL\n";
  EXPECT_EQ(seconds_of("\n IS Benchmark Completed.\n" + time + right), 0.13);
  const std::string before = " Verification being performed for class W\n Accuracy = 1E-07\n";
  EXPECT_EQ(seconds_of(before + time + right), 0.13);
  EXPECT_EQ(seconds_of(before + time), std::nullopt);
  EXPECT_EQ(seconds_of(time), std::nullopt);
  EXPECT_EQ(seconds_of(time + " Verification    =             UNSUCCESSFUL\n"), std::nullopt);
  EXPECT_EQ(seconds_of(right), std::nullopt);
  EXPECT_EQ(seconds_of(right + " Time in seconds = ********\n"), std::nullopt);
  EXPECT_EQ(seconds_of(right + " Time in seconds"), std::nullopt);
}

TEST(Applications, that_are_not_there_are_named) {
  const Scratch scratch;
  EXPECT_NE(ApplicationFolder{}.lacking().find("--nas"), std::string::npos);
  const ApplicationFolder folder{scratch.path(""), "S", "W"};
  for (const char* name : {"is", "ep", "cg", "mg", "ft", "lu", "sp", "bt"}) {
    std::ofstream(scratch.path(name + std::string(".S.x"))) << "x";
  }
  const std::string lacking = folder.lacking();
  EXPECT_NE(lacking.find("has no is.W.x, ep.W.x, cg.W.x, mg.W.x, ft.W.x, lu.W.x."),
            std::string::npos)
      << lacking;
  for (const char* name : {"is", "ep", "cg", "mg", "ft", "lu"}) {
    std::ofstream(scratch.path(name + std::string(".W.x"))) << "x";
  }
  EXPECT_EQ(folder.lacking(), "");
}

}  // namespace
}  // namespace fulmar::layers
