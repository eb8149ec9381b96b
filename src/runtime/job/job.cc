// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/job/job.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "base/os/processors.h"
#include "base/process_end.h"
#include "runtime/bootstrap/node.h"
#include "runtime/bootstrap/pmi1.h"
#include "runtime/bootstrap/pmix.h"
#include "runtime/join_socket.h"
#include "wire/launch/launch_message.h"
#include "wire/launch/pmi1.h"

namespace fulmar::runtime {
namespace {

using base::ErrorClass;

std::optional<long> number_of(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0') return -1;
  return value;
}

std::uint64_t random_word() {
  std::uint64_t word = 0;
  if (::getrandom(&word, sizeof word, 0) != sizeof word) {
    word = static_cast<std::uint64_t>(::getpid()) * 0x9e3779b97f4a7c15U;
  }
  return word | 1;
}

}  // namespace

Job::~Job() {
  if (!mapping_.empty()) ::munmap(mapping_.data(), mapping_.size());
}

base::Error Job::join() {
  owner_pid_ = ::getpid();
  const auto launcher = bootstrap::detect(bootstrap::real_surroundings());
  if (launcher.failed()) return launcher.error();
  launcher_ = launcher.value();
  if (const base::Error error = join_launcher(); error.failed()) return error;
  processes_ = std::make_shared<fabric::ProcessTable>(wire::ProcessName{view_.job_id, rank_, 0},
                                                      size_, view_.job_key);
  return {};
}

base::Error Job::join_launcher() {
  switch (launcher_) {
    case bootstrap::Launcher::none:
      return map_own();
    case bootstrap::Launcher::own_mpiexec:
      return join_own();
    default:
      return join_foreign(launcher_);
  }
}

base::Error Job::join_own() {
  // mpiexec's PMI is for programs of other libraries; children of a rank must not find it.
  if (const auto pmi = number_of(wire::env_own_pmi_fd); pmi && *pmi > 2 && *pmi <= INT_MAX) {
    ::fcntl(static_cast<int>(*pmi), F_SETFD, FD_CLOEXEC);
    pmi_socket_ = InheritedFd(static_cast<int>(*pmi));
  }
  const auto descriptor = number_of(wire::env_job_fd);
  const auto rank = number_of(wire::env_rank);
  const auto size = number_of(wire::env_size);
  const auto index = static_cast<std::uint32_t>(rank.value_or(-1));
  if (const base::Error error = find_segment(descriptor.value_or(-1), index); error.failed()) {
    return error;
  }
  if (!rank || !size || *size != static_cast<long>(view_.rank_count) || *rank < 0 ||
      *rank >= *size) {
    return base::failure(
        ErrorClass::other,
        "%s and %s do not fit the job of %u ranks that %s names; start the program with "
        "mpiexec, or unset %s to run it alone",
        wire::env_rank, wire::env_size, view_.rank_count, wire::env_job_fd, wire::env_job_fd);
  }
  local_index_ = static_cast<std::uint32_t>(*rank);
  size_ = view_.rank_count;
  node_ranks_.resize(size_);
  std::iota(node_ranks_.begin(), node_ranks_.end(), 0U);
  if (const base::Error error = take_place(local_index_); error.failed()) return error;
  // Behind a wrapper mpiexec has another process as its child: it reads the records then.
  if (::getppid() != view_.mpiexec_pid) ::kill(view_.mpiexec_pid, SIGCHLD);
  return {};
}

base::Error Job::join_foreign(bootstrap::Launcher launcher) {
  auto opened = launcher == bootstrap::Launcher::pmi1 ? bootstrap::Pmi1::open_from_environment()
                                                      : bootstrap::Pmix::open_from_environment();
  if (opened.failed()) return opened.error();
  bootstrap_ = std::move(*opened);
  appnum_ = bootstrap_->appnum();
  if (bootstrap_->size() == 1) return map_own();
  auto node = bootstrap::form_node(*bootstrap_);
  if (node.failed()) return node.error();
  if (const base::Error error = map_segment(node->segment.get()); error.failed()) return error;
  if (view_.rank_count != node->members.size() || view_.job_id != node->job.job_id ||
      view_.job_key != node->job.key) {
    return base::failure(
        ErrorClass::other,
        "the memory that rank %u shares is not that of this job; start the job again",
        node->members.front());
  }
  node_ranks_ = std::move(node->members);
  node_of_ = base::BlockCyclic(std::move(node->node_of));
  node_count_ = node->node_count;
  size_ = bootstrap_->size();
  const auto place = std::lower_bound(node_ranks_.begin(), node_ranks_.end(), bootstrap_->rank());
  local_index_ = static_cast<std::uint32_t>(place - node_ranks_.begin());
  return take_place(bootstrap_->rank());
}

/// Whether a rank's area of the mapped segment has been used, so that its queues are not empty.
bool Job::is_taken(std::uint32_t index) const noexcept {
  if (index >= view_.records.size()) return false;
  const wire::RankRecord& record = view_.records[index];
  return record.taken.load(std::memory_order_acquire) != 0 ||
         wire::state_of(record) > wire::RankState::started;
}

/// The number of a descriptor that was closed may belong to another file by now: a file that is no
/// segment is ignored. Without a socket to ask, the errors mention the descriptor.
base::Error Job::find_segment(long descriptor, std::uint32_t rank) {
  const int inherited = descriptor < 0 || descriptor > INT_MAX ? -1 : static_cast<int>(descriptor);
  const char* name = std::getenv(wire::env_job_socket);
  if (is_sealed_memory(inherited)) {
    inherited_segment_ = InheritedFd(inherited);
    const base::Error error = map_segment(inherited);
    // What this process starts has no use for it: a second program of the rank asks mpiexec.
    if (error.ok()) ::fcntl(inherited, F_SETFD, FD_CLOEXEC);
    maps_inherited_ = error.ok() && (name == nullptr || !is_taken(rank));
    if (maps_inherited_) return error;
    if (name == nullptr || error.error_class() == ErrorClass::no_mem) return error;
  }
  if (name == nullptr) {
    return base::failure(
        ErrorClass::other,
        "%s names descriptor %ld, which is not open as the job's memory; a wrapper between mpiexec "
        "and the program must not close inherited descriptors and remove %s",
        wire::env_job_fd, descriptor, wire::env_job_socket);
  }
  auto ticket = ask_for_segment(name, rank);
  if (ticket.failed()) return ticket.error();
  if (const base::Error error = map_segment(ticket->segment.get()); error.failed()) return error;
  if (view_.mpiexec_pid == ticket->listener) return {};
  return base::failure(ErrorClass::other,
                       "%s leads to process %d, but the job is that of mpiexec %d; was the program "
                       "put into another pid name space?",
                       wire::env_job_socket, ticket->listener, view_.mpiexec_pid);
}

base::Error Job::map_segment(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0) {
    return base::failure(ErrorClass::other, "the job's memory cannot be looked at (%s)",
                         std::strerror(errno));
  }
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (memory == MAP_FAILED) {
    return base::failure(
        ErrorClass::no_mem,
        "the job's segment of %zu bytes cannot be mapped (%s); raise the limit on address space "
        "(ulimit -v), or set it before mpiexec is started, which then makes the segment smaller",
        bytes, std::strerror(errno));
  }
  const std::span<std::byte> mapping{static_cast<std::byte*>(memory), bytes};
  auto view = wire::attach_job(mapping);
  if (view.failed()) {
    ::munmap(memory, bytes);
    return view.error();
  }
  if (!mapping_.empty()) ::munmap(mapping_.data(), mapping_.size());  // of an earlier program
  mapping_ = mapping;
  view_ = view.value();
  return {};
}

