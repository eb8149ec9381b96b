// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/names/server.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "wire/launch/launch_message.h"

namespace fulmar::names {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using wire::NamesStep;

/// What a client may leave unread.
constexpr std::size_t most_unsent_bytes = std::size_t{1} << 20;
/// How often connections that do not prove the key are looked at.
constexpr int look_ms = 500;

void append(std::string& out, std::span<const std::byte> bytes) {
  out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

/// A host that is gone loses its names within a minute.
void keep_alive(int socket) {
  const int on = 1;
  const int seconds = 20;
  const int probes = 2;
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
  ::setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

}  // namespace

Error Session::take(std::string_view bytes, std::string& out) {
  if (step_ == Step::open) {
    channel_->append(bytes);
    return answer_all(out);
  }
  unread_ += bytes;
  if (step_ == Step::hello) {
    if (unread_.size() < wire::names_hello_bytes) return {};
    if (Error error = challenge(out); error.failed()) return error;
  }
  if (unread_.size() < wire::names_proof_bytes) return {};
  if (Error error = check_proof(); error.failed()) return error;
  return answer_all(out);
}

Error Session::challenge(std::string& out) {
  const auto nonce =
      wire::decode_names_hello(std::string_view(unread_).substr(0, wire::names_hello_bytes));
  if (!nonce) return failure(ErrorClass::other, "it sends no hello");
  client_ = *nonce;
  if (!hash_.random(server_)) return failure(ErrorClass::other, "there are no random numbers");
  const auto proof = names_mac(hash_, key_, NamesStep::server_proof, client_, server_);
  if (!proof) return failure(ErrorClass::other, "hashing is refused");
  append(out, server_);
  append(out, *proof);
  unread_.erase(0, wire::names_hello_bytes);
  step_ = Step::proof;
  return {};
}

Error Session::check_proof() {
  const auto expected = names_mac(hash_, key_, NamesStep::client_proof, client_, server_);
  const auto session = names_mac(hash_, key_, NamesStep::session_key, client_, server_);
  base::Mac shown{};
  std::memcpy(shown.data(), unread_.data(), shown.size());
  if (!expected || !session || !hash_.equal(*expected, shown)) {
    return failure(ErrorClass::other, "it does not know the key");
  }
  channel_.emplace(hash_, *session, wire::NamesChannel::Side::server);
  channel_->append(std::string_view(unread_).substr(wire::names_proof_bytes));
  unread_.clear();
  step_ = Step::open;
  return {};
}

Error Session::answer_all(std::string& out) {
  while (true) {
    auto record = channel_->next();
    if (record.failed()) return record.error();
    if (!record->has_value()) return {};
    wire::LaunchReader reader;
    reader.append(**record);
    auto frame = reader.next();
    if (frame.failed() || !frame->has_value())
      return failure(ErrorClass::other, "it sends no frame");
    if ((*frame)->kind == wire::LaunchKind::hello) {
      const auto hello = wire::decode_hello((*frame)->body);
      if (!hello) return failure(ErrorClass::other, "it sends no hello");
      publisher_.job = hello->job;
      continue;
    }
    const auto answer = wire::answer_about_name(table_, **frame, publisher_);
    if (answer.failed()) return answer.error();
    auto sealed = channel_->seal(
        encode_frame(wire::LaunchKind::answer, (*frame)->request, encode_body(answer.value())));
    if (sealed.failed()) return sealed.error();
    out += sealed.value();
  }
}

Error Server::listen(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  const int unknown =
      ::getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
  if (unknown != 0) {
    return failure(ErrorClass::other, "--listen %.200s: %s", host.c_str(), ::gai_strerror(unknown));
  }
  int reason = 0;
  for (const addrinfo* one = found; one != nullptr && !listener_.valid(); one = one->ai_next) {
    base::UniqueFd fd(::socket(one->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    if (fd.valid()) ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd.valid() && ::bind(fd.get(), one->ai_addr, one->ai_addrlen) == 0 &&
        ::listen(fd.get(), SOMAXCONN) == 0) {
      listener_ = std::move(fd);
    } else {
      reason = errno;
    }
  }
  ::freeaddrinfo(found);
  if (listener_.valid()) return {};
  return failure(ErrorClass::other, "cannot listen on %.200s:%s: %s", host.c_str(), port.c_str(),
                 std::strerror(reason));
}

std::uint16_t Server::port() const {
  sockaddr_storage address{};
  socklen_t bytes = sizeof address;
  ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &bytes);
  const bool six = address.ss_family == AF_INET6;
  return ntohs(six ? reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

std::size_t Server::strangers() const {
  std::size_t count = 0;
  for (const auto& [number, client] : clients_) count += client.session->proven() ? 0 : 1;
  return count;
}

void Server::accept_one() {
  base::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!fd.valid()) return;
  keep_alive(fd.get());
  const std::uint64_t number = next_++;
  clients_.emplace(number, Client{std::move(fd),
                                  std::make_unique<Session>(hash_, key_, table_, number),
                                  {},
                                  base::now_ns()});
}

/// False: the connection is to be closed.
bool Server::serve(Client& client, short events) const {
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0) {
    std::array<char, 4096> piece;
    const ssize_t bytes = ::recv(client.socket.get(), piece.data(), piece.size(), 0);
    if (bytes == 0 || (bytes < 0 && errno != EAGAIN && errno != EINTR)) return false;
    const std::string_view came(piece.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
    if (client.session->take(came, client.unsent).failed()) return false;
  }
  if (!client.unsent.empty()) {
    const ssize_t bytes =
        ::send(client.socket.get(), client.unsent.data(), client.unsent.size(), MSG_NOSIGNAL);
    if (bytes < 0 && errno != EAGAIN && errno != EINTR) return false;
    if (bytes > 0) client.unsent.erase(0, static_cast<std::size_t>(bytes));
  }
  return client.unsent.size() <= most_unsent_bytes;
}

void Server::run(int stop) {
  while (true) {
    const bool full = clients_.size() >= most_clients || strangers() >= most_strangers;
    std::vector<pollfd> entries = {{stop, POLLIN, 0},
                                   {listener_.get(), static_cast<short>(full ? 0 : POLLIN), 0}};
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, client] : clients_) {
      const short wanted = client.unsent.empty() ? POLLIN : POLLIN | POLLOUT;
      entries.push_back({client.socket.get(), wanted, 0});
      numbers.push_back(number);
    }
    if (::poll(entries.data(), entries.size(), strangers() > 0 ? look_ms : -1) < 0) continue;
    if (entries[0].revents != 0) return;
    if (entries[1].revents != 0) accept_one();
    const std::uint64_t now = base::now_ns();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      Client& client = clients_.at(numbers[i]);
      const short events = entries[i + 2].revents;
      const bool late = !client.session->proven() && now - client.since_ns > handshake_limit_ns;
      if (late || (events != 0 && !serve(client, events))) clients_.erase(numbers[i]);
    }
  }
}

}  // namespace fulmar::names
