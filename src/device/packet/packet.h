// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "fabric/provider.h"
#include "match/key.h"
#include "wire/cell.h"

namespace fulmar::device {

/// A packet as a transport hands it up. Refers to memory of the transport: valid until the handler
/// returns.
struct Packet {
  std::uint32_t peer = 0;  ///< the process that sent it
  const wire::Envelope& envelope;
  const fabric::Body& body;  ///< the end of a long one may not have arrived yet

  [[nodiscard]] match::Key key() const noexcept { return {envelope.context, peer, envelope.tag}; }
};

}  // namespace fulmar::device
