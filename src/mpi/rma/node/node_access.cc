// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/node/node_access.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/copy.h"
#include "mpi/comm/world.h"
#include "mpi/datatype/view.h"
#include "mpi/rma/node/attached_table.h"
#include "mpi/rma/node/node_calls.h"
#include "mpi/rma/node/node_heaps.h"
#include "mpi/rma/node/node_memory.h"
#include "mpi/rma/requests.h"
#include "mpi/rma/server/accumulate.h"
#include "mpi/rma/sync/epochs.h"
#include "mpi/rma/sync/lock_queue.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using wire::RmaCall;

enum class CopyDirection : std::uint8_t { put, get };

/// The memory of a target as this process reaches it without the target: by loads and stores where
/// it is mapped, else by the kernel.
class TargetMemory {
 public:
  /// `mapped`: see mapped_place.
  TargetMemory(Win& win, const TargetRun& run, std::byte* mapped) noexcept
      : win_(win), mapped_(mapped), reached_(mapped != nullptr) {
    if (mapped == nullptr) find(run);
  }

  [[nodiscard]] bool reached() const noexcept { return reached_; }
  [[nodiscard]] bool copy(CopyDirection direction, std::span<std::byte> local,
                          std::uint64_t offset = 0) noexcept {
    if (mapped_ == nullptr) return copy_by_kernel(direction, local, offset);
    if (direction == CopyDirection::put) {
      base::copy_bytes(mapped_ + offset, local.data(), local.size());
    } else {
      base::copy_bytes(local.data(), mapped_ + offset, local.size());
    }
    return true;
  }
  /// For pieces of it; empty where there is no memory for that.
  [[nodiscard]] std::span<std::byte> room() noexcept { return win_.node.calls->piece_room(); }

 private:
  void find(const TargetRun& run) noexcept {
    Win& win = win_;
    const RmaTarget& target = win.target(run.rank);
    device::NodeChannel* node = win.device->node();
    if (node == nullptr || !find_address(target, run)) return;
    number_ = node->number_of(win.comm->routes[run.rank].peer);
    reached_ = number_ != device::NodeChannel::not_here && node->shm().reach(number_);
  }
  [[nodiscard]] bool copy_by_kernel(CopyDirection direction, std::span<std::byte> local,
                                    std::uint64_t offset) noexcept {
    fabric::Shm& shm = win_.device->node()->shm();
    const iovec piece{local.data(), local.size()};
    const std::uint64_t at = address_ + offset;
    const Error error = direction == CopyDirection::put
                            ? shm.write(number_, {&piece, 1}, at, local.size())
                            : shm.read(number_, {&piece, 1}, at, local.size());
    if (error.ok()) {
      win_.device->count_single_copy();
      ++win_.library->world->rma.kernel_copies;
    }
    return error.ok();
  }
  bool find_address(const RmaTarget& target, const TargetRun& run) noexcept {
    const auto place = static_cast<std::uint64_t>(run.place);
    if (!win_.dynamic()) {
      address_ = target.remote + place;
      return target.remote != 0;
    }
    address_ = place;
    const NodeTables& tables = win_.node.tables;
    if (tables.lines == 0 || target.place == RmaTarget::no_place) return false;
    return is_published(*tables.of(*win_.memory, target.place), tables.lines, address_,
                        static_cast<std::uint64_t>(run.bytes));
  }

  Win& win_;
  std::byte* mapped_;
  std::uint64_t address_ = 0;
  std::uint32_t number_ = 0;
  bool reached_;
};

/// Where memory attached to a dynamic window is mapped here; null: nowhere.
std::byte* mapped_place(Win& win, const TargetRun& run) noexcept {
  if (!win.dynamic()) return nullptr;
  return find_attached_in_heap(win, run.rank, static_cast<std::uint64_t>(run.place),
                               static_cast<std::uint64_t>(run.bytes));
}

/// Whether this process may reach the memory of a target at all. A lock that was asked for by a
/// request is awaited then.
Error prepare(Win& win, int rank, bool& reached) {
  const RmaTarget& target = win.target(rank);
  reached = target.control != nullptr || target.remote != 0;
  return reached ? await_lock(win, rank) : Error{};
}

/// What a target has refused.
Error refusal(Win& win, int rank, ErrorClass refused) {
  if (refused == ErrorClass::success) return {};
  RmaTarget& target = win.target(rank);
  if (target.error == ErrorClass::success) target.error = refused;
  return take_error(win, rank);
}

