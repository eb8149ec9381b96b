// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/cookies.h"

#include <algorithm>
#include <array>
#include <span>

#include "wire/network_order.h"

namespace fulmar::fabric::ofi {

std::uint64_t PairCookies::of(std::uint32_t from, std::uint32_t to) const noexcept {
  constexpr std::array<char, 16> purpose = {'f', 'u', 'l', 'm', 'a', 'r', ' ', 'o',
                                            'f', 'i', ' ', 'p', 'a', 'i', 'r', '\0'};
  std::array<std::byte, purpose.size() + 16> input;
  wire::NetworkWriter out(input);
  out.bytes(std::as_bytes(std::span(purpose)));
  out.number(job_id_);
  out.number(from);
  out.number(to);
  base::Mac mac;
  if (!hash_.mac(key_, input, mac)) return 0;
  wire::NetworkReader in(mac);
  return std::max<std::uint64_t>(in.number<std::uint64_t>(), 1);
}

}  // namespace fulmar::fabric::ofi
