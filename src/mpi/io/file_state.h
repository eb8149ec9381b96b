// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "device/operation.h"
#include "device/progress/hook.h"
#include "io/async/io_ring.h"
#include "io/async/worker_threads.h"
#include "io/file_log.h"
#include "io/shared_word.h"
#include "mpi/io/access/wait_forecast.h"
#include "mpi/io/view/datarep.h"
#include "mpi/library.h"

namespace fulmar::mpi {

/// A file operation that runs on a thread of its own while the program goes on. It touches no
/// state of the library but what it was given. When it is done `operation` is completed by the next
/// progress.
struct FileJob : io::Job {
  device::Operation* operation = nullptr;

 protected:
  ~FileJob() = default;
};

/// A FileJob that moves one block of the file to or from one block of memory: the kernel may carry it out by itself.
struct BlockJob : FileJob {
  io::BlockTransfer block;
  /// In place of `run`: `block` is done. On any thread.
  virtual void end_block() noexcept = 0;

 protected:
  ~BlockJob() = default;
};

/// Who carries out non-blocking accesses (FULMAR_FILES_ASYNC).
enum class AsyncWay : std::uint8_t {
  automatic,  ///< threads; io_uring where it is faster
  threads,
  io_uring,  ///< wherever the data are one block
};

/// What file operations of the process share. Made by `runtime`; known as `library.files`. Needs
/// the lock of the library.
class FileState : private device::ProgressCallback {
 public:
  explicit FileState(Library& library) noexcept;
  ~FileState();
  FileState(const FileState&) = delete;
  FileState& operator=(const FileState&) = delete;

  /// Runs a job; its operation is complete some time after.
  void submit(FileJob& job) noexcept;
  /// The same, but no thread hears of it before the next progress: for a job that is expected to be taken back at once.
  void submit_quietly(FileJob& job) noexcept;
  /// The same by io_uring; false where that cannot be had: `submit` it then.
  [[nodiscard]] bool submit_block(BlockJob& job) noexcept;
  /// Before any file is opened. Returns the errno where io_uring is demanded and cannot be had: then threads do all.
  int choose(AsyncWay way) noexcept;
  [[nodiscard]] AsyncWay way() const noexcept { return way_; }
  /// For a thread that is about to wait for the job. If no other one has begun it, it is the caller's again, who runs
  /// it and completes its operation; else false.
  [[nodiscard]] bool take_back(FileJob& job) noexcept;
  /// Jobs whose operations are not complete.
  [[nodiscard]] std::size_t pending() const noexcept { return pending_; }
  /// Ends the threads after the last job; MPI is left.
  void stop() noexcept;

  /// Where file operations are counted, and recorded after `record_into`.
  [[nodiscard]] io::FileLog& log() noexcept { return log_; }
  [[nodiscard]] const io::FileLog& log() const noexcept { return log_; }
  /// The last `records` file operations are kept, and system calls are spans of `spans`. Before any
  /// file is opened.
  void record_into(base::Trace& spans, std::size_t records);

  /// FULMAR_CHECK=files, of files that are opened from now on.
  void set_checks(bool checks) noexcept { checks_ = checks; }
  [[nodiscard]] bool checks() const noexcept { return checks_; }

  /// Of the file that the environment variable ROMIO_HINTS names; read once.
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& environment_hints();

  /// Of non-blocking accesses that were left to threads.
  WaitForecast forecast;

  /// Of files that were closed.
  io::SpareWords spare_words;

  /// Those that the program registered; they do not move.
  std::deque<UserRepresentation> representations;

 private:
  static unsigned complete_done(device::ProgressCallback& hook) noexcept;
  static void wake(void* library) noexcept;
  static void block_done(void* self, io::BlockTransfer& transfer) noexcept;
  void begin(FileJob& job) noexcept;

  Library& library_;
  io::FileLog log_;
  io::WorkerThreads threads_;
  io::IoRing ring_;
  AsyncWay way_ = AsyncWay::automatic;
  std::size_t pending_ = 0;
  bool quiet_ = false;  ///< a job may be queued that no thread was woken for
  bool checks_ = false;
  bool hints_read_ = false;
  std::vector<std::pair<std::string, std::string>> environment_hints_;
};

}  // namespace fulmar::mpi
