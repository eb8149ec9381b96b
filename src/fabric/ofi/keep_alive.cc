// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/keep_alive.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace fulmar::fabric::ofi {
namespace {

/// The length of a socket address of IPv4 or IPv6; 0 for anything else.
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

/// Errors for a host that does not answer; the last ones are ICMP errors received meanwhile.
bool is_silence(int error) noexcept {
  return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH;
}

}  // namespace

/// The connection ends within 7 s if the host does not answer, or within the configured time.
void KeepAlive::keep_alive() const noexcept {
  const auto set = [this](int level, int name, int value) {
    (void)::setsockopt(socket_.get(), level, name, &value, sizeof value);
  };
  const bool brief = dead_after_ms_ != 0;
  set(SOL_SOCKET, SO_KEEPALIVE, 1);
  set(IPPROTO_TCP, TCP_KEEPIDLE, brief ? 1 : 2);
  set(IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set(IPPROTO_TCP, TCP_KEEPCNT,
      brief ? std::max(static_cast<int>(dead_after_ms_ / 1000) - 1, 1) : 5);
}

void KeepAlive::set_dead_after(std::uint32_t ms) noexcept {
  dead_after_ms_ = ms;
  if (socket_.valid()) keep_alive();
}

KeepAlive::Sign KeepAlive::step(std::span<const std::byte> address, std::int64_t now_ns,
                                Hold hold) noexcept {
  if (is_open_ && socket_.valid()) {
    const int why = ending();
    if (why == 0) return Sign::alive;
    socket_.reset();
    if (is_silence(why)) return Sign::silent;  // the kernel has retried
  }
  if (unanswered_since_ns_ == 0) unanswered_since_ns_ = now_ns;
  int error = socket_.valid() ? EINPROGRESS : call(address);
  if (error == EINPROGRESS) error = answer();
  return judge(error, now_ns, hold);
}

int KeepAlive::call(std::span<const std::byte> address) noexcept {
  is_open_ = false;
  sockaddr_storage storage{};
  const socklen_t length = length_of(address, storage);
  if (length == 0) return EAFNOSUPPORT;
  socket_.reset(::socket(storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket_.valid()) return errno;
  keep_alive();
  const auto* const to = reinterpret_cast<const sockaddr*>(&storage);
  return ::connect(socket_.get(), to, length) == 0 ? EINPROGRESS : errno;
}

/// 0: connected, EINPROGRESS: not yet.
int KeepAlive::answer() const noexcept {
  pollfd waiting{socket_.get(), POLLOUT, 0};
  if (::poll(&waiting, 1, 0) <= 0) return EINPROGRESS;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

/// Data from the other side are never read.
int KeepAlive::ending() const noexcept {
  std::byte byte{};
  const ssize_t count = ::recv(socket_.get(), &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
  if (count == 0) return ECONNRESET;
  return count > 0 || errno == EAGAIN || errno == EINTR ? 0 : errno;
}

KeepAlive::Sign KeepAlive::judge(int error, std::int64_t now_ns, Hold hold) noexcept {
  if (error == 0) {
    is_open_ = was_answered_ = true;
    refusals_ = 0;
    unanswered_since_ns_ = 0;
    if (hold == Hold::no) socket_.reset();
    return Sign::alive;
  }
  if (error != EINPROGRESS) socket_.reset();
  if (error == ECONNREFUSED && ++refusals_ >= certain_refusals) return Sign::refused;
  const bool brief = dead_after_ms_ != 0;
  const std::int64_t longest_ns =
      brief ? dead_after_ms_ * std::int64_t{1'000'000} : longest_silence_ns;
  const bool counts = was_answered_ || brief;
  return counts && now_ns - unanswered_since_ns_ >= longest_ns ? Sign::silent : Sign::unknown;
}

}  // namespace fulmar::fabric::ofi
