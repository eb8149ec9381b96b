// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "mpi/attr/attributes.h"
#include "mpi/coll/calls.h"
#include "mpi/coll/node_map.h"
#include "mpi/comm/failure.h"
#include "mpi/comm/world.h"
#include "mpi/comm_make/creation.h"
#include "mpi/comm_make/member_info.h"
#include "mpi/rma/access_record.h"
#include "mpi/rma/adapter.h"
#include "mpi/rma/calls.h"
#include "mpi/rma/hints.h"
#include "mpi/rma/node/attached_table.h"
#include "mpi/rma/node/node_calls.h"
#include "mpi/rma/node/node_heaps.h"
#include "mpi/rma/node/node_mapping.h"
#include "mpi/rma/requests.h"
#include "mpi/rma/server/request_batch.h"
#include "mpi/rma/server/sent_types.h"
#include "mpi/rma/server/server.h"
#include "mpi/rma/sync/epochs.h"
#include "mpi/rma/sync/exchange.h"
#include "mpi/rma/sync/wait_note.h"
#include "mpi/rma/win.h"

/// How windows are made and freed. The processes duplicate the communicator, tell each other what
/// each gives, and, where the library gives the memory, map that of their node.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// What the caller asks for.
struct Wanted {
  int flavor;
  void* base;
  Count size;
  Count unit;
  const Info* info;
};

Error check_wanted(const Comm& comm, const Wanted& wanted) {
  if (comm.is_inter) {
    return failure(
        ErrorClass::comm,
        "argument comm: windows are made of intracommunicators; use MPI_Intercomm_merge");
  }
  if (wanted.flavor == MPI_WIN_FLAVOR_CREATE && wanted.base == nullptr && wanted.size > 0) {
    return failure(ErrorClass::base, "argument base: null pointer to %lld bytes",
                   static_cast<long long>(wanted.size));
  }
  return {};
}

/// A window whose ranks have a communicator of their own; not yet known to the user.
class NewWin {
 public:
  explicit NewWin(Library& library) noexcept
      : library_(library), win_(library.make<Win>(library)) {}
  ~NewWin() {
    if (win_ != nullptr) library_.retire(*win_);
  }
  NewWin(const NewWin&) = delete;
  NewWin& operator=(const NewWin&) = delete;

  [[nodiscard]] Win& win() const noexcept { return *win_; }
  /// Fails in all ranks or in none.
  Error join(Comm& parent, Error so_far);
  void give(MPI_Win& out) noexcept { out = handle_cast<MPI_Win>(*std::exchange(win_, nullptr)); }

 private:
  Library& library_;
  Win* win_;
};

Error NewWin::join(Comm& parent, Error so_far) {
  if (win_ == nullptr && so_far.ok()) {
    so_far = failure(ErrorClass::no_mem, "no memory for another window");
  }
  NewComm fresh(library_, NewComm::Shape::intra);
  MemberTable members;
  const Error exchanged =
      gather_member_info(parent, fresh.announcement(so_far, NewComm::Boards::offer), members);
  if (so_far.failed()) return so_far;
  if (exchanged.failed()) return exchanged;
  if (const Error bad = check_census(members); bad.failed()) return bad;
  if (const Error bad = settle(*fresh.comm(), parent.session, members); bad.failed()) return bad;
  MPI_Comm handle = MPI_COMM_NULL;
  fresh.give(handle);
  win_->comm = library_.find<Comm>(handle);
  win_->device = library_.device;
  win_->targets.resize(static_cast<std::size_t>(win_->comm->size()));
  return {};
}

void set_own(Win& win, const Wanted& wanted) {
  win.flavor = wanted.flavor;
  win.base = wanted.base;
  win.shown.size = wanted.size;
  win.shown.unit = static_cast<int>(std::min<Count>(wanted.unit, std::numeric_limits<int>::max()));
  win.attributes.fixed = {{MPI_WIN_BASE, wanted.base},
                          {MPI_WIN_SIZE, &win.shown.size},
                          {MPI_WIN_DISP_UNIT, &win.shown.unit},
                          {MPI_WIN_CREATE_FLAVOR, &win.flavor},
                          {MPI_WIN_MODEL, &win.model}};
}

/// Operations on the own memory are loads and stores.
void use_own_memory(Win& win) {
  RmaTarget& self = win.target(win.rank());
  if (win.dynamic()) return;
  self.memory = static_cast<std::byte*>(win.base);
  self.direct = true;
}

void set_targets(Win& win, const std::vector<WinFacts>& facts) {
  for (std::size_t rank = 0; rank < facts.size(); ++rank) {
    win.targets[rank].size = facts[rank].size;
    win.targets[rank].unit = facts[rank].unit;
    if (is_reached(win, static_cast<int>(rank))) win.targets[rank].remote = facts[rank].base;
  }
}

