// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "simulated/job.h"

#include <mpi-ext.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "mpi/coll/failure.h"
#include "mpi/p2p/requests.h"
#include "mpi/random/report.h"
#include "mpi/request/request.h"
#include "mpi/rma/win.h"
#include "runtime/library_access.h"

namespace simulated {
namespace {

using fulmar::device::Device;
using fulmar::mpi::ObjectKind;
using generated::at;
using generated::Dice;

/// So many turns without a packet mean that none will come: far more than any delay takes.
constexpr std::uint64_t most_turns_in_vain = 300'000;

template <class T, std::size_t n>
const T& one_of(Dice& dice, const std::array<T, n>& all) {
  return all[at(dice.below(static_cast<int>(n)))];
}

/// Names an algorithm for most operations: any of those there are.
std::string draw_algorithms(Dice& dice) {
  std::string text;
  for (std::size_t family = 0; family < fulmar::mpi::family_count; ++family) {
    std::vector<std::string> ways;
    const auto name = static_cast<fulmar::mpi::Family>(family);
    for (const fulmar::mpi::ChoiceRow& row : fulmar::mpi::choice_rows()) {
      if (row.family != name || row.needs == fulmar::mpi::Needs::coll_area) continue;
      ways.emplace_back(way_name(row.way));
    }
    const auto& way = ways[at(dice.below(generated::length(ways)))];
    if (dice.chance(30)) continue;
    text += (text.empty() ? "" : ",") + std::string(family_name(name)) + ":" + way;
  }
  return text;
}

fulmar::mpi::Choices choices_of(const Setup& setup) {
  std::vector<std::string> complaints;
  fulmar::mpi::Choices choices(setup.algorithms, complaints);
  for (const std::string& text : complaints) std::fprintf(stderr, "%s\n", text.c_str());
  if (!complaints.empty()) std::abort();
  if (setup.crowded) choices.set_crowded();
  return choices;
}

std::uint32_t node_of(const void* nodes, std::uint32_t process) {
  return (*static_cast<const std::vector<std::uint32_t>*>(nodes))[process];
}

void abort_job(void* /*context*/, int code) {
  std::fprintf(stderr, "the job was aborted with %d\n", code);
  std::abort();
}

fulmar::base::EngineLock& switched_off(fulmar::base::EngineLock& lock) {
  lock.set_enabled(false);
  return lock;
}

}  // namespace

Setup::Setup(std::uint64_t seed) {
  Dice dice(generated::mix({seed, 0x5e7}));
  ranks = dice.chance(10) ? dice.between(6, 9) : dice.between(1, 5);
  device.eager_bytes = one_of(dice, std::array<std::uint64_t, 5>{0, 10, 100, 1000, 64 << 10});
  device.unexpected_budget_bytes =
      one_of(dice, std::array<std::uint64_t, 4>{0, 1000, 30000, 16 << 20});
  device.long_copy =
      dice.chance(30) ? fulmar::device::LongCopy::stream : fulmar::device::LongCopy::automatic;
  algorithms = draw_algorithms(dice);
  const int node_count = dice.between(1, std::max(ranks, 1));
  for (int i = 0; i < ranks; ++i)
    nodes.push_back(static_cast<std::uint32_t>(dice.below(node_count)));
  compares_calls = dice.chance(15);
  crowded = dice.chance(50);
  reaches = dice.chance(60);
  reluctance = one_of(dice, std::array<double, 4>{0, 0, 0.2, 0.7});
  stay_percent = one_of(dice, std::array<int, 3>{0, 50, 95});
  hold_percent = one_of(dice, std::array<int, 4>{0, 0, 2, 20});
  for (int i = 0; i < ranks; ++i) shares.push_back(dice.chance(20) ? 1 : 10);
  opens = dice.chance(60);
  refuse_percent = one_of(dice, std::array<int, 4>{0, 0, 1, 10});
  device.remote_bytes = one_of(dice, std::array<std::uint64_t, 4>{0, 100, 10000, 64 << 10});
  const bool one_way = dice.chance(50);
  for (int i = 0; i < ranks; ++i) {
    const auto way = static_cast<fulmar::device::RdmaProtocol>(dice.below(4));
    ways.push_back(one_way && i > 0 ? ways[0] : way);
  }
  common_context_ranks = dice.chance(50) ? 1 : fulmar::mpi::World::default_common_context_ranks;
}

void Setup::set_ranks(int count) {
  ranks = count;
  nodes.assign(at(count), 0);
  shares.assign(at(count), 1);
  ways = std::vector(at(count), ways.front());
}

void Setup::set_nodes_of(int ranks_per_node) {
  for (int i = 0; i < ranks; ++i) nodes[at(i)] = static_cast<std::uint32_t>(i / ranks_per_node);
  const int count = (ranks + ranks_per_node - 1) / ranks_per_node;
  node_formula.emplace(at(ranks), at(ranks_per_node), at(count));
}

void Setup::set_design(const fulmar::study::DesignPlan& plan, fulmar::device::RdmaProtocol around) {
  design = plan;
  opens = true;  // pipes are
  refuse_percent = 0;
  ways = std::vector(at(ranks), around);
}

/// As runtime::FailureMonitor does, where each rank is on a node of its own.
Device::Config Rank::config_of(const Setup& setup, std::uint32_t self, Rank* rank) {
  Device::Config config = setup.device;
  config.self = self;
  config.size = static_cast<std::uint32_t>(setup.ranks);
  config.rdma_protocol = setup.ways[self];
  config.failures.context = rank;
  config.failures.ended = [](void* context, std::uint32_t process) {
    static_cast<Rank*>(context)->process_ended(process);
  };
  config.failures.reported = [](void* context, std::uint32_t process, std::uint32_t reporter) {
    static_cast<Rank*>(context)->device_.failures().add(
        process, "rank " + std::to_string(reporter) + " has told so");
  };
  config.failures.interruptible = [](void* context, const fulmar::device::Operation& receive) {
    return fulmar::mpi::is_interruptible(static_cast<Rank*>(context)->library_, receive);
  };
  return config;
}

void Rank::process_ended(std::uint32_t process) {
  fulmar::mpi::process_failed(library_, process);
  recovery_.process_failed(process);
  const auto size = static_cast<std::uint32_t>(world_.processes);
  for (std::uint32_t distance = 1; distance < size; distance *= 2) {
    for (const std::uint32_t step : {distance, size - distance}) {
      const std::uint32_t other = (port_.self() + step) % size;
      if (device_.failures().why(other) == nullptr) device_.failures().report(other, process);
    }
  }
}

Rank::Rank(fulmar::fabric::FakeNetwork& network, const Setup& setup, std::uint32_t self,
           const Rank* first)
    : nodes_(setup.nodes),
      errors_(library_, {abort_job, nullptr}),
      keyvals_(library_),
      info_(library_),
      group_(library_),
      ops_(library_),
      port_(network, self),
      device_(config_of(setup, self, this), switched_off(library_.lock)),
      recovery_(library_, device_),
      schedules_(device_, choices_of(setup)),
      world_(library_, device_, self, static_cast<std::uint32_t>(setup.ranks)) {
  if (first == nullptr) {
    datatypes_.emplace(library_);
  } else {
    share_datatypes(*first);
  }
  if (setup.design) {
    design_ =
        std::make_unique<fulmar::study::RemoteDesign<fulmar::fabric::Fake>>(port_, *setup.design);
    design_->use(device_.memory());
    device_.use(*design_);
  } else {
    device_.use(port_);
  }
  library_.device = &device_;
  library_.schedules = &schedules_;
  library_.recovery = &recovery_;
  library_.world = &world_;
  world_.common_context_ranks = setup.common_context_ranks;
  world_.compares_calls = setup.compares_calls;
  world_.checks_windows = setup.checks_windows;
  world_.placement = {node_of, nullptr, &nodes_,
                      setup.node_formula ? &*setup.node_formula : nullptr};
  errors_.rank = static_cast<int>(self);
  errors_.size = setup.ranks;
  library_.define(world_.world, reinterpret_cast<std::uintptr_t>(MPI_COMM_WORLD));
  library_.define(world_.self, reinterpret_cast<std::uintptr_t>(MPI_COMM_SELF));
  live_at_start_ = live();
}

/// They never change.
void Rank::share_datatypes(const Rank& first) {
  using fulmar::mpi::Datatype;
  constexpr std::uintptr_t above_predefined = 1024;  // of all kinds (MPI 5.0 section 20.2)
  for (std::uintptr_t handle = 0; handle < above_predefined; ++handle) {
    Datatype* const type = first.library_.find<Datatype>(handle);
    if (type != nullptr) library_.define(*type, handle);
  }
}

Rank::~Rank() {
  library_.undefine(world_.world.handle);
  library_.undefine(world_.self.handle);
  delete static_cast<fulmar::mpi::Request*>(library_.done_request);
}

std::array<std::size_t, fulmar::mpi::object_kind_count> Rank::live() const {
  std::array<std::size_t, fulmar::mpi::object_kind_count> counts{};
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    counts[kind] = library_.live(static_cast<ObjectKind>(kind));
  }
  return counts;
}

