// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <string>

#include "mpi/comm/comm.h"
#include "mpi/datatype/datatype.h"
#include "mpi/op/op.h"

/// Whether all ranks of a communicator make the same collective call: FULMAR_CHECK=collectives. The
/// first rank gets what each of the others calls, in words and in numbers, and tells all of them
/// whether that fits. For blocking calls of intracommunicators.
namespace fulmar::mpi {

/// What one rank calls. Goes to another process of the same job and library.
class CollectiveCall {
 public:
  explicit CollectiveCall(const char* name) noexcept;

  void add_root(int root) noexcept { body_.root = root; }
  void add_op(const Op& op) noexcept;
  /// Elements that every rank must give alike: the first of them are compared.
  void add_data(Count count, const Datatype& type) noexcept;

  /// Agrees with the other ranks. Every rank gets the same error, which says who called what.
  [[nodiscard]] base::Error compare(Comm& comm);

 private:
  struct Body {
    std::array<char, 32> name;
    std::array<char, 40> op;
    std::array<char, 40> type;   ///< of all elements; empty: not known, or not compared
    std::array<char, 120> data;  ///< in words
    Count bytes;                 ///< -1: not compared
    std::int32_t root;           ///< -1: has none
    std::int32_t spare;
  };

  static std::string text_of(Body& body);
  static base::ErrorClass difference(const Body& a, const Body& b) noexcept;
  static base::Error judge(std::span<Body> calls, std::span<char> text);

  Body body_{};
};

}  // namespace fulmar::mpi
