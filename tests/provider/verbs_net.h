// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fabric/verbs/messages.h"
#include "fabric/verbs/oob_connector.h"
#include "fabric/verbs/verbs.h"
#include "provider/tcp_net.h"
#include "provider/verbs_standin.h"

/// Ranks of one process over stand-ins for adapters. With a factory of its own the same net runs
/// over real ones.
namespace fulmar::fabric {

/// `size` ranks; a lost peer is noted in `losses(rank)`.
struct VerbsNet {
  struct Loss {
    std::uint32_t peer;
    std::string text;
  };
  struct Rank {
    VerbsNet* net = nullptr;
    std::unique_ptr<Verbs> verbs;
    VerbsStandIn* adapter = nullptr;  ///< if it is one
    std::deque<verbs::OobConnector::Event> introductions;
    std::vector<Loss> losses;
    std::vector<std::string> lines;
    std::vector<std::uint32_t> asked;  ///< whose address was looked up
    std::vector<std::uint32_t> left;
    bool is_away = false;    ///< it has left, and is not back
    bool has_ended = false;  ///< connections to it are refused
    bool computes = false;   ///< it does not poll meanwhile
  };
  using Factory = std::function<std::unique_ptr<verbs::Adapter>(std::uint32_t)>;

  VerbsWires wires;
  std::vector<std::unique_ptr<Rank>> ranks;
  std::vector<std::vector<std::byte>> addresses;
  std::set<std::pair<std::uint32_t, std::uint32_t>>
      introduced;  ///< pairs that are connected out of band
  bool unreachable = false;

  explicit VerbsNet(std::uint32_t size, const VerbsHabits& habits = {}, const Factory& make = {})
      : wires(habits) {
    for (std::uint32_t self = 0; self < size; ++self) {
      ranks.push_back(std::make_unique<Rank>());
      ranks.back()->net = this;
      std::unique_ptr<verbs::Adapter> adapter;
      if (make) {
        adapter = make(self);
      } else {
        auto stand_in = std::make_unique<VerbsStandIn>(wires, self);
        stand_in->open_events();
        ranks.back()->adapter = stand_in.get();
        adapter = std::move(stand_in);
      }
      auto opened = Verbs::open_over(config(self, size), std::move(adapter),
                                     std::make_unique<Meeting>(*this, self));
      if (opened.failed()) std::abort();
      ranks.back()->verbs = std::move(*opened);
      addresses.push_back(*ranks.back()->verbs->address());
    }
  }
  ~VerbsNet() {
    for (const auto& rank : ranks) {
      if (rank->adapter != nullptr && rank->verbs != nullptr) rank->adapter->close_events();
    }
  }
  VerbsNet(const VerbsNet&) = delete;
  VerbsNet& operator=(const VerbsNet&) = delete;

  Verbs& operator[](std::size_t rank) { return *ranks[rank]->verbs; }
  /// One poll of each rank that is alive and does not compute.
  template <class Sinks>
  void poll_all(Sinks& sinks) {
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      if (ranks[rank]->verbs != nullptr && !ranks[rank]->computes) (*this)[rank].poll(sinks[rank]);
    }
  }
  std::vector<Loss>& losses(std::size_t rank) { return ranks[rank]->losses; }
  /// Ends a rank without a word.
  void kill(std::size_t rank) {
    if (ranks[rank]->adapter != nullptr) ranks[rank]->adapter->close_events();
    ranks[rank]->verbs.reset();
  }

  static constexpr std::uint32_t job = 7;