std::size_t Rank::open_pipes() { return design_ == nullptr ? 0 : design_->open_pieces(); }

/// Gives back the locks that others may wait for. Where a member has failed the call says so, and the
/// window is freed all the same.
void Rank::free_windows() {
  std::vector<MPI_Win> windows;
  (void)library_.any<fulmar::mpi::Win>([&](const fulmar::mpi::Win& each) {
    windows.push_back(fulmar::mpi::handle_cast<MPI_Win>(each));
    return false;
  });
  for (MPI_Win win : windows) {
    MPI_Win_unlock_all(win);
    for (int rank = 0; rank < errors_.size; ++rank) MPI_Win_unlock(rank, win);
    const fulmar::mpi::Win* const object = library_.find<fulmar::mpi::Win>(win);
    const int code = MPI_Win_free(&win);
    if (code == MPI_SUCCESS) continue;
    if (!generated::is_of_failure(code)) generated::fail("MPI_Win_free");
    kept_windows_.push_back(object);
  }
}

/// Those that the program has made, and that are complete.
std::vector<MPI_Comm> Rank::comms_of_program() const {
  std::vector<MPI_Comm> made;
  for (const fulmar::mpi::Comm* comm : library_.comms) {
    const auto holds = [&](const fulmar::mpi::Comm* other) { return other->local_comm == comm; };
    if (comm->predefined || comm->routes.empty() || comm->user_handles == 0) continue;
    if (std::any_of(library_.comms.begin(), library_.comms.end(), holds)) continue;
    const auto is_its = [&](const fulmar::mpi::Win& win) { return win.comm == comm; };
    if (library_.any<fulmar::mpi::Win>(is_its)) continue;
    if (std::any_of(kept_windows_.begin(), kept_windows_.end(),
                    [&](const fulmar::mpi::Win* win) { return win->comm == comm; }))
      continue;
    made.push_back(fulmar::mpi::handle_cast<MPI_Comm>(*comm));
  }
  return made;
}

