// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/collective/collective.h"

#include <memory>
#include <new>
#include <utility>

#include "mpi/coll/operations.h"
#include "mpi/io/access/access_making.h"
#include "mpi/io/collective/agreement.h"
#include "mpi/io/collective/two_phase.h"
#include "mpi/io/file_state.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

Error move_part(CollectiveAccess& call) {
  return call.direction == Direction::write ? write_data(call.access, call.moved)
                                            : read_data(call.access, call.moved);
}

/// The own part of a rank, on a thread of its own. The algorithm that waits for it is never ended
/// before it is done, so it may be in the algorithm's frame.
struct OwnPart final : FileJob {
  explicit OwnPart(CollectiveAccess& access) noexcept : call(access) {}
  void run() noexcept override { call.error = move_part(call); }
  CollectiveAccess& call;
  CollContext::Part part;
};

CollTask move_own_part(CollContext& exchange, CollectiveAccess& call) {
  OwnPart own(call);
  Library& library = *exchange.comm().library;
  const bool user = call.access.view->representation().kind == Representation::Kind::user;
  if (user || call.access.bytes == 0 || (call.in_place && !library.lock.enabled())) {
    own.run();
    co_return;
  }
  exchange.expect(own.part);
  own.operation = &own.part.transfer.operation;
  library.files->submit(own);
  co_await exchange.wait_for(own.part);
}

RankPart own_part(const CollectiveAccess& call) {
  RankPart part;
  part.failed = call.error.failed() ? 1 : 0;
  part.bytes = call.error.failed() ? 0 : call.access.bytes;
  if (part.bytes == 0 || call.ordered) return part;
  const FileView::Part extent = call.access.part();
  part.first = extent.first;
  part.end = extent.end;
  part.backward = call.access.view->forward(call.access.position, part.bytes) ? 0 : 1;
  part.mean_run_bytes = call.access.view->mean_run_bytes();
  return part;
}

bool any_failed(std::span<const RankPart> parts) noexcept {
  for (const RankPart& part : parts) {
    if (part.failed != 0) return true;
  }
  return false;
}

struct Start {
  std::int64_t position = 0;
  std::int32_t failed = 0;
  std::int32_t unused = 0;
};

/// Moves the shared pointer on by what all ranks have, and places this rank behind those before it.
CollTask take_turn(CollContext& exchange, CollectiveAccess& call, std::span<const RankPart> parts) {
  Start start;
  if (exchange.rank() == 0) {
    Count total = 0;
    for (const RankPart& part : parts) total += part.bytes;
    const base::Result<Count> old = call.file->open->shared.add(total);
    if (old.ok()) start.position = old.value();
    call.error = old.error();
    start.failed = old.failed() ? 1 : 0;
  }
  if (exchange.size() > 1) {
    const Bcast tell{{&start, sizeof start, &exchange.byte_type()}, 0};
    co_await tell.algorithm(exchange);
  }
  call.access.position = start.position;
  for (int rank = 0; rank < exchange.rank(); ++rank) {
    const Count before = parts[static_cast<std::size_t>(rank)].bytes;
    Count& position = call.access.position;
    if (position < 0 || __builtin_add_overflow(position, before, &position)) position = -1;
  }
  if (call.error.ok() && start.failed != 0) call.error = Error(ErrorClass::io);
  if (call.error.ok()) call.error = check_end(call.access);
}

/// The end of an access, however its algorithm ends.
class EndOfAccess {
 public:
  explicit EndOfAccess(CollectiveAccess& call) noexcept : call_(call) {}
  EndOfAccess(const EndOfAccess&) = delete;
  EndOfAccess& operator=(const EndOfAccess&) = delete;
  ~EndOfAccess() { call_.record.end(call_.access); }

 private:
  CollectiveAccess& call_;
};

/// The part of this rank in a blocking call. Other threads may call MPI meanwhile.
void move_in_place(CollectiveAccess& call) {
  Library& library = *call.file->library;
  library.acquire(*call.file);
  const std::uint32_t depth = library.lock.suspend();
  call.error = move_part(call);
  library.lock.resume(depth);
  library.release(*call.file);
}

}  // namespace

