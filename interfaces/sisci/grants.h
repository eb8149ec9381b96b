// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "interfaces/core.h"
#include "sisci/library.h"

/// The owner's side: who may use which segment and interrupt of this node, and what they do with it.
namespace fulmar::sisci {

/// The most grants to one node.
inline constexpr std::uint32_t most_grants = 65536;
/// The most reads of one node that are being answered; it sends no more.
inline constexpr std::uint32_t most_reads = 1024;

// Frames. Everything in them is checked.
void on_connect(Library& library, const interfaces::Frame& frame) noexcept;
void on_disconnect(Library& library, const interfaces::Frame& frame) noexcept;
void on_trigger(Library& library, const interfaces::Frame& frame) noexcept;
void on_read(Library& library, const interfaces::Frame& frame) noexcept;
/// Where the payload of a write goes; null: nowhere. What becomes of it is kept in `landing`.
[[nodiscard]] std::byte* begin_write(Library& library, const interfaces::Frame& frame,
                                     Landing& landing) noexcept;
void end_write(Library& library, const interfaces::Frame& frame, Landing& landing,
               interfaces::Client::Payload payload) noexcept;
/// The grants to a node that is lost are gone.
void lose_grants(Library& library, std::uint32_t rank) noexcept;

/// Tells those who are connected to the segment; `forced` takes their grants back.
void end_grants(Library& library, LocalSegment& segment, wire::SisciEnd end) noexcept;
/// Takes back all grants for the interrupts of this number.
void end_grants(Library& library, wire::SisciObject object, std::uint32_t number) noexcept;

/// A segment that others may name by this number; nullptr: none.
[[nodiscard]] LocalSegment* segment_of(const Library& library, std::uint32_t id) noexcept;

/// One trigger of the interrupt.
void trigger(Library& library, LocalInterrupt& interrupt);
/// What happened to a segment, for whom it concerns.
void push(Library& library, LocalSegment& segment, Event event);
void push(Library& library, RemoteSegment& segment, Event event);

}  // namespace fulmar::sisci
