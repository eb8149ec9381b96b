// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/block_cyclic.h"
#include "base/error.h"
#include "base/os/fd.h"
#include "fabric/process_table.h"
#include "fabric/shm/shm.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/bootstrap/detect.h"
#include "runtime/checkpoint/area_image.h"
#include "runtime/job/inherited_fd.h"
#include "wire/node/job.h"
#include "wire/process_address.h"

namespace fulmar::runtime {

/// The job that this process belongs to: its launcher and size, the mapped segment that the ranks
/// of this node share, and this rank's record in it. A process that was started without a launcher
/// is a job of one, with a segment of its own.
///
/// Ranks are those of the whole job. An *index* is the position among the ranks
/// of this node, which is that of records and areas in the segment.
///
/// Thread rule: the lock of the library, but for `abort`.
class Job {
 public:
  Job() = default;
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Finds the launcher by the environment (docs/launchers.md) and maps the node's segment: under
  /// Fulmar's mpiexec from the inherited descriptor, or from mpiexec's socket (wire/node/join.h)
  /// when a wrapper has closed that, or an earlier program of this rank has used the rank's record
  /// in it; under others from the lowest rank of the node, which is collective
  /// (wire/node/node_join.h). MPI_ERR_OTHER with a text where the environment describes a job that
  /// cannot be joined, or where another process is this rank already.
  [[nodiscard]] base::Error join();
  /// Finalizes the connection to a launcher that is not Fulmar's: collective, once. Addresses
  /// cannot be looked up any more then; those of up to `most_remembered` ranks are looked up
  /// before, for sessions that follow. No effect under mpiexec, or a second time.
  [[nodiscard]] base::Error leave();

  [[nodiscard]] std::uint32_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }
  /// The ranks that share this node's segment, ascending; this one is at `local_index`.
  [[nodiscard]] std::span<const std::uint32_t> node_ranks() const noexcept { return node_ranks_; }
  [[nodiscard]] std::uint32_t local_index() const noexcept { return local_index_; }
  /// Nodes are numbered by their lowest ranks. Ranks that share no segment are not on one node.
  [[nodiscard]] std::uint32_t node_of(std::uint32_t rank) const noexcept { return node_of_[rank]; }
  /// The formula of `node_of`; null where there is none.
  [[nodiscard]] const base::BlockCyclic* node_formula() const noexcept {
    return node_of_.size() != 0 && node_of_.regular() ? &node_of_ : nullptr;
  }
  [[nodiscard]] std::uint32_t node_count() const noexcept { return node_count_; }
  /// Random, the same in the whole job, and not 0: the prefix of the names of its processes.
  [[nodiscard]] std::uint32_t job_id() const noexcept { return view_.job_id; }
  /// This job's processes and its secret key; the layers that connect to other jobs add
  /// those. Null before `join`.
  [[nodiscard]] const std::shared_ptr<fabric::ProcessTable>& processes() const noexcept {
    return processes_;
  }
  /// Whether this is the process that joined, and not one that it has forked.
  [[nodiscard]] bool is_owner() const noexcept;
  /// The launcher through which this process joined its job.
  [[nodiscard]] bootstrap::Launcher launcher() const noexcept { return launcher_; }

  /// The connection to a launcher that is not Fulmar's; null under mpiexec, and without a launcher.
  [[nodiscard]] bootstrap::Bootstrap* bootstrap() const noexcept { return bootstrap_.get(); }

  [[nodiscard]] bool singleton() const noexcept { return singleton_; }
  [[nodiscard]] bool oversubscribed() const noexcept;
  [[nodiscard]] int appnum() const noexcept { return appnum_; }
  /// MPI_UNIVERSE_SIZE: the launcher's value, and at least the size of this job. Queries the
  /// launcher.
  [[nodiscard]] std::uint32_t universe_size();
  /// How many ranks run this rank's program of the command line; 0 where ranks of other nodes may.
  [[nodiscard]] std::uint32_t program_size() const noexcept;
  /// An ancestor of all ranks of this node.
  [[nodiscard]] std::int32_t mpiexec_pid() const noexcept { return view_.mpiexec_pid; }

  /// Publishes the network addresses of this process. Collective; each process calls it
  /// once. Fails (other) when the launcher does not answer, or `blob` has more than
  /// `most_address_bytes`.
  [[nodiscard]] base::Error publish_address(std::span<const std::byte> blob);
  /// The addresses that `rank` has published; may block for a round trip to the launcher. Under
  /// mpiexec a rank may not have initialised MPI yet: the caller polls (and gets an empty value,
  /// which no address is) or waits for it. Fails (other), also for a rank whose process has ended
  /// without initialising MPI.
  enum class Patience : bool { look, wait };
  [[nodiscard]] base::Result<std::vector<std::byte>> address_of(std::uint32_t rank,
                                                                Patience patience);
  static constexpr std::size_t most_address_bytes = wire::max_network_address_bytes;
  static constexpr std::uint32_t most_remembered = 128;

  /// Publishes the state of this rank to mpiexec and the other ranks of this node; no effect for a
  /// singleton.
  void set_state(wire::RankState state) noexcept;
  /// Has the launcher end the whole job, with `status` unless the launcher chooses another; `code`
  /// is the argument of MPI_Abort. The caller ends this process then. In a process that was forked
  /// by the one that joined, and that no mpiexec of Fulmar watches, also sends that one SIGTERM: a
  /// launcher sees its end, and a job of one has no other process.
  void abort(int code, int status, const char* text) noexcept;

