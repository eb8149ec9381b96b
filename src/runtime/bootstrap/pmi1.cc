// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/bootstrap/pmi1.h"

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace fulmar::runtime::bootstrap {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using base::Result;
using wire::PmiLine;

constexpr long most_pmi_ranks = 1L << 24;

/// All ranks share one key space.
std::string space_key(std::uint32_t rank, std::string_view key) {
  return "fulmar." + std::to_string(rank) + "." + std::string(key);
}

bool is_own_name(const std::string& host) {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 && host == name.data();
}

Result<base::UniqueFd> connect_to(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  int unknown = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  // Containers and laptops often cannot resolve their own name, which launchers use nevertheless.
  if (unknown != 0 && is_own_name(host)) {
    unknown = ::getaddrinfo("127.0.0.1", port.c_str(), &hints, &found);
  }
  if (unknown != 0) {
    return failure(ErrorClass::other, "%s names the host \"%s\": %s", wire::env_pmi_port,
                   host.c_str(), ::gai_strerror(unknown));
  }
  base::UniqueFd fd;
  int reason = 0;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    fd.reset(::socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, 0));
    if (fd.valid() && ::connect(fd.get(), address->ai_addr, address->ai_addrlen) == 0) break;
    reason = errno;
    fd.reset();
  }
  ::freeaddrinfo(found);
  if (fd.valid()) return fd;
  return failure(ErrorClass::other, "the launcher at %s=%s:%s cannot be reached: %s",
                 wire::env_pmi_port, host.c_str(), port.c_str(), std::strerror(reason));
}

/// -1 where the variable is missing or no number.
long number_in_environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? -1 : wire::parse_decimal(text).value_or(-1);
}

}  // namespace

Result<std::unique_ptr<Bootstrap>> Pmi1::open_from_environment() {
  const long descriptor = number_in_environment(wire::env_pmi_fd);
  if (descriptor >= 0 && descriptor <= INT_MAX) {
    // Child processes of a rank must not use its connection.
    ::fcntl(static_cast<int>(descriptor), F_SETFD, FD_CLOEXEC);
    return open(
        base::UniqueFd(static_cast<int>(descriptor)),
        {number_in_environment(wire::env_pmi_rank), number_in_environment(wire::env_pmi_size), -1});
  }
  const char* port = std::getenv(wire::env_pmi_port);
  const std::string text = port == nullptr ? "" : port;
  const std::size_t colon = text.rfind(':');
  const long id = number_in_environment(wire::env_pmi_id);
  if (colon == std::string::npos || id < 0) {
    return failure(ErrorClass::other, "%s=%s must be host:port, with a number in %s",
                   wire::env_pmi_port, text.c_str(), wire::env_pmi_id);
  }
  auto socket = connect_to(text.substr(0, colon), text.substr(colon + 1));
  if (socket.failed()) return socket.error();
  return open(std::move(*socket), {-1, -1, id});
}

Result<std::unique_ptr<Bootstrap>> Pmi1::open(base::UniqueFd socket, const Place& place) {
  auto self = std::make_unique<Pmi1>(std::move(socket));
  if (const Error error = self->begin(place); error.failed()) return error;
  return std::unique_ptr<Bootstrap>(std::move(self));
}

Error Pmi1::begin(const Place& place) {
  long rank = place.rank;
  long size = place.size;
  if (place.id >= 0) {
    if (const Error error = send("cmd=initack pmiid=" + std::to_string(place.id)); error.failed()) {
      return error;
    }
    // The answer and any number of settings follow.
    for (bool acknowledged = false; !acknowledged || rank < 0 || size < 0;) {
      const auto line = receive();
      if (line.failed()) return line.error();
      acknowledged = acknowledged || line.value().command() == "initack";
      rank = line.value().number("rank").value_or(rank);
      size = line.value().number("size").value_or(size);
    }
  }
  if (size < 1 || size > most_pmi_ranks || rank < 0 || rank >= size) {
    return failure(ErrorClass::other,
                   "the launcher says that this process is rank %ld of %ld (%s, %s), which cannot "
                   "be; let both variables reach the program unchanged",
                   rank, size, wire::env_pmi_rank, wire::env_pmi_size);
  }
  rank_ = static_cast<std::uint32_t>(rank);
  size_ = static_cast<std::uint32_t>(size);
  const auto hello = ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
  if (hello.failed()) return hello.error();
  const auto program = ask("cmd=get_appnum", "appnum");
  if (program.failed()) return program.error();
  // Slurm returns -1 where there is only one program.
  appnum_ = static_cast<int>(std::max(program.value().number("appnum").value_or(0), 0L));
  const auto space = ask("cmd=get_my_kvsname", "my_kvsname");
  if (space.failed()) return space.error();
  space_ = space.value().find("kvsname").value_or("");
  return {};
}

