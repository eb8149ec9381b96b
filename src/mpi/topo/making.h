// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mpi/comm/topology.h"
#include "mpi/comm_make/context_agreement.h"
#include "mpi/comm_make/member_info.h"

/// How communicators with a topology are made. The exchange that every new communicator needs also
/// carries 64 bits of each process's own, with which the processes find out at no further cost
/// whether they agree on what is to be made.
namespace fulmar::mpi {

/// The index of a rank in a list; MPI_UNDEFINED if it is not in it.
[[nodiscard]] int place_in(std::span<const int> ranks, int rank) noexcept;

/// One communicator on its way.
class Making {
 public:
  Making(Library& library, Comm& parent);

  /// Every process of the old communicator calls it once. Fails in all of them where `so_far` is an
  /// error in one.
  base::Error announce(const base::Error& so_far, std::uint64_t word);
  /// The low 16 bits of the upper halves of all words, combined by or, once announced.
  [[nodiscard]] std::uint16_t word_bits() const noexcept { return outcome_.word_bits; }
  /// MPI_ERR_ARG where the upper halves of the words are not the same; `argument` names what they
  /// were made of.
  [[nodiscard]] base::Error check_same(const char* argument) const;
  /// `order` where all announced its digest in the lower half; else the first ranks as they are.
  /// The order depends on the hardware information that each process reads, which may fail in one
  /// of them.
  [[nodiscard]] std::vector<int> agreed(std::vector<int> order) const;

  /// Makes the communicator of these ranks of the old one, in this order, and hands it out; `out`
  /// stays as it is for processes outside. `topology_for` gives the topology for the own rank
  /// in the new communicator.
  template <class TopologyFor>
  base::Error finish(std::span<const int> ranks, TopologyFor&& topology_for, MPI_Comm& out) {
    const int rank = place_in(ranks, parent_.rank);
    if (rank == MPI_UNDEFINED) return {};
    const base::Error error = settle_as(ranks);
    if (error.failed()) return error;
    fresh_.comm()->topology = std::make_shared<const Topology>(topology_for(rank));
    fresh_.give(out);
    return {};
  }

 private:
  base::Error settle_as(std::span<const int> ranks);

  base::Error gather(const MemberInfo& own);

  Comm& parent_;
  Line line_;
  NewComm fresh_;
  AgreementRecord outcome_;
  std::optional<AgreedMembers> agreed_;  ///< all of the old communicator
  MemberTable all_;                      ///< where there is no common context
};

/// 0 to `count` - 1.
[[nodiscard]] std::vector<int> first_ranks(int count);

/// A number that differs (nearly always) where the values do.
[[nodiscard]] std::uint64_t digest_of(std::span<const int> values, std::uint64_t seed = 0) noexcept;

/// The two halves of a word, see Making.
[[nodiscard]] inline std::uint64_t word_of_halves(std::uint64_t arguments,
                                                  std::uint64_t order) noexcept {
  return arguments << 32 | (order & UINT32_MAX);
}

/// MPI_ERR_COMM for an intercommunicator, which cannot have a topology.
base::Error require_intra(const Comm& comm);
/// MPI_ERR_TOPOLOGY: the communicator has no topology, or another kind of it than `wanted`.
base::Error wrong_topology(const Comm& comm, const char* wanted);

}  // namespace fulmar::mpi