CommonCourse::CommonCourse(const OpenFile& open, Direction direction) noexcept
    : two_phases(direction == Direction::write ? open.hints.two_phase_write
                                               : open.hints.two_phase_read),
      atomic(open.atomic),
      maps(open.system.maps && open.hints.mapped != io::Use::never),
      sieves(open.hints.sieve_write == io::Use::always),
      window_bytes(open.hints.window_bytes),
      unit_bytes(open.hints.unit_bytes != 0 ? open.hints.unit_bytes : open.system.unit_bytes),
      least_mean_run_bytes(open.least_mean_run_bytes) {}

bool moves_apart(const CollectiveAccess& call) noexcept {
  const OpenFile& open = *call.file->open;
  return !call.ordered && open.check == nullptr &&
         is_never_worth_exchange(call.course, open, call.file->comm->size());
}

Error move_apart(CollectiveAccess& call) {
  const EndOfAccess end(call);
  OpenFile& open = *call.file->open;
  Comm& comm = *call.file->comm;
  const bool writes = call.direction == Direction::write;
  const bool have_met = std::exchange(open.ended_together, false);
  if (!writes || !have_met) {
    call.error = agree(comm, call.error);
    if (call.error.failed()) return call.error;
  }
  if (call.error.ok()) move_in_place(call);
  if (writes) call.error = agree(comm, call.error);
  if (call.error.failed()) call.moved = 0;
  open.ended_together = writes && call.error.ok();
  return call.error;
}

CollTask move_collectively(CollContext& exchange, CollectiveAccess& call) {
  const EndOfAccess end(call);
  call.file->open->ended_together = false;
  const auto ranks = static_cast<std::size_t>(exchange.size());
  const std::unique_ptr<RankPart[]> memory(new (std::nothrow) RankPart[ranks]);
  if (memory == nullptr) {
    exchange.note(base::failure(ErrorClass::no_mem, "no memory for the parts of %zu ranks", ranks));
    co_return;
  }
  const std::span<RankPart> parts(memory.get(), ranks);
  const OpenFile& open = *call.file->open;
  // What this rank has written must be seen, or replaced, by the node that its part is exchanged
  // with.
  if (open.cached_apart && call.error.ok()) call.error = open.file.push();
  const RankPart own = own_part(call);
  parts[static_cast<std::size_t>(exchange.rank())] = own;
  if (ranks > 1) {
    const Allgather gather{{&own, sizeof own, &exchange.byte_type()},
                           Blocks::equal(Data{memory.get(), sizeof own, &exchange.byte_type()})};
    co_await gather.algorithm(exchange);
  }
  if (exchange.result().failed()) co_return;
  if (any_failed(parts)) {
    co_await agree_within(exchange, call.error);
    co_return;
  }
  if (call.ordered) co_await take_turn(exchange, call, parts);
  if (exchange.result().failed()) co_return;
  const bool exchanges = !call.ordered && is_worth_exchange(parts, call.course, open);
  if (exchanges) {
    call.record.set_exchanged();
    io::FileStats::add(exchange.comm().library->files->log().figures.exchanges);
    if (open.cached_apart) open.file.refresh();
    co_await move_in_two_phases(exchange, call, parts);
    if (open.cached_apart && call.error.ok()) call.error = open.file.push();
  } else if (call.error.ok()) {
    co_await move_own_part(exchange, call);
  }
  if (exchange.result().failed()) co_return;
  if (exchanges || call.direction == Direction::write) co_await agree_within(exchange, call.error);
  // The part of this rank is now what other nodes have stored.
  if (open.cached_apart && exchanges && call.direction == Direction::write) open.file.refresh();
  if (call.file->open->check != nullptr) [[unlikely]]
    co_await FileCheck::run(exchange, call);
  if (call.error.failed()) call.moved = 0;
}

}  // namespace fulmar::mpi
