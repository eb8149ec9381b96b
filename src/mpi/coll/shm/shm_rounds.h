// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>

#include "mpi/coll/check/count_check.h"
#include "mpi/coll/shm/shm_coll.h"

/// Calls on a collective area, cut where they may have to wait.
///
/// A blocking call runs from end to end and waits in the area. A non-blocking one must leave at
/// each place where it would wait, and go on there when the others have posted. Both run the same
/// code: a call is an object that has some rounds, and for each round
///
///     std::size_t posted_bytes(Count round)  bytes of the payload that it posts; 0: none
///     void post(Count round)         begins the round; not called after an error
///     Awaited take(Count round)      takes what has arrived, and returns what is missing; called
///                                    again when that is there. Nothing missing: the round is over
///
/// and, around them,
///
///     bool ready()                   whether all that `take` of the only round needs was posted
///                                    before this rank has posted: the call can be made at once
///     base::Error finish()           after the last round: what is left to do, and the result
///
///     static AreaNeeds needs(const Comm&, const Call&)    see `area_for`
///
/// `run_rounds` is the blocking driver, ShmTask (shm_task.h) the other one.
///
/// An error does not end a call where other ranks depend on this one's rounds: `stop`, `follow` and
/// `follow_longest` determine how many it still posts, and together with which member. Ranks whose
/// lengths differ have different numbers of rounds; those that wait for others adopt the number of
/// a rank that does not wait. So all are in step afterwards, except in gather and reduce where the
/// lengths of two ranks differ that are not the root: neither reads the other's length
/// (FULMAR_CHECK=collectives detects it).
namespace fulmar::mpi {

/// What a call waits for in a round.
struct Awaited {
  enum class What : std::uint8_t {
    nothing,
    members,  ///< until members `first` to `last` - 1 have posted the round
    chunks,   ///< until `last` chunks of shared work are finished
  };
  What what = What::nothing;
  int first = 0;
  int last = 0;

  [[nodiscard]] bool is_nothing() const noexcept { return what == What::nothing; }
  [[nodiscard]] static constexpr Awaited members(int first, int last) noexcept {
    return {What::members, first, last};
  }
  [[nodiscard]] static constexpr Awaited member(int member) noexcept {
    return members(member, member + 1);
  }
  [[nodiscard]] static constexpr Awaited chunks(int number) noexcept {
    return {What::chunks, 0, number};
  }
};

/// Whether a call is one in which ranks that have other lengths may reach into each other's memory
/// (memory_offers.h): a blocking one.
enum class Reads : std::uint8_t { never, maybe };

/// What all such calls have in common.
class ShmRounds {
 public:
  ShmRounds(const ShmRounds&) = delete;
  ShmRounds& operator=(const ShmRounds&) = delete;

  /// Whether each rank knows the lengths of the data of all others.
  static constexpr bool knows_lengths = true;

  [[nodiscard]] Count rounds() const noexcept { return rounds_; }
  [[nodiscard]] device::ShmCollArea& area() const noexcept { return area_; }
  [[nodiscard]] const Comm& comm() const noexcept { return comm_; }
  /// The call posts empty rounds, only for the other ranks.
  [[nodiscard]] bool after_error() const noexcept { return after_error_; }

 protected:
  ShmRounds(device::ShmCollArea& area, const Comm& comm) noexcept : area_(area), comm_(comm) {}

  /// One round at least, also of a call without data.
  void set_rounds(const Pieces& pieces) noexcept { rounds_ = std::max<Count>(pieces.count(), 1); }
  void set_one_round() noexcept { rounds_ = 1; }
  void set_number_of_rounds(Count rounds) noexcept { rounds_ = rounds; }

  [[nodiscard]] const base::Error& error() const noexcept { return error_; }
  /// The first one is the result.
  void note(const base::Error& error) {
    if (error_.ok()) error_ = error;
  }
  /// The result of the call so far; also when payloads were left out because a member has failed.
  [[nodiscard]] base::Error result(const base::Error& other = {}) const {
    return result_on(area_, comm_, error_.failed() ? error_ : other);
  }

