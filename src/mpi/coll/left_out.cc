// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/left_out.h"

#include <array>
#include <new>
#include <string_view>

#include "mpi/coll/engine/coll_context.h"
#include "mpi/coll/engine/run.h"
#include "mpi/coll/shm/request_area.h"
#include "mpi/coll/shm/shm_coll.h"

namespace fulmar::mpi {
namespace {

/// Rooted calls that use a collective area: with a wrong root they are skipped.
struct AreaCall {
  std::string_view name;
  Family family;
  enum class Form : std::uint8_t { blocking, nonblocking } form;
  /// Only blocking calls without blocks of various lengths go there with FULMAR_CHECK=collectives,
  /// and a non-blocking gather only where the area is staged.
  enum class Needs : std::uint8_t { nothing, no_check, no_check_and_staging } needs;
};
constexpr std::array<AreaCall, 12> area_calls = {{
    {"MPI_Bcast", Family::bcast, AreaCall::Form::blocking, AreaCall::Needs::nothing},
    {"MPI_Gather", Family::gather, AreaCall::Form::blocking, AreaCall::Needs::nothing},
    {"MPI_Gatherv", Family::gather, AreaCall::Form::blocking, AreaCall::Needs::no_check},
    {"MPI_Reduce", Family::reduce, AreaCall::Form::blocking, AreaCall::Needs::nothing},
    {"MPI_Scatter", Family::scatter, AreaCall::Form::blocking, AreaCall::Needs::nothing},
    {"MPI_Scatterv", Family::scatter, AreaCall::Form::blocking, AreaCall::Needs::no_check},
    {"MPI_Ibcast", Family::bcast, AreaCall::Form::nonblocking, AreaCall::Needs::no_check},
    {"MPI_Igather", Family::gather, AreaCall::Form::nonblocking,
     AreaCall::Needs::no_check_and_staging},
    {"MPI_Igatherv", Family::gather, AreaCall::Form::nonblocking, AreaCall::Needs::no_check},
    {"MPI_Ireduce", Family::reduce, AreaCall::Form::nonblocking, AreaCall::Needs::no_check},
    {"MPI_Iscatter", Family::scatter, AreaCall::Form::nonblocking, AreaCall::Needs::no_check},
    {"MPI_Iscatterv", Family::scatter, AreaCall::Form::nonblocking, AreaCall::Needs::no_check},
}};

/// The only round of a non-blocking call that is not made. Deletes itself.
class EmptyRound final : public AreaTask {
 public:
  explicit EmptyRound(Comm& comm, device::ShmCollArea& area) noexcept
      : AreaTask(false), comm_(comm), area_(area) {
    comm.library->acquire(comm);
  }

 private:
  unsigned advance() override {
    if (!area_.can_post(0)) return 0;
    post_nothing(area_);
    set_over();
    return 1;
  }
  void end() noexcept override {
    Comm& comm = comm_;
    delete this;
    comm.library->release(comm);
  }

  Comm& comm_;
  device::ShmCollArea& area_;
};

bool takes_area(const Comm& comm, const device::ShmCollArea& area, AreaCall::Needs needs) noexcept {
  if (needs == AreaCall::Needs::nothing) return true;
  return !compares_counts(comm) && (needs == AreaCall::Needs::no_check || is_staged(area));
}

std::string_view without_large(std::string_view name) noexcept {
  if (name.ends_with("_c")) name.remove_suffix(2);
  return name;
}

}  // namespace

bool is_persistent_call(const char* name) noexcept {
  return without_large(name).ends_with("_init");
}

/// Short data are one round on a collective area. Of longer ones the number of rounds is not known
/// here.
void skip_call(Comm& comm, const char* name) noexcept {
  (void)next_tag(comm);
  note_left_out(comm, name);
  for (const AreaCall& call : area_calls) {
    if (call.name != without_large(name)) continue;
    device::ShmCollArea* area = shm_area_for(comm, {call.family});
    if (area == nullptr || !takes_area(comm, *area, call.needs)) return;
    if (call.form == AreaCall::Form::nonblocking) {
      auto* const round = new (std::nothrow) EmptyRound(comm, *area);
      if (round != nullptr)
        comm.library->schedules->area_queues().add(comm.area_tasks, comm, *round);
    } else if (idle_area(comm, area) != nullptr) {
      post_nothing(*area);
    }
    return;
  }
}

void skip_persistent_call(Comm& comm, const char* name) noexcept {
  (void)next_persistent_tag(comm);
  const bool of_neighbours = std::string_view(name).find("Neighbor") != std::string_view::npos;
  if (!of_neighbours) RequestArea::decline(comm);
}

void note_left_out(Comm& comm, const char* name) noexcept { comm.left_out_of = name; }

}  // namespace fulmar::mpi
