// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "fulmar/trace/show.h"
#include "fulmar/trace/tree.h"

namespace fulmar::trace {
namespace {

using wire::TraceEvent;
using wire::TraceFile;

constexpr std::uint32_t ends = TraceEvent::ends;
constexpr std::uint32_t nobody = TraceEvent::no_peer;

/// Two sends: the first posts an eager packet of 8 bytes, the second an rts and waits.
TraceFile two_sends() {
  TraceFile file;
  file.size = 2;
  file.host = "h";
  file.names = {"MPI_Send", "post eager", "post rts", "wait"};
  file.events = {{1000, 0, 0, nobody, 0},    {1100, 0, 1, 1, 8},      {1300, 0, ends, nobody, 0},
                 {1500, 0, ends, nobody, 0}, {2000, 0, 0, nobody, 0}, {2100, 0, 2, 1, 40},
                 {2200, 0, ends, nobody, 0}, {2200, 0, 3, nobody, 0}, {9200, 0, ends, nobody, 0},
                 {9300, 0, ends, nobody, 0}};
  return file;
}

TEST(Tree, puts_equal_spans_together) {
  const Node tree = tree_of(two_sends());
  ASSERT_EQ(tree.below.size(), 1U);
  const Node& send = tree.below[0];
  EXPECT_EQ(send.name, "MPI_Send");
  EXPECT_EQ(send.count, 2U);
  EXPECT_EQ(send.total_ns, 500U + 7300U);
  EXPECT_EQ(send.self_ns(), 7800U - 200U - 100U - 7000U);
  const Node* wait = find(tree, {"MPI_Send", "wait"});
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->total_ns, 7000U);
  EXPECT_EQ(find(tree, {"wait"}), nullptr);
  EXPECT_EQ(sum_of(tree, "post eager").count, 1U);
  EXPECT_EQ(sum_of(tree, "post eager").bytes, 8U);
}

TEST(Tree, keeps_threads_apart) {
  TraceFile file = two_sends();
  file.events = {{100, 0, 0, nobody, 0},
                 {110, 1, 3, nobody, 0},
                 {150, 0, ends, nobody, 0},
                 {190, 1, ends, nobody, 0}};
  const Node tree = tree_of(file);
  ASSERT_NE(find(tree, {"MPI_Send"}), nullptr);
  EXPECT_TRUE(find(tree, {"MPI_Send"})->below.empty());
  EXPECT_EQ(find(tree, {"wait"})->total_ns, 80U);
}

TEST(Tree, ends_what_was_not_ended_where_the_trace_ends) {
  TraceFile file = two_sends();
  file.events = {{100, 0, 0, nobody, 0}, {150, 0, 3, nobody, 0}, {400, 0, ends, nobody, 0}};
  EXPECT_EQ(find(tree_of(file), {"MPI_Send"})->total_ns, 300U);
}

TEST(Tree, survives_any_file) {
  TraceFile file = two_sends();
  file.events = {{100, 0, ends, nobody, 0}};
  EXPECT_TRUE(tree_of(file).below.empty());
  file.events.assign(1000, {100, 0, 0, nobody, 0});    // deeper than is kept
  file.events.resize(2000, {50, 0, ends, nobody, 0});  // and back in time
  const Node tree = tree_of(file);
  EXPECT_EQ(sum_of(tree, "MPI_Send").count, most_depth);
  EXPECT_EQ(sum_of(tree, "MPI_Send").total_ns, 0U);
}

TEST(Tree, adds_up_ranks) {
  Node tree = tree_of(two_sends());
  merge(tree, tree_of(two_sends()));
  EXPECT_EQ(find(tree, {"MPI_Send"})->count, 4U);
  EXPECT_EQ(find(tree, {"MPI_Send", "post rts"})->count, 2U);
}

TEST(Matrix, counts_what_is_posted) {
  const Matrix matrix = matrix_of({two_sends()});
  ASSERT_EQ(matrix.size, 2U);
  EXPECT_EQ(matrix.at(0, 1).count, 2U);
  EXPECT_EQ(matrix.at(0, 1).bytes, 48U);
  EXPECT_EQ(matrix.at(1, 0).count, 0U);
}

TEST(Show, the_tree_is_indented) {
  const std::string text = tree_text(tree_of(two_sends()));
  EXPECT_NE(text.find("\nMPI_Send "), std::string::npos) << text;
  EXPECT_NE(text.find("\n  post rts "), std::string::npos) << text;
}

TEST(Show, the_summary_says_what_is_missing_and_what_it_cost) {
  TraceFile file = two_sends();
  file.lost = 12;
  file.cost_ns = 51;
  const std::string text = summary_text({file}, tree_of(file));
  EXPECT_NE(text.find("recording one takes 51 ns"), std::string::npos) << text;
  EXPECT_NE(text.find("12 older records are gone"), std::string::npos) << text;
  EXPECT_NE(text.find("100.0 %  MPI_Send"), std::string::npos) << text;
}

TEST(Show, the_page_needs_nothing_else_and_escapes_names) {
  TraceFile file = two_sends();
  file.names[0] = "<script>";
  const std::string html = page({file});
  for (const char* outside : {"http://", "https://", "<script", "src=", "@import", "url("}) {
    EXPECT_EQ(html.find(outside), std::string::npos) << outside;
  }
}

TEST(Show, the_timeline_is_json_on_one_clock) {
  TraceFile other = two_sends();
  other.rank = 1;
  other.names[0] = "with \"quotes\" and \\";
  other.clock_ns = 1000;
  const auto parsed = nlohmann::json::parse(chrome_json({two_sends(), other}));
  const auto& events = parsed["traceEvents"];
  ASSERT_EQ(events.size(), 2U + 20U);
  EXPECT_EQ(events[1]["ts"], 0.0);
  EXPECT_EQ(events[12]["ts"], 1.0);
  EXPECT_EQ(events[12]["name"], other.names[0]);
  EXPECT_EQ(events[2]["args"]["bytes"], 8);
  EXPECT_TRUE(nlohmann::json::accept(chrome_json({})));
}

}  // namespace
}  // namespace fulmar::trace
