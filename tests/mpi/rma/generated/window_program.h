// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "epoch_plan.h"
#include "target_memory.h"

// Generated one-sided programs with a sequential model as their oracle. Every rank draws the same program. In each
// epoch the memory of each target is cut into pieces, and each piece has a chain of operations that MPI orders: those
// of one origin that are ordered or flushed, reads of all, or accumulates of all with an operation that commutes. The
// chains of all pieces, targets and windows are mixed. What is fetched, and all memory after the epoch, must be what
// the model says.
namespace generated {

class WindowProgram {
 public:
  WindowProgram(std::uint64_t seed, MPI_Comm comm) : dice_(seed), comm_(comm) {
    MPI_Comm_rank(comm, &rank_);
    MPI_Comm_size(comm, &size_);
  }

  void run() {
    const int windows = dice_.chance(60) ? 1 : dice_.between(2, 3);
    for (int i = 0; i < windows; ++i) {
      windows_.push_back(std::make_unique<TargetMemory>(dice_, comm_, rank_, size_));
      windows_.back()->open(dice_);
    }
    const int epochs = dice_.between(2, 5);
    for (int i = 0; i < epochs; ++i) {
      if (dice_.chance(20)) windows_[at(dice_.below(windows))]->refill(dice_);
      run_epoch();
    }
    if (report().interrupted != nullptr) return;  // who sets that frees them
    for (const auto& window : windows_) window->close();
  }

 private:
  [[nodiscard]] bool is_passive(int window) const {
    return plans_[at(window)].sync != Sync::fence && plans_[at(window)].sync != Sync::pscw;
  }

  std::vector<int> some_ranks() {
    std::vector<int> ranks = dice_.order(size_);
    ranks.resize(at(dice_.between(1, size_)));
    return ranks;
  }

  EpochPlan plan() {
    EpochPlan plan{static_cast<Sync>(dice_.below(static_cast<int>(Sync::count))), false, {}, {}};
    if (plan.sync == Sync::pscw) {
      plan.origins = some_ranks();
      plan.targets = some_ranks();
    } else {
      plan.origins = dice_.order(size_);
      plan.targets = dice_.order(size_);
    }
    // A window that a rank locks in this way is not locked exclusively.
    plan.unchecked = (plan.sync == Sync::lock_all || plan.sync == Sync::locks) && dice_.chance(20);
    return plan;
  }

  void run_epoch() {
    plans_.clear();
    std::vector<Chain> chains;
    for (int window = 0; window < length(windows_); ++window) {
      plans_.push_back(plan());
      for (const int target : plans_.back().targets) cut(window, target, chains);
    }
    const std::vector<Step> steps = mixed(dice_, chains);
    for (int window = 0; window < length(windows_); ++window) begin(window);
    for (const Step& step : steps) {
      if (step.origin != rank_) continue;
      const bool locks = plans_[at(step.window)].sync == Sync::exclusive;
      const MPI_Win win = windows_[at(step.window)]->win;
      if (locks) good(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, step.target, 0, win));
      step.run();
      if (locks) finish_requests();
      if (locks) good(MPI_Win_unlock(step.target, win));
    }
    finish_requests();
    for (int window = 0; window < length(windows_); ++window) end(window);
    good(MPI_Barrier(comm_));
    for (const auto& window : windows_) window->check();
    for (const auto& check : checks_) check();
    checks_.clear();
    buffers_.clear();
    types_.clear();
    good(MPI_Barrier(comm_));
  }

  // --- epochs

  [[nodiscard]] MPI_Group group_of(const std::vector<int>& ranks) const {
    MPI_Group all = MPI_GROUP_NULL;
    MPI_Group some = MPI_GROUP_NULL;
    good(MPI_Comm_group(comm_, &all));
    good(MPI_Group_incl(all, length(ranks), ranks.data(), &some));
    good(MPI_Group_free(&all));
    return some;
  }

