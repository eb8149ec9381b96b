// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/job.h"

#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "runtime/join_socket.h"

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
  const auto descriptor = number_of(wire::env_job_fd);
  if (!descriptor && std::getenv(wire::env_job_socket) == nullptr) return map_own();
  const auto rank = number_of(wire::env_rank);
  const auto size = number_of(wire::env_size);
  if (const base::Error error = find_segment(descriptor.value_or(-1)); error.failed()) {
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
  return take_place(static_cast<std::uint32_t>(*rank));
}

/// The number of a descriptor that was closed may be another file's by now: what is no segment is
/// passed over. Without a socket to ask, the errors speak of the descriptor.
base::Error Job::find_segment(long descriptor) {
  const int inherited = descriptor < 0 || descriptor > INT_MAX ? -1 : static_cast<int>(descriptor);
  const char* name = std::getenv(wire::env_job_socket);
  if (is_sealed_memory(inherited)) {
    const base::Error error = map_segment(inherited);
    if (error.ok() || name == nullptr || error.error_class() == ErrorClass::no_mem) return error;
  }
  if (name == nullptr) {
    return base::failure(
        ErrorClass::other,
        "%s names descriptor %ld, which is not open as the job's memory; a wrapper between mpiexec "
        "and the program must not close inherited descriptors and remove %s",
        wire::env_job_fd, descriptor, wire::env_job_socket);
  }
  auto ticket = ask_for_segment(name);
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
        "the job's segment of %zu bytes cannot be mapped (%s); check the limit on address "
        "space (ulimit -v)",
        bytes, std::strerror(errno));
  }
  const std::span<std::byte> mapping{static_cast<std::byte*>(memory), bytes};
  auto view = wire::attach_job(mapping);
  if (view.failed()) {
    ::munmap(memory, bytes);
    return view.error();
  }
  mapping_ = mapping;
  view_ = view.value();
  return {};
}

/// One process per rank: a program that a rank starts inherits its environment, and would write
/// into the rank's queues.
base::Error Job::take_place(std::uint32_t rank) {
  wire::RankRecord& record = view_.records[rank];
  const auto state = static_cast<wire::RankState>(record.state.load(std::memory_order_acquire));
  const std::int32_t holder = record.pid.load(std::memory_order_acquire);
  // The rings still hold what the one before it left there, so a rank is one process for good.
  if (state > wire::RankState::started) {
    view_ = {};  // the records are not this process's to write
    return base::failure(
        ErrorClass::other,
        "rank %u of the job is or was process %d; unset %s and %s in what a rank starts, or start "
        "it with mpiexec",
        rank, holder, wire::env_job_fd, wire::env_job_socket);
  }
  rank_ = rank;
  size_ = view_.rank_count;
  appnum_ = static_cast<int>(view_.records[rank_].appnum);
  singleton_ = false;
  record.pid.store(::getpid(), std::memory_order_release);
  // Behind a wrapper mpiexec has another process as its child: it looks at the records then.
  if (::getppid() != view_.mpiexec_pid) ::kill(view_.mpiexec_pid, SIGCHLD);
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
  plan.job_id = random_word();
  plan.area_bytes = area_bytes;
  plan.mpiexec_pid = ::getpid();
  if (const auto control = wire::format_job(mapping_, plan); control.failed()) {
    return control.error();
  }
  auto view = wire::attach_job(mapping_);
  if (view.failed()) return view.error();
  view_ = view.value();
  view_.records[0].pid.store(::getpid(), std::memory_order_release);
  return {};
}

bool Job::oversubscribed() const noexcept {
  return (view_.flags & wire::job_flag_oversubscribed) != 0;
}

void Job::set_state(wire::RankState state) noexcept {
  if (view_.records.empty()) return;  // before the job was joined
  view_.records[rank_].state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
}

void Job::set_abort_code(int code) noexcept {
  if (view_.records.empty()) return;
  view_.records[rank_].abort_code.store(code, std::memory_order_release);
}

std::span<const std::uint64_t> Job::binding_of(std::uint32_t rank) const noexcept {
  const wire::RankRecord& record = view_.records[rank];
  std::uint32_t processors = 0;
  for (const std::uint64_t word : record.core_mask) {
    processors += static_cast<std::uint32_t>(std::popcount(word));
  }
  if (processors == 0 || processors != record.core_count) return {};
  return record.core_mask;
}

fabric::Shm::Config Job::shm_config() {
  fabric::Shm::Config config;
  config.self = rank_;
  config.size = size_;
  config.areas = view_.areas;
  config.area_bytes = view_.area_bytes;
  config.token = random_word();
  for (auto& record : view_.records)
    config.processes.push_back({&record.pid, &view_.header->abort});
  return config;
}

}  // namespace fulmar::runtime
