// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/network/networks.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "fabric/network_names.h"
#include "runtime/network/host_network.h"
#include "runtime/study.h"
#include "study/study.h"
#include "wire/bundle/bundle_address.h"

namespace fulmar::runtime {

using base::Error;
using base::ErrorClass;
namespace names = fabric::network_names;

namespace {

/// How a rank with several networks describes the one that this process uses.
base::Result<std::vector<std::byte>> single_address(std::uint32_t rank,
                                                    std::span<const std::byte> address,
                                                    const char* network) {
  auto rails = wire::decode_bundle_address(address);
  if (rails.failed()) return rails.error();
  for (wire::BundleRail& rail : *rails) {
    if (rail.label == network) return std::move(rail.address);
  }
  return base::failure(ErrorClass::other,
                       "rank %u uses several networks (FULMAR_RAILS), but not %s, which is the one "
                       "in use here; set FULMAR_FABRIC and FULMAR_RAILS to the same on all hosts",
                       rank, network);
}

}  // namespace

void complain_of_unknown_networks(const Options& options, std::vector<std::string>& complaints) {
  const std::string& text = options.text("FULMAR_FABRIC");
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
    const bool known = name.empty() || name == fabric::Shm::name || name == names::tcp ||
                       name == names::verbs || name == names::ofi;
    if (known) continue;
    complaints.push_back("FULMAR_FABRIC=" + text + ": there is no network \"" + std::string(name) +
                         "\", it is left out; networks are shm, tcp, verbs, ofi");
  }
}

Networks::~Networks() = default;

Error Networks::open(const Options& options) {
  const bool shm = job_.size() == 1 || options.lists("FULMAR_FABRIC", fabric::Shm::name);
  const bool all_here = job_.node_ranks().size() == job_.size();
  if (shm) {
    if (const Error error = open_shm(options); error.failed()) return error;
    if (all_here) return {};
  }
  NetworkFactory factory(job_, options, as_owner());
  if (const Error error = open_network(factory, options); error.failed()) return error;
  return publish();
}

NetworkOwner Networks::as_owner() noexcept {
  NetworkOwner owner;
  owner.owner = this;
  owner.find = [](void* self, std::uint32_t rank) {
    return static_cast<Networks*>(self)->find(rank, Job::Patience::wait);
  };
  owner.find_now = [](void* self, std::uint32_t rank) {
    return static_cast<Networks*>(self)->find(rank, Job::Patience::look);
  };
  owner.find_any = [](void* self, std::uint32_t peer) {
    const Networks& networks = *static_cast<Networks*>(self);
    return peer < networks.job_.size() ? networks.job_.address_of(peer, Job::Patience::wait)
                                       : networks.find_foreign(peer);
  };
  owner.lost = lost;
  owner.left = left;
  owner.report = report;
  return owner;
}

Error Networks::open_network(NetworkFactory& factory, const Options& options) {
  auto rails = factory.rail_plans();
  if (rails.failed()) return rails.error();
  if (rails->size() > 1) network_ = factory.open_rails(*rails);
  if (network_ != nullptr) return {};
  const std::vector<NetworkPlan> list = factory.plans();
  if (list.empty()) {
    const bool all_here = job_.node_ranks().size() == job_.size();
    return base::failure(
        ErrorClass::other,
        "FULMAR_FABRIC=%s leaves no network between the %u ranks of the job, which "
        "are on %u node(s); add %s",
        options.text("FULMAR_FABRIC").c_str(), job_.size(), job_.node_count(),
        all_here ? "shm" : "tcp");
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto opened = factory.open(list[i]);
    if (opened.ok()) {
      network_ = std::move(*opened);
      design_ = factory.design();
      break;
    }
    if (i + 1 == list.size()) return opened.error();
    // One line for each node is enough.
    if (job_.rank() != job_.node_ranks().front()) continue;
    const std::string line = opened.error().text() + "; the network " +
                             std::string(list[i + 1].name) + " is tried instead";
    report(this, line.c_str());
  }
  return {};
}

Error Networks::publish() {
  const auto address = network_->address();
  return address.failed() ? address.error() : job_.publish_address(address.value());
}

