// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/trace_file.h"

#include <gtest/gtest.h>

#include <string>

namespace fulmar::wire {
namespace {

TraceFile sample() {
  TraceFile file;
  file.rank = 1;
  file.size = 4;
  file.host = "node7";
  file.lost = 5;
  file.cost_ns = 48;
  file.clock_ns = -17;
  file.names = {"MPI_Send", "post eager"};
  file.events = {{100, 0, 0, TraceEvent::no_peer, 0},
                 {120, 0, 1, 3, 4096},
                 {150, 0, TraceEvent::ends, TraceEvent::no_peer, 0},
                 {170, 0, TraceEvent::ends, TraceEvent::no_peer, 0}};
  file.paths = {"/scratch/a b", plain_path("/\xc3\xa4\n")};
  file.accesses = {{110, 160, TraceFileAccess::Kind::exchanged_access, 0, 1, 64, 4096, 100},
                   {120, 130, TraceFileAccess::Kind::system_call, 1, 1, 0, 8, 8}};
  return file;
}

TEST(TraceFile, survives_a_round_trip) {
  const std::string text = to_text(sample());
  const auto back = parse_trace(text);
  ASSERT_TRUE(back.ok()) << back.error().text();
  EXPECT_EQ(to_text(back.value()), text);
  EXPECT_EQ(back.value().events[1].peer, 3U);
  EXPECT_EQ(back.value().events[1].bytes, 4096U);
  EXPECT_EQ(back.value().clock_ns, -17);
  EXPECT_FALSE(back.value().events[2].begins());
  EXPECT_EQ(back.value().paths, (std::vector<std::string>{"/scratch/a b", "/???"}));
  ASSERT_EQ(back.value().accesses.size(), 2U);
  EXPECT_EQ(back.value().accesses[0].kind, TraceFileAccess::Kind::exchanged_access);
  EXPECT_EQ(back.value().accesses[0].end, 4096);
  EXPECT_EQ(back.value().accesses[1].bytes, 8U);
}

TEST(TraceFile, that_is_cut_off_is_refused) {
  const std::string whole = to_text(sample());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    if (length > 0 && whole[length - 1] == '\n') continue;  // lines at the end may be missing
    EXPECT_TRUE(parse_trace(whole.substr(0, length)).failed()) << length;
  }
}

TEST(TraceFile, says_which_line_is_wrong) {
  const std::string head = "fulmar-trace 2\nrank 0 of 2\nhost h\nname x\npath /f\n";
  ASSERT_TRUE(parse_trace(head).ok());
  for (const char* line : {"b 1 0 1 - 0",
                           "b 1 0 0 2 0",
                           "b 1 0 0 -1 0",
                           "b 1 0 0 - ",
                           "b 1 0 0 -",
                           "b x 0 0 - 0",
                           "b 1 0 0 - 0 9",
                           "e 1",
                           "e 1 0 0",
                           "e -1 0",
                           "rank 2 of 2",
                           "rank 0 of 0",
                           "rank 0 2",
                           "name \x01",
                           "name ",
                           "host ",
                           "lost",
                           "cost 1 2",
                           "nothing 1",
                           "",
                           "b",
                           "path ",
                           "path \x1b[1m",
                           "f a 1 2 0 0 0 8",
                           "f a 1 2 0 0 0 8 8 8",
                           "f y 1 2 0 0 0 8 8",
                           "f a 2 1 0 0 0 8 8",
                           "f a 1 2 1 0 0 8 8",
                           "f a 1 2 0 1 0 8 8",
                           "f a 1 2 0 0 8 0 8",
                           "f a 1 2 0 0 -1 0 8",
                           "f a 1 2 0 0 0 9223372036854775808 8",
                           "b 99999999999999999999999 0 0 - 0"}) {
    const auto parsed = parse_trace(head + line + "\n");
    ASSERT_TRUE(parsed.failed()) << line;
    EXPECT_NE(parsed.error().text().find("line 6"), std::string::npos) << parsed.error().text();
  }
}

TEST(TraceFile, of_another_version_is_refused) {
  EXPECT_TRUE(parse_trace("").failed());
  EXPECT_TRUE(parse_trace("fulmar-trace 2\n").failed());
  EXPECT_TRUE(parse_trace("fulmar-trace 1\nrank 0 of 1\nhost h\n").failed());
}

TEST(TraceFile, names_are_bounded) {
  std::string text = "fulmar-trace 2\nrank 0 of 1\nhost h\n";
  EXPECT_TRUE(
      parse_trace(text + "name " + std::string(longest_trace_name + 1, 'a') + "\n").failed());
  for (std::size_t i = 0; i < most_trace_names; ++i) text += "name a\n";
  EXPECT_TRUE(parse_trace(text).ok());
  EXPECT_TRUE(parse_trace(text + "name a\n").failed());
}

}  // namespace
}  // namespace fulmar::wire
