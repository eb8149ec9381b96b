// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "fabric/network.h"
#include "runtime/job/job.h"
#include "runtime/network/rail_choice.h"
#include "runtime/options/options.h"

namespace fulmar::study {
class DesignNetwork;
}  // namespace fulmar::study

namespace fulmar::runtime {

/// The owner of a network, with its callbacks. All are called from within members of the
/// network, under the lock of the library.
struct NetworkOwner {
  void* owner = nullptr;
  /// The address of a peer; waits until the peer has published it. Fails (other).
  base::Result<std::vector<std::byte>> (*find)(void* owner, std::uint32_t peer) = nullptr;
  /// The same without waiting: empty where it is not known yet.
  base::Result<std::vector<std::byte>> (*find_now)(void* owner, std::uint32_t peer) = nullptr;
  /// The same for networks that are used together: of any network that the peer uses.
  base::Result<std::vector<std::byte>> (*find_any)(void* owner, std::uint32_t peer) = nullptr;
  /// A peer cannot be reached any more, or ever; the text names it, its address and the cause.
  void (*lost)(void* owner, std::uint32_t peer, const base::Error& why) = nullptr;
  /// A peer has finalized MPI.
  void (*left)(void* owner, std::uint32_t peer) = nullptr;
  /// A line for the user.
  void (*report)(void* owner, const char* line) = nullptr;
};

/// A network between hosts to be tried: its name, and for ofi the provider of libfabric.
struct NetworkPlan {
  std::string_view name;
  std::string wish;
};

/// Opens networks according to the options. The only place that knows all networks.
class NetworkFactory {
 public:
  /// All of it outlives what is opened.
  NetworkFactory(const Job& job, const Options& options, const NetworkOwner& owner) noexcept
      : job_(job), options_(options), owner_(owner) {}

  /// The networks to try, in this order. Empty: FULMAR_FABRIC names none.
  [[nodiscard]] std::vector<NetworkPlan> plans() const;
  /// Fails as the networks do (other, arg, no_mem), with a text for the user.
  [[nodiscard]] base::Result<std::unique_ptr<fabric::Network>> open(const NetworkPlan& plan);
  /// The design of the study that the network opened last carries (FULMAR_CHANNEL); null: none.
  [[nodiscard]] study::DesignNetwork* design() const noexcept { return design_; }

  /// The networks to be used together; fewer than two: no rails. Fails (arg) where
  /// FULMAR_RAILS is invalid.
  [[nodiscard]] base::Result<std::vector<RailPlan>> rail_plans() const;
  /// Opens what can be opened of them as one network. Null if that is no more than one.
  [[nodiscard]] std::unique_ptr<fabric::Network> open_rails(std::span<const RailPlan> plans);

 private:
  [[nodiscard]] base::Result<std::unique_ptr<fabric::Network>> open_tcp();
  [[nodiscard]] base::Result<std::unique_ptr<fabric::Network>> open_verbs();
  [[nodiscard]] base::Result<std::unique_ptr<fabric::Network>> open_ofi(const std::string& wish);

  const Job& job_;
  const Options& options_;
  NetworkOwner owner_;
  study::DesignNetwork* design_ = nullptr;
};

/// The name of the network of an address; for an address of several networks "rails".
[[nodiscard]] const char* network_of(std::span<const std::byte> address);

}  // namespace fulmar::runtime