/// What this rank wants of a window that all have to want.
void add_wishes(const Win& win, WinFacts& own) {
  using Direct = device::RemoteSchedule::Direct;
  own.checked = win.library->world->checks_windows ? 1 : 0;
  const bool by_requests = win.device->config().remote_schedule.direct == Direct::requests;
  own.by_requests = own.checked != 0 || by_requests ? 1 : 0;
}

/// Where all ranks want it, other ranks are reached by requests, and so is the own one. Checks need that: each sees
/// what is done to its own memory, and none of its own operations takes the straight way.
void heed_wishes(Win& win, const std::vector<WinFacts>& facts) {
  const auto all = [&](std::uint32_t WinFacts::* wish) {
    return std::all_of(facts.begin(), facts.end(),
                       [&](const WinFacts& each) { return each.*wish != 0; });
  };
  if (!all(&WinFacts::by_requests)) return;
  if (all(&WinFacts::checked)) win.watch.check = std::make_unique<WindowCheck>();
  win.node.by_requests = true;
  win.node.calls.reset();
  win.node.tables = {};
  for (int rank = 0; rank < win.size(); ++rank) {
    RmaTarget& target = win.target(rank);
    target.remote = 0;
    target.direct = false;
  }
}

/// Whether some rank, as those of other hosts, reaches the lock of this one by requests, which come in
/// passive target epochs without any call of this process.
bool is_served_by_requests(const Win& win) {
  return !win.no_locks && std::any_of(win.targets.begin(), win.targets.end(),
                                      [](const auto& each) { return each.control == nullptr; });
}

Error finish(NewWin& made, const Wanted& wanted, const std::vector<WinFacts>& facts, MPI_Win& out) {
  Win& win = made.win();
  keep_hints(win, wanted.info, HintTime::making);
  const bool adapters = std::any_of(facts.begin(), facts.end(),
                                    [](const WinFacts& each) { return each.adapters != 0; });
  if (adapters) {
    if (const Error bad = open_to_adapters(win); bad.failed()) return bad;
  }
  win.origin.control = win.target(win.rank()).control;
  win.server = std::make_unique<RmaServer>(win);
  win.server->start();
  auto& thread = win.library->world->window_thread;
  if (thread.start != nullptr && is_served_by_requests(win)) thread.wanted = true;
  made.give(out);
  return {};
}

/// Maps the control lines of the node's ranks, if any node has several and all of them can; else
/// each rank has its own, and the lock of another one is asked for by requests.
Error map_controls(Win& win, NodeMapping& mapping, const std::vector<WinFacts>& facts) {
  const std::span<const int> ranks = node_map(*win.comm).own();
  const bool shared = std::any_of(facts.begin(), facts.end(),
                                  [](const WinFacts& each) { return each.socket != 0; });
  const bool failed = std::any_of(facts.begin(), facts.end(),
                                  [](const WinFacts& each) { return each.failed != 0; });
  if (shared && !failed) {
    const NodePlan plan = plan_controls(ranks);
    const Error error = mapping.map(facts, plan);
    if (error.ok()) {
      use_node_controls(win, ranks);
      win.node.tables = {plan.tables, plan.table_lines};
      const bool calls = ranks.size() > 1 && win.target(win.rank()).place != RmaTarget::no_place;
      if (calls) win.node.calls = std::make_unique<NodeCalls>(win, plan);
      return {};
    }
    win.memory.reset();
    if (const Error died = failure_of(*win.comm); died.failed()) return died;
  }
  win.node.own_control = std::make_unique<wire::RmaControl>();
  win.target(win.rank()).control = win.node.own_control.get();
  return {};
}

/// A window on memory that each process has already, or attaches later.
Error make_on_own(Library& library, Comm& comm, const Wanted& wanted, MPI_Win& out) {
  out = MPI_WIN_NULL;
  const Error so_far = failure_so_far(comm, check_wanted(comm, wanted));
  if (comm.is_inter) return so_far;
  NewWin made(library);
  if (const Error bad = made.join(comm, so_far); bad.failed()) return bad;
  Win& win = made.win();
  NodeMapping mapping(win, node_map(*win.comm).own());
  WinFacts own{wanted.size, wanted.unit, reinterpret_cast<std::uint64_t>(wanted.base)};
  own.failed = static_cast<std::uint32_t>(mapping.prepare(own).code());
  set_own(win, wanted);
  own.adapters = has_adapter_targets(win) ? 1 : 0;
  own.heap = own_heap_name(win);
  std::vector<WinFacts> facts;
  add_wishes(win, own);
  if (const Error bad = gather_all(*win.comm, own, facts); bad.failed()) return bad;
  if (const Error bad = map_controls(win, mapping, facts); bad.failed()) return bad;
  set_targets(win, facts);
  use_own_memory(win);
  map_heaps(win, facts);
  heed_wishes(win, facts);
  return finish(made, wanted, facts, out);
}

