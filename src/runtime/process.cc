// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/process.h"

#include <linux/membarrier.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "runtime/abort.h"
#include "runtime/init_lock.h"
#include "runtime/job/missing_rank.h"
#include "runtime/library_access.h"
#include "runtime/options/effects.h"
#include "runtime/options/variables.h"
#include "runtime/spawn/launch_service.h"
#include "runtime/spawn/ports.h"

namespace fulmar::runtime {
namespace {

bool register_membarrier() {
  return ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) == 0;
}

void abort_from_handler(void* context, int code) {
  abort_job(static_cast<Process*>(context)->job(), code);
}

std::uint32_t node_of(const void* job, std::uint32_t process) {
  return static_cast<const Job*>(job)->node_of(process);
}

std::span<const std::uint64_t> binding_of(const void* job, std::uint32_t process) {
  return static_cast<const Job*>(job)->binding_of(process);
}

void abort_without_memory(void* context, std::uint64_t bytes) {
  Job& job = static_cast<Process*>(context)->job();
  std::fprintf(
      stderr,
      "fulmar: rank %u has no memory left for a message of %llu bytes that arrived before its "
      "receive; post receives earlier, lower FULMAR_MEMORY, or raise the limit on memory\n",
      job.rank(), static_cast<unsigned long long>(bytes));
  abort_job(job, 1);
}

/// As Job::program_size before the job is joined, from the environment; 0 if unknown.
std::uint32_t program_size_at_start() {
  const auto launcher = bootstrap::detect(bootstrap::real_surroundings());
  if (launcher.failed()) return 0;
  if (launcher.value() == bootstrap::Launcher::none) return 1;
  const char* text = std::getenv(wire::env_program_size);
  if (launcher.value() != bootstrap::Launcher::own_mpiexec || text == nullptr) return 0;
  const int size = parse_integer(text).value_or(0);
  return static_cast<std::uint32_t>(std::max(size, 0));
}

}  // namespace

Process::Process()
    : errors_(library_, {abort_from_handler, this}),
      keyvals_(library_),
      info_(library_),
      group_(library_),
      datatypes_(library_),
      ops_(library_),
      tool_(library_, variable_store(*this)) {
  choose_errhandler();
  set_program_size(program_size_at_start());
}

void Process::set_program_size(std::uint32_t ranks) {
  if (ranks != 0) info_.env.launch.max_processes = std::to_string(ranks);
}

void Process::choose_errhandler() {
  const std::string& name = options().text("FULMAR_ERRHANDLER");
  info_.env.launch.errhandler = name;
  errors_.initial = name == "mpi_errors_return"  ? &errors_.returning
                    : name == "mpi_errors_abort" ? &errors_.aborting
                                                 : &errors_.fatal;
}

Options& Process::options() {
  if (options_ == nullptr) options_ = std::make_unique<Options>(complaints_);
  return *options_;
}

void Process::options_changed() {
  choose_errhandler();
  if (!started()) return;
  apply_options(options(), {job_.oversubscribed()}, *device_);
  choose_heap();
}

void Process::choose_async() {
  const std::string& way = options().text("FULMAR_FILES_ASYNC");
  const int error = files_.choose(way == "io_uring"  ? mpi::AsyncWay::io_uring
                                  : way == "threads" ? mpi::AsyncWay::threads
                                                     : mpi::AsyncWay::automatic);
  if (error == 0) return;
  complaints_.push_back(std::string("FULMAR_FILES_ASYNC=io_uring: the system refuses it (") +
                        std::strerror(error) +
                        "), threads read and write; see /proc/sys/kernel/io_uring_disabled, or "
                        "allow it in the container");
}

/// Memory of MPI_Alloc_mem is shared only where another rank of the node could map it.
void Process::choose_heap() {
  heaps_.use_own(job_.node_ranks().size() > 1 && options().text("FULMAR_ALLOC_MEM") == "shared");
}

