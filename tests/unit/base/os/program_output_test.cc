// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/os/program_output.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>

#include "base/clock.h"

namespace fulmar::base {
namespace {

using End = ProgramOutput::End;
constexpr std::uint64_t long_ns = 20'000'000'000;

TEST(ProgramOutput, Both_streams_are_collected) {
  const auto result = run_program({"sh", "-c", "echo one; echo two >&2"}, long_ns);
  EXPECT_TRUE(result.good());
  EXPECT_EQ(result.text, "one\ntwo\n");
}

TEST(ProgramOutput, Standard_input_is_empty) { EXPECT_EQ(run_program({"cat"}, long_ns).text, ""); }

TEST(ProgramOutput, Exit_code_and_signal_are_told_apart) {
  const auto failed = run_program({"sh", "-c", "exit 3"}, long_ns);
  EXPECT_EQ(failed.end, End::exited);
  EXPECT_EQ(failed.status, 3);
  EXPECT_FALSE(failed.good());
  const auto killed = run_program({"sh", "-c", "kill -TERM $$"}, long_ns);
  EXPECT_EQ(killed.end, End::killed);
  EXPECT_EQ(killed.status, SIGTERM);
}

TEST(ProgramOutput, A_missing_program_is_not_started) {
  const auto result = run_program({"/nowhere/at/all"}, long_ns);
  EXPECT_EQ(result.end, End::not_started);
  EXPECT_EQ(result.status, ENOENT);
  EXPECT_EQ(run_program({}, long_ns).end, End::not_started);
}

TEST(ProgramOutput, A_slow_program_ends_at_the_deadline_with_what_it_started) {
  const std::uint64_t begin = now_ns();
  const auto result = run_program({"sh", "-c", "echo early; sleep 100 & sleep 100"}, 200'000'000);
  EXPECT_EQ(result.end, End::late);
  EXPECT_EQ(result.text, "early\n");
  EXPECT_LT(now_ns() - begin, 10'000'000'000U);
}

TEST(ProgramOutput, Endless_output_is_cut) {
  const auto result = run_program({"yes"}, long_ns);
  EXPECT_EQ(result.end, End::killed);
  EXPECT_LE(result.text.size(), 70'000U);
}

}  // namespace
}  // namespace fulmar::base
