// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/doctor/doctor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "fulmar/doctor/gather.h"
#include "fulmar/doctor/judge.h"
#include "fulmar/doctor/show.h"

namespace fulmar::doctor {

namespace {

constexpr const char* clear_line = "\r\033[K";

}  // namespace

int run(Form form) {
  const bool watched = ::isatty(STDERR_FILENO) == 1;
  const Facts facts = gather([&](const std::string& step) {
    if (watched) {
      fmt::print(stderr, "{}looking at {} ...", clear_line, step);
      std::fflush(stderr);
    }
  });
  if (watched) {
    fmt::print(stderr, "{}", clear_line);
  }
  const std::vector<Finding> findings = judge(facts);
  const std::string text = form == Form::json ? json_of(facts, findings) : text_of(facts, findings);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  return worst_of(findings) == Verdict::fail ? 1 : 0;
}

}  // namespace fulmar::doctor
