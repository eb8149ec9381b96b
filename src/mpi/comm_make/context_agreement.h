// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "mpi/coll/engine/coll_context.h"
#include "mpi/comm_make/color_table.h"
#include "mpi/comm_make/member_info.h"

namespace fulmar::mpi {

/// Whether communicators of processes of this one get a common context: it is an intracommunicator
/// with at least World::common_context_ranks ranks. The same in all of them.
[[nodiscard]] bool makes_common_contexts(const Comm& comm) noexcept;

/// What consecutive ranks contribute to a new communicator; at the end, what all do.
struct AgreementRecord {
  std::uint32_t index = 0;           ///< see CommonContexts; the highest offer
  std::uint32_t failed_rank = none;  ///< the lowest rank that cannot take part
  std::uint32_t other_rank = none;   ///< the lowest one whose word differs in its upper half
  std::uint16_t flags = 0;
  std::uint16_t word_bits = 0;  ///< the low bits of the upper halves of all words, by or
  std::uint64_t word = 0;       ///< of the first rank
  std::uint64_t free_boards = 0;
  std::uint64_t newest_round = 0;
  std::uint32_t colors = 0;  ///< of a split: size of the table in the next message, if it has any
  std::uint32_t runs = 0;

  static constexpr std::uint32_t none = UINT32_MAX;
  static constexpr std::uint16_t shared = 1;       ///< see CommonContexts::Offer
  static constexpr std::uint16_t incomplete = 2;   ///< the record of a rank is missing
  static constexpr std::uint16_t lows_differ = 4;  ///< lower halves of words
  static constexpr std::uint16_t bad_table = 8;    ///< a table of colors made no sense

  /// Adds what the ranks from `first` on contribute, which follow.
  void merge(const AgreementRecord& next, std::uint32_t first) noexcept;
};
/// What a process contributes, without its offer of an index. Its color and key are a word.
[[nodiscard]] AgreementRecord record_of(const MemberInfo& member) noexcept;
static_assert(sizeof(AgreementRecord) == 48, "no padding, and short enough for a cell");

/// The exchange that makes a communicator of many processes, as `announce` does for few: up a
/// binomial tree and down again. A process sends and receives about two short messages of each
/// kind, whatever the number of ranks, and learns about itself and its own communicator only:
/// a context that all members have in common (CommonContexts), whether a process has failed to take
/// part, and, of a split, the members with its own color.
///
/// It may end without a context (`found`); then the caller goes on with `announce` on the same line.
///
/// Thread rule: the lock of the library. Must not move while it runs.
class ContextAgreement {
 public:
  /// On the line's intracommunicator; `own` as for `announce`, of which color and key
  /// are the word of a topology (mpi/topo/making.h), unless it `splits`.
  enum class Splits : bool { no, yes };
  ContextAgreement(const Line& line, const MemberInfo& own, Splits splits = Splits::no);
  /// Without some ranks, which are in ascending order and outlive it; this process is none of them.
  ContextAgreement(const Line& line, const MemberInfo& own, std::span<const std::uint32_t> missing)
      : ContextAgreement(line, own) {
    missing_ = missing;
  }
  ~ContextAgreement();
  ContextAgreement(const ContextAgreement&) = delete;
  ContextAgreement& operator=(const ContextAgreement&) = delete;

  /// Runs it to its end. MPIX_ERR_PROC_FAILED where a process is missing.
  base::Error run();
  /// The same without waiting; after `completion` is done, `finish` gives the error.
  void start(device::Operation& completion) noexcept;
  base::Error finish() noexcept;
  /// The same as a part of an algorithm on the line; `finish` follows. Where processes die all the others still go through
  /// all of its steps, if the messages of the line can be received then (Channel::recovery).
  static CollTask exchange_all(CollContext& exchange, ContextAgreement& self);

  /// There is a common context. The same in all processes where `run` succeeds.
  [[nodiscard]] bool found() const noexcept { return found_; }
  /// The error of the rank that failed to take part.
  [[nodiscard]] base::Error check() const;
  [[nodiscard]] const AgreementRecord& all() const noexcept { return all_; }

  // Where a context was found.

  [[nodiscard]] std::uint32_t context() const noexcept {
    return CommonContexts::id_of(slot_, all_.index);
  }
  /// The members of a communicator of all, whose processes these are.
  [[nodiscard]] AgreedMembers everybody(const ProcessList& processes) const;
  /// Those of the own color of a split; nothing where that is MPI_UNDEFINED.
  [[nodiscard]] std::optional<AgreedMembers> own_color(const ProcessList& processes) const;

 private:
  struct Child {
    int place = 0;
    std::vector<std::int32_t> colors;
  };

  static CollTask receive(CollContext& exchange, ContextAgreement& self, int place, int ranks);
  static CollTask send(CollContext& exchange, ContextAgreement& self, int place);
  void take_child(int place);
  /// Places are those among the ranks that take part.
  [[nodiscard]] int size() const noexcept {
    return comm_.size() - static_cast<int>(missing_.size());
  }
  [[nodiscard]] int own_place() const noexcept;
  [[nodiscard]] int rank_at(int place) const noexcept;
  [[nodiscard]] bool is_usable() const noexcept;
  [[nodiscard]] base::Error check_exchange() const;

  Comm& comm_;
  CommonContexts& contexts_;
  std::uint32_t slot_;
  MemberInfo own_;
  bool splits_;
  std::span<const std::uint32_t> missing_;
  bool active_ = true;  ///< in `contexts_`
  bool found_ = false;
  CollContext exchange_;
  AgreementRecord all_;
  ColorTable table_;
  std::vector<Child> children_;
  // Of the message in flight.
  AgreementRecord record_;
  ColorTable received_;
  std::vector<std::byte> encoded_;
};

}  // namespace fulmar::mpi
