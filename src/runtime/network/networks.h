// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "device/peer/drain.h"
#include "fabric/network.h"
#include "fabric/shm/shm.h"
#include "runtime/failures.h"
#include "runtime/job/job.h"
#include "runtime/network/network_factory.h"
#include "runtime/options/options.h"
#include "study/design.h"

namespace fulmar::runtime {

class HostNetwork;

/// How a process reaches its peers: the ranks of its node through shared memory, all others, or all
/// where shared memory is not to be used, over a network. That is opened only where a peer needs
/// it.
///
/// Of tcp, verbs and ofi one is used, which has to be the same in the whole job: the first that
/// FULMAR_FABRIC names and that can be opened. The default is tcp, but ofi on a host
/// with a network that libfabric supports; verbs has to be requested so far (decision 0013).
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
  ~Networks();

  /// Opens the networks that the job needs, and publishes the addresses: collective over the job.
  /// Fails (other) with a text where no network of FULMAR_FABRIC reaches some ranks, or a network
  /// cannot be opened.
  [[nodiscard]] base::Error open(const Options& options);
  /// Lets the device use them.
  [[nodiscard]] base::Error serve(device::Device& device);
  /// Waits until every peer has received all packets, or is gone; closes the networks. `how` is
  /// announced to the peers.
  void part(device::Device& device, fabric::Leaving how);
  /// After `part`, by a process that never resumes: notifies peers that wait for it to come back.
  void close() noexcept;
  /// Networks were in use and have been closed: no message reaches the other nodes.
  [[nodiscard]] bool quiesced() const noexcept { return quiesced_; }
  /// After `part`: opens them again, at the addresses that the others know. Not collective: ranks
  /// find each other when both have come back, or never left. Fails (other) for networks that
  /// cannot be entered again; the text says which can.
  [[nodiscard]] base::Error resume(device::Device& device);

  // A checkpoint: networks that carry nothing go, and others take their place. Collective over the job.

  /// Whether a design of the study carries messages, which cannot be taken away.
  [[nodiscard]] bool has_design() const noexcept { return shm_design_ || design_ != nullptr; }
  /// `begin_removal`, then `poll_removal` until it is true in all processes of the job, then `remove`, after
  /// which this process has no connection, no registered memory and no adapter open. Requires that nothing
  /// is under way between processes, and that no process of another job was met.
  void begin_removal();
  [[nodiscard]] bool poll_removal(device::Device& device);
  void remove(device::Device& device, device::Drain& drain);
  /// Opens what the job needs, as `open` does, and lets the device use it. Shared memory is the one that
  /// was there, perhaps with other processes behind it.
  [[nodiscard]] base::Error reopen(const Options& options, device::Device& device);

  /// The address of this process for other jobs. A job that has no network opens one, chosen as
  /// at the start, tcp where FULMAR_FABRIC names none. Not collective. Fails
  /// (other) as the network does.
  [[nodiscard]] base::Result<std::vector<std::byte>> address_for_other_jobs(const Options& options,
                                                                            device::Device& device);
  /// Adds the address of a process of another job. Requires an open network. Fails (other) where
  /// that does not support such addresses.
  [[nodiscard]] base::Error add_address(const wire::ProcessName& process,
                                        std::span<const std::byte> address);
  /// Whether the address of such a process was added, and not forgotten.
  [[nodiscard]] bool knows(const wire::ProcessName& process) const {
    return foreign_addresses_.contains(process);
  }
  void forget(const wire::ProcessName& process) { foreign_addresses_.erase(process); }

  /// Those with which the network has exchanged something, and of which it keeps something.
  [[nodiscard]] std::vector<std::uint32_t> peers_of_other_jobs() const;
  /// The connection to such a process is not needed any more.
  void disconnect(std::uint32_t peer) { network_->disconnect(peer); }
  /// Nothing is needed of such a process any more, its address included. False: something is kept.
  [[nodiscard]] bool forget(std::uint32_t peer);

  /// Whether processes of other jobs may be reached through memory: the ranks of this job are
  /// (FULMAR_FABRIC), by the usual channel.
  [[nodiscard]] bool may_share_host() const noexcept {
    return shm_ != nullptr && !shm_design_ && design_ == nullptr;
  }
  /// The network, once it is one with such memory; null before.
  [[nodiscard]] HostNetwork* host_network() const noexcept { return host_network_; }
  /// Makes it that. Requires an open network. Fails (other) where the system has no descriptor left.
  [[nodiscard]] base::Result<HostNetwork*> use_host_network(device::Device& device);
  /// Looks for such processes that have died.
  void look();

  /// Which provider carries messages to a rank; nullptr: none is needed, it is this process.
  [[nodiscard]] const char* provider_of(std::uint32_t rank) const noexcept;
  /// Why that one, as text.
  [[nodiscard]] std::string reason_of(std::uint32_t rank) const;

 private:
  base::Error open_shm(const Options& options);
  base::Error open_network(NetworkFactory& factory, const Options& options);
  base::Error publish();
  /// Gives shared memory to a design of the study (FULMAR_CHANNEL).
  base::Error serve_design(device::Device& device);
  [[nodiscard]] NetworkOwner as_owner() noexcept;
  /// The network that is in use between nodes; "": none.
  [[nodiscard]] const char* network_name() const noexcept;
  base::Result<std::vector<std::byte>> find(std::uint32_t peer, Job::Patience patience) const;
  base::Result<std::vector<std::byte>> find_foreign(std::uint32_t peer) const;
  static void left(void* self, std::uint32_t rank);
  static void lost(void* self, std::uint32_t rank, const base::Error& why);
  static void report(void* self, const char* line);

  Job& job_;
  FailureMonitor& failures_;
  device::Device* device_ = nullptr;  ///< that is served
  std::unique_ptr<fabric::Shm> shm_;
  std::unique_ptr<fabric::Network> network_;
  /// The design that uses the shared memory instead of the channel of the device.
  std::optional<study::DesignPlan> shm_design_;
  study::DesignNetwork* design_ = nullptr;  ///< the network, or a part of it
  HostNetwork* host_network_ = nullptr;     ///< is network_
  bool quiesced_ = false;
  bool being_removed_ = false;
  /// Of processes of other jobs.
  std::map<wire::ProcessName, std::vector<std::byte>> foreign_addresses_;
};

/// Adds a text to `complaints` for each name in FULMAR_FABRIC that is no network of any build.
void complain_of_unknown_networks(const Options& options, std::vector<std::string>& complaints);

}  // namespace fulmar::runtime
