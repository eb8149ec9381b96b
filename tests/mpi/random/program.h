// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "messages.h"
#include "movement.h"
#include "neighbours.h"
#include "overlap.h"
#include "places_make.h"
#include "reduction.h"

namespace generated {

/// One generated program: some ten steps on a growing family of communicators. All ranks draw the
/// same steps; operations stay open over several of them.
class Program {
 public:
  Program(std::uint64_t seed, MPI_Comm world, int self)
      : dice_(seed), own_(mix({seed, at(self), 1})), forest_(world, self, seed) {}

  void run() {
    const int steps = dice_.between(15, 40);
    for (int i = 0; i < steps; ++i) step();
    finish_some(0);
    while (!kept_.empty()) drop_kept();
    forest_.cut_all();
  }

 private:
  using Call = std::unique_ptr<Operation>;

  void step() {
    const int what = dice_.below(100);
    if (what < 22) {
      if (forest_.count() < 9) forest_.grow(dice_);
    } else if (what < 27) {
      forest_.cut(dice_);
    } else if (what < 45) {
      start_burst();
    } else if (what < 50) {
      Place& place = forest_.any(dice_);
      if (!has_burst(place)) shift(place, types_, dice_, own_);
    } else if (what < 54) {
      Place& place = forest_.any(dice_);
      if (!has_burst(place)) Overlap(place, dice_, own_).run();
    } else if (what < 65) {
      start(Form::blocking);
    } else if (what < 78) {
      start(Form::nonblocking);
    } else if (what < 84) {
      keep();
    } else if (what < 91) {
      start_kept();
    } else {
      finish_some(dice_.below(4));
    }
    if (length(open_) > 8) finish_some(2);
  }

  [[nodiscard]] bool has_burst(const Place& place) const {
    return std::any_of(bursts_.begin(), bursts_.end(),
                       [&](const auto& burst) { return &burst->place() == &place; });
  }
  void start_burst() {
    Place& place = forest_.any(dice_);
    const std::uint64_t seed = dice_.any();
    const int tags = 10 + dice_.below(30000);
    const bool stays = dice_.chance(50);
    // Wildcards would take messages of another one.
    if (has_burst(place)) return;
    bursts_.push_back(std::make_unique<Burst>(place, types_, seed, tags, own_));
    bursts_.back()->start();
    if (stays) return;
    bursts_.back()->finish();
    bursts_.pop_back();
  }

  Call any_call() {
    const std::uint64_t type_seed = dice_.any();
    const int what = dice_.below(10);
    if (what < 2) {
      Place* place = forest_.any(dice_, [](const Place& each) { return each.has_edges; });
      if (place != nullptr) return std::make_unique<Neighbourhood>(*place, types_, dice_, own_);
    }
    Place& place = forest_.any(dice_);
    if (what < 6) return std::make_unique<RootedOrAll>(place, types_, dice_, own_);
    return std::make_unique<Reduction>(place, types_, ops_, dice_, type_seed);
  }

  void start(Form form) {
    Call call = any_call();
    call->prepare(dice_.any());
    if (call->mine()) good(call->call(form));
    if (form == Form::blocking) {
      call->check();
    } else {
      open_.push_back(call.get());
      owned_.push_back(std::move(call));
    }
  }

  /// A persistent call, to be started later.
  void keep() {
    if (length(kept_) >= 4) return drop_kept();
    Call call = any_call();
    call->prepare(0);
    if (call->mine()) good(call->call(Form::persistent));
    kept_.push_back(std::move(call));
  }
  void start_kept() {
    if (kept_.empty()) return;
    Operation* call = kept_[at(dice_.below(length(kept_)))].get();
    const std::uint64_t seed = dice_.any();
    if (std::find(open_.begin(), open_.end(), call) != open_.end()) return;
    call->prepare(seed);
    if (call->mine()) good(MPI_Start(&call->request));
    open_.push_back(call);
  }
  void drop_kept() {
    const auto gone = kept_.begin();
    if (std::find(open_.begin(), open_.end(), gone->get()) != open_.end()) finish_some(0);
    if ((*gone)->mine()) good(MPI_Request_free(&(*gone)->request));
    kept_.erase(gone);
  }

  /// Completes the oldest open operations, all but `left` of each kind.
  void finish_some(int left) {
    std::vector<Operation*> over;
    while (length(open_) > left) {
      over.push_back(open_.front());
      open_.erase(open_.begin());
    }
    std::vector<MPI_Request> requests;
    for (const Operation* call : over) requests.push_back(call->request);
    std::vector<MPI_Status> statuses;
    complete(requests, statuses, own_);
    for (std::size_t i = 0; i < over.size(); ++i) {
      over[i]->request = requests[i];
      over[i]->check();
      std::erase_if(owned_, [&](const Call& call) { return call.get() == over[i]; });
    }
    while (length(bursts_) > left) {
      bursts_.front()->finish();
      bursts_.erase(bursts_.begin());
    }
  }

  Dice dice_;  ///< the same in all ranks
  Dice own_;
  Types types_;
  Ops ops_;
  Forest forest_;
  std::vector<Call> owned_;       ///< non-blocking ones that are open
  std::vector<Call> kept_;        ///< persistent ones
  std::vector<Operation*> open_;  ///< what is to be completed
  std::vector<std::unique_ptr<Burst>> bursts_;
};

/// Runs `count` programs from `first` on; each thread its own ones, at the same time.
inline void run_programs(std::uint64_t first, std::uint64_t count, int thread, MPI_Comm world) {
  int self = 0;
  good(MPI_Comm_rank(world, &self));
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    current_seed() = seed;
    latest_seed() = seed;
    Program program(mix({seed, at(thread)}), world, self);
    program.run();
  }
}

}  // namespace generated