  /// A rank of this node that has died inside MPI and is not marked as failed, and its process
  /// number; see neighbours.h. Nothing under mpiexec, which marks it.
  struct Death {
    std::uint32_t rank = 0;
    std::int32_t pid = 0;
  };
  [[nodiscard]] std::optional<Death> find_death() const noexcept;
  /// Marks a rank of this node as failed, for all ranks of the node.
  void mark_failed(std::uint32_t rank) noexcept;
  /// A rank of this node has called MPI_Abort, and the launcher, which is not mpiexec, was asked to
  /// end the others.
  [[nodiscard]] bool is_ending() const noexcept;
  /// Ranks of this node that are marked as failed, by mpiexec or by `mark_failed`: their number,
  /// whether a rank is one of them, and all of them.
  [[nodiscard]] std::uint32_t failed_ranks() const noexcept;
  [[nodiscard]] bool has_failed(std::uint32_t rank) const noexcept;
  [[nodiscard]] std::vector<Death> deaths() const;

  /// MPI_Finalize is over: before the state `finalized`.
  void close_world() noexcept;
  /// Whether a rank of this node has left MPI and its communicators for good, or its process has
  /// ended. Its earlier writes are visible then. False for ranks of other nodes.
  [[nodiscard]] bool has_left(std::uint32_t rank) const noexcept;
  /// A rank of this node has called MPI_Finalize, and did not die before.
  [[nodiscard]] bool has_closed(std::uint32_t rank) const noexcept;

  /// Whether a rank of this node has ended without entering MPI; see wire::never_joined. False for
  /// ranks of other nodes.
  [[nodiscard]] bool never_joined(std::uint32_t rank) const noexcept;
  /// The same as text, to be printed behind the name of such a rank and a colon.
  [[nodiscard]] std::string why_missing() const;

  /// The processors that a rank of the job is bound to, see wire/node/job.h; empty for one that is
  /// not bound, or partly to processors for which the record has no bits, or that is on another
  /// node.
  [[nodiscard]] std::span<const std::uint64_t> binding_of(std::uint32_t rank) const noexcept;

  /// The record in which this rank describes its wait. Requires a joined job.
  [[nodiscard]] wire::WaitRecord& wait_record() noexcept {
    return view_.records[local_index_].wait;
  }

  /// The records of the ranks of this node, in which they meet for a checkpoint; this rank's own.
  /// Both require a joined job.
  [[nodiscard]] std::span<const wire::RankRecord> records() const noexcept { return view_.records; }
  [[nodiscard]] wire::RankRecord& own_record() noexcept { return view_.records[local_index_]; }

  /// Whether the segment can be set aside: its launcher is Fulmar's mpiexec, or there is none.
  [[nodiscard]] bool can_set_aside() const noexcept { return bootstrap_ == nullptr; }
  /// For a checkpoint: keeps what this rank's area holds, gives back the segment and closes what was inherited of
  /// mpiexec. What was mapped is private memory at the same addresses from then on, with the records
  /// as they were, so that nothing that points into it has to change. Requires that no rank of the node uses
  /// the areas any more. Fails (no_mem), and has changed nothing.
  [[nodiscard]] base::Error set_aside();
  /// Takes a segment of the next generation from the mpiexec that the environment names now, which may be
  /// another one, maps it where the last one was, and puts the contents of this rank's area there. Returns
  /// when this rank has done so, and may be called again after a failure: `other`, with a text, where
  /// mpiexec does not answer, or its job is another one than this.
  [[nodiscard]] base::Error come_back();

  /// The configuration of the shared-memory provider in the segment.
  [[nodiscard]] fabric::Shm::Config shm_config();

 private:
  [[nodiscard]] const wire::RankRecord* record_of(std::uint32_t rank) const noexcept;
  base::Error join_launcher();
  base::Error join_own();
  base::Error join_foreign(bootstrap::Launcher launcher);
  base::Error find_segment(long descriptor, std::uint32_t rank);
  [[nodiscard]] bool is_taken(std::uint32_t index) const noexcept;
  base::Error map_segment(int descriptor);
  base::Error take_place(std::uint32_t rank);
  base::Error map_own();
  void await_address(std::uint32_t rank) const;
  [[nodiscard]] bool never_comes(std::uint32_t rank) const noexcept;
  [[nodiscard]] base::Result<std::vector<std::byte>> address_in_record(std::uint32_t rank) const;
  [[nodiscard]] base::Result<std::vector<std::byte>> announced(
      std::uint32_t rank, std::span<const std::byte> bytes) const;
  void remember_addresses();
  [[nodiscard]] base::Result<wire::JobView> map_again(int descriptor);
  [[nodiscard]] base::Error check_shape(const wire::JobView& view) const;
  void end_owner() const noexcept;

  std::span<std::byte> mapping_;
  std::shared_ptr<fabric::ProcessTable> processes_;
  wire::JobView view_;
  std::unique_ptr<bootstrap::Bootstrap> bootstrap_;  ///< under a launcher that is not Fulmar's
  bootstrap::Launcher launcher_ = bootstrap::Launcher::none;
  std::vector<std::uint32_t> node_ranks_ = {0};
  base::BlockCyclic node_of_;  ///< without a member: all are on node 0
  std::uint32_t node_count_ = 1;
  std::uint32_t rank_ = 0;
  std::uint32_t size_ = 1;
  std::uint32_t local_index_ = 0;
  std::int32_t owner_pid_ = 0;  ///< the process that joined
  AreaImage image_;             ///< while the segment is set aside
  InheritedFd pmi_socket_;
  InheritedFd inherited_segment_;  ///< of generation 0
  bool maps_inherited_ = false;    ///< what is mapped
  base::UniqueFd segment_;         ///< what is mapped since `come_back`
  int appnum_ = 0;
  bool singleton_ = true;
  bool left_ = false;
  bool published_ = false;                                     ///< there are addresses
  std::map<std::uint32_t, std::vector<std::byte>> addresses_;  ///< once the launcher is left
};

}  // namespace fulmar::runtime
