// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/kept_signal.h"

#include <gtest/gtest.h>

namespace fulmar::runtime {
namespace {

void do_nothing(int /*signal*/) {}

class Signal : public testing::Test {
 protected:
  Signal() { ::sigaction(SIGUSR1, nullptr, &before_); }
  ~Signal() override { ::sigaction(SIGUSR1, &before_, nullptr); }
  static auto handler() {
    struct sigaction now{};
    ::sigaction(SIGUSR1, nullptr, &now);
    return now.sa_handler;
  }
  static void set(void (*handler)(int)) { ::signal(SIGUSR1, handler); }

  struct sigaction before_{};
  KeptSignal kept_;
};

TEST_F(Signal, Default_is_ignored_for_a_while) {
  set(SIG_DFL);
  kept_.ignore();
  EXPECT_EQ(handler(), SIG_IGN);
  ::raise(SIGUSR1);
  kept_.ignore();
  kept_.restore();
  EXPECT_EQ(handler(), SIG_DFL);
}

TEST_F(Signal, What_the_program_has_set_stays) {
  for (auto* const own : {&do_nothing, SIG_IGN}) {
    set(own);
    kept_.ignore();
    EXPECT_EQ(handler(), own);
    kept_.restore();
    EXPECT_EQ(handler(), own);
  }
}

TEST_F(Signal, What_the_program_sets_meanwhile_stays) {
  set(SIG_DFL);
  kept_.ignore();
  set(do_nothing);
  kept_.restore();
  EXPECT_EQ(handler(), &do_nothing);
}

TEST_F(Signal, Restoring_without_ignoring_changes_nothing) {
  set(SIG_IGN);
  kept_.restore();
  EXPECT_EQ(handler(), SIG_IGN);
}

}  // namespace
}  // namespace fulmar::runtime
