// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "fabric/fake/fake.h"
#include "provider/ofi_net.h"
#include "provider/ofi_real.h"
#include "provider/verbs_net.h"
#include "provider/verbs_real.h"

/// Makers of pairs (remote_pair.h), of every provider that reads and writes peers' memory.
namespace fulmar::fabric {

struct VerbsPair {
  using Provider = Verbs;
  static constexpr const char* name = "Verbs";
  VerbsNet net;
  explicit VerbsPair(const VerbsHabits& habits = {}) : net(2, habits) {}
  static std::string lacking() { return {}; }
  [[nodiscard]] Verbs* at(unsigned rank) const { return net.ranks[rank]->verbs.get(); }
  void kill(unsigned rank) { net.kill(rank); }
  [[nodiscard]] bool has_lost(unsigned rank) { return !net.losses(rank).empty(); }
};
/// Refuses, and does everything as late as it may.
struct ReluctantVerbsPair : VerbsPair {
  static constexpr const char* name = "ReluctantVerbs";
  ReluctantVerbsPair()
      : VerbsPair({.reluctance = 0.3, .lag = 0.7, .answer_lag = 0.7, .receive_depth = 4}) {}
};
/// Where there is an adapter.
struct RealVerbsPair {
  using Provider = Verbs;
  static constexpr const char* name = "RealVerbs";
  std::unique_ptr<VerbsNet> net = lacking().empty() ? real_verbs_net(2) : nullptr;
  static std::string lacking() { return lacking_adapter(); }
  [[nodiscard]] Verbs* at(unsigned rank) const { return net->ranks[rank]->verbs.get(); }
  void kill(unsigned rank) { net->kill(rank); }
  [[nodiscard]] bool has_lost(unsigned rank) { return !net->losses(rank).empty(); }
};

struct OfiPair {
  using Provider = Ofi;
  static constexpr bool has_connections = false;
  static constexpr const char* name = "Ofi";
  OfiNet net;
  explicit OfiPair(const OfiHabits& habits = {.keep_alive_interval_ns = 1}) : net(2, habits) {}
  static std::string lacking() { return {}; }
  [[nodiscard]] Ofi* at(unsigned rank) const { return net.ranks[rank]->ofi.get(); }
  void kill(unsigned rank) { net.kill(rank); }
  [[nodiscard]] bool has_lost(unsigned rank) { return !net.losses(rank).empty(); }
};
/// Messages overtake each other and the bytes of puts, and little is promised.
struct ReluctantOfiPair : OfiPair {
  static constexpr const char* name = "ReluctantOfi";
  ReluctantOfiPair()
      : OfiPair({.ordered = false,
                 .registers_memory = true,
                 .reluctance = 0.3,
                 .memory = {.asks_for_own = true, .names_by_place = false, .lag = 0.7},
                 .keep_alive_interval_ns = 1}) {}
};
/// libfabric's tcp;ofi_rxm.
struct RealOfiPair {
  using Provider = Ofi;
  static constexpr bool has_connections = false;
  static constexpr const char* name = "RealOfi";
  std::unique_ptr<RealOfi> net = lacking().empty() ? std::make_unique<RealOfi>(2) : nullptr;
  static std::string lacking() { return lacking_libfabric(); }
  [[nodiscard]] Ofi* at(unsigned rank) const { return net->ranks[rank].ofi.get(); }
  void kill(unsigned rank) { net->ranks[rank].ofi.reset(); }
  [[nodiscard]] bool has_lost(unsigned rank) { return !net->ranks[rank].losses.empty(); }
};

struct FakePair {
  using Provider = Fake;
  static constexpr const char* name = "Fake";
  FakeNetwork network{2};
  Fake ports[2] = {{network, 0}, {network, 1}};
  FakePair() { network.memory().turn_on(); }
  static std::string lacking() { return {}; }
  [[nodiscard]] Fake* at(unsigned rank) { return network.alive(rank) ? &ports[rank] : nullptr; }
  void kill(unsigned rank) { network.kill(rank); }
  [[nodiscard]] bool has_lost(unsigned rank) { return !ports[rank].alive(1 - rank); }
};
struct ReluctantFakePair : FakePair {
  static constexpr const char* name = "ReluctantFake";
  ReluctantFakePair() {
    network.set_reluctance(0.3);
    network.memory().set_room(3);
  }
};

struct MakerName {
  template <class Maker>
  static std::string GetName(int) {
    return Maker::name;
  }
};

using Makers = ::testing::Types<FakePair, ReluctantFakePair, VerbsPair, ReluctantVerbsPair,
                                RealVerbsPair, OfiPair, ReluctantOfiPair, RealOfiPair>;
/// Of providers that are WritesUnsignaled.
using PollableMakers =
    ::testing::Types<FakePair, ReluctantFakePair, VerbsPair, ReluctantVerbsPair, RealVerbsPair>;

}  // namespace fulmar::fabric
