// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/job_socket.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <span>

#include "base/os/unix_socket.h"
#include "wire/node/join.h"

namespace fulmar::mpiexec {
namespace {

constexpr std::int64_t refusal_pause_ns = ns_per_s;
/// How long the door stays closed when descriptors have run out.
constexpr std::int64_t shortage_pause_ns = 50 * ns_per_ms;
/// Connections looked at in one turn, so that a flood of them does not hold up the rest of mpiexec.
constexpr int turn_limit = 64;

/// Empty when there is no randomness.
std::string random_name() {
  std::array<std::uint8_t, 16> bits;
  if (::getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size())) return {};
  std::string name(wire::join_name_prefix);
  for (const std::uint8_t byte : bits) {
    name += "0123456789abcdef"[byte >> 4];
    name += "0123456789abcdef"[byte & 15];
  }
  return name;
}

bool bind_abstract(int fd, std::string_view name) {
  const base::AbstractAddress address(name);
  return ::bind(fd, address.get(), address.size()) == 0;
}

void send_message(int fd, const wire::JoinMessage& message, int passed_fd) {
  // A peer that has gone needs nothing.
  (void)base::send_with_descriptor(fd, std::as_bytes(std::span(&message, 1)), passed_fd,
                                   MSG_DONTWAIT);
}

/// The part that all versions of the exchange have, with the version.
constexpr std::size_t common_bytes = offsetof(wire::JoinMessage, rank);

}  // namespace

base::Error JobSocket::open() {
  const std::string name = random_name();
  base::UniqueFd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (name.empty() || !fd.valid() || !bind_abstract(fd.get(), name) ||
      ::listen(fd.get(), SOMAXCONN) != 0 ||
      !poller_.add(fd.get(), EPOLLIN, {SourceKind::door, 0})) {
    return base::failure(base::ErrorClass::other, "cannot listen on a Unix socket: %s",
                         std::strerror(errno));
  }
  listener_ = std::move(fd);
  name_ = name;
  return {};
}

JobSocket::Visitor* JobSocket::free_place() {
  const auto place = std::find_if(visitors_.begin(), visitors_.end(),
                                  [](const Visitor& visitor) { return !visitor.fd.valid(); });
  return place == visitors_.end() ? nullptr : &*place;
}

void JobSocket::on_door() {
  for (int turn = 0; turn < turn_limit; ++turn) {
    if (free_place() == nullptr) return close_door(never_ns);
    base::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (fd.valid()) {
      if (!admit(std::move(fd))) return close_door(now_ns() + shortage_pause_ns);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != ECONNABORTED && errno != EINTR) {
      return close_door(now_ns() + shortage_pause_ns);
    }
  }
}

/// False when the connection cannot be watched.
bool JobSocket::admit(base::UniqueFd fd) {
  const auto peer = base::peer_of(fd.get());
  if (!peer.has_value()) return true;
  if (peer->uid != ::geteuid() || !descends_from(peer->pid, roster_.sessions())) {
    say_refused(*peer);
    return true;
  }
  Visitor& visitor = *free_place();
  const auto index = static_cast<std::uint32_t>(&visitor - visitors_.data());
  if (!poller_.add(fd.get(), EPOLLIN, {SourceKind::visitor, index})) return false;
  visitor.fd = std::move(fd);
  visitor.deadline_ns = now_ns() + visit_limit_ns;
  return true;
}

void JobSocket::on_visitor(std::uint32_t index) {
  Visitor& visitor = visitors_[index];
  if (!visitor.fd.valid()) return;  // dismissed earlier in this turn
  if (answer(visitor.fd.get()) == Visit::over) dismiss(visitor);
}

/// One packet is one message, so it is complete or wrong. Descriptors that come with it are closed
/// by the kernel: there is no buffer for them. Nothing to read: the event was that of an earlier
/// visitor in the same place.
JobSocket::Visit JobSocket::answer(int fd) {
  std::array<char, sizeof(wire::JoinMessage) + 1> packet;
  const ssize_t bytes = ::recv(fd, packet.data(), packet.size(), MSG_DONTWAIT);
  if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) return Visit::goes_on;
  wire::JoinMessage hello;
  if (bytes < static_cast<ssize_t>(common_bytes)) return Visit::over;
  std::memcpy(&hello, packet.data(), std::min(sizeof hello, static_cast<std::size_t>(bytes)));
  if (hello.magic != wire::join_magic) return Visit::over;
  if (hello.version != wire::join_version) {
    send_message(fd, wire::join_message(wire::JoinStep::refused), -1);
    return Visit::over;
  }
  const auto peer = base::peer_of(fd);
  const bool valid = bytes == static_cast<ssize_t>(sizeof hello) &&
                     hello.rank < generations_.rank_count() && peer.has_value();
  if (!valid) return Visit::over;
  const Generations::Answer answer = generations_.admit(hello.rank, peer->pid);
  if (answer.error.failed()) output_.say("mpiexec: " + answer.error.text());
  send_message(fd, wire::join_message(answer.step, hello.rank, answer.holder), answer.fd);
  return Visit::over;
}

void JobSocket::dismiss(Visitor& visitor) {
  poller_.remove(visitor.fd.get());
  visitor.fd.reset();
  visitor.deadline_ns = never_ns;
  if (closed_until_ns_ == never_ns) reopen_door();
}

void JobSocket::say_refused(const ucred& peer) {
  const std::int64_t now = now_ns();
  if (now < quiet_until_ns_) return;
  quiet_until_ns_ = now + refusal_pause_ns;
  output_.say("mpiexec: refused to let process " + std::to_string(peer.pid) + " of user " +
              std::to_string(peer.uid) + " into the job: " +
              (peer.uid == ::geteuid() ? "no rank has started it" : "it is another user's"));
}

void JobSocket::close_door(std::int64_t until_ns) {
  closed_until_ns_ = until_ns;
  poller_.change(listener_.get(), 0, {SourceKind::door, 0});
}

void JobSocket::reopen_door() {
  closed_until_ns_ = 0;
  poller_.change(listener_.get(), EPOLLIN, {SourceKind::door, 0});
}

std::int64_t JobSocket::deadline() const {
  std::int64_t first = closed_until_ns_ == 0 ? never_ns : closed_until_ns_;
  for (const Visitor& visitor : visitors_) first = std::min(first, visitor.deadline_ns);
  return first;
}

void JobSocket::on_time(std::int64_t now) {
  for (Visitor& visitor : visitors_) {
    if (now >= visitor.deadline_ns) dismiss(visitor);
  }
  if (closed_until_ns_ != 0 && now >= closed_until_ns_) reopen_door();
}

}  // namespace fulmar::mpiexec
