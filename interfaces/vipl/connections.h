// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "vipl/messages.h"
#include "vipl/provider.h"

/// How VIs are connected, and how that ends.
///
/// A client asks with `request`, and gets `accept` or `reject`; peers send each other `peer_request`. Each side then
/// connects to the other's area, and is connected when it can reach it and knows that the other one can, too
/// (`established`). So who is connected may disconnect at once, and the other end still finds that it was connected.
namespace fulmar::vipl {

/// The connection to the VI's link has been made, has failed, or has ended.
void on_link(Provider& provider, Vi& vi);
/// The process of this node cannot be reached any more, or never could: what has to do with it fails. Where it has only
/// closed its NICs it may open one again, so attempts that it has not answered go on, with another request.
enum class Loss : std::uint8_t { nics, process };
void lose_node(Provider& provider, std::uint32_t node, Loss what);

/// Ends the connection because of an error that was found here: VIP_STATE_ERROR, and the other end is told. Nothing
/// happens on a VI that is not connected.
void break_off(Provider& provider, Vi& vi, VIP_ERROR_CODE code, const SendWork* work = nullptr);
/// Ends a connection or an attempt as VipDisconnect does.
void disconnect(Provider& provider, Vi& vi);
/// Ends an attempt of which the time is over; whether that was so. Of a client's the caller says so.
bool expire(Provider& provider, Vi& vi);

/// Begins an attempt. False: no room.
[[nodiscard]] bool begin(Provider& provider, Vi& vi, Attempt attempt);
/// Sends the request of the attempt.
void ask(Provider& provider, Vi& vi, wire::ViplKind kind);
/// Looks whether the peer's request is there already.
void match_peer(Provider& provider, Vi& vi);
/// Connects the VI to who has sent this request, or accepted this VI's.
void link_to(Provider& provider, Vi& vi, const wire::ViplMessage& message);
/// What a message says of the attributes of the other end.
[[nodiscard]] VIP_VI_ATTRIBUTES attributes_of(const wire::ViplMessage& message) noexcept;
/// Of the sender's end (`from`), or the receiver's, of a request.
[[nodiscard]] Address sender_of(const wire::ViplMessage& message);
[[nodiscard]] Address receiver_of(const Provider& provider, const wire::ViplMessage& message);

// Messages. Lengths and kind have been checked, nothing else.
void on_request(Provider& provider, const wire::ViplMessage& message);
void on_peer_request(Provider& provider, const wire::ViplMessage& message);
void on_cancel(Provider& provider, const wire::ViplMessage& message);
/// matched, accept, reject, established, disconnect, broken: of a VI that is there and whose other end is the sender.
void on_connection(Provider& provider, Vi& vi, const wire::ViplMessage& message);

}  // namespace fulmar::vipl
