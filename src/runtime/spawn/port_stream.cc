// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/spawn/port_stream.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "wire/network_order.h"

namespace fulmar::runtime {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using wire::PortStep;

constexpr std::size_t block_bytes = 32;
constexpr std::size_t most_read_bytes = 65536;
constexpr const char* refusal = "the library for HMAC-SHA-256 refuses its service";

Error ended(const char* how) {
  return failure(ErrorClass::port, "the connection through the port has ended: %s", how);
}

base::Key key_of(const base::Mac& mac) {
  base::Key key;
  std::memcpy(key.data(), mac.data(), key.size());
  return key;
}

std::uint32_t length_of(std::span<const std::byte> frame) {
  wire::NetworkReader in(frame);
  return in.number<std::uint32_t>();
}

}  // namespace

PortStream::PortStream(base::UniqueFd socket, Role role, const base::KeyedHash& hash,
                       const wire::PortSecret& secret)
    : socket_(std::move(socket)),
      role_(role),
      stage_(role == Role::caller ? Stage::connecting : Stage::hello),
      hash_(hash) {
  std::copy(secret.begin(), secret.end(), secret_.begin());
}

short PortStream::events() const noexcept {
  const bool writes = stage_ == Stage::connecting || has_unsent();
  return static_cast<short>(POLLIN | (writes ? POLLOUT : 0));
}

Error PortStream::step() {
  if (failure_.ok()) failure_ = advance();
  return failure_;
}

Error PortStream::advance() {
  if (stage_ == Stage::connecting) {
    if (const Error error = connected(); error.failed()) return error;
    if (stage_ == Stage::connecting) return {};
  }
  if (hash_refuses_) return ended(refusal);
  if (const Error error = write(); error.failed()) return error;
  if (const Error error = read(); error.failed()) return error;
  return write();
}

/// Whether the connection is there.
Error PortStream::connected() {
  pollfd place{socket_.get(), POLLOUT, 0};
  if (::poll(&place, 1, 0) <= 0) return {};
  int problem = 0;
  socklen_t size = sizeof problem;
  ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &problem, &size);
  if (problem != 0) return ended(std::strerror(problem));
  if (!hash_.random(caller_nonce_)) return ended("the system has no random numbers");
  stage_ = Stage::challenge;
  queue(wire::encode_port_hello({wire::port_version, caller_nonce_}));
  return {};
}

void PortStream::queue(std::span<const std::byte> bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
}

Error PortStream::write() {
  while (!out_.empty()) {
    const ssize_t sent = ::send(socket_.get(), out_.data(), out_.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return {};
    if (sent < 0) return ended(std::strerror(errno));
    out_.erase(out_.begin(), out_.begin() + sent);
  }
  return {};
}

/// Of what is awaited now, as far as that is known: nothing that follows is read with it.
std::size_t PortStream::awaited_bytes() const noexcept {
  switch (stage_) {
    case Stage::hello:
      return wire::port_hello_bytes;
    case Stage::challenge:
      return wire::port_challenge_bytes;
    case Stage::proof:
      return wire::port_proof_bytes;
    default:
      break;
  }
  if (in_.size() < wire::port_frame_header_bytes) return wire::port_frame_header_bytes;
  return wire::port_frame_header_bytes + length_of(in_) + wire::port_frame_mac_bytes;
}

Error PortStream::read() {
  while (true) {
    const std::size_t before = in_.size();
    const std::size_t wanted = std::min(awaited_bytes() - before, most_read_bytes);
    in_.resize(before + wanted);
    const ssize_t got = ::recv(socket_.get(), &in_[before], wanted, 0);
    const int problem = errno;
    in_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && problem == EINTR) continue;
    if (got < 0 && (problem == EAGAIN || problem == EWOULDBLOCK)) return {};
    if (got < 0) return ended(std::strerror(problem));
    if (got == 0) return ended("the other side has closed it");
    if (const Error error = understand(); error.failed()) return error;
  }
}

Error PortStream::understand() {
  if (stage_ == Stage::frames && in_.size() == wire::port_frame_header_bytes &&
      length_of(in_) > wire::max_port_frame_bytes) {
    return ended("it announces more than can come");
  }
  if (stage_ == Stage::hello && in_.size() >= sizeof(std::uint32_t) &&
      !wire::begins_port_hello(in_)) {
    return strange("it speaks something else than Fulmar");
  }
  if (in_.size() < awaited_bytes()) return {};
  Error error;
  switch (stage_) {
    case Stage::hello:
      error = hello_arrived();
      break;
    case Stage::challenge:
      error = challenge_arrived();
      break;
    case Stage::proof:
      error = proof_arrived();
      break;
    default:
      error = frame_arrived();
  }
  in_.clear();
  return error;
}

Error PortStream::strange(const char* what) {
  stranger_ = true;
  return failure(ErrorClass::port, "%s", what);
}

std::optional<base::Mac> PortStream::proof_of(PortStep step) const {
  base::Mac mac;
  const auto text = wire::port_transcript(step, caller_nonce_, answerer_nonce_);
  if (!hash_.mac(secret_, text, mac)) return std::nullopt;
  return mac;
}