base::Error Process::start() {
  if (const base::Error error = job_.join(); error.failed()) return error;
  errors_.rank = static_cast<int>(job_.rank());
  errors_.size = static_cast<int>(job_.size());
  // Yama's restricted mode lets a process name one other that may reach into it, and its children:
  // the ranks are children of mpiexec. Without Yama the call fails and changes nothing.
  ::prctl(PR_SET_PTRACER, static_cast<unsigned long>(job_.mpiexec_pid()), 0, 0, 0);
  const Options& options = this->options();
  complain_of_unknown_networks(options, complaints_);
  mpi::Choices choices(options.text("FULMAR_COLL"), complaints_);
  // All ranks must choose alike, and a rank knows only its own node.
  if (job_.oversubscribed() && job_.node_count() == 1) choices.set_crowded();
  choose_async();
  if (job_.rank() == 0) {
    for (const std::string& text : complaints_) std::fprintf(stderr, "fulmar: %s\n", text.c_str());
  }
  complaints_.clear();
  tracing_ = Tracing::from(options);
  if (tracing_ != nullptr) files_.record_into(tracing_->trace(), tracing_->records());
  networks_ = std::make_unique<Networks>(job_, failures_);
  failures_.watch(*networks_);
  if (const base::Error error = networks_->open(options); error.failed()) return error;
  if (const base::Error error = start_device(); error.failed()) return error;
  library_.device = device_.get();
  schedules_ = std::make_unique<mpi::Schedules>(*device_, choices);
  library_.schedules = schedules_.get();
  recovery_ = std::make_unique<mpi::Recovery>(library_, *device_);
  library_.recovery = recovery_.get();
  tool_.update_watch();
  world_ = std::make_unique<mpi::World>(library_, *device_, job_.rank(), job_.size());
  world_->compares_calls = options_->lists("FULMAR_CHECK", "collectives");
  world_->checks_windows = options_->lists("FULMAR_CHECK", "rma");
  world_->common_context_ranks =
      std::max(1, parse_integer(options_->text("FULMAR_COMMON_CONTEXT_RANKS")).value_or(1));
  if (options_->text("FULMAR_RMA_THREAD") == "auto") {
    world_->window_thread.start = [] { process().serve_windows(); };
  }
  world_->heaps = &heaps_;
  choose_heap();
  files_.set_checks(options_->lists("FULMAR_CHECK", "files"));
  world_->placement = {node_of, binding_of, &job_, job_.node_formula()};
  ports_ =
      std::make_unique<Ports>(Ports::Surroundings{job_, *options_, *networks_, *device_, library_});
  library_.ports = ports_.get();
  define_attributes();
  return {};
}

base::Error Process::start_device() {
  device::Device::Config config;
  config.self = job_.rank();
  config.size = job_.size();
  config.processes = job_.processes();
  config.has_membarrier = register_membarrier();
  config.out_of_memory = abort_without_memory;
  config.has_left = [](const void* self, std::uint32_t peer) {
    const auto& own = *static_cast<const Process*>(self);
    return own.job_.has_left(peer);
  };
  config.owner = this;
  config.failures = failures_.observer();
  config.trace = tracing_ == nullptr ? nullptr : &tracing_->trace();
  if (!job_.singleton()) {
    reporter_ = std::make_unique<WaitReporter>(library_, job_.wait_record());
    config.observer = {[](void* self, const device::QuietWait& wait) {
                         static_cast<Process*>(self)->on_quiet_wait(wait);
                       },
                       this};
  }
  device_ = std::make_unique<device::Device>(config, library_.lock);
  apply_options(options(), {job_.oversubscribed()}, *device_);
  if (const base::Error error = networks_->serve(*device_); error.failed()) return error;
  if (const base::Error error = choose_duty(); error.failed()) return error;
  if (device::NodeChannel* const node = device_->node(); node != nullptr) {
    if (!config.has_membarrier) node->channel().require_sender_fence();
    if (device_->config().oversubscribed) {
      node->channel().set_cut_through(channel::CutThrough::off);
    }
  }
  return {};
}

/// The duty of the progress thread. Fails (other) where two threads cannot share it.
base::Error Process::choose_duty() {
  const std::string& duty = options().text("FULMAR_PROGRESS_THREAD");
  if (job_.size() == 1 || duty == "off") return {};
  if (duty == "two" && !device_->service().can_share()) {
    return base::failure(base::ErrorClass::other,
                         "FULMAR_PROGRESS_THREAD=two: the second thread sleeps on a queue of what "
                         "an RDMA adapter has done, and no network in use has one; set "
                         "FULMAR_FABRIC=verbs and FULMAR_VERBS_QUEUES=two, without FULMAR_RAILS, "
                         "FULMAR_CHANNEL and FULMAR_STACK, or set FULMAR_PROGRESS_THREAD=only");
  }
  progress_thread_.want(duty == "two"    ? device::ThreadDuty::shared
                        : duty == "only" ? device::ThreadDuty::all
                                         : device::ThreadDuty::absence);
  return {};
}

