// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Several networks at once.
#include "runtime/network/network_factory.h"

#include <algorithm>
#include <utility>

#include "fabric/bundle/bundle.h"
#include "fabric/bundle/pairs.h"
#include "fabric/network_names.h"
#include "fabric/ofi/ofi.h"
#include "fabric/tcp/tcp.h"
#include "fabric/verbs/verbs.h"
#include "fabric/verbs_over_tcp.h"
#include "runtime/network/network_configs.h"
#include "wire/bundle/bundle_address.h"

namespace fulmar::runtime {
namespace {

using base::Error;
using fabric::Network;
using fabric::bundle::RailOwner;
namespace names = fabric::network_names;
using Opened = base::Result<std::unique_ptr<Network>>;

/// How long a further rail may take to be connected. The first one has the usual time.
constexpr std::uint64_t rail_deadline_ns = 4'000'000'000;
/// Addresses that a further rail announces: IPv4 and IPv6.
constexpr std::size_t addresses_of_further = 2;

/// How many addresses the first rail may announce, so that those of all rails fit.
std::size_t addresses_of_first(std::span<const RailPlan> plans) {
  std::size_t further = 0;
  std::size_t first = 0;
  bool tcp_seen = false;
  for (const RailPlan& plan : plans) {
    const bool has_all = plan.network == "verbs" || (plan.network == "tcp" && !tcp_seen);
    tcp_seen = tcp_seen || plan.network == "tcp";
    first += has_all ? 1 : 0;
    further +=
        wire::bundle_rail_header_bytes + plan.label.size() + wire::tcp_addresses_header_bytes;
    if (plan.network == "verbs") further += 8;
    if (!has_all) further += addresses_of_further * wire::tcp_address_bytes;
  }
  const std::size_t used = wire::bundle_address_header_bytes + further;
  const std::size_t left =
      wire::max_bundle_address_bytes - std::min(used, wire::max_bundle_address_bytes);
  const std::size_t each = left / wire::tcp_address_bytes / std::max<std::size_t>(first, 1);
  return std::clamp<std::size_t>(each, 1, wire::max_tcp_addresses);
}

/// Makes the bundle the owner of a network that becomes one of its rails.
template <class Config>
void set_owner(Config& config, RailOwner& seat) {
  config.owner = &seat;
  config.find = RailOwner::find;
  config.lost = RailOwner::lost;
}

/// Opens the rails of one bundle.
class RailOpener {
 public:
  RailOpener(const Job& job, const Options& options, const NetworkOwner& owner,
             fabric::Bundle& bundle, std::size_t most_addresses)
      : job_(job),
        options_(options),
        owner_(owner),
        bundle_(bundle),
        most_addresses_(most_addresses) {}

  [[nodiscard]] Error add(const RailPlan& plan) {
    Opened opened = plan.network == names::verbs ? open_verbs(plan)
                    : plan.network == names::ofi ? open_ofi(plan)
                                                 : open_tcp(plan);
    if (opened.failed()) return opened.error();
    return bundle_.add(std::move(*opened), plan.label, plan.bytes_per_second);
  }

 private:
  /// The first rail of tcp keeps all addresses of the host: peers that cannot be reached over the
  /// further ones are reached over it.
  [[nodiscard]] Opened open_tcp(const RailPlan& plan) {
    fabric::Tcp::Config config;
    config.connect = connector_config(job_, options_, owner_);
    set_owner(config, bundle_.next_owner());
    config.left = RailOwner::left;
    if (plan.label == names::tcp) {
      config.connect.preferred = plan.place;
      config.connect.most_addresses = most_addresses_;
    } else {
      config.connect.interfaces = plan.place;
      config.connect.most_addresses = addresses_of_further;
      config.connect.deadline_ns = rail_deadline_ns;
    }
    auto tcp = fabric::Tcp::open(config);
    if (tcp.failed()) return tcp.error();
    return std::unique_ptr<Network>(std::move(*tcp));
  }

  [[nodiscard]] Opened open_verbs(const RailPlan& plan) {
    fabric::tcp::Connector::Config connect = connector_config(job_, options_, owner_);
    connect.most_addresses = most_addresses_;
    auto oob_connector = fabric::connect_over_tcp(connect);
    if (oob_connector.failed()) return oob_connector.error();
    fabric::verbs::Config config = verbs_config(job_, options_);
    set_owner(config, bundle_.next_owner());
    config.left = RailOwner::left;
    config.report = RailOwner::report;
    const std::string device =
        plan.place.empty() ? wish_of(options_, "FULMAR_VERBS_DEVICE") : plan.place;
    auto verbs = fabric::Verbs::open(config, device, std::move(*oob_connector));
    if (verbs.failed()) return verbs.error();
    return std::unique_ptr<Network>(std::move(*verbs));
  }

  /// Packets to an endpoint of libfabric that has gone wait for ever: it does not come back.
  [[nodiscard]] Opened open_ofi(const RailPlan& plan) {
    fabric::ofi::Config config = ofi_config(job_);
    set_owner(config, bundle_.next_owner());
    config.report = RailOwner::report;
    auto ofi = fabric::Ofi::open(config, plan.place);
    if (ofi.failed()) return ofi.error();
    return std::unique_ptr<Network>(std::move(*ofi));
  }

  const Job& job_;
  const Options& options_;
  const NetworkOwner& owner_;
  fabric::Bundle& bundle_;
  std::size_t most_addresses_;
};

}  // namespace

base::Result<std::vector<RailPlan>> NetworkFactory::rail_plans() const {
  const std::string& text = options_.text("FULMAR_RAILS");
  std::vector<RailPlan> none;
  if (text == "off" || text.empty()) return none;
  if (text != "auto") return parse_rails(text);
  const std::vector<NetworkPlan> list = plans();
  if (list.empty() || list.front().name != names::tcp) return none;
  auto nics = own_nics(options_.text("FULMAR_TCP_INTERFACES"));
  // Opening the next network reports the error.
  if (nics.failed()) return none;
  return rails_over(*nics);
}

std::unique_ptr<Network> NetworkFactory::open_rails(std::span<const RailPlan> plans) {
  fabric::bundle::Config config;
  config.processes = job_.processes();
  config.owner = owner_.owner;
  config.find = owner_.find_any;
  config.lost = owner_.lost;
  config.left = owner_.left;
  config.report = owner_.report;
  auto bundle = fabric::Bundle::open(config);
  if (bundle.failed()) return nullptr;
  RailOpener opener(job_, options_, owner_, **bundle, addresses_of_first(plans));
  for (const RailPlan& plan : plans) {
    const Error error = opener.add(plan);
    if (error.ok() || job_.rank() != job_.node_ranks().front()) continue;
    const std::string line = "FULMAR_RAILS: " + error.text() + "; " + plan.label + " is left out";
    owner_.report(owner_.owner, line.c_str());
  }
  if ((*bundle)->pairs().rail_count() < 2) return nullptr;
  return std::move(*bundle);
}

}  // namespace fulmar::runtime
