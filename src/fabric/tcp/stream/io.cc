// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/stream/io.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

namespace fulmar::fabric::tcp {
namespace {

/// A call with one piece is cheaper without the message header.
template <class Plain, class Message>
ssize_t call(std::span<const iovec> pieces, Plain plain, Message message) noexcept {
  for (;;) {
    ssize_t moved = 0;
    if (pieces.size() == 1) {
      moved = plain(pieces[0]);
    } else {
      msghdr header{};
      header.msg_iov = const_cast<iovec*>(pieces.data());
      header.msg_iovlen = pieces.size();
      moved = message(header);
    }
    if (moved >= 0) return moved;
    if (errno != EINTR) return -errno;
  }
}

}  // namespace

ssize_t SystemIo::write(int socket, std::span<const iovec> pieces, Next next) noexcept {
  const int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (next == Next::more ? MSG_MORE : 0);
  return call(
      pieces,
      [&](const iovec& piece) { return ::send(socket, piece.iov_base, piece.iov_len, flags); },
      [&](const msghdr& header) { return ::sendmsg(socket, &header, flags); });
}

ssize_t SystemIo::read(int socket, std::span<const iovec> pieces) noexcept {
  return call(
      pieces,
      [&](const iovec& piece) {
        return ::recv(socket, piece.iov_base, piece.iov_len, MSG_DONTWAIT);
      },
      [&](msghdr& header) { return ::recvmsg(socket, &header, MSG_DONTWAIT); });
}

/// To say once more that nothing is to wait has what waits leave.
void SystemIo::push(int socket) noexcept {
  const int on = 1;
  (void)::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace fulmar::fabric::tcp
