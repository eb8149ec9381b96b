// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/os/unix_socket.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace fulmar::base {
namespace {

/// A message of one piece with room for one descriptor; the piece and the room outlive it.
struct Message {
  explicit Message(iovec piece) noexcept : piece_(piece) {
    header_.msg_iov = &piece_;
    header_.msg_iovlen = 1;
    header_.msg_control = room_.data();
    header_.msg_controllen = CMSG_LEN(sizeof(int));  // the padding would take a second one
  }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;

  [[nodiscard]] msghdr& header() noexcept { return header_; }

  void attach(int descriptor) noexcept {
    if (descriptor < 0) {
      header_.msg_control = nullptr;
      header_.msg_controllen = 0;
      return;
    }
    cmsghdr* const entry = CMSG_FIRSTHDR(&header_);
    entry->cmsg_level = SOL_SOCKET;
    entry->cmsg_type = SCM_RIGHTS;
    entry->cmsg_len = CMSG_LEN(sizeof descriptor);
    std::memcpy(CMSG_DATA(entry), &descriptor, sizeof descriptor);
  }
  [[nodiscard]] int attached() const noexcept {
    const cmsghdr* const entry = CMSG_FIRSTHDR(&header_);
    int descriptor = -1;
    if (entry != nullptr && entry->cmsg_level == SOL_SOCKET && entry->cmsg_type == SCM_RIGHTS &&
        entry->cmsg_len == CMSG_LEN(sizeof descriptor)) {
      std::memcpy(&descriptor, CMSG_DATA(entry), sizeof descriptor);
    }
    return descriptor;
  }

 private:
  iovec piece_;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> room_{};
  msghdr header_{};
};

}  // namespace

AbstractAddress::AbstractAddress(std::string_view name) noexcept {
  const std::size_t bytes = std::min(name.size(), most_bytes);
  address_.sun_family = AF_UNIX;
  std::copy_n(name.begin(), bytes, address_.sun_path + 1);  // a leading zero: no file
  size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + bytes);
}

std::optional<ucred> peer_of(int socket) noexcept {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) return std::nullopt;
  return peer;
}

ssize_t send_with_descriptor(int socket, std::span<const std::byte> message, int descriptor,
                             int flags) noexcept {
  // sendmsg() only reads.
  Message sent({const_cast<std::byte*>(message.data()), message.size()});
  sent.attach(descriptor);
  return ::sendmsg(socket, &sent.header(), flags | MSG_NOSIGNAL);
}

Passed receive_with_descriptor(int socket, std::span<std::byte> message, int flags) noexcept {
  Message received({message.data(), message.size()});
  Passed passed;
  passed.bytes = ::recvmsg(socket, &received.header(), flags | MSG_CMSG_CLOEXEC);
  if (passed.bytes > 0) passed.descriptor.reset(received.attached());
  return passed;
}

}  // namespace fulmar::base
