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

  /// Both move bytes between the socket and at least one piece, never wait and raise no signal.
  /// Return the number of bytes, 0 for the peer's end (read), or -errno; EINTR does not show.
  virtual ssize_t write(int socket, std::span<const iovec> pieces) noexcept = 0;
  virtual ssize_t read(int socket, std::span<const iovec> pieces) noexcept = 0;
};

class SystemIo final : public Io {
 public:
  ssize_t write(int socket, std::span<const iovec> pieces) noexcept override;
  ssize_t read(int socket, std::span<const iovec> pieces) noexcept override;
};

}  // namespace fulmar::fabric::tcp
