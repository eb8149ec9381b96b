// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "interfaces/core.h"
#include "sisci/library.h"

/// The side that connects.
namespace fulmar::sisci {

/// The process with this number: SCI_ERR_OK and its rank, or SCI_ERR_ILLEGAL_NODEID, SCI_ERR_NO_SUCH_NODEID,
/// SCI_ERR_NODE_NOT_RESPONDING, SCI_ERR_NOT_SUPPORTED.
[[nodiscard]] sci_error_t find_node(const Library& library, std::uint32_t node,
                                    std::uint32_t& rank) noexcept;

/// Asks for a connection. False without memory. The connection stays where it is until `close`.
[[nodiscard]] bool ask(Library& library, Connection& connection, std::uint32_t rank,
                       wire::SisciObject object, std::uint32_t number) noexcept;
/// Whether nothing more is to come before the connection is of use, or has failed: see its status.
[[nodiscard]] inline bool is_settled(const Connection& connection) noexcept {
  return connection.state != Connection::State::pending;
}
/// Gives the connection back, in any state.
void close(Library& library, Connection& connection) noexcept;

/// Takes away what the maps of a connection that has ended show: loads and stores go nowhere from then on.
void sever_maps(Library& library, const RemoteSegment& segment) noexcept;

// Frames. Everything in them is checked.
void on_connected(Library& library, const interfaces::Frame& frame) noexcept;
void on_ended(Library& library, const interfaces::Frame& frame) noexcept;
void on_mapped(Library& library, std::uint32_t peer, std::uint64_t request,
               interfaces::Segment* segment) noexcept;
/// Connections to a node that is lost.
void lose_connections(Library& library, std::uint32_t rank) noexcept;

/// A code that came from another node.
[[nodiscard]] sci_error_t status_of(std::uint32_t code) noexcept;

}  // namespace fulmar::sisci
