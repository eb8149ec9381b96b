// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/file_system/aggregator_list.h"

#include <algorithm>
#include <charconv>
#include <climits>

namespace fulmar::io {
namespace {

std::optional<AggregatorRule> parse_item(std::string_view item) {
  const std::size_t colon = item.find(':');
  const std::string_view host = item.substr(0, colon);
  if (host.empty()) return std::nullopt;
  AggregatorRule rule{host == "*" ? std::string() : std::string(host), 1};
  if (colon == std::string_view::npos) return rule;
  const std::string_view most = item.substr(colon + 1);
  if (most == "*") {
    rule.most = INT_MAX;
    return rule;
  }
  const auto [end, problem] = std::from_chars(most.data(), most.data() + most.size(), rule.most);
  if (problem != std::errc() || end != most.data() + most.size() || rule.most < 0) {
    return std::nullopt;
  }
  return rule;
}

bool names(const AggregatorRule& rule, const std::string& host) {
  return !rule.host.empty() && (rule.host == host || rule.host == host.substr(0, host.find('.')));
}

}  // namespace

std::optional<std::vector<AggregatorRule>> parse_aggregator_list(std::string_view text) {
  if (text.empty() || text.size() > longest_aggregator_list) return std::nullopt;
  std::vector<AggregatorRule> rules;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    std::optional<AggregatorRule> rule = parse_item(text.substr(begin, end - begin));
    if (!rule) return std::nullopt;
    rules.push_back(std::move(*rule));
    begin = end + 1;
  }
  return rules;
}

std::vector<int> allowed_aggregators(const std::vector<AggregatorRule>& rules,
                                     const std::vector<int>& node_of,
                                     const std::vector<std::string>& hosts) {
  std::vector<std::vector<int>> ranks(hosts.size());  // by node; those that are left
  for (std::size_t rank = 0; rank < node_of.size(); ++rank) {
    ranks[static_cast<std::size_t>(node_of[rank])].push_back(static_cast<int>(rank));
  }
  const auto fits = [&](const AggregatorRule& rule, const std::string& host) {
    if (!rule.host.empty()) return names(rule, host);
    return std::ranges::none_of(rules, [&](const auto& each) { return names(each, host); });
  };
  std::vector<int> allowed;
  for (const AggregatorRule& rule : rules) {
    bool found = true;
    for (int turn = 0; turn < rule.most && found; ++turn) {
      found = false;
      for (std::size_t node = 0; node < hosts.size(); ++node) {
        if (ranks[node].empty() || !fits(rule, hosts[node])) continue;
        allowed.push_back(ranks[node].front());
        ranks[node].erase(ranks[node].begin());
        found = true;
      }
    }
  }
  if (allowed.empty()) allowed.push_back(0);
  return allowed;
}

}  // namespace fulmar::io
