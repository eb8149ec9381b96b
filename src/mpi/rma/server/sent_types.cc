// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/server/sent_types.h"

#include <utility>

#include "mpi/rma/server/type_description.h"
#include "mpi/rma/win.h"

namespace fulmar::mpi {

SentTypes::~SentTypes() {
  for (std::size_t slot = 0; slot < kept_.size(); ++slot) drop(slot);
}

void SentTypes::drop(std::size_t slot) noexcept {
  const Kept kept = std::exchange(kept_[slot], {});
  if (kept.type != nullptr) win_.library->release(const_cast<Datatype&>(*kept.type));
}

SentTypes::Description SentTypes::describe(const Datatype& type) {
  for (std::size_t slot = 0; slot < kept_.size(); ++slot) {
    if (kept_[slot].type == &type) return {kept_[slot].words, static_cast<int>(slot)};
  }
  auto words = std::make_shared<const std::vector<std::int64_t>>(describe_type(type));
  const bool is_kept =
      words->size() >= least_kept_words && words->size() <= wire::most_kept_type_words;
  if (!is_kept || type.predefined) return {std::move(words), no_slot};
  const std::size_t slot = std::exchange(next_, (next_ + 1) % kept_.size());
  drop(slot);
  for (RmaTarget& target : win_.targets) {
    target.kept_types = static_cast<std::uint8_t>(target.kept_types & ~(1U << slot));
  }
  win_.library->acquire(const_cast<Datatype&>(type));
  kept_[slot] = {&type, words};
  return {std::move(words), static_cast<int>(slot)};
}

}  // namespace fulmar::mpi
