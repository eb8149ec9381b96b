// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace fulmar::fabric::tcp {

/// Why a connection was rejected.
enum class Strangeness : std::uint8_t {
  garbage,      ///< another protocol
  silent,       ///< sent too little in time
  version,      ///< another version of Fulmar
  other_job,    ///< of another job
  wrong_proof,  ///< without the key
  crowd,        ///< too many unauthenticated connections at once
  descriptors,  ///< none is left for a further connection
};
inline constexpr std::size_t strangeness_count = 7;

/// Reports at most one message a second for each kind.
class RejectedPeerLog {
 public:
  using Report = void (*)(void* owner, const char* line);
  static constexpr std::uint64_t pause_ns = 1'000'000'000;

  /// `report` may be null.
  RejectedPeerLog(Report report, void* owner) noexcept : report_(report), owner_(owner) {}

  /// `who`: an address and a port, or "-".
  void note(Strangeness kind, const std::string& who, std::uint64_t now_ns);

 private:
  struct Memory {
    std::uint64_t next_ns = 0;
    std::uint64_t unsaid = 0;
  };
  Report report_;
  void* owner_;
  std::array<Memory, strangeness_count> memory_{};
};

}  // namespace fulmar::fabric::tcp
