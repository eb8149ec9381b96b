// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/report/describe.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <limits>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "device/device.h"
#include "fabric/network_names.h"
#include "fabric/ofi/open.h"
#include "fabric/verbs/open.h"
#include "mpi/coll/choice.h"
#include "runtime/network/networks.h"
#include "runtime/options/options.h"
#include "runtime/process.h"
#include "wire/node/shm_area.h"

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
  const char* lacking;  ///< why it is not there; null if it is
  std::string text;
};

/// Whether FULMAR_FABRIC is not set.
bool is_free_choice(const Options& options) {
  const std::span<const Options::Value> values = options.values();
  return std::any_of(values.begin(), values.end(), [](const Options::Value& value) {
    return std::string_view(value.spec->name) == "FULMAR_FABRIC" &&
           value.source == Options::Source::standard;
  });
}

/// How tcp is authenticated; without that it is not used.
Network describe_tcp() {
  auto hash = base::KeyedHash::load();
  if (hash.failed()) return {fabric::network_names::tcp, "lacks a library", hash.error().text()};
  return {fabric::network_names::tcp, nullptr,
          std::string("between hosts; authenticated by ") + hash->library()};
}

Network describe_ofi() {
  if (!fabric::ofi::is_built()) {
    return {fabric::network_names::ofi, "not in this build",
            "what only libfabric reaches; it was built without libfabric-dev"};
  }
  const std::string text = fabric::ofi::library_text();
  const char* const lacking = text.starts_with("libfabric ") ? nullptr : "lacks a library";
  return {fabric::network_names::ofi, lacking, "what only libfabric reaches; " + text};
}

void add_networks(std::string& text, const Options& options) {
  const bool verbs = fabric::verbs::is_built();
  const Network networks[] = {
      {"shm", nullptr, "ranks of one node: mapped memory, single copies between address spaces"},
      describe_tcp(),
      {"verbs", verbs ? nullptr : "not in this build",
       "InfiniBand, RoCE; " + (verbs ? "ports: " + fabric::verbs::library_text()
                                     : "it was built without libibverbs-dev")},
      describe_ofi(),
  };
  // The default names all networks, but verbs is not used unless requested.
  const bool standard = is_free_choice(options);
  add_line(text, "networks");
  for (const Network& network : networks) {
    const bool listed = options.lists("FULMAR_FABRIC", network.name);
    const bool waits = standard && std::string_view(network.name) == fabric::network_names::verbs;
    const char* state = network.lacking != nullptr ? network.lacking
                        : waits                    ? "if asked for"
                        : listed                   ? "on"
                                                   : "off by FULMAR_FABRIC";
    add_line(text, "  %-8s %-20s %s", network.name, state, network.text.c_str());
  }
}

/// The networks whose adapters read and write peers' memory, of those in this build.
std::string remote_networks() {
  std::string names;
  if (fabric::verbs::is_built()) {
    names += fabric::network_names::verbs;
  }
  if (fabric::ofi::is_built()) {
    names += (names.empty() ? "" : ", ") + std::string(fabric::network_names::ofi);
  }
  return names.empty() ? "none in this build" : names;
}

/// A line for each protocol of the device, with the limits that the options set.
void add_protocols(std::string& text, const Options& options) {
  using Transport = device::Protocol::Transport;
  device::Device::Config config;
  config.eager_bytes = options.size("FULMAR_EAGER_BYTES").value_or(config.eager_bytes);
  config.share_bytes = options.size("FULMAR_SHARE_BYTES").value_or(config.share_bytes);
  config.remote_bytes = options.size("FULMAR_RDMA_BYTES").value_or(config.remote_bytes);
  add_line(text, "\nprotocols (bytes of a message; of those that apply the first)");
  for (const device::Protocol& protocol : device::Device::protocols()) {
    const std::uint64_t to = protocol.to_bytes(config);
    add_line(text, "  %-12s %8llu - %-8s %s%s%s", protocol.name,
             static_cast<unsigned long long>(protocol.from_bytes(config)),
             to == UINT64_MAX ? "..." : std::to_string(to).c_str(),
             protocol.transport == Transport::shared_memory ? "shared memory"
             : protocol.transport == Transport::network     ? "networks"
                                                            : "any",
             protocol.needs[0] == '\0' ? "" : "; ", protocol.needs);
    add_line(text, "  %-12s %s", "", protocol.cost);
    add_line(text, "  %-12s packets: %s", "", protocol.packets);
  }
  add_line(text, "  Packets of shared memory: up to %zu bytes in one cache line of the ring; from",
           wire::Cell::inline_bytes);
  add_line(text, "  %u bytes on both sides copy at the same time.", channel::cut_through_bytes);
  add_line(text,
           "  rndv_share or rndv_stream as FULMAR_LONG_COPY=%s says; rndv_read and rndv_write",
           options.text("FULMAR_LONG_COPY").c_str());
  add_line(text, "  as FULMAR_RDMA=%s says, on networks that can: %s.",
           options.text("FULMAR_RDMA").c_str(), remote_networks().c_str());
}

