// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fulmar/doctor/facts.h"

namespace fulmar::doctor {

enum class Verdict : std::uint8_t {
  ok,
  note,  ///< works; good to know
  warn,  ///< something that is often wanted does not work, or is slow
  fail,  ///< jobs will not start, or will break
};

struct Finding {
  std::string
      group;  ///< "network", "rdma", "limits", "kernel", "libraries", "launchers", "settings"
  std::string name;
  Verdict verdict = Verdict::ok;
  std::string found;
  std::string remedy;  ///< what to change; empty for ok
};

/// What the facts mean for MPI jobs, in the order in which it is shown. Pure.
std::vector<Finding> judge(const Facts& facts);

/// Parts of it.
std::vector<Finding> judge_network(const NetworkFacts& facts);
std::vector<Finding> judge_rdma(const RdmaFacts& facts);
std::vector<Finding> judge_limits(const LimitFacts& facts);
std::vector<Finding> judge_kernel(const KernelFacts& facts);
std::vector<Finding> judge_launchers(const Facts& facts);

[[nodiscard]] const char* name_of(Verdict verdict) noexcept;
/// The worst; ok for none.
[[nodiscard]] Verdict worst_of(std::span<const Finding> findings) noexcept;

}  // namespace fulmar::doctor
