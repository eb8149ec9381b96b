// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/networks.h"

#include <algorithm>
#include <cstdio>

#include "channel/mapped_channel.inl"
#include "fabric/bundle/pairs.h"
#include "fabric/ofi/open.h"
#include "fabric/verbs_over_tcp.h"
#include "runtime/study.h"
#include "wire/bundle_address.h"
#include "wire/ofi_address.h"
#include "wire/verbs_address.h"

namespace fulmar::runtime {

using base::Error;
using base::ErrorClass;

namespace {

/// The text of an option where "auto" stands for nothing in particular.
std::string wish_of(const Options& options, const char* name) {
  const std::string& text = options.text(name);
  return text == "auto" ? std::string() : text;
}

/// Whose address this is.
const char* network_of(std::span<const std::byte> address) {
  if (wire::is_ofi_address(address)) return fabric::Ofi::name;
  return wire::is_verbs_address(address) ? fabric::Verbs::name : fabric::Tcp::name;
}

/// What a rank with several networks says about the one that this process uses.
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
    const bool known = name.empty() || name == fabric::Shm::name || name == fabric::Tcp::name ||
                       name == fabric::Verbs::name || name == fabric::Ofi::name;
    if (known) continue;
    complaints.push_back("FULMAR_FABRIC=" + text + ": there is no network \"" + std::string(name) +
                         "\", it is left out; networks are shm, tcp, verbs, ofi");
  }
}

Error Networks::open(const Options& options) {
  const bool shm = job_.size() == 1 || options.lists("FULMAR_FABRIC", fabric::Shm::name);
  const bool all_here = job_.node_ranks().size() == job_.size();
  if (shm) {
    if (const Error error = open_shm(options); error.failed()) return error;
    if (all_here) return {};
  }
  return open_network(options);
}

/// In the order in which they are to be tried.
std::vector<Networks::Candidate> Networks::candidates(const Options& options) {
  const std::span<const Options::Value> values = options.values();
  const auto asked = std::find_if(values.begin(), values.end(), [](const Options::Value& value) {
    return std::string_view(value.spec->name) == "FULMAR_FABRIC";
  });
  const std::string_view tcp = fabric::Tcp::name;
  const std::string_view ofi = fabric::Ofi::name;
  const std::string_view verbs = fabric::Verbs::name;
  const std::string wish = wish_of(options, "FULMAR_OFI_PROVIDER");
  std::vector<Candidate> list;
  if (asked->source == Options::Source::standard) {
    const std::string hardware = fabric::ofi::hardware_provider();
    if (!hardware.empty()) list.push_back({ofi, wish.empty() ? hardware : wish});
    list.push_back({tcp, {}});
    return list;
  }
  std::string_view rest = asked->text;
  while (!rest.empty()) {
    const std::string_view name = rest.substr(0, rest.find(','));
    if (name == tcp) list.push_back({tcp, {}});
    if (name == verbs) list.push_back({verbs, {}});
    if (name == ofi) list.push_back({ofi, wish});
    rest.remove_prefix(std::min(name.size() + 1, rest.size()));
  }
  return list;
}

Error Networks::open_network(const Options& options) {
  auto plans = planned_rails(options);
  if (plans.failed()) return plans.error();
  if (plans->size() > 1 && open_rails(*plans, options)) return publish();
  const std::vector<Candidate> list = candidates(options);
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
    const Error error = open_one(list[i], options);
    if (error.ok()) break;
    if (i + 1 == list.size()) return error;
    // One line for each node is enough.
    if (job_.rank() != job_.node_ranks().front()) continue;
    const std::string line =
        error.text() + "; the network " + std::string(list[i + 1].name) + " is tried instead";
    report(this, line.c_str());
  }
  return publish();
}

Error Networks::open_one(const Candidate& candidate, const Options& options) {
  if (candidate.name == fabric::Ofi::name) return open_ofi(candidate.wish);
  return candidate.name == fabric::Verbs::name ? open_verbs(options) : open_tcp(options);
}

Error Networks::publish() {
  if (bundle_ != nullptr) {
    const auto address = bundle_->address();
    return address.failed() ? address.error() : job_.publish_address(address.value());
  }
  if (tcp_ != nullptr) return job_.publish_address(tcp_->address());
  if (verbs_ != nullptr) return job_.publish_address(verbs_->address());
  const auto address = ofi_->address();
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
  if (shm.size > 1) design_ = design_of(options);
  using Studied = channel::Channel<fabric::StudiedShm>;
  if (design_ && Studied::layout_of(shm.size, shm.area_bytes).pipe_bytes == 0) {
    return base::failure(
        ErrorClass::no_mem,
        "FULMAR_CHANNEL=%s: the job's segment gives each of the %u ranks %llu bytes, too few for "
        "the pipes of this design; take fewer ranks, or leave FULMAR_CHANNEL out",
        options.text("FULMAR_CHANNEL").c_str(), shm.size,
        static_cast<unsigned long long>(shm.area_bytes));
  }
  shm.single_copy = options.is_on("FULMAR_SINGLE_COPY");
  shm_ = std::make_unique<fabric::Shm>(std::move(shm));
  return {};
}

