// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/doctor/loops.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>

#include "base/clock.h"
#include "base/keyed_hash.h"
#include "fabric/process_table.h"
#include "fabric/tcp/connect/connector.h"
#include "fabric/tcp/connect/endpoint.h"

namespace fulmar::doctor {

namespace {

using fabric::tcp::Connector;
using fabric::tcp::LocalAddress;

/// The key of a job that lives for a moment.
bool make_secret(base::Key& key, std::string& problem) {
  const auto hash = base::KeyedHash::load();
  if (hash.failed()) {
    problem = hash.error().text();
    return false;
  }
  const bool made = hash.value().random(std::as_writable_bytes(std::span(key)));
  problem = made ? "" : "no random bytes";
  return made;
}

/// Two ranks at one address.
class Pair {
 public:
  Pair(const LocalAddress& local, const Connector::Config& common, const base::Key& key) {
    Connector::Config config = common;
    config.interfaces = fabric::tcp::text_of(local.address);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      config.processes = fabric::one_job({1, static_cast<std::uint32_t>(rank)}, 2, key);
      auto opened = Connector::open(config);
      if (opened.failed()) {
        end(opened.error().text());
        return;
      }
      ranks_[rank] = std::move(opened.value());
    }
    begin_ns_ = base::now_ns();
    ranks_[0]->connect(1, ranks_[1]->address(), 1);
  }

  [[nodiscard]] bool done() const noexcept { return done_; }
  [[nodiscard]] const Loop& result() const noexcept { return result_; }

  void add_descriptors(std::vector<pollfd>& list) const {
    for (const auto& rank : ranks_) {
      list.push_back({rank->descriptor(), POLLIN, 0});
    }
  }

  void step() {
    for (const auto& rank : ranks_) {
      std::vector<Connector::Event> events;
      rank->step(events);
      for (const Connector::Event& event : events) {
        if (event.kind == Connector::Event::Kind::failed) {
          end(event.error.text());
        } else {
          ::close(event.socket);
          ++connected_;
        }
      }
    }
    if (connected_ == ranks_.size() && !done_) {
      result_.ms = static_cast<double>(base::now_ns() - begin_ns_) / 1e6;
      end({});
    }
  }

  void end(const std::string& problem) {
    if (!done_) {
      result_.problem = problem;
    }
    done_ = true;
  }

 private:
  std::array<std::unique_ptr<Connector>, 2> ranks_;
  std::size_t connected_ = 0;
  std::uint64_t begin_ns_ = 0;
  Loop result_;
  bool done_ = false;
};

}  // namespace

std::vector<Loop> try_loops(std::span<const LocalAddress> addresses, std::uint64_t deadline_ns) {
  Connector::Config common;
  common.deadline_ns = deadline_ns;
  std::string problem;
  base::Key key;
  if (!make_secret(key, problem)) {
    return std::vector<Loop>(addresses.size(), Loop{0, problem});
  }
  const std::uint64_t end_ns = base::now_ns() + deadline_ns;
  std::vector<std::unique_ptr<Pair>> pairs;
  for (const LocalAddress& address : addresses) {
    pairs.push_back(std::make_unique<Pair>(address, common, key));
  }
  constexpr int look_ms = 10;  // timers of the connectors are due without a descriptor
  while (true) {
    std::vector<pollfd> waiting;
    for (const auto& pair : pairs) {
      if (!pair->done()) {
        pair->step();
      }
      if (!pair->done()) {
        pair->add_descriptors(waiting);
      }
    }
    if (waiting.empty()) {
      break;
    }
    if (base::now_ns() >= end_ns) {
      for (const auto& pair : pairs) {
        pair->end("no answer");
      }
      break;
    }
    ::poll(waiting.data(), waiting.size(), look_ms);
  }
  std::vector<Loop> results;
  for (const auto& pair : pairs) {
    results.push_back(pair->result());
  }
  return results;
}

}  // namespace fulmar::doctor
