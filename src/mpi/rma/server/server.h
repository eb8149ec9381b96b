// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "device/progress/hook.h"
#include "mpi/rma/server/message.h"
#include "mpi/rma/sync/lock_queue.h"
#include "mpi/rma/win.h"

namespace fulmar::mpi {

/// The target's side of operations on memory that their origin does not map: carries the requests
/// of each origin out in their order (wire::RmaHeader), in whatever call or thread makes progress.
/// Nothing in a request is believed: what makes no sense or leaves the window changes nothing, and
/// is told with the next answer to the origin.
///
/// Thread rule: the lock of the library.
class RmaServer : private device::ProgressCallback {
 public:
  explicit RmaServer(Win& win) noexcept;
  ~RmaServer();
  RmaServer(const RmaServer&) = delete;
  RmaServer& operator=(const RmaServer&) = delete;

  /// From now on requests are taken.
  void start() noexcept;
  /// No origin sends any more.
  void stop() noexcept;

  /// The origins that have been granted the lock of this process's memory by a request.
  struct Holder {
    int rank;
    LockMode mode;
  };
  [[nodiscard]] std::vector<Holder> holders() const;
  /// Whether an origin that has failed has been granted the lock. What it has done with it nobody
  /// knows, so it is not given back.
  [[nodiscard]] bool has_failed_holder() const noexcept;

 private:
  struct Origin;
  class Task;

  void request_came() noexcept;
  void post_receive() noexcept;
  std::span<std::byte> buffer() noexcept;
  Origin& origin_of(int rank);
  void take_all(Origin& origin, std::span<const std::byte> requests);
  void take(Origin& origin, std::span<const std::byte> request);
  void run(Origin& origin, std::span<const std::byte> request);
  void note_length(const wire::RmaHeader& header) noexcept;
  void advance(Origin& origin);
  void lock(Origin& origin, const wire::RmaHeader& header);
  void hold(Origin& origin) noexcept;
  void unlock(Origin& origin, const wire::RmaHeader& header);
  void acknowledge(Origin& origin, std::uint32_t tag);
  unsigned grant() noexcept;

  Win& win_;
  std::unordered_map<int, std::unique_ptr<Origin>> origins_;
  std::uint32_t waiting_locks_ = 0;
  bool posted_ = false;      ///< the receive of requests
  bool taking_ = false;      ///< a request is being taken
  bool wants_long_ = false;  ///< data came apart that a long buffer would have held
  RmaMessage receive_;
  alignas(16) std::byte buffer_[wire::most_rma_request_bytes];
  std::unique_ptr<std::byte[]> long_buffer_;  ///< in place of `buffer_`, once there is one
};

}  // namespace fulmar::mpi
