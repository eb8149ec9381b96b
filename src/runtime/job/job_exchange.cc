// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The exchange of a job with its launcher and its ranks after it was joined.
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/os/futex.h"
#include "runtime/job/job.h"
#include "runtime/network/neighbours.h"

namespace fulmar::runtime {
namespace {

using base::ErrorClass;
using base::failure;

constexpr const char* key_address = "address";
constexpr std::int64_t recheck_interval_ns = 100'000'000;  // for the end of the job

}  // namespace

base::Error Job::publish_address(std::span<const std::byte> blob) {
  const auto announced = wire::encode_process_address(processes_->own_name(), blob);
  if (announced.failed()) return announced.error();
  const std::span<const std::byte> bytes = announced.value();
  if (bootstrap_ != nullptr && !left_) {
    published_ = true;
    const base::Error error = bootstrap::publish_bytes(*bootstrap_, key_address, bytes);
    return error.failed() ? error : bootstrap_->fence();
  }
  wire::AddressRecord& record = view_.records[local_index_].address;
  std::copy(bytes.begin(), bytes.end(), record.bytes.begin());
  record.length_plus_one.store(static_cast<std::uint32_t>(bytes.size()) + 1,
                               std::memory_order_release);
  base::futex_wake(record.length_plus_one, INT_MAX, base::FutexScope::shared);
  return {};
}

base::Result<std::vector<std::byte>> Job::address_of(std::uint32_t rank, Patience patience) {
  if (rank >= size_) {
    return failure(ErrorClass::other, "there is no rank %u in a job of %u", rank, size_);
  }
  if (bootstrap_ == nullptr) {
    if (patience == Patience::wait) await_address(rank);
    return address_in_record(rank);
  }
  if (left_) {
    const auto known = addresses_.find(rank);
    if (known != addresses_.end()) return known->second;
    return failure(ErrorClass::other,
                   "the launcher cannot be asked for the address of rank %u any more: MPI_Finalize "
                   "was called, and in a job of more than %u ranks addresses are not kept beyond "
                   "it; open a session before MPI_Finalize",
                   rank, most_remembered);
  }
  const auto bytes = bootstrap::lookup_bytes(*bootstrap_, rank, key_address);
  if (bytes.failed()) return bytes.error();
  return announced(rank, bytes.value());
}

/// The network's address in a rank's announcement, if the announcement is that rank's.
base::Result<std::vector<std::byte>> Job::announced(std::uint32_t rank,
                                                    std::span<const std::byte> bytes) const {
  auto address = wire::decode_process_address(bytes);
  if (address.failed()) return address.error();
  if (processes_->id_of(address->process) == rank) return std::move(address->network);
  return failure(ErrorClass::other,
                 "what rank %u of job %08x has announced is the address of rank %u of job %08x; "
                 "start the job again",
                 rank, job_id(), address->process.rank, address->process.job);
}

/// Returns when the rank has announced itself, or never will.
void Job::await_address(std::uint32_t rank) const {
  const wire::AddressRecord& record = view_.records[rank].address;
  while (record.length_plus_one.load(std::memory_order_acquire) == 0 && !never_comes(rank)) {
    base::futex_wait(record.length_plus_one, 0, base::FutexScope::shared, recheck_interval_ns);
  }
}

/// Whether a rank that has not announced its address never will. mpiexec records the end of
/// a process after all that the process has written.
bool Job::never_comes(std::uint32_t rank) const noexcept {
  const auto state =
      static_cast<wire::RankState>(view_.records[rank].state.load(std::memory_order_acquire));
  return state == wire::RankState::exited || state == wire::RankState::failed ||
         view_.header->abort.load(std::memory_order_relaxed) != 0;
}

/// Empty: the rank has not announced itself so far.
base::Result<std::vector<std::byte>> Job::address_in_record(std::uint32_t rank) const {
  const wire::AddressRecord& record = view_.records[rank].address;
  const bool too_late = never_comes(rank);  // first: it may come, and end, between the two looks
  const std::uint32_t length = record.length_plus_one.load(std::memory_order_acquire);
  if (length == 0) {
    if (!too_late) return std::vector<std::byte>();
    return failure(ErrorClass::other,
                   "rank %u cannot be reached: %s, or the job ends; a rank to which messages are "
                   "sent has to enter MPI",
                   rank, why_missing().c_str());
  }
  if (length - 1 > wire::max_process_address_bytes) {
    return failure(ErrorClass::other, "rank %u has told an address of %u bytes, at most %zu can be",
                   rank, length - 1, wire::max_process_address_bytes);
  }
  return announced(rank, std::span(record.bytes).first(length - 1));
}

std::optional<Job::Death> Job::find_death() const noexcept {
  if (bootstrap_ == nullptr || view_.records.size() < 2) return std::nullopt;
  const auto dead = find_dead(view_.records, local_index_);
  if (!dead) return std::nullopt;
  return Death{node_ranks_[*dead], view_.records[*dead].pid.load(std::memory_order_relaxed)};
}

void Job::mark_failed(std::uint32_t rank) noexcept {
  const wire::RankRecord* record = record_of(rank);
  if (record == nullptr) return;
  (void)wire::mark_failed(*view_.header,
                          view_.records[static_cast<std::size_t>(record - view_.records.data())]);
}

bool Job::is_ending() const noexcept {
  return bootstrap_ != nullptr && view_.header != nullptr &&
         view_.header->abort.load(std::memory_order_relaxed) != 0;
}

std::uint32_t Job::failed_ranks() const noexcept {
  return view_.header == nullptr ? 0 : view_.header->failed_ranks.load(std::memory_order_acquire);
}

bool Job::has_failed(std::uint32_t rank) const noexcept {
  const wire::RankRecord* record = record_of(rank);
  return record != nullptr && record->gone.load(std::memory_order_acquire) ==
                                  static_cast<std::uint32_t>(wire::RankGone::failed);
}

std::vector<Job::Death> Job::deaths() const {
  std::vector<Death> found;
  for (const std::uint32_t rank : node_ranks_) {
    if (!has_failed(rank)) continue;
    found.push_back({rank, record_of(rank)->pid.load(std::memory_order_relaxed)});
  }
  return found;
}

void Job::abort(int code, int status, const char* text) noexcept {
  if (!view_.records.empty()) {
    view_.records[local_index_].abort_code.store(code, std::memory_order_release);
  }
  set_state(wire::RankState::aborted);  // from now on mpiexec may read the code
  if (bootstrap_ != nullptr) {
    if (view_.header != nullptr) {  // else the ranks of the node have not met yet
      wire::mark_end(*view_.header, view_.records);
    }
    // The threads of a PMIx library are not in a forked process: it would wait for them.
    const bool can_tell = is_owner() || launcher_ == bootstrap::Launcher::pmi1;
    if (can_tell) bootstrap_->abort(status, text);
    return end_owner();
  }
  if (singleton_) return end_owner();
  // Behind a wrapper such as a shell, mpiexec does not see this process end; other parents ignore
  // SIGCHLD.
  if (mpiexec_pid() > 0) ::kill(mpiexec_pid(), SIGCHLD);
}

/// Only the parent's number is certain to be still that of the same process.
void Job::end_owner() const noexcept {
  if (is_owner() || owner_pid_ == 0) return;
  if (::getppid() == owner_pid_) {
    ::kill(owner_pid_, SIGTERM);
    return;
  }
  std::fprintf(stderr,
               "fulmar: MPI_Abort was called in process %d, which process %d (rank %u of %u) has "
               "not forked itself: end that one, too\n",
               ::getpid(), owner_pid_, rank_, size_);
}

/// A launcher answers no requests after its finalize, but a session may initialise MPI again.
void Job::remember_addresses() {
  for (std::uint32_t rank = 0; rank < size_; ++rank) {
    if (rank == rank_) continue;
    auto address = address_of(rank, Patience::look);
    if (address.ok()) addresses_.emplace(rank, std::move(*address));
  }
}

base::Error Job::leave() {
  if (bootstrap_ == nullptr || left_) return {};
  if (published_ && size_ <= most_remembered) remember_addresses();
  left_ = true;
  return bootstrap_->finalize();
}

}  // namespace fulmar::runtime