/// Has the target carry a call out if that is worth a try.
bool is_called(Win& win, int rank, const NodeCall& call, ErrorClass& refused) {
  return win.node.calls != nullptr && win.node.calls->takes(rank, call.data.size(), call.bytes) &&
         win.node.calls->carry_out(rank, call, refused);
}

NodeCall call_for(RmaCall what, const TargetRun& run) noexcept {
  NodeCall call;
  call.call = what;
  call.place = run.place;
  call.bytes = static_cast<std::size_t>(run.bytes);
  return call;
}

constexpr std::int64_t most_call_bytes = wire::rma_call_room_bytes;
/// Of a put or get in several calls. Longer ones the kernel copies faster than both processes through
/// memory that they map; an accumulate would be two copies of the kernel.
constexpr std::int64_t most_called_copy_bytes = 2 * most_call_bytes;
/// Of an accumulate in several calls.
constexpr std::int64_t most_called_bytes = 8 * most_call_bytes;

/// Accumulates of one origin keep their order: those that went as requests are to be over.
Error complete_requests(Win& win, int rank) {
  if (!win.target(rank).dirty) return {};
  ask_for_end(win, rank, RmaCall::flush);
  return complete_locally(win, rank);
}

/// The elements of an accumulate in memory of this process, where the kernel has copied them.
void apply(const NodeAccumulate& what, std::span<const std::byte> source,
           std::span<std::byte> elements) {
  const Datatype& unit = *what.element;
  accumulate_data(*what.op, &unit, source,
                  {elements.data(), static_cast<Count>(elements.size()) / unit.size, &unit});
}

enum class Modified : std::uint8_t { all, nothing, in_part };

/// The most bytes of whole elements within `bytes`.
std::size_t whole_elements(const NodeAccumulate& what, std::size_t bytes) noexcept {
  const std::size_t unit =
      what.element == nullptr ? 1 : static_cast<std::size_t>(what.element->size);
  return bytes / unit * unit;
}

/// The origin's side of an accumulate, or of a part of one, as packed bytes.
struct AccumulateBytes {
  std::span<const std::byte> source;  ///< empty: nothing is read
  std::span<std::byte> old;           ///< gets what was there; empty: not wanted

  [[nodiscard]] AccumulateBytes part(std::size_t from, std::size_t bytes) const noexcept {
    return {source.empty() ? source : source.subspan(from, bytes),
            old.empty() ? old : old.subspan(from, bytes)};
  }
};

/// In memory that is mapped here.
void modify_mapped(std::byte* memory, const NodeAccumulate& what, const AccumulateBytes& local) {
  if (!local.old.empty()) std::memcpy(local.old.data(), memory, local.old.size());
  if (what.op->code == OpCode::no_op || local.source.empty()) return;
  if (what.op->code == OpCode::replace) {
    std::memcpy(memory, local.source.data(), local.source.size());
  } else {
    apply(what, local.source, {memory, local.source.size()});
  }
}

/// A part of the memory of an operation.
struct Part {
  std::size_t from;
  std::size_t bytes;
};

/// Reads, computes and writes in pieces, as far as the kernel lets it.
Modified modify(TargetMemory& memory, const NodeAccumulate& what, const AccumulateBytes& local,
                const Part& whole) {
  const bool reads = what.op->code != OpCode::replace;
  const bool writes = what.op->code != OpCode::no_op && !local.source.empty();
  const std::span<std::byte> room = memory.room();
  const std::size_t most = whole_elements(what, room.size());
  if (most == 0) return Modified::nothing;
  const std::size_t end = whole.from + whole.bytes;
  for (std::size_t at = whole.from; at < end; at += most) {
    const std::size_t part = std::min(end - at, most);
    const AccumulateBytes own = local.part(at, part);
    const std::span<std::byte> piece = room.first(part);
    const Modified so_far = at == whole.from ? Modified::nothing : Modified::in_part;
    if ((reads || !own.old.empty()) && !memory.copy(CopyDirection::get, piece, at)) return so_far;
    if (!own.old.empty()) std::memcpy(own.old.data(), piece.data(), part);
    if (!writes) continue;
    if (reads) {
      apply(what, own.source, piece);
    } else {
      std::memcpy(piece.data(), own.source.data(), part);
    }
    if (!memory.copy(CopyDirection::put, piece, at)) return so_far;
  }
  return Modified::all;
}

/// Shorter puts and gets are over before two processes have agreed to share them.
constexpr std::size_t least_joint_copy_bytes = std::size_t{32} << 10;
constexpr std::size_t page_bytes = 4096;

