// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <algorithm>
#include <vector>

#include "support/check.h"

namespace model {

/// The views of all ranks of a file, byte by byte: tiles of etypes, which repeat without end. Either
/// each etype of a tile belongs to one rank or to none, or all ranks see all of them.
class Views {
 public:
  /// All ranks see the whole file as bytes.
  explicit Views(int ranks) : ranks_(ranks), owner_(1, everybody) {}

  Views(test::Shared& random, int ranks) : ranks_(ranks) {
    constexpr int sizes[] = {1, 2, 4, 8, 12};
    etype_bytes_ = sizes[random.below(5)];
    displacement_ = random.coin() ? 0 : random.below(100);
    if (random.below(4) == 0) {
      // With a gap in each tile, or without.
      owner_.assign(static_cast<std::size_t>(1 + random.below(4)), everybody);
      if (random.coin()) owner_.push_back(nobody);
      return;
    }
    const int tile = ranks + random.below(random.coin() ? 8 : 300);
    const bool blocks = random.coin();
    for (int i = 0; i < tile; ++i) {
      const int block = std::max(tile / ranks, 1);
      const int by_chance = random.below(ranks + 1) - 1;
      owner_.push_back(blocks ? std::min(i / block, ranks - 1) : i < ranks ? i : by_chance);
    }
    if (!blocks) {
      for (std::size_t i = owner_.size() - 1; i > 0; --i) {
        std::swap(owner_[i],
                  owner_[static_cast<std::size_t>(random.below(static_cast<int>(i) + 1))]);
      }
    }
  }

  [[nodiscard]] int etype_bytes() const { return etype_bytes_; }
  [[nodiscard]] MPI_Offset displacement() const { return displacement_; }
  /// All ranks have the same view, as shared file pointers demand.
  [[nodiscard]] bool same() const { return owner_.front() == everybody; }

  /// The offset in the file of byte `at` of a rank's stream.
  [[nodiscard]] std::size_t offset(int rank, std::size_t at) const {
    const auto etype = static_cast<std::size_t>(etype_bytes_);
    const std::vector<std::size_t>& places = places_of(rank);
    const std::size_t element = at / etype;
    return static_cast<std::size_t>(displacement_) +
           (element / places.size() * owner_.size() + places[element % places.size()]) * etype +
           at % etype;
  }

  /// The caller frees both types.
  void make_types(int rank, MPI_Datatype& etype, MPI_Datatype& filetype) const {
    MPI_Type_contiguous(etype_bytes_, MPI_BYTE, &etype);
    MPI_Type_commit(&etype);
    std::vector<int> places;
    for (const std::size_t place : places_of(rank)) places.push_back(static_cast<int>(place));
    MPI_Datatype list = MPI_DATATYPE_NULL;
    MPI_Type_create_indexed_block(static_cast<int>(places.size()), 1, places.data(), etype, &list);
    MPI_Type_create_resized(list, 0, MPI_Aint{etype_bytes_} * static_cast<MPI_Aint>(owner_.size()),
                            &filetype);
    MPI_Type_commit(&filetype);
    MPI_Type_free(&list);
  }

 private:
  static constexpr int nobody = -1;
  static constexpr int everybody = -2;

  [[nodiscard]] const std::vector<std::size_t>& places_of(int rank) const {
    if (places_.empty()) places_.resize(static_cast<std::size_t>(ranks_));
    std::vector<std::size_t>& places = places_[static_cast<std::size_t>(rank)];
    if (!places.empty()) return places;
    for (std::size_t i = 0; i < owner_.size(); ++i) {
      if (owner_[i] == rank || owner_[i] == everybody) places.push_back(i);
    }
    return places;
  }

  int ranks_;
  int etype_bytes_ = 1;
  MPI_Offset displacement_ = 0;
  std::vector<int> owner_;
  mutable std::vector<std::vector<std::size_t>> places_;
};

}  // namespace model
