// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "mpi/datatype/datatype.h"
#include "wire/rma/rma_message.h"

namespace fulmar::mpi {

struct Win;

/// The datatypes that this process has described to targets of a window. Long descriptions are made and
/// sent once: each has a slot, and a target keeps the type under its number until another one comes
/// for that slot (RmaTarget::kept_types says which it has). Holds a reference of each type.
///
/// Thread rule: the lock of the library.
class SentTypes {
 public:
  using Words = std::shared_ptr<const std::vector<std::int64_t>>;
  static constexpr int no_slot = -1;
  /// Shorter descriptions travel with each request.
  static constexpr std::size_t least_kept_words = 32;

  struct Description {
    Words words;
    int slot = no_slot;  ///< no_slot: targets do not keep it
  };

  explicit SentTypes(Win& win) noexcept : win_(win) {}
  ~SentTypes();
  SentTypes(const SentTypes&) = delete;
  SentTypes& operator=(const SentTypes&) = delete;

  /// How a type is described. May take the slot of the type that was described first.
  [[nodiscard]] Description describe(const Datatype& type);

 private:
  struct Kept {
    const Datatype* type = nullptr;
    Words words;
  };
  void drop(std::size_t slot) noexcept;

  Win& win_;
  std::size_t next_ = 0;  ///< the slot that is taken next
  std::array<Kept, wire::rma_type_slots> kept_;
};

}  // namespace fulmar::mpi