/// "any", "8 - ...", "3 - 16".
std::string range_of(long long smallest, long long from, long long to, long long no_end) {
  if (from == smallest && to == no_end) return "any";
  return std::to_string(from) + " - " + (to == no_end ? "..." : std::to_string(to));
}

void add_collectives(std::string& text) {
  add_line(text, "\ncollective algorithms (of each operation the first that fits; FULMAR_COLL)");
  for (const mpi::ChoiceRow& row : mpi::choice_rows()) {
    const std::string bytes =
        range_of(0, row.from_bytes, row.to_bytes, std::numeric_limits<mpi::Count>::max());
    const std::string ranks =
        range_of(1, row.from_ranks, row.to_ranks, std::numeric_limits<int>::max());
    const char* needs = row.needs == mpi::Needs::commutative    ? "; operation must commute"
                        : row.needs == mpi::Needs::equal_blocks ? "; not the v-forms"
                        : row.needs == mpi::Needs::coll_area    ? "; within a node"
                                                                : "";
    add_line(text, "  %-14s %-13s bytes of %s: %s; ranks: %s%s%s", mpi::family_name(row.family),
             mpi::way_name(row.way), mpi::bytes_of_family(row.family), bytes.c_str(), ranks.c_str(),
             needs,
             row.cores == mpi::Cores::own      ? "; a core for each rank"
             : row.cores == mpi::Cores::shared ? "; more ranks than cores"
                                               : "");
    add_line(text, "  %-28s %s", "", row.text);
  }
}

/// Complaints about a value begin with "FULMAR_X=" or "FULMAR_X:".
bool is_about(std::string_view complaint, std::string_view option) {
  if (!complaint.starts_with(option)) return false;
  return complaint.find_first_of("=:") == option.size();
}

void add_options(std::string& text, const Options& options,
                 std::span<const std::string> complaints) {
  add_line(text, "\noptions (environment variables)");
  for (const Options::Value& value : options.values()) {
    add_line(text, "  %-20s %s%s%s  (%s)", value.spec->name, value.text.c_str(),
             value.spec->unit[0] == '\0' ? "" : " ", value.spec->unit,
             value.source == Options::Source::environment ? "environment" : "default");
    add_line(text, "  %-20s %s", "", value.spec->text);
    for (const std::string& complaint : complaints) {
      if (!is_about(complaint, value.spec->name)) continue;
      add_line(text, "  %-20s refused: %s", "", complaint.c_str());
    }
  }
}

/// Why this network is used between nodes.
std::string reason_of_network(const Options& options, std::string_view network) {
  if (!is_free_choice(options)) return "FULMAR_FABRIC=" + options.text("FULMAR_FABRIC");
  return network == fabric::network_names::ofi ? "hardware that libfabric reaches"
                                               : std::string(network) + " by default";
}

}  // namespace

std::string describe() {
  std::vector<std::string> complaints;
  const Options options(complaints);
  std::string text;
  add_networks(text, options);
  add_protocols(text, options);
  complain_of_unknown_networks(options, complaints);
  (void)mpi::Choices(options.text("FULMAR_COLL"), complaints);
  add_collectives(text);
  add_options(text, options, complaints);
  if (!complaints.empty()) add_line(text, "\nwarnings");
  for (const std::string& complaint : complaints) add_line(text, "  %s", complaint.c_str());
  return text;
}

std::string describe_peer(std::int64_t rank) {
  Process& here = process();
  const Networks* const networks = here.networks();
  if (networks == nullptr || networks->quiesced() || rank < 0 || rank > UINT32_MAX) return {};
  const auto peer = static_cast<std::uint32_t>(rank);
  const fabric::ProcessTable& processes = *here.job().processes();
  if (!processes.name_of(peer)) return {};
  const char* const provider = networks->provider_of(peer);
  std::string text = std::string(provider == nullptr ? "self" : provider) + "\t";
  text += networks->reason_of(peer);
  if (peer >= here.job().size()) return text + ": " + processes.text_of(peer);
  if (here.job().node_of(peer) != here.job().node_of(here.job().rank())) {
    text += " (" + reason_of_network(here.options(), provider) + ")";
  }
  return text;
}

}  // namespace fulmar::runtime
