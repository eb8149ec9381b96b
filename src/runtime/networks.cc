// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/networks.h"

#include <algorithm>
#include <cstdio>

#include "channel/mapped_channel.inl"
#include "runtime/abort.h"

namespace fulmar::runtime {

using base::Error;
using base::ErrorClass;

Error Networks::open(const Options& options) {
  const bool shm = job_.size() == 1 || options.lists("FULMAR_FABRIC", fabric::Shm::name);
  const bool all_here = job_.node_ranks().size() == job_.size();
  if (shm) {
    if (const Error error = open_shm(options); error.failed()) return error;
    if (all_here) return {};
  }
  if (!options.lists("FULMAR_FABRIC", fabric::Tcp::name)) {
    return base::failure(
        ErrorClass::other,
        "FULMAR_FABRIC=%s leaves no network between the %u ranks of the job, which "
        "are on %u node(s); add %s",
        options.text("FULMAR_FABRIC").c_str(), job_.size(), job_.node_count(),
        all_here ? "shm" : "tcp");
  }
  return open_tcp(options);
}

Error Networks::open_shm(const Options& options) {
  fabric::Shm::Config shm = job_.shm_config();
  if (wire::AreaLayout::fit(shm.size, shm.area_bytes).bytes == 0) {
    return base::failure(ErrorClass::no_mem,
                         "the job's segment gives each of the %u ranks %llu bytes, too few for the "
                         "mailboxes; raise the limit on file sizes (ulimit -f) of mpiexec",
                         shm.size, static_cast<unsigned long long>(shm.area_bytes));
  }
  shm.single_copy = options.is_on("FULMAR_SINGLE_COPY");
  shm_ = std::make_unique<fabric::Shm>(std::move(shm));
  return {};
}

Error Networks::open_tcp(const Options& options) {
  fabric::Tcp::Config config;
  config.connect.self = job_.rank();
  config.connect.size = job_.size();
  config.connect.job_id = job_.job_id();
  config.connect.key = job_.key();
  config.connect.interfaces = options.text("FULMAR_TCP_INTERFACES");
  config.connect.ports = options.text("FULMAR_TCP_PORTS");
  config.connect.report = report;
  config.connect.owner = this;
  config.owner = this;
  config.find = find;
  config.lost = lost;
  auto tcp = fabric::Tcp::open(config);
  if (tcp.failed()) return tcp.error();
  tcp_ = std::move(*tcp);
  return job_.publish_address(tcp_->address());
}

Error Networks::serve(device::Device& device) {
  if (shm_ != nullptr) device.rails().use(*shm_, job_.node_ranks());
  if (tcp_ == nullptr) return {};
  device.rails().use(*tcp_);
  return device.use_wake_socket();
}

void Networks::part(device::Device& device) {
  if (tcp_ == nullptr || parted_) return;
  tcp_->leave();
  device.wait([&]() noexcept { return tcp_->parted(); });
  parted_ = true;
}

const char* Networks::provider_of(std::uint32_t rank) const noexcept {
  if (rank == job_.rank()) return nullptr;
  const std::span<const std::uint32_t> here = job_.node_ranks();
  const bool mapped = shm_ != nullptr && std::binary_search(here.begin(), here.end(), rank);
  return mapped ? fabric::Shm::name : fabric::Tcp::name;
}

std::string Networks::reason_of(std::uint32_t rank) const {
  if (rank == job_.rank()) return "this process";
  if (job_.node_of(rank) != job_.node_of(job_.rank())) return "another node";
  return provider_of(rank) == fabric::Shm::name
             ? "same node: shared memory"
             : "same node, but FULMAR_FABRIC leaves shared memory out";
}

base::Result<std::vector<std::byte>> Networks::find(void* self, std::uint32_t rank) {
  return static_cast<Networks*>(self)->job_.address_of(rank);
}

/// Whoever waits for a message of that rank would wait for ever: the job ends.
void Networks::lost(void* self, std::uint32_t /*rank*/, const Error& why) {
  Job& job = static_cast<Networks*>(self)->job_;
  std::fprintf(stderr, "fulmar: rank %u of %u: %s\n", job.rank(), job.size(), why.text().c_str());
  abort_job(job, 1);
}

void Networks::report(void* self, const char* line) {
  const Job& job = static_cast<Networks*>(self)->job_;
  std::fprintf(stderr, "fulmar: rank %u of %u: %s\n", job.rank(), job.size(), line);
}

}  // namespace fulmar::runtime
