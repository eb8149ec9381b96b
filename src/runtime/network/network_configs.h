// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>

#include "fabric/ofi/arrival.h"
#include "fabric/tcp/connect/connector.h"
#include "fabric/verbs/config.h"
#include "runtime/job/job.h"
#include "runtime/network/network_factory.h"
#include "runtime/options/options.h"

/// The configuration of the networks from the job and the options.
namespace fulmar::runtime {

[[nodiscard]] fabric::tcp::Connector::Config connector_config(const Job& job,
                                                              const Options& options,
                                                              const NetworkOwner& owner);
[[nodiscard]] fabric::verbs::Config verbs_config(const Job& job, const Options& options);
[[nodiscard]] fabric::ofi::Config ofi_config(const Job& job);

/// The text of an option where "auto" stands for nothing in particular.
[[nodiscard]] std::string wish_of(const Options& options, const char* name);

}  // namespace fulmar::runtime
