// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Uses every function of fmt that the tools may need (cmake/fmt.cmake).
#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

int main(int count, char** words) {
  const std::vector<double> numbers{0.5 * count, 1e30};
  const std::string text =
      fmt::format(fmt::runtime("{:{}} {:>8} {:<8} {:^8}"), count, 10, words[0], 'c', true);
  fmt::print("{} {:.3f} {:e} {:g} {:a} {} {}\n", 1.5F * static_cast<float>(count), 0.1 * count,
             0.2 * count, 0.3 * count, 0.4 * count, fmt::join(numbers, ", "), 0.5L * count);
  fmt::print(stderr, "{:L} {:x} {:#b} {:+} {} {} {:?}\n", 1234567 * count, 255UL, 5, -1LL,
             static_cast<void*>(words), std::string_view(text), text);
  return fmt::formatted_size("{}", text) == text.size() ? 0 : 1;
}
