// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/progress/hook.h"
#include "mpi/rma/requests.h"
#include "mpi/rma/server/message.h"
#include "mpi/rma/win.h"

namespace fulmar::mpi {

/// Short puts of an epoch that travel in one message of requests, and with them what ends the epoch: a
/// put and its flush are one message. Puts wait until the message is full, something else goes to that target, or the program
/// makes progress, as every call does that waits for the end of something. Their data are copied, so the
/// caller's memory is free at once.
///
/// Thread rule: the lock of the library.
class RequestBatches : private device::ProgressCallback {
 public:
  explicit RequestBatches(Win& win);
  RequestBatches(const RequestBatches&) = delete;
  RequestBatches& operator=(const RequestBatches&) = delete;
  /// No message is under way.
  ~RequestBatches();

  /// Takes a put that can travel with others. False: it is to be sent by itself.
  [[nodiscard]] bool add(int rank, const RmaRequest& request);
  /// Sends what waits for this rank.
  void send(int rank) noexcept;
  /// Sends it with a request behind it that has neither data nor a description. False: nothing waits,
  /// or there is no room for it.
  [[nodiscard]] bool send_with(int rank, const wire::RmaHeader& last) noexcept;

 private:
  struct Batch;

  unsigned send_all() noexcept;
  static std::span<std::byte> append(Batch& batch, const wire::RmaHeader& header,
                                     std::size_t bytes) noexcept;
  [[nodiscard]] bool takes_long_record(int rank, std::size_t record) const noexcept;
  Batch& open(int rank);
  void ended(Batch& batch) noexcept;

  Win& win_;
  std::vector<std::unique_ptr<Batch>> batches_;  ///< all that were ever made
  std::vector<Batch*> free_;
  std::vector<Batch*> open_;  ///< by rank; null: none waits
  std::vector<int> waiting_;  ///< ranks for which one may wait
  std::vector<bool> listed_;  ///< of each rank: it is in `waiting_`
};

}  // namespace fulmar::mpi
