// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"
#include "runtime/bootstrap/bootstrap.h"
#include "wire/launch/pmi1.h"

namespace fulmar::runtime::bootstrap {

/// PMI-1 (wire/launch/pmi1.h): Hydra, Intel MPI's Hydra, Slurm's pmi2 plugin, gforker, Fulmar's
/// mpiexec.
class Pmi1 final : public Bootstrap {
 public:
  /// Over the socket that PMI_FD names, or connecting to PMI_PORT.
  static base::Result<std::unique_ptr<Bootstrap>> open_from_environment();
  /// Over a socket, for a known rank; or, for `rank` -1, for the process
  /// with the server's identifier `id` (PMI_PORT).
  struct Place {
    long rank = -1;
    long size = -1;
    long id = -1;
  };
  static base::Result<std::unique_ptr<Bootstrap>> open(base::UniqueFd socket, const Place& place);

  [[nodiscard]] const char* protocol() const noexcept override { return "PMI-1"; }
  std::uint32_t universe_size() override;
  base::Result<std::vector<std::uint32_t>> launcher_nodes() override;
  base::Error publish(std::string_view key, std::string_view value) override;
  base::Error fence() override;
  base::Result<std::string> lookup(std::uint32_t rank, std::string_view key) override;
  base::Error spawn(std::span<const StartOrder> orders, std::string_view parent_port) override;
  std::string parent_port() override;
  base::Error publish_name(std::string_view service, std::string_view port) override;
  base::Result<std::string> lookup_name(std::string_view service) override;
  base::Error unpublish_name(std::string_view service) override;
  void abort(int code, const char* text) noexcept override;
  base::Error finalize() override;

  explicit Pmi1(base::UniqueFd socket) noexcept : socket_(std::move(socket)) {}

 private:
  base::Error begin(const Place& place);
  base::Error identify(long id);
  base::Error send(std::string_view line);
  /// The next line; valid until the next call.
  base::Result<wire::PmiLine> receive();
  /// One request and its answer, which must be `expected` and have no `rc` but 0.
  base::Result<wire::PmiLine> ask(const std::string& request, std::string_view expected);
  base::Result<std::string> get(const std::string& key);

  std::mutex in_use_;  ///< held for a question and its answer
  base::UniqueFd socket_;
  std::string buffer_;  ///< read, from `taken_` on not looked at yet
  std::size_t taken_ = 0;
  std::string space_;  ///< name of the key-value space
};

}  // namespace fulmar::runtime::bootstrap