Error Networks::open_shm(const Options& options) {
  fabric::Shm::Config shm = job_.shm_config();
  if (wire::AreaLayout::fit(shm.size, shm.area_bytes).bytes == 0) {
    return base::failure(ErrorClass::no_mem,
                         "the job's segment gives each of the %u ranks %llu bytes, too few for the "
                         "mailboxes; raise the limit on file sizes (ulimit -f) of mpiexec",
                         shm.size, static_cast<unsigned long long>(shm.area_bytes));
  }
  if (shm.size > 1) shm_design_ = design_of(options);
  shm.single_copy = options.is_on("FULMAR_SINGLE_COPY");
  shm_ = std::make_unique<fabric::Shm>(std::move(shm));
  return {};
}

Error Networks::serve(device::Device& device) {
  device_ = &device;
  if (shm_design_) {
    if (const Error error = serve_design(device); error.failed()) return error;
  } else if (shm_ != nullptr) {
    device.use(*shm_, job_.node_ranks());
  }
  if (network_ == nullptr) return {};
  if (design_ != nullptr) design_->use(device.memory());
  device.use(*network_);
  return device.use_wake_socket();
}

Error Networks::serve_design(device::Device& device) {
  study::MappedDesign::Config config;
  config.plan = *shm_design_;
  config.ranks.assign(job_.node_ranks().begin(), job_.node_ranks().end());
  config.has_membarrier = device.config().has_membarrier;
  config.has_left = device.config().has_left;
  config.owner = device.config().owner;
  const std::vector<std::uint32_t> ranks = config.ranks;
  auto design = study::MappedDesign::open(*shm_, std::move(config));
  if (design.failed()) return design.error();
  if (network_ == nullptr) {
    network_ = std::move(*design);
    return {};
  }
  auto both = study::SplitNetwork::open(std::move(*design), ranks, std::move(network_));
  if (both.failed()) return both.error();
  network_ = std::move(*both);
  return {};
}

void Networks::part(device::Device& device, fabric::Leaving how) {
  if (network_ == nullptr || quiesced_) return;
  network_->leave(how);
  device.wait([&]() noexcept { return network_->quiesced(); });
  device.memory().close();
  // This process may wait for the others in the launcher's library, where it makes no progress.
  network_->end();
  quiesced_ = true;
}

void Networks::close() noexcept {
  if (quiesced_) network_->close();
}

Error Networks::resume(device::Device& device) {
  if (!quiesced_) return {};
  const std::vector<std::uint32_t> known = network_->known_peers();
  if (const Error error = network_->resume(); error.failed()) return error;
  quiesced_ = false;
  for (const std::uint32_t rank : known) device.forget_own_hold(rank);
  return {};
}

void Networks::begin_removal() {
  being_removed_ = true;
  if (network_ != nullptr) network_->leave(fabric::Leaving::may_return);
}

bool Networks::poll_removal(device::Device& device) {
  if (network_ == nullptr) return true;
  (void)network_->poll(fabric::SinkRef(device));
  return network_->quiesced();
}

void Networks::remove(device::Device& device, device::Drain& drain) {
  device.memory().close();
  if (network_ != nullptr) {
    network_->end();
    drain.drop_network();
    network_.reset();
    host_network_ = nullptr;
  }
  being_removed_ = false;
}

Error Networks::reopen(const Options& options, device::Device& device) {
  if (shm_ != nullptr) shm_->came_back();
  if (shm_ != nullptr && job_.node_ranks().size() == job_.size()) return {};
  NetworkFactory factory(job_, options, as_owner());
  if (const Error error = open_network(factory, options); error.failed()) return error;
  if (const Error error = publish(); error.failed()) return error;
  device.use(*network_);
  return device.use_wake_socket();
}

const char* Networks::network_name() const noexcept {
  return network_ == nullptr ? "" : network_->name();
}

const char* Networks::provider_of(std::uint32_t rank) const noexcept {
  if (rank == job_.rank()) return nullptr;
  const std::span<const std::uint32_t> here = job_.node_ranks();
  const bool mapped = shm_ != nullptr && std::binary_search(here.begin(), here.end(), rank);
  if (mapped) return fabric::Shm::name;
  return network_ == nullptr ? nullptr : network_->name_of(rank);
}

std::string Networks::reason_of(std::uint32_t rank) const {
  if (rank == job_.rank()) return "this process";
  if (rank >= job_.size()) {
    const std::string way = network_ == nullptr ? std::string() : network_->text_of(rank);
    return way.empty() ? "another job" : "another job, by " + way;
  }
  if (job_.node_of(rank) != job_.node_of(job_.rank())) {
    const std::string rails = network_ == nullptr ? std::string() : network_->text_of(rank);
    return rails.empty() ? "another node" : "another node, by " + rails;
  }
  return provider_of(rank) == fabric::Shm::name
             ? "same node: shared memory"
             : "same node, but FULMAR_FABRIC leaves shared memory out";
}