  /// After an error: this round is the last one.
  Awaited stop(Count round) noexcept {
    after_error_ = true;
    followed_ = 0;
    rounds_ = round + 1;
    return {};
  }
  /// After an error: `more` rounds are posted together with a member.
  Awaited follow(Count round, int member, Count more) noexcept {
    after_error_ = true;
    followed_ = bit(member);
    rounds_ = round + 1 + std::max<Count>(more, 0);
    return {};
  }
  /// After an error in the first round of a rank that waits for all others: as many rounds as the
  /// longest of theirs are posted. `rounds_of(std::uint32_t bytes)` are the rounds of a member
  /// with that many bytes. To be called again when what is missing is there.
  template <class RoundsOf>
  Awaited follow_longest(const RoundsOf& rounds_of) noexcept {
    after_error_ = true;
    if (!is_staged(area_)) return stop(0);  // there is one round at most
    if (const Awaited missing = all_members(); !missing.is_nothing()) return missing;
    int longest = 0;
    Count rounds = 0;
    for (int member = 0; member < area_.size(); ++member) {
      const Count own = rounds_of(area_.whole_bytes_of(member));
      if (member == area_.self() || own <= rounds) continue;
      longest = member;
      rounds = own;
    }
    return follow(0, longest, rounds - 1);
  }
  /// The part of `take` after an error, in later rounds.
  Awaited take_after_error() noexcept {
    for (int member = 0; member < area_.size(); ++member) {
      if ((followed_ & bit(member)) != 0 && !area_.arrived(member)) return Awaited::member(member);
    }
    return {};
  }
  /// What is missing until every member has posted.
  [[nodiscard]] Awaited all_members() noexcept {
    return area_.all_arrived() ? Awaited{} : Awaited::members(0, area_.size());
  }
  /// Whether all others below `last` have posted the next round, with `bytes` as their length.
  [[nodiscard]] bool all_next_have_length(Count bytes, int last) const noexcept {
    for (int member = 0; member < last; ++member) {
      if (member == area_.self()) continue;
      if (!area_.next_has_length(member, static_cast<std::uint64_t>(bytes))) return false;
    }
    return true;
  }

 private:
  static_assert(device::ShmCollArea::max_members <= 64);
  [[nodiscard]] static constexpr std::uint64_t bit(int member) noexcept {
    return std::uint64_t{1} << member;
  }

  device::ShmCollArea& area_;
  const Comm& comm_;
  Count rounds_ = 1;
  bool after_error_ = false;    ///< empty rounds are posted for others
  std::uint64_t followed_ = 0;  ///< bits: members
  base::Error error_;
};

/// The collective area of the communicator, if it has one and the call takes it; else null:
/// messages. Depends only on values that are the same in all ranks.
template <class Rounds, class Call>
[[nodiscard]] device::ShmCollArea* area_for(const Comm& comm, const Call& call) noexcept {
  if constexpr (!Rounds::knows_lengths) {
    if (compares_counts(comm)) return nullptr;  // which is done by messages
  }
  return shm_area_for(comm, Rounds::needs(comm, call));
}

/// Blocking, from a round on.
template <class Rounds>
base::Error run_rounds(Rounds& call, Count first = 0) {
  device::ShmCollArea& area = call.area();
  for (Count round = first; round < call.rounds(); ++round) {
    if (call.after_error()) [[unlikely]] {
      area.post();
    } else {
      call.post(round);
    }
    for (Awaited missing = call.take(round); !missing.is_nothing(); missing = call.take(round)) {
      const bool there = missing.what == Awaited::What::members
                             ? area.wait_members(missing.first, missing.last)
                             : area.wait_finished(missing.last);
      if (!there) [[unlikely]]
        return failure_of(call.comm());
    }
  }
  return call.finish();
}

}  // namespace fulmar::mpi
