// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "interfaces/core.h"
#include "sisci/library.h"

/// Transfers to and from memory of other nodes: a copy where this process can address it, else frames.
namespace fulmar::sisci {

/// Counts a transfer that is about to start, so that the group does not end before `leave_group`.
void enter_group(TransferGroup& group) noexcept;
void leave_group(Library& library, TransferGroup& group, sci_error_t status) noexcept;

/// Whether transfers over the connection are copies.
[[nodiscard]] inline bool is_addressable(const Connection& connection) noexcept {
  return connection.base != nullptr;
}
/// SCI_ERR_OK, or why there is no way to the segment now: SCI_ERR_SEGMENT_NOT_CONNECTED.
[[nodiscard]] inline sci_error_t check_connected(const Connection& connection) noexcept {
  return connection.state == Connection::State::connected ? SCI_ERR_OK
                                                          : SCI_ERR_SEGMENT_NOT_CONNECTED;
}

/// Starts a write by a frame; requires a connection that is made and bytes that lie in the object. The
/// memory is in use until `is_sent` of what this returns, or the end of the group. What fails is in the
/// group's status. `flags` as on the wire.
std::uint64_t start_write(Library& library, const Connection& connection, std::uint64_t offset,
                          std::span<const std::byte> source, std::uint32_t flags,
                          TransferGroup& group) noexcept;
/// Whether the memory of a write is its owner's again.
[[nodiscard]] bool is_sent(const Library& library, std::uint64_t transfer) noexcept;
/// The same for a read. Waits while too many reads of the node are under way.
void start_read(Library& library, const Connection& connection, std::uint64_t offset,
                std::span<std::byte> target, TransferGroup& group);
/// Waits until all transfers of the group have ended, `timeout_ms` as of SISCI; whether they have.
[[nodiscard]] bool await_group(Library& library, const TransferGroup& group,
                               std::uint32_t timeout_ms);

// Frames. Everything in them is checked.
void on_done(Library& library, const interfaces::Frame& frame) noexcept;
/// Where the payload of an answer goes; null: nowhere.
[[nodiscard]] std::byte* begin_answer(Library& library, const interfaces::Frame& frame,
                                      Landing& landing) noexcept;
/// `landing` is null for an answer without payload.
void end_answer(Library& library, const interfaces::Frame& frame, Landing* landing,
                interfaces::Client::Payload payload) noexcept;
/// Transfers to and from a node that is lost.
void lose_transfers(Library& library, std::uint32_t rank) noexcept;

}  // namespace fulmar::sisci
