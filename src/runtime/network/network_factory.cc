// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/network/network_factory.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "fabric/network_names.h"
#include "fabric/ofi/ofi.h"
#include "fabric/ofi/open.h"
#include "fabric/tcp/tcp.h"
#include "fabric/verbs/verbs.h"
#include "fabric/verbs_over_tcp.h"
#include "runtime/network/network_configs.h"
#include "runtime/study.h"
#include "study/study.h"
#include "wire/bundle/bundle_address.h"
#include "wire/ofi/ofi_address.h"
#include "wire/verbs/verbs_address.h"

namespace fulmar::runtime {

using fabric::Network;
namespace names = fabric::network_names;

namespace {

/// Sets the callbacks of a network.
template <class Config>
void set_owner(Config& config, const NetworkOwner& owner) {
  config.owner = owner.owner;
  config.find = owner.find;
  config.lost = owner.lost;
  config.left = owner.left;
}

}  // namespace

const char* network_of(std::span<const std::byte> address) {
  if (wire::is_bundle_address(address)) return names::rails;
  if (wire::is_ofi_address(address)) return names::ofi;
  return wire::is_verbs_address(address) ? names::verbs : names::tcp;
}

std::string wish_of(const Options& options, const char* name) {
  const std::string& text = options.text(name);
  return text == "auto" ? std::string() : text;
}

fabric::tcp::Connector::Config connector_config(const Job& job, const Options& options,
                                                const NetworkOwner& owner) {
  fabric::tcp::Connector::Config config;
  config.processes = job.processes();
  config.interfaces = options.text("FULMAR_TCP_INTERFACES");
  config.ports = options.text("FULMAR_TCP_PORTS");
  config.congestion = options.text("FULMAR_TCP_CONGESTION");
  config.report = owner.report;
  config.owner = owner.owner;
  return config;
}

fabric::verbs::Config verbs_config(const Job& job, const Options& options) {
  using fabric::verbs::CompletionQueues;
  fabric::verbs::Config config;
  const bool two = options.text("FULMAR_VERBS_QUEUES") == "two";
  config.completion_queues = two ? CompletionQueues::two : CompletionQueues::one;
  config.processes = job.processes();
  config.rings = options.size("FULMAR_VERBS_RINGS").value_or(config.rings);
  return config;
}

fabric::ofi::Config ofi_config(const Job& job) {
  fabric::ofi::Config config;
  config.processes = job.processes();
  return config;
}

/// The default: tcp, but ofi on a host with hardware that libfabric supports.
std::vector<NetworkPlan> NetworkFactory::plans() const {
  const std::span<const Options::Value> values = options_.values();
  const auto asked = std::find_if(values.begin(), values.end(), [](const Options::Value& value) {
    return std::string_view(value.spec->name) == "FULMAR_FABRIC";
  });
  const std::string wish = wish_of(options_, "FULMAR_OFI_PROVIDER");
  std::vector<NetworkPlan> list;
  if (asked->source == Options::Source::standard) {
    const std::string hardware = fabric::ofi::hardware_provider();
    if (!hardware.empty()) list.push_back({names::ofi, wish.empty() ? hardware : wish});
    list.push_back({names::tcp, {}});
    return list;
  }
  std::string_view rest = asked->text;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find(','));
    if (name == names::tcp) list.push_back({names::tcp, {}});
    if (name == names::verbs) list.push_back({names::verbs, {}});
    if (name == names::ofi) list.push_back({names::ofi, wish});
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
  }
  return list;
}

base::Result<std::unique_ptr<Network>> NetworkFactory::open(const NetworkPlan& plan) {
  if (plan.name == names::ofi) return open_ofi(plan.wish);
  return plan.name == names::verbs ? open_verbs() : open_tcp();
}

/// tcp retries the lookup of an address that is not known yet.
base::Result<std::unique_ptr<Network>> NetworkFactory::open_tcp() {
  fabric::Tcp::Config config;
  config.connect = connector_config(job_, options_, owner_);
  set_owner(config, owner_);
  config.find = owner_.find_now;
  auto tcp = fabric::Tcp::open(config);
  if (tcp.failed()) return tcp.error();
  return std::unique_ptr<Network>(std::move(*tcp));
}

base::Result<std::unique_ptr<Network>> NetworkFactory::open_verbs() {
  auto oob_connector = fabric::connect_over_tcp(connector_config(job_, options_, owner_));
  if (oob_connector.failed()) return oob_connector.error();
  fabric::verbs::Config config = verbs_config(job_, options_);
  set_owner(config, owner_);
  config.report = owner_.report;
  const std::optional<study::DesignPlan> plan = design_of(options_);
  if (plan) config.left = nullptr;  // the memory of designs is lent once
  auto verbs = fabric::Verbs::open(config, wish_of(options_, "FULMAR_VERBS_DEVICE"),
                                   std::move(*oob_connector));
  if (verbs.failed()) return verbs.error();
  if (!plan) return std::unique_ptr<Network>(std::move(*verbs));
  auto design = study::design_over(std::move(*verbs), *plan);
  if (design.failed()) return design.error();
  design_ = design->get();
  return std::unique_ptr<Network>(std::move(*design));
}

base::Result<std::unique_ptr<Network>> NetworkFactory::open_ofi(const std::string& wish) {
  fabric::ofi::Config config = ofi_config(job_);
  set_owner(config, owner_);
  config.report = owner_.report;
  auto ofi = fabric::Ofi::open(config, wish);
  if (ofi.failed()) return ofi.error();
  return std::unique_ptr<Network>(std::move(*ofi));
}

}  // namespace fulmar::runtime
