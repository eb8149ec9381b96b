// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

namespace fulmar::device {

class Device;
struct Peer;

/// One process's part in finding out that no packet of a job is under way and no message moves, so that
/// networks can be closed and opened anew without a loss (a checkpoint). Messages that wait for their
/// receives stay: short ones have arrived, long ones are announced and keep their names.
///
/// The job goes through rounds. In each one every process sends a *marker* to everyone it has talked
/// to, and the processes count together (that is the caller's part) until all markers were taken. Packets to one
/// process keep their order, so whatever was sent before a marker has been taken then. If in addition
/// no process has taken another packet since the last round, and none has anything that moves by itself
/// (`moved`), nobody can have sent anything behind its markers: nothing is under way.
///
/// Made before the first process sends a marker. Thread rule: the lock of the engine.
class Drain {
 public:
  /// `device` outlives this. Requires that it has no other.
  explicit Drain(Device& device) noexcept;
  Drain(const Drain&) = delete;
  Drain& operator=(const Drain&) = delete;

  /// From now on until `end` packets are counted.
  void begin() noexcept;
  void end() noexcept;

  /// Sends a marker to each peer. Returns how many.
  std::uint32_t send_markers() noexcept;
  /// How many have arrived, ever.
  [[nodiscard]] std::uint32_t markers_taken() const noexcept { return taken_; }
  /// Whether other packets have arrived since the last call, or something moves now, or did when the
  /// last markers were sent.
  [[nodiscard]] bool moved() noexcept;

  /// Takes back the access to memory that announcements have given to peers' adapters, on both sides:
  /// these messages move by another protocol later. Requires that nothing moves.
  void withdraw_offers() noexcept;
  /// The network is about to go; no message needs it before the device uses another one.
  void drop_network() noexcept;

 private:
  void on_marker(Peer& peer) noexcept;
  [[nodiscard]] bool moves() noexcept;

  Device& device_;
  std::uint32_t taken_ = 0;
  std::uint64_t seen_ = 0;  ///< packets at the last call of `moved`, without markers
  bool moved_before_ = false;
};

}  // namespace fulmar::device
