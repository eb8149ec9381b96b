// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/stand_in.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace fulmar::mpi {
namespace {

void leave_right_operand(void* /*in*/, void* /*inout*/, int* /*count*/, MPI_Datatype* /*type*/) {}

/// The extent of `count` elements in bytes, and how far below the first they begin.
struct Reach {
  Count lowest;
  Count bytes;
};
Reach reach_of(const Datatype& type, Count count) noexcept {
  const Count steps = count > 0 ? (count - 1) * type.extent : 0;
  return {type.true_lb + std::min<Count>(steps, 0), type.true_extent + std::abs(steps)};
}

}  // namespace

StandIn::StandIn() noexcept : any_op_({leave_right_operand, nullptr}, Commutes::yes) {
  any_op_.predefined = true;  // it ends with this object, not with its last reference
}

void* StandIn::buffer(const Datatype& type, Count count) noexcept {
  const Scratch& made = memory_.emplace_back(type, count);
  if (made.failed()) {
    failed_ = true;
    return nullptr;
  }
  const Reach reach = reach_of(type, count);
  std::memset(shifted(made.address(), reach.lowest), 0xff, static_cast<std::size_t>(reach.bytes));
  return made.address();
}

CountArray StandIn::counts(CountArray given, int number) {
  auto& values = *arrays_.emplace_back(std::make_unique<std::vector<Count>>());
  for (std::size_t i = 0; i < static_cast<std::size_t>(number); ++i) {
    values.push_back(given.is_null() ? 0 : std::max<Count>(given[i], 0));
  }
  return {values.data(), values.size()};
}

void StandIn::find_usable(const Comm& comm, const MPI_Datatype* handles, Blocks& blocks, int number,
                          std::vector<const Datatype*>& types) {
  std::vector<Count> given;
  for (std::size_t i = 0; i < static_cast<std::size_t>(number); ++i) {
    const auto* type = handles == nullptr ? nullptr : comm.library->find<Datatype>(handles[i]);
    const bool usable = type != nullptr && type->committed && !blocks.counts.is_null();
    types.push_back(usable ? type : comm.library->find<Datatype>(MPI_INT));
    given.push_back(usable ? blocks.counts[i] : 0);
  }
  blocks.counts = counts({given.data(), given.size()}, number);
}

void StandIn::replace(Blocks& blocks, int number) {
  if (blocks.types != nullptr) return replace_typed(blocks, number);
  if (blocks.are_equal()) {
    blocks.address = buffer(*blocks.type, blocks.count * number);
    return;
  }
  blocks.counts = counts(blocks.counts, number);
  auto& displs = *arrays_.emplace_back(std::make_unique<std::vector<Count>>());
  Count total = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(number); ++i) {
    displs.push_back(total);
    total += blocks.counts[i];
  }
  blocks.displs = CountArray(displs.data(), displs.size());
  blocks.address = buffer(*blocks.type, total);
}

/// Displacements are in bytes, and each block has a type of its own: the displacements become
/// addresses.
void StandIn::replace_typed(Blocks& blocks, int number) {
  blocks.counts = counts(blocks.counts, number);
  auto& displs = *arrays_.emplace_back(std::make_unique<std::vector<Count>>());
  for (std::size_t i = 0; i < static_cast<std::size_t>(number); ++i) {
    displs.push_back(reinterpret_cast<Count>(buffer(*blocks.types[i], blocks.counts[i])));
  }
  blocks.displs = CountArray(displs.data(), displs.size());
  blocks.address = nullptr;
}

void StandIn::repair(Blocks& blocks, int number) {
  if (blocks.are_equal()) {
    const bool lacks = blocks.address == nullptr && blocks.type->predefined;
    if (blocks.in_place() || lacks) replace(blocks, number);
    return;
  }
  blocks.counts = counts(blocks.counts, number);
  if (blocks.displs.is_null() || lacks_buffer(blocks, number)) replace(blocks, number);
}

}  // namespace fulmar::mpi
