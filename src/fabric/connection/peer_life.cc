// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/connection/peer_life.h"

namespace fulmar::fabric {

void PeerLife::start() noexcept {
  had_left_ = has_left_;
  has_left_ = gone_ = false;
  unreachable_.clear();
  state_ = State::connecting;
}

void PeerLife::open() noexcept {
  const bool has_said_fin = state_ == State::connecting && has_left_;
  state_ = has_said_fin ? State::closing : State::open;
  has_left_ = has_said_fin;
  gone_ = gone_ && has_said_fin;
  had_left_ = false;
  unreachable_.clear();
  failed_starts_ = 0;
}

std::uint32_t PeerLife::fail_start() noexcept {
  state_ = State::absent;
  has_left_ = has_left_ || had_left_;
  return ++failed_starts_;
}

void PeerLife::on_fin(Leaving how, const LifeRules& rules) noexcept {
  if (state_ == State::lost) return;
  if (state_ != State::connecting) state_ = State::closing;
  has_left_ = true;
  gone_ = how == Leaving::for_good || !rules.peers_return;
}

bool PeerLife::close() noexcept {
  if (state_ == State::lost) return true;
  if (!has_left_) return false;
  state_ = State::closed;
  return true;
}

bool PeerLife::give_up(const base::Error& why, const LifeRules& rules) {
  if (state_ != State::absent && state_ != State::asked) return true;
  const bool has_ended = has_left_ || why.error_class() == base::ErrorClass::proc_aborted;
  if (!has_ended || !rules.peers_return) return false;
  state_ = State::absent;
  gone_ = true;
  unreachable_ = why.text();
  return true;
}

bool PeerLife::lose(const base::Error& why) {
  if (state_ == State::lost) return false;
  state_ = State::lost;
  why_ = why;
  return true;
}

Admission PeerLife::admit_absent(wire::PacketKind kind, const LifeRules& rules) const noexcept {
  if (rules.leaving || state_ == State::lost) return Admission::drop;
  if ((has_left_ || gone_) && wire::is_about_flow(kind)) return Admission::drop;
  if (gone_ && wire::is_about_withdrawal(kind)) return Admission::drop;
  if (has_left_ && !rules.peers_return) return Admission::never_returns;
  if (state_ != State::absent) return Admission::wait;
  return unreachable_.empty() ? Admission::connect : Admission::unreachable;
}

base::Error PeerLife::absence_error(std::uint32_t peer) const {
  if (unreachable_.empty()) return left_error(peer, "it does not come back");
  return has_left_ ? left_error(peer, unreachable_.c_str()) : unmet_error(unreachable_.c_str());
}

}  // namespace fulmar::fabric
