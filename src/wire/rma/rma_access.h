// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/rma/rma_message.h"

namespace fulmar::wire {

/// One run of bytes of a target that an operation touches, as FULMAR_CHECK=rma records it.
struct RmaAccess {
  std::int64_t begin;     ///< bytes from the window's base, or the address in a dynamic window
  std::int64_t end;       ///< behind the last one
  std::uint64_t number;   ///< which operation of its origin on this target it is, from 1
  std::uint32_t origin;   ///< rank in the window
  std::uint32_t element;  ///< of accumulates: the constant of the predefined datatype; 0: any
  std::uint8_t call;      ///< RmaCall
  std::uint8_t op;        ///< of accumulates: mpi::OpCode
  std::uint8_t flags;     ///< rma_odd_fence, rma_with_request, rma_one_element
  std::uint8_t spare0;
  std::uint32_t spare1;
};
static_assert(sizeof(RmaAccess) == 40 && offsetof(RmaAccess, origin) == 24);

/// Two accesses that conflict, or one that was refused: then the call of `earlier` is `none`.
struct RmaConflict {
  RmaAccess later;
  RmaAccess earlier;
};

/// The answer to `flush` and `unlock` of a window that is checked, after something was wrong.
struct RmaLongAck {
  RmaAck ack;
  RmaConflict conflict;
};
static_assert(sizeof(RmaLongAck) == 88 && offsetof(RmaLongAck, conflict) == 8);

}  // namespace fulmar::wire
