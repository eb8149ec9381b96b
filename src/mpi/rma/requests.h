// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/error.h"
#include "mpi/args.h"
#include "mpi/op/op.h"
#include "mpi/request/request.h"
#include "mpi/rma/win.h"
#include "wire/rma/rma_message.h"

/// The origin's side of operations on memory that is not mapped: requests to the target's process.
namespace fulmar::mpi {

/// What a request consists of. `call`, `place`, `count` of the header are set by the caller, and
/// what accumulates need.
struct RmaRequest {
  wire::RmaHeader header{};
  const Datatype* type = nullptr;     ///< of the target; null: the call has none
  ConstData data;                     ///< of the origin; type null: none
  std::span<const std::byte> packed;  ///< in place of `data`: copied
  Data result;                        ///< where the answer goes; type null: there is none
  std::uint64_t result_bytes = 0;     ///< of the answer
  Request* request = nullptr;         ///< completed with the operation; null: there is none
};

/// The class of an error that another process tells, which may be anything.
[[nodiscard]] base::ErrorClass told_class(std::int32_t told) noexcept;

/// Names the elements of an accumulate (null: they differ) for the target.
void name_element(wire::RmaHeader& header, const Op& op, const Datatype* element);

/// Sends a request to `rank`. Buffers are used, and RmaTarget::pending counts it, until it is done;
/// its failure goes to the request, or else to RmaTarget::error.
void start_request(Win& win, int rank, const RmaRequest& request);

/// A request without data: lock, post, complete.
void send_notice(Win& win, int rank, wire::RmaCall call, std::uint32_t number = 0);

/// Waits until buffers of all operations to `rank` may be reused and what they fetch is there.
base::Error complete_locally(Win& win, int rank);
/// Sends what makes the target tell that all operations to `rank` are complete, `flush` or `unlock`.
/// `complete_locally` waits for the answer. `flags` are those of a checked window's `flush`.
void ask_for_end(Win& win, int rank, wire::RmaCall call, std::uint8_t flags = 0);
/// Calls `step(rank)` for each open target. It may wait, and other threads may open and close targets
/// meanwhile: what is there then is gone through again, which costs nothing where nothing is left to do.
template <class Step>
void for_each_opened(Win& win, Step&& step) {
  for (std::size_t i = 0; i < win.opened.size();) {
    const std::uint32_t unlocks = win.unlocks;
    step(win.opened[i]);
    i = win.unlocks == unlocks ? i + 1 : 0;
  }
}
/// Waits until the operations to all targets that are open are complete at their targets.
base::Error complete_opened(Win& win, std::uint8_t flags = 0);
/// The first failure of operations to a target since the last call, which is forgotten with it.
base::Error take_error(Win& win, int rank);
/// Ends an operation on `rank` for the program: its request is complete, or the next call that completes
/// operations on that rank raises the error.
void end_for_program(Win& win, int rank, Request* request, base::ErrorClass error) noexcept;

/// The request of an operation that is under way; nullptr when memory is used up.
[[nodiscard]] Request* make_rma_request(Win& win, MPI_Request& out) noexcept;

}  // namespace fulmar::mpi
