// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/spawn/launch_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/os/unix_socket.h"
#include "runtime/spawn/socket_wait.h"

namespace fulmar::runtime {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using wire::LaunchAnswer;
using wire::LaunchKind;

Error lost(const char* why) {
  return failure(ErrorClass::other,
                 "the mpiexec that serves this process (%s) cannot be asked: %s; is it alive?",
                 wire::env_launch_socket, why);
}

std::uint64_t end_after(int limit_ms) {
  return base::now_ns() + static_cast<std::uint64_t>(limit_ms) * ns_per_ms;
}

}  // namespace

base::Result<LaunchClient> LaunchClient::connect(std::string_view address,
                                                 const wire::LaunchHello& self) {
  const auto parsed = wire::parse_launch_address(address);
  if (!parsed) {
    return failure(ErrorClass::other,
                   "%s has a value that mpiexec does not give; let it reach the "
                   "program unchanged",
                   wire::env_launch_socket);
  }
  base::UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const base::AbstractAddress name(parsed->name);
  if (!fd.valid() || ::connect(fd.get(), name.get(), name.size()) != 0) {
    return lost(std::strerror(errno));
  }
  const auto peer = base::peer_of(fd.get());
  if (!peer.has_value() || peer->uid != ::geteuid()) return lost("it is another user's");
  wire::LaunchHello hello = self;
  hello.secret = parsed->secret;
  return open(std::move(fd), hello);
}

base::Result<LaunchClient> LaunchClient::open(base::UniqueFd socket,
                                              const wire::LaunchHello& self) {
  LaunchClient client;
  client.socket_ = std::move(socket);
  const std::string hello = encode_frame(LaunchKind::hello, 0, encode_body(self));
  if (const Error error = client.send(hello, name_limit_ms); error.failed()) return error;
  return client;
}

Error LaunchClient::send(std::string_view frame, int limit_ms) {
  const std::uint64_t end = end_after(limit_ms);
  while (!frame.empty()) {
    const ssize_t bytes =
        ::send(socket_.get(), frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (bytes >= 0) {
      frame.remove_prefix(static_cast<std::size_t>(bytes));
    } else if (errno == EAGAIN) {
      if (!wait_for_socket(socket_.get(), POLLOUT, end)) return lost("it takes no requests");
    } else if (errno != EINTR) {
      return lost(std::strerror(errno));
    }
  }
  return {};
}

/// What comes within the time, at least once what is there already.
Error LaunchClient::receive(int limit_ms) {
  const std::uint64_t end = end_after(limit_ms);
  std::array<char, 16384> piece;
  while (true) {
    const ssize_t bytes = ::recv(socket_.get(), piece.data(), piece.size(), MSG_DONTWAIT);
    if (bytes == 0) return lost("it has closed the connection");
    if (bytes > 0) {
      reader_.append({piece.data(), static_cast<std::size_t>(bytes)});
      return take_frames();
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return lost(std::strerror(errno));
    if (!wait_for_socket(socket_.get(), POLLIN, end)) return lost("it does not answer in time");
  }
}

Error LaunchClient::take_frames() {
  while (true) {
    auto frame = reader_.next();
    if (frame.failed()) return frame.error();
    if (!frame.value().has_value()) return {};
    const wire::LaunchFrame& came = *frame.value();
    if (came.kind == LaunchKind::answer) {
      auto answer = wire::decode_answer(came.body);
      if (!answer) return lost("its answer cannot be read");
      if (came.request == last_request_) answers_[came.request] = std::move(*answer);
    } else if (came.kind == LaunchKind::job_ended) {
      const auto ended = wire::decode_job_ended(came.body);
      const auto watched = ended ? watched_.find(ended->parent_port) : watched_.end();
      if (watched != watched_.end()) watched->second = ended->exit_code;
    }
  }
}

base::Result<LaunchAnswer> LaunchClient::ask(LaunchKind kind, std::string_view body, int limit_ms) {
  if (!socket_.valid()) return lost("the connection was closed after an error");
  if (body.size() > wire::launch_body_limit) {
    return failure(ErrorClass::other,
                   "a request of %zu bytes is longer than %zu, which mpiexec takes", body.size(),
                   wire::launch_body_limit);
  }
  const std::uint32_t request = ++last_request_;
  const std::uint64_t end = end_after(limit_ms);
  Error error = send(encode_frame(kind, request, body), limit_ms);
  while (error.ok()) {
    if (auto answer = answers_.extract(request); !answer.empty()) return std::move(answer.mapped());
    const std::uint64_t now = base::now_ns();
    error = receive(now >= end ? 0 : static_cast<int>((end - now) / ns_per_ms));
  }
  socket_.reset();
  return error;
}

const int* LaunchClient::job_ended(std::string_view parent_port) {
  pollfd entry{socket_.get(), POLLIN, 0};
  while (socket_.valid() && ::poll(&entry, 1, 0) > 0) {
    if (receive(0).failed()) socket_.reset();
  }
  const auto found = watched_.find(parent_port);
  return found == watched_.end() || !found->second ? nullptr : &*found->second;
}

void LaunchClient::watch(std::string_view parent_port) {
  watched_.insert_or_assign(std::string(parent_port), std::nullopt);
}

void LaunchClient::forget(std::string_view parent_port) {
  const auto found = watched_.find(parent_port);
  if (found != watched_.end()) watched_.erase(found);
}

void LaunchClient::say_bye() noexcept {
  if (!socket_.valid()) return;
  (void)send(encode_frame(LaunchKind::bye, 0), 1000);
  socket_.reset();
}

}  // namespace fulmar::runtime
