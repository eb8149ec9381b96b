// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/keyed_hash.h"
#include "fabric/process_table.h"
#include "wire/tcp/tcp_handshake.h"

namespace fulmar::fabric::tcp {

/// One side of the handshake of wire/tcp/tcp_handshake.h, a state machine without socket and clock. It never
/// reads more bytes than the handshake has, so that what follows stays in the socket, and stores nothing
/// whose size the other side chooses.
class Handshake {
 public:
  /// The names and keys of this process and its peers. Outlives the handshake.
  struct Identity {
    base::KeyedHash hash;
    Processes processes;
  };

  enum class State : std::uint8_t {
    waiting,   ///< for bytes: those of room()
    greeted,   ///< answerer: the hello is meant for this rank; call answer()
    choosing,  ///< the peer is authenticated and this side decides: call choose(), or close
    done,      ///< both are authenticated and this connection is used, once outgoing() is empty
    failed,    ///< see problem(); what is outgoing() may be sent before the socket is closed
  };
  enum class Problem : std::uint8_t {
    none,
    garbage,      ///< another protocol
    version,      ///< another version of Fulmar
    other_job,    ///< a hello of a job that is not known here, or to another one
    wrong_rank,   ///< of a known job, but not the process that was connected to
    wrong_proof,  ///< without the key, or a replay
    taken,        ///< the other side has a connection for this lane already
    given_up,     ///< the other side has given up connecting
    internal,     ///< the library of KeyedHash has failed
  };

  /// The side that has connected. Its hello is outgoing() at once.
  static Handshake caller(const Identity& identity, std::uint32_t peer, std::uint16_t lane,
                          std::uint16_t from_port, std::uint16_t to_port);
  /// The side that has accepted, at `own_port`.
  static Handshake answerer(const Identity& identity, std::uint16_t own_port);

  [[nodiscard]] State state() const noexcept { return state_; }
  [[nodiscard]] Problem problem() const noexcept { return problem_; }
  /// Whether any valid message has come from the other side.
  [[nodiscard]] bool heard() const noexcept { return step_ != Step::hello; }
  /// Whether the next message is the other side's decision: it may be using this connection already.
  [[nodiscard]] bool awaits_decision() const noexcept {
    const Step last = role_ == Role::caller ? Step::verdict : Step::proof;
    return state_ == State::waiting && step_ == last && !decides();
  }
  /// Whether a message from the other side has begun and is not complete.
  [[nodiscard]] bool in_message() const noexcept { return filled_ != 0; }
  /// The id of the peer: for the caller the process it connects to; for the answerer, once `greeted`, the one
  /// that the hello names.
  [[nodiscard]] std::uint32_t peer() const noexcept { return peer_; }
  [[nodiscard]] std::uint16_t lane() const noexcept { return hello_.lane; }

  /// Where the next bytes go; empty unless `waiting`.
  [[nodiscard]] std::span<std::byte> room() noexcept;
  /// The first `count` bytes of room() have been written.
  void received(std::size_t count) noexcept;
  /// Bytes to send.
  [[nodiscard]] std::span<const std::byte> outgoing() const noexcept;
  void sent(std::size_t count) noexcept { out_begin_ += count; }

  /// Requires `greeted`.
  void answer(wire::TcpAnswer answer) noexcept;
  /// Requires `choosing`: this connection shall be used.
  void choose() noexcept;

 private:
  enum class Step : std::uint8_t { hello, challenge, proof, verdict, end };

  explicit Handshake(const Identity& identity) noexcept : identity_(&identity) {}
  void hello_arrived(std::span<const std::byte> bytes) noexcept;
  void challenge_arrived(std::span<const std::byte> bytes) noexcept;
  void proof_arrived(std::span<const std::byte> bytes) noexcept;
  void verdict_arrived(std::span<const std::byte> bytes) noexcept;
  void fail(Problem problem) noexcept;
  void send_proof() noexcept;
  void send(std::span<const std::byte> bytes) noexcept;
  [[nodiscard]] bool mac(wire::TcpProofOf step, wire::TcpAnswer answer, base::Mac& out) noexcept;
  [[nodiscard]] bool proves(wire::TcpProofOf step, wire::TcpAnswer answer,
                            const base::Mac& mac) noexcept;
  /// Whether this side decides which connection is used.
  [[nodiscard]] bool decides() const noexcept {
    return role_ == Role::caller ? hello_.from < hello_.to : hello_.to < hello_.from;
  }

  const Identity* identity_;
  std::uint32_t peer_ = 0;
  State state_ = State::waiting;
  Problem problem_ = Problem::none;
  Step step_ = Step::hello;  ///< what is awaited
  enum class Role : std::uint8_t { caller, answerer } role_ = Role::caller;
  std::uint16_t own_port_ = 0;
  std::size_t filled_ = 0;
  std::size_t out_begin_ = 0;
  std::size_t out_end_ = 0;
  wire::TcpHello hello_{};
  wire::TcpNonce nonce_{};  ///< of the answerer
  std::array<std::byte, wire::max_tcp_step_bytes> in_{};
  std::array<std::byte, wire::max_tcp_step_bytes> out_{};
};

/// "it does not know the key of the job"; for a peer that was called.
const char* text_of(Handshake::Problem problem) noexcept;

}  // namespace fulmar::fabric::tcp
