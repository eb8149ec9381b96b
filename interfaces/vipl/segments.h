// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "vipl/provider.h"

/// Segments of SISCI: own ones, and those of other processes.
namespace fulmar::vipl {

/// Makes the part: memory of SISCI of this length, or, with `memory`, that of the program. False: there is no room; the
/// part is empty.
[[nodiscard]] bool make_part(Provider& provider, LocalPart& part, std::size_t bytes,
                             std::byte* memory = nullptr);
/// Makes the one with a number of its own.
[[nodiscard]] bool make_part(Provider& provider, LocalPart& part, std::size_t bytes,
                             std::byte* memory, std::uint32_t number);
/// Removes it, if it is there; nobody writes to its memory any more.
void remove_part(LocalPart& part) noexcept;
/// Ends the connections of others to it; they may connect again.
void revoke(const LocalPart& part) noexcept;

/// The segment of another process, connected or connecting; `failed`, once, where that did not work.
[[nodiscard]] RemoteSegment& reach(Provider& provider, std::uint32_t node, std::uint32_t number);
/// The same if it is known; it may have ended.
[[nodiscard]] RemoteSegment* find_reached(const Provider& provider, std::uint32_t node,
                                          std::uint32_t number) noexcept;
/// It is not used any more. The manager removes it.
void discard(Provider& provider, RemoteSegment& segment);
/// Whether what was stored there until now has reached the segment.
[[nodiscard]] bool is_whole(const RemoteSegment& segment) noexcept;
/// Disconnects what was discarded, without the lock. False: it is in use, try again.
[[nodiscard]] bool disconnect(RemoteSegment& segment) noexcept;

}  // namespace fulmar::vipl
