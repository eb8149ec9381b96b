// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "fabric/verbs/adapter.h"

/// Two queues of completions, of messages that came and of own orders that have ended, read as if
/// they were one.
///
/// **Turns.** A queue that has more than each read takes would keep the other one waiting for ever.
/// So they take turns at being read first.
///
/// **Failures.** An order that failed ends the connection, and what the peer had sent by then is to
/// be taken before: its last messages, its goodbye. In one queue these lie ahead of the failure; of
/// two nothing says which was first. So a failure is kept back until no message is left, or as many
/// were read as can have been there: all buffers. Meanwhile the second queue is not read.
namespace fulmar::fabric::verbs {

class TwoQueues {
 public:
  /// `buffers`: for messages; so many can have come and not be read.
  explicit TwoQueues(std::size_t buffers) noexcept : buffers_(buffers) {}

  /// As Adapter::read: 0 only if both are empty and nothing is kept back. `came` and `ended` read
  /// from one queue each: they fill the span, or what there is.
  template <class Came, class Ended>
  std::size_t read(std::span<Completion> to, Came came, Ended ended) {
    std::size_t count = 0;
    if (failed_.empty()) {
      const bool is_ended_first = std::exchange(is_ended_first_, !is_ended_first_);
      if (is_ended_first) count = read_ended(to, ended);
      count += came(to.subspan(count));
      if (!is_ended_first) count += read_ended(to.subspan(count), ended);
    }
    if (!failed_.empty()) [[unlikely]]
      count += read_failed(to.subspan(count), came);
    return count;
  }

 private:
  /// Leaves out what failed, and keeps it.
  template <class Ended>
  std::size_t read_ended(std::span<Completion> to, Ended& ended) {
    std::size_t count = 0;
    for (const Completion& each : to.first(ended(to))) {
      if (each.kind == Completion::Kind::failed) [[unlikely]] {
        failed_.push_back(each);
        ahead_ = buffers_;
      } else {
        to[count++] = each;
      }
    }
    return count;
  }
  /// What failed, and ahead of it what had come by then.
  template <class Came>
  std::size_t read_failed(std::span<Completion> to, Came& came) {
    std::size_t count = 0;
    if (ahead_ != 0) {
      count = came(to);
      ahead_ = count < to.size() ? 0 : ahead_ - std::min(ahead_, count);
    }
    if (ahead_ != 0) return count;
    const std::size_t told = std::min(failed_.size(), to.size() - count);
    const auto end = failed_.begin() + static_cast<std::ptrdiff_t>(told);
    std::copy(failed_.begin(), end, to.subspan(count).begin());
    failed_.erase(failed_.begin(), end);
    return count + told;
  }

  std::size_t buffers_;
  bool is_ended_first_ = false;
  std::vector<Completion> failed_;  ///< not told of yet
  std::size_t ahead_ = 0;           ///< so many messages may still have come before them
};

}  // namespace fulmar::fabric::verbs