void Process::on_quiet_wait(const device::QuietWait& wait) noexcept {
  device::QuietWait told = wait;
  told.many_threads = has_threads();
  end_if_missing(told, reporter_->write(told));
}

/// A forked process has one thread. If another one of the rank held the lock at that moment, it
/// will never be released there, and not even MPI_Abort could be called.
void Process::unlock_in_children() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    const auto in_child = [] { process().library().lock.set_enabled(false); };
    (void)::pthread_atfork(nullptr, nullptr, in_child);
  });
}

/// This rank waits for a rank whose process has ended without initialising MPI: it would
/// wait for ever.
void Process::end_if_missing(const device::QuietWait& wait, const wire::WaitBody& body) noexcept {
  const auto never_joined = [](const void* job, std::uint32_t rank) {
    return static_cast<const Job*>(job)->never_joined(rank);
  };
  const auto missing = find_missing(wait.note, body, never_joined, &job_);
  if (!missing) return;
  std::fprintf(stderr, "fulmar: rank %u of %u: %s %s: rank %u of the job cannot take part: %s\n",
               job_.rank(), job_.size(), body.call.data(), body.what.data(), *missing,
               job_.why_missing().c_str());
  abort_job(job_, 1);
}

/// Over networks the messages could not have been sent; in shared memory they are in a mailbox that
/// is never read.
void Process::end_if_unreceived() noexcept {
  for (const std::uint32_t rank : job_.node_ranks()) {
    if (!device_->has_sent_to(rank) || !job_.never_joined(rank)) continue;
    std::fprintf(stderr, "fulmar: rank %u of %u: what was sent to rank %u was never received: %s\n",
                 job_.rank(), job_.size(), rank, job_.why_missing().c_str());
    abort_job(job_, 1);
  }
}

base::Error Process::enter(int thread_level) {
  if (networks_ != nullptr && networks_->quiesced()) {
    const base::EngineGuard guard(library_.lock);
    if (const base::Error error = networks_->resume(*device_); error.failed()) return error;
  }
  if (world_ == nullptr) {
    const base::EngineGuard guard(library_.lock);  // tools may be changing options
    if (const base::Error error = start(); error.failed()) return error;
  }
  unlock_in_children();
  if (launcher_ == nullptr) launcher_ = make_launch_service(job_);
  library_.launcher = launcher_.get();
  if (users_++ == 0) {
    if (job_.launcher() == bootstrap::Launcher::pmi1) kept_signal_.ignore();
    library_.world = world_.get();
    thread_level_ = thread_level;
    set_locking();
    start_progress_thread();
    job_.set_state(wire::RankState::initialised);
    let_in();
  } else if (thread_level > thread_level_) {
    thread_level_ = thread_level;
    set_locking();
  }
  return {};
}

/// Calls that need other processes are possible from now on.
void Process::let_in() {
  library_.trace.store(tracing_ == nullptr ? nullptr : &tracing_->trace(),
                       std::memory_order_release);
  // Traced calls take the slow path of entry, which records them.
  library_.checks_types = options_->lists("FULMAR_CHECK", "types");
  const bool goes_aside = tracing_ != nullptr || library_.checks_types;
  usable_library.store(goes_aside ? nullptr : &library_, std::memory_order_release);
}

/// Whether threads of the program may be in MPI at the same time. Some functions may be called by
/// any thread at any time, also with MPI_THREAD_SINGLE or FUNNELED (MPI 5.0 section
/// 11.4.1).
bool Process::has_threads() const noexcept {
  return thread_level_ > MPI_THREAD_SINGLE || tool_.threads;
}

void Process::set_locking() noexcept {
  const bool traced = tracing_ != nullptr;  // waits are seen where threads wait only
  library_.lock.set_enabled(has_threads() || progress_thread_.wanted() || traced);
}

void Process::keep_progressing() {
  if (job_.size() == 1 || progress_thread_.wanted()) return;
  progress_thread_.want(device::ThreadDuty::absence);
  set_locking();
  start_progress_thread();
}

