// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/study.h"

#include <algorithm>

namespace fulmar::runtime {

using study::Design;

Stack stack_of(const Options& options) noexcept {
  const std::string& stack = options.text("FULMAR_STACK");
  if (stack == "channel") return Stack::channel;
  if (stack == "ch3") return Stack::ch3;
  const bool plain = stack == "adi3" || options.text("FULMAR_CHANNEL") == "auto";
  return plain ? Stack::adi3 : Stack::channel;
}

std::optional<study::DesignPlan> design_of(const Options& options) noexcept {
  const std::string& name = options.text("FULMAR_CHANNEL");
  const Stack stack = stack_of(options);
  if (name == "auto" && stack == Stack::adi3) return std::nullopt;
  study::DesignPlan plan;
  plan.design = name == "basic"                                 ? Design::basic
                : name == "piggyback"                           ? Design::piggyback
                : name == "pipeline"                            ? Design::pipeline
                : name == "zerocopy" || stack == Stack::channel ? Design::zerocopy
                                                                : Design::piggyback;
  plan.mover = options.text("FULMAR_RDMA") == "put" ? study::Mover::sender_writes
                                                    : study::Mover::receiver_reads;
  plan.bypass = stack == Stack::channel ? study::Bypass::no : study::Bypass::yes;
  constexpr std::uint64_t most = 1U << 30;
  plan.chunk_bytes = static_cast<std::uint32_t>(
      std::min(options.size("FULMAR_CHUNK_BYTES").value_or(plan.chunk_bytes), most));
  return plan;
}

}  // namespace fulmar::runtime
