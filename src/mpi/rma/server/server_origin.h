// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/error_class.h"
#include "mpi/rma/server/server.h"
#include "mpi/rma/sync/lock_queue.h"
#include "wire/rma/rma_access.h"

namespace fulmar::mpi {

/// What a target keeps about one origin.
struct RmaServer::Origin {
  enum class LockState : std::uint8_t { none, waiting, held };

  RmaServer* server = nullptr;
  int rank = 0;
  std::deque<std::vector<std::byte>> waiting;  ///< requests whose turn has not come
  unsigned tasks = 0;                          ///< requests whose data are under way
  bool blocked = false;                        ///< one of them must not be overtaken
  bool advancing = false;                      ///< RmaServer::advance runs
  LockState lock_state = LockState::none;
  LockMode mode = LockMode::shared;
  LockTicket ticket;
  base::ErrorClass error = base::ErrorClass::success;  ///< for the next answer
  std::optional<wire::RmaConflict> conflict;           ///< with it, where the window is checked
  std::array<std::shared_ptr<const Datatype>, wire::rma_type_slots> kept_types;

  [[nodiscard]] bool may_run(wire::RmaCall call) const noexcept;
  void fail(base::ErrorClass what) noexcept {
    if (error == base::ErrorClass::success) error = what;
  }
};

}  // namespace fulmar::mpi
