// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/bundle/speed.h"

#include <algorithm>

namespace fulmar::fabric::bundle {
namespace {

/// A sample is taken after so many pieces, or so much time.
constexpr std::uint32_t sample_pieces = 8;
constexpr std::uint64_t sample_ns = 10'000'000;
/// How much of what is known a sample leaves as it is.
constexpr double old_share = 0.7;
/// By how much the shortest time grows with each piece, so that it follows a network that changes.
constexpr double forgetting = 1.01;

}  // namespace

void Speed::sent(std::uint64_t bytes, std::uint64_t now_ns) noexcept {
  if (under_way_ == 0) since_ns_ = now_ns;
  under_way_ += bytes;
  if (++pieces_ > 1) sample_overlaps_ = true;
}

void Speed::acknowledged(std::uint64_t bytes, std::uint64_t since_ns,
                         std::uint64_t now_ns) noexcept {
  under_way_ -= std::min(bytes, under_way_);
  if (pieces_ > 0) --pieces_;
  const auto took = static_cast<double>(std::max<std::uint64_t>(now_ns - since_ns, 1));
  shortest_ns_ = shortest_ns_ == 0 ? took : std::min(took, shortest_ns_ * forgetting);
  sample_bytes_ += bytes;
  sample_ns_ += now_ns - since_ns_;
  since_ns_ = now_ns;
  if (++sample_pieces_ >= sample_pieces || sample_ns_ >= sample_ns) take_sample();
}

void Speed::take_sample() noexcept {
  // Several acknowledgements may come at one moment: then the sample goes on.
  if (sample_ns_ == 0) return;
  const double rate = static_cast<double>(sample_bytes_) / static_cast<double>(sample_ns_);
  if (!measured_) {
    bytes_per_ns_ = rate;
    measured_ = true;
  } else if (sample_overlaps_) {
    bytes_per_ns_ = old_share * bytes_per_ns_ + (1 - old_share) * rate;
  } else {
    bytes_per_ns_ = std::max(bytes_per_ns_, rate);
  }
  const double wanted = 2 * bytes_per_ns_ * shortest_ns_;
  limit_ =
      std::clamp(static_cast<std::uint64_t>(wanted), least_under_way_bytes, most_under_way_bytes);
  sample_bytes_ = sample_ns_ = 0;
  sample_pieces_ = 0;
  sample_overlaps_ = pieces_ > 1;
}

}  // namespace fulmar::fabric::bundle
