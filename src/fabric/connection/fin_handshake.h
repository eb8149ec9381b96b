// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <utility>

#include "fabric/connection/sequence.h"

namespace fulmar::fabric {

/// How one connection ends in good order. Each side says FIN behind everything else that it sends,
/// and answers the other's FIN by FIN_ACK once it has taken everything before it. Closing without the
/// answer could make the system, or the adapter, throw away what the other side has not read.
///
/// This class keeps what is due and what was said; the network sends it. There is one for each
/// connection (tcp has several to a peer), and for each pair where there is no connection (ofi,
/// bundle).
class FinHandshake {
 public:
  // --- the own FIN

  /// This process leaves: a FIN is due, unless it was sent.
  void leave() noexcept { fin_due_ = !fin_sent_; }
  /// The FIN need not be sent: the peer has left before, and waits for nothing.
  void waive_fin() noexcept { fin_due_ = false; }
  /// `number`: its place in what is sent to the peer, where that is numbered.
  void note_fin_sent(std::uint32_t number = 0) noexcept {
    fin_due_ = false;
    fin_sent_ = true;
    number_ = number;
  }
  [[nodiscard]] bool fin_due() const noexcept { return fin_due_; }
  [[nodiscard]] bool fin_sent() const noexcept { return fin_sent_; }
  /// Of the FIN that was sent.
  [[nodiscard]] std::uint32_t fin_number() const noexcept { return number_; }
  /// FIN_ACK has come. One that answers nothing changes nothing.
  void on_fin_ack() noexcept { fin_acknowledged_ = fin_sent_; }
  /// An acknowledgement has come: it covers the FIN if that has a number before it.
  void on_acknowledgement(const SendSequence& sent) noexcept {
    if (fin_sent_ && static_cast<std::int32_t>(sent.acknowledged() - number_) > 0) {
      fin_acknowledged_ = true;
    }
  }
  [[nodiscard]] bool fin_acknowledged() const noexcept { return fin_acknowledged_; }

  // --- the peer's FIN

  /// The peer's FIN has come, and with it everything before it: an answer is due. `number`: as for
  /// note_fin_sent. False: it had come before, and nothing changes.
  bool on_fin(std::uint32_t number = 0) noexcept {
    if (std::exchange(fin_received_, true)) return false;
    peer_number_ = number;
    ack_due_ = true;
    return true;
  }
  [[nodiscard]] bool fin_received() const noexcept { return fin_received_; }
  [[nodiscard]] std::uint32_t peer_fin_number() const noexcept { return peer_number_; }
  [[nodiscard]] bool ack_due() const noexcept { return ack_due_; }
  void note_ack_sent() noexcept { ack_due_ = false; }

  // --- both

  [[nodiscard]] bool owes_anything() const noexcept { return fin_due_ || ack_due_; }
  /// The peer has everything and says so, and it knows that this side has what it sent.
  [[nodiscard]] bool complete() const noexcept {
    return fin_sent_ && fin_acknowledged_ && !ack_due_;
  }

  // --- where the pair goes on after a FIN (ofi)

  /// This process is back: it has not said that it leaves.
  void restart() noexcept { fin_due_ = fin_sent_ = fin_acknowledged_ = false; }
  /// The peer is back. The answer to its FIN stays due.
  void peer_restarts() noexcept { fin_received_ = false; }

 private:
  std::uint32_t number_ = 0;
  std::uint32_t peer_number_ = 0;
  bool fin_due_ = false;
  bool fin_sent_ = false;
  bool fin_acknowledged_ = false;
  bool fin_received_ = false;
  bool ack_due_ = false;
};

}  // namespace fulmar::fabric
