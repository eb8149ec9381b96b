// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/bootstrap/segment_server.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/os/unix_socket.h"
#include "runtime/join_socket.h"

namespace fulmar::runtime::bootstrap {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;

/// How long to wait for a client's hello, which it sends with its connect.
constexpr int visit_limit_s = 2;
/// How long to wait for the leader's answers: it may wait for the slow start of another rank.
constexpr int leader_limit_s = 120;

/// How often to try again while the process has no descriptor left for a client.
constexpr int pause_ms = 10;

Error socket_failure(const char* step, int reason) {
  return failure(ErrorClass::other,
                 "the ranks of this node cannot meet on a Unix socket: %s: %s; raise the limit of "
                 "open files (ulimit -n) if it is low",
                 step, std::strerror(reason == EAGAIN ? ETIMEDOUT : reason));
}

base::AbstractAddress address_of(const wire::NodeInfo& card) noexcept {
  return base::AbstractAddress(wire::node_socket_name(card));
}

void set_patience(int socket, int seconds) {
  const timeval patience{seconds, 0};
  ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

bool same_user(int socket) {
  const auto peer = base::peer_of(socket);
  return peer.has_value() && peer->uid == ::geteuid();
}

/// All of it, or false with errno; 0 at an end before it was complete.
bool read_all(int socket, void* to, std::size_t bytes) {
  auto* at = static_cast<std::byte*>(to);
  while (bytes > 0) {
    const ssize_t got = ::recv(socket, at, bytes, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = 0;
    if (got <= 0) return false;
    at += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_all(int socket, const void* from, std::size_t bytes) {
  const auto* at = static_cast<const std::byte*>(from);
  while (bytes > 0) {
    const ssize_t sent = ::send(socket, at, bytes, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return false;
    at += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

Error leader_failure(std::uint32_t leader, const char* step) {
  return failure(ErrorClass::other,
                 "rank %u, which makes this node's shared memory, %s: %s; look for its own message",
                 leader, step, errno == 0 ? "it has closed the connection" : std::strerror(errno));
}

}  // namespace

Result<std::unique_ptr<SegmentServer>> SegmentServer::make() {
  wire::NodeInfo card;
  if (::getrandom(card.name.data(), card.name.size(), 0) !=
          static_cast<ssize_t>(card.name.size()) ||
      ::getrandom(card.secret.data(), card.secret.size(), 0) !=
          static_cast<ssize_t>(card.secret.size())) {
    return socket_failure("getrandom", errno);
  }
  base::UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!listener.valid()) return socket_failure("socket", errno);
  const base::AbstractAddress address = address_of(card);
  if (::bind(listener.get(), address.get(), address.size()) != 0) {
    return socket_failure("bind", errno);
  }
  if (::listen(listener.get(), SOMAXCONN) != 0) return socket_failure("listen", errno);
  return std::make_unique<SegmentServer>(std::move(listener), card);
}

SegmentServer::~SegmentServer() { (void)close(); }

Error SegmentServer::open(std::uint32_t job, std::uint32_t self,
                          std::span<const std::uint32_t> expected) {
  job_ = job;
  self_ = self;
  for (const std::uint32_t rank : expected) {
    if (rank != self) awaited_.push_back(rank);
  }
  if (awaited_.empty()) return {};
  stop_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!stop_.valid()) return socket_failure("eventfd", errno);
  // This thread must not handle the program's signals.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const auto main = [](void* server) -> void* {
    static_cast<SegmentServer*>(server)->serve();
    return nullptr;
  };
  const int error = ::pthread_create(&thread_, nullptr, main, this);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  running_ = error == 0;
  return running_ ? Error{} : socket_failure("pthread_create", error);
}

void SegmentServer::serve() {
  while (!awaited_.empty()) {
    std::array<pollfd, 2> ready = {{{listener_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}}};
    if (::poll(ready.data(), ready.size(), -1) < 0 && errno != EINTR) return;
    // Clients that connected before the stop are still accepted: they count where the fence has
    // ended.
    base::UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (client.valid()) {
      accept_client(std::move(client));
    } else if (ready[1].revents != 0) {
      return;
    } else if (errno == EMFILE || errno == ENFILE) {
      (void)::poll(&ready[1], 1, pause_ms);  // the client stays ready: not a loop without end
    }
  }
}

void SegmentServer::accept_client(base::UniqueFd socket) {
  if (!same_user(socket.get())) return;
  set_patience(socket.get(), visit_limit_s);
  wire::NodeHello hello;
  if (!read_all(socket.get(), &hello, sizeof hello) || !wire::is_ours(hello)) return;
  if (hello.job != job_) return;
  const auto place = std::find(awaited_.begin(), awaited_.end(), hello.info.rank);
  if (place == awaited_.end() || !wire::same_secret(hello.secret, card_.secret)) return;
  wire::NodeWelcome answer;
  answer.rank = self_;
  if (!write_all(socket.get(), &answer, sizeof answer)) return;
  awaited_.erase(place);
  set_patience(socket.get(), leader_limit_s);
  clients_.push_back({hello.info, std::move(socket)});
}

std::vector<SegmentServer::Client> SegmentServer::close() {
  if (std::exchange(running_, false)) {
    const std::uint64_t one = 1;
    (void)!::write(stop_.get(), &one, sizeof one);
    ::pthread_join(thread_, nullptr);
  }
  listener_.reset();
  std::sort(clients_.begin(), clients_.end(),
            [](const Client& a, const Client& b) { return a.info.rank < b.info.rank; });
  return std::move(clients_);
}

Error send_segment(int socket, int segment, std::span<const std::uint32_t> members) {
  wire::NodeGrant message;
  message.member_count = static_cast<std::uint32_t>(members.size());
  ssize_t sent = 0;
  do {
    sent = base::send_with_descriptor(socket, std::as_bytes(std::span(&message, 1)), segment, 0);
  } while (sent < 0 && errno == EINTR);
  if (sent != static_cast<ssize_t>(sizeof message) ||
      !write_all(socket, members.data(), members.size_bytes())) {
    return socket_failure("send", errno);
  }
  return {};
}

Result<base::UniqueFd> request_segment(const wire::NodeInfo& card, std::uint32_t leader,
                                       std::uint32_t job, const wire::RankInfo& info) {
  base::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return socket_failure("socket", errno);
  set_patience(socket.get(), leader_limit_s);
  const base::AbstractAddress address = address_of(card);
  int result = 0;
  do {
    result = ::connect(socket.get(), address.get(), address.size());
  } while (result != 0 && errno == EINTR);
  if (result != 0 && errno != ECONNREFUSED && errno != EPERM && errno != EACCES) {
    return socket_failure("connect", errno);
  }
  if (result != 0 || !same_user(socket.get())) return base::UniqueFd();
  wire::NodeHello hello;
  hello.job = job;
  hello.info = info;
  hello.secret = card.secret;
  wire::NodeWelcome answer;
  errno = 0;
  if (!write_all(socket.get(), &hello, sizeof hello) ||
      !read_all(socket.get(), &answer, sizeof answer)) {
    // The user as the leader's user name space numbers it: elsewhere it may be another number.
    if (errno == 0 || errno == EPIPE || errno == ECONNRESET) return base::UniqueFd();
    return leader_failure(leader, "does not answer");
  }
  if (wire::is_ours(answer) && answer.rank == leader) return socket;
  errno = EPROTO;
  return leader_failure(leader, "answers wrongly");
}

Result<Granted> receive_grant(int socket, std::uint32_t leader, std::uint32_t size) {
  wire::NodeGrant message;
  base::Passed passed;
  do {
    passed = base::receive_with_descriptor(socket, std::as_writable_bytes(std::span(&message, 1)),
                                           MSG_WAITALL);
  } while (passed.bytes < 0 && errno == EINTR);
  if (passed.bytes == 0) errno = 0;
  if (passed.bytes != static_cast<ssize_t>(sizeof message)) {
    return leader_failure(leader, "does not share it");
  }
  Granted granted;
  granted.segment = std::move(passed.descriptor);
  if (!wire::is_ours(message) || message.member_count < 2 || message.member_count > size ||
      !is_sealed_memory(granted.segment.get())) {
    errno = EPROTO;
    return leader_failure(leader, "shares something else");
  }
  granted.members.resize(message.member_count);
  if (!read_all(socket, granted.members.data(), granted.members.size() * sizeof(std::uint32_t))) {
    return leader_failure(leader, "does not share it");
  }
  return granted;
}

}  // namespace fulmar::runtime::bootstrap
