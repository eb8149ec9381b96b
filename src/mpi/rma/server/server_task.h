// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mpi/rma/server/server_origin.h"

namespace fulmar::mpi {

/// One request that a target carries out: what it waits for (the description of a datatype, data)
/// and what it sends back. Ends itself. A request that fails takes the data that its origin sends
/// all the same, and answers with nothing where data are expected.
class RmaServer::Task {
 public:
  static void start(Win& win, Origin& origin, const wire::RmaHeader& header,
                    std::span<const std::byte> request);
  /// Sends bytes, which are copied, as the answer with this tag.
  static void answer(Win& win, int rank, std::uint32_t tag, std::span<const std::byte> bytes);

 private:
  Task(Win& win, Origin& origin, const wire::RmaHeader& header) noexcept
      : win_(win), origin_(origin), header_(header) {}

  [[nodiscard]] wire::RmaCall call() const noexcept {
    return static_cast<wire::RmaCall>(header_.call);
  }
  [[nodiscard]] bool has(std::uint8_t flag) const noexcept { return (header_.flags & flag) != 0; }
  [[nodiscard]] bool brings_data() const noexcept {
    return call() != wire::RmaCall::get && header_.bytes != 0;
  }
  [[nodiscard]] bool wants_data() const noexcept {
    return call() != wire::RmaCall::put && call() != wire::RmaCall::accumulate;
  }
  void await_description();
  void use_description(std::span<const std::byte> bytes);
  void use_kept_type();
  void find_place();
  void record_access(base::ErrorClass error);
  [[nodiscard]] base::ErrorClass check_place();
  [[nodiscard]] base::ErrorClass check_operation();
  void go_on(std::span<const std::byte> data);
  void await_data();
  void take_data(std::span<const std::byte> data);
  void execute(std::span<const std::byte> data);
  void swap(std::span<const std::byte> data);
  void send_back(const ConstData& data);
  void fail(base::ErrorClass error) noexcept;
  void finish() noexcept;
  void block() noexcept { blocks_ = origin_.blocked = true; }

  Win& win_;
  Origin& origin_;
  wire::RmaHeader header_;
  bool blocks_ = false;
  bool failed_ = false;
  const Datatype* type_ = nullptr;
  std::shared_ptr<const Datatype> described_;
  const Op* op_ = nullptr;
  const Datatype* element_ = nullptr;
  void* address_ = nullptr;
  std::vector<std::int64_t> words_;
  std::vector<std::byte> bytes_;
  RmaMessage message_;
};

}  // namespace fulmar::mpi
