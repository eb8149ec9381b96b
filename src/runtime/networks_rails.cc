// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Several networks at once.
#include <algorithm>
#include <utility>

#include "channel/mapped_channel.inl"
#include "fabric/bundle/pairs.h"
#include "fabric/bundle/rail_of.h"
#include "fabric/ofi/open.h"
#include "fabric/verbs_over_tcp.h"
#include "runtime/networks.h"
#include "wire/bundle_address.h"

namespace fulmar::runtime {
namespace {

using base::Error;
using fabric::bundle::RailOf;
using fabric::bundle::Seat;

/// How long a further rail may take to be connected. The first one has the usual time.
constexpr std::uint64_t rail_deadline_ns = 4'000'000'000;
/// Of a rail beside the first one that is told: IPv4 and IPv6.
constexpr std::size_t addresses_of_further = 2;

/// How many addresses a rail with all of them may tell, so that those of all rails fit.
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

}  // namespace

/// What is to be tried; fewer than two: no rails.
base::Result<std::vector<RailPlan>> Networks::planned_rails(const Options& options) const {
  const std::string& text = options.text("FULMAR_RAILS");
  std::vector<RailPlan> none;
  if (text == "off" || text.empty()) return none;
  if (text != "auto") return parse_rails(text);
  const std::vector<Candidate> list = candidates(options);
  if (list.empty() || list.front().name != fabric::Tcp::name) return none;
  auto nics = own_nics(options.text("FULMAR_TCP_INTERFACES"));
  // The network that is opened next says what is wrong.
  if (nics.failed()) return none;
  return rails_over(*nics);
}

/// Opens what can be opened of it. False if that is no more than one rail.
bool Networks::open_rails(std::span<const RailPlan> plans, const Options& options) {
  fabric::bundle::Config config;
  config.self = job_.rank();
  config.size = job_.size();
  config.owner = this;
  config.find = find_any;
  config.lost = lost;
  config.left = left;
  config.report = report;
  auto opened = fabric::Bundle::open(config);
  if (opened.failed()) return false;
  bundle_ = std::move(*opened);
  const std::size_t most_addresses = addresses_of_first(plans);
  for (const RailPlan& plan : plans) {
    const Error error = add_rail(plan, most_addresses, options);
    if (error.ok() || job_.rank() != job_.node_ranks().front()) continue;
    report(this, ("FULMAR_RAILS: " + error.text() + "; " + plan.label + " is left out").c_str());
  }
  const bool several = bundle_->pairs().rail_count() > 1;
  if (!several) bundle_.reset();
  return several;
}

Error Networks::add_rail(const RailPlan& plan, std::size_t most_addresses, const Options& options) {
  if (plan.network == fabric::Verbs::name) return add_verbs_rail(plan, most_addresses, options);
  if (plan.network == fabric::Ofi::name) return add_ofi_rail(plan);
  return add_tcp_rail(plan, most_addresses, options);
}

/// The first one of tcp keeps all addresses of the host: what cannot be reached over the further
/// ones is reached over it.
Error Networks::add_tcp_rail(const RailPlan& plan, std::size_t most_addresses,
                             const Options& options) {
  fabric::Tcp::Config config;
  config.connect = connector_config(options);
  config.owner = &bundle_->next_seat();
  config.find = Seat::find;
  config.lost = Seat::lost;
  config.left = Seat::left;
  if (plan.label == fabric::Tcp::name) {
    config.connect.preferred = plan.place;
    config.connect.most_addresses = most_addresses;
  } else {
    config.connect.interfaces = plan.place;
    config.connect.most_addresses = addresses_of_further;
    config.connect.deadline_ns = rail_deadline_ns;
  }
  auto tcp = fabric::Tcp::open(config);
  if (tcp.failed()) return tcp.error();
  return bundle_->add(std::make_unique<RailOf<fabric::Tcp>>(std::move(*tcp)), plan.label,
                      plan.bytes_per_second);
}

Error Networks::add_verbs_rail(const RailPlan& plan, std::size_t most_addresses,
                               const Options& options) {
  fabric::tcp::Connector::Config connect = connector_config(options);
  connect.most_addresses = most_addresses;
  auto introducer = fabric::introduce_over_tcp(connect);
  if (introducer.failed()) return introducer.error();
  fabric::verbs::Config config = verbs_config(options);
  config.owner = &bundle_->next_seat();
  config.find = Seat::find;
  config.lost = Seat::lost;
  config.left = Seat::left;
  config.report = Seat::report;
  const std::string& wish = options.text("FULMAR_VERBS_DEVICE");
  const std::string device = plan.place.empty() && wish != "auto" ? wish : plan.place;
  auto verbs = fabric::Verbs::open(config, device, std::move(*introducer));
  if (verbs.failed()) return verbs.error();
  return bundle_->add(std::make_unique<RailOf<fabric::Verbs>>(std::move(*verbs)), plan.label,
                      plan.bytes_per_second);
}

Error Networks::add_ofi_rail(const RailPlan& plan) {
  fabric::ofi::Config config = ofi_config();
  config.owner = &bundle_->next_seat();
  config.find = Seat::find;
  config.lost = Seat::lost;
  config.report = Seat::report;
  auto ofi = fabric::Ofi::open(config, plan.place);
  if (ofi.failed()) return ofi.error();
  return bundle_->add(std::make_unique<RailOf<fabric::Ofi>>(std::move(*ofi)), plan.label,
                      plan.bytes_per_second);
}

base::Result<std::vector<std::byte>> Networks::find_any(void* self, std::uint32_t rank) {
  return static_cast<Networks*>(self)->job_.address_of(rank, Job::Patience::wait);
}

}  // namespace fulmar::runtime
