// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "types.h"

// Buffers of generated programs: every byte is known before a call, and every byte is compared
// after it.
namespace generated {

/// Items of a type within a buffer.
struct Block {
  const Type* type = nullptr;
  std::int64_t base = 0;  ///< byte of item 0
  int items = 0;
  std::uint64_t key = 0;  ///< what is in it: element i is mix({seed, key, i})

  [[nodiscard]] int elements() const { return items * type->elements(); }
  [[nodiscard]] std::int64_t place(int element) const {
    const int per_item = type->elements();
    return base + element / per_item * type->layout.extent() +
           type->layout.at[at(element % per_item)];
  }
};

inline std::uint64_t cut(std::uint64_t value, Kind kind) {
  return kind.bytes == 8 ? value : value & ((std::uint64_t{1} << (8 * kind.bytes)) - 1);
}

/// Memory that reaches from some byte before the address that MPI is given to some byte behind it.
class Memory {
 public:
  /// Makes room for a block. Before `fill`.
  void include(const Block& block) {
    const auto [first, last] = block.type->range(block.items);
    first_ = std::min(first_, block.base + first - margin);
    last_ = std::max(last_, block.base + last + margin);
  }
  /// Every byte gets the value that it has without a write. The address stays from the first
  /// time on.
  void fill() {
    if (bytes_.empty()) {
      first_ = first_ / 64 * 64 - 64;  // the address is aligned as the allocation is
      bytes_.resize(static_cast<std::size_t>(last_ - first_));
    }
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      bytes_[i] = static_cast<std::uint8_t>(i * 37 + 11);
    }
  }
  [[nodiscard]] void* address() { return bytes_.data() - first_; }

  void put(const Block& block, int element, std::uint64_t value) {
    std::memcpy(&bytes_[index(block.place(element))], &value, at(block.type->kind.bytes));
  }
  [[nodiscard]] std::uint64_t get(const Block& block, int element) const {
    std::uint64_t value = 0;
    std::memcpy(&value, &bytes_[index(block.place(element))], at(block.type->kind.bytes));
    return value;
  }
  /// The content that belongs to the block's key.
  void put_content(const Block& block, std::uint64_t seed) {
    for (int i = 0; i < block.elements(); ++i) {
      put(block, i, mix({seed, block.key, static_cast<std::uint64_t>(i)}));
    }
  }

  /// Fails where a byte differs.
  void compare(const Memory& expected, const std::string& what) const {
    if (bytes_ == expected.bytes_) return;
    std::size_t i = 0;
    while (bytes_[i] == expected.bytes_[i]) ++i;
    std::size_t wrong = 0;
    for (std::size_t j = i; j < bytes_.size(); ++j) wrong += bytes_[j] != expected.bytes_[j];
    fail(what + ": byte " + std::to_string(static_cast<std::int64_t>(i) + first_) +
         " of the buffer is " + std::to_string(bytes_[i]) + " instead of " +
         std::to_string(expected.bytes_[i]) + ", " + std::to_string(wrong) + " bytes of " +
         std::to_string(bytes_.size()) + " are wrong");
  }

 private:
  static constexpr std::int64_t margin = 16;
  [[nodiscard]] std::size_t index(std::int64_t place) const {
    return static_cast<std::size_t>(place - first_);
  }

  std::vector<std::uint8_t> bytes_;
  std::int64_t first_ = -64;
  std::int64_t last_ = 64;
};

/// A call that has completed these of several requests.
inline void good_each(int code, const MPI_Status* statuses, int count) {
  int error_class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  if (error_class != MPI_ERR_IN_STATUS) return good(code);
  for (int i = 0; i < count; ++i) {
    if (statuses[i].MPI_ERROR != MPI_ERR_PENDING) good(statuses[i].MPI_ERROR);
  }
  good(code);
}

/// How requests are completed: each way that MPI has. All are MPI_REQUEST_NULL, or inactive, then.
inline void complete(std::vector<MPI_Request>& requests, std::vector<MPI_Status>& statuses,
                     Dice& dice) {
  const int count = length(requests);
  statuses.resize(requests.size());
  std::vector<MPI_Status> some(requests.size());
  std::vector<int> indices(requests.size());
  int left = count;
  int flag = 0;
  int index = 0;
  int done = 0;
  switch (dice.below(8)) {
    case 0:
      good_each(MPI_Waitall(count, requests.data(), statuses.data()), statuses.data(), count);
      return;
    case 1:
      while (flag == 0) {
        good_each(MPI_Testall(count, requests.data(), &flag, statuses.data()), statuses.data(),
                  count);
      }
      return;
    case 2:
      for (const int i : dice.order(count)) good(MPI_Wait(&requests[at(i)], &statuses[at(i)]));
      return;
    case 3:
      for (const int i : dice.order(count)) {
        for (flag = 0; flag == 0;) good(MPI_Test(&requests[at(i)], &flag, &statuses[at(i)]));
      }
      return;
    case 4:
      for (; left > 0; --left) {
        good(MPI_Waitany(count, requests.data(), &index, some.data()));
        if (index == MPI_UNDEFINED) return;
        statuses[at(index)] = some[0];
      }
      return;
    case 5:
      for (; left > 0; left -= flag) {
        good(MPI_Testany(count, requests.data(), &index, &flag, some.data()));
        if (flag != 0 && index == MPI_UNDEFINED) return;
        if (flag != 0) statuses[at(index)] = some[0];
      }
      return;
    default: {
      const bool waits = dice.chance(50);
      for (; left > 0; left -= done) {
        done = 0;
        const int code =
            waits ? MPI_Waitsome(count, requests.data(), &done, indices.data(), some.data())
                  : MPI_Testsome(count, requests.data(), &done, indices.data(), some.data());
        good_each(code, some.data(), done);
        if (done == MPI_UNDEFINED) return;
        for (int i = 0; i < done; ++i) statuses[at(indices[at(i)])] = some[at(i)];
      }
    }
  }
}

}  // namespace generated
