// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/error_class.h"
#include "device/progress/hook.h"
#include "match/key.h"
#include "wire/packets.h"

namespace fulmar::device {

class Device;
struct Operation;
struct OutgoingQueue;
struct Peer;

/// How the device and the runtime report failed processes to each other. Every function
/// is called with the engine's lock and `context`, and may be null.
struct FailureObserver {
  /// Called now and then while a thread waits in MPI, and before each sleep of the library's own
  /// thread (which must not run code of the program), to check for failed processes. Calls
  /// `Failures::add`, and nothing else of the device.
  void (*look)(void* context) = nullptr;
  /// All operations that name the failed process have ended. May end others (`end_receives`,
  /// `Device::cancel`) and complete operations.
  void (*ended)(void* context, std::uint32_t peer) = nullptr;
  /// A peer reports that `peer` has failed, which is not known here yet.
  void (*reported)(void* context, std::uint32_t peer, std::uint32_t reporter) = nullptr;
  /// Whether a posted receive from any source may be interrupted (`Failures::resume`) instead of
  /// ended when a process fails that it could have matched. Null: none may.
  bool (*interruptible)(void* context, const Operation& receive) = nullptr;
  /// Whether a process that is reached through shared memory has finalized MPI. Null: not
  /// known. (Config::has_left is also true of one whose death is not known yet.)
  bool (*departed)(void* context, std::uint32_t peer) = nullptr;
  void* context = nullptr;
};

/// Which receives of a context end because a process has failed.
enum class ReceivesEnded : std::uint8_t {
  any_source,  ///< those that the failed process might have matched
  all,         ///< also those that name living processes, which may have given up
};

/// The processes that have failed, and the contexts of communicators that hold one of them. Part of
/// a device; see device/peer/peer_failure.cc.
///
/// A process that fails goes through two stages. From `add` on nothing is sent to it, but packets
/// that it has sent before may still be in a ring or a socket. When those have been taken, the
/// operations that still need it end with ErrorClass::proc_failed.
///
/// Thread rule: the engine's lock.
class Failures : private ProgressCallback {
 public:
  explicit Failures(Device& device) noexcept : device_(device) {}
  Failures(const Failures&) = delete;
  Failures& operator=(const Failures&) = delete;

  struct Failed {
    std::uint32_t peer = 0;
    std::string why;
  };

  /// A process of the job has failed, or cannot be reached any more; `why` is for the user. Soon,
  /// in progress, everything that needs it ends, and FailureObserver::ended is called. Nothing if
  /// that is known already. Also from within a provider's poll.
  void add(std::uint32_t peer, std::string why) noexcept;

  /// In the order in which they became known.
  [[nodiscard]] const std::vector<Failed>& list() const noexcept { return failed_; }
  [[nodiscard]] bool none() const noexcept { return failed_.empty(); }
  /// Why a process counts as failed, in words for the user; nullptr: it does not.
  [[nodiscard]] const std::string* why(std::uint32_t peer) const noexcept {
    for (const Failed& each : failed_) {
      if (each.peer == peer) return &each.why;
    }
    return nullptr;
  }
  /// There are some whose operations have not ended yet.
  [[nodiscard]] bool pending() const noexcept { return ended_ < failed_.size(); }

  /// Ends receives of a context because `failed` has failed, also those that are posted later, until
  /// `mend`.
  void end_receives(std::uint32_t context, ReceivesEnded which, std::uint32_t failed) noexcept;
  /// The same for all receives of one call, which has a context with others in common and a tag for
  /// itself; until `mend_call`.
  void end_receives_of_call(std::uint32_t context, std::int32_t tag, std::uint32_t failed) noexcept;
  void mend_call(std::uint32_t context, std::int32_t tag) noexcept;
  /// Undoes `end_receives` for later receives of the context: it belongs to another communicator
  /// now, or the failures were acknowledged.
  void mend(std::uint32_t context) noexcept {
    broken_.erase(context);
    update_receive_checks();
  }
  /// Why a receive or probe with a key never finds a message that has not arrived by now.
  struct Obstacle {
    base::ErrorClass error = base::ErrorClass::proc_failed;  ///< or `revoked`
    std::uint32_t peer = 0;                                  ///< `proc_failed`: the process
  };
  [[nodiscard]] std::optional<Obstacle> obstacle_for(const match::Key& key) const noexcept;

