// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/file_state.h"

#include <cstdlib>

#include "device/device.h"
#include "io/hints.h"

namespace fulmar::mpi {

FileState::FileState(Library& library) noexcept
    : library_(library), threads_({wake, &library}), ring_({block_done, this}) {
  step = complete_done;
  library.files = this;
}

FileState::~FileState() { library_.files = nullptr; }

void FileState::begin(FileJob& job) noexcept {
  job.operation->stage = device::Stage::queued;
  if (pending_++ == 0) library_.device->add_progress_callback(*this);
}

void FileState::submit(FileJob& job) noexcept {
  begin(job);
  threads_.submit(job);
}

void FileState::submit_quietly(FileJob& job) noexcept {
  begin(job);
  quiet_ = threads_.submit_quietly(job);
  if (!quiet_) threads_.submit(job);
}

int FileState::choose(AsyncWay way) noexcept {
  way_ = way;
  const int error = way == AsyncWay::io_uring ? ring_.open() : 0;
  if (error != 0) way_ = AsyncWay::threads;
  return error;
}

bool FileState::submit_block(BlockJob& job) noexcept {
  if (ring_.open() != 0) {
    way_ = AsyncWay::threads;
    return false;
  }
  begin(job);
  job.block.owner = &job;
  ring_.submit(job.block);
  return true;
}

/// On the thread of the ring.
void FileState::block_done(void* self, io::BlockTransfer& transfer) noexcept {
  auto& job = *static_cast<BlockJob*>(transfer.owner);
  job.end_block();
  static_cast<FileState*>(self)->threads_.hand_back(job);
}

bool FileState::take_back(FileJob& job) noexcept {
  if (!threads_.take_back(job)) return false;
  if (--pending_ == 0) {
    quiet_ = false;
    library_.device->remove_progress_callback(*this);
  }
  return true;
}

void FileState::record_into(base::Trace& spans, std::size_t records) {
  log_.trace = std::make_unique<io::FileTrace>(records);
  log_.spans = &spans;
}

void FileState::stop() noexcept {
  threads_.stop();
  ring_.stop();
}

/// On a worker.
void FileState::wake(void* library) noexcept {
  static_cast<Library*>(library)->device->wake_self();
}

unsigned FileState::complete_done(device::ProgressCallback& hook) noexcept {
  auto& self = static_cast<FileState&>(hook);
  if (std::exchange(self.quiet_, false)) self.threads_.wake();
  unsigned completed = 0;
  for (io::Job* at = self.threads_.take_done(); at != nullptr;) {
    auto& job = static_cast<FileJob&>(*at);
    at = at->next;
    ++completed;
    if (--self.pending_ == 0) self.library_.device->remove_progress_callback(self);
    self.library_.device->complete(*job.operation);  // may end the job's object
  }
  return completed;
}

const std::vector<std::pair<std::string, std::string>>& FileState::environment_hints() {
  if (!hints_read_) {
    hints_read_ = true;
    const char* path = std::getenv("ROMIO_HINTS");
    if (path != nullptr) environment_hints_ = io::read_hints_file(path);
  }
  return environment_hints_;
}

}  // namespace fulmar::mpi