/// One process per rank and generation: a program that a rank starts inherits its environment, and
/// would write into the rank's queues.
base::Error Job::take_place(std::uint32_t rank) {
  wire::RankRecord& record = view_.records[local_index_];
  if (record.rank != rank) {
    const std::uint32_t found = record.rank;
    view_ = {};
    return base::failure(ErrorClass::other,
                         "the place of rank %u in the job's segment is that of rank %u; start the "
                         "job again",
                         rank, found);
  }
  if (wire::state_of(record) > wire::RankState::started ||
      record.taken.exchange(1, std::memory_order_acq_rel) != 0) {
    const std::int32_t holder = record.pid.load(std::memory_order_acquire);
    view_ = {};  // the records are not this process's to write
    return base::failure(
        ErrorClass::other,
        "rank %u of the job is or was process %d; unset %s and %s in what a rank starts, or start "
        "it with mpiexec",
        rank, holder, wire::env_job_fd, wire::env_job_socket);
  }
  rank_ = rank;
  appnum_ = static_cast<int>(record.appnum);
  singleton_ = false;
  record.pid_space.store(base::pid_space(), std::memory_order_relaxed);
  record.pid.store(::getpid(), std::memory_order_release);
  return {};
}

/// A segment like a job's, private to this process: one rank, nothing inherited.
base::Error Job::map_own() {
  const std::uint64_t area_bytes = wire::min_area_bytes;
  const std::size_t bytes = wire::total_bytes_for(1, area_bytes);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return base::failure(ErrorClass::no_mem, "%zu bytes of memory cannot be mapped (%s)", bytes,
                         std::strerror(errno));
  }
  mapping_ = {static_cast<std::byte*>(memory), bytes};
  wire::JobPlan plan;
  plan.job_id = static_cast<std::uint32_t>(random_word());  // odd
  plan.area_bytes = area_bytes;
  plan.mpiexec_pid = ::getpid();
  for (std::uint8_t& byte : plan.job_key) byte = static_cast<std::uint8_t>(random_word() >> 8);
  if (const auto control = wire::format_job(mapping_, plan); control.failed()) {
    return control.error();
  }
  auto view = wire::attach_job(mapping_);
  if (view.failed()) return view.error();
  view_ = view.value();
  view_.records[0].pid.store(::getpid(), std::memory_order_release);
  return {};
}

