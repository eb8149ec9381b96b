// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/study.h"

namespace fulmar::layers {

namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

constexpr std::size_t kib = 1024;
constexpr std::size_t mib = kib * kib;

const std::vector<std::size_t> short_sizes{1, 8, 64, 256, 1024, 4096};
const std::vector<std::size_t> long_sizes{
    64, kib, 4 * kib, 16 * kib, 32 * kib, 64 * kib, 128 * kib, 256 * kib, 512 * kib, mib, 4 * mib};
const std::vector<std::size_t> stream_sizes{8,         64,        512,      kib,      2 * kib,
                                            4 * kib,   8 * kib,   16 * kib, 32 * kib, 64 * kib,
                                            128 * kib, 256 * kib, mib,      4 * mib};
/// Around the length from which the device for Quadrics announced messages: 1984 bytes.
const std::vector<std::size_t> announced_sizes{8,       512,     kib,      2 * kib,
                                               4 * kib, 8 * kib, 16 * kib, 64 * kib};
const std::vector<std::size_t> adapter_sizes{4 * kib,   16 * kib,  64 * kib, 128 * kib,
                                             256 * kib, 512 * kib, mib,      4 * mib};

Run short_messages() { return {{"latency"}, short_sizes, Run::Ranks::two, Run::Counted::yes}; }
Run long_messages() { return {{"bandwidth", "bibw"}, long_sizes}; }
Run only_bandwidth() { return {{"bandwidth"}, long_sizes}; }
Run rings() { return {{"ring", "random-ring"}, {8}, Run::Ranks::all}; }
Run streams() { return {{"latency", "exchange", "burst"}, stream_sizes}; }

Setting design(const char* name, const char* label, Environment environment) {
  return {name, label, std::move(environment), {short_messages(), long_messages()}};
}

Setting chunks(const std::string& kilobytes) {
  return {"chunk" + kilobytes,
          "chunks of " + kilobytes + " KiB",
          {{"FULMAR_CHANNEL", "pipeline"}, {"FULMAR_CHUNK_BYTES", kilobytes + "K"}},
          {only_bandwidth()}};
}

Setting stack(const char* name, const char* label) {
  return {name, label, {{"FULMAR_STACK", name}}, {short_messages(), long_messages(), rings()}};
}

Setting adapter(const char* name, const char* label, Environment environment, Run run) {
  environment.emplace_back("FULMAR_FABRIC", "verbs");
  return {name, label, std::move(environment), {std::move(run)}, Network::verbs};
}

/// How the end of a message is found out.
void add_progress_modes(std::vector<Setting>& all) {
  const Run run{{"latency"}, {8, kib, 4 * kib}, Run::Ranks::two, Run::Counted::yes};
  all.push_back({"polls", "polls", {{"FULMAR_WAIT", "poll"}}, {run}});
  all.push_back({"sleeps", "sleeps at once", {{"FULMAR_WAIT", "sleep"}}, {run}});
  all.push_back(
      {"thread-only", "a thread makes all progress", {{"FULMAR_PROGRESS_THREAD", "only"}}, {run}});
  all.push_back({"thread-aside",
                 "polls, beside a thread that steps aside",
                 {{"FULMAR_PROGRESS_THREAD", "on"}, {"FULMAR_WAIT", "poll"}},
                 {run}});
}

/// The designs where the paper had them: pipes in memory that an adapter writes to.
void add_adapter_designs(std::vector<Setting>& all) {
  const auto design = [&](const char* name, const char* label, Environment environment) {
    Setting setting = adapter(name, label, std::move(environment), short_messages());
    setting.runs.push_back(only_bandwidth());
    all.push_back(std::move(setting));
  };
  design("verbs-basic", "basic, over verbs", {{"FULMAR_CHANNEL", "basic"}});
  design("verbs-piggyback", "piggyback, over verbs", {{"FULMAR_CHANNEL", "piggyback"}});
  design("verbs-pipeline", "pipeline, over verbs", {{"FULMAR_CHANNEL", "pipeline"}});
  design("verbs-zerocopy", "zero-copy by read, over verbs", {{"FULMAR_CHANNEL", "zerocopy"}});
  design("verbs-zerowrite", "zero-copy by write, over verbs",
         {{"FULMAR_CHANNEL", "zerocopy"}, {"FULMAR_RDMA", "put"}});
  design("verbs-default", "by default, over verbs", {});
}

void add_adapters(std::vector<Setting>& all) {
  const Run pairs{{"latency", "exchange"}, adapter_sizes, Run::Ranks::two, Run::Counted::yes};
  all.push_back(adapter("verbs-packets", "in packets", {{"FULMAR_RDMA", "off"}}, pairs));
  all.push_back(adapter("verbs-unkept", "written, memory opened each time",
                        {{"FULMAR_RDMA", "put"}, {"FULMAR_KEPT_MEMORY", "0"}}, pairs));
  all.push_back(adapter("verbs-put", "written, memory kept open", {{"FULMAR_RDMA", "put"}}, pairs));
  all.push_back(adapter("verbs-fetch-unkept", "read, memory opened each time",
                        {{"FULMAR_RDMA", "fetch"}, {"FULMAR_KEPT_MEMORY", "0"}}, pairs));
  all.push_back(
      adapter("verbs-fetch", "read, memory kept open", {{"FULMAR_RDMA", "fetch"}}, pairs));
  const Run announced{{"latency"}, announced_sizes};
  for (const char* way : {"fetch", "put"}) {
    const bool reads = way[0] == 'f';
    all.push_back(adapter(
        reads ? "verbs-read" : "verbs-write", reads ? "the receiver reads" : "the sender writes",
        {{"FULMAR_RDMA", way}, {"FULMAR_EAGER_BYTES", "1984"}, {"FULMAR_RDMA_BYTES", "1984"}},
        announced));
  }
}

}  // namespace

