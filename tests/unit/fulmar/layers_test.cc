// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fulmar/layers/applications.h"
#include "fulmar/layers/page.h"
#include "fulmar/layers/study.h"
#include "fulmar/layers/verdicts.h"

namespace fulmar::layers {
namespace {

using measure::Results;

void add(Results& results, const char* test, std::size_t bytes, double ns, int ranks = 2) {
  series_of(results, test, ranks).points.push_back({bytes, ns, ns, ns, 1, 1});
}

double ns_of(std::size_t bytes, double megabytes) {
  return static_cast<double>(bytes) * 1000 / megabytes;
}

/// What programs of NAS take, in seconds.
void set_applications(Results& results, double seconds) {
  for (const auto& applications : {few_applications(), many_applications()}) {
    for (const Application& application : applications) {
      const double ns = seconds * 1e9;
      series_of(results, test_of(application), application.ranks).points = {{0, ns, ns, ns, 1, 1}};
    }
  }
}

/// A setting that takes `ns` for 8 bytes, in rings and calls, too, and moves `megabytes` a second
/// of long messages.
Results result(double ns, double megabytes) {
  Results results;
  add(results, "latency", 8, ns);
  add(results, "exchange", 8, ns);
  add(results, "put", 8, ns);
  add(results, "get", 8, ns);
  add(results, "put-bw", 64, ns_of(64, megabytes));
  add(results, "allreduce", 8, ns);
  series_of(results, "pairs", 4).points.push_back({8, ns, 0.9 * ns, 1.2 * ns, 1, 1});
  add(results, "ring", 8, ns, 4);
  add(results, "random-ring", 8, ns, 4);
  add(results, "barrier", 0, ns);
  add(results, "barrier", 0, 3 * ns, 4);
  for (std::size_t bytes = 1024; bytes <= std::size_t{4} << 20; bytes *= 2) {
    add(results, "latency", bytes, ns_of(bytes, megabytes));
    add(results, "typed", bytes, ns_of(bytes, megabytes));
    add(results, "exchange", bytes, ns_of(bytes, 2 * megabytes));
    add(results, "burst", bytes, ns_of(bytes, megabytes));
    add(results, "rwapi-latency", bytes, ns_of(bytes, megabytes));
    add(results, "rwapi-burst", bytes, ns_of(bytes, megabytes));
    add(results, "bandwidth", bytes, ns_of(bytes, megabytes));
    add(results, "bibw", bytes, ns_of(bytes, 2 * megabytes));
    add(results, "put-bibw", bytes, ns_of(bytes, 2 * megabytes));
  }
  for (const char* test : {"step-before", "gap-before", "gap-joining", "joining", "gap-leaving",
                           "leaving", "step-after", "step-together"}) {
    add(results, test, 8, ns);
  }
  set_applications(results, 1);
  return results;
}

/// A burst as the paper on RWAPI shows it of MPI: a fall between 1 and 2 KiB, the peak at 256 KiB.
Results late_burst(Results results) {
  for (measure::Point& point : series_of(results, "burst", 2).points) {
    const double megabytes = point.bytes == 1024         ? 200
                             : point.bytes == 2048       ? 120
                             : point.bytes < 256 * 1024U ? 400
                                                         : 800;
    point.median_ns = ns_of(point.bytes, megabytes);
  }
  return results;
}

/// The time of one size of a test.
double& time_of(Results& results, const char* test, std::size_t bytes, int ranks = 2) {
  auto& points = series_of(results, test, ranks).points;
  return std::find_if(points.begin(), points.end(),
                      [&](const measure::Point& at) { return at.bytes == bytes; })
      ->median_ns;
}

/// Over an adapter, as the papers found.
void add_adapter(Measured& measured) {
  measured["verbs-packets"] = result(5000, 400);
  measured["verbs-unkept"] = result(5000, 130);
  time_of(measured["verbs-unkept"], "exchange", 1U << 20) *= 1.3;
  measured["verbs-put"] = result(5000, 800);
  measured["verbs-fetch-unkept"] = result(5000, 150);
  measured["verbs-fetch"] = result(5000, 820);
  measured["verbs-basic"] = result(18600, 230);
  measured["verbs-piggyback"] = result(7400, 300);
  measured["verbs-pipeline"] = result(7400, 520);
  measured["verbs-zerocopy"] = result(7600, 857);
  measured["verbs-zerowrite"] = result(7600, 900);
  measured["verbs-ch3"] = result(7300, 900);
  measured["verbs-default"] = late_burst(result(7000, 860));
  for (const std::size_t bytes : {1U << 10, 1U << 17}) {
    add(measured["raw-verbs"], "raw-verbs-read", bytes, ns_of(bytes, 700));
    add(measured["raw-verbs"], "raw-verbs-write", bytes, ns_of(bytes, 870));
  }
  add(measured["raw-verbs"], "raw-verbs", 8, 6600);
  measured["verbs-rwapi"] = result(5000, 860);
  measured["verbs-read"] = result(5000, 300);
  measured["verbs-read-inlined"] = result(5000, 280);
  measured["verbs-two-queues"] = result(5000, 295);
  measured["verbs-write"] = result(5000, 250);
  measured["verbs-write-inlined"] = result(5000, 230);
  measured["verbs-write-apart"] = result(5000, 240);
  measured["verbs-put-messages"] = result(7400, 800);
  measured["verbs-put-direct"] = result(5200, 840);
  measured["verbs-put-scheduled"] = result(5200, 910);
  measured["verbs-polls"] = result(3870, 270);
  measured["verbs-thread-aside"] = result(3870, 270);
  measured["verbs-sleeps"] = result(14700, 150);
  measured["verbs-thread-only"] = result(22760, 125);
  measured["verbs-thread-two"] = result(27500, 86);
}

/// As the papers found.
Measured as_in_the_papers() {
  Measured measured;
  add_adapter(measured);
  measured["basic"] = result(18600, 230);
  measured["piggyback"] = result(7400, 300);
  measured["pipeline"] = result(7400, 520);
  measured["zerocopy"] = result(7600, 857);
  measured["write"] = result(7600, 900);
  for (const auto& [name, speed] : std::map<std::string, double>{{"chunk1", 300},
                                                                 {"chunk2", 510},
                                                                 {"chunk4", 515},
                                                                 {"chunk8", 520},
                                                                 {"chunk32", 400},
                                                                 {"announced-1", 400},
                                                                 {"announced-64", 500},
                                                                 {"verbs-announced-8", 300},
                                                                 {"verbs-announced-128", 280},
                                                                 {"nodes-2", 400},
                                                                 {"nodes-4", 400},
                                                                 {"nodes-6", 400}}) {
    measured[name] = result(7400, speed);
  }
  measured["channel"] = result(5600, 650);
  measured["ch3"] = result(5300, 840);
  measured["adi3"] = result(4900, 840);
  time_of(measured["channel"], "latency", 1024) = 6600;
  time_of(measured["ch3"], "latency", 1024) = 6300;
  time_of(measured["adi3"], "latency", 1024) = 5900;
  time_of(measured["verbs-zerocopy"], "latency", 1024) = 8600;
  time_of(measured["verbs-ch3"], "latency", 1024) = 8300;
  time_of(measured["verbs-default"], "latency", 1024) = 7900;
  time_of(measured["adi3"], "barrier", 0, 2) = 6000;
  time_of(measured["adi3"], "barrier", 0, 4) = 18000;
  measured["default"] = late_burst(result(5000, 500));
  time_of(measured["default"], "typed", 4096) += 400;
  measured["put-messages"] = result(7400, 800);
  measured["put-mapped"] = result(5200, 840);
  measured["put-tcp-apart"] = result(7400, 840);
  measured["put-tcp"] = result(7400, 910);
  for (const char* name : {"join-between", "join-beside", "join-beside-tcp"}) {
    measured[name] = result(5000, 800);
    time_of(measured[name], "gap-joining", 8) = 3000;
  }
  measured["rwapi"] = result(1760, 800);
  measured["copied"] = result(5000, 400);
  measured["reached"] = result(5000, 130);
  measured["polls"] = result(3870, 0.3);
  measured["thread-aside"] = result(3870, 0.3);
  measured["sleeps"] = result(14700, 0.15);
  measured["thread-only"] = result(22760, 0.12);
  set_applications(measured["pipeline"], 1.05);
  set_applications(measured["channel"], 1.07);
  add(measured["raw"], "raw-ring", 8, 4500);
  return measured;
}

TEST(Figures, everything_holds_where_the_papers_measured) {
  const Measured measured = as_in_the_papers();
  for (const Figure& figure : figures()) {
    const Verdict verdict = figure.judge(measured);
    if (verdict.outcome == Outcome::unclaimed) continue;
    EXPECT_EQ(verdict.outcome, Outcome::holds) << figure.title << ": " << verdict.here;
  }
}

TEST(Figures, nothing_holds_where_all_are_alike) {
  Measured measured;
  for (const Setting& setting : settings()) {
    measured[setting.name] = result(5000, 800);
  }
  add(measured["raw"], "raw-ring", 8, 1000);
  add(measured["raw-verbs"], "raw-verbs-read", 1U << 17, 1000);
  add(measured["raw-verbs"], "raw-verbs-write", 1U << 17, 1000);
  add(measured["raw-verbs"], "raw-verbs", 8, 1000);
  for (const Figure& figure : figures()) {
    if (figure.judge(measured).outcome == Outcome::unclaimed) continue;
    const bool alike_is_what_was_found =
        figure.judge == judge_both_ways || figure.judge == judge_adapter_both_ways ||
        figure.judge == judge_chained || figure.judge == judge_queues;
    EXPECT_EQ(figure.judge(measured).outcome,
              alike_is_what_was_found ? Outcome::holds : Outcome::differs)
        << figure.title;
  }
}

TEST(Figures, without_figures_nothing_is_claimed) {
  for (const Figure& figure : figures()) {
    EXPECT_EQ(figure.judge({}).outcome, Outcome::unknown) << figure.title;
  }
  EXPECT_EQ(judge_counts({}).outcome, Outcome::unknown);
}

TEST(Figures, ask_for_settings_that_there_are) {
  std::set<std::string> names{"raw-verbs"};
  for (const Setting& setting : settings()) {
    EXPECT_TRUE(names.insert(setting.name).second) << setting.name;
  }
  for (const Figure& figure : figures()) {
    for (const Curve& curve : figure.curves) {
      EXPECT_EQ(names.count(curve.setting), 1U) << curve.setting;
    }
  }
}

/// Whether the jobs of the setting measure the test, and the sizes that verdicts look at.
bool measures(const Setting& setting, const std::string& test, std::size_t bytes) {
  const auto is_that = [&](const Application& at) { return test_of(at) == test; };
  if (test.starts_with("nas-")) {
    return std::any_of(setting.applications.begin(), setting.applications.end(), is_that);
  }
  return std::any_of(setting.runs.begin(), setting.runs.end(), [&](const Run& run) {
    return std::find(run.tests.begin(), run.tests.end(), test) != run.tests.end() &&
           std::find(run.sizes.begin(), run.sizes.end(), bytes) != run.sizes.end();
  });
}

TEST(Figures, draw_what_the_settings_measure) {
  const std::vector<Setting> all = settings();
  for (const Figure& figure : figures()) {
    for (const Curve& curve : figure.curves) {
      if (curve.setting == "raw-verbs") continue;
      const auto setting = std::find_if(
          all.begin(), all.end(), [&](const Setting& at) { return at.name == curve.setting; });
      ASSERT_NE(setting, all.end()) << curve.setting;
      const std::size_t bytes = figure.form == Figure::Form::megabytes ? std::size_t{1} << 20
                                : figure.largest <= 8                  ? 8
                                                                       : 4096;
      EXPECT_TRUE(measures(*setting, curve.test, bytes))
          << figure.title << ": " << curve.setting << ", " << curve.test << ", " << bytes;
    }
  }
}

TEST(Figures, a_thread_that_is_in_the_way_is_told) {
  Measured measured = as_in_the_papers();
  EXPECT_NE(judge_progress(measured).here.find("costs nothing"), std::string::npos);
  measured["thread-aside"] = result(9000, 0.3);
  EXPECT_NE(judge_progress(measured).here.find("which is more"), std::string::npos);
  measured["thread-only"] = result(14000, 0.3);
  EXPECT_EQ(judge_progress(measured).outcome, Outcome::differs);
  measured["sleeps"].counts = {{"device_sleeps", 8, 1}};
  measured["thread-only"].counts = {{"device_thread_wakeups", 8, 2}};
  EXPECT_EQ(judge_progress(measured).here.find("slept"), std::string::npos);
  measured["thread-aside"].counts = {{"device_thread_wakeups", 8, 0}};
  EXPECT_NE(judge_progress(measured).here.find(
                "slept 1 times, the thread was woken 2 times; beside a program that polls 0 times"),
            std::string::npos);
}

TEST(Figures, two_threads_that_cost_no_more_than_one_differ) {
  Measured measured = as_in_the_papers();
  EXPECT_EQ(judge_two_threads(measured).outcome, Outcome::holds);
  EXPECT_EQ(judge_two_threads(measured).here, "4 KiB: 32.8 µs by one thread, 47.6 by two.");
  measured["verbs-thread-two"].counts = {{"device_thread_wakeups", 1U << 20, 2},
                                         {"device_second_thread_wakeups", 1U << 20, 1}};
  EXPECT_NE(judge_two_threads(measured).here.find(
                "For 1 MiB the first was woken 2 times, the second 1 times."),
            std::string::npos);
  measured["verbs-thread-two"] = measured["verbs-thread-only"];
  EXPECT_EQ(judge_two_threads(measured).outcome, Outcome::differs);
  measured.erase("verbs-thread-two");
  EXPECT_EQ(judge_two_threads(measured).outcome, Outcome::unknown);
}

TEST(Figures, a_design_out_of_order_over_an_adapter_differs) {
  Measured measured = as_in_the_papers();
  measured["verbs-zerocopy"] = result(9000, 857);
  EXPECT_EQ(judge_adapter_latency(measured).outcome, Outcome::differs);
  measured["verbs-zerocopy"] = result(7600, 500);
  EXPECT_EQ(judge_adapter_latency(measured).outcome, Outcome::holds);
  EXPECT_EQ(judge_adapter_bandwidth(measured).outcome, Outcome::differs);
  measured["verbs-fetch"] = measured["verbs-fetch-unkept"];
  EXPECT_EQ(judge_kept_either_way(measured).outcome, Outcome::differs);
}

TEST(Figures, a_burst_that_grows_early_differs) {
  Measured measured;
  measured["rwapi"] = result(5000, 800);
  measured["default"] = result(5000, 800);
  const Verdict verdict = judge_burst(measured);
  EXPECT_EQ(verdict.outcome, Outcome::differs);
  EXPECT_NE(verdict.here.find("from 1 KiB on, and falls back nowhere"), std::string::npos)
      << verdict.here;
  measured["default"] = late_burst(result(5000, 500));
  EXPECT_NE(judge_burst(measured).here.find("falls to 60 % from 1 KiB to 2 KiB"), std::string::npos)
      << judge_burst(measured).here;
}

TEST(Figures, kept_memory_is_counted) {
  Measured measured = as_in_the_papers();
  measured["verbs-unkept"].counts = {{"device_memory_opened", 1U << 20, 2}};
  measured["verbs-put"].counts = {{"device_memory_opened", 1U << 20, 0}};
  EXPECT_NE(judge_kept(measured).here.find("Memory was opened 2 times a message, and 0 times."),
            std::string::npos);
}

TEST(LayersPage, shows_trees_where_there_are_any) {
  EXPECT_EQ(page(as_in_the_papers()).find("Calls and their stages"), std::string::npos);
  trace::Node tree;
  tree.below = {{"post rts", 1, 0, 0, 0, {}}};
  EXPECT_NE(page(as_in_the_papers(), {{"long", tree}}).find("post rts"), std::string::npos);
}

TEST(LayersPage, needs_nothing_else_and_says_what_holds) {
  Measured measured = as_in_the_papers();
  const std::string html = page(measured);
  for (const char* outside : {"http://", "https://", "<script", "src=", "@import", "url("}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
  EXPECT_NE(html.find("This holds here."), std::string::npos);
  EXPECT_EQ(html.find("This is different here."), std::string::npos);
  measured["zerocopy"] = result(7600, 100);
  EXPECT_NE(page(measured).find("This is different here."), std::string::npos);
}

/// The papers' figures by what must be there for them: nothing of the list is only in words.
TEST(Figures, cover_what_the_papers_show) {
  std::string all;
  for (const Figure& figure : figures()) {
    all += figure.paper + "\n";
  }
  for (const char* wanted : {"InfiniBand, figures 4 and 6",
                             "InfiniBand, figure 7",
                             "figures 5 and 8",
                             "figure 9",
                             "figure 11",
                             "figures 13 and 14",
                             "figure 15",
                             "point-to-point",
                             "HPCC latency",
                             "Chemnitz, figure 5",
                             "Chemnitz, figure 6",
                             "Chemnitz, figures 7 to 9",
                             "bidirectional ping-pong",
                             "ping-pong and burst",
                             "Elan4, figure 7",
                             "Elan4, figure 8",
                             "Elan4, figure 9",
                             "Elan4, table 1",
                             "Elan4, sections 2.2 and 4.1, joining",
                             "InfiniBand, figure 16",
                             "InfiniBand, figure 17",
                             "MVAPICH2, NAS IS"}) {
    EXPECT_NE(all.find(wanted), std::string::npos) << wanted;
  }
}

TEST(Figures, adapters_have_theirs_of_verbs_alone) {
  for (const Figure& figure : adapter_figures()) {
    for (const Curve& curve : figure.curves) {
      EXPECT_TRUE(curve.setting.starts_with("verbs-") || curve.setting == "raw-verbs")
          << figure.title << ": " << curve.setting;
    }
  }
}

TEST(Figures, inlined_data_are_counted) {
  Measured measured = as_in_the_papers();
  measured["verbs-read"].counts = {{"device_remote_bytes", 1U << 20, 1048576}};
  measured["verbs-read-inlined"].counts = {{"device_remote_bytes", 1U << 20, 1048576 - 1984}};
  const Verdict verdict = judge_inlined(measured);
  EXPECT_NE(verdict.here.find("all but 0 bytes, and all but 1984."), std::string::npos)
      << verdict.here;
  measured["verbs-write-inlined"] = result(5000, 300);
  EXPECT_EQ(judge_inlined(measured).outcome, Outcome::differs);
}

TEST(Figures, a_chain_that_gains_much_is_not_what_was_found) {
  Measured measured = as_in_the_papers();
  measured["verbs-write-apart"] = result(5000, 150);
  EXPECT_EQ(judge_chained(measured).outcome, Outcome::differs);
  measured["verbs-write-apart"] = result(5000, 300);
  EXPECT_EQ(judge_chained(measured).outcome, Outcome::differs);
}

TEST(Figures, a_second_queue_that_costs_or_gains_differs) {
  Measured measured = as_in_the_papers();
  for (const double megabytes : {250.0, 350.0}) {
    measured["verbs-two-queues"] = result(5000, megabytes);
    EXPECT_EQ(judge_queues(measured).outcome, Outcome::differs);
  }
}

TEST(Figures, registering_that_costs_the_same_both_ways_differs) {
  Measured measured = as_in_the_papers();
  time_of(measured["verbs-unkept"], "exchange", 1U << 20) /= 1.3;
  EXPECT_EQ(judge_kept(measured).outcome, Outcome::holds);
  EXPECT_EQ(judge_kept_both_ways(measured).outcome, Outcome::differs);
}

TEST(Figures, barriers_of_few_and_of_many_ranks_are_told_apart) {
  const Verdict verdict = judge_calls(as_in_the_papers());
  EXPECT_EQ(verdict.here,
            "A barrier of two ranks: 5.3 µs as CH3, 6 as ADI3. A barrier of all ranks: 15.9 µs as "
            "CH3, 18 as ADI3.");
}

/// Beside an adapter its own limits, and the memory's beside memory.
TEST(LayersPage, draws_the_bare_adapter_beside_what_is_built_on_it) {
  Measured measured = as_in_the_papers();
  EXPECT_NE(page(measured).find("bare RDMA writes, no MPI"), std::string::npos);
  EXPECT_NE(page(measured).find("bare ring, no MPI"), std::string::npos);
  measured.erase("raw-verbs");
  EXPECT_EQ(page(measured).find("bare RDMA writes, no MPI"), std::string::npos);
  EXPECT_EQ(page(measured).find("RDMA reads"), std::string::npos);
}

TEST(LayersPage, draws_the_spread_of_pairs) {
  const std::string html = page(as_in_the_papers());
  for (const char* dot : {"CH3, fastest pair: 4.77 µs", "CH3, mean of all pairs: 5.3 µs",
                          "CH3, slowest pair: 6.36 µs", "CH3, barrier, all ranks: 15.9 µs"}) {
    EXPECT_NE(html.find(dot), std::string::npos) << dot;
  }
}

TEST(LayersPage, draws_rings_as_rows) {
  const std::string html = page(as_in_the_papers());
  EXPECT_NE(html.find("random-ring"), std::string::npos);
  EXPECT_NE(html.find("CH3, random-ring: 5.3 µs"), std::string::npos);
}

TEST(LayersPage, leaves_out_adapters_that_are_not_there) {
  Measured measured = as_in_the_papers();
  EXPECT_NE(page(measured).find("<h2>Without RDMA, with it, and with kept registrations"),
            std::string::npos);
  EXPECT_NE(page(measured).find("<h2>Latency of the four designs over an adapter"),
            std::string::npos);
  std::erase_if(measured, [](const auto& item) {
    return item.first.starts_with("verbs-") || item.first == "raw-verbs";
  });
  EXPECT_EQ(page(measured).find("<h2>Without RDMA, with it, and with kept registrations"),
            std::string::npos);
  EXPECT_EQ(page(measured).find("<h2>Latency of the four designs over an adapter"),
            std::string::npos);
}

/// That the pipeline is last is not enough: the two others have to be near each other.
TEST(Figures, programs_that_tell_stacks_apart_differ) {
  Measured measured = as_in_the_papers();
  EXPECT_EQ(judge_few_applications(measured).here.substr(0, 21), "IS 1.05, 1.00, 1.00 s");
  set_applications(measured["ch3"], 0.9);
  EXPECT_EQ(judge_few_applications(measured).outcome, Outcome::differs);
  EXPECT_EQ(judge_many_applications(measured).outcome, Outcome::differs);
  EXPECT_EQ(judge_integer_sort(measured).outcome, Outcome::holds);
  set_applications(measured["adi3"], 1.06);
  EXPECT_EQ(judge_integer_sort(measured).outcome, Outcome::differs);
}

TEST(Figures, one_program_with_which_the_pipeline_is_ahead_differs) {
  Measured measured = as_in_the_papers();
  measured["pipeline"].series.clear();
  set_applications(measured["pipeline"], 1.2);
  EXPECT_EQ(judge_few_applications(measured).outcome, Outcome::holds);
  time_of(measured["pipeline"], "nas-bt-4", 0, 4) = 0.9e9;
  EXPECT_EQ(judge_few_applications(measured).outcome, Outcome::differs);
}

TEST(LayersPage, draws_programs_beside_the_first_setting) {
  const std::string html = page(as_in_the_papers());
  EXPECT_NE(html.find("pipeline, IS: 100 % of"), std::string::npos);
  EXPECT_NE(html.find("CH3, LU: 95.2 % of"), std::string::npos);
}

}  // namespace
}  // namespace fulmar::layers
