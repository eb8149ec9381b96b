// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/left_out.h"

#include <array>
#include <string_view>

#include "mpi/coll/board.h"
#include "mpi/coll/exchange.h"

namespace fulmar::mpi {
namespace {

struct BoardCall {
  std::string_view name;
  Family family;
};
/// Calls that have a root and go over a board: a wrong root leaves them.
constexpr std::array<BoardCall, 4> board_calls = {{{"MPI_Bcast", Family::bcast},
                                                   {"MPI_Gather", Family::gather},
                                                   {"MPI_Reduce", Family::reduce},
                                                   {"MPI_Scatter", Family::scatter}}};

std::string_view without_large(std::string_view name) noexcept {
  if (name.ends_with("_c")) name.remove_suffix(2);
  return name;
}

}  // namespace

bool is_persistent_call(const char* name) noexcept {
  return without_large(name).ends_with("_init");
}

/// Short data are one round on a board. Of longer ones the number of rounds is not known here.
void skip_call(Comm& comm, const char* name) noexcept {
  (void)next_tag(comm);
  note_left_out(comm, name);
  for (const BoardCall& call : board_calls) {
    if (call.name != without_large(name)) continue;
    device::NodeBoard* board = board_for(comm, call.family, 0);
    if (board != nullptr) post_nothing(*board);
  }
}

void skip_persistent_call(Comm& comm) noexcept { (void)next_persistent_tag(comm); }

void note_left_out(Comm& comm, const char* name) noexcept { comm.left_out_of = name; }

}  // namespace fulmar::mpi
