// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "mpi/recovery/rank_set.h"

/// Uniform agreement among processes that may die at any time.
///
/// The problem: all members contribute flags; all that live get the bitwise AND of the
/// contributions and the same set of failed members, also if members die meanwhile, and also if
/// some of those who die had the result already and have acted on it (uniformity). A rank sends
/// O(log n) messages.
///
/// The idea: one member, the coordinator, runs three waves over all. A wave goes down a tree and
/// its answers come back up, combined on the way:
///
///     collect   each member answers with its contribution
///     lock      each notes the value that the coordinator made of them
///     decide    each takes the value as the result
///
/// No member decides before every living member has noted the value. So when the coordinator dies,
/// the next one, which is the lowest living member, runs the waves again: its collection includes
/// any value that some member may have decided, and of several the newest counts. The rank of the
/// coordinator is the ballot number of these rounds: a member that has answered a higher one
/// ignores a lower.
///
/// The tree: a packet down carries the end of a range of ranks [receiver, end). The receiver gives
/// the upper half of what is left to the first living rank in it, then the upper half of the rest,
/// and so on; of the last 8 ranks, itself among them, each is given its own. So from 8 ranks on the
/// depth is at most log2 n - 2, the degree log2 n + 4: where ranks share cores, few of them wait for
/// others one after the other. Where a child dies before it has answered, its
/// parent gives the range to the next living rank. That needs no agreement on the failed members: a
/// range is done when its owner has answered, and answering twice is harmless.
///
/// The first coordinator, rank 0, need not send the first wave: each member that enters treats it
/// as received from its parent in the tree of all ranks.
///
/// A member that has decided may be elsewhere in the program when a coordinator dies: it answers,
/// but starts nothing. So a member that has not decided asks its parent in the tree of the next
/// coordinator; a member with the result answers with a `decide` wave over the range of the asking
/// member.
///
/// Assumptions: a member that is reported as failed sends no more packets; a connection preserves
/// order. Where live members consider each other failed (a partitioned network), each side
/// continues without the other.
///
/// Members here are numbers from 0 to size - 1, the same in all processes. This code does not call
/// the device: AgreementPort does. Thread rule: the lock of the library.
namespace fulmar::mpi {

enum class AgreementPhase : std::uint8_t { collect, lock, decide, ask };
/// What is known of the value; later states supersede earlier ones.
enum class AgreementState : std::uint8_t { votes, locked, decided };

/// The value that is agreed on.
struct AgreedValue {
  /// AND of the contributions of each side; an intracommunicator has the first one.
  std::array<std::int32_t, 2> flags{-1, -1};
  /// Members whose contributions may be missing, as they have failed.
  RankSet failed;
  /// Some member had not acknowledged all of these.
  bool unacknowledged = false;
};

/// The report of a member, or of a subtree.
struct AgreementReport {
  AgreementState state = AgreementState::votes;
  std::uint32_t ballot = 0;        ///< of a value that is locked
  AgreedValue value;               ///< `votes`: flags and failed members so far
  std::uint64_t acknowledged = 0;  ///< `votes`: digest of what the members have acknowledged ...
  bool acks_differ = false;        ///< ... if that is the same in all
  /// The lowest number of an agreement of the communicator that one of them has not decided.
  std::uint32_t oldest_open = UINT32_MAX;

  void add(const AgreementReport& other);
};

struct AgreementMessage {
  AgreementPhase phase = AgreementPhase::collect;
  bool down = false;  ///< from parent to child; else the answer
  std::uint32_t coordinator = 0;
  std::uint32_t end = 0;   ///< of the range of ranks that begins with the child
  AgreementReport report;  ///< down: the value to lock or to decide
};

/// The services that an agreement uses.
class AgreementPort {
 public:
  virtual void send(std::uint32_t to, const AgreementMessage& message) = 0;
  /// Whether a member does not answer any more: it has failed, or finalized MPI.
  [[nodiscard]] virtual bool is_out(std::uint32_t member) const = 0;
  /// Those that have failed, as far as is known here.
  [[nodiscard]] virtual RankSet failed() const = 0;
  /// The lowest number of an agreement that is not decided here.
  [[nodiscard]] virtual std::uint32_t oldest_open() const = 0;
  /// Agreements below this number are decided in all members.
  virtual void all_decided_below(std::uint32_t number) = 0;

