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

/// The processes that this one knows. Each has a local number, its *id*, by which communicators, the device
/// and networks refer to it; other processes use names (wire/process_name.h). Jobs are added one by one
/// (this process's own first, so that its ranks are ids) and take consecutive ids: the table needs memory
/// for each job and none for a process. A job that is forgotten (`remove_job`) leaves its ids to others.
///
/// With each job the table stores the key that its processes and those of this job share: one for this job,
/// and one for each pair of jobs.
///
/// Thread rule: the lock of the engine.
class ProcessTable {
 public:
  /// For process `self` of a job with `size` processes and this key. Requires self.rank < size.
  ProcessTable(const wire::ProcessName& self, std::uint32_t size, const base::Key& key = {});

  /// The id of rank 0 of a job with `size` processes; its other ranks follow: the lowest ids that no job has.
  /// `key` is shared by the two jobs. A known job keeps its ids, its size and its key. nullopt for job 0, and if
  /// no ids are left (2^32 - 1).
  [[nodiscard]] std::optional<std::uint32_t> add_job(std::uint32_t job, std::uint32_t size,
                                                     const base::Key& key);

  /// Forgets another job, so that its ids may become those of other processes: nothing refers to them any more.
  /// Its processes are strangers from now on.
  void remove_job(std::uint32_t job);
  struct Ids {
    std::uint32_t job;
    std::uint32_t first;  ///< of rank 0
    std::uint32_t size;
  };
  /// Of all jobs but this one.
  [[nodiscard]] std::vector<Ids> other_jobs() const;

  /// This job, which is the only known one, has another number and another key from now on.
  void rename_own_job(std::uint32_t job, const base::Key& key) noexcept {
    self_.job = jobs_.front().job = job;
    jobs_.front().key = key;
  }

  /// nullopt for an unknown process: an unknown job, a rank beyond its size, or an engine other than 0. The
  /// name may come from another process.
  [[nodiscard]] std::optional<std::uint32_t> id_of(const wire::ProcessName& process) const noexcept;
  /// nullopt for an id that no process has.
  [[nodiscard]] std::optional<wire::ProcessName> name_of(std::uint32_t id) const noexcept;
  /// The key that authenticates processes of that job; null for an unknown job. Valid until the next
  /// add_job.
  [[nodiscard]] const base::Key* key_of(std::uint32_t job) const noexcept;

  [[nodiscard]] const wire::ProcessName& own_name() const noexcept { return self_; }
  /// The id of this process: its rank in its job.
  [[nodiscard]] std::uint32_t self() const noexcept { return self_.rank; }
  /// Ids are less. Never falls.
  [[nodiscard]] std::uint32_t size() const noexcept { return size_; }

  /// For messages: "rank 3", and in another job "rank 3 of job 5d0a11c4".
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

/// The table as networks hold it; the owner that adds jobs has it without `const`.
using Processes = std::shared_ptr<const ProcessTable>;

/// A table with this job alone.
[[nodiscard]] inline Processes one_job(const wire::ProcessName& self, std::uint32_t size,
                                       const base::Key& key = {}) {
  return std::make_shared<const ProcessTable>(self, size, key);
}

}  // namespace fulmar::fabric