  /// Ends an operation for this reason.
  void fail(Operation& operation, const Obstacle& obstacle) noexcept;

  /// Receives from any source that were interrupted are done, with ErrorClass::proc_failed_pending,
  /// but stay where they were posted, and a message that fits is still received. This makes those
  /// of a context wait again.
  void resume(std::uint32_t context) noexcept;
  /// The same for one of them; nothing for any other operation.
  void resume(Operation& operation) noexcept;

  /// The communicator behind the context was revoked: its receives end with ErrorClass::revoked,
  /// also those that are posted later, until `mend`. Messages that were matched before go on.
  void revoke_receives(std::uint32_t context) noexcept;
  /// Ends sends whose keys `concerned` picks and that were not matched, with ErrorClass::revoked:
  /// at once where they have not left this process, else as soon as the receiver has answered.
  using Concerned = bool (*)(const void* argument, const match::Key& key);
  void revoke_sends(Concerned concerned, const void* argument) noexcept;

  /// Sends a packet of a layer above, with at most wire::Cell::inline_bytes bytes, in order with
  /// all others to that process. None goes to one that has failed or has left MPI.
  void send(std::uint32_t to, wire::PacketKind kind, const match::Key& key,
            std::span<const std::byte> body) noexcept;
  /// A process has finalized MPI, as far as is known; it answers no more packets.
  [[nodiscard]] bool has_left(std::uint32_t peer) noexcept;

  /// Reports a failed process to a peer.
  void report(std::uint32_t to, std::uint32_t failed) noexcept;
  /// Sends a peer a packet without effect, so that the network connects to it, and reports it as lost if it is not
  /// there any more: soon, or after the patience that the network has with peers that may come back.
  void probe(std::uint32_t peer) noexcept;
  /// No object refers to a process of another job any more: drops what is kept of it, and that it has failed.
  /// False: an operation or a message of it is not done.
  [[nodiscard]] bool forget(std::uint32_t peer) noexcept;
  /// Checks for failed processes. True: operations are to be ended before a thread sleeps.
  bool look() noexcept;
  /// Receives need further checks when they are posted: a process has failed, or senders are
  /// held.
  [[nodiscard]] bool checks_receives() const noexcept { return checks_receives_; }

 private:
  friend class Device;

  /// How many progress calls wait for packets of a failed process while packets of others keep
  /// arriving; otherwise until one moves nothing.
  static constexpr unsigned most_looks = 64;

  struct BrokenContext {
    ReceivesEnded which = ReceivesEnded::any_source;
    Obstacle obstacle;
  };
  struct BrokenCall {
    std::uint32_t context = 0;
    std::int32_t tag = 0;
    std::uint32_t failed = 0;
  };

  // For the device.
  [[nodiscard]] bool interrupt(Operation& receive, const Obstacle& obstacle) noexcept;
  void check_posted(Operation& operation) noexcept;
  void on_report(Peer& from, const wire::FailureBody& report) noexcept;
  void on_probe(Peer& /*from*/) noexcept {}
  void update_receive_checks() noexcept;

  unsigned end_pending() noexcept;
  void end_operations(Peer& peer) noexcept;
  [[nodiscard]] bool is_in_use(const Peer& peer) noexcept;
  void end_queued(OutgoingQueue& queue) noexcept;
  void end_active(const Peer& peer) noexcept;
  void drop_announcements(std::uint32_t peer) noexcept;
  template <class Needs>
  void end_posted(Needs&& needs, const Obstacle& obstacle) noexcept;

  Device& device_;
  bool checks_receives_ = false;
  std::vector<Failed> failed_;
  std::size_t ended_ = 0;    ///< of these, from the front: their operations have ended
  unsigned polls_ = 0;       ///< since the last one became known
  std::uint64_t moved_ = 0;  ///< ProgressState::moved at the last call
  std::unordered_map<std::uint32_t, BrokenContext> broken_;
  std::vector<BrokenCall> broken_calls_;
};

}  // namespace fulmar::device