void Rank::abandon_program(MPI_Comm kept) {
  using fulmar::mpi::Request;
  std::vector<MPI_Comm> comms = comms_of_program();
  for (MPI_Comm comm : comms) MPIX_Comm_revoke(comm);
  MPIX_Comm_revoke(MPI_COMM_WORLD);
  const auto is_under_way = [](const Request& each) { return each.active && !each.complete(); };
  device_.wait([&]() noexcept { return !library_.any<Request>(is_under_way); });
  std::vector<std::pair<MPI_Request, bool>> requests;
  (void)library_.any<Request>([&](const Request& each) {
    if (!each.shared)
      requests.emplace_back(fulmar::mpi::handle_cast<MPI_Request>(each), each.persistent);
    return false;
  });
  for (auto& [request, persistent] : requests) {
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (persistent) MPI_Request_free(&request);
  }
  free_windows();
  for (MPI_Comm comm : comms_of_program()) {
    if (comm != kept) MPI_Comm_free(&comm);
  }
}

std::string Rank::leftovers(WithDeaths deaths) {
  constexpr std::array<const char*, fulmar::mpi::object_kind_count> names = {
      "ops",      "communicators", "groups",         "windows",  "files",    "sessions",
      "messages", "info objects",  "error handlers", "requests", "datatypes"};
  std::string text;
  const auto add = [&](std::size_t count, const char* what) {
    if (count != 0) text += " " + std::to_string(count) + " " + what;
  };
  auto now = live();
  auto posted = device_.matcher().posted_count();
  std::size_t named = device_.named_operations();
  std::size_t open = device_.transfers();
  if (deaths == WithDeaths::yes) {
    // A window whose MPI_Win_free has failed answers other survivors: a receive waits on a communicator
    // of its own.
    const std::size_t kept = kept_windows_.size();
    posted -= kept;
    // What such a window tells those who have freed it in good order nobody takes.
    for (const fulmar::mpi::Win* win : kept_windows_) {
      named -= std::min<std::size_t>(named, win->busy);
      open -= std::min<std::size_t>(open, win->busy);
    }
    for (const ObjectKind kind : {ObjectKind::win, ObjectKind::comm, ObjectKind::group})
      now[static_cast<std::size_t>(kind)] -= kept;
  }
  for (std::size_t kind = 0; kind < now.size(); ++kind) {
    add(now[kind] - live_at_start_[kind], names[kind]);
  }
  add(posted, "receives that wait");
  if (deaths == WithDeaths::no) {
    add(device_.matcher().unexpected_count(), "messages that nobody received");
    add(device_.unexpected_bytes(), "bytes of such messages");
    add(device_.counters().malformed, "packets that made no sense");
  }
  add(named, "operations that a peer may name");
  add(device_.backlogged_peers(), "peers with queued packets");
  add(open, "messages with open memory");
  return text.empty() ? text : "rank " + std::to_string(port_.self()) + " has left:" + text;
}

