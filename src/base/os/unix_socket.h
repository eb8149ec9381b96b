// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/socket.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "base/os/fd.h"

/// Unix sockets by which processes of one node find each other and pass memory files: no socket
/// files, and the kernel identifies the peer.
namespace fulmar::base {

/// A name in the abstract name space: it belongs to a network name space, lies in no file system,
/// and ends with its socket.
class AbstractAddress {
 public:
  static constexpr std::size_t most_bytes = sizeof(sockaddr_un::sun_path) - 1;

  /// Bytes beyond `most_bytes` are dropped.
  explicit AbstractAddress(std::string_view name) noexcept;

  [[nodiscard]] const sockaddr* get() const noexcept {
    return reinterpret_cast<const sockaddr*>(&address_);
  }
  [[nodiscard]] socklen_t size() const noexcept { return size_; }

 private:
  sockaddr_un address_{};
  socklen_t size_;
};

/// The credentials of the peer, which called connect() or listen(). Nothing, and errno, if the
/// kernel does not report them.
[[nodiscard]] std::optional<ucred> peer_of(int socket) noexcept;

/// Of a message and one descriptor. `bytes` is the answer of the system call, with errno.
struct Passed {
  ssize_t bytes = -1;
  UniqueFd descriptor;  ///< closed on exec; not valid if none came, or none could be opened
};

/// Sends a message and with it a descriptor (-1: none). `flags` of sendmsg(); never SIGPIPE.
/// Returns what sendmsg() does.
[[nodiscard]] ssize_t send_with_descriptor(int socket, std::span<const std::byte> message,
                                           int descriptor, int flags) noexcept;
/// Receives a message and at most one descriptor. `flags` of recvmsg(). The kernel closes
/// descriptors beyond the first.
[[nodiscard]] Passed receive_with_descriptor(int socket, std::span<std::byte> message,
                                             int flags) noexcept;

}  // namespace fulmar::base