Error Pmi1::send(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t bytes =
        ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) {
      return failure(ErrorClass::other, "the launcher does not listen any more (PMI): %s",
                     std::strerror(errno));
    }
    sent += static_cast<std::size_t>(bytes);
  }
  return {};
}

Result<PmiLine> Pmi1::receive() {
  buffer_.erase(0, std::exchange(taken_, 0));
  std::size_t end = 0;
  while ((end = buffer_.find('\n')) == std::string::npos) {
    if (buffer_.size() >= wire::pmi_line_limit) {
      return failure(ErrorClass::other, "the launcher's line is longer than %zu bytes (PMI)",
                     wire::pmi_line_limit);
    }
    std::array<char, 4096> piece;
    const ssize_t bytes = ::recv(socket_.get(), piece.data(), piece.size(), 0);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) {
      return failure(ErrorClass::other,
                     "the launcher has closed its connection to this process (PMI): %s",
                     bytes == 0 ? "it has ended, or ends the job" : std::strerror(errno));
    }
    buffer_.append(piece.data(), static_cast<std::size_t>(bytes));
  }
  taken_ = end + 1;
  return PmiLine::parse(std::string_view(buffer_).substr(0, end));
}

Result<PmiLine> Pmi1::ask(const std::string& request, std::string_view expected) {
  if (const Error error = send(request); error.failed()) return error;
  auto line = receive();
  // A server on a port sends additional settings.
  while (line.ok() && line->command() == "set") line = receive();
  if (line.failed()) return line;
  const long rc = line->number("rc").value_or(0);
  if (line->command() == expected && rc == 0) return line;
  const std::string got(line->command());
  return failure(ErrorClass::other,
                 "the launcher answers \"%.100s\" with \"%.60s\", rc=%ld (PMI); is it another "
                 "launcher's connection?",
                 request.c_str(), got.c_str(), rc);
}

Result<std::string> Pmi1::get(const std::string& key) {
  const auto line = ask("cmd=get kvsname=" + space_ + " key=" + key, "get_result");
  if (line.failed()) return line.error();
  return std::string(line.value().find("value").value_or(""));
}

/// A launcher may not have the key, and some versions of Hydra write "(vector,(0,2,2),0)" where
/// the last node has fewer ranks: that is no error, the ranks then find out among themselves.
Result<std::vector<std::uint32_t>> Pmi1::launcher_nodes() {
  const std::lock_guard lock(in_use_);
  const std::string request = "cmd=get kvsname=" + space_ + " key=PMI_process_mapping";
  if (const Error error = send(request); error.failed()) return error;
  const auto line = receive();
  if (line.failed()) return line.error();
  const auto value = line.value().find("value");
  if (line.value().number("rc").value_or(0) != 0 || !value || !value->starts_with("(vector,(")) {
    return std::vector<std::uint32_t>{};
  }
  auto nodes = wire::parse_process_mapping(*value, size_);
  return nodes.ok() ? std::move(*nodes) : std::vector<std::uint32_t>{};
}

Error Pmi1::publish(std::string_view key, std::string_view value) {
  const std::lock_guard lock(in_use_);
  return ask("cmd=put kvsname=" + space_ + " key=" + space_key(rank_, key) +
                 " value=" + std::string(value),
             "put_result")
      .error();
}

/// Servers return -1 where it is unknown.
std::uint32_t Pmi1::universe_size() {
  const std::lock_guard lock(in_use_);
  const auto answer = ask("cmd=get_universe_size", "universe_size");
  const long size = answer.ok() ? answer.value().number("size").value_or(0) : 0;
  return size > 0 && size <= INT_MAX ? static_cast<std::uint32_t>(size) : 0;
}

Error Pmi1::fence() {
  const std::lock_guard lock(in_use_);
  return ask("cmd=barrier_in", "barrier_out").error();
}

Result<std::string> Pmi1::lookup(std::uint32_t rank, std::string_view key) {
  const std::lock_guard lock(in_use_);
  auto value = get(space_key(rank, key));
  if (value.ok() && value->empty()) {
    return failure(ErrorClass::other, "rank %u has published nothing under \"%s\" (PMI)", rank,
                   std::string(key).c_str());
  }
  return value;
}

/// Any thread, perhaps between the pieces of another's line: then the launcher closes the
/// connection for a line that it cannot read, and that ends the job as well.
void Pmi1::abort(int code, const char* /*text*/) noexcept {
  std::array<char, 64> line;
  const int length = std::snprintf(line.data(), line.size(), "cmd=abort exitcode=%d\n", code);
  (void)!::send(socket_.get(), line.data(), static_cast<std::size_t>(length),
                MSG_NOSIGNAL | MSG_DONTWAIT);
}

Error Pmi1::finalize() {
  const std::lock_guard lock(in_use_);
  const Error error = ask("cmd=finalize", "finalize_ack").error();
  socket_.reset();
  return error;
}

}  // namespace fulmar::runtime::bootstrap