std::vector<Setting> settings() {
  std::vector<Setting> all{
      design("basic", "basic", {{"FULMAR_CHANNEL", "basic"}}),
      design("piggyback", "piggyback", {{"FULMAR_CHANNEL", "piggyback"}}),
      design("pipeline", "pipeline", {{"FULMAR_CHANNEL", "pipeline"}}),
      design("zerocopy", "zero-copy by read", {{"FULMAR_CHANNEL", "zerocopy"}}),
      design("write", "zero-copy by write",
             {{"FULMAR_CHANNEL", "zerocopy"}, {"FULMAR_RDMA", "put"}}),
      chunks("1"),
      chunks("2"),
      chunks("4"),
      chunks("8"),
      chunks("32"),
      stack("channel", "channel"),
      stack("ch3", "CH3"),
      stack("adi3", "ADI3 (the default)"),
      {"default", "by default", {}, {streams()}},
      {"copied", "copied twice, through a ring", {{"FULMAR_LONG_COPY", "stream"}}, {streams()}},
      {"reached", "copied once, by the kernel", {{"FULMAR_LONG_COPY", "share"}}, {streams()}},
  };
  add_progress_modes(all);
  add_adapter_designs(all);
  add_adapters(all);
  return all;
}

std::vector<Traced> traced_runs() {
  return {
      {"short", "8 bytes over shared memory", 8, {}},
      {"long", "1 MiB over shared memory", mib, {}},
      {"fetch",
       "1 MiB over an adapter: the receiver reads",
       mib,
       {{"FULMAR_FABRIC", "verbs"}, {"FULMAR_RDMA", "fetch"}},
       Network::verbs},
      {"put",
       "1 MiB over an adapter: the sender writes",
       mib,
       {{"FULMAR_FABRIC", "verbs"}, {"FULMAR_RDMA", "put"}},
       Network::verbs},
  };
}

std::vector<CountedSize> counted_sizes() {
  return {{8, "A message of 8 bytes"}, {mib, "A message of 1 MiB"}};
}

}  // namespace fulmar::layers
