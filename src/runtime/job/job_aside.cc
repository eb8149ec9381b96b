// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A job whose segment is given back and taken again (a checkpoint).
//
// Pointers into the segment are everywhere: links to peers, collective areas, shared claims, the records. None
// of them has to be found and changed, because the next segment is mapped at the same addresses, and holds the
// same bytes: each rank keeps its own area, to which nobody writes while all are between their last
// message and the first one after it.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "runtime/job/job.h"
#include "runtime/join_socket.h"

namespace fulmar::runtime {

using base::ErrorClass;
using base::failure;

base::Error Job::set_aside() {
  const std::size_t control_bytes = wire::control_bytes_for(view_.rank_count);
  const std::span<const std::byte> control = mapping_.first(control_bytes);
  const std::vector<std::byte> records(control.begin(), control.end());
  void* const place = ::mmap(nullptr, mapping_.size(), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (place == MAP_FAILED) {
    return failure(ErrorClass::no_mem, "%zu bytes of memory cannot be mapped (%s)", mapping_.size(),
                   std::strerror(errno));
  }
  const int file = maps_inherited_ ? inherited_segment_.get() : segment_.get();
  const std::uint64_t at = view_.areas_offset + local_index_ * view_.area_bytes;
  image_.save(view_.area(local_index_), {file, at});
  // From now on mpiexec lets this process have the next generation.
  if (!singleton_) set_state(wire::RankState::finalized);
  std::memcpy(place, records.data(), records.size());
  if (::mremap(place, mapping_.size(), mapping_.size(), MREMAP_MAYMOVE | MREMAP_FIXED,
               mapping_.data()) == MAP_FAILED) {
    const int reason = errno;
    ::munmap(place, mapping_.size());
    image_.restore(view_.area(local_index_));
    if (!singleton_) set_state(wire::RankState::initialised);
    return failure(ErrorClass::no_mem, "the job's segment cannot be replaced (%s)",
                   std::strerror(reason));
  }
  pmi_socket_.close();
  inherited_segment_.close();
  maps_inherited_ = false;
  segment_.reset();
  return {};
}

/// The rank's place in the new job must be the old one: other processes' memory names it.
base::Error Job::check_shape(const wire::JobView& view) const {
  const bool same = view.rank_count == size_ && view.areas_offset == view_.areas_offset &&
                    view.area_bytes == view_.area_bytes;
  if (same) return {};
  return failure(ErrorClass::other,
                 "the job of %u ranks is to go on in one of %u ranks, with areas of %llu bytes in "
                 "place of %llu; start as many ranks on this node as before, with the same limit "
                 "on file sizes (ulimit -f)",
                 size_, view.rank_count, static_cast<unsigned long long>(view.area_bytes),
                 static_cast<unsigned long long>(view_.area_bytes));
}

/// Maps a segment in place of what is at the address of the old one.
base::Result<wire::JobView> Job::map_again(int descriptor) {
  struct stat status{};
  const bool fits = ::fstat(descriptor, &status) == 0;
  const auto bytes = static_cast<std::size_t>(fits ? status.st_size : 0);
  void* const place = bytes == 0 ? MAP_FAILED
                                 : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (place == MAP_FAILED) {
    return failure(ErrorClass::no_mem, "the job's segment of %zu bytes cannot be mapped (%s)",
                   bytes, std::strerror(errno));
  }
  auto view = wire::attach_job({static_cast<std::byte*>(place), bytes});
  base::Error error = view.failed() ? view.error() : check_shape(*view);
  if (error.ok() && bytes != mapping_.size()) {
    // A longer one would cover what lies behind the old one.
    error = failure(ErrorClass::other,
                    "the job's segment has %zu bytes, but the one before had %zu; start it by the "
                    "same version of Fulmar",
                    bytes, mapping_.size());
  }
  if (error.ok() &&
      ::mremap(place, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, mapping_.data()) == MAP_FAILED) {
    error =
        failure(ErrorClass::no_mem, "the job's segment cannot be moved (%s)", std::strerror(errno));
  }
  if (error.failed()) {
    ::munmap(place, bytes);
    return error;
  }
  return wire::attach_job(mapping_);
}

base::Error Job::come_back() {
  owner_pid_ = ::getpid();
  const char* const name = std::getenv(wire::env_job_socket);
  if (name == nullptr) {
    return failure(ErrorClass::other, "%s is not set, so there is no mpiexec to go on under",
                   wire::env_job_socket);
  }
  auto ticket = ask_for_segment(name, rank_);
  if (ticket.failed()) return ticket.error();
  auto view = map_again(ticket->segment.get());
  if (view.failed()) return view.error();
  view_ = *view;
  segment_ = std::move(ticket->segment);
  if (const base::Error error = take_place(rank_); error.failed()) return error;
  image_.restore(view_.area(local_index_));
  processes_->rename_own_job(view_.job_id, view_.job_key);
  if (::getppid() != view_.mpiexec_pid) ::kill(view_.mpiexec_pid, SIGCHLD);
  return {};
}

}  // namespace fulmar::runtime
