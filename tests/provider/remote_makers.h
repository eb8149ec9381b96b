// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "fabric/fake/fake.h"
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

using Makers =
    ::testing::Types<FakePair, ReluctantFakePair, VerbsPair, ReluctantVerbsPair, RealVerbsPair>;

}  // namespace fulmar::fabric
