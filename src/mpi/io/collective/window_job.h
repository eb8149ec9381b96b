// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <limits>
#include <memory>
#include <span>
#include <vector>

#include "mpi/io/collective/collective.h"
#include "mpi/io/file_state.h"

namespace fulmar::mpi {

/// A part of a file from its first to behind its last byte.
struct Extent {
  Count first;
  Count end;
};

/// Sorts extents and joins those that touch or overlap.
void merge(std::vector<Extent>& extents);

/// A window of the file in the memory of an aggregator, and the file operation that reads or writes
/// it on a thread of its own. The operation may outlive its owner (an algorithm that ends because a
/// process has failed): then the object ends itself when it is done.
class WindowJob final : public FileJob {
 public:
  struct Owner {
    void operator()(WindowJob* job) const noexcept { job->let_go(); }
  };
  using Ref = std::unique_ptr<WindowJob, Owner>;

  /// Whether each write locks its part of the file, against ranks that sieve.
  enum class Locking : std::uint8_t { none, of_writes };

  /// Null without memory.
  [[nodiscard]] static Ref make(File& file, Direction direction, Locking locking) noexcept;

  /// Gives the window another place in the file, and makes its memory large enough; false without
  /// memory. Requires that no operation is active.
  [[nodiscard]] bool place(Extent where) noexcept;
  [[nodiscard]] Extent where() const noexcept { return where_; }
  /// The memory of byte `offset` of the file, which is in the window.
  [[nodiscard]] std::byte* memory_at(Count offset) const noexcept {
    return memory_.get() + (offset - where_.first);
  }
  /// What is to be read or written.
  std::vector<Extent> extents;

  /// At once, on this thread.
  void run_here() noexcept { run(); }
  void start() noexcept;
  /// Returns at once if nothing is under way: co_await job.wait(exchange).
  [[nodiscard]] CollContext::Wait wait(CollContext& exchange) noexcept;

  /// Of the last operation. A read that met the end of the file has an end there.
  [[nodiscard]] base::Error error() const noexcept { return error_; }
  [[nodiscard]] Count valid_end() const noexcept { return valid_end_; }

  void run() noexcept override;

 private:
  WindowJob(File& file, Direction direction, Locking locking) noexcept;
  ~WindowJob();
  static void on_done(device::Operation& operation) noexcept;
  void let_go() noexcept;
  [[nodiscard]] bool under_way() const noexcept {
    return completion_.stage == device::Stage::queued;
  }
  void read_all() noexcept;
  void write_all() noexcept;
  [[nodiscard]] bool read_extent(const Extent& extent) noexcept;

  File& file_;  ///< one reference held
  Direction direction_;
  Locking locking_;
  Extent where_{0, 0};
  Count room_ = 0;
  std::unique_ptr<std::byte[]> memory_;
  device::Operation completion_;
  CollContext::Part part_;
  bool awaited_ = false;
  bool orphaned_ = false;
  base::Error error_;
  Count valid_end_ = std::numeric_limits<Count>::max();
};

}  // namespace fulmar::mpi
