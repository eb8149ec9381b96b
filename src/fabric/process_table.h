// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/keyed_hash.h"
#include "wire/process_name.h"

namespace fulmar::fabric {

/// The processes that this one knows. Each has a short number here, its *id*, by which
/// communicators, the device and networks name it; ids mean nothing to other processes, which hear
/// names (wire/process_name.h). Jobs come one by one (this process's own first, so that its ranks
/// are ids) and take consecutive ids: the table needs memory for each job and none for a process.
/// Ids are never used again.
///
/// With each job comes the key that its processes and those of this job share: that of the own job
/// for the own job, and one for each pair of jobs.
///
/// Thread rule: the lock of the engine.
class ProcessTable {
 public:
  /// Of a process `self` of a job with `size` processes and this key. Requires self.rank < size.
  ProcessTable(const wire::ProcessName& self, std::uint32_t size, const base::Key& key = {});

  /// The id of rank 0 of a job with `size` processes; those of its other ranks follow. `key` is that
  /// of the two jobs. A job that is known keeps its ids, its size and its key. Nothing for job 0,
  /// and where no ids are left (2^32 - 1).
  [[nodiscard]] std::optional<std::uint32_t> add_job(std::uint32_t job, std::uint32_t size,
                                                     const base::Key& key);

  /// Nothing if the process is not known: its job is not, or has fewer ranks, or it has an engine
  /// that nobody has so far. All three may come from another process.
  [[nodiscard]] std::optional<std::uint32_t> id_of(const wire::ProcessName& process) const noexcept;
  /// Nothing for a number that is no id.
  [[nodiscard]] std::optional<wire::ProcessName> name_of(std::uint32_t id) const noexcept;
  /// What proves that a process of that job is one; null for a job that is not known. Valid until
  /// the next add_job.
  [[nodiscard]] const base::Key* key_of(std::uint32_t job) const noexcept;

  [[nodiscard]] const wire::ProcessName& own_name() const noexcept { return self_; }
  /// The own id: the rank in the own job.
  [[nodiscard]] std::uint32_t self() const noexcept { return self_.rank; }
  /// How many processes are known: ids are less.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

  /// For people: "rank 3", and of another job "rank 3 of job 5d0a11c4".
  [[nodiscard]] std::string text_of(std::uint32_t id) const;

 private:
  struct Job {
    std::uint32_t job;
    std::uint32_t first;  ///< id of rank 0
    std::uint32_t size;
    base::Key key;
  };
  [[nodiscard]] const Job* find(std::uint32_t job) const noexcept;

  std::vector<Job> jobs_;  ///< by first id
  wire::ProcessName self_;
  std::uint32_t size_ = 0;
};

/// What networks hold of the table; the one who adds jobs holds it without `const`.
using Processes = std::shared_ptr<const ProcessTable>;

/// A table with the own job alone, which it stays.
[[nodiscard]] inline Processes one_job(const wire::ProcessName& self, std::uint32_t size,
                                       const base::Key& key = {}) {
  return std::make_shared<const ProcessTable>(self, size, key);
}

}  // namespace fulmar::fabric
