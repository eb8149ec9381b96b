// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/verbs/qp_exchange.h"

#include <algorithm>

namespace fulmar::fabric::verbs {

QpExchange::QpExchange(const wire::VerbsConnectionInfo& own, const wire::ProcessName& peer) noexcept
    : own_(own), peer_(peer) {
  const auto info = wire::encode_verbs_card(own);
  std::copy(info.begin(), info.end(), out_.begin());
  out_end_ = info.size();
}

std::span<std::byte> QpExchange::room() noexcept {
  if (state_ != State::waiting) return {};
  const std::size_t bytes = has_info_ ? wire::verbs_ready_bytes : wire::verbs_info_bytes;
  return std::span(in_).first(bytes).subspan(filled_);
}

void QpExchange::received(std::size_t count) noexcept {
  const std::size_t missing = room().size();
  filled_ += std::min(count, missing);
  if (missing == 0 || count < missing) return;
  const auto bytes = std::span<const std::byte>(in_).first(filled_);
  filled_ = 0;
  if (has_info_) {
    state_ = wire::is_verbs_ready(bytes) ? State::done : State::invalid;
    return;
  }
  const auto info = wire::decode_verbs_card(bytes);
  const bool good = info && info->from == peer_ && info->link == own_.link;
  if (good) theirs_ = *info;
  has_info_ = good;
  state_ = good ? State::received : State::invalid;
}

void QpExchange::connected() noexcept {
  if (state_ != State::received) return;
  state_ = State::waiting;
  const auto word = wire::verbs_ready();
  std::copy(word.begin(), word.end(), out_.begin() + static_cast<std::ptrdiff_t>(out_end_));
  out_end_ += word.size();
}

std::span<const std::byte> QpExchange::outgoing() const noexcept {
  return std::span(out_).first(out_end_).subspan(out_begin_);
}

}  // namespace fulmar::fabric::verbs
