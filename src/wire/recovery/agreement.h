// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/cell.h"

namespace fulmar::wire {

/// Ranks `first` to `first + count - 1` of a communicator, numbered as mpi/recovery/members.h does.
struct RankRun {
  std::uint32_t first;
  std::uint32_t count;
};

/// `agreement_ranks`: a part of the list of ranks that the next `agreement` packet on the same
/// connection and with the same context and tag belongs to. Runs with a count of 0 are ignored.
struct AgreementRanksBody {
  std::array<RankRun, 6> runs;
};

/// `agreement`: one step of an agreement; see mpi/recovery/agreement.h. The tag of the packet is
/// the number of the call, its context that of the communicator at the receiver.
struct AgreementBody {
  std::uint16_t step;           ///< which agreement of the call
  std::uint8_t phase;           ///< mpi::AgreementPhase
  std::uint8_t state;           ///< mpi::AgreementState
  std::uint8_t is_down;         ///< 1: from parent to child, 0: the answer
  std::uint8_t unacknowledged;  ///< 0 or 1
  std::uint8_t acks_differ;     ///< 0 or 1
  std::uint8_t reserved;
  std::uint32_t coordinator;
  std::uint32_t end;
  std::uint32_t ballot;
  std::uint32_t oldest_open;
  std::array<std::int32_t, 2> flags;
  std::uint32_t runs;  ///< how many came in `agreement_ranks` packets before
  std::uint64_t acknowledged;
};

static_assert(sizeof(AgreementRanksBody) == 48 && sizeof(AgreementRanksBody) <= Cell::inline_bytes);
static_assert(sizeof(AgreementBody) == 48 && offsetof(AgreementBody, acknowledged) == 40);
static_assert(sizeof(AgreementBody) <= Cell::inline_bytes);

}  // namespace fulmar::wire
