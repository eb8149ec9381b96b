// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/search.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fulmar::fabric::tcp {
namespace {

/// Addresses with one fate.
struct Fate {
  std::string reason;
  std::string addresses;
};

void add(std::vector<Fate>& fates, const std::string& reason, const std::string& address) {
  const auto same = std::find_if(fates.begin(), fates.end(),
                                 [&](const Fate& fate) { return fate.reason == reason; });
  if (same == fates.end()) {
    fates.push_back({reason, address});
  } else {
    same->addresses += ", " + address;
  }
}

}  // namespace

Search::Search(std::uint32_t peer, std::uint16_t lane, Ways ways)
    : peer_(peer), lane_(lane), left_out_(std::move(ways.left_out)) {
  for (const Way& way : ways.list) {
    tries_.emplace_back();
    tries_.back().way = way;
  }
}

void Search::start(std::uint64_t begin_ns, std::uint64_t deadline_ns) {
  deadline_ns_ = deadline_ns;
  std::uint64_t due = begin_ns;
  for (Try& attempt : tries_) {
    attempt.due_ns = due;
    due += stagger_ns;
    if (&attempt == tries_.data()) due += preference_ns_;
  }
}

void Search::prefer(const Endpoint& to) {
  const auto found = std::find_if(tries_.begin(), tries_.end(), [&](const Try& attempt) {
    const Endpoint& other = attempt.way.to;
    return other.size() == to.size() && std::memcmp(other.get(), to.get(), to.size()) == 0;
  });
  if (found == tries_.end()) return;
  std::rotate(tries_.begin(), found, found + 1);
  prefer_first();
}

void Search::renew(std::uint64_t deadline_ns) noexcept {
  deadline_ns_ = deadline_ns;
  overtime_ = false;
}

std::optional<std::size_t> Search::take_due(std::uint64_t now_ns) {
  if (overtime_) return std::nullopt;
  for (Try& attempt : tries_) {
    if (attempt.due_ns > now_ns) continue;
    attempt.due_ns = never;
    return static_cast<std::size_t>(&attempt - tries_.data());
  }
  return std::nullopt;
}

std::uint64_t Search::next_due_ns() const noexcept {
  std::uint64_t next = never;
  if (overtime_) return next;
  for (const Try& attempt : tries_) next = std::min(next, attempt.due_ns);
  return next;
}

void Search::failed(std::size_t index, std::uint64_t now_ns, Hope hope, std::string outcome) {
  Try& attempt = tries_[index];
  attempt.link = nullptr;
  attempt.outcome = std::move(outcome);
  attempt.over = hope == Hope::gone;
  const std::uint64_t pause =
      std::min(first_pause_ns << std::min(attempt.failures, 5U), longest_pause_ns);
  ++attempt.failures;
  if (!attempt.over) attempt.due_ns = now_ns + pause;
  // Those that have not had their turn yet come earlier.
  std::uint64_t ahead = never;
  for (const Try& other : tries_) {
    if (other.failures == 0 && other.due_ns != never && other.due_ns > now_ns) {
      ahead = std::min(ahead, other.due_ns - now_ns);
    }
  }
  for (Try& other : tries_) {
    if (other.failures == 0 && other.due_ns != never && other.due_ns > now_ns) {
      other.due_ns -= ahead;
    }
  }
}

bool Search::exhausted() const noexcept {
  return std::all_of(tries_.begin(), tries_.end(), [](const Try& attempt) { return attempt.over; });
}

std::string Search::text(std::size_t most) const {
  std::vector<Fate> fates;
  std::vector<Fate> unlikely;
  for (const Try& attempt : tries_) {
    const bool untried = attempt.failures == 0 && attempt.link == nullptr;
    add(attempt.way.rank < link_local_rank ? fates : unlikely,
        !attempt.outcome.empty() ? attempt.outcome
        : untried                ? "no time was left to try it"
                                 : "no answer",
        attempt.way.to.text());
  }
  for (const NoWay& none : left_out_) add(fates, none.reason, none.address);
  fates.insert(fates.end(), unlikely.begin(), unlikely.end());
  std::string text;
  for (const Fate& fate : fates) {
    text += (text.empty() ? "" : "; ") + fate.addresses + ": " + fate.reason;
  }
  if (text.empty()) text = "it has published no address";
  if (text.size() > most) text = text.substr(0, most - 3) + "...";
  return text;
}

}  // namespace fulmar::fabric::tcp