/// The class of what the target said, if it said something.
bool is_refused(ErrorClass refused) noexcept { return refused != ErrorClass::success; }

/// A long put or get by copies of the kernel, of which the target carries out the first half if it waits
/// in MPI. False: as TargetMemory::copy.
bool copy_jointly(Win& win, RmaCall kind, const TargetRun& run, std::span<std::byte> local,
                  TargetMemory& memory, ErrorClass& refused) noexcept {
  const CopyDirection direction =
      kind == RmaCall::put_from ? CopyDirection::put : CopyDirection::get;
  std::size_t at = 0;
  while (local.size() - at >= least_joint_copy_bytes) {
    const std::size_t step = std::min(local.size() - at, 2 * wire::most_joint_call_bytes);
    const std::size_t half = step / 2 / page_bytes * page_bytes;
    const auto place = run.place + static_cast<std::int64_t>(at);
    const NodeCall call = call_for(kind, {run.rank, place, static_cast<std::int64_t>(half)});
    NodeCalls& calls = *win.node.calls;
    const bool asked =
        calls.tries_jointly(run.rank) && calls.begin_joint(run.rank, call, local.data() + at);
    const bool copied = memory.copy(direction, local.subspan(at + half, step - half), at + half);
    const std::size_t done = asked ? calls.end_joint(run.rank, half, refused) : 0;
    if (is_refused(refused)) return true;
    if (!copied) return false;
    if (done < half && !memory.copy(direction, local.subspan(at + done, half - done), at + done)) {
      return false;
    }
    at += step;
  }
  return at == local.size() || memory.copy(direction, local.subspan(at), at);
}

/// Copies by loads and stores, or by the kernel.
bool copy(Win& win, RmaCall kind, const TargetRun& run, std::span<std::byte> local,
          std::byte* mapped, ErrorClass& refused) noexcept {
  TargetMemory memory(win, run, mapped);
  if (!memory.reached()) return false;
  if (mapped == nullptr && win.node.calls != nullptr && local.size() >= least_joint_copy_bytes) {
    return copy_jointly(win, kind, run, local, memory, refused);
  }
  return memory.copy(kind == RmaCall::put_from ? CopyDirection::put : CopyDirection::get, local);
}

/// Has the target execute a put or get, in pieces that fit its slot, until it does not answer one in
/// time or refuses it. How many bytes it has done.
std::size_t copy_by_calls(Win& win, RmaCall kind, const TargetRun& run, std::span<std::byte> local,
                          ErrorClass& refused) {
  std::size_t at = 0;
  while (at < local.size() && !is_refused(refused)) {
    const std::size_t part = std::min<std::size_t>(local.size() - at, most_call_bytes);
    NodeCall call = call_for(kind, {run.rank, run.place + static_cast<std::int64_t>(at),
                                    static_cast<std::int64_t>(part)});
    const std::span<std::byte> piece = local.subspan(at, part);
    if (kind == RmaCall::put) call.data = piece;
    if (kind == RmaCall::get) call.result = piece;
    if (!is_called(win, run.rank, call, refused)) break;
    at += part;
  }
  return at;
}

/// A put or get of one run of the target. False: requests have to be used, from the beginning on.
bool copy_to_or_from(Win& win, CopyDirection direction, const TargetRun& run,
                     std::span<std::byte> local, ErrorClass& refused) {
  const bool puts = direction == CopyDirection::put;
  std::byte* const mapped = mapped_place(win, run);
  std::size_t called = 0;
  if (mapped == nullptr && run.bytes <= most_called_copy_bytes) {
    called = copy_by_calls(win, puts ? RmaCall::put : RmaCall::get, run, local, refused);
  }
  if (called == local.size() || is_refused(refused)) return true;
  const auto done = static_cast<std::int64_t>(called);
  return copy(win, puts ? RmaCall::put_from : RmaCall::get_into,
              {run.rank, run.place + done, run.bytes - done}, local.subspan(called), mapped,
              refused);
}

NodeCall accumulate_call(RmaCall kind, const NodeAccumulate& what, const TargetRun& run) noexcept {
  NodeCall call = call_for(kind, run);
  call.op = static_cast<std::uint8_t>(what.op->code);
  call.element = what.element_number;
  call.second = what.second;
  return call;
}

