// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "runtime/bootstrap/bootstrap.h"
#include "runtime/bootstrap/pmix_abi.h"

namespace fulmar::runtime::bootstrap {

/// PMIx through libpmix, which is opened at run time: PRRTE (prterun), Slurm's pmix plugin.
class Pmix final : public Bootstrap {
 public:
  /// Opens the library that FULMAR_PMIX_LIBRARY names, else the launcher's own where its folder is
  /// known, else the system's; and becomes a client of the launcher. All ranks must get the same
  /// version. Fails with a text that lists what was tried and why it failed.
  static base::Result<std::unique_ptr<Bootstrap>> open_from_environment();
  /// With these functions in place of a library's.
  static base::Result<std::unique_ptr<Bootstrap>> open(const pmix::Functions& functions);

  [[nodiscard]] const char* protocol() const noexcept override { return "PMIx"; }
  std::uint32_t universe_size() override;
  base::Result<std::vector<std::uint32_t>> launcher_nodes() override;
  base::Error publish(std::string_view key, std::string_view value) override;
  base::Error fence() override;
  base::Result<std::string> lookup(std::uint32_t rank, std::string_view key) override;
  base::Error spawn(std::span<const StartOrder> orders, std::string_view parent_port) override;
  base::Error publish_name(std::string_view service, std::string_view port) override;
  base::Result<std::string> lookup_name(std::string_view service) override;
  base::Error unpublish_name(std::string_view service) override;
  void abort(int code, const char* text) noexcept override;
  base::Error finalize() override;

  explicit Pmix(const pmix::Functions& functions) noexcept : functions_(functions) {}

 private:
  base::Error begin();
  [[nodiscard]] pmix::Proc proc_of(std::uint32_t rank) const noexcept;

  pmix::Functions functions_;
  pmix::Proc self_;
};

}  // namespace fulmar::runtime::bootstrap
