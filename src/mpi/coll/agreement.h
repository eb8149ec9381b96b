// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>

#include "mpi/coll/exchange.h"
#include "mpi/coll/verdict.h"
#include "mpi/comm/comm.h"
#include "mpi/datatype/datatype.h"
#include "mpi/op/op.h"

/// Whether all ranks of a communicator make the same collective call: FULMAR_CHECK=collectives. The
/// first rank gets what each of the others calls, in words and in numbers, and tells all of them
/// whether that fits; between two groups the first ranks of both tell each other what they got.
///
/// A blocking call compares before it begins. A non-blocking or persistent one must not wait: its
/// algorithm compares first, and its request ends with the error.
namespace fulmar::mpi {

/// What one rank calls. Goes to another process of the same job and library.
class CollectiveCall {
 public:
  explicit CollectiveCall(const char* name) noexcept;

  void add_root(int root) noexcept { body_.root = root; }
  void add_op(const Op& op) noexcept;
  /// Elements that every rank must give alike, or must expect of each: within one rank both are as
  /// many bytes, and the first of them are compared between ranks.
  void add_data(Count count, const Datatype& type) noexcept;
  /// Elements in parts, of which every rank must name all: as many as `comm` has ranks.
  void add_parts(const CountArray& counts, const Datatype& type, const Comm& comm) noexcept;
  /// Whether this call has such parts; other counts are of one rank alone.
  [[nodiscard]] bool has_common_parts() const noexcept;

  /// The arguments are wrong, as `text` says: every rank gets an error that passes it on.
  void refuse(const std::string& text) noexcept;

  /// Agrees with the other ranks; before the tag of the call is taken. Every rank gets the same
  /// error, which says who called what.
  [[nodiscard]] base::Error compare(Comm& comm);

  /// The same as the first part of a call with this tag, for a non-blocking or persistent call. The
  /// error is that of `exchange`.
  static Algorithm compare_first(Exchange& exchange, const CollectiveCall& call);

 private:
  struct Body {
    std::array<char, 32> name;
    std::array<char, 40> op;
    std::array<char, 40> type;   ///< of all elements; empty: not known, or not compared
    std::array<char, 120> data;  ///< in words
    Count bytes;                 ///< -1: not compared
    std::uint64_t parts;         ///< a hash of the bytes of each part; 0: not compared
    std::int32_t root;           ///< no_root: has none
    std::int32_t unfit;          ///< 0, or what is wrong with the call in itself
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
  /// Whether one of the calls has wrong arguments; then that is the verdict.
  static bool judge_arguments(std::span<const Body> calls, const char* group, Verdict& verdict);
  static void judge(std::span<const Body> calls, Verdict& verdict);
  static void judge_between(std::span<const Body> first, std::span<const Body> second,
                            Verdict& verdict);
  static void check_roots(std::span<const Body> first, std::span<const Body> second,
                          Verdict& verdict);

  static Algorithm collect(Exchange& exchange, std::span<Body> calls);
  static Algorithm compare_within(Exchange& exchange, const CollectiveCall& call);
  static Algorithm compare_between(Exchange& exchange, const CollectiveCall& call);

  Body body_{};
  Count given_ = -1;  ///< bytes of this rank's part; -1: MPI_IN_PLACE, or not known
};

}  // namespace fulmar::mpi