/// A long accumulate that fetches nothing. The target reads the data of the first part of each step and
/// adds them to its memory, if it waits in MPI, while this process does the rest by two copies of the
/// kernel. The parts are as long as to end together. Limit: if this process dies while the target is at its
/// part (128 KiB at a time), a third rank may take the mutex over and compute beside it until that piece is done.
Modified modify_jointly(Win& win, const NodeAccumulate& what, const TargetRun& run,
                        TargetMemory& memory, const AccumulateBytes& local, ErrorClass& refused) {
  const auto bytes = static_cast<std::size_t>(run.bytes);
  for (std::size_t at = 0; at < bytes;) {
    const std::size_t step =
        std::min(bytes - at, whole_elements(what, wire::most_joint_call_bytes));
    const std::size_t first = whole_elements(what, step / 8 * 5);
    NodeCalls& calls = *win.node.calls;
    const bool worth_asking = calls.tries_jointly(run.rank);
    const AccumulateGuard guard(win, *win.target(run.rank).control);
    const NodeCall call = accumulate_call(
        RmaCall::accumulate_from, what,
        {run.rank, run.place + static_cast<std::int64_t>(at), static_cast<std::int64_t>(first)});
    const bool asked = worth_asking && calls.begin_joint(run.rank, call, local.source.data() + at);
    Modified own = modify(memory, what, local, {at + first, step - first});
    std::size_t done = asked ? calls.end_joint(run.rank, first, refused) : 0;
    done = whole_elements(what, done);
    if (is_refused(refused)) return Modified::in_part;
    const bool begun = at != 0 || done != 0 || own != Modified::nothing;
    if (own == Modified::all && done < first) {
      own = modify(memory, what, local, {at + done, first - done});
    }
    if (own != Modified::all) return begun ? Modified::in_part : Modified::nothing;
    at += step;
  }
  return Modified::all;
}

/// By the kernel, with the help of the target where that is worth it.
Modified modify_by_kernel(Win& win, const NodeAccumulate& what, const TargetRun& run,
                          TargetMemory& memory, const AccumulateBytes& local, ErrorClass& refused) {
  const bool computes = what.op->code < OpCode::replace && what.element != nullptr;
  if (computes && local.old.empty() && run.bytes > most_called_bytes / 2) {
    return modify_jointly(win, what, run, memory, local, refused);
  }
  const AccumulateGuard guard(win, *win.target(run.rank).control);
  return modify(memory, what, local, {0, static_cast<std::size_t>(run.bytes)});
}

/// Has the target execute an accumulate, in pieces that fit its slot, until it does not answer one in
/// time or refuses it. How many bytes it has done.
std::size_t accumulate_by_calls(Win& win, const NodeAccumulate& what, const TargetRun& run,
                                const AccumulateBytes& local, ErrorClass& refused) {
  const auto bytes = static_cast<std::size_t>(run.bytes);
  const std::size_t piece = whole_elements(what, most_call_bytes);
  const RmaCall kind = local.old.empty() ? RmaCall::accumulate : RmaCall::get_accumulate;
  std::size_t at = 0;
  while (at < bytes && refused == ErrorClass::success) {
    const std::size_t part = std::min(bytes - at, piece);
    const AccumulateBytes own = local.part(at, part);
    NodeCall call = accumulate_call(
        kind, what,
        {run.rank, run.place + static_cast<std::int64_t>(at), static_cast<std::int64_t>(part)});
    call.data = own.source;
    call.result = own.old;
    if (!is_called(win, run.rank, call, refused)) break;
    at += part;
  }
  return at;
}

/// False, with nothing done: requests have to be used.
bool accumulate_unmapped(Win& win, const NodeAccumulate& what, const TargetRun& run,
                         const AccumulateBytes& local, ErrorClass& refused) {
  std::int64_t called = 0;
  // The rest of what the target begins has to be reached without it.
  const bool is_short = run.bytes <= most_call_bytes;
  if (is_short || (run.bytes <= most_called_bytes && TargetMemory(win, run, nullptr).reached())) {
    called = static_cast<std::int64_t>(accumulate_by_calls(win, what, run, local, refused));
  }
  if (called == run.bytes || is_refused(refused)) return true;
  const TargetRun rest{run.rank, run.place + called, run.bytes - called};
  const auto bytes = static_cast<std::size_t>(rest.bytes);
  TargetMemory memory(win, rest, nullptr);
  Modified modified = Modified::nothing;
  if (memory.reached()) {
    const AccumulateBytes own = local.part(static_cast<std::size_t>(called), bytes);
    modified = modify_by_kernel(win, what, rest, memory, own, refused);
  }
  if (is_refused(refused)) return true;
  if (modified == Modified::nothing && called == 0) return false;
  if (modified != Modified::all) refused = ErrorClass::rma_range;  // it has gone meanwhile
  return true;
}

}  // namespace

