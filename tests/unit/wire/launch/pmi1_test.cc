// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/launch/pmi1.h"

#include <gtest/gtest.h>

namespace fulmar::wire {
namespace {

using Nodes = std::vector<std::uint32_t>;

TEST(PmiLine, Parts_are_found) {
  const auto line = PmiLine::parse("cmd=get_result rc=0 msg=success value=a=b  x");
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line.value().command(), "get_result");
  EXPECT_EQ(line.value().number("rc"), 0);
  EXPECT_EQ(line.value().find("value"), "a=b");
  EXPECT_EQ(line.value().find("x"), "");
  EXPECT_FALSE(line.value().find("key"));
  EXPECT_FALSE(line.value().number("msg"));
}

TEST(PmiLine, What_is_no_line_is_refused) {
  for (const char* text : {"", " ", "rc=0", "command=init", "cmd=a\nb", "cmd=a\x01"}) {
    EXPECT_FALSE(PmiLine::parse(text).ok()) << text;
  }
  EXPECT_FALSE(PmiLine::parse(std::string("cmd=a\0b", 7)).ok());
  EXPECT_FALSE(PmiLine::parse("cmd=" + std::string(pmi_line_limit, 'a')).ok());
}

TEST(Decimal, Only_whole_numbers) {
  EXPECT_EQ(parse_decimal("-12"), -12);
  for (const char* text : {"", "1x", "x", "0x1", " 1", "99999999999999999999"}) {
    EXPECT_FALSE(parse_decimal(text)) << text;
  }
}

TEST(ProcessMapping, Blocks_and_cycles) {
  EXPECT_EQ(parse_process_mapping("(vector,(0,2,2))", 4).value(), (Nodes{0, 0, 1, 1}));
  EXPECT_EQ(parse_process_mapping("(vector,(0,2,1))", 5).value(), (Nodes{0, 1, 0, 1, 0}));
  EXPECT_EQ(parse_process_mapping("(vector, (0,1,3), (1,2,1))", 5).value(), (Nodes{0, 0, 0, 1, 2}));
  EXPECT_EQ(parse_process_mapping(one_node_mapping(3), 3).value(), (Nodes{0, 0, 0}));
}

TEST(ProcessMapping, Others_are_refused) {
  for (const char* text :
       {"", "(vector)", "(vector,)", "(vector,(0,1))", "(vector,(0,1,1)", "(vector,(0,1,1))x",
        "(vector,(0,0,1))", "(vector,(0,1,0))", "(vector,(-1,1,1))", "(vector,(4294967295,2,1))",
        "(matrix,(0,1,1))", "(vector,(0,1,99999999999))"}) {
    EXPECT_FALSE(parse_process_mapping(text, 4).ok()) << text;
  }
}

}  // namespace
}  // namespace fulmar::wire