 protected:
  ~AgreementPort() = default;
};

/// One agreement in one process.
class Agreement {
 public:
  Agreement(AgreementPort& port, std::uint32_t size, std::uint32_t self) noexcept
      : port_(port), size_(size), self_(self) {}

  /// This member takes part with these flags, and has acknowledged these failures. Once.
  void enter(const std::array<std::int32_t, 2>& flags, const RankSet& acknowledged);
  /// A message of another member. Invalid ones are ignored.
  void receive(std::uint32_t from, const AgreementMessage& message);
  /// `is_out` has become true of a member.
  void member_out();

  [[nodiscard]] bool entered() const noexcept { return entered_; }
  [[nodiscard]] bool decided() const noexcept { return decided_; }
  /// Requires decided().
  [[nodiscard]] const AgreedValue& value() const noexcept { return value_; }
  /// Others still need answers that this member collects.
  [[nodiscard]] bool busy() const noexcept { return !tasks_.empty(); }

 private:
  struct Child {
    std::uint32_t rank = 0;
    std::uint32_t end = 0;
    bool answered = false;
  };
  /// A part of a wave: this member has to answer for the range from itself to `end`.
  struct Task {
    AgreementMessage message;
    std::uint32_t parent = 0;  ///< the own rank: none, this member is the coordinator
    bool begun = false;        ///< the collection waits for `enter`
    AgreementReport report;
    std::vector<Child> children;
    std::uint64_t number = 0;
  };
  enum class Sent : std::uint8_t { by_us, by_itself };
  enum class Found : bool { no, yes };

  [[nodiscard]] std::uint32_t lowest() const;
  [[nodiscard]] AgreementReport own_report() const;
  void coordinate(AgreementPhase phase, AgreementReport report);
  void take_task(const AgreementMessage& message, std::uint32_t parent);
  void begin(Task& task, Sent sent);
  void hand_on(Task& task, Child& child, Sent sent);
  Found on_answer(std::uint32_t from, const AgreementMessage& message);
  void enter_first_wave();
  void on_ask(std::uint32_t from, std::uint32_t end);
  void finish_tasks();
  void finish(Task task);
  void end_wave(const Task& task);
  void decide(const AgreementReport& report);
  void ask_parent();
  void drop_tasks();

  AgreementPort& port_;
  std::uint32_t size_;
  std::uint32_t self_;
  bool entered_ = false;
  bool coordinating_ = false;
  bool decided_ = false;
  std::array<std::int32_t, 2> flags_{};
  RankSet acknowledged_;
  std::uint32_t promised_ = 0;  ///< the highest coordinator that was answered
  std::optional<AgreementReport> lock_;
  AgreedValue value_;
  std::vector<Task> tasks_;
  struct Question {
    std::uint32_t from;
    std::uint32_t end;
  };
  std::vector<Question> questions_;  ///< that are answered with the decision
  std::optional<Question> asked_;    ///< the parent that was asked last, and for what range
  struct Answer {
    std::uint32_t from;
    AgreementMessage message;
  };
  std::vector<Answer> early_;  ///< to the first wave, before this member has entered
  bool finishing_ = false;
};

/// Where a range of ranks [first, end) is cut; `first` keeps the lower part. Of a short one the last
/// rank is cut off, of a longer one the upper half. Requires end - first > 1.
[[nodiscard]] constexpr std::uint32_t cut_of(std::uint32_t first, std::uint32_t end) noexcept {
  constexpr std::uint32_t short_range = 8;
  return end - first <= short_range ? end - 1 : first + (end - first + 1) / 2;
}

/// The position of a rank in the tree of the ranks [root, size).
struct TreePlace {
  std::uint32_t parent = 0;
  std::uint32_t end = 0;
};
/// Requires root < rank < size. Ranks of which `is_out` is true have no children.
template <class IsOut>
[[nodiscard]] TreePlace place_in_tree(std::uint32_t root, std::uint32_t rank, std::uint32_t size,
                                      IsOut&& is_out) {
  std::uint32_t parent = root;
  std::uint32_t end = size;
  while (parent != rank) {
    const std::uint32_t middle = cut_of(parent, end);
    if (rank < middle) {
      end = middle;
      continue;
    }
    std::uint32_t child = middle;
    while (child < rank && is_out(child)) ++child;
    if (child == rank) return {parent, end};
    parent = child;
  }
  return {parent, end};
}

}  // namespace fulmar::mpi
