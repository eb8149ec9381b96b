// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace fulmar::device {

/// A process as every other process can name it.
struct ProcessName {
  std::uint64_t job = 0;   ///< unique among the jobs that can meet
  std::uint32_t rank = 0;  ///< in the job's world

  friend bool operator==(const ProcessName&, const ProcessName&) = default;
};

/// The processes that this one knows. Each has a short number here, its *id*, by which
/// communicators and the device name it; ids mean nothing to other processes. Jobs come one by one
/// (this process's own first) and take consecutive ids, so the table needs memory for each job and
/// none for a process. Ids are never used again.
///
/// Thread rule: the lock of the engine.
class ProcessTable {
 public:
  /// The id of rank 0 of a job with `size` processes; those of its other ranks follow. A job that
  /// is known keeps its ids; its size does not change. Nothing if there are no ids left (2^32 - 1).
  std::optional<std::uint32_t> add_job(std::uint64_t job, std::uint32_t size);

  /// Nothing if the process is not known. Both may come from another process.
  [[nodiscard]] std::optional<std::uint32_t> id_of(const ProcessName& process) const noexcept;
  /// Nothing for a number that is no id.
  [[nodiscard]] std::optional<ProcessName> name_of(std::uint32_t id) const noexcept;

  /// How many processes are known: ids are less.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

 private:
  struct Job {
    std::uint64_t job;
    std::uint32_t first;  ///< id of rank 0
    std::uint32_t size;
  };
  std::vector<Job> jobs_;  ///< by first id
  std::uint32_t size_ = 0;
};

}  // namespace fulmar::device