Job::Job(const Setup& setup, std::uint64_t seed)
    : setup_(setup),
      dice_(generated::mix({seed, 0x70b})),
      network_(static_cast<std::uint32_t>(setup.ranks), seed) {
  network_.set_reach(setup.reaches);
  network_.set_reluctance(setup.reluctance);
  if (setup.opens) network_.memory().turn_on();
  for (int i = 0; i < setup.ranks; ++i) {
    ranks_.push_back(std::make_unique<Rank>(network_, setup, static_cast<std::uint32_t>(i)));
  }
}

std::string Job::run(const std::function<void(int)>& program) {
  int running = setup_.ranks;
  fibers_ = std::make_unique<Fibers>(setup_.ranks, [&](int rank) {
    be(rank);
    program(rank);
    // As MPI_Finalize does.
    ranks_[at(rank)]->device().drain();
    ranks_[at(rank)]->device().wait([&]() noexcept { return ranks_[at(rank)]->is_settled(); });
    --running;
  });
  network_.set_turn([this](std::uint32_t port) { take_turn(port); });
  if (deaths_) {
    network_.set_left([this](std::uint32_t port) { return fibers_->over(static_cast<int>(port)); });
  }
  while (running > 0) fibers_->run(next_rank());
  network_.set_turn({});
  settle();
  return leftovers();
}

std::string Job::leftovers() {
  std::string left;
  for (int i = 0; i < setup_.ranks; ++i) {
    if (deaths_ && deaths_->has_died(i)) continue;
    const std::string text =
        ranks_[at(i)]->leftovers(deaths_ ? Rank::WithDeaths::yes : Rank::WithDeaths::no);
    if (!text.empty()) left += "\n" + text;
  }
  return left + leftovers_of_network();
}

