// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/launch/name_table.h"

#include <gtest/gtest.h>

namespace fulmar::wire {
namespace {

using base::ErrorClass;

TEST(NameTable, A_name_is_published_once_and_taken_back_by_its_job) {
  NameTable table;
  EXPECT_TRUE(table.publish({"ocean", "p1"}, {1, 10}).ok());
  EXPECT_EQ(table.publish({"ocean", "p2"}, {2, 10}).error_class(), ErrorClass::service);
  EXPECT_EQ(table.lookup("ocean").value(), "p1");
  EXPECT_EQ(table.lookup("air").error().error_class(), ErrorClass::name);
  EXPECT_EQ(table.unpublish({"ocean", "p1"}, 11).error_class(), ErrorClass::service);
  EXPECT_EQ(table.unpublish({"ocean", "p2"}, 10).error_class(), ErrorClass::service);
  EXPECT_EQ(table.unpublish({"air", "p1"}, 10).error_class(), ErrorClass::service);
  EXPECT_TRUE(table.unpublish({"ocean", "p1"}, 10).ok());
  EXPECT_TRUE(table.lookup("ocean").failed());
}

TEST(NameTable, Names_end_with_the_connection_of_their_publisher) {
  NameTable table;
  EXPECT_TRUE(table.publish({"a", "p"}, {1, 10}).ok());
  EXPECT_TRUE(table.publish({"b", "p"}, {2, 10}).ok());
  table.forget(1);
  EXPECT_TRUE(table.lookup("a").failed());
  EXPECT_TRUE(table.lookup("b").ok());
  EXPECT_EQ(table.size(), 1U);
}

TEST(NameTable, Names_and_ports_have_limits) {
  NameTable table;
  const std::string long_text(NameTable::most_bytes + 1, 'x');
  EXPECT_EQ(table.publish({"", "p"}, {}).error_class(), ErrorClass::service);
  EXPECT_EQ(table.publish({"a", ""}, {}).error_class(), ErrorClass::service);
  EXPECT_EQ(table.publish({long_text, "p"}, {}).error_class(), ErrorClass::service);
  EXPECT_EQ(table.publish({"a", long_text}, {}).error_class(), ErrorClass::service);
  for (std::size_t i = 0; i < NameTable::most_names; ++i) {
    ASSERT_TRUE(table.publish({std::to_string(i), "p"}, {}).ok());
  }
  EXPECT_EQ(table.publish({"one more", "p"}, {}).error_class(), ErrorClass::service);
}

TEST(NameTable, Questions_are_answered) {
  NameTable table;
  const auto ask = [&](LaunchKind kind, const LaunchName& name) {
    return answer_about_name(table, {kind, 1, encode_body(name)}, {1, 10});
  };
  EXPECT_EQ(ask(LaunchKind::publish, {"a", "port"}).value().error_class, 0);
  EXPECT_EQ(ask(LaunchKind::lookup, {"a", ""}).value().text, "port");
  const auto missing = ask(LaunchKind::lookup, {"b", ""});
  EXPECT_EQ(missing.value().error_class, static_cast<int>(ErrorClass::name));
  EXPECT_NE(missing.value().text.find("\"b\""), std::string::npos);
  EXPECT_EQ(ask(LaunchKind::unpublish, {"a", "port"}).value().error_class, 0);
  EXPECT_TRUE(ask(LaunchKind::spawn, {"a", "port"}).failed());
  EXPECT_TRUE(answer_about_name(table, {LaunchKind::lookup, 1, "x"}, {}).failed());
}

}  // namespace
}  // namespace fulmar::wire
