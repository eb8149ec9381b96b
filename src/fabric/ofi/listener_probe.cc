// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/listener_probe.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fulmar::fabric::ofi {

namespace {

/// The length of what may be connected to; 0 for anything else.
socklen_t length_of(std::span<const std::byte> address, sockaddr_storage& storage) noexcept {
  if (address.size() < sizeof(sa_family_t)) return 0;
  std::memcpy(&storage, address.data(), std::min(address.size(), sizeof storage));
  if (storage.ss_family == AF_INET && address.size() >= sizeof(sockaddr_in)) {
    return sizeof(sockaddr_in);
  }
  if (storage.ss_family == AF_INET6 && address.size() >= sizeof(sockaddr_in6)) {
    return sizeof(sockaddr_in6);
  }
  return 0;
}

}  // namespace

void ListenerProbe::begin(std::span<const std::byte> address) noexcept {
  answer_ = Answer::maybe;
  socket_.reset();
  sockaddr_storage storage{};
  const socklen_t length = length_of(address, storage);
  if (length == 0) return;
  socket_.reset(::socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_.valid()) return;
  if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&storage), length) == 0) {
    socket_.reset();
  } else if (errno != EINPROGRESS) {
    if (errno == ECONNREFUSED) answer_ = Answer::nobody;
    socket_.reset();
  }
}

ListenerProbe::Answer ListenerProbe::look() noexcept {
  if (!socket_.valid()) return answer_;
  pollfd waiting{socket_.get(), POLLOUT, 0};
  if (::poll(&waiting, 1, 0) == 0) return Answer::pending;
  int error = 0;
  socklen_t size = sizeof error;
  const bool known = ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0;
  answer_ = known && error == ECONNREFUSED ? Answer::nobody : Answer::maybe;
  socket_.reset();
  return answer_;
}

}  // namespace fulmar::fabric::ofi