Error put_on_node(Win& win, const ConstData& origin, const TargetRun& run, bool& done) {
  if (const Error bad = prepare(win, run.rank, done); bad.failed() || !done) return bad;
  done = false;
  std::vector<std::byte> room;
  const auto bytes = static_cast<std::size_t>(run.bytes);
  const std::span<const std::byte> data = packed_bytes(origin, room).first(bytes);
  ErrorClass refused{};
  done = copy_to_or_from(win, CopyDirection::put, run, {const_cast<std::byte*>(data.data()), bytes},
                         refused);
  return refusal(win, run.rank, refused);
}

Error get_on_node(Win& win, const Data& origin, const TargetRun& run, bool& done) {
  if (const Error bad = prepare(win, run.rank, done); bad.failed() || !done) return bad;
  done = false;
  std::vector<std::byte> room;
  const auto bytes = static_cast<std::size_t>(run.bytes);
  std::span<std::byte> to(static_cast<std::byte*>(origin.address), bytes);
  if (!origin.type->contiguous) {
    room.resize(bytes);
    to = room;
  }
  ErrorClass refused{};
  done = copy_to_or_from(win, CopyDirection::get, run, to, refused);
  if (done && !origin.type->contiguous) {
    (void)View(*origin.type, origin.count).unpack(origin.address, 0, to);
  }
  return refusal(win, run.rank, refused);
}

Error accumulate_on_node(Win& win, const NodeAccumulate& what, const TargetRun& run, bool& done) {
  done = false;
  const bool plain = what.element == nullptr || what.element->contiguous;
  const wire::RmaControl* const control = win.target(run.rank).control;
  if (!plain || control == nullptr || win.node.calls == nullptr) return {};
  if (const Error bad = complete_requests(win, run.rank); bad.failed()) return bad;
  const auto bytes = static_cast<std::size_t>(run.bytes);
  std::vector<std::byte> packed;
  AccumulateBytes local;
  if (what.origin.type != nullptr) local.source = packed_bytes(what.origin, packed);
  if (!local.source.empty() && local.source.size() != bytes) return {};
  const bool fetches = what.result.type != nullptr;
  std::vector<std::byte> room;
  if (fetches && what.result.type->contiguous) {
    local.old = {static_cast<std::byte*>(what.result.address), bytes};
  } else if (fetches) {
    room.resize(bytes);
    local.old = room;
  }
  ErrorClass refused{};
  if (std::byte* const mapped = mapped_place(win, run); mapped != nullptr) {
    const AccumulateGuard guard(win, *win.target(run.rank).control);
    modify_mapped(mapped, what, local);
    done = true;
  } else {
    done = accumulate_unmapped(win, what, run, local, refused);
  }
  if (done && fetches && !what.result.type->contiguous) {
    (void)View(*what.result.type, what.result.count).unpack(what.result.address, 0, local.old);
  }
  return refusal(win, run.rank, refused);
}

Error swap_on_node(Win& win, std::span<const std::byte> both, void* result, const TargetRun& run,
                   bool& done) {
  done = false;
  wire::RmaControl* const control = win.target(run.rank).control;
  if (control == nullptr || win.node.calls == nullptr) return {};
  if (const Error bad = complete_requests(win, run.rank); bad.failed()) return bad;
  NodeCall call = call_for(RmaCall::compare_and_swap, run);
  call.data = both;
  call.result = {static_cast<std::byte*>(result), call.bytes};
  ErrorClass refused{};
  std::byte* const mapped = mapped_place(win, run);
  done = mapped == nullptr && is_called(win, run.rank, call, refused);
  if (done) return refusal(win, run.rank, refused);
  TargetMemory memory(win, run, mapped);
  if (!memory.reached()) return {};
  constexpr std::size_t most_bytes = 16;
  std::array<std::byte, most_bytes> old;
  const std::span<std::byte> there = std::span(old).first(call.bytes);
  const AccumulateGuard guard(win, *control);
  if (!memory.copy(CopyDirection::get, there)) return {};
  if (std::memcmp(there.data(), both.data(), call.bytes) == 0) {
    const std::span<const std::byte> fresh = both.subspan(call.bytes);
    const std::span<std::byte> from(const_cast<std::byte*>(fresh.data()), fresh.size());
    if (!memory.copy(CopyDirection::put, from)) return {};
  }
  std::memcpy(result, there.data(), call.bytes);
  done = true;
  return {};
}

}  // namespace fulmar::mpi
