// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "fulmar/bench/table.h"
#include "fulmar/report/axis.h"
#include "fulmar/report/chart.h"
#include "fulmar/report/page.h"

namespace fulmar::report {
namespace {

using measure::Results;

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    ++found;
  }
  return found;
}

Results library(const std::string& label, double factor) {
  Results results;
  results.label = label;
  for (std::size_t bytes = 1; bytes <= 8192; bytes *= 2) {
    const double ns = (100 + static_cast<double>(bytes) / 10) * factor;
    for (const char* test : {"latency", "bandwidth", "bibw"}) {
      series_of(results, test, 2).points.push_back({bytes, ns, ns, ns, 1, 1});
    }
  }
  series_of(results, "barrier", 4).points.push_back({0, 4000 * factor, 0, 0, 1, 1});
  results.init_ms = 5 * factor;
  results.init_ranks = 2;
  return results;
}

TEST(Axis, linear_axis_ends_at_a_round_number_and_ticks_reach_it) {
  const Axis axis = fitting_axis(Scale::linear, 0.5, 43.9, 100, 0);
  EXPECT_DOUBLE_EQ(axis.greatest(), 50);
  const auto ticks = axis.ticks();
  EXPECT_DOUBLE_EQ(ticks.front(), 0);
  EXPECT_DOUBLE_EQ(ticks.back(), 50);
  EXPECT_DOUBLE_EQ(axis.pixel(0), 100);
  EXPECT_DOUBLE_EQ(axis.pixel(25), 50);
}

TEST(Axis, logarithmic_axis_covers_whole_decades) {
  const Axis axis = fitting_axis(Scale::logarithmic, 0.07, 437, 0, 500);
  EXPECT_DOUBLE_EQ(axis.least(), 0.01);
  EXPECT_DOUBLE_EQ(axis.greatest(), 1000);
  EXPECT_EQ(axis.ticks().size(), 6U);
  EXPECT_NEAR(axis.pixel(1), 200, 1e-9);
  EXPECT_EQ(axis.minor_ticks().size(), 40U);
}

TEST(Axis, one_value_on_a_logarithmic_axis_still_has_a_decade) {
  const Axis axis = fitting_axis(Scale::logarithmic, 10, 10, 0, 100);
  EXPECT_LT(axis.least(), axis.greatest());
}

TEST(ShortNumber, has_three_digits_and_no_needless_zeros) {
  EXPECT_EQ(short_number(0), "0");
  EXPECT_EQ(short_number(0.0984), "0.098");
  EXPECT_EQ(short_number(1), "1");
  EXPECT_EQ(short_number(1.25), "1.25");
  EXPECT_EQ(short_number(31.44), "31.4");
  EXPECT_EQ(short_number(26100.4), "26100");
}

TEST(Escape, markup_in_names_stays_text) {
  EXPECT_EQ(escape("<a href='x'>&\""), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;");
}

TEST(Page, needs_nothing_else_and_closes_what_it_opens) {
  const std::string html = page({library("Mine", 1), library("<Theirs>", 2)});
  for (const char* outside : {"http://", "https://", "<script", "src=", "@import", "url("}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
  for (const std::string element : {"svg", "section", "table", "div", "g", "title", "main"}) {
    EXPECT_EQ(count(html, "<" + element + ">") + count(html, "<" + element + " "),
              count(html, "</" + element + ">"))
        << element;
  }
  EXPECT_EQ(html.find("<Theirs>"), std::string::npos);
  EXPECT_NE(html.find("&lt;Theirs&gt;"), std::string::npos);
}

TEST(Page, every_test_of_every_library_has_a_curve) {
  const std::string html = page({library("Mine", 1), library("Theirs", 2)});
  EXPECT_EQ(count(html, "<g class='curve s0'><path"), 4U);  // latency, rate, bandwidth, both ways
  EXPECT_EQ(count(html, "<g class='curve s1'><path"), 4U);
  EXPECT_EQ(count(html, "<g class='limit"), 0U);
}

TEST(Page, the_bare_machine_is_drawn_dashed_and_is_no_library) {
  Results raw;
  raw.label = "raw machine";
  series_of(raw, "raw-ring", 2).points = {{8, 70, 0, 0, 1, 1}, {16, 71, 0, 0, 1, 1}};
  series_of(raw, "raw-barrier", 4).points = {{0, 3000, 0, 0, 1, 1}};
  const std::string html = page({library("Mine", 1), raw});
  EXPECT_EQ(count(html, "<g class='limit raw0'>"), 1U);
  EXPECT_NE(html.find("bare barrier of yielding processes"), std::string::npos);
  EXPECT_EQ(html.find("ahead of best"), std::string::npos);
}

TEST(Page, says_by_how_much_the_first_is_ahead_or_behind) {
  const std::string ahead = page({library("Mine", 1), library("A", 2), library("B", 3)});
  EXPECT_NE(ahead.find("<td class='ahead'>2.00×</td>"), std::string::npos);
  EXPECT_EQ(ahead.find("<td class='behind'>"), std::string::npos);
  const std::string behind = page({library("Mine", 2), library("A", 1)});
  EXPECT_NE(behind.find("<td class='behind'>0.50×</td>"), std::string::npos);
}

TEST(Page, results_without_points_make_a_page_without_pictures) {
  Results empty;
  empty.label = "Empty";
  EXPECT_EQ(count(page({empty}), "<svg"), 0U);
  EXPECT_EQ(page({}), "");
}

std::string printed(const measure::Plan& plan, const std::vector<Results>& others,
                    const std::vector<std::pair<measure::Kind, measure::Point>>& points) {
  std::FILE* file = std::tmpfile();
  bench::Table table(plan, others, file);
  for (const auto& [test, point] : points) {
    table.add({test, &point, 1, 1}, 2);
  }
  table.finish();
  std::string text(static_cast<std::size_t>(std::ftell(file)), '\0');
  std::rewind(file);
  EXPECT_EQ(std::fread(text.data(), 1, text.size(), file), text.size());
  std::fclose(file);
  return text;
}

TEST(Table, has_a_row_for_a_size_and_derives_the_rate) {
  measure::Plan plan;
  plan.tests = {measure::Kind::latency, measure::Kind::bandwidth, measure::Kind::barrier};
  const std::string text = printed(plan, {},
                                   {{measure::Kind::latency, {8, 120, 0, 0, 1, 1}},
                                    {measure::Kind::bandwidth, {8, 50, 0, 0, 1, 1}},
                                    {measure::Kind::latency, {8192, 900, 0, 0, 1, 1}},
                                    {measure::Kind::barrier, {0, 250, 0, 0, 1, 1}}});
  const auto row = text.find("8 B");
  ASSERT_NE(row, std::string::npos) << text;
  const std::string line = text.substr(row, text.find('\n', row) - row);
  EXPECT_NE(line.find("0.12"), std::string::npos) << line;
  EXPECT_NE(line.find("160"), std::string::npos) << line;  // MB/s
  EXPECT_NE(line.find("20"), std::string::npos) << line;   // million a second
  EXPECT_NE(text.find("8 KiB"), std::string::npos);
  EXPECT_NE(text.find("barrier"), std::string::npos);
}

TEST(Table, compares_with_the_fastest_of_the_others) {
  measure::Plan plan;
  plan.tests = {measure::Kind::latency};
  const std::string text = printed(plan, {library("A", 3), library("B", 2)},
                                   {{measure::Kind::latency, {1, 100.1, 0, 0, 1, 1}}});
  EXPECT_NE(text.find("2.00x"), std::string::npos) << text;
}

}  // namespace
}  // namespace fulmar::report
