// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "simulated/failing_programs.h"

#include <mpi-ext.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "mpi/random/program.h"
#include "mpi/random/report.h"
#include "mpi/rma/generated/window_program.h"

namespace simulated {
namespace {

using generated::at;
using generated::report;

/// What each rank of the job needs when it is interrupted. Ranks take turns in one thread.
struct Running {
  Job* job = nullptr;
  std::vector<MPI_Comm> comms;  ///< on which each runs its program
};
Running& running() {
  static Running only;
  return only;
}

void interrupt() {
  const int rank = report().rank;
  running().job->rank(rank).abandon_program(running().comms[at(rank)]);
}

int class_of(int code) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  return error_class;
}

void run_to_the_end(std::uint64_t seed, Content content, MPI_Comm comm) {
  if (content == Content::windows) {
    generated::WindowProgram(seed, comm).run();
    return running().job->rank(report().rank).free_windows();
  }
  int self = 0;
  MPI_Comm_rank(comm, &self);
  generated::Program(seed, comm, self).run();
}

/// Whether it has come to its end.
bool run_once(std::uint64_t seed, Content content, MPI_Comm comm) {
  try {
    run_to_the_end(seed, content, comm);
  } catch (const generated::Interrupted&) {
    return false;
  }
  return true;
}

std::vector<int> members_of(MPI_Comm comm) {
  generated::OwnGroup group;
  generated::OwnGroup world;
  MPI_Comm_group(comm, &group.handle);
  MPI_Comm_group(MPI_COMM_WORLD, &world.handle);
  int size = 0;
  MPI_Group_size(group.handle, &size);
  std::vector<int> ranks(at(size));
  std::vector<int> all(at(size));
  for (int i = 0; i < size; ++i) ranks[at(i)] = i;
  MPI_Group_translate_ranks(group.handle, size, ranks.data(), world.handle, all.data());
  return all;
}

/// What must never end with an error, whoever dies.
void must_succeed(int code, const char* what) {
  if (code != MPI_SUCCESS) generated::fail(std::string(what) + " has failed");
}

/// Returns the communicator of those that live.
MPI_Comm recover(MPI_Comm comm, bool came_through, Outcome& outcome) {
  const fulmar::device::Failures& failures = running().job->rank(report().rank).device().failures();
  // Others may still agree on whether all have a window, with fewer bits.
  constexpr int is_over = 2;
  int flag = 0;
  while ((flag & is_over) == 0) {
    flag = is_over | (came_through ? 1 : 0);
    outcome.error_class = class_of(MPIX_Comm_agree(comm, &flag));
    if (failures.pending())
      generated::fail("a communicator knows less than MPIX_Comm_agree has told");
  }
  outcome.flag = flag & 1;
  if (outcome.error_class != MPI_SUCCESS && outcome.error_class != MPIX_ERR_PROC_FAILED) {
    generated::fail("class " + std::to_string(outcome.error_class) + " of MPIX_Comm_agree");
  }
  MPI_Comm fresh = MPI_COMM_NULL;
  must_succeed(MPIX_Comm_shrink(comm, &fresh), "MPIX_Comm_shrink");
  outcome.members = members_of(fresh);
  if (comm != MPI_COMM_WORLD) must_succeed(MPI_Comm_free(&comm), "MPI_Comm_free");
  return fresh;
}

}  // namespace

void run_failing_program(Job& job, std::uint64_t seed, Content content, int rank,
                         std::vector<Outcome>& own) {
  constexpr int most_rounds = 12;
  running().job = &job;
  running().comms.resize(at(std::max(rank + 1, generated::length(running().comms))));
  report().interrupted = interrupt;
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  must_succeed(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0), "MPI_Buffer_attach");
  for (int round = 0;; ++round) {
    if (round == most_rounds) generated::fail("no program has come to its end");
    running().comms[at(rank)] = comm;
    const bool came_through = run_once(generated::mix({seed, at(round)}), content, comm);
    Outcome outcome;
    comm = recover(comm, came_through, outcome);
    if (!job.deaths()->has_died(rank)) own.push_back(outcome);
    if (outcome.flag == 1) break;
  }
  must_succeed(MPI_Comm_free(&comm), "MPI_Comm_free");
  void* buffer = nullptr;
  int bytes = 0;
  must_succeed(MPI_Buffer_detach(&buffer, &bytes), "MPI_Buffer_detach");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

std::string differences(const Outcomes& all, const Deaths& deaths) {
  const std::vector<Outcome>* longest = &all.front();
  for (const auto& each : all) {
    if (each.size() > longest->size()) longest = &each;
  }
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::vector<Outcome>& each = all[rank];
    const bool same = std::equal(each.begin(), each.end(), longest->begin());
    if (same && (each.size() == longest->size() || deaths.has_died(static_cast<int>(rank))))
      continue;
    return "rank " + std::to_string(rank) +
           " has agreed on other values than others, or fewer times";
  }
  return {};
}

}  // namespace simulated