base::Result<std::vector<std::byte>> Networks::address_for_other_jobs(const Options& options,
                                                                      device::Device& device) {
  if (network_ != nullptr) return network_->address();
  NetworkFactory factory(job_, options, as_owner());
  const Error failed = open_network(factory, options);
  if (failed.failed()) {
    auto tcp = factory.open({names::tcp, {}});
    if (tcp.failed()) return tcp.error();
    network_ = std::move(*tcp);
  }
  if (design_ != nullptr) design_->use(device.memory());
  device.use(*network_);
  if (const Error error = device.use_wake_socket(); error.failed()) return error;
  return network_->address();
}

Error Networks::add_address(const wire::ProcessName& process, std::span<const std::byte> address) {
  const std::string_view theirs = network_of(address);
  const bool fits = theirs == network_name() || theirs == names::rails;
  if (!fits) {
    return base::failure(ErrorClass::other,
                         "rank %u of job %08x is reached over %s, but this process uses %s; set "
                         "FULMAR_FABRIC to the "
                         "same list for both jobs, with one of the two",
                         process.rank, process.job, network_of(address), network_name());
  }
  foreign_addresses_.insert_or_assign(process,
                                      std::vector<std::byte>(address.begin(), address.end()));
  return {};
}

std::vector<std::uint32_t> Networks::peers_of_other_jobs() const {
  if (network_ == nullptr || quiesced_) return {};
  std::vector<std::uint32_t> peers = network_->known_peers();
  std::erase_if(peers, [&](std::uint32_t peer) { return peer < job_.size(); });
  return peers;
}

bool Networks::forget(std::uint32_t peer) {
  if (network_ == nullptr || quiesced_ || !network_->forget(peer)) return false;
  if (const auto name = job_.processes()->name_of(peer)) forget(*name);
  return true;
}

base::Result<HostNetwork*> Networks::use_host_network(device::Device& device) {
  if (host_network_ != nullptr) return host_network_;
  HostWays::Config config;
  config.owner = this;
  config.lost = lost;
  config.left = left;
  config.processes = job_.processes();
  config.has_membarrier = device.config().has_membarrier;
  auto both = HostNetwork::open(network_, std::move(config));
  if (both.failed()) return both.error();
  host_network_ = both->get();
  network_ = std::move(*both);
  device.use(*network_);
  return host_network_;
}

void Networks::look() {
  if (host_network_ != nullptr) host_network_->ways().look();
}

base::Result<std::vector<std::byte>> Networks::find_foreign(std::uint32_t peer) const {
  const auto name = job_.processes()->name_of(peer);
  const auto known = name ? foreign_addresses_.find(*name) : foreign_addresses_.end();
  if (known != foreign_addresses_.end()) return known->second;
  return base::failure(
      ErrorClass::other,
      "the address of %s is not known here: this process has no communicator with it",
      job_.processes()->text_of(peer).c_str());
}

base::Result<std::vector<std::byte>> Networks::find(std::uint32_t rank,
                                                    Job::Patience patience) const {
  auto address = rank < job_.size() ? job_.address_of(rank, patience) : find_foreign(rank);
  if (address.failed() || address.value().empty()) return address;
  const std::string_view theirs = network_of(*address);
  if (theirs == names::rails) return single_address(rank, *address, network_name());
  if (theirs == network_name()) return address;
  return base::failure(
      ErrorClass::other,
      "rank %u is reached over %s, but rank %u uses %s; set FULMAR_FABRIC to the same "
      "list on all hosts, with one of the two",
      rank, network_of(*address), job_.rank(), network_name());
}

void Networks::left(void* self, std::uint32_t rank) {
  const Networks& networks = *static_cast<Networks*>(self);
  // What a peer holds back stays held back while networks change.
  if (networks.being_removed_) return;
  networks.device_->forget_hold(rank);
}

void Networks::lost(void* self, std::uint32_t rank, const Error& why) {
  static_cast<Networks*>(self)->failures_.lost(rank, why);
}

void Networks::report(void* self, const char* line) {
  const Job& job = static_cast<Networks*>(self)->job_;
  std::fprintf(stderr, "fulmar: rank %u of %u: %s\n", job.rank(), job.size(), line);
}

}  // namespace fulmar::runtime
