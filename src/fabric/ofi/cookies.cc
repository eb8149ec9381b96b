// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/cookies.h"

#include <algorithm>
#include <array>
#include <span>

#include "wire/network_order.h"
#include "wire/ofi/ofi_packet.h"

namespace fulmar::fabric::ofi {

std::uint64_t pair_cookie(const base::KeyedHash& hash, const base::Key& key,
                          const wire::ProcessName& from, const wire::ProcessName& to) noexcept {
  constexpr std::array<char, 16> purpose = {'f', 'u', 'l', 'm', 'a', 'r', ' ', 'o',
                                            'f', 'i', ' ', 'p', 'a', 'i', 'r', '\0'};
  std::array<std::byte, purpose.size() + 4 + 2 * wire::process_name_bytes> input;
  wire::NetworkWriter out(input);
  out.bytes(std::as_bytes(std::span(purpose)));
  out.number(wire::ofi_version);
  wire::put_process_name(out, from);
  wire::put_process_name(out, to);
  base::Mac mac;
  if (!hash.mac(key, input, mac)) return 0;
  wire::NetworkReader in(mac);
  return std::max<std::uint64_t>(in.number<std::uint64_t>(), 1);
}

}  // namespace fulmar::fabric::ofi
