// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_Comm_join: each side opens a port for the occasion and tells its name over the program's socket; the
// side whose name is the greater one connects to the other's port.
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "runtime/spawn/port_wait.h"
#include "runtime/spawn/ports.h"
#include "wire/port/join_greeting.h"

namespace fulmar::runtime {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

/// "The socket is quiescent" (MPI 5.0 section 11.10.4): nothing else is under way on it.
class Greeting {
 public:
  Greeting(int socket, device::Device& device, const mpi::GiveUp& give_up)
      : socket_(socket), wait_(device, give_up) {}

  Error send(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
      if (const Error error = settle(sent, POLLOUT); error.failed()) return error;
      if (sent > 0) bytes = bytes.subspan(static_cast<std::size_t>(sent));
    }
    return {};
  }
  Error receive(std::span<std::byte> bytes) {
    while (!bytes.empty()) {
      const ssize_t got = ::recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got == 0) return failure(ErrorClass::port, "argument fd: the other side has closed it");
      if (const Error error = settle(got, POLLIN); error.failed()) return error;
      if (got > 0) bytes = bytes.subspan(static_cast<std::size_t>(got));
    }
    return {};
  }

 private:
  Error settle(ssize_t moved, short events) {
    if (moved >= 0 || errno == EINTR) return {};
    if (errno != EAGAIN && errno != EWOULDBLOCK) {
      return failure(ErrorClass::port, "argument fd: descriptor %d: %s", socket_,
                     std::strerror(errno));
    }
    pollfd place{socket_, events, 0};
    return wait_.pause({&place, 1});
  }

  int socket_;
  PortWait wait_;
};

Error check_socket(int socket) {
  int kind = 0;
  socklen_t size = sizeof kind;
  const bool is_stream =
      ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &kind, &size) == 0 && kind == SOCK_STREAM;
  sockaddr_storage peer{};
  size = sizeof peer;
  if (is_stream && ::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &size) == 0) return {};
  return failure(ErrorClass::arg,
                 "argument fd: descriptor %d is no connected stream socket (%s); connect it first",
                 socket, is_stream ? std::strerror(errno) : "it is something else");
}

}  // namespace

base::Result<Ports::Met> Ports::join(int socket, std::span<const std::byte> first,
                                     const mpi::GiveUp& give_up) {
  if (const Error error = check_socket(socket); error.failed()) return error;
  const auto own = open({});
  if (own.failed()) return own.error();
  auto met = greet(socket, own.value(), first, give_up);
  if (const Error error = close(own.value()); error.failed() && met.ok()) return error;
  return met;
}

base::Result<Ports::Met> Ports::greet(int socket, const std::string& own,
                                      std::span<const std::byte> first,
                                      const mpi::GiveUp& give_up) {
  Greeting greeting(socket, around_.device, give_up);
  if (const Error error = greeting.send(wire::encode_join_greeting(own)); error.failed()) {
    return error;
  }
  std::vector<std::byte> bytes(wire::join_greeting_header_bytes);
  if (const Error error = greeting.receive(bytes); error.failed()) return error;
  const auto length = wire::join_greeting_length(bytes);
  if (length.failed()) return length.error();
  bytes.resize(length.value());
  if (const Error error = greeting.receive(bytes); error.failed()) return error;
  const std::string theirs(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (theirs == own) {
    return failure(ErrorClass::arg, "argument fd: descriptor %d leads to this call itself", socket);
  }
  return own < theirs ? accept(own, first, give_up) : connect(theirs, {}, first, give_up);
}

}  // namespace fulmar::runtime
