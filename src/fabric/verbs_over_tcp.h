// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>

#include "base/error.h"
#include "fabric/tcp/connect/connector.h"
#include "fabric/verbs/oob_connector.h"

/// Joins two providers: processes that use verbs connect out of band by the connector of tcp, with its
/// listeners, its search for a reachable address, its authentication and its rule about which of several
/// connections is used. Neither provider includes the other.
namespace fulmar::fabric {

/// Listens. Fails as tcp::Connector::open does.
[[nodiscard]] base::Result<std::unique_ptr<verbs::OobConnector>> connect_over_tcp(
    const tcp::Connector::Config& config);

}  // namespace fulmar::fabric
