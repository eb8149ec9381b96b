// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>

#include "provider/ofi_net.h"
#include "provider/tcp_net.h"

/// Posts of tests over the network that stands in for libfabric.
namespace fulmar::fabric::ofi_test {

inline constexpr unsigned patience = 300'000;

template <class Sinks, class Done>
bool poll_until(OfiNet& net, Sinks& sinks, Done done) {
  for (unsigned i = 0; i < patience; ++i) {
    for (std::size_t rank = 0; rank < net.ranks.size(); ++rank) {
      if (net.ranks[rank]->ofi != nullptr) net[rank].poll(sinks[rank]);
    }
    if (done()) return true;
  }
  return false;
}

inline Post post(Ofi& from, std::uint32_t to, std::size_t bytes, int tag = 0) {
  return from.post(to, envelope(bytes, tag), pattern(bytes, static_cast<unsigned>(tag)));
}

}  // namespace fulmar::fabric::ofi_test
