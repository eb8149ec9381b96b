// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/types.h>
#include <sys/uio.h>

#include <span>

namespace fulmar::fabric::tcp {

/// The system calls of the data path. Tests put their own in between, which count them, cut them
/// short and let them fail.
class Io {
 public:
  Io() = default;
  Io(const Io&) = delete;
  Io& operator=(const Io&) = delete;
  virtual ~Io() = default;

  /// Whether `push`, or another write, comes next: then the end of this one, what fills no segment
  /// of the network, may wait for that. It does not wait for longer than for the acknowledgement of
  /// what left before it.
  enum class Next : bool { unknown, more };

  /// Both move bytes between the socket and at least one piece, never wait and raise no signal.
  /// Return the number of bytes, 0 for the peer's end (read), or -errno; EINTR does not show.
  virtual ssize_t write(int socket, std::span<const iovec> pieces, Next next) noexcept = 0;
  virtual ssize_t read(int socket, std::span<const iovec> pieces) noexcept = 0;
  /// What waits for more leaves.
  virtual void push(int socket) noexcept = 0;
};

class SystemIo final : public Io {
 public:
  ssize_t write(int socket, std::span<const iovec> pieces, Next next) noexcept override;
  ssize_t read(int socket, std::span<const iovec> pieces) noexcept override;
  void push(int socket) noexcept override;
};

}  // namespace fulmar::fabric::tcp