fabric::tcp::Connector::Config Networks::connector_config(const Options& options) {
  fabric::tcp::Connector::Config config;
  config.self = job_.rank();
  config.size = job_.size();
  config.job_id = job_.job_id();
  config.key = job_.key();
  config.interfaces = options.text("FULMAR_TCP_INTERFACES");
  config.ports = options.text("FULMAR_TCP_PORTS");
  config.congestion = options.text("FULMAR_TCP_CONGESTION");
  config.report = report;
  config.owner = this;
  return config;
}

fabric::verbs::Config Networks::verbs_config(const Options& options) const {
  using fabric::verbs::CompletionQueues;
  fabric::verbs::Config config;
  const bool two = options.text("FULMAR_VERBS_QUEUES") == "two";
  config.completion_queues = two ? CompletionQueues::two : CompletionQueues::one;
  config.self = job_.rank();
  config.size = job_.size();
  config.rings = options.size("FULMAR_VERBS_RINGS").value_or(config.rings);
  return config;
}

fabric::ofi::Config Networks::ofi_config() const {
  fabric::ofi::Config config;
  config.self = job_.rank();
  config.size = job_.size();
  config.job_id = job_.job_id();
  config.key = job_.key();
  return config;
}

Error Networks::open_tcp(const Options& options) {
  fabric::Tcp::Config config;
  config.connect = connector_config(options);
  config.owner = this;
  config.find = find;
  config.lost = lost;
  config.left = left;
  auto tcp = fabric::Tcp::open(config);
  if (tcp.failed()) return tcp.error();
  tcp_ = std::move(*tcp);
  return {};
}

Error Networks::open_verbs(const Options& options) {
  auto introducer = fabric::introduce_over_tcp(connector_config(options));
  if (introducer.failed()) return introducer.error();
  fabric::verbs::Config config = verbs_config(options);
  config.owner = this;
  config.find = find;
  config.lost = lost;
  config.report = report;
  const std::optional<channel::DesignPlan> design = design_of(options);
  if (!design) config.left = left;  // the memory of designs is lent once
  auto verbs =
      fabric::Verbs::open(config, wish_of(options, "FULMAR_VERBS_DEVICE"), std::move(*introducer));
  if (verbs.failed()) return verbs.error();
  if (design && !(*verbs)->puts_in_order()) {
    return base::failure(ErrorClass::other,
                         "FULMAR_CHANNEL=%s, FULMAR_STACK=%s: the designs poll memory for what the "
                         "network verbs writes there, and this adapter may write its bytes in any "
                         "order; choose another one by FULMAR_VERBS_DEVICE, or leave both options "
                         "out",
                         options.text("FULMAR_CHANNEL").c_str(),
                         options.text("FULMAR_STACK").c_str());
  }
  verbs_ = std::move(*verbs);
  verbs_design_ = design;
  return {};
}

Error Networks::open_ofi(const std::string& wish) {
  fabric::ofi::Config config = ofi_config();
  config.owner = this;
  config.find = find;
  config.lost = lost;
  config.left = left;
  config.report = report;
  auto ofi = fabric::Ofi::open(config, wish);
  if (ofi.failed()) return ofi.error();
  ofi_ = std::move(*ofi);
  return {};
}

Error Networks::serve(device::Device& device) {
  device_ = &device;
  if (shm_ != nullptr && design_) {
    studied_ = std::make_unique<fabric::StudiedShm>(*shm_);
    device.rails().use(*studied_, job_.node_ranks());
    device::choose_design(device, *design_);
    look_ = std::make_unique<device::DesignLook>(device);
  } else if (shm_ != nullptr) {
    device.rails().use(*shm_, job_.node_ranks());
  }
  if (bundle_ != nullptr) device.rails().use(*bundle_);
  if (tcp_ != nullptr) device.rails().use(*tcp_);
  if (verbs_ != nullptr && verbs_design_) {
    studied_verbs_ = std::make_unique<fabric::Studied<fabric::Verbs>>(*verbs_);
    device.rails().use(*studied_verbs_);
    device::choose_design(device, *verbs_design_);
    lender_ = device::lend_to_designs(device);
  } else if (verbs_ != nullptr) {
    device.rails().use(*verbs_);
  }
  if (ofi_ != nullptr) device.rails().use(*ofi_);
  if (network() == nullptr) return {};
  return device.use_wake_socket();
}

void Networks::part(device::Device& device, fabric::Leaving how) {
  if (network() == nullptr || parted_) return;
  if (verbs_design_) device.wait([&]() noexcept { return device::designs_settled(device); });
  if (bundle_ != nullptr) bundle_->leave(how);
  if (tcp_ != nullptr) tcp_->leave(how);
  if (verbs_ != nullptr) verbs_->leave(how);
  if (ofi_ != nullptr) ofi_->leave(how);
  device.wait([&]() noexcept {
    return (bundle_ == nullptr || bundle_->parted()) && (tcp_ == nullptr || tcp_->parted()) &&
           (verbs_ == nullptr || verbs_->parted()) && (ofi_ == nullptr || ofi_->parted());
  });
  device.memory().close();
  // This process may wait for the others in the launcher's library, where it answers nobody.
  if (bundle_ != nullptr) bundle_->end();
  if (tcp_ != nullptr) tcp_->end();
  if (verbs_ != nullptr) verbs_->end();
  parted_ = true;
}

