// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>

#include "base/error.h"
#include "fabric/tcp/connect/connector.h"
#include "fabric/verbs/oob_connector.h"

/// Where two providers meet: the processes that use verbs find each other by the connector of tcp,
/// with its listeners, its search for the way, its proof of the key and its rule about which of
/// several connections stays. Neither provider knows of the other.
namespace fulmar::fabric {

/// Listens. Fails as tcp::Connector::open does.
[[nodiscard]] base::Result<std::unique_ptr<verbs::OobConnector>> connect_over_tcp(
    const tcp::Connector::Config& config);

}  // namespace fulmar::fabric
