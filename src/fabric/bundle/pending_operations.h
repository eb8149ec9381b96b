// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace fulmar::fabric::bundle {

/// Packets in place that were posted to a rail, found again by the token that the rail returns.
class PendingOperations {
 public:
  struct Operation {
    std::uint32_t peer = 0;
    std::uint32_t number = 0;  ///< of the piece; unused for `unchanged`
    std::uint32_t epoch = 0;   ///< of the peer
    std::uint64_t token = 0;   ///< the caller's, for `unchanged`
    enum class Kind : std::uint8_t { piece, unchanged } kind = Kind::piece;
  };

  [[nodiscard]] std::uint64_t add(const Operation& operation) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(places_.size()));
      places_.emplace_back();
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    places_[place].operation = operation;
    places_[place].used = true;
    return std::uint64_t{places_[place].generation} << 32 | place;
  }
  /// Removes the operation and returns it; nullopt for an unknown token.
  [[nodiscard]] std::optional<Operation> take(std::uint64_t token) {
    const auto place = static_cast<std::uint32_t>(token);
    if (place >= places_.size()) return std::nullopt;
    Place& found = places_[place];
    if (!found.used || found.generation != token >> 32) return std::nullopt;
    found.used = false;
    ++found.generation;
    free_.push_back(place);
    return found.operation;
  }
  [[nodiscard]] std::size_t count() const noexcept { return places_.size() - free_.size(); }

 private:
  struct Place {
    Operation operation;
    std::uint32_t generation = 0;
    bool used = false;
  };
  std::vector<Place> places_;
  std::vector<std::uint32_t> free_;
};

}  // namespace fulmar::fabric::bundle