bool PortStream::proves(const base::Mac& mac, PortStep step) const {
  const auto expected = proof_of(step);
  return expected && hash_.equal(mac, *expected);
}

Error PortStream::hello_arrived() {
  const auto hello = wire::decode_port_hello(in_);
  if (!hello) return strange("it speaks something else than Fulmar");
  if (hello->version != wire::port_version) return strange("it is another version of Fulmar");
  caller_nonce_ = hello->nonce;
  if (!hash_.random(answerer_nonce_)) return ended("the system has no random numbers");
  stage_ = Stage::proof;
  const auto proof = proof_of(PortStep::challenge);
  if (!proof) return ended(refusal);
  queue(wire::encode_port_challenge({wire::port_version, answerer_nonce_, *proof}));
  return {};
}

Error PortStream::challenge_arrived() {
  const auto challenge = wire::decode_port_challenge(in_);
  if (!challenge) return strange("what listens there is no port of Fulmar");
  if (challenge->version != wire::port_version) return strange("it is another version of Fulmar");
  answerer_nonce_ = challenge->nonce;
  if (!proves(challenge->mac, PortStep::challenge)) {
    return strange("the port that listens there has another secret");
  }
  const auto proof = proof_of(PortStep::proof);
  if (!proof) return ended(refusal);
  queue(*proof);
  return begin_frames();
}

Error PortStream::proof_arrived() {
  base::Mac proof;
  std::copy(in_.begin(), in_.end(), proof.begin());
  if (!proves(proof, PortStep::proof)) return strange("it does not know the secret");
  return begin_frames();
}

Error PortStream::begin_frames() {
  const auto caller = proof_of(PortStep::frames_of_caller);
  const auto answerer = proof_of(PortStep::frames_of_answerer);
  if (!caller || !answerer) return ended(refusal);
  send_key_ = key_of(role_ == Role::caller ? *caller : *answerer);
  receive_key_ = key_of(role_ == Role::caller ? *answerer : *caller);
  stage_ = Stage::frames;
  for (const auto& message : std::exchange(kept_, {})) send(message);
  return {};
}

bool PortStream::apply_pads(const base::Key& key, std::uint64_t frame,
                            std::span<std::byte> body) const {
  for (std::size_t block = 0; block * block_bytes < body.size(); ++block) {
    base::Mac pad;
    if (!hash_.mac(key, wire::port_pad_text(frame, block), pad)) return false;
    const std::size_t begin = block * block_bytes;
    const std::size_t count = std::min(block_bytes, body.size() - begin);
    for (std::size_t i = 0; i < count; ++i) body[begin + i] ^= pad[i];
  }
  return true;
}

std::optional<base::Mac> PortStream::frame_mac(const base::Key& key, std::uint64_t frame,
                                               std::span<const std::byte> framed) const {
  std::vector<std::byte> text(sizeof frame + framed.size());
  wire::NetworkWriter out(text);
  out.number(frame);
  out.bytes(framed);
  base::Mac mac;
  if (!hash_.mac(key, text, mac)) return std::nullopt;
  return mac;
}

void PortStream::send(std::span<const std::byte> message) {
  if (stage_ == Stage::frames) {
    hash_refuses_ = hash_refuses_ || !queue_frame(message);
  } else {
    kept_.emplace_back(message.begin(), message.end());
  }
}

bool PortStream::queue_frame(std::span<const std::byte> message) {
  std::vector<std::byte> framed(wire::port_frame_header_bytes + message.size());
  wire::NetworkWriter out(framed);
  out.number(static_cast<std::uint32_t>(message.size()));
  out.bytes(message);
  const auto body = std::span(framed).subspan(wire::port_frame_header_bytes);
  if (!apply_pads(send_key_, sent_frames_, body)) return false;
  const auto mac = frame_mac(send_key_, sent_frames_, framed);
  if (!mac) return false;
  queue(framed);
  queue(*mac);
  ++sent_frames_;
  return true;
}

Error PortStream::frame_arrived() {
  const auto framed = std::span(in_).first(in_.size() - wire::port_frame_mac_bytes);
  base::Mac mac;
  std::copy(in_.end() - wire::port_frame_mac_bytes, in_.end(), mac.begin());
  const auto expected = frame_mac(receive_key_, received_frames_, framed);
  if (!expected || !hash_.equal(mac, *expected)) return ended("what came was changed on its way");
  const auto body = framed.subspan(wire::port_frame_header_bytes);
  if (!apply_pads(receive_key_, received_frames_, body)) return ended(refusal);
  ++received_frames_;
  arrived_.emplace_back(body.begin(), body.end());
  return {};
}

std::optional<std::vector<std::byte>> PortStream::take() {
  if (arrived_.empty()) return std::nullopt;
  std::vector<std::byte> message = std::move(arrived_.front());
  arrived_.pop_front();
  return message;
}

}  // namespace fulmar::runtime
