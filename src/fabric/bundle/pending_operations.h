// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace fulmar::fabric::bundle {

/// What was handed to a rail in place, found again by the token that the rail gives back.
class Orders {
 public:
  struct Order {
    std::uint32_t peer = 0;
    std::uint32_t number = 0;  ///< of the piece; not used for one that went through unchanged
    std::uint32_t epoch = 0;   ///< of the peer
    std::uint64_t token = 0;   ///< of who posted, of one that went through unchanged
    enum class Kind : std::uint8_t { piece, unchanged } kind = Kind::piece;
  };

  [[nodiscard]] std::uint64_t add(const Order& order) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(places_.size()));
      places_.emplace_back();
    }
    const std::uint32_t place = free_.back();
    free_.pop_back();
    places_[place].order = order;
    places_[place].used = true;
    return std::uint64_t{places_[place].generation} << 32 | place;
  }
  /// The order, which is forgotten; nothing if there is none such.
  [[nodiscard]] std::optional<Order> take(std::uint64_t token) {
    const auto place = static_cast<std::uint32_t>(token);
    if (place >= places_.size()) return std::nullopt;
    Place& found = places_[place];
    if (!found.used || found.generation != token >> 32) return std::nullopt;
    found.used = false;
    ++found.generation;
    free_.push_back(place);
    return found.order;
  }
  [[nodiscard]] std::size_t count() const noexcept { return places_.size() - free_.size(); }

 private:
  struct Place {
    Order order;
    std::uint32_t generation = 0;
    bool used = false;
  };
  std::vector<Place> places_;
  std::vector<std::uint32_t> free_;
};

}  // namespace fulmar::fabric::bundle
