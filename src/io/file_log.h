// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/clock.h"
#include "base/trace.h"
#include "io/file_trace.h"

namespace fulmar::io {

/// What the file operations of a process came to so far (MPI_T performance variables).
///
/// Thread rule: any thread.
struct FileStats {
  using Counter = std::atomic<std::uint64_t>;
  Counter read_operations{0};  ///< data access calls of the program
  Counter write_operations{0};
  Counter collective_operations{0};  ///< of both
  Counter exchanges{0};              ///< collective ones that moved data in two phases
  Counter system_calls{0};           ///< that move data, and fsync
  Counter bytes_read{0};             ///< by system calls and through mapped memory
  Counter bytes_written{0};
  Counter lock_waits{0};  ///< locks of a part of a file that were not free at once
  Counter lock_wait_ns{0};
  Counter checked_bytes{0};  ///< compared with their checksums (FULMAR_CHECK=files)

  static void add(Counter& counter, std::uint64_t amount = 1) noexcept {
    counter.fetch_add(amount, std::memory_order_relaxed);
  }
  /// The same for a counter that only holders of the library's lock count: without an atomic addition, which takes 5 ns.
  static void add_locked(Counter& counter, std::uint64_t amount = 1) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
};

/// Where file operations of a process are counted, and recorded while it is traced.
struct FileLog {
  FileStats figures;
  FileStats locked_figures;          ///< the same, by `add_locked` only; added to those
  std::unique_ptr<FileTrace> trace;  ///< null: nothing is traced
  base::Trace* spans = nullptr;      ///< the trace of calls, with `trace`

  [[nodiscard]] std::uint64_t total(FileStats::Counter FileStats::* counter) const noexcept {
    return (figures.*counter).load(std::memory_order_relaxed) +
           (locked_figures.*counter).load(std::memory_order_relaxed);
  }
};

/// What was moved by calls that are not in the log yet.
struct Moved {
  std::uint64_t bytes = 0;
  std::uint64_t calls = 0;

  /// For holders of the library's lock.
  void count(FileLog& log, FileStats::Counter FileStats::* counter) const noexcept {
    FileStats::add_locked(log.locked_figures.system_calls, calls);
    FileStats::add_locked(log.locked_figures.*counter, bytes);
  }
};

/// A system call on a file: counts it, and records it where the process is traced. Lives from before
/// the call until after it.
class SystemCall {
 public:
  /// `log` may be null. `name` is for ever valid. `bytes`: as many as are asked for.
  SystemCall(FileLog* log, const char* name, std::uint32_t file, std::int64_t offset,
             std::size_t bytes) noexcept
      : log_(log),
        span_(log == nullptr ? nullptr : log->spans, name, base::Trace::no_peer, bytes),
        name_(name),
        file_(file),
        offset_(offset) {
    if (log_ != nullptr && log_->trace != nullptr) [[unlikely]]
      begin_ns_ = base::now_ns();
  }

  /// It began earlier than this was made.
  void set_begin(std::uint64_t ns) noexcept { begin_ns_ = ns; }

  /// `moved` is the result of the call: bytes, or -1. Leaves errno alone.
  void ended(FileStats::Counter FileStats::* bytes, std::int64_t moved) noexcept {
    if (log_ == nullptr) return;
    FileStats::add(log_->figures.system_calls);
    if (moved > 0 && bytes != nullptr) {
      FileStats::add(log_->figures.*bytes, static_cast<std::uint64_t>(moved));
    }
    const std::int64_t some = moved > 0 ? moved : 0;
    if (log_->trace != nullptr) [[unlikely]]
      record(some, some);
  }

  /// For data that went through mapped memory instead: `moved` bytes up to `span` behind the offset.
  void moved_in_memory(FileStats::Counter FileStats::* bytes, std::int64_t moved,
                       std::int64_t span) noexcept {
    if (log_ == nullptr) return;
    FileStats::add(log_->figures.*bytes, static_cast<std::uint64_t>(moved));
    if (log_->trace != nullptr) [[unlikely]]
      record(moved, span);
  }

 private:
  void record(std::int64_t moved, std::int64_t span) const noexcept {
    log_->trace->add({begin_ns_, base::now_ns(), name_, FileTrace::Kind::system_call, file_,
                      offset_, offset_ + span, static_cast<std::uint64_t>(moved)});
  }

  FileLog* log_;
  base::TraceSpan span_;
  const char* name_;
  std::uint32_t file_;
  std::int64_t offset_;
  std::uint64_t begin_ns_ = 0;
};

}  // namespace fulmar::io