std::vector<int> codes_of(const std::vector<WinFacts>& facts) {
  std::vector<int> codes;
  for (const WinFacts& each : facts) codes.push_back(static_cast<int>(each.failed));
  return codes;
}

/// A window on memory that the library gives.
Error make_with_memory(Library& library, Comm& comm, Wanted wanted, Spacing spacing, void*& base,
                       MPI_Win& out) {
  out = MPI_WIN_NULL;
  const Error so_far = failure_so_far(comm, check_wanted(comm, wanted));
  if (comm.is_inter) return so_far;
  NewWin made(library);
  if (const Error bad = made.join(comm, so_far); bad.failed()) return bad;
  Win& win = made.win();
  const std::span<const int> ranks = node_map(*win.comm).own();
  if (wanted.flavor == MPI_WIN_FLAVOR_SHARED && static_cast<int>(ranks.size()) != win.size()) {
    return failure(ErrorClass::rma_shared,
                   "argument comm: its %d processes cannot share memory, because only %zu of them "
                   "are on this node; split it with MPI_COMM_TYPE_SHARED first",
                   win.size(), ranks.size());
  }
  NodeMapping mapping(win, ranks);
  WinFacts own{wanted.size, wanted.unit};
  own.alignment = alignment_of(wanted.info);
  own.apart = spacing == Spacing::aligned ? 1 : 0;
  add_wishes(win, own);
  own.adapters = has_adapter_targets(win) ? 1 : 0;
  const Error prepared = mapping.prepare(own);
  own.failed = static_cast<std::uint32_t>(prepared.code());
  std::vector<WinFacts> facts;
  if (const Error bad = gather_all(*win.comm, own, facts); bad.failed()) return bad;
  if (const Error bad = agreed(*win.comm, prepared, codes_of(facts)); bad.failed()) return bad;
  const NodePlan plan = plan_node(ranks, facts);
  if (const Error bad = mapping.map(facts, plan); bad.failed()) return bad;
  set_targets(win, facts);
  use_node_controls(win, ranks);
  use_node_memory(win, ranks, plan);
  heed_wishes(win, facts);
  wanted.base = base = win.target(win.rank()).memory;
  set_own(win, wanted);
  return finish(made, wanted, facts, out);
}

void publish(Win& win) noexcept {
  const std::uint8_t place = win.target(win.rank()).place;
  if (win.node.tables.lines == 0 || place == RmaTarget::no_place) return;
  publish_attached(*win.node.tables.of(*win.memory, place), win.node.tables.lines, win.attached,
                   own_heap_name(win));
}

bool is_true(const Info* info, std::string_view key) {
  const std::string* value = info == nullptr ? nullptr : info->find(key);
  return value != nullptr && *value == "true";
}

}  // namespace

Win::Win(Library& owner) noexcept : ErrorHolder(object_kind), library(&owner) {}

Win::~Win() {
  server.reset();
  node.calls.reset();
  origin.adapter.reset();
  if (device != nullptr) close_to_adapters(*this);
  origin.batches.reset();
  origin.sent_types.reset();
  if (comm != nullptr) library->give_back(*comm);
  drop_errhandler(*library, *this);
}

Error win_create(Library& library, void* base, Count size, Count unit, Info* info, Comm& comm,
                 MPI_Win& out) {
  return make_on_own(library, comm, {MPI_WIN_FLAVOR_CREATE, base, size, unit, info}, out);
}

Error win_create_dynamic(Library& library, Info* info, Comm& comm, MPI_Win& out) {
  return make_on_own(library, comm, {MPI_WIN_FLAVOR_DYNAMIC, nullptr, 0, 1, info}, out);
}

Error win_allocate(Library& library, Count size, Count unit, Info* info, Comm& comm, void*& base,
                   MPI_Win& out) {
  return make_with_memory(library, comm, {MPI_WIN_FLAVOR_ALLOCATE, nullptr, size, unit, info},
                          Spacing::aligned, base, out);
}

Error win_allocate_shared(Library& library, Count size, Count unit, Info* info, Comm& comm,
                          void*& base, MPI_Win& out) {
  const Spacing spacing =
      is_true(info, "alloc_shared_noncontig") ? Spacing::aligned : Spacing::contiguous;
  return make_with_memory(library, comm, {MPI_WIN_FLAVOR_SHARED, nullptr, size, unit, info},
                          spacing, base, out);
}

