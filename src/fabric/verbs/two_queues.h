// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "fabric/verbs/adapter.h"

/// Two completion queues, one for received messages and one for this process's own work requests, read
/// as if they were one.
///
/// **Turns.** A queue that has more than each read takes would starve the other one. So they take turns
/// at being read first.
///
/// **Failures.** A failed work request ends the connection, and what the peer had sent by then has to be
/// taken first: its last messages, its FIN. In one queue these come ahead of the failure; of two queues
/// the order is unknown. So a failure is held back until no message is left, or as many were read as can
/// have been there: all buffers. Meanwhile the second queue is not read.
namespace fulmar::fabric::verbs {

class TwoQueues {
 public:
  /// `buffers`: receive buffers, which limit the unread messages.
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
  /// Removes failures, and holds them back.
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
  /// Messages, and behind them the failures that were held back.
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
  std::vector<Completion> failed_;  ///< held back
  std::size_t ahead_ = 0;           ///< messages that may still come before them
};

}  // namespace fulmar::fabric::verbs
