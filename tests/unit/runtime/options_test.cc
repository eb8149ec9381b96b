// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/options.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "runtime/effects.h"

namespace fulmar::runtime {
namespace {

constexpr OptionSpec spec_with(const char* text) {
  return {"FULMAR_X", OptionType::choice, "auto", "", text, OptionScope::local};
}

TEST(Choices, Stand_behind_the_colon) {
  const std::vector<std::string_view> expected = {"auto", "always", "never"};
  EXPECT_EQ(choices_of(spec_with("Whether it is so: auto (when, or if, it is), always, never.")),
            expected);
  EXPECT_TRUE(choices_of(spec_with("Whether it is so.")).empty());
}

TEST(Choices, Every_choice_has_its_default_among_them) {
  for (const OptionSpec& spec : option_specs()) {
    if (spec.type != OptionType::choice) continue;
    const auto choices = choices_of(spec);
    EXPECT_NE(std::find(choices.begin(), choices.end(), spec.standard), choices.end()) << spec.name;
  }
}

TEST(Options, Set_takes_only_what_can_be_read) {
  std::vector<std::string> complaints;
  Options options(complaints);
  std::size_t index = 0;
  while (options.values()[index].spec->name != std::string_view("FULMAR_EAGER_BYTES")) ++index;
  EXPECT_FALSE(options.set(index, "much"));
  EXPECT_EQ(options.text("FULMAR_EAGER_BYTES"), "auto");
  options.resolve("FULMAR_EAGER_BYTES", 4096);
  EXPECT_EQ(options.text("FULMAR_EAGER_BYTES"), "4096");
  EXPECT_TRUE(options.set(index, "2K"));
  EXPECT_EQ(options.size("FULMAR_EAGER_BYTES"), 2048U);
  EXPECT_EQ(options.values()[index].source, Options::Source::tool);
  options.resolve("FULMAR_EAGER_BYTES", 4096);
  EXPECT_EQ(options.size("FULMAR_EAGER_BYTES"), 2048U) << "only auto is resolved";
}

TEST(Options, Set_to_nothing_is_unset) {
  std::vector<std::string> complaints;
  Options options(complaints);
  for (std::size_t i = 0; i < options.values().size(); ++i) {
    const Options::Value before = options.values()[i];
    EXPECT_TRUE(options.set(i, before.text)) << before.spec->name << " takes what it was";
    EXPECT_TRUE(options.set(i, "")) << before.spec->name;
    EXPECT_EQ(options.values()[i].text, before.spec->standard);
    EXPECT_EQ(options.values()[i].source, Options::Source::standard);
  }
}

TEST(Options, A_check_that_does_not_exist_is_complained_of) {
  ::setenv("FULMAR_CHECK", "colectives,collectives,types,all", 1);
  std::vector<std::string> complaints;
  const Options options(complaints);
  ::unsetenv("FULMAR_CHECK");
  ASSERT_EQ(complaints.size(), 2U);
  EXPECT_NE(complaints[0].find("there is no check \"colectives\""), std::string::npos);
  EXPECT_NE(complaints[1].find("there is no check \"all\""), std::string::npos);
  EXPECT_TRUE(options.lists("FULMAR_CHECK", "collectives"));
  EXPECT_TRUE(options.lists("FULMAR_CHECK", "types"));
}

TEST(Options, A_standard_value_that_was_given_is_set) {
  std::vector<std::string> complaints;
  EXPECT_FALSE(Options(complaints).is_set("FULMAR_ERRHANDLER"));
  ::setenv("FULMAR_ERRHANDLER", "mpi_errors_are_fatal", 1);
  EXPECT_TRUE(Options(complaints).is_set("FULMAR_ERRHANDLER"));
  ::unsetenv("FULMAR_ERRHANDLER");
}

TEST(Options, An_empty_variable_is_none) {
  ::setenv("FULMAR_EAGER_BYTES", "", 1);
  std::vector<std::string> complaints;
  const Options options(complaints);
  EXPECT_TRUE(complaints.empty());
  EXPECT_EQ(options.text("FULMAR_EAGER_BYTES"), "auto");
  ::setenv("FULMAR_EAGER_BYTES", "much", 1);
  const Options unreadable(complaints);
  EXPECT_EQ(complaints.size(), 1U);
  EXPECT_EQ(unreadable.text("FULMAR_EAGER_BYTES"), "auto");
  ::unsetenv("FULMAR_EAGER_BYTES");
}

TEST(Options, Integers) {
  EXPECT_EQ(parse_integer("-3"), -3);
  EXPECT_FALSE(parse_integer("3x"));
  EXPECT_FALSE(parse_integer(""));
}

TEST(Effects, What_needs_a_start_may_not_change) {
  EXPECT_TRUE(may_change("FULMAR_EAGER_BYTES"));
  EXPECT_FALSE(may_change("FULMAR_FABRIC"));
}

}  // namespace
}  // namespace fulmar::runtime
