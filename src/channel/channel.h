// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "channel/design_channel.h"
#include "channel/mapped_channel.h"
#include "channel/packet_channel.h"
#include "channel/remote_channel.h"

namespace fulmar::channel {

namespace detail {
template <class P>
struct Choice {
  using type = PacketChannel<P>;
};
template <fabric::MapsPeers P>
struct Choice<P> {
  using type = MappedChannel<P>;
};
template <fabric::MapsPeers P>
  requires fabric::LendsPipes<P>
struct Choice<P> {
  using type = DesignChannel<P>;
};
template <fabric::LendsPipes P>
  requires fabric::PutsForPolling<P>
struct Choice<P> {
  using type = RemoteDesignChannel<P>;
};
}  // namespace detail

/// The channel for a provider: rings where the peer's memory is mapped, packets elsewhere, the
/// designs of the study where the provider lends memory to them.
///
/// What the device asks of any channel: `connect(peer)`, `put(link, envelope, fill)`,
/// `body_limit(link, wanted)`, `get(sink)`; what a provider can do beyond that is asked with the
/// concepts of fabric/provider.h.
template <fabric::Provider P>
using Channel = typename detail::Choice<P>::type;

}  // namespace fulmar::channel
