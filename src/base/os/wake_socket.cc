// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/os/wake_socket.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fulmar::base {
namespace {

/// The kernel's own names: a zero byte and five hexadecimal digits.
constexpr std::size_t digits = 5;
constexpr socklen_t name_bytes = offsetof(sockaddr_un, sun_path) + 1 + digits;
/// In a name, so that none is 0.
constexpr std::uint32_t valid = 1U << 31;

/// The queue of a datagram socket has about ten entries; only a hostile sender fills it faster than
/// this.
constexpr int most_drained = 16;

sockaddr_un address_of(std::uint32_t name) noexcept {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::array<char, digits + 1> text{};
  std::snprintf(text.data(), text.size(), "%05x", name & 0xfffff);
  std::memcpy(address.sun_path + 1, text.data(), digits);
  return address;
}

}  // namespace

Result<WakeSocket> WakeSocket::open() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  socklen_t length = sizeof address;
  if (socket.get() < 0 ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(sa_family_t)) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &length) != 0 ||
      length != name_bytes) {
    return failure(ErrorClass::other,
                   "no socket to be woken by (%s); raise the limit on open files (ulimit -n)",
                   std::strerror(errno));
  }
  std::array<char, digits + 1> text{};
  std::memcpy(text.data(), address.sun_path + 1, digits);
  const auto number = static_cast<std::uint32_t>(std::strtoul(text.data(), nullptr, 16));
  return WakeSocket(std::move(socket), number | valid);
}

void WakeSocket::ring(std::uint32_t name) const noexcept {
  if (name == 0) return;
  const sockaddr_un address = address_of(name);
  const char byte = 0;
  // A full queue means that wake-ups are pending already.
  static_cast<void>(::sendto(socket_.get(), &byte, 1, MSG_DONTWAIT | MSG_NOSIGNAL,
                             reinterpret_cast<const sockaddr*>(&address), name_bytes));
}

void WakeSocket::drain() const noexcept {
  std::array<char, 8> bytes;
  for (int i = 0; i < most_drained; ++i) {
    if (::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) < 0) return;
  }
}

}  // namespace fulmar::base
