// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "mpi/spawn/launch_service.h"

namespace fulmar::runtime {

/// A launch service that any number of threads may call: it makes one call of `service` at a time, in
/// no particular order, since a service has one connection to its launcher. The mutex is held for as
/// long as the launcher takes, so it is not the lock of the library, without which these calls are
/// made.
///
/// Thread rule: any thread.
class SerializedService final : public mpi::LaunchService {
 public:
  explicit SerializedService(std::unique_ptr<mpi::LaunchService> service) noexcept
      : service_(std::move(service)) {}

  base::Result<std::vector<int>> spawn(const std::vector<mpi::SpawnCommand>& commands,
                                       std::string_view parent_port) override {
    const std::lock_guard guard(in_use_);
    return service_->spawn(commands, parent_port);
  }
  std::string parent_port() override {
    const std::lock_guard guard(in_use_);
    return service_->parent_port();
  }
  /// Does not wait: while another thread makes a call, nothing is known.
  std::string spawned_job_ended(std::string_view parent_port) override {
    const std::unique_lock guard(in_use_, std::try_to_lock);
    return guard.owns_lock() ? service_->spawned_job_ended(parent_port) : std::string();
  }
  void forget_spawned_job(std::string_view parent_port) override {
    const std::lock_guard guard(in_use_);
    service_->forget_spawned_job(parent_port);
  }
  base::Error publish(std::string_view service, std::string_view port,
                      const std::vector<mpi::InfoEntry>& info) override {
    const std::lock_guard guard(in_use_);
    return service_->publish(service, port, info);
  }
  base::Result<std::string> lookup(std::string_view service,
                                   const std::vector<mpi::InfoEntry>& info) override {
    const std::lock_guard guard(in_use_);
    return service_->lookup(service, info);
  }
  base::Error unpublish(std::string_view service, std::string_view port,
                        const std::vector<mpi::InfoEntry>& info) override {
    const std::lock_guard guard(in_use_);
    return service_->unpublish(service, port, info);
  }

 private:
  std::mutex in_use_;  ///< held during each call of `service_`
  std::unique_ptr<mpi::LaunchService> service_;
};

}  // namespace fulmar::runtime
