// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "device/device.h"
#include "mpi/comm/comm.h"
#include "mpi/recovery/comm_recovery.h"

/// User-level failure mitigation (mpi-ext.h), with which a program continues after processes have
/// failed.
///
/// **Revocation** interrupts all members: a process that is notified forwards that at once, so that
/// all living members are notified, also when the one that began dies meanwhile; each sends O(log
/// n) packets. Messages that were matched still end in order; everything else on the communicator
/// ends with MPIX_ERR_REVOKED. The handle is hidden from calls that need other processes
/// (Library::hide), so the message path needs no check.
///
/// **Agreement** is in agreement.h. Its packets are not messages: neither failures nor revocation
/// end them.
///
/// **Shrinking** is in mpi/comm_make/shrink.cc.
namespace fulmar::mpi {

/// The part of a process. Made by `runtime` with the device; `Library::recovery` names it.
///
/// Thread rule: the lock of the library.
class Recovery : private device::Device::ProgressCallback {
 public:
  Recovery(Library& library, device::Device& device) noexcept;
  ~Recovery();
  Recovery(const Recovery&) = delete;
  Recovery& operator=(const Recovery&) = delete;

  [[nodiscard]] device::Device& device() noexcept { return device_; }
  [[nodiscard]] Library& library() noexcept { return library_; }

  /// The recovery state of a complete communicator; made at first use.
  CommRecovery& of(Comm& comm);

  /// Revokes a communicator here, and notifies all members. No effect if it is revoked already.
  void revoke(Comm& comm);
  /// A process has failed, and the operations that need it have ended.
  void process_failed(std::uint32_t process);
  /// Whether results are kept for communicators, living or ended, that hold one of `size` processes from `first` on.
  [[nodiscard]] bool holds_any(std::uint32_t first, std::uint32_t size) const;
  /// The device forgets a process: drops packets of it whose communicator was never made.
  void forget(std::uint32_t process) noexcept;
  /// A communicator is complete: handles packets that arrived for it before.
  void settled(Comm& comm);
  /// All failures that the program has acknowledged are those that are known: receives from any
  /// source work again. Else nothing.
  void resume_receives(Comm& comm);

  /// One communicator has work that may have to wait for others, or none.
  void watch();

 private:
  /// From whom, in which context, with which tag.
  using ListKey = std::tuple<std::uint32_t, std::uint32_t, std::int32_t>;
  /// A packet for a communicator that is not complete here yet.
  struct Early {
    device::Peer* peer;
    match::Key key;
    wire::AgreementBody body;
    std::vector<wire::RankRun> runs;
  };

  /// The limit on packets that other processes can make this one keep.
  static constexpr std::size_t most_early = 4096;
  static constexpr std::size_t most_runs = std::size_t{1} << 20;
  /// Communicators that have ended and whose results are kept.
  static constexpr std::size_t most_ended = 64;
  static constexpr std::uint64_t poll_interval_ns = 20'000'000;

  void on_revoked(const device::Packet& packet) noexcept;
  void on_ranks(device::Peer& peer, const wire::AgreementRanksBody& body,
                const match::Key& key) noexcept;
  void on_agreement(device::Peer& peer, const wire::AgreementBody& body,
                    const match::Key& key) noexcept;
  void take(const device::Peer& peer, const match::Key& key, const wire::AgreementBody& body,
            const std::vector<wire::RankRun>& runs);
  void end_operations(Comm& comm);
  void comm_ended(CommRecovery& recovery) noexcept;
  /// Whether other members may have made the communicator with this context already.
  [[nodiscard]] bool is_being_made(std::uint32_t context) const noexcept;
  [[nodiscard]] Comm* comm_with(std::uint32_t context) const noexcept;
  [[nodiscard]] CommRecovery* find(std::uint32_t context) noexcept;
  unsigned look();

  Library& library_;
  device::Device& device_;
  std::vector<std::unique_ptr<CommRecovery>> live_;
  std::deque<std::unique_ptr<CommRecovery>> ended_;
  std::map<ListKey, std::vector<wire::RankRun>> lists_;
  std::size_t listed_runs_ = 0;
  std::vector<Early> early_;
  std::vector<std::uint32_t> early_revocations_;  ///< contexts
  bool watching_ = false;
  std::uint64_t next_poll_ns_ = 0;
};

}  // namespace fulmar::mpi
