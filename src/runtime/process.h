// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <pthread.h>

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "mpi/attr/keyvals.h"
#include "mpi/coll/engine/schedules.h"
#include "mpi/comm/world.h"
#include "mpi/datatype/datatype.h"
#include "mpi/errhandler/errhandler.h"
#include "mpi/group/group.h"
#include "mpi/info/info.h"
#include "mpi/io/file_state.h"
#include "mpi/library.h"
#include "mpi/op/op.h"
#include "mpi/recovery/recovery.h"
#include "mpi/rma/node/node_heaps.h"
#include "mpi/spawn/launch_service.h"
#include "mpi/spawn/port_service.h"
#include "mpi/tool/tool.h"
#include "runtime/checkpoint/checkpoint.h"
#include "runtime/failures.h"
#include "runtime/job/job.h"
#include "runtime/kept_signal.h"
#include "runtime/network/networks.h"
#include "runtime/options/options.h"
#include "runtime/progress_thread.h"
#include "runtime/report/tracing.h"
#include "runtime/report/wait_report.h"

namespace fulmar::runtime {

/// All MPI state of one process: the composition root. Objects that exist before initialisation
/// are made with it, at the first MPI call; the job, the device and the world are made by the first
/// initialisation, of the world model or of a session, and stay until the process ends, so that MPI
/// can be left and entered again.
///
/// Thread rule: init and finalize calls hold `init_lock`; everything else the lock of the library.
class Process {
 public:
  Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] mpi::Library& library() noexcept { return library_; }

  /// Adds a user of MPI (the world model, or a session) at this thread level. Initialises what is
  /// not initialised yet.
  [[nodiscard]] base::Error enter(int thread_level);
  /// From now on, while MPI is in use, messages move also while the program computes, as with
  /// FULMAR_PROGRESS_THREAD=on: for users that serve other processes. Between `enter` and `leave`,
  /// while no other thread is in MPI. No effect in a job of one.
  void keep_progressing();
  /// The same for windows that other hosts reach by requests. Any thread of the program may call it;
  /// no effect while another thread starts or ends the use of MPI.
  void serve_windows();
  /// Removes a user; completes pending operations and, with the last one, closes MPI.
  void leave();
  [[nodiscard]] int users() const noexcept { return users_; }

  [[nodiscard]] Job& job() noexcept { return job_; }
  [[nodiscard]] mpi::World& world() noexcept { return *world_; }
  [[nodiscard]] mpi::ErrorState& errors() noexcept { return errors_; }
  [[nodiscard]] mpi::Tool& tool() noexcept { return tool_; }
  [[nodiscard]] ProgressThread& progress_thread() noexcept { return progress_thread_; }

  /// The options, read from the environment at the first call.
  [[nodiscard]] Options& options();
  /// Whether the device exists.
  [[nodiscard]] bool started() const noexcept { return world_ != nullptr; }
  /// Null before the first initialisation.
  [[nodiscard]] const Networks* networks() const noexcept { return networks_.get(); }
  /// Ends what needs other processes for a checkpoint, and begins it again: see Checkpoint. The caller
  /// holds `init_lock`.
  [[nodiscard]] base::Error quiesce();
  [[nodiscard]] base::Error resume(const std::string& launcher_file);
  /// An option has another value: lets the device know, if there is one.
  void options_changed();

  // The world model (MPI_Init to MPI_Finalize).
  void open_world();
  void close_world();
  enum class WorldState : std::uint8_t { before, open, finalizing, closed };
  std::atomic<WorldState> world_state{WorldState::before};  ///< any thread may ask
  int world_thread_level = 0;  ///< what MPI_Init_thread gave; sessions have their own
  pthread_t main_thread{};

 private:
  base::Error start();
  base::Error start_device();
  base::Error choose_duty();
  void choose_errhandler();
  void choose_heap();
  void choose_async();
  /// Says how many ranks run this program; 0: not known.
  void set_program_size(std::uint32_t ranks);
  void define_attributes();
  [[nodiscard]] bool has_threads() const noexcept;
  void set_locking() noexcept;
  void start_progress_thread();
  void leave_job();
  [[nodiscard]] Checkpoint& checkpoint();
  void let_in();
  void on_quiet_wait(const device::QuietWait& wait) noexcept;
  static void unlock_in_children() noexcept;
  void end_if_missing(const device::QuietWait& wait, const wire::WaitBody& body) noexcept;
  void end_if_unreceived() noexcept;

  mpi::Library library_;
  mpi::ErrorState errors_;
  mpi::Keyvals keyvals_;
  mpi::PredefinedInfo info_;
  mpi::PredefinedGroup group_;
  mpi::PredefinedDatatypes datatypes_;
  mpi::PredefinedOps ops_;
  mpi::FileState files_{library_};
  mpi::NodeHeaps heaps_;
  Job job_;
  FailureMonitor failures_{job_, library_};
  std::unique_ptr<Options> options_;     ///< see options()
  std::vector<std::string> complaints_;  ///< of the environment, until they are printed
  std::unique_ptr<Networks> networks_;
  std::unique_ptr<Tracing> tracing_;  ///< null: nothing is traced
  std::unique_ptr<WaitReporter> reporter_;
  std::unique_ptr<device::Device> device_;
  ProgressThread progress_thread_;
  std::unique_ptr<mpi::Schedules> schedules_;
  std::unique_ptr<mpi::Recovery> recovery_;
  std::unique_ptr<mpi::World> world_;
  std::unique_ptr<mpi::LaunchService> launcher_;
  std::unique_ptr<mpi::PortService> ports_;
  std::unique_ptr<Checkpoint> checkpoint_;  ///< see checkpoint()
  mpi::Tool tool_;
  int users_ = 0;
  int thread_level_ = 0;
  KeptSignal kept_signal_;
  bool leaves_at_exit_ = false;
};

/// The one of this process, made at the first call. Thread-safe; never destroyed.
[[nodiscard]] Process& process();

}  // namespace fulmar::runtime
