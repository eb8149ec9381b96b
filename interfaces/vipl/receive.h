// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "vipl/provider.h"

/// The receiving side of a connection.
namespace fulmar::vipl {

/// Gives the other end the receive descriptors for which it has room.
void give_receives(Provider& provider, Vi& vi);
/// Takes note of those that the other end has filled.
void poll_receives(Provider& provider, Vi& vi);
/// Ends those that are posted.
void flush_receives(Provider& provider, Vi& vi);
/// Ends one that cannot be used.
void end_receive(Provider& provider, Vi& vi, ReceiveWork& work, std::uint32_t status);

// Messages of the other end.
void on_ask(Provider& provider, Vi& vi, const wire::ViplMessage& message);

}  // namespace fulmar::vipl