Error win_free(Library& library, ErrorTarget& target, Handle<Win> handle) {
  Win& win = *handle.object;
  const bool in_epoch = win.access != AccessEpoch::none && win.access != AccessEpoch::fence;
  const bool is_open = in_epoch || win.exposure.open;
  if (is_open) (void)win.device->progress();  // what other calls know of failures
  await_known_failures(*win.comm);
  if (win.comm->failed_process != Comm::none_failed || library.told_failure) {
    give_up_epochs(win);
  } else if (is_open) {
    return failure(ErrorClass::rma_sync, "%s has an open epoch; end it before MPI_Win_free",
                   name_of(win));
  }
  target.keep(win);  // the functions of the attributes may use it, too
  Error error = delete_attributes(library, {win.attributes, KeyvalKind::win, win.handle});
  if (error.ok()) {
    error = complete_opened(win);
    const WindowWait wait(win, WindowWait::For::own);
    win.device->wait([&]() noexcept { return win.busy == 0; }, wait.note());
    const Error met = barrier(*win.comm);
    if (error.ok()) error = met;
    if (win.watch.check != nullptr && win.watch.check->record.left_out() != 0) {
      std::fprintf(
          stderr,
          "fulmar: FULMAR_CHECK=rma: %llu accesses to the memory of rank %d in %s were not "
          "recorded, because there were more than %zu in one epoch\n",
          static_cast<unsigned long long>(win.watch.check->record.left_out()), win.rank(),
          name_of(win), AccessRecord::most_accesses);
    }
    win.node.calls.reset();
    if (met.ok()) {
      win.server->stop();
    } else {
      tell_leave(win);
      library.acquire(win);           // until MPI ends: other survivors may still wait for answers
      win.origin.sent_types.reset();  // this process requests nothing more
    }
    library.retire(win);
    *handle.where = MPI_WIN_NULL;
  }
  return error;
}

Error win_shared_query(Win& win, int rank, Count& size, CountOut unit, void*& base) {
  if (win.dynamic()) {
    return failure(ErrorClass::rma_flavor, "%s is a dynamic window, which has no memory to share",
                   name_of(win));
  }
  if (rank == MPI_PROC_NULL) {
    // The same rank for all callers, also where some cannot reach its memory (12.2.3).
    const auto first = std::find_if(win.targets.begin(), win.targets.end(),
                                    [](const auto& target) { return target.size > 0; });
    if (first == win.targets.end() || first->memory == nullptr) {
      size = 0;
      base = nullptr;
      return unit.set(0);
    }
    rank = static_cast<int>(first - win.targets.begin());
  }
  const RmaTarget& target = win.target(rank);
  base = target.memory;
  size = target.memory != nullptr ? target.size : 0;
  if (const Error bad = unit.set(target.memory != nullptr ? target.unit : 0); bad.failed()) {
    return bad;
  }
  return target.memory == nullptr || rank == win.rank() ? Error{} : note_loads(win, rank);
}

Error win_attach(Win& win, void* base, Count size) {
  if (!win.dynamic()) {
    return failure(ErrorClass::rma_flavor,
                   "%s is not dynamic; memory is attached to windows of MPI_Win_create_dynamic",
                   name_of(win));
  }
  const auto address = reinterpret_cast<std::uint64_t>(base);
  const auto bytes = static_cast<std::uint64_t>(size);
  if (base == nullptr && size > 0) {
    return failure(ErrorClass::base, "argument base: null pointer to %lld bytes",
                   static_cast<long long>(size));
  }
  if (address + bytes < address) {
    return failure(ErrorClass::rma_attach,
                   "argument size: %lld bytes from %p leave the address space",
                   static_cast<long long>(size), base);
  }
  for (const Win::Attached& each : win.attached) {
    const bool overlaps = address < each.address + each.bytes && each.address < address + bytes;
    if (overlaps && bytes != 0 && each.bytes != 0) {
      return failure(ErrorClass::rma_attach,
                     "argument base: %p with %lld bytes overlaps with memory that is attached",
                     base, static_cast<long long>(size));
    }
  }
  win.attached.push_back({address, bytes});
  publish(win);
  return {};
}

Error win_detach(Win& win, const void* base) {
  if (!win.dynamic()) {
    return failure(ErrorClass::rma_flavor, "%s is not dynamic; nothing is attached to it",
                   name_of(win));
  }
  const auto address = reinterpret_cast<std::uint64_t>(base);
  const auto found = std::find_if(win.attached.begin(), win.attached.end(),
                                  [&](const auto& each) { return each.address == address; });
  if (found == win.attached.end()) {
    return failure(ErrorClass::base, "argument base: no memory is attached at %p", base);
  }
  win.attached.erase(found);
  publish(win);
  return {};
}

}  // namespace fulmar::mpi
