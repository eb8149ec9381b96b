// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/describe.h"

#include <cstdarg>
#include <cstdio>
#include <vector>

#include "device/device.h"
#include "runtime/options.h"
#include "wire/shm_area.h"

namespace fulmar::runtime {
namespace {

[[gnu::format(printf, 2, 3)]] void add_line(std::string& text, const char* format, ...) {
  char line[1024];
  va_list args;
  va_start(args, format);
  std::vsnprintf(line, sizeof line, format, args);
  va_end(args);
  text += line;
  text += '\n';
}

struct Network {
  const char* name;
  bool present;
  const char* text;
};
constexpr Network networks[] = {
    {"shm", true, "ranks of one node: mapped memory, single copies between address spaces"},
    {"tcp", false, "between hosts"},
    {"verbs", false, "InfiniBand, RoCE, iWARP"},
    {"ofi", false, "what only libfabric reaches"},
};

void add_networks(std::string& text, const Options& options) {
  add_line(text, "networks");
  for (const Network& network : networks) {
    const char* state = !network.present                               ? "not in this version"
                        : options.lists("FULMAR_FABRIC", network.name) ? "on"
                                                                       : "off by FULMAR_FABRIC";
    add_line(text, "  %-8s %-20s %s", network.name, state, network.text);
  }
}

void add_protocols(std::string& text, const Options& options) {
  const device::Device::Config standard;
  const std::uint64_t eager = options.size("FULMAR_EAGER_BYTES").value_or(standard.eager_bytes);
  const std::uint64_t share = options.size("FULMAR_SHARE_BYTES").value_or(standard.share_bytes);
  const auto from = [](std::uint64_t bytes) { return static_cast<unsigned long long>(bytes); };
  add_line(text, "\nprotocols of shm (bytes of a message)");
  add_line(text, "  %-14s %10d - %-10zu one cache line of the receiver's ring", "eager/cell", 0,
           wire::Cell::inline_bytes);
  add_line(text, "  %-14s %10zu - %-10llu ring; both sides copy at the same time from %u bytes on",
           "eager/ring", wire::Cell::inline_bytes + 1, from(eager), channel::cut_through_bytes);
  add_line(text, "  %-14s %10llu - %-10s announced; the receiver copies from the sender's memory",
           "rndv/read", from(eager + 1), "...");
  add_line(text, "  %-14s %10llu - %-10s announced; both sides copy pieces, each single",
           "rndv/share", from(share), "...");
  add_line(text, "  %-14s %10llu - %-10s announced; pieces through the ring, always possible",
           "rndv/stream", from(eager + 1), "...");
  add_line(text,
           "  From %llu bytes on rndv/share or rndv/stream, whichever FULMAR_LONG_COPY=%s says.",
           from(share), options.text("FULMAR_LONG_COPY").c_str());
}

void add_options(std::string& text, const Options& options) {
  add_line(text, "\noptions (environment variables)");
  for (const Options::Value& value : options.values()) {
    add_line(text, "  %-20s %s%s%s  (%s)", value.spec->name, value.text.c_str(),
             value.spec->unit[0] == '\0' ? "" : " ", value.spec->unit,
             value.source == Options::Source::environment ? "environment" : "default");
    add_line(text, "  %-20s %s", "", value.spec->text);
  }
}

}  // namespace

std::string describe() {
  std::vector<std::string> complaints;
  const Options options(complaints);
  std::string text;
  add_networks(text, options);
  add_protocols(text, options);
  add_options(text, options);
  if (!complaints.empty()) add_line(text, "\nwarnings");
  for (const std::string& complaint : complaints) add_line(text, "  %s", complaint.c_str());
  return text;
}

}  // namespace fulmar::runtime
