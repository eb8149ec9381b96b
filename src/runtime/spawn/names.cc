// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/spawn/names.h"

#include <string>
#include <utility>

#include "runtime/spawn/name_store.h"

namespace fulmar::runtime {
namespace {

using mpi::InfoEntry;

/// Of a place that is none.
class NoNames final : public NameStore {
 public:
  explicit NoNames(std::string place) : place_(std::move(place)) {}
  base::Error publish(std::string_view /*service*/, std::string_view /*port*/) override {
    return refuse();
  }
  base::Result<std::string> lookup(std::string_view /*service*/) override { return refuse(); }
  base::Error unpublish(std::string_view /*service*/, std::string_view /*port*/) override {
    return refuse();
  }

 private:
  [[nodiscard]] base::Error refuse() const {
    return base::failure(
        base::ErrorClass::service,
        "FULMAR_NAMES=%.200s is neither a folder with its whole path (/shared/names) nor "
        "a server (HOST:PORT:KEYFILE)",
        place_.c_str());
  }
  std::string place_;
};

/// Names elsewhere than at the launcher.
class WithNames final : public mpi::LaunchService {
 public:
  WithNames(std::unique_ptr<mpi::LaunchService> launcher, std::unique_ptr<NameStore> names)
      : launcher_(std::move(launcher)), names_(std::move(names)) {}

  base::Result<std::vector<int>> spawn(const std::vector<mpi::SpawnCommand>& commands,
                                       std::string_view parent_port) override {
    return launcher_->spawn(commands, parent_port);
  }
  std::string parent_port() override { return launcher_->parent_port(); }
  std::string spawned_job_ended(std::string_view parent_port) override {
    return launcher_->spawned_job_ended(parent_port);
  }
  void forget_spawned_job(std::string_view parent_port) override {
    launcher_->forget_spawned_job(parent_port);
  }
  base::Error publish(std::string_view service, std::string_view port,
                      const std::vector<InfoEntry>& /*info*/) override {
    return names_->publish(service, port);
  }
  base::Result<std::string> lookup(std::string_view service,
                                   const std::vector<InfoEntry>& /*info*/) override {
    return names_->lookup(service);
  }
  base::Error unpublish(std::string_view service, std::string_view port,
                        const std::vector<InfoEntry>& /*info*/) override {
    return names_->unpublish(service, port);
  }

 private:
  std::unique_ptr<mpi::LaunchService> launcher_;
  std::unique_ptr<NameStore> names_;
};

}  // namespace

std::unique_ptr<mpi::LaunchService> with_names(std::unique_ptr<mpi::LaunchService> launcher,
                                               std::string_view place, std::uint32_t job) {
  if (place.empty()) return launcher;
  std::unique_ptr<NameStore> names;
  if (place.starts_with('/')) {
    names = names_in_folder(std::string(place), job);
  } else if (names = names_at_server(place, job); names == nullptr) {
    names = std::make_unique<NoNames>(std::string(place));
  }
  return std::make_unique<WithNames>(std::move(launcher), std::move(names));
}

}  // namespace fulmar::runtime
