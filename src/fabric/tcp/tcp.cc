// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/tcp.h"

namespace fulmar::fabric {

static_assert(SendsInPlace<Tcp> && HoldsPackets<Tcp> && SleepsOnDescriptor<Tcp>);

base::Result<std::unique_ptr<Tcp>> Tcp::open_bare(const tcp::Streams::Config& config) {
  auto streams = tcp::Streams::open(config);
  if (streams.failed()) return streams.error();
  std::unique_ptr<Tcp> tcp(new Tcp);
  tcp->streams_ = std::move(streams.value());
  return tcp;
}

unsigned Tcp::poll_any(tcp::SinkRef sink) { return streams_->poll(sink); }

}  // namespace fulmar::fabric