std::string Job::leftovers_of_network() {
  std::string left;
  if (network_.in_flight() != 0 && !deaths_) {
    left += "\n" + std::to_string(network_.in_flight()) + " packets in flight";
  }
  const fulmar::fabric::FakeMemory& memory = network_.memory();
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count != 0) left += "\n" + std::to_string(count) + what;
  };
  add(memory.under_way(), " orders under way");
  std::size_t pipes = 0;
  for (const auto& rank : ranks_) pipes += rank->open_pipes();
  if (!deaths_) add(memory.open_regions() - pipes, " open pieces of memory");
  add(memory.counters().breaches, " breaches of the rules for memory");
  add(memory.counters().bad_places, " orders for memory that was not open");
  return left;
}

void Job::take_turn(std::uint32_t port) {
  const auto rank = static_cast<int>(port);
  if (network_.packets_taken() != taken_before_) {
    taken_before_ = network_.packets_taken();
    turns_in_vain_ = 0;
  } else if (++turns_in_vain_ > most_turns_in_vain) {
    generated::fail("nothing moves any more;" + leftovers());
  }
  digest_ = generated::mix({digest_, port, network_.packets_taken(), network_.packets_posted()});
  disturb();
  if (!dice_.chance(setup_.stay_percent)) {
    fibers_->pass_to(next_rank());
    be(rank);
  }
  if (deaths_) let_die(rank);
}

/// The rank has a turn: it dies now, or learns that others have.
void Job::let_die(int rank) {
  if (deaths_->dies_now(rank)) network_.cut_off(static_cast<std::uint32_t>(rank));
  for (const int dead : deaths_->learned_now(rank)) {
    ranks_[at(rank)]->device().failures().add(static_cast<std::uint32_t>(dead),
                                              "it is simulated to have died");
  }
}

/// Now and then something goes wrong on the network.
void Job::disturb() {
  if (dice_.chance(setup_.hold_percent)) {
    const auto from = static_cast<std::uint32_t>(dice_.below(setup_.ranks));
    const auto to = static_cast<std::uint32_t>(dice_.below(setup_.ranks));
    network_.hold(from, to, static_cast<unsigned>(dice_.below(200)));
  }
  if (setup_.reaches && dice_.chance(1)) network_.fail_copies(1);
  if (setup_.opens) disturb_memory();
}

void Job::disturb_memory() {
  fulmar::fabric::FakeMemory& memory = network_.memory();
  if (dice_.chance(setup_.refuse_percent)) memory.refuse_to_open(1);
  using Victims = fulmar::fabric::FakeMemory::Victims;
  if (dice_.below(2000) == 0 && setup_.loses_orders) {
    memory.fail_orders(1, setup_.design ? Victims::fetches : Victims::all);
  }
  if (dice_.chance(1)) memory.hold_orders();
  if (dice_.chance(10)) memory.let_orders_go();
}

int Job::next_rank() {
  int all = 0;
  for (int i = 0; i < setup_.ranks; ++i) all += fibers_->over(i) ? 0 : setup_.shares[at(i)];
  int drawn = dice_.below(all);
  for (int i = 0; i < setup_.ranks; ++i) {
    if (fibers_->over(i)) continue;
    drawn -= setup_.shares[at(i)];
    if (drawn < 0) return i;
  }
  std::abort();
}

void Job::be(int rank) {
  fulmar::runtime::usable_library.store(&ranks_[at(rank)]->library(), std::memory_order_relaxed);
  generated::report().rank = rank;
}

void Job::settle() {
  network_.set_reluctance(0);
  network_.memory().let_orders_go();
  for (int still = 0; still < 300;) {
    unsigned moved = 0;
    for (int i = 0; i < setup_.ranks; ++i) {
      be(i);
      moved += ranks_[at(i)]->device().progress();
    }
    still = moved == 0 ? still + 1 : 0;
  }
}

}  // namespace simulated
