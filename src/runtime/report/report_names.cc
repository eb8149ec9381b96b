// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/report/report_names.h"

#include <algorithm>
#include <bit>

#include "match/key.h"
#include "mpi/comm/world.h"
#include "mpi/library.h"
#include "mpi/rma/win.h"

namespace fulmar::runtime {
namespace {

using mpi::Comm;

/// "ranks 0 2 4 of the job", of many the first; those of other jobs as "rank 0 of job 5d0a11c4".
std::string members_text(const Comm& comm) {
  constexpr int most = 6;
  const std::uint32_t own = comm.library->world->processes;
  std::string numbers;
  std::string others;
  int own_count = 0;
  for (int i = 0; i < std::min(comm.routes.size(), most); ++i) {
    const std::uint32_t peer = comm.routes[i].peer;
    if (peer < own) {
      numbers += " " + std::to_string(peer);
      ++own_count;
    } else {
      others += (others.empty() ? "" : ", ") + comm.device->processes().text_of(peer);
    }
  }
  const char* const more = comm.routes.size() > most ? " ..." : "";
  if (own_count == 0) return others + more;
  std::string text = own_count == 1 && *more == '\0' ? "rank" : "ranks";
  text += numbers + (others.empty() ? more : "") + " of the job";
  return others.empty() ? text : text + ", " + others + more;
}

}  // namespace

const mpi::Win* window_of(const Comm& comm) {
  const mpi::Win* found = nullptr;
  (void)comm.library->any<mpi::Win>([&](const mpi::Win& win) {
    if (win.comm == &comm) found = &win;
    return found != nullptr;
  });
  return found;
}

std::string name_of(const Comm* comm, Members members) {
  if (comm == nullptr) return "a communicator";
  const mpi::Win* win = window_of(*comm);
  if (win != nullptr && !win->name_text.empty()) return "window " + win->name_text;
  if (!comm->name_text.empty()) return comm->name_text;
  const std::string size = std::to_string(comm->local_size);
  if (comm->routes.empty()) return "a communicator of " + size + " ranks";
  const bool told = members == Members::told;
  if (comm->is_inter) {
    return "an intercommunicator of " + size + " ranks" +
           (told ? " with " + members_text(*comm) : "");
  }
  const std::uint32_t number = comm->routes.front().context >> std::bit_width(context_kind_mask);
  return (win != nullptr ? "a window of " : "a communicator of ") + size + " ranks (" +
         (told ? members_text(*comm) + ", " : "") + "number " + std::to_string(number) + ")";
}

std::string rank_text(Comm* comm, std::uint32_t peer) {
  if (peer == match::any_peer) return "any source";
  const int rank = comm != nullptr ? comm->rank_of(peer) : static_cast<int>(peer);
  std::string text = "rank " + std::to_string(rank);
  if (comm != nullptr && peer >= comm->library->world->processes) {
    return text + " (" + comm->device->processes().text_of(peer) + ")";
  }
  if (rank != static_cast<int>(peer)) text += " (" + std::to_string(peer) + " of the job)";
  return text;
}

/// That under which the first member knows it.
std::uint64_t common_number(const Comm& comm) noexcept {
  const mpi::Route first = comm.routes.front();
  return (std::uint64_t{first.peer} << 32 | first.context) + 1;
}

}  // namespace fulmar::runtime
