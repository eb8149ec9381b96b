// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "device/operation.h"
#include "mpi/recovery/agreement.h"
#include "mpi/recovery/members.h"
#include "wire/recovery/agreement.h"

namespace fulmar::mpi {

class Recovery;

/// Which agreement of a communicator: calls are numbered in the order in which all members make
/// them; a shrink needs several agreements, its steps.
struct AgreementNumber {
  std::uint32_t call = 0;
  std::uint16_t step = 0;
  friend auto operator<=>(const AgreementNumber&, const AgreementNumber&) = default;
};

/// The agreements of a communicator, and the propagation of its revocation. Outlives the
/// communicator as long as another member may ask for a result.
///
/// Thread rule: the lock of the library.
class CommRecovery {
 public:
  CommRecovery(Recovery& owner, Comm& comm);
  ~CommRecovery();
  CommRecovery(const CommRecovery&) = delete;
  CommRecovery& operator=(const CommRecovery&) = delete;

  [[nodiscard]] const Members& members() const noexcept { return members_; }
  /// nullptr after its end.
  [[nodiscard]] Comm* comm() const noexcept { return comm_; }
  void comm_ends() noexcept { comm_ = nullptr; }
  /// Whether messages with this context are for this communicator.
  [[nodiscard]] bool has_context(std::uint32_t context) const noexcept {
    return context == contexts_[0] || context == contexts_[1];
  }

  /// The number of the next call. Every member takes one in every call.
  [[nodiscard]] std::uint32_t next_call() noexcept { return calls_++; }
  /// Takes part in an agreement; `done` is completed when it is decided and the communicators of this process know
  /// what it says of failures, maybe before this returns.
  /// `flags` counts for the own group.
  void agree(AgreementNumber number, std::int32_t flags, device::Operation& done);
  /// The result of one that is done. The program may ask once.
  [[nodiscard]] AgreedValue take_value(AgreementNumber number);

  /// A packet of another member.
  void on_agreement(std::uint32_t process, AgreementNumber number, const AgreementMessage& message);
  /// A process has failed, or perhaps left MPI.
  void poll_members();
  /// All communicators know of all failures that are known here.
  void failures_ended();

  /// Notifies members of the revocation: those at distances of 1, 2, 4 and so on,
  /// skipping those that have failed.
  void spread_revocation();
  /// The nearest one of these, which may be another now.
  void spread_revocation_to_next();

  /// Some agreement needs this process, or this process needs one.
  [[nodiscard]] bool active() const noexcept;
  /// Others may still ask for results.
  [[nodiscard]] bool has_results() const noexcept { return !instances_.empty(); }

 private:
  struct Instance final : AgreementPort {
    Instance(CommRecovery& owner, AgreementNumber its_number)
        : home(owner),
          number(its_number),
          agreement(*this, owner.members_.size(), owner.members_.self()) {}

    void send(std::uint32_t to, const AgreementMessage& message) override;
    [[nodiscard]] bool is_out(std::uint32_t member) const override { return home.is_out(member); }
    [[nodiscard]] RankSet failed() const override { return home.failed(); }
    [[nodiscard]] std::uint32_t oldest_open() const override { return home.oldest_open(); }
    void all_decided_below(std::uint32_t call) override;

    CommRecovery& home;
    AgreementNumber number;
    Agreement agreement;
    device::Operation* done = nullptr;  ///< of the call, until it is completed
    bool taken = false;                 ///< the program has the result
    bool keeps_finalize = false;        ///< counted as an unattended operation of the device
  };

  [[nodiscard]] bool is_out(std::uint32_t member) const;
  [[nodiscard]] RankSet failed() const;
  [[nodiscard]] RankSet acknowledged() const;
  [[nodiscard]] std::uint32_t oldest_open() const noexcept;
  Instance& instance(AgreementNumber number);
  void settle(Instance& one);
  void complete(Instance& one);
  void note_failed(const AgreedValue& value);
  void forget_decided();
  /// The first member at or after `distance` from the own one that is not out; the own one: none.
  [[nodiscard]] std::uint32_t living_member(std::uint32_t distance) const;
  void send_revocation(std::uint32_t member);

  Recovery& owner_;
  Comm* comm_;
  Members members_;
  std::array<std::uint32_t, 2> contexts_;
  std::uint32_t calls_ = 0;
  std::uint32_t decided_below_ = 0;  ///< calls before that are decided in all members
  std::map<AgreementNumber, Instance> instances_;
};

}  // namespace fulmar::mpi