void Networks::close() noexcept {
  if (bundle_ != nullptr && parted_) bundle_->close();
  if (tcp_ != nullptr && parted_) tcp_->close();
  if (verbs_ != nullptr && parted_) verbs_->close();
}

Error Networks::may_return() const {
  if (bundle_ != nullptr && !bundle_->pairs().returns()) {
    return base::failure(
        ErrorClass::other,
        "MPI was left, and networks that are used together can be entered again "
        "only if all are tcp or verbs. Open a session before the last MPI_Finalize or "
        "MPI_Session_finalize, or set FULMAR_RAILS=off, or to a list of these");
  }
  if (!verbs_design_) return {};
  return base::failure(ErrorClass::other,
                       "MPI was left, and with FULMAR_CHANNEL or FULMAR_STACK over the network "
                       "verbs it cannot be entered again: the other ranks lend their memory to a "
                       "process once. Open a session before the last MPI_Finalize or "
                       "MPI_Session_finalize, or leave both options out");
}

Error Networks::resume(device::Device& device) {
  if (!parted_) return {};
  if (const Error error = may_return(); error.failed()) return error;
  std::vector<std::uint32_t> known;
  if (bundle_ != nullptr) {
    known = bundle_->pairs().known_peers();
    if (const Error error = bundle_->resume(); error.failed()) return error;
  }
  if (tcp_ != nullptr) {
    known = tcp_->streams().known_peers();
    if (const Error error = tcp_->resume(); error.failed()) return error;
  }
  if (verbs_ != nullptr) {
    known = verbs_->known_peers();
    if (const Error error = verbs_->resume(); error.failed()) return error;
  }
  if (ofi_ != nullptr) {
    known = ofi_->known_peers();
    ofi_->resume();
  }
  parted_ = false;
  // Who asked this process to keep its messages does not remember that: as if it had said so.
  for (const std::uint32_t rank : known) {
    device.packet(rank, {wire::PacketKind::release, 0, 0, 0, 0}, {});
  }
  return {};
}

const char* Networks::network() const noexcept {
  if (bundle_ != nullptr) return fabric::Bundle::name;
  if (tcp_ != nullptr) return fabric::Tcp::name;
  if (verbs_ != nullptr) return fabric::Verbs::name;
  return ofi_ != nullptr ? fabric::Ofi::name : nullptr;
}

const char* Networks::provider_of(std::uint32_t rank) const noexcept {
  if (rank == job_.rank()) return nullptr;
  const std::span<const std::uint32_t> here = job_.node_ranks();
  const bool mapped = shm_ != nullptr && std::binary_search(here.begin(), here.end(), rank);
  if (mapped) return fabric::Shm::name;
  return bundle_ != nullptr ? bundle_->pairs().name_of(rank) : network();
}

std::string Networks::reason_of(std::uint32_t rank) const {
  if (rank == job_.rank()) return "this process";
  if (job_.node_of(rank) != job_.node_of(job_.rank())) {
    const std::string rails = bundle_ == nullptr ? std::string() : bundle_->pairs().text_of(rank);
    return rails.empty() ? "another node" : "another node, by " + rails;
  }
  return provider_of(rank) == fabric::Shm::name
             ? "same node: shared memory"
             : "same node, but FULMAR_FABRIC leaves shared memory out";
}

base::Result<std::vector<std::byte>> Networks::find(void* self, std::uint32_t rank) {
  const Networks& own = *static_cast<Networks*>(self);
  // tcp goes on meanwhile, and asks again; the others have to be told.
  const auto patience = own.tcp_ != nullptr ? Job::Patience::look : Job::Patience::wait;
  auto address = own.job_.address_of(rank, patience);
  if (address.failed() || address.value().empty()) return address;
  if (wire::is_bundle_address(*address)) return single_address(rank, *address, own.network());
  const std::string_view theirs = network_of(*address);
  if (theirs == own.network()) return address;
  return base::failure(
      ErrorClass::other,
      "rank %u is reached over %s, but rank %u uses %s; set FULMAR_FABRIC to the same "
      "list on all hosts, with one of the two",
      rank, network_of(*address), own.job_.rank(), own.network());
}

void Networks::left(void* self, std::uint32_t rank) {
  static_cast<Networks*>(self)->device_->forget_hold(rank);
}

void Networks::lost(void* self, std::uint32_t rank, const Error& why) {
  static_cast<Networks*>(self)->failures_.lost(rank, why);
}

void Networks::report(void* self, const char* line) {
  const Job& job = static_cast<Networks*>(self)->job_;
  std::fprintf(stderr, "fulmar: rank %u of %u: %s\n", job.rank(), job.size(), line);
}

}  // namespace fulmar::runtime
