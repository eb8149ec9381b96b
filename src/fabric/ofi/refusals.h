// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "fabric/ofi/listener_probe.h"

namespace fulmar::fabric::ofi {

/// Peers to which the endpoint takes nothing.
///
/// It is the usual answer for one that has much to read yet. But a provider that makes connections
/// by itself also gives it, without end, for one whose process is gone: it tries to connect again
/// with every message, and tells nobody that this fails. So where it lasts, the host is asked, now
/// and then, whether anybody still listens there.
class Refusals {
 public:
  static constexpr std::int64_t first_wait_ns = 1'000'000'000;
  static constexpr std::int64_t longest_wait_ns = 64'000'000'000;
  static constexpr std::int64_t longest_answer_ns = 2'000'000'000;

  void refused(std::uint32_t rank, std::int64_t now_ns);
  void taken(std::uint32_t rank) {
    if (!waiting_.empty()) [[unlikely]]
      waiting_.erase(rank);
  }
  [[nodiscard]] bool none() const noexcept { return waiting_.empty(); }

  /// A rank at whose address nobody listens any more. `address_of(rank)` gives its bytes.
  template <class AddressOf>
  std::optional<std::uint32_t> look(std::int64_t now_ns, AddressOf&& address_of) {
    if (!asked_) {
      asked_ = due(now_ns);
      give_up_ns_ = now_ns + longest_answer_ns;
      if (asked_) probe_.begin(address_of(*asked_));
    }
    return asked_ ? answered(now_ns) : std::nullopt;
  }

 private:
  struct Waiting {
    std::int64_t next_ns;  ///< when to ask
    std::int64_t wait_ns;  ///< until the question after that
  };

  /// A rank to ask about now.
  std::optional<std::uint32_t> due(std::int64_t now_ns);
  std::optional<std::uint32_t> answered(std::int64_t now_ns);

  std::map<std::uint32_t, Waiting> waiting_;
  std::optional<std::uint32_t> asked_;
  std::int64_t give_up_ns_ = 0;  ///< then the next one is asked about
  ListenerProbe probe_;
};

}  // namespace fulmar::fabric::ofi
