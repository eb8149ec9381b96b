// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/device.h"
#include "fabric/fake/fake.h"
#include "mpi/attr/keyvals.h"
#include "mpi/coll/engine/schedules.h"
#include "mpi/comm/world.h"
#include "mpi/datatype/datatype.h"
#include "mpi/errhandler/errhandler.h"
#include "mpi/group/group.h"
#include "mpi/info/info.h"
#include "mpi/library.h"
#include "mpi/op/op.h"
#include "mpi/random/dice.h"
#include "mpi/recovery/recovery.h"
#include "simulated/deaths.h"
#include "simulated/fibers.h"
#include "study/remote_design.h"

/// A whole MPI job in one thread: each rank is a fiber with a library of its own, and all of them
/// share a FakeNetwork. Whenever a rank polls the network, the seed decides which rank continues, what is
/// delayed, overtaken or refused; so a run is repeated by its seed, packet by packet.
namespace simulated {

/// All that a seed decides about a job.
struct Setup {
  explicit Setup(std::uint64_t seed);
  /// Another number of ranks in place of that of the seed: all on one node, and alike.
  void set_ranks(int count);
  /// So many neighbours are on each node.
  void set_nodes_of(int ranks_per_node);
  /// Packets go by one of the papers' channel designs, and long messages around it or not.
  void set_design(const fulmar::study::DesignPlan& plan, fulmar::device::RdmaProtocol around);

  int ranks;
  fulmar::device::Device::Config device;
  std::string algorithms;            ///< as FULMAR_COLL
  std::vector<std::uint32_t> nodes;  ///< of the ranks
  std::optional<fulmar::base::BlockCyclic> node_formula;
  bool compares_calls;          ///< as FULMAR_CHECK=collectives
  int common_context_ranks;     ///< as FULMAR_COMMON_CONTEXT_RANKS
  bool checks_windows = false;  ///< as FULMAR_CHECK=rma
  bool loses_orders = true;     ///< orders of adapters end as lost now and then
  bool crowded;
  bool reaches;                                    ///< ranks read each other's memory
  bool opens;                                      ///< and open it to each other's adapters
  int refuse_percent;                              ///< how often that is refused
  std::vector<fulmar::device::RdmaProtocol> ways;  ///< of each rank, where memory is opened
  std::optional<fulmar::study::DesignPlan> design;
  double reluctance;        ///< how often the network refuses a packet, or gives none
  int stay_percent;         ///< how often a rank goes on that has polled in vain
  int hold_percent;         ///< how often a way between two ranks is held up
  std::vector<int> shares;  ///< of each rank, in the time of all
};

/// What one process has, as runtime::Process, on a port of a network.
class Rank {
 public:
  /// With `first` the predefined datatypes are those of that rank, which ends later.
  Rank(fulmar::fabric::FakeNetwork& network, const Setup& setup, std::uint32_t self,
       const Rank* first = nullptr);
  ~Rank();
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  [[nodiscard]] fulmar::mpi::Library& library() noexcept { return library_; }
  [[nodiscard]] fulmar::device::Device& device() noexcept { return device_; }
  /// Objects and messages that are left after a program; empty: none.
  /// Where ranks die there may be messages that nobody received, and late packets of dead ranks that
  /// name operations which have ended.
  enum class WithDeaths : bool { no, yes };
  [[nodiscard]] std::string leftovers(WithDeaths deaths = WithDeaths::no);
  /// Pieces of memory that are open for the pipes of a design.
  [[nodiscard]] std::size_t open_pipes();
  /// A process that ends waits until what it gave to a design is on its way.
  [[nodiscard]] bool is_settled() { return design_ == nullptr || design_->is_settled(); }
  /// Ends what is under way on all communicators, by revoking them, and frees all objects of the
  /// program but this communicator and the predefined ones.
  void abandon_program(MPI_Comm kept);
  /// Frees all windows, with what they have locked. Those of which a process has failed stay, to
  /// answer others, and so do their communicators.
  void free_windows();
  /// What the design has cost; zeros where there is none.
  [[nodiscard]] fulmar::study::DesignCounters design_counters() const {
    return design_ == nullptr ? fulmar::study::DesignCounters() : design_->counters();
  }

 private:
  [[nodiscard]] static fulmar::device::Device::Config config_of(const Setup& setup,
                                                                std::uint32_t self, Rank* rank);
  void process_ended(std::uint32_t process);
  [[nodiscard]] std::vector<MPI_Comm> comms_of_program() const;
  [[nodiscard]] std::array<std::size_t, fulmar::mpi::object_kind_count> live() const;
  void share_datatypes(const Rank& first);

  const std::vector<std::uint32_t>& nodes_;
  fulmar::mpi::Library library_;
  fulmar::mpi::ErrorState errors_;
  fulmar::mpi::Keyvals keyvals_;
  fulmar::mpi::PredefinedInfo info_;
  fulmar::mpi::PredefinedGroup group_;
  std::optional<fulmar::mpi::PredefinedDatatypes> datatypes_;
  fulmar::mpi::PredefinedOps ops_;
  fulmar::fabric::Fake port_;
  std::unique_ptr<fulmar::study::RemoteDesign<fulmar::fabric::Fake>> design_;
  fulmar::device::Device device_;
  fulmar::mpi::Recovery recovery_;
  fulmar::mpi::Schedules schedules_;
  fulmar::mpi::World world_;
  std::vector<const fulmar::mpi::Win*> kept_windows_;  ///< whose MPI_Win_free has failed
  std::array<std::size_t, fulmar::mpi::object_kind_count> live_at_start_{};
};

class Job {
 public:
  Job(const Setup& setup, std::uint64_t seed);
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Runs `program(rank)` in every rank, with MPI initialised, to its end; once. Fails (generated::
  /// fail) where nothing moves any more before that. The result says what is left of it; empty:
  /// nothing.
  [[nodiscard]] std::string run(const std::function<void(int)>& program);

  /// Before `run`: some ranks die in it. What is left of dead ranks does not count, nor do messages
  /// that nobody received.
  void let_ranks_die(std::uint64_t seed) { deaths_.emplace(setup_.ranks, seed); }
  [[nodiscard]] const std::optional<Deaths>& deaths() const noexcept { return deaths_; }

  [[nodiscard]] fulmar::fabric::FakeNetwork& network() noexcept { return network_; }
  [[nodiscard]] Rank& rank(int number) { return *ranks_[generated::at(number)]; }
  /// Depends on every turn that was taken.
  [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }

 private:
  void take_turn(std::uint32_t port);
  void let_die(int rank);
  void disturb();
  void disturb_memory();
  /// Of those that are not over.
  [[nodiscard]] int next_rank();
  [[nodiscard]] std::string leftovers();
  [[nodiscard]] std::string leftovers_of_network();
  void be(int rank);
  /// Lets everything move that still can.
  void settle();

  const Setup& setup_;
  generated::Dice dice_;
  fulmar::fabric::FakeNetwork network_;
  std::vector<std::unique_ptr<Rank>> ranks_;
  std::unique_ptr<Fibers> fibers_;
  std::optional<Deaths> deaths_;
  std::uint64_t digest_ = 0;
  std::uint64_t taken_before_ = 0;
  std::uint64_t turns_in_vain_ = 0;
};

}  // namespace simulated
