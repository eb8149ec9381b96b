// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>

#include "mpi/comm/comm.h"

namespace fulmar::mpi {
struct Win;
}

/// How reports of jobs that stand still name objects and ranks.
namespace fulmar::runtime {

/// The bits of a context that say what kind of message it is (Comm::collective_bit and its neighbours).
inline constexpr std::uint32_t context_kind_mask = 7;

enum class Members : bool { left_out, told };

/// What the program named it, else what it is: "a communicator of 2 ranks (ranks 2 3 of the job,
/// number 5)". One without a name is known by its members and, among those of the same ones, by the
/// number under which the first of them knows it: the same in the reports of all. A window has a
/// communicator that the program does not know, and gives it its name. Null: "a communicator".
[[nodiscard]] std::string name_of(const mpi::Comm* comm, Members members = Members::told);

/// The window whose own communicator this is; nullptr where it is the program's.
[[nodiscard]] const mpi::Win* window_of(const mpi::Comm& comm);

/// "rank 1", and which one of the job where that is another number, or of which other job.
[[nodiscard]] std::string rank_text(mpi::Comm* comm, std::uint32_t peer);

/// The number of a communicator that is the same in all its members; never 0. It has some.
[[nodiscard]] std::uint64_t common_number(const mpi::Comm& comm) noexcept;

}  // namespace fulmar::runtime
