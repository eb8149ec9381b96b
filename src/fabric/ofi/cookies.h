// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/keyed_hash.h"

namespace fulmar::fabric::ofi {

/// The cookies of a job: for each ordered pair of ranks 64 bits that nobody foresees who does not
/// know the key of the job. A message that shows the wrong one is a stranger's.
///
/// This is no authentication of messages: who reads the traffic learns the cookie. It keeps out who
/// does not, and the stray messages of other jobs. See docs/security.md.
class PairCookies {
 public:
  PairCookies(const base::KeyedHash& hash, const base::Key& key, std::uint64_t job_id) noexcept
      : hash_(hash), key_(key), job_id_(job_id) {}

  /// Of the messages from one rank to another. Never 0, but where the library for hashes refuses:
  /// no message has cookie 0.
  [[nodiscard]] std::uint64_t of(std::uint32_t from, std::uint32_t to) const noexcept;

 private:
  base::KeyedHash hash_;
  base::Key key_;
  std::uint64_t job_id_;
};

}  // namespace fulmar::fabric::ofi
