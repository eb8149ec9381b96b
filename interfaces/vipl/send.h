// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "vipl/provider.h"

/// The sending side of a connection: messages into the receive descriptors of the other end, in order.
namespace fulmar::vipl {

/// Starts what can start, and ends what is over.
void advance(Provider& provider, Vi& vi);
/// Ends what is posted, as far as it is not under way; the rest ends when it is not.
void flush_sends(Provider& provider, Vi& vi);

/// Why a descriptor cannot start: it can (on), it has to wait, or it has ended (`status`).
enum class Start : std::uint8_t { on, later, over };

/// Whether the other end has left, and its message, which says why, is on its way.
[[nodiscard]] bool has_left(const Vi& vi) noexcept;
/// Finds the receive descriptor for the work, which is in `vi.push` then.
[[nodiscard]] Start take_push(Provider& provider, Vi& vi, SendWork& work);
/// Moves bytes to the segment. What cannot be stored goes by itself, and `work.pending` counts it.
void move_out(Provider& provider, SendWork& work, const Piece& piece, RemoteSegment& segment,
              std::uint64_t offset);
/// The other way.
void move_in(Provider& provider, SendWork& work, const Piece& piece, RemoteSegment& segment,
             std::uint64_t offset);

// Messages of the other end.
void on_empty(Provider& provider, Vi& vi, const wire::ViplMessage& message);

}  // namespace fulmar::vipl
