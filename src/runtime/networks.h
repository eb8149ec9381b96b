// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "device/designs.h"
#include "device/device.h"
#include "fabric/bundle/bundle.h"
#include "fabric/bundle/config.h"
#include "fabric/ofi/ofi.h"
#include "fabric/shm/shm.h"
#include "fabric/shm/studied.h"
#include "fabric/studied.h"
#include "fabric/tcp/tcp.h"
#include "fabric/verbs/verbs.h"
#include "runtime/failures.h"
#include "runtime/job.h"
#include "runtime/options.h"
#include "runtime/rail_choice.h"

namespace fulmar::runtime {

/// The providers that a process uses, and which peers each of them serves: shared memory the ranks
/// of the node, tcp, verbs or ofi all others, or all where shared memory is not to be used. A
/// network is opened only where a peer needs it.
///
/// Of tcp, verbs and ofi one is used, which has to be the same in the whole job: the first that
/// FULMAR_FABRIC names and that can be opened. Where nothing was said it is tcp, but ofi on a host
/// with a network that libfabric reaches; verbs has to be asked for so far (decision 0013).
///
/// Several of them, or several adapters under tcp, are used at once where FULMAR_RAILS says so, or
/// where the host has adapters for it (rail_choice.h). Ranks with and without rails find each
/// other.
///
/// Thread rule: the lock of the library.
class Networks {
 public:
  /// All outlive this.
  Networks(Job& job, FailureMonitor& failures) noexcept : job_(job), failures_(failures) {}
  Networks(const Networks&) = delete;
  Networks& operator=(const Networks&) = delete;

  /// Opens what the job needs, and makes the addresses known: collective over the job. Fails
  /// (other) with a text where FULMAR_FABRIC leaves no way to some ranks, or a network cannot be
  /// opened.
  [[nodiscard]] base::Error open(const Options& options);
  /// Gives the device its channels.
  [[nodiscard]] base::Error serve(device::Device& device);
  /// Waits until every peer has what was sent to it, or is gone; closes the networks. `how` is what
  /// the peers are told.
  void part(device::Device& device, fabric::Leaving how);
  /// After `part`, by a process that never resumes: who waits for it to come back learns so.
  void close() noexcept;
  /// Networks were in use and have been closed: no message reaches the other nodes.
  [[nodiscard]] bool parted() const noexcept { return parted_; }
  /// After `part`: opens them again, at the addresses that the others know. Not collective: ranks
  /// find each other when both have come back, or never left. Fails (other) for networks that
  /// cannot be entered again; the text says which can.
  [[nodiscard]] base::Error resume(device::Device& device);

  /// Which provider carries messages to a rank; nullptr: none is needed, it is this process.
  [[nodiscard]] const char* provider_of(std::uint32_t rank) const noexcept;
  /// Why that one, in words.
  [[nodiscard]] std::string reason_of(std::uint32_t rank) const;

 private:
  base::Error open_shm(const Options& options);
  /// A network between hosts to be tried: the provider, and for ofi what to use of libfabric.
  struct Candidate {
    std::string_view name;
    std::string wish;
  };
  static std::vector<Candidate> candidates(const Options& options);
  base::Error open_network(const Options& options);
  base::Error open_one(const Candidate& candidate, const Options& options);
  base::Error publish();
  /// Fails (other) for networks that cannot be entered again.
  [[nodiscard]] base::Error may_return() const;
  // networks_rails.cc
  base::Result<std::vector<RailPlan>> planned_rails(const Options& options) const;
  bool open_rails(std::span<const RailPlan> plans, const Options& options);
  base::Error add_rail(const RailPlan& plan, std::size_t most_addresses, const Options& options);
  base::Error add_tcp_rail(const RailPlan& plan, std::size_t most_addresses,
                           const Options& options);
  base::Error add_verbs_rail(const RailPlan& plan, std::size_t most_addresses,
                             const Options& options);
  base::Error add_ofi_rail(const RailPlan& plan);
  static base::Result<std::vector<std::byte>> find_any(void* self, std::uint32_t rank);

  base::Error open_tcp(const Options& options);
  base::Error open_verbs(const Options& options);
  base::Error open_ofi(const std::string& wish);
  /// What does not depend on who owns the provider.
  fabric::tcp::Connector::Config connector_config(const Options& options);
  [[nodiscard]] fabric::verbs::Config verbs_config(const Options& options) const;
  [[nodiscard]] fabric::ofi::Config ofi_config() const;
  /// The network that is in use between nodes; nullptr: none.
  [[nodiscard]] const char* network() const noexcept;
  static base::Result<std::vector<std::byte>> find(void* self, std::uint32_t rank);
  static void left(void* self, std::uint32_t rank);
  static void lost(void* self, std::uint32_t rank, const base::Error& why);
  static void report(void* self, const char* line);

  Job& job_;
  FailureMonitor& failures_;
  device::Device* device_ = nullptr;  ///< that is served
  std::unique_ptr<fabric::Shm> shm_;
  /// Where shared memory, or memory that verbs writes to, is given to a design of the study.
  std::optional<channel::DesignPlan> design_;
  std::optional<channel::DesignPlan> verbs_design_;
  std::unique_ptr<fabric::StudiedShm> studied_;
  std::unique_ptr<device::DesignLook> look_;
  std::unique_ptr<channel::Lender> lender_;
  std::unique_ptr<fabric::Bundle> bundle_;
  std::unique_ptr<fabric::Tcp> tcp_;
  std::unique_ptr<fabric::Verbs> verbs_;
  std::unique_ptr<fabric::Studied<fabric::Verbs>> studied_verbs_;
  std::unique_ptr<fabric::Ofi> ofi_;
  bool parted_ = false;
};

/// Adds a text to `complaints` for each name in FULMAR_FABRIC that is no network of any build.
void complain_of_unknown_networks(const Options& options, std::vector<std::string>& complaints);

}  // namespace fulmar::runtime
