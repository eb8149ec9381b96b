// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/schedules.h"

#include "mpi/coll/agreement.h"
#include "mpi/coll/exchange.h"

namespace fulmar::mpi {

Schedules::Schedules(device::Device& device, const Choices& choices) noexcept
    : device_(device), choices_(choices) {
  step = resume_ready;
}

Schedules::~Schedules() = default;

void Schedules::make_ready(Exchange& exchange) noexcept {
  if (first_ == nullptr) device_.add_hook(*this);
  exchange.next_ready_ = nullptr;
  *last_ = &exchange;
  last_ = &exchange.next_ready_;
}

unsigned Schedules::resume_ready(device::Device::Hook& hook) noexcept {
  auto& self = static_cast<Schedules&>(hook);
  unsigned resumed = 0;
  // What becomes ready meanwhile is appended; the hook stays until the list is empty.
  while (self.first_ != nullptr) {
    Exchange& exchange = *self.first_;
    const std::coroutine_handle<> who = exchange.ready_;
    if (exchange.next_ready_ == nullptr) {
      self.first_ = nullptr;
      self.last_ = &self.first_;
      self.device_.remove_hook(self);
    } else {
      self.first_ = exchange.next_ready_;
    }
    who.resume();  // may end the Exchange
    ++resumed;
  }
  return resumed;
}

}  // namespace fulmar::mpi
