// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "mpi/coll/engine/schedules.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/world.h"
#include "mpi/datatype/datatype.h"
#include "mpi/errhandler/errhandler.h"
#include "mpi/group/group.h"
#include "mpi/info/info.h"
#include "mpi/library.h"
#include "mpi/op/op.h"
#include "protocol/cluster.h"

namespace fulmar::fuzz {

/// The predefined objects of one process, without a network. Aborts where the library would end the
/// job.
struct PredefinedObjects {
  mpi::Library library;
  mpi::ErrorState errors{library, {[](void*, int) { std::abort(); }, nullptr}};
  mpi::PredefinedInfo info{library};
  mpi::PredefinedGroup group{library};
  mpi::PredefinedDatatypes datatypes{library};
  mpi::PredefinedOps ops{library};
};

/// Rank 0 of a communicator of three ranks: rank 1 is hostile, rank 2 is honest. Of the other two
/// there are only devices.
class OneProcess {
 public:
  static constexpr std::uint32_t hostile = 1;
  static constexpr std::uint32_t honest = 2;
  static constexpr std::uint32_t context = 64;

  OneProcess() {
    library().device = &cluster.device(0);
    library().schedules = &schedules;
    library().world = &world;
    comm = library().make<mpi::Comm>(library());
    comm->device = &cluster.device(0);
    comm->remote_size = comm->local_size = 3;
    comm->context = context;
    comm->identity = true;
    comm->routes = mpi::Routes(0, 3, context);
  }
  ~OneProcess() {
    comm->device = nullptr;  // its contexts in the device are not made whole again
    library().give_back(*comm);
  }
  OneProcess(const OneProcess&) = delete;
  OneProcess& operator=(const OneProcess&) = delete;

  [[nodiscard]] mpi::Library& library() noexcept { return objects.library; }

  /// Starts a message to rank 0, which carries a copy of `bytes`.
  std::unique_ptr<device::Message> send(std::uint32_t from, std::uint32_t line, int tag,
                                        std::span<const std::byte> bytes) {
    auto message = cluster.make({context | line, 0, tag}, bytes.size(), device::Layout::dense, 1);
    if (!bytes.empty()) std::memcpy(message->memory.data(), bytes.data(), bytes.size());
    cluster.device(from).start_send(message->operation);
    return message;
  }
  /// Starts the receive of a message from rank 0.
  std::unique_ptr<device::Message> receive(std::uint32_t at, std::uint32_t line, int tag,
                                           std::size_t bytes) {
    return cluster.receive(at, 0, tag, bytes, device::Layout::dense, context | line);
  }
  /// Lets rank 0 and the honest rank go on until `done`; aborts if that never happens.
  template <class Done>
  void go_on_until(Done&& done) {
    constexpr int most_steps = 10'000;
    for (int step = 0; !done(); ++step) {
      if (step == most_steps) std::abort();
      cluster.device(0).progress();
      cluster.device(honest).progress();
    }
  }
  /// The hostile rank ends, and rank 0 knows.
  void end_hostile() {
    cluster.network.kill(hostile);
    cluster.device(0).failures().add(hostile, "it was killed");
    comm->failed_process = hostile;
    go_on_until([&] { return !cluster.device(0).failures().pending(); });
  }

  device::Cluster cluster{3};
  PredefinedObjects objects;
  mpi::Schedules schedules{cluster.device(0), mpi::Choices{}};
  mpi::World world{library(), cluster.device(0), 0, 3};
  mpi::Comm* comm = nullptr;
};

/// Takes numbers from an input; zeros behind its end.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) noexcept : rest_(bytes) {}

  [[nodiscard]] bool empty() const noexcept { return rest_.empty(); }
  std::uint8_t byte() noexcept {
    if (rest_.empty()) return 0;
    const std::uint8_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  /// One of the low numbers in most cases, else any.
  std::int64_t number(std::int64_t usual) noexcept {
    const std::uint8_t kind = byte();
    if (kind < 200) return kind % usual;
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return kind < 220 ? static_cast<std::int64_t>(value)
                      : static_cast<std::int64_t>(value >> (8 * (kind % 8)));
  }
  std::vector<std::byte> bytes(std::size_t most) {
    const std::size_t count = std::min(most, rest_.size());
    const auto* const from = reinterpret_cast<const std::byte*>(rest_.data());
    std::vector<std::byte> taken(from, from + count);
    rest_ = rest_.subspan(count);
    return taken;
  }

 private:
  std::span<const std::uint8_t> rest_;
};

}  // namespace fulmar::fuzz