  verbs::Config config(std::uint32_t self, std::uint32_t size) {
    verbs::Config config;
    config.processes = one_job({job, self}, size);
    config.completion_queues = wires.habits.completion_queues;
    config.rings = self == wires.habits.ringless ? 0 : wires.habits.rings;
    config.owner = ranks[self].get();
    config.find = [](void* owner, std::uint32_t peer) -> base::Result<std::vector<std::byte>> {
      auto& rank = *static_cast<Rank*>(owner);
      rank.asked.push_back(peer);
      return rank.net->addresses[peer];
    };
    config.lost = [](void* owner, std::uint32_t peer, const base::Error& why) {
      static_cast<Rank*>(owner)->losses.push_back({peer, why.text()});
    };
    if (wires.habits.come_back) {
      config.left = [](void* owner, std::uint32_t peer) {
        static_cast<Rank*>(owner)->left.push_back(peer);
      };
    }
    config.patience_ns = wires.habits.patience_ns;
    config.report = [](void* owner, const char* line) {
      static_cast<Rank*>(owner)->lines.emplace_back(line);
    };
    return config;
  }

  /// Connects by pairs of sockets, whoever asks first.
  class Meeting final : public verbs::OobConnector {
   public:
    Meeting(VerbsNet& net, std::uint32_t self) : net_(net), self_(self) {}
    [[nodiscard]] std::vector<std::byte> address() const override {
      return {std::byte{1}, static_cast<std::byte>(self_)};
    }
    void connect(std::uint32_t peer, std::span<const std::byte> address) override {
      if (address.size() != 2 || address[1] != static_cast<std::byte>(peer)) std::abort();
      if (net_.unreachable || net_.ranks[peer]->has_ended) {
        const auto kind =
            net_.unreachable ? base::ErrorClass::other : base::ErrorClass::proc_aborted;
        const auto why = base::failure(kind, "rank %u cannot be reached", peer);
        net_.ranks[self_]->introductions.push_back({peer, -1, why});
      } else if (!net_.introduced.contains({self_, peer})) {
        wishes_.insert(peer);
      }
    }
    void forget(std::uint32_t peer) noexcept override { net_.introduced.erase({self_, peer}); }
    void forget_all() noexcept override {
      std::erase_if(net_.introduced, [&](const auto& two) { return two.first == self_; });
    }
    void step(std::vector<Event>& events) override {
      std::erase_if(wishes_, [&](std::uint32_t peer) {
        return net_.introduced.contains({self_, peer}) || introduce(peer);
      });
      auto& mine = net_.ranks[self_]->introductions;
      events.insert(events.end(), mine.begin(), mine.end());
      mine.clear();
    }
    [[nodiscard]] int descriptor() const noexcept override { return -1; }
    [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override {
      return net_.ranks[self_]->introductions.empty() && wishes_.empty() ? -1 : 0;
    }

   private:
    /// False: the peer is away, or still has the connection that was there before.
    bool introduce(std::uint32_t peer) {
      if (net_.ranks[peer]->is_away || net_.introduced.contains({peer, self_})) return false;
      const auto [mine, theirs] = net_.wires.habits.loopback ? loopback_sockets() : local_sockets();
      net_.introduced.insert({{self_, peer}, {peer, self_}});
      net_.ranks[self_]->introductions.push_back({peer, mine, {}});
      net_.ranks[peer]->introductions.push_back({self_, theirs, {}});
      return true;
    }

    VerbsNet& net_;
    std::uint32_t self_;
    std::set<std::uint32_t> wishes_;
  };
};

/// How often is polled before a test gives up.
inline constexpr unsigned verbs_patience = 300'000;

template <class Sinks, class Done>
bool poll_until(VerbsNet& net, Sinks& sinks, Done done) {
  for (unsigned i = 0; i < verbs_patience; ++i) {
    net.poll_all(sinks);
    if (done()) return true;
  }
  return false;
}

inline Post post(Verbs& from, std::uint32_t to, std::size_t bytes, int tag = 0) {
  return from.post(to, envelope(bytes, tag), pattern(bytes, static_cast<unsigned>(tag)));
}

/// Posts and polls until there is a connection and the packet is on the way.
template <class Sinks>
bool send(VerbsNet& net, Sinks& sinks, std::size_t from, std::uint32_t to, std::size_t bytes,
          int tag = 0) {
  return poll_until(net, sinks, [&] { return post(net[from], to, bytes, tag) == Post::done; });
}

}  // namespace fulmar::fabric
