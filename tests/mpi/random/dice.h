// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <vector>

// Random numbers that are the same on every machine and for every compiler.
namespace generated {

/// A number that depends on all of these numbers and their order.
inline std::uint64_t mix(std::initializer_list<std::uint64_t> parts) {
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  for (const std::uint64_t part : parts) {
    state += part + 0x9e3779b97f4a7c15U;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9U;
    state = (state ^ (state >> 27)) * 0x94d049bb133111ebU;
    state ^= state >> 31;
  }
  return state;
}

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : seed_(seed) {}

  std::uint64_t any() { return mix({seed_, count_++}); }
  /// 0 to `limit` - 1.
  int below(int limit) {
    return static_cast<int>(any() % static_cast<std::uint64_t>(std::max(limit, 1)));
  }
  int between(int least, int most) { return least + below(most - least + 1); }
  bool chance(int percent) { return below(100) < percent; }

  template <class T>
  void shuffle(std::vector<T>& all) {
    for (int i = static_cast<int>(all.size()) - 1; i > 0; --i) {
      std::swap(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(below(i + 1))]);
    }
  }
  /// 0 to n - 1 in any order.
  std::vector<int> order(int n) {
    std::vector<int> all(static_cast<std::size_t>(n));
    std::iota(all.begin(), all.end(), 0);
    shuffle(all);
    return all;
  }

 private:
  std::uint64_t seed_;
  std::uint64_t count_ = 0;
};

inline std::size_t at(int index) { return static_cast<std::size_t>(index); }
template <class All>
int length(const All& all) {
  return static_cast<int>(all.size());
}

}  // namespace generated
