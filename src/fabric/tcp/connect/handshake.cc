// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/connect/handshake.h"

#include <algorithm>

namespace fulmar::fabric::tcp {

using wire::TcpAnswer;
using wire::TcpProofOf;

namespace {

Handshake::Problem problem_of(TcpAnswer answer) {
  switch (answer) {
    case TcpAnswer::wrong_rank:
      return Handshake::Problem::wrong_rank;
    case TcpAnswer::taken:
      return Handshake::Problem::taken;
    case TcpAnswer::given_up:
      return Handshake::Problem::given_up;
    default:
      return Handshake::Problem::none;
  }
}

}  // namespace

Handshake Handshake::caller(const Identity& identity, std::uint32_t peer, std::uint16_t lane,
                            std::uint16_t from_port, std::uint16_t to_port) {
  Handshake handshake(identity);
  handshake.step_ = Step::challenge;
  wire::TcpHello& hello = handshake.hello_;
  handshake.peer_ = peer;
  hello.from = identity.processes->own_name();
  hello.to = identity.processes->name_of(peer).value_or(wire::ProcessName{});
  hello.lane = lane;
  hello.from_port = from_port;
  hello.to_port = to_port;
  if (!identity.hash.random(hello.nonce)) {
    handshake.fail(Problem::internal);
    return handshake;
  }
  handshake.send(wire::encode_tcp_hello(hello));
  return handshake;
}

Handshake Handshake::answerer(const Identity& identity, std::uint16_t own_port) {
  Handshake handshake(identity);
  handshake.role_ = Role::answerer;
  handshake.own_port_ = own_port;
  return handshake;
}

std::span<std::byte> Handshake::room() noexcept {
  if (state_ != State::waiting) return {};
  constexpr std::array<std::size_t, 5> bytes = {wire::tcp_hello_bytes, wire::tcp_challenge_bytes,
                                                wire::tcp_proof_bytes, wire::tcp_verdict_bytes, 0};
  return std::span(in_).first(bytes[static_cast<std::size_t>(step_)]).subspan(filled_);
}

void Handshake::received(std::size_t count) noexcept {
  const std::size_t missing = room().size();
  filled_ += std::min(count, missing);
  if (missing == 0 || count < missing) return;
  const auto bytes = std::span<const std::byte>(in_).first(filled_);
  filled_ = 0;
  switch (step_) {
    case Step::hello:
      return hello_arrived(bytes);
    case Step::challenge:
      return challenge_arrived(bytes);
    case Step::proof:
      return proof_arrived(bytes);
    default:
      return verdict_arrived(bytes);
  }
}

std::span<const std::byte> Handshake::outgoing() const noexcept {
  return std::span(out_).first(out_end_).subspan(out_begin_);
}

void Handshake::hello_arrived(std::span<const std::byte> bytes) noexcept {
  const auto hello = wire::decode_tcp_hello(bytes);
  if (!hello) return fail(Problem::garbage);
  if (hello->version != wire::tcp_version) {
    // The caller cannot verify it, but learns which version this is.
    send(wire::encode_tcp_challenge({}));
    return fail(Problem::version);
  }
  const ProcessTable& processes = *identity_->processes;
  const wire::ProcessName& own = processes.own_name();
  if (processes.key_of(hello->from.job) == nullptr || hello->to.job != own.job) {
    return fail(Problem::other_job);
  }
  const auto from = processes.id_of(hello->from);
  if (hello->to_port != own_port_ || !from) return fail(Problem::garbage);
  hello_ = *hello;
  peer_ = *from;
  step_ = Step::proof;
  if (hello->to != own || hello->from == own) return answer(TcpAnswer::wrong_rank);
  state_ = State::greeted;
}

void Handshake::answer(TcpAnswer answer) noexcept {
  wire::TcpChallenge challenge;
  challenge.answer = answer;
  if (!identity_->hash.random(nonce_)) return fail(Problem::internal);
  challenge.nonce = nonce_;
  if (!mac(TcpProofOf::challenge, answer, challenge.mac)) return fail(Problem::internal);
  send(wire::encode_tcp_challenge(challenge));
  state_ = State::waiting;
  if (answer != TcpAnswer::proceed) fail(problem_of(answer));
}

void Handshake::challenge_arrived(std::span<const std::byte> bytes) noexcept {
  const auto challenge = wire::decode_tcp_challenge(bytes);
  if (!challenge) return fail(Problem::garbage);
  if (challenge->version != wire::tcp_version) return fail(Problem::version);
  nonce_ = challenge->nonce;
  if (!proves(TcpProofOf::challenge, challenge->answer, challenge->mac)) {
    return fail(Problem::wrong_proof);
  }
  if (challenge->answer != TcpAnswer::proceed) return fail(problem_of(challenge->answer));
  step_ = Step::verdict;
  if (decides()) {
    state_ = State::choosing;
  } else {
    send_proof();
  }
}

void Handshake::send_proof() noexcept {
  base::Mac proof;
  if (!mac(TcpProofOf::proof, TcpAnswer::proceed, proof)) return fail(Problem::internal);
  send(proof);
}

void Handshake::proof_arrived(std::span<const std::byte> bytes) noexcept {
  base::Mac proof;
  std::copy(bytes.begin(), bytes.end(), proof.begin());
  if (!proves(TcpProofOf::proof, TcpAnswer::proceed, proof)) return fail(Problem::wrong_proof);
  step_ = Step::end;
  state_ = decides() ? State::choosing : State::done;
}

void Handshake::choose() noexcept {
  state_ = State::done;
  step_ = Step::end;
  if (role_ == Role::caller) return send_proof();
  wire::TcpVerdict verdict;
  if (!mac(TcpProofOf::verdict, verdict.answer, verdict.mac)) return fail(Problem::internal);
  send(wire::encode_tcp_verdict(verdict));
}

void Handshake::verdict_arrived(std::span<const std::byte> bytes) noexcept {
  const auto verdict = wire::decode_tcp_verdict(bytes);
  if (!verdict) return fail(Problem::garbage);
  if (!proves(TcpProofOf::verdict, verdict->answer, verdict->mac)) {
    return fail(Problem::wrong_proof);
  }
  if (verdict->answer != TcpAnswer::proceed) return fail(problem_of(verdict->answer));
  step_ = Step::end;
  state_ = State::done;
}

bool Handshake::mac(TcpProofOf step, TcpAnswer answer, base::Mac& out) noexcept {
  const wire::ProcessName& other = role_ == Role::caller ? hello_.to : hello_.from;
  const base::Key* const key = identity_->processes->key_of(other.job);
  return key != nullptr &&
         identity_->hash.mac(*key, wire::tcp_transcript(step, hello_, nonce_, answer), out);
}

bool Handshake::proves(TcpProofOf step, TcpAnswer answer, const base::Mac& mac) noexcept {
  base::Mac expected;
  return this->mac(step, answer, expected) && identity_->hash.equal(expected, mac);
}

void Handshake::fail(Problem problem) noexcept {
  state_ = State::failed;
  problem_ = problem;
}

void Handshake::send(std::span<const std::byte> bytes) noexcept {
  if (out_begin_ == out_end_) out_begin_ = out_end_ = 0;
  const std::size_t count = std::min(bytes.size(), out_.size() - out_end_);
  std::copy_n(bytes.begin(), count, out_.begin() + static_cast<std::ptrdiff_t>(out_end_));
  out_end_ += count;
}

const char* text_of(Handshake::Problem problem) noexcept {
  switch (problem) {
    case Handshake::Problem::garbage:
      return "something else than this job listens there";
    case Handshake::Problem::version:
      return "it is another version of Fulmar";
    case Handshake::Problem::other_job:
      return "it belongs to another job";
    case Handshake::Problem::wrong_rank:
      return "another rank listens there";
    case Handshake::Problem::wrong_proof:
      return "it does not know the key of this job";
    case Handshake::Problem::taken:
      return "it has a connection already";
    case Handshake::Problem::given_up:
      return "it has given up connecting";
    case Handshake::Problem::internal:
      return "the library for authentication has failed";
    default:
      return "no problem";
  }
}

}  // namespace fulmar::fabric::tcp
