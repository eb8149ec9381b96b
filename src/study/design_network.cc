// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "study/design_network.h"

#include "study/pipeline_design.h"
#include "study/zerocopy_design.h"

namespace fulmar::study {

namespace {

struct Counter {
  std::string_view name;
  std::uint64_t DesignCounters::* value;
};

constexpr Counter all_counters[] = {
    {"design_packets_received", &DesignCounters::packets_received},
    {"design_writes", &DesignCounters::writes},
    {"design_credit_writes", &DesignCounters::credit_writes},
    {"design_copies", &DesignCounters::copies},
    {"design_copied_bytes", &DesignCounters::copied_bytes},
    {"design_handshakes", &DesignCounters::handshakes},
    {"design_moved_bytes", &DesignCounters::moved_bytes},
};

}  // namespace

std::uint64_t DesignNetwork::counted_by(const DesignCounters& counters,
                                        std::string_view what) noexcept {
  for (const Counter& counter : all_counters) {
    if (counter.name == what) return counters.*counter.value;
  }
  return 0;
}

fabric::NetworkAttributes DesignNetwork::attributes_of(std::size_t chunk_bytes) noexcept {
  fabric::NetworkAttributes attributes;
  attributes.body_bytes = chunk_bytes;
  attributes.prefix_bytes = most_prefix_bytes;
  attributes.pieces = most_pipe_pieces;
  attributes.in_place_bytes = std::size_t{1} << 30;
  return attributes;
}

}  // namespace fulmar::study
