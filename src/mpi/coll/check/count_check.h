// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <vector>

#include "mpi/coll/check/check_result.h"
#include "mpi/coll/engine/coll_context.h"

namespace fulmar::mpi {

/// The amounts of data that this process sends to and expects from each rank, in a collective call
/// in which they differ: with FULMAR_CHECK=collectives the first rank gathers those of all ranks
/// and compares them (MPI 5.0 section 6.2: the amount of data sent must equal the amount specified
/// by the receiver, between each pair of ranks). The ranks have verified before that they make the
/// same call (mpi/coll/check/collective_check.h). Between two groups the first ranks of both
/// exchange what they gathered, and both compare in the same order.
class CountCheck {
 public:
  explicit CountCheck(const Library& library) noexcept : library_(library) {}

  // To each rank, and from each, in the order of the messages; MPI_PROC_NULL is left out.
  void give(int dest, const ConstData& data) { add(given_, dest, data.count, data.type); }
  void expect(int source, const Data& data) { add(expected_, source, data.count, data.type); }

  /// The error is that of `exchange`.
  static CollTask compare(CollContext& exchange, const CountCheck& mine);

 private:
  /// The amount for one rank, in the message.
  struct Amount {
    std::int32_t other;
    std::uint32_t type;  ///< handle of the one basic type of all elements; 0: not known
    Count bytes;
  };
  struct Head {
    std::int64_t given;
    std::int64_t expected;
  };
  /// Of all ranks.
  struct Flow {
    int from;
    int to;
    Count bytes;
    std::uint32_t type;
    std::size_t order;  ///< original index: a rank may be a neighbour several times

    [[nodiscard]] bool joins_same(const Flow& other) const noexcept {
      return from == other.from && to == other.to;
    }
    [[nodiscard]] bool comes_before(const Flow& other) const noexcept;
  };
  using Flows = std::vector<Flow>;
  /// What the ranks of a group send, and what they expect.
  struct Told {
    Flows given;
    Flows expected;
  };
  /// Text behind the sending and the receiving ranks, from the view of the comparing rank.
  struct Sides {
    const char* from = "";
    const char* to = "";
  };

  static void add(std::vector<Amount>& count_check, int other, Count count, const Datatype* type);
  static void add_flows(int rank, const Head& head, std::span<const Amount> all, Told& told);
  [[nodiscard]] static bool is_sane(const Head& head) noexcept;
  [[nodiscard]] std::string words_for(const Flow& flow) const;
  /// Sorts both.
  void judge(Flows& given, Flows& expected, const Sides& sides, CheckResult& check_result) const;
  void judge_pair(std::span<const Flow> given, std::span<const Flow> expected, const Sides& sides,
                  CheckResult& check_result) const;
  [[nodiscard]] Head head() const noexcept { return {std::ssize(given_), std::ssize(expected_)}; }
  [[nodiscard]] std::vector<Amount> all() const;
  static CollTask tell(CollContext& exchange, const CountCheck& mine);
  static CollTask hear(CollContext& exchange, const CountCheck& mine, Told& told,
                       CheckResult& check_result);
  static CollTask compare_between(CollContext& exchange, const CountCheck& mine, Told& ours,
                                  CheckResult& check_result);

  const Library& library_;
  std::vector<Amount> given_;
  std::vector<Amount> expected_;
};

/// Whether the calls of a communicator are compared: with FULMAR_CHECK=collectives.
[[nodiscard]] bool compares_counts(const Comm& comm) noexcept;

}  // namespace fulmar::mpi
