// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace fulmar::io {

/// One item of the hint cb_config_list: how many ranks of a host may be aggregators.
struct AggregatorRule {
  std::string host;  ///< empty: any that no other item names
  int most = 1;      ///< INT_MAX: all of them
};

/// The hint as ROMIO takes it: items "HOST:N", "HOST:*", "*:N", "*:*", separated by commas; without a
/// colon N is 1. Nothing where it is none, or longer than `longest_aggregator_list`.
[[nodiscard]] std::optional<std::vector<AggregatorRule>> parse_aggregator_list(
    std::string_view text);
inline constexpr std::size_t longest_aggregator_list = 1000;

/// Which ranks may be aggregators, in the order of the items; within one the first rank of each host,
/// then the second ones. `node_of` says by rank on which node it runs, `hosts` by node its name. A
/// host is also known by its name up to the first dot. Never empty: rank 0 where no item fits.
[[nodiscard]] std::vector<int> allowed_aggregators(const std::vector<AggregatorRule>& rules,
                                                   const std::vector<int>& node_of,
                                                   const std::vector<std::string>& hosts);

}  // namespace fulmar::io