void Process::serve_windows() {
  const std::unique_lock steady(init_lock(), std::try_to_lock);
  if (steady && users_ > 0) keep_progressing();
}

/// If it cannot be started, the program makes progress itself, as without the option.
void Process::start_progress_thread() {
  const base::Error error = progress_thread_.start(*device_);
  if (error.ok()) return;
  std::fprintf(stderr,
               "fulmar: rank %u of %u goes on without a progress thread: %s; raise the limit "
               "or unset FULMAR_PROGRESS_THREAD\n",
               job_.rank(), job_.size(), error.text().c_str());
}

void Process::leave() {
  {
    const base::EngineGuard guard(library_.lock);
    device_->drain();
    if (--users_ > 0) return;
    end_if_unreceived();
  }
  progress_thread_.stop();
  files_.stop();
  // A program that has used sessions only may begin the world model later, see
  // device/protocol/cancelling.cc.
  const bool for_good = world_state == WorldState::closed;
  {
    const base::EngineGuard guard(library_.lock);
    networks_->part(*device_, for_good ? fabric::Leaving::for_good : fabric::Leaving::may_return);
    library_.checks_types = false;
    usable_library.store(nullptr, std::memory_order_release);
    library_.trace.store(nullptr, std::memory_order_release);
    if (tracing_ != nullptr) tracing_->write(job_.rank(), job_.size(), *files_.log().trace);
    if (world_state == WorldState::closed) job_.close_world();
    job_.set_state(wire::RankState::finalized);
    leave_job();
    kept_signal_.restore();
  }
  library_.lock.set_enabled(true);
}

/// Attributes of every communicator, also those of sessions.
void Process::define_attributes() {
  keyvals_.define_predefined(MPI_TAG_UB, mpi::largest_tag);
  keyvals_.define_predefined(MPI_HOST, MPI_PROC_NULL);
  keyvals_.define_predefined(MPI_IO, MPI_ANY_SOURCE);
  keyvals_.define_predefined(MPI_WTIME_IS_GLOBAL, job_.node_count() == 1 ? 1 : 0);
  keyvals_.define_predefined(MPI_APPNUM, job_.appnum());
  keyvals_.follow_predefined(MPI_LASTUSEDCODE, errors_.codes.last_used_code());
  keyvals_.define_predefined(MPI_UNIVERSE_SIZE, static_cast<int>(job_.universe_size()));
  keyvals_.define_predefined(mpi::Keyvals::fault_tolerance, 1);
}

/// A program that has used sessions only may begin another one, so its launcher is notified at the
/// end.
void Process::leave_job() {
  const auto leave = [] {
    Process& self = process();
    if (!self.job().is_owner()) return;  // a forked process ends: the launcher is its parent's
    if (self.world_state != WorldState::closed) self.networks_->close();
    self.launcher_.reset();  // says goodbye
    self.library_.launcher = nullptr;
    const base::Error error = self.job().leave();
    if (error.failed()) std::fprintf(stderr, "fulmar: %s\n", error.text().c_str());
  };
  if (world_state == WorldState::closed) return leave();
  if (!leaves_at_exit_) leaves_at_exit_ = std::atexit(leave) == 0;
}

void Process::open_world() {
  library_.define(world_->world, reinterpret_cast<std::uintptr_t>(MPI_COMM_WORLD));
  library_.define(world_->self, reinterpret_cast<std::uintptr_t>(MPI_COMM_SELF));
  // MPI_ERRORS_ARE_FATAL counts as set where it was requested, not where it is the default
  // (default_holder).
  for (mpi::Comm* comm : {&world_->world, &world_->self}) {
    if (options().is_set("FULMAR_ERRHANDLER"))
      (void)set_errhandler(library_, *comm, *errors_.initial);
  }
  set_program_size(job_.program_size());
  mpi::describe_process(info_.env, info_.env.launch);
  main_thread = ::pthread_self();
  world_state = WorldState::open;
}

void Process::close_world() {
  library_.undefine(world_->world.handle);
  library_.undefine(world_->self.handle);
  world_state = WorldState::closed;
}

Process& process() {
  static auto* const the_process = new Process;
  return *the_process;
}

}  // namespace fulmar::runtime
