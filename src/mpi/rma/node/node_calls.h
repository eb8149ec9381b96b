// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error_class.h"
#include "device/progress/hook.h"
#include "mpi/rma/node/node_plan.h"
#include "mpi/rma/sync/call_patience.h"
#include "mpi/rma/win.h"
#include "wire/rma/rma_call_slot.h"
#include "wire/rma/rma_message.h"

namespace fulmar::mpi {

/// One short operation on the memory of a rank of the node that is not mapped.
struct NodeCall {
  wire::RmaCall call = wire::RmaCall::none;
  std::uint8_t op = 0;  ///< as in wire::RmaHeader, and so on
  std::uint32_t element = 0;
  std::uint32_t second = 0;
  std::int64_t place = 0;
  std::size_t bytes = 0;            ///< at the target
  std::span<const std::byte> data;  ///< packed
  std::span<std::byte> result;      ///< gets what was there; as long as `bytes`, or empty
};

/// Short operations on memory that is not mapped, among the ranks of a node: the origin puts one into
/// the slot of the target (wire::RmaCallSlot) and waits some microseconds for it to be carried out.
/// A target that waits in MPI does so at once, which is several times as fast as a copy by the
/// kernel. A target that does something else is not waited for: the origin takes the operation
/// back and copies by the kernel; after that it does not try for a while.
///
/// The target looks with every step of progress. Windows for which no calls come give that up where
/// there are many of them, and say so in the slot.
///
/// Thread rule: the lock of the library.
class NodeCalls : private device::ProgressCallback {
 public:
  static constexpr std::size_t piece_bytes = std::size_t{128} << 10;

  /// `win.memory` has slots and rooms as in `plan`, by the places of RmaTarget. From now on
  /// calls are carried out.
  NodeCalls(Win& win, const NodePlan& plan) noexcept;
  ~NodeCalls();
  NodeCalls(const NodeCalls&) = delete;
  NodeCalls& operator=(const NodeCalls&) = delete;

  /// Whether an operation may go this way: it is short enough, and worth a try at the moment.
  [[nodiscard]] bool takes(int rank, std::size_t data_bytes, std::size_t bytes);
  /// Whether a long operation is worth a try at the moment. May send a message to the target: not while
  /// a mutex is held.
  [[nodiscard]] bool tries_jointly(int rank);
  /// Has `rank` carry `call` out. False: nothing was done, other ways have to be used. Else `refused`
  /// is the class of the error, success if there is none. Requires takes().
  [[nodiscard]] bool carry_out(int rank, const NodeCall& call, base::ErrorClass& refused) noexcept;
  /// Asks `rank` to carry out a long operation (RmaCall::put_from, get_into, accumulate_from) of
  /// `call.bytes` bytes, at most wire::most_joint_call_bytes, while this process does something else;
  /// `origin` is where they are here. Requires tries_jointly(). False: it is not asked. Else end_joint has to
  /// follow, with no step of progress and no call in between. RmaCall::accumulate_from requires that
  /// this process holds the target's mutex for accumulates.
  [[nodiscard]] bool begin_joint(int rank, const NodeCall& call, const void* origin) noexcept;
  /// How many of the `asked` bytes it has carried out, from the beginning on: 0 if it has not come to it until now.
  /// `refused` is the class of the error, success if there is none.
  [[nodiscard]] std::size_t end_joint(int rank, std::size_t asked,
                                      base::ErrorClass& refused) noexcept;
  /// Memory for pieces of an operation: `piece_bytes` of it, or none if there is none. Until the next
  /// step of progress.
  [[nodiscard]] std::span<std::byte> piece_room() noexcept;
  /// Carries out what others have put into the slot of this process. How many.
  unsigned serve() noexcept;
  /// This process uses the window: looks for calls again if it has given that up.
  void attend() noexcept;

 private:
  enum class Wait : std::uint8_t { done, taken_back, dead, overwritten };

  [[nodiscard]] wire::RmaCallSlot& slot(std::size_t place) const noexcept;
  [[nodiscard]] std::byte* room(std::size_t place) const noexcept;
  [[nodiscard]] bool claim(wire::RmaCallSlot& slot) noexcept;
  /// Whether an operation that the origin waits for is worth a try at the moment.
  [[nodiscard]] bool tries(int rank);
  [[nodiscard]] bool take_back(wire::RmaCallSlot& slot) noexcept;
  [[nodiscard]] Wait await(wire::RmaCallSlot& slot, int rank) noexcept;
  [[nodiscard]] Wait await_taken(wire::RmaCallSlot& slot, int rank) noexcept;
  [[nodiscard]] Wait look_at_taken(wire::RmaCallSlot& slot, int rank) noexcept;
  [[nodiscard]] bool conclude(wire::RmaCallSlot& slot, int rank, Wait waited,
                              base::ErrorClass& refused) noexcept;
  static void fill(wire::RmaCallSlot& slot, const NodeCall& call) noexcept;
  void note_miss(int rank) noexcept;
  void give_up_idle() noexcept;
  [[nodiscard]] std::uint32_t word(wire::RmaCallState state) const noexcept;

  Win& win_;
  std::uint64_t slots_;
  std::uint64_t rooms_;
  std::vector<CallPatience> patience_;   ///< by place
  std::unique_ptr<std::byte[]> pieces_;  ///< made when it is needed first
  std::size_t own_place_;
  std::uint32_t idle_ = 0;  ///< looks in vain
  bool attending_ = false;
};

}  // namespace fulmar::mpi
