// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/process_address.h"

#include <array>

#include "wire/network_order.h"

namespace fulmar::wire {
namespace {

using base::ErrorClass;
using base::failure;

constexpr std::uint32_t magic = 0x46504131;  // "FPA1"

}  // namespace

base::Result<std::vector<std::byte>> encode_process_address(const ProcessName& process,
                                                            std::span<const std::byte> network) {
  if (network.empty() || network.size() > max_network_address_bytes) {
    return failure(ErrorClass::other,
                   "a network's address of %zu bytes cannot be announced, 1 to %zu can; name fewer "
                   "networks or interfaces (FULMAR_FABRIC, FULMAR_RAILS, FULMAR_TCP_INTERFACES)",
                   network.size(), max_network_address_bytes);
  }
  std::vector<std::byte> bytes(process_address_header_bytes + network.size());
  NetworkWriter out(bytes);
  out.number(magic);
  put_process_name(out, process);
  out.bytes(std::array<std::byte, 3>{});
  out.bytes(network);
  return bytes;
}

base::Result<ProcessAddress> decode_process_address(std::span<const std::byte> bytes) {
  NetworkReader in(bytes);
  const auto found = in.number<std::uint32_t>();
  if (found != magic || bytes.size() <= process_address_header_bytes ||
      bytes.size() > max_process_address_bytes) {
    return failure(ErrorClass::other,
                   "the address of a process (%zu bytes) is none of this version of Fulmar; use "
                   "the same version on all hosts",
                   bytes.size());
  }
  ProcessAddress address;
  address.process = get_process_name(in);
  std::array<std::byte, 3> zero;
  in.bytes(zero);
  if (address.process.job == 0 || zero != std::array<std::byte, 3>{}) {
    return failure(ErrorClass::other,
                   "the address of a process is damaged: its name makes no sense");
  }
  const auto network = bytes.subspan(process_address_header_bytes);
  address.network.assign(network.begin(), network.end());
  return address;
}

}  // namespace fulmar::wire