bool Job::is_owner() const noexcept { return ::getpid() == owner_pid_; }

bool Job::oversubscribed() const noexcept {
  return (view_.flags & wire::job_flag_oversubscribed) != 0;
}

void Job::set_state(wire::RankState state) noexcept {
  if (view_.records.empty()) return;  // before the job was joined
  view_.records[local_index_].state.store(static_cast<std::uint32_t>(state),
                                          std::memory_order_release);
}

std::uint32_t Job::program_size() const noexcept {
  if (node_count_ > 1) return 0;
  return static_cast<std::uint32_t>(
      std::ranges::count_if(view_.records, [this](const wire::RankRecord& record) {
        return static_cast<int>(record.appnum) == appnum_;
      }));
}

std::uint32_t Job::universe_size() {
  std::uint32_t size = 0;
  if (bootstrap_ != nullptr && !left_) {
    size = bootstrap_->universe_size();
  } else if (launcher_ == bootstrap::Launcher::own_mpiexec) {
    const long told = number_of(wire::env_universe_size).value_or(0);
    if (told > 0 && told <= INT_MAX) size = static_cast<std::uint32_t>(told);
  } else if (launcher_ == bootstrap::Launcher::none) {
    size = static_cast<std::uint32_t>(base::allowed_processors().size());
  }
  return std::clamp<std::uint32_t>(size, size_, INT_MAX);
}

/// Null for ranks of other nodes.
const wire::RankRecord* Job::record_of(std::uint32_t rank) const noexcept {
  const auto place = std::lower_bound(node_ranks_.begin(), node_ranks_.end(), rank);
  const auto index = static_cast<std::size_t>(place - node_ranks_.begin());
  if (index >= view_.records.size() || *place != rank) return nullptr;
  return &view_.records[index];
}

void Job::close_world() noexcept {
  if (view_.records.empty()) return;
  view_.records[local_index_].world_closed.store(1, std::memory_order_relaxed);
}

bool Job::has_left(std::uint32_t rank) const noexcept {
  const wire::RankRecord* record = record_of(rank);
  if (record == nullptr) return false;
  const auto state = static_cast<wire::RankState>(record->state.load(std::memory_order_acquire));
  if (state != wire::RankState::finalized) return state == wire::RankState::exited;
  return record->world_closed.load(std::memory_order_relaxed) != 0;
}

bool Job::has_closed(std::uint32_t rank) const noexcept {
  const wire::RankRecord* record = record_of(rank);
  return record != nullptr && record->world_closed.load(std::memory_order_acquire) != 0 &&
         has_left(rank);
}

bool Job::never_joined(std::uint32_t rank) const noexcept {
  const wire::RankRecord* record = record_of(rank);
  return record != nullptr && wire::never_joined(*record);
}

std::string Job::why_missing() const {
  if (view_.generation == 0) return "its process has ended without MPI_Init or MPI_Session_init";
  const std::string before = std::to_string(view_.generation);
  return "its process has ended after " + before + " MPI program" + (before == "1" ? "" : "s") +
         ", without the one that this rank runs now";
}

std::span<const std::uint64_t> Job::binding_of(std::uint32_t rank) const noexcept {
  const wire::RankRecord* record = record_of(rank);
  if (record == nullptr) return {};
  std::uint32_t processors = 0;
  for (const std::uint64_t word : record->core_mask) {
    processors += static_cast<std::uint32_t>(std::popcount(word));
  }
  if (processors == 0 || processors != record->core_count) return {};
  return record->core_mask;
}

fabric::Shm::Config Job::shm_config() {
  fabric::Shm::Config config;
  config.self = local_index_;
  config.size = static_cast<std::uint32_t>(node_ranks_.size());
  config.areas = view_.areas;
  config.area_bytes = view_.area_bytes;
  config.token = random_word();
  for (auto& record : view_.records) config.processes.push_back({&record.pid, &record.gone});
  return config;
}

}  // namespace fulmar::runtime
