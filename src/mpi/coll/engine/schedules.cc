// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/engine/schedules.h"

#include "mpi/coll/check/collective_check.h"
#include "mpi/coll/engine/coll_context.h"
#include "mpi/comm/world.h"

namespace fulmar::mpi {

Schedules::Schedules(device::Device& device, const Choices& choices) noexcept
    : device_(device), choices_(choices), area_queues_(device) {
  step = resume_ready;
}

Schedules::~Schedules() = default;

void Schedules::make_ready(CollContext& exchange) noexcept {
  if (first_ == nullptr) device_.add_progress_callback(*this);
  exchange.next_ready_ = nullptr;
  *last_ = &exchange;
  last_ = &exchange.next_ready_;
}

void Schedules::add(CollContext& exchange) noexcept {
  exchange.following_ = all_;
  if (all_ != nullptr) all_->previous_ = &exchange;
  all_ = &exchange;
}

void Schedules::remove(CollContext& exchange) noexcept {
  (exchange.previous_ != nullptr ? exchange.previous_->following_ : all_) = exchange.following_;
  if (exchange.following_ != nullptr) exchange.following_->previous_ = exchange.previous_;
}

/// No algorithm ends before progress resumes the ready ones, so the list does not change.
void Schedules::abandon(const Comm& comm, base::Error error) noexcept {
  for (CollContext* at = all_; at != nullptr; at = at->following_) {
    if (&at->comm_ == &comm) at->abandon(error);
  }
}

void Schedules::abandon_revoked(const Comm& comm, base::Error error) noexcept {
  constexpr std::uint32_t kinds = ContextIds::step - 1;
  for (CollContext* at = all_; at != nullptr; at = at->following_) {
    if ((at->comm_.context & ~kinds) == comm.context) at->abandon(error);
  }
}

/// The first one that may go on, out of the list; nullptr if there is none.
CollContext* Schedules::take_ready() noexcept {
  const bool all = !device_.service().polling();
  CollContext** at = &first_;
  while (*at != nullptr && (*at)->calls_user_ && !all) at = &(*at)->next_ready_;
  CollContext* found = *at;
  if (found == nullptr) return nullptr;
  *at = found->next_ready_;
  if (*at == nullptr) last_ = at;
  if (first_ == nullptr) device_.remove_progress_callback(*this);
  return found;
}

unsigned Schedules::resume_ready(device::Device::ProgressCallback& hook) noexcept {
  auto& self = static_cast<Schedules&>(hook);
  unsigned resumed = 0;
  // Algorithms that become ready meanwhile are appended; the callback stays until the list is
  // empty.
  while (CollContext* exchange = self.take_ready()) {
    if (exchange->abandoned_) [[unlikely]] {
      exchange->end_abandoned();
    } else {
      exchange->ready_.resume();  // may end the CollContext
    }
    ++resumed;
  }
  if (self.first_ != nullptr) self.device_.service().need_program();
  return resumed;
}

}  // namespace fulmar::mpi
