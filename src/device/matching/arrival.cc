// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/matching/arrival.h"

#include <cstdlib>
#include <new>

namespace fulmar::device {

ArrivalPool::~ArrivalPool() {
  while (spare_ != nullptr) {
    Arrival* next = reinterpret_cast<Arrival*>(spare_->unexpected.in_order.next);
    std::free(spare_);
    spare_ = next;
  }
}

Arrival* ArrivalPool::make(std::uint64_t bytes) noexcept {
  const auto capacity =
      static_cast<std::uint32_t>(bytes <= short_capacity ? short_capacity : bytes);
  void* memory = nullptr;
  if (capacity == short_capacity && spare_ != nullptr) {
    memory = spare_;
    spare_ = reinterpret_cast<Arrival*>(spare_->unexpected.in_order.next);
    --spare_count_;
  } else {
    memory = std::malloc(sizeof(Arrival) + capacity);
    if (memory == nullptr) return nullptr;
  }
  auto* arrival = new (memory) Arrival;
  arrival->capacity = capacity;
  in_use_ += sizeof(Arrival) + capacity;
  return arrival;
}

void ArrivalPool::free(Arrival* arrival) noexcept {
  in_use_ -= sizeof(Arrival) + arrival->capacity;
  if (arrival->capacity == short_capacity && spare_count_ < most_spare) {
    arrival->unexpected.in_order.next = reinterpret_cast<match::ListNode*>(spare_);
    spare_ = arrival;
    ++spare_count_;
    return;
  }
  std::free(arrival);
}

}  // namespace fulmar::device
