// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/options/effects.h"

#include <algorithm>
#include <iterator>

#include "runtime/study.h"

namespace fulmar::runtime {
namespace {

using device::Device;
using device::LongCopy;
using device::RdmaProtocol;
using device::WaitStyle;

/// The length of an eager message is a number of 32 bits in many places.
constexpr std::uint64_t most_eager_bytes = std::uint64_t{1} << 30;

void eager_bytes(Options& options, const Surroundings& /*surroundings*/, Device& device) {
  const Device::Config standard;
  const std::uint64_t bytes = options.size("FULMAR_EAGER_BYTES").value_or(standard.eager_bytes);
  options.resolve("FULMAR_EAGER_BYTES", bytes);
  device.set_eager_bytes(std::min(bytes, most_eager_bytes));
}

void long_copy(Options& options, const Surroundings& /*surroundings*/, Device& device) {
  const std::string& way = options.text("FULMAR_LONG_COPY");
  device.set_long_copy(way == "share"    ? LongCopy::share
                       : way == "stream" ? LongCopy::stream
                                         : LongCopy::automatic);
}

void share_bytes(Options& options, const Surroundings& /*surroundings*/, Device& device) {
  const Device::Config standard;
  const std::uint64_t bytes = options.size("FULMAR_SHARE_BYTES").value_or(standard.share_bytes);
  options.resolve("FULMAR_SHARE_BYTES", bytes);
  device.set_share_bytes(bytes);
}

void rdma(Options& options, const Surroundings& /*surroundings*/, Device& device) {
  const std::string& way = options.text("FULMAR_RDMA");
  // A stream stack has no other path for bytes; in the papers' CH3 the sender writes.
  const Stack stack = stack_of(options);
  const RdmaProtocol standard = stack == Stack::ch3 ? RdmaProtocol::put : RdmaProtocol::automatic;
  device.set_remote_way(way == "off" || stack == Stack::channel ? RdmaProtocol::off
                        : way == "fetch"                        ? RdmaProtocol::fetch
                        : way == "put"                          ? RdmaProtocol::put
                                                                : standard);
}

void rdma_bytes(Options& options, const Surroundings& /*surroundings*/, Device& device) {
  const Device::Config standard;
  const std::uint64_t bytes = options.size("FULMAR_RDMA_BYTES").value_or(standard.remote_bytes);
  options.resolve("FULMAR_RDMA_BYTES", bytes);
  device.set_remote_bytes(bytes);
}

void remote_study(Options& options, const Surroundings& /*surroundings*/, Device& device) {
  using EndOfPut = device::RemoteStudy::EndOfPut;
  const bool apart = options.text("FULMAR_RDMA_FIN") == "apart";
  device.set_remote_study({options.size("FULMAR_RDMA_INLINE").value_or(0),
                           apart ? EndOfPut::apart : EndOfPut::chained});
}

void remote_schedule(Options& options, const Surroundings& /*surroundings*/, Device& device) {
  using Atomics = device::RemoteSchedule::Atomics;
  using Direct = device::RemoteSchedule::Direct;
  const std::string& when = options.text("FULMAR_RMA_DIRECT");
  const std::string& agent = options.text("FULMAR_RMA_ATOMICS");
  device.set_remote_schedule({.direct = when == "always"     ? Direct::always
                                        : when == "never"    ? Direct::never
                                        : when == "requests" ? Direct::requests
                                                             : Direct::automatic,
                              .merges = options.is_on("FULMAR_RMA_MERGE"),
                              .interleaves = options.is_on("FULMAR_RMA_INTERLEAVE"),
                              .atomics = agent == "adapter"  ? Atomics::adapter
                                         : agent == "target" ? Atomics::target
                                                             : Atomics::automatic});
}

void kept_memory(Options& options, const Surroundings& /*surroundings*/, Device& device) {
  device.memory().keep(options.size("FULMAR_KEPT_MEMORY").value_or(0));
}

void memory(Options& options, const Surroundings& /*surroundings*/, Device& device) {
  const Device::Config standard;
  const std::uint64_t bytes =
      options.size("FULMAR_MEMORY").value_or(2 * standard.unexpected_budget_bytes);
  options.resolve("FULMAR_MEMORY", bytes);
  device.set_unexpected_budget(bytes / 2);
}

void yield(Options& options, const Surroundings& surroundings, Device& device) {
  const std::string& when = options.text("FULMAR_YIELD");
  const bool soon = when == "always" || (when == "auto" && surroundings.more_ranks_than_cores);
  device.set_yield(soon ? Device::Yield::soon : Device::Yield::late);
}

void wait_style(Options& options, const Surroundings& /*surroundings*/, Device& device) {
  const std::string& style = options.text("FULMAR_WAIT");
  device.set_wait_style(style == "poll"    ? WaitStyle::poll
                        : style == "sleep" ? WaitStyle::sleep
                                           : WaitStyle::automatic);
}

struct Effect {
  std::string_view option;
  void (*apply)(Options&, const Surroundings&, Device&);
};
constexpr Effect effects[] = {
    {"FULMAR_EAGER_BYTES", eager_bytes},
    {"FULMAR_LONG_COPY", long_copy},
    {"FULMAR_SHARE_BYTES", share_bytes},
    {"FULMAR_RDMA", rdma},
    {"FULMAR_RDMA_BYTES", rdma_bytes},
    {"FULMAR_KEPT_MEMORY", kept_memory},
    {"FULMAR_MEMORY", memory},
    {"FULMAR_YIELD", yield},
    {"FULMAR_WAIT", wait_style},
    {"FULMAR_RDMA_INLINE", remote_study},
    {"FULMAR_RDMA_FIN", remote_study},
    {"FULMAR_RMA_DIRECT", remote_schedule},
    {"FULMAR_RMA_MERGE", remote_schedule},
    {"FULMAR_RMA_ATOMICS", remote_schedule},
    {"FULMAR_RMA_INTERLEAVE", remote_schedule},
};

}  // namespace

void apply_options(Options& options, const Surroundings& surroundings, Device& device) {
  for (const Effect& effect : effects) effect.apply(options, surroundings, device);
}

bool may_change(std::string_view option) noexcept {
  return std::any_of(std::begin(effects), std::end(effects),
                     [&](const Effect& effect) { return effect.option == option; });
}

}  // namespace fulmar::runtime
