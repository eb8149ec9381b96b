// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>

#include "mpi/coll/check/check_result.h"
#include "mpi/coll/engine/coll_context.h"
#include "mpi/comm/comm.h"
#include "mpi/datatype/datatype.h"
#include "mpi/op/op.h"

/// Collective argument agreement: whether all ranks of a communicator make the same collective call
/// (FULMAR_CHECK=collectives). The first rank gathers a description of each rank's call, as text
/// and as numbers, and sends all of them the result; between two groups the first ranks of both
/// exchange what they gathered.
///
/// A blocking call compares before it begins. A non-blocking or persistent one must not wait: its
/// algorithm compares first, and its request ends with the error.
namespace fulmar::mpi {

/// The description of one rank's call. Exchanged between processes of the same job and library
/// only.
class CollectiveCall {
 public:
  explicit CollectiveCall(const char* name) noexcept;

  void add_root(int root) noexcept { body_.root = root; }
  void add_op(const Op& op) noexcept;
  /// Elements of which every rank must send, or expect from each, the same number: within one rank
  /// both are as many bytes, and the first of them are compared between ranks.
  void add_data(Count count, const Datatype& type) noexcept;
  /// Elements in parts, one for each rank of `comm`; every rank must give the counts of all.
  void add_parts(const CountArray& counts, const Datatype& type, const Comm& comm) noexcept;
  /// Whether this call has such parts; other counts are of one rank alone.
  [[nodiscard]] bool has_common_parts() const noexcept;

  /// The arguments are wrong, as `text` explains: every rank gets an error that contains it.
  void refuse(const std::string& text) noexcept;

  /// Compares with the other ranks; before the tag of the call is taken. Every rank gets the same
  /// error, which says which rank called what.
  [[nodiscard]] base::Error compare(Comm& comm);

  /// The same as the first part of a call with this tag, for a non-blocking or persistent call. The
  /// error is that of `exchange`.
  static CollTask compare_first(CollContext& exchange, const CollectiveCall& call);

 private:
  struct Body {
    std::array<char, 32> name;
    std::array<char, 40> op;
    std::array<char, 40> type;   ///< of all elements; empty: not known, or not compared
    std::array<char, 120> data;  ///< in words
    Count bytes;                 ///< -1: not compared
    std::uint64_t parts;         ///< a hash of the bytes of each part; 0: not compared
    std::int32_t root;           ///< no_root: has none
    std::int32_t unfit;          ///< 0, or an error in the call of this rank alone
  };
  static constexpr std::int32_t gives_other_than_part = 1;
  static constexpr std::int32_t gives_other_than_expected = 2;
  static constexpr std::int32_t gives_other_type = 3;
  static constexpr std::int32_t has_wrong_arguments = 4;
  static constexpr std::int32_t no_root = INT32_MIN;
  void add_words(const std::string& words) noexcept;
  static std::string text_of(const Body& body);
  static base::ErrorClass difference(const Body& a, const Body& b) noexcept;
  static base::ErrorClass difference_between(const Body& a, const Body& b) noexcept;
  /// Whether one of the calls has wrong arguments; then that is the result.
  static bool judge_arguments(std::span<const Body> calls, const char* group,
                              CheckResult& check_result);
  static void judge(std::span<const Body> calls, CheckResult& check_result);
  static void judge_between(std::span<const Body> first, std::span<const Body> second,
                            CheckResult& check_result);
  static void check_roots(std::span<const Body> first, std::span<const Body> second,
                          CheckResult& check_result);

  static CollTask collect(CollContext& exchange, std::span<Body> calls);
  static CollTask compare_within(CollContext& exchange, const CollectiveCall& call);
  static CollTask compare_between(CollContext& exchange, const CollectiveCall& call);

  Body body_{};
  Count given_ = -1;  ///< bytes of this rank's part; -1: MPI_IN_PLACE, or not known
};

}  // namespace fulmar::mpi