  void begin(int window) {
    const EpochPlan& plan = plans_[at(window)];
    const MPI_Win win = windows_[at(window)]->win;
    const int assertion = plan.unchecked ? int{MPI_MODE_NOCHECK} : 0;
    switch (plan.sync) {
      case Sync::fence:
        good(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
        break;
      case Sync::pscw: {
        MPI_Group origins = group_of(plan.origins);
        MPI_Group targets = group_of(plan.targets);
        int code = MPI_SUCCESS;
        if (has(plan.targets, rank_)) code = MPI_Win_post(origins, 0, win);
        if (has(plan.origins, rank_) && code == MPI_SUCCESS) code = MPI_Win_start(targets, 0, win);
        good(MPI_Group_free(&origins));
        good(MPI_Group_free(&targets));
        good(code);
        break;
      }
      case Sync::lock_all:
        good(MPI_Win_lock_all(assertion, win));
        break;
      case Sync::locks:
        for (int rank = 0; rank < size_; ++rank) {
          good(MPI_Win_lock(MPI_LOCK_SHARED, (rank + rank_) % size_, assertion, win));
        }
        break;
      case Sync::exclusive:
      case Sync::count:
        break;
    }
  }

  void end(int window) {
    const EpochPlan& plan = plans_[at(window)];
    const MPI_Win win = windows_[at(window)]->win;
    switch (plan.sync) {
      case Sync::fence:
        good(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
        break;
      case Sync::pscw:
        if (has(plan.origins, rank_)) good(MPI_Win_complete(win));
        if (has(plan.targets, rank_)) await_origins(win, window);
        break;
      case Sync::lock_all:
        good(MPI_Win_unlock_all(win));
        break;
      case Sync::locks:
        for (int rank = 0; rank < size_; ++rank) good(MPI_Win_unlock(rank, win));
        break;
      case Sync::exclusive:
      case Sync::count:
        break;
    }
  }

  static void await_origins(MPI_Win win, int window) {
    if (window % 2 == 0) return good(MPI_Win_wait(win));
    int flag = 0;
    while (flag == 0) good(MPI_Win_test(win, &flag));
  }

  void finish_requests() {
    std::vector<MPI_Status> statuses(requests_.size());
    good_each(MPI_Waitall(length(requests_), requests_.data(), statuses.data()), statuses.data(),
              length(requests_));
    requests_.clear();
  }

  // --- chains

  /// Cuts the memory of one target into pieces, each with a chain of its own.
  void cut(int window, int target, std::vector<Chain>& chains) {
    const int all = windows_[at(window)]->elements(target);
    for (int begin = 0; begin < all;) {
      const int most = std::min(all - begin, dice_.chance(70) ? 24 : 1500);
      const Piece piece{window, target, begin, dice_.between(1, most)};
      begin += piece.room;
      chains.emplace_back();
      fill(chains.back(), piece);
    }
    if (dice_.chance(15)) {
      chains.emplace_back();
      add_null_target(chains.back(), window);
    }
  }

  int any_origin(int window) {
    const std::vector<int>& origins = plans_[at(window)].origins;
    return origins[at(dice_.below(length(origins)))];
  }

  void fill(Chain& chain, const Piece& piece) {
    const int origin = any_origin(piece.window);
    const bool passive = is_passive(piece.window);
    switch (dice_.below(9)) {
      case 0:
        return add_put(chain, piece, origin);
      case 1:
        return add_get(chain, piece, origin);
      case 2:
        for (const int each : plans_[at(piece.window)].origins) {
          if (dice_.chance(50)) add_fetch(chain, piece, each, MPI_NO_OP);
        }
        return;
      case 3:
        for (int i = dice_.between(1, 4); i > 0; --i) add_accumulate(chain, piece, origin);
        return;
      case 4:
        return add_accumulates_of_all(chain, piece);
      case 5:
        return add_tickets(chain, piece);
      case 6:
        return add_swaps(chain, piece, origin);
      case 7:
        // Ordered by flushes, which only passive target epochs have.
        for (int i = passive ? dice_.between(1, 3) : 1; i > 0; --i) {
          dice_.chance(50) ? add_put(chain, piece, origin) : add_accumulate(chain, piece, origin);
          if (passive) add_flush(chain, piece, origin);
        }
        if (passive) add_get(chain, piece, origin);
        return;
      default:
        return;
    }
  }

  /// Some elements of a piece, in a type with gaps, and which ones they are.
  struct Chosen {
    Elements elements;
    std::vector<int> indices;
    MPI_Aint displacement;
  };

  Chosen choose(const Piece& piece) {
    TargetMemory& memory = *windows_[at(piece.window)];
    const std::int64_t room = std::int64_t{piece.room} * memory.kind.bytes;
    Chosen chosen{
        any_elements(dice_, types(), memory.kind, dice_.between(1, piece.room), room), {}, 0};
    const std::int64_t start = std::int64_t{piece.begin} * memory.kind.bytes;
    for (const std::int64_t place : chosen.elements.places()) {
      chosen.indices.push_back(static_cast<int>((start + place) / memory.kind.bytes));
    }
    chosen.displacement = memory.displacement(piece.target, start + chosen.elements.begin);
    return chosen;
  }

  /// Types live until the epoch is over, as long as what they are used for.
  Types& types() {
    if (types_.empty()) types_.push_back(std::make_unique<Types>());
    return *types_.front();
  }

  Values drawn(int count, Kind kind) {
    Values values;
    for (int i = 0; i < count; ++i) values.push_back(dice_.any() & mask_of(kind));
    return values;
  }
  Buffer& buffer(Kind kind, int count) {
    return *buffers_.emplace_back(std::make_unique<Buffer>(dice_, types(), kind, count));
  }
  Buffer& buffer_of(Kind kind, const Values& values) {
    Buffer& made = buffer(kind, length(values));
    made.fill(values);
    return made;
  }
  /// A buffer that must hold what the model has at these elements now.
  Buffer& buffer_for(const Piece& piece, int origin, const std::vector<int>& indices) {
    Values wanted;
    for (const int index : indices) {
      wanted.push_back(windows_[at(piece.window)]->model[at(piece.target)][at(index)]);
    }
    Buffer& made = buffer(windows_[at(piece.window)]->kind, length(wanted));
    if (origin == rank_) {
      checks_.push_back([&made, wanted] {
        if (made.values() != wanted) fail("what was fetched is not what the model says");
      });
    }
    return made;
  }
  void apply(const Piece& piece, MPI_Op op, const std::vector<int>& indices, const Values& values) {
    TargetMemory& memory = *windows_[at(piece.window)];
    for (std::size_t i = 0; i < indices.size(); ++i) {
      std::uint64_t& old = memory.model[at(piece.target)][at(indices[i])];
      old = reduce(op, old, values[i], memory.kind);
    }
  }
  MPI_Request* new_request() {
    requests_.push_back(MPI_REQUEST_NULL);
    return &requests_.back();
  }
  [[nodiscard]] bool with_request(const Piece& piece) {
    return dice_.chance(30) && is_passive(piece.window);
  }

  void add_put(Chain& chain, const Piece& piece, int origin) {
    const Chosen to = choose(piece);
    const Values values = drawn(to.elements.count(), windows_[at(piece.window)]->kind);
    Buffer& from = buffer_of(windows_[at(piece.window)]->kind, values);
    apply(piece, MPI_REPLACE, to.indices, values);
    const bool requests = with_request(piece);
    chain.push_back(
        {piece.window, origin, piece.target, [=, this, &from] {
           const MPI_Win win = windows_[at(piece.window)]->win;
           if (requests) {
             good(MPI_Rput(from.address(), from.items(), from.type(), piece.target, to.displacement,
                           to.elements.items, to.elements.type->handle, win, new_request()));
           } else {
             good(MPI_Put(from.address(), from.items(), from.type(), piece.target, to.displacement,
                          to.elements.items, to.elements.type->handle, win));
           }
         }});
  }

  void add_get(Chain& chain, const Piece& piece, int origin) {
    const Chosen from = choose(piece);
    Buffer& to = buffer_for(piece, origin, from.indices);
    const bool requests = with_request(piece);
    chain.push_back(
        {piece.window, origin, piece.target, [=, this, &to] {
           const MPI_Win win = windows_[at(piece.window)]->win;
           if (requests) {
             good(MPI_Rget(to.address(), to.items(), to.type(), piece.target, from.displacement,
                           from.elements.items, from.elements.type->handle, win, new_request()));
           } else {
             good(MPI_Get(to.address(), to.items(), to.type(), piece.target, from.displacement,
                          from.elements.items, from.elements.type->handle, win));
           }
         }});
  }

  void add_accumulate(Chain& chain, const Piece& piece, int origin) {
    const MPI_Op op = all_ops()[at(dice_.below(length(all_ops())))];
    if (dice_.chance(40)) return add_fetch(chain, piece, origin, dice_.chance(15) ? MPI_NO_OP : op);
    add_plain_accumulate(chain, piece, origin, op);
  }

  void add_plain_accumulate(Chain& chain, const Piece& piece, int origin, MPI_Op op) {
    const Chosen to = choose(piece);
    const Values values = drawn(to.elements.count(), windows_[at(piece.window)]->kind);
    Buffer& from = buffer_of(windows_[at(piece.window)]->kind, values);
    apply(piece, op, to.indices, values);
    const bool requests = with_request(piece);
    chain.push_back({piece.window, origin, piece.target, [=, this, &from] {
                       const MPI_Win win = windows_[at(piece.window)]->win;
                       if (requests) {
                         good(MPI_Raccumulate(from.address(), from.items(), from.type(),
                                              piece.target, to.displacement, to.elements.items,
                                              to.elements.type->handle, op, win, new_request()));
                       } else {
                         good(MPI_Accumulate(from.address(), from.items(), from.type(),
                                             piece.target, to.displacement, to.elements.items,
                                             to.elements.type->handle, op, win));
                       }
                     }});
  }

  void add_fetch(Chain& chain, const Piece& piece, int origin, MPI_Op op) {
    const Chosen place = choose(piece);
    const Kind kind = windows_[at(piece.window)]->kind;
    const Values values = drawn(place.elements.count(), kind);
    Buffer& from = buffer_of(kind, values);
    Buffer& to = buffer_for(piece, origin, place.indices);
    apply(piece, op, place.indices, values);
    const bool requests = with_request(piece);
    const bool nothing = op == MPI_NO_OP && dice_.chance(50);  // no origin at all
    chain.push_back(
        {piece.window, origin, piece.target, [=, this, &from, &to] {
           const MPI_Win win = windows_[at(piece.window)]->win;
           const void* address = nothing ? nullptr : from.address();
           const int items = nothing ? 0 : from.items();
           const MPI_Datatype type = nothing ? MPI_DATATYPE_NULL : from.type();
           if (requests) {
             good(MPI_Rget_accumulate(address, items, type, to.address(), to.items(), to.type(),
                                      piece.target, place.displacement, place.elements.items,
                                      place.elements.type->handle, op, win, new_request()));
           } else {
             good(MPI_Get_accumulate(address, items, type, to.address(), to.items(), to.type(),
                                     piece.target, place.displacement, place.elements.items,
                                     place.elements.type->handle, op, win));
           }
         }});
  }

  /// The same operation of all origins, some of them more than once, on different elements.
  void add_accumulates_of_all(Chain& chain, const Piece& piece) {
    const MPI_Op op = all_ops()[at(dice_.below(commuting_ops))];
    for (const int origin : plans_[at(piece.window)].origins) {
      for (int i = dice_.between(0, 2); i > 0; --i) add_plain_accumulate(chain, piece, origin, op);
    }
  }

  /// All origins add 1 to one element again and again: no two of them find the same value there.
  void add_tickets(Chain& chain, const Piece& piece) {
    TargetMemory& memory = *windows_[at(piece.window)];
    const MPI_Aint place =
        memory.displacement(piece.target, std::int64_t{piece.begin} * memory.kind.bytes);
    std::uint64_t& counter = memory.model[at(piece.target)][at(piece.begin)];
    const std::uint64_t base = counter;
    auto found = std::make_shared<std::vector<Buffer*>>();
    int all = 0;
    for (const int origin : plans_[at(piece.window)].origins) {
      for (int i = dice_.between(1, 5); i > 0; --i, ++all) {
        Buffer& one = buffer_of(memory.kind, {1});
        Buffer& old = buffer_of(memory.kind, {0});
        if (origin == rank_) found->push_back(&old);
        chain.push_back({piece.window, origin, piece.target, [=, this, &one, &old] {
                           good(MPI_Fetch_and_op(
                               one.first(), old.first(), windows_[at(piece.window)]->kind.type,
                               piece.target, place, MPI_SUM, windows_[at(piece.window)]->win));
                         }});
      }
    }
    counter = (base + at(all)) & mask_of(memory.kind);
    checks_.push_back([=, this, kind = memory.kind] { check_tickets(*found, base, all, kind); });
  }

  /// In all ranks.
  void check_tickets(const std::vector<Buffer*>& found, std::uint64_t base, int all,
                     Kind kind) const {
    std::vector<int> seen(at(all), 0);
    for (const Buffer* each : found) {
      const std::uint64_t ticket = (each->values().front() - base) & mask_of(kind);
      expect(ticket < at(all), "a ticket beyond the last one");
      ++seen[static_cast<std::size_t>(ticket)];
    }
    good(MPI_Allreduce(MPI_IN_PLACE, seen.data(), all, MPI_INT, MPI_SUM, comm_));
    const bool once = std::all_of(seen.begin(), seen.end(), [](int times) { return times == 1; });
    expect(once, "a ticket that was drawn twice");
  }

  /// Swaps that succeed and that do not.
  void add_swaps(Chain& chain, const Piece& piece, int origin) {
    TargetMemory& memory = *windows_[at(piece.window)];
    const MPI_Aint place =
        memory.displacement(piece.target, std::int64_t{piece.begin} * memory.kind.bytes);
    std::uint64_t& element = memory.model[at(piece.target)][at(piece.begin)];
    for (int i = dice_.between(1, 3); i > 0; --i) {
      const bool succeeds = dice_.chance(60);
      const std::uint64_t compare = (element + (succeeds ? 0 : 1)) & mask_of(memory.kind);
      const std::uint64_t value = dice_.any() & mask_of(memory.kind);
      Buffer& new_value = buffer_of(memory.kind, {value});
      Buffer& expected = buffer_of(memory.kind, {compare});
      Buffer& old = buffer_for(piece, origin, {piece.begin});
      if (succeeds) element = value;
      chain.push_back({piece.window, origin, piece.target, [=, this, &new_value, &expected, &old] {
                         good(MPI_Compare_and_swap(new_value.first(), expected.first(), old.first(),
                                                   windows_[at(piece.window)]->kind.type,
                                                   piece.target, place,
                                                   windows_[at(piece.window)]->win));
                       }});
    }
  }

  void add_flush(Chain& chain, const Piece& piece, int origin) {
    const int how = dice_.below(2);
    chain.push_back({piece.window, origin, piece.target, [=, this] {
                       const MPI_Win win = windows_[at(piece.window)]->win;
                       finish_requests();
                       good(how == 0 ? MPI_Win_flush(piece.target, win) : MPI_Win_flush_all(win));
                     }});
  }

  void add_null_target(Chain& chain, int window) {
    const int origin = any_origin(window);
    Buffer& data = buffer_of(windows_[at(window)]->kind, {1, 2, 3});
    if (plans_[at(window)].sync == Sync::exclusive) return;
    chain.push_back({window, origin, MPI_PROC_NULL, [=, this, &data] {
                       const MPI_Win win = windows_[at(window)]->win;
                       good(MPI_Put(data.address(), data.items(), data.type(), MPI_PROC_NULL, 0,
                                    data.items(), data.type(), win));
                       good(MPI_Get(data.address(), data.items(), data.type(), MPI_PROC_NULL, 0,
                                    data.items(), data.type(), win));
                     }});
  }

  Dice dice_;
  MPI_Comm comm_;
  int rank_ = 0;
  int size_ = 1;
  std::vector<std::unique_ptr<TargetMemory>> windows_;
  std::vector<EpochPlan> plans_;
  std::vector<std::unique_ptr<Types>> types_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::function<void()>> checks_;
  std::vector<MPI_Request> requests_;
};

}  // namespace generated
