// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/keyed_hash.h"
#include "base/os/fd.h"
#include "wire/port/port_handshake.h"
#include "wire/port/port_name.h"

namespace fulmar::runtime {

/// One side of a connection through a port: the handshake, then frames (wire/port/port_handshake.h). Never
/// blocks. Until the other side has proven the secret, it keeps nothing whose size the other side
/// chooses.
///
/// Thread rule: one thread at a time.
class PortStream {
 public:
  enum class Role : std::uint8_t { caller, answerer };

  /// `socket` is non-blocking, and connected or, of a caller, connecting. Nothing was read or written.
  PortStream(base::UniqueFd socket, Role role, const base::KeyedHash& hash,
             const wire::PortSecret& secret);
  PortStream(PortStream&&) noexcept = default;
  PortStream& operator=(PortStream&&) noexcept = default;

  /// Reads and writes what can be read and written now. Fails (port) with what is wrong: the connection
  /// has ended or was refused, or the other side does not know the secret. It is of no use then: each
  /// further step fails in the same way, and nothing more is read.
  [[nodiscard]] base::Error step();

  /// Both sides have proven that they know the secret.
  [[nodiscard]] bool proven() const noexcept { return stage_ == Stage::frames; }
  /// After a step that failed: the other side is a stranger, which speaks something else or does not
  /// know the secret. No: the connection has ended.
  [[nodiscard]] bool was_stranger() const noexcept { return stranger_; }

  /// Sends a message as soon as both sides have proven the secret. At most
  /// wire::max_port_frame_bytes.
  void send(std::span<const std::byte> message);
  /// The next message that has come completely.
  [[nodiscard]] std::optional<std::vector<std::byte>> take();
  /// Something waits to be written.
  [[nodiscard]] bool has_unsent() const noexcept { return !out_.empty(); }

  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }
  /// What poll() is to wait for.
  [[nodiscard]] short events() const noexcept;

 private:
  enum class Stage : std::uint8_t { connecting, hello, challenge, proof, frames };

  [[nodiscard]] base::Error advance();
  void queue(std::span<const std::byte> bytes);
  [[nodiscard]] bool queue_frame(std::span<const std::byte> message);
  [[nodiscard]] base::Error connected();
  [[nodiscard]] base::Error write();
  [[nodiscard]] base::Error read();
  [[nodiscard]] base::Error understand();
  [[nodiscard]] base::Error hello_arrived();
  [[nodiscard]] base::Error challenge_arrived();
  [[nodiscard]] base::Error proof_arrived();
  [[nodiscard]] base::Error frame_arrived();
  [[nodiscard]] base::Error strange(const char* what);
  [[nodiscard]] base::Error begin_frames();
  /// Nothing, or false, where the library of the hash refuses.
  [[nodiscard]] std::optional<base::Mac> proof_of(wire::PortStep step) const;
  [[nodiscard]] bool proves(const base::Mac& mac, wire::PortStep step) const;
  [[nodiscard]] bool apply_pads(const base::Key& key, std::uint64_t frame,
                                std::span<std::byte> body) const;
  [[nodiscard]] std::optional<base::Mac> frame_mac(const base::Key& key, std::uint64_t frame,
                                                   std::span<const std::byte> framed) const;
  [[nodiscard]] std::size_t awaited_bytes() const noexcept;

  base::UniqueFd socket_;
  Role role_;
  Stage stage_;
  base::KeyedHash hash_;
  base::Key secret_{};
  base::Key send_key_{};
  base::Key receive_key_{};
  wire::PortNonce caller_nonce_{};
  wire::PortNonce answerer_nonce_{};
  bool stranger_ = false;
  base::Error failure_;  ///< of the step that failed
  bool hash_refuses_ = false;
  std::uint64_t sent_frames_ = 0;
  std::uint64_t received_frames_ = 0;
  std::vector<std::byte> in_;                ///< of the message that is awaited
  std::vector<std::byte> out_;               ///< not yet written
  std::deque<std::vector<std::byte>> kept_;  ///< messages that wait for the end of the handshake
  std::deque<std::vector<std::byte>> arrived_;
};

}  // namespace fulmar::runtime
