// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/study.h"
#include "fulmar/layers/reading.h"

#include "fulmar/layers/applications.h"

namespace fulmar::layers {

namespace {

using Environment = std::vector<std::pair<std::string, std::string>>;

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
Run rings() { return {{"pairs", "ring", "random-ring"}, {8}, Run::Ranks::all}; }
/// What the benchmark of Pallas measures, as far as the paper shows it; sizes are of all but the
/// barrier.
Run calls() {
  return {{"exchange", "barrier", "allreduce"},
          {8, 64, kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, mib}};
}
Run barrier_of_all() { return {{"barrier"}, {8}, Run::Ranks::all}; }
Run typed_messages() { return {{"typed"}, short_sizes}; }
/// The same by RWAPI.
Run rwapi_streams() { return {{"rwapi-latency", "rwapi-burst"}, stream_sizes}; }
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
  return {name,
          label,
          {{"FULMAR_STACK", name}},
          {short_messages(), long_messages(), rings(), calls(), barrier_of_all()}};
}

Setting adapter(const char* name, const char* label, Environment environment, Run run) {
  environment.emplace_back("FULMAR_FABRIC", "verbs");
  return {name, label, std::move(environment), {std::move(run)}, Network::verbs};
}

/// How the end of a message is found out. `prefix`: of the settings' names.
void add_progress_modes(std::vector<Setting>& all, const std::string& prefix, Network network,
                        const Environment& common) {
  const Run run{{"latency"}, {8, kib, 4 * kib}, Run::Ranks::two, Run::Counted::yes};
  const auto add = [&](const char* name, const char* label, Environment environment) {
    environment.insert(environment.end(), common.begin(), common.end());
    all.push_back({prefix + name, label, std::move(environment), {run}, network});
  };
  add("polls", "polls", {{"FULMAR_WAIT", "poll"}});
  add("sleeps", "sleeps at once", {{"FULMAR_WAIT", "sleep"}});
  add("thread-only", "a thread makes all progress", {{"FULMAR_PROGRESS_THREAD", "only"}});
  add("thread-aside", "polls, beside a thread that steps aside",
      {{"FULMAR_PROGRESS_THREAD", "on"}, {"FULMAR_WAIT", "poll"}});
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
  all.back().runs.push_back(streams());
  all.push_back(adapter("verbs-rwapi", "RWAPI, over verbs", {}, rwapi_streams()));
  design("verbs-ch3", "CH3, over verbs", {{"FULMAR_STACK", "ch3"}});
}

/// Long messages from 1984 bytes on, as the device for Quadrics had it, and what else it compared.
void add_announced(std::vector<Setting>& all) {
  const Environment from{{"FULMAR_EAGER_BYTES", "1984"}, {"FULMAR_RDMA_BYTES", "1984"}};
  const std::pair<std::string, std::string> inlined{"FULMAR_RDMA_INLINE", "1984"};
  const Run announced{{"latency"}, announced_sizes, Run::Ranks::two, Run::Counted::yes};
  const auto add = [&](const char* name, const char* label, Environment environment) {
    environment.insert(environment.end(), from.begin(), from.end());
    all.push_back(adapter(name, label, std::move(environment), announced));
  };
  add("verbs-read", "the receiver reads", {{"FULMAR_RDMA", "fetch"}});
  add("verbs-read-inlined", "reads what was not inlined", {{"FULMAR_RDMA", "fetch"}, inlined});
  add("verbs-two-queues", "reads, with a queue for each kind of end",
      {{"FULMAR_RDMA", "fetch"}, {"FULMAR_VERBS_QUEUES", "two"}});
  add("verbs-write", "the sender writes", {{"FULMAR_RDMA", "put"}});
  add("verbs-write-inlined", "writes what was not inlined", {{"FULMAR_RDMA", "put"}, inlined});
  add("verbs-write-apart", "writes, and tells of the end apart",
      {{"FULMAR_RDMA", "put"}, {"FULMAR_RDMA_FIN", "apart"}});
  Environment read = from;
  read.insert(read.end(), {{"FULMAR_RDMA", "fetch"}, {"FULMAR_FABRIC", "verbs"}});
  add_progress_modes(all, "verbs-", Network::verbs, read);
  Setting two = all.back();
  two.name = "verbs-thread-two";
  two.label = "two threads make all progress, one a queue";
  two.environment = read;
  two.environment.insert(two.environment.end(),
                         {{"FULMAR_PROGRESS_THREAD", "two"}, {"FULMAR_VERBS_QUEUES", "two"}});
  all.push_back(std::move(two));
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
  add_announced(all);
}

/// The designs with which the paper on MPICH2 ran applications, and the stacks of the slides.
void add_applications(std::vector<Setting>& all) {
  for (Setting& setting : all) {
    if (setting.name == "pipeline" || setting.name == "zerocopy" || setting.name == "ch3") {
      setting.applications = few_applications();
      const std::vector<Application> many = many_applications();
      setting.applications.insert(setting.applications.end(), many.begin(), many.end());
    } else if (setting.name == "channel" || setting.name == "adi3") {
      setting.applications = {integer_sort()};
    }
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
      {"default", "by default", {}, {streams(), typed_messages()}},
      {"rwapi", "RWAPI", {}, {rwapi_streams()}},
      {"copied", "copied twice, through a ring", {{"FULMAR_LONG_COPY", "stream"}}, {streams()}},
      {"reached", "copied once, by the kernel", {{"FULMAR_LONG_COPY", "share"}}, {streams()}},
  };
  add_progress_modes(all, "", Network::shm, {});
  add_adapter_designs(all);
  add_adapters(all);
  for (const auto& more : {joining_settings(), one_sided_settings(), length_settings()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  add_applications(all);
  return all;
}

std::vector<Traced> traced_runs() {
  return {
      {"short", "A ping-pong of 8 bytes over shared memory", "latency", 8, {}},
      {"long", "A ping-pong of 1 MiB over shared memory", "latency", mib, {}},
      {"both-ways", "1 MiB sent and received at once over shared memory", "exchange", mib, {}},
      {"allreduce", "An allreduce of 8 bytes by two ranks of a node", "allreduce", 8, {}},
      {"allreduce-ch3",
       "The same by messages of a CH3 device",
       "allreduce",
       8,
       {{"FULMAR_STACK", "ch3"}}},
      {"fetch",
       "A ping-pong of 1 MiB over an adapter: the receiver reads",
       "latency",
       mib,
       {{"FULMAR_FABRIC", "verbs"}, {"FULMAR_RDMA", "fetch"}},
       Network::verbs},
      {"put",
       "A ping-pong of 1 MiB over an adapter: the sender writes",
       "latency",
       mib,
       {{"FULMAR_FABRIC", "verbs"}, {"FULMAR_RDMA", "put"}},
       Network::verbs},
  };
}

std::vector<CountedSize> counted_sizes() {
  return {{8, "A message of 8 bytes"}, {mib, "A message of 1 MiB"}};
}

}  // namespace fulmar::layers
