// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/port/join_greeting.h"

#include "wire/network_order.h"
#include "wire/port/port_name.h"

namespace fulmar::wire {
namespace {

constexpr std::uint32_t magic = 0x464a4e31;  // "FJN1"

}  // namespace

std::vector<std::byte> encode_join_greeting(std::string_view port_name) {
  std::vector<std::byte> bytes(join_greeting_header_bytes + port_name.size());
  NetworkWriter out(bytes);
  out.number(magic);
  out.number(static_cast<std::uint16_t>(port_name.size()));
  out.bytes(std::as_bytes(std::span(port_name.data(), port_name.size())));
  return bytes;
}

base::Result<std::size_t> join_greeting_length(std::span<const std::byte> header) {
  NetworkReader in(header);
  const bool known =
      header.size() == join_greeting_header_bytes && in.number<std::uint32_t>() == magic;
  const std::size_t length = in.number<std::uint16_t>();
  if (known && length > 0 && length <= max_port_name_bytes) return length;
  return base::failure(
      base::ErrorClass::port,
      "argument fd: what came over it is not from MPI_Comm_join of Fulmar; both sides "
      "have to call it, with nothing else under way on the socket");
}

}  // namespace fulmar::wire
