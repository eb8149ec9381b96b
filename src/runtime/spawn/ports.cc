// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/spawn/ports.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "fabric/tcp/connect/endpoint.h"
#include "fabric/tcp/connect/socket_options.h"
#include "runtime/network/other_jobs.h"
#include "runtime/options/options.h"
#include "runtime/spawn/port_wait.h"

namespace fulmar::runtime {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
namespace tcp = fabric::tcp;

constexpr std::size_t most_callers = 64;
constexpr std::uint64_t caller_patience_ns = 10'000'000'000;
constexpr std::uint64_t line_interval_ns = 1'000'000'000;
constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr int default_timeout_s = 180;
constexpr std::uint32_t connect_ms = 20'000;

const std::string* value_of(const std::vector<mpi::InfoEntry>& info, std::string_view key) {
  const auto at = std::find_if(info.begin(), info.end(),
                               [&](const mpi::InfoEntry& entry) { return entry.first == key; });
  return at == info.end() ? nullptr : &at->second;
}

/// Whether the other side has closed the connection, whatever it had sent before.
bool has_ended(const PortStream& stream) noexcept {
  pollfd place{stream.descriptor(), POLLRDHUP, 0};
  return ::poll(&place, 1, 0) > 0;
}

Error not_open(std::string_view name) {
  const auto parsed = wire::parse_port_name(name);
  if (parsed.failed()) return parsed.error();
  return failure(
      ErrorClass::port,
      "argument port_name: this process has no such port open; call MPI_Open_port in the "
      "process that is the root of MPI_Comm_accept");
}

/// What others are told: not what means something on one link only, unless there is nothing else,
/// nor the number of an interface of this host.
std::vector<wire::TcpAddress> announced_addresses(std::vector<wire::TcpAddress> places) {
  const auto is_local = [](const wire::TcpAddress& place) {
    return place.kind == wire::AddressKind::link_local;
  };
  if (std::ranges::all_of(places, is_local)) return places;
  std::erase_if(places, is_local);
  for (wire::TcpAddress& place : places) place.scope = 0;
  return places;
}

/// One that has proven the secret; the other root is at its end.
class OpenConnection final : public mpi::PortConnection {
 public:
  OpenConnection(PortStream stream, device::Device& device)
      : stream_(std::move(stream)), device_(device) {}

  void send(std::span<const std::byte> message) { stream_.send(message); }

  base::Result<std::vector<std::byte>> receive(const mpi::GiveUp& give_up) {
    PortWait wait(device_, give_up);
    while (true) {
      const Error broken = stream_.step();  // with what came before its end
      if (auto message = stream_.take()) return std::move(*message);
      if (broken.failed()) return broken;
      pollfd place{stream_.descriptor(), stream_.events(), 0};
      if (const Error error = wait.pause({&place, 1}); error.failed()) return error;
    }
  }

  base::Result<std::vector<std::byte>> swap(std::span<const std::byte> own,
                                            const mpi::GiveUp& give_up) override {
    send(own);
    auto theirs = receive(give_up);
    // The answer may have come before all of the own message was taken.
    PortWait wait(device_, give_up);
    while (theirs.ok() && stream_.has_unsent()) {
      pollfd place{stream_.descriptor(), stream_.events(), 0};
      if (const Error error = wait.pause({&place, 1}); error.failed()) return error;
      if (const Error error = stream_.step(); error.failed()) return error;
    }
    return theirs;
  }

 private:
  PortStream stream_;
  device::Device& device_;
};

}  // namespace

void Ports::release() {
  for (const auto& port : ports_) drop_ended(*port);
  if (host_memory_.is_connecting()) return;
  host_memory_.release();
  release_other_jobs(around_.library, around_.job, around_.networks);
}

Error Ports::load_hash() {
  if (hash_) return {};
  auto hash = base::KeyedHash::load();
  if (hash.failed()) return hash.error();
  hash_ = *hash;
  return {};
}

Ports::Port* Ports::find(std::string_view name) noexcept {
  for (const auto& port : ports_) {
    if (port->name == name) return port.get();
  }
  return nullptr;
}

base::Result<std::vector<tcp::LocalAddress>> Ports::addresses_for(const std::string& wanted) const {
  const std::string& option = around_.options.text("FULMAR_TCP_INTERFACES");
  auto choice = tcp::InterfaceChoice::parse(option);
  if (choice.failed()) return choice.error();
  auto all = tcp::local_addresses();
  if (all.failed()) return all.error();
  std::vector<tcp::LocalAddress> used;
  const auto address = tcp::parse_address(wanted);
  std::copy_if(all->begin(), all->end(), std::back_inserter(used),
               [&](const tcp::LocalAddress& local) {
                 if (!wanted.empty()) return address && local.address.same_place(*address);
                 return choice->takes(local);
               });
  if (!used.empty()) return used;
  if (!wanted.empty()) {
    return failure(ErrorClass::info_value,
                   "info key ip_address: \"%s\" is no address of this host, which has %s",
                   wanted.c_str(), tcp::text_of(*all).c_str());
  }
  return failure(ErrorClass::other,
                 "no port can be opened: FULMAR_TCP_INTERFACES=%s takes none of %s", option.c_str(),
                 tcp::text_of(*all).c_str());
}

base::Result<std::string> Ports::open(const std::vector<mpi::InfoEntry>& info) {
  if (const Error error = load_hash(); error.failed()) return error;
  const std::string* const number = value_of(info, "ip_port");
  const std::string* const address = value_of(info, "ip_address");
  const std::string* const once = value_of(info, "fulmar_once");
  if (once != nullptr && *once != "true" && *once != "false") {
    return failure(ErrorClass::info_value, "info key fulmar_once: \"%s\"; give true or false",
                   once->c_str());
  }
  const auto range =
      tcp::PortRange::parse(number != nullptr ? *number : around_.options.text("FULMAR_TCP_PORTS"));
  if (range.failed() && number != nullptr) {
    return failure(ErrorClass::info_value, "info key ip_port: \"%s\" is no port; give 1 to 65535",
                   number->c_str());
  }
  if (range.failed()) return range.error();
  auto used = addresses_for(address == nullptr ? std::string() : *address);
  if (used.failed()) return used.error();
  auto port = std::make_unique<Port>();
  auto listening = tcp::listen_on(
      *used, address == nullptr ? tcp::Reach::everywhere : tcp::Reach::used_only, range.value());
  if (listening.failed()) return listening.error();
  port->listening = std::move(*listening);
  port->once = once != nullptr && *once == "true";
  if (!hash_->random(std::as_writable_bytes(std::span(port->secret)))) {
    return failure(ErrorClass::other, "no port can be opened: the system has no random numbers");
  }
  port->name =
      wire::text_of(wire::PortName{port->secret, announced_addresses(port->listening.places)});
  ports_.push_back(std::move(port));
  return ports_.back()->name;
}

/// For the port of one connection, which has been made.
void Ports::use_up(Port& port) {
  port.used = true;
  port.listening = {};
  port.callers.clear();
}

Error Ports::close(std::string_view name) {
  const auto at = std::find_if(ports_.begin(), ports_.end(),
                               [&](const auto& port) { return port->name == name; });
  if (at == ports_.end()) return not_open(name);
  ports_.erase(at);
  return {};
}

/// Takes whoever waits at the listening sockets.
void Ports::admit(Port& port) {
  for (const tcp::Listener& listener : port.listening.sockets) {
    while (true) {
      base::UniqueFd socket(
          ::accept4(listener.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
      if (!socket.valid()) break;
      tcp::prepare_socket(socket.get(), connect_ms);
      const auto peer = tcp::Endpoint::peer_of(socket.get());
      if (port.callers.size() == most_callers) {
        refuse(port, port.callers.front(), "too many connect at once");
        port.callers.erase(port.callers.begin());
      }
      port.callers.push_back(
          {PortStream(std::move(socket), PortStream::Role::answerer, *hash_, port.secret),
           base::now_ns(), peer ? peer->text() : std::string("-")});
    }
  }
}

void Ports::refuse(Port& port, const PendingCaller& caller, const std::string& why) const {
  const std::uint64_t now_ns = base::now_ns();
  if (now_ns < port.next_line_ns) return;
  port.next_line_ns = now_ns + line_interval_ns;
  std::fprintf(stderr, "fulmar: rank %u of %u: %s was refused at a port: %s\n", around_.job.rank(),
               around_.job.size(), caller.address.c_str(), why.c_str());
}

/// Who has come tries several ways to a port at once and closes those that it does not use, perhaps after the
/// one that it uses was found here: they would stay until the next MPI_Comm_accept, if there is one. Those
/// that wait are not answered.
void Ports::drop_ended(Port& port) const {
  for (auto caller = port.callers.begin(); caller != port.callers.end();) {
    if (!has_ended(caller->stream)) {
      ++caller;
      continue;
    }
    const Error broken = caller->stream.step();  // says whether it was a stranger
    if (caller->stream.was_stranger()) refuse(port, *caller, broken.text());
    caller = port.callers.erase(caller);
  }
}

/// The first one that has proven the secret and said something.
std::optional<Ports::Connected> Ports::step_callers(Port& port, std::span<const std::byte> first) {
  const std::uint64_t now_ns = base::now_ns();
  for (std::size_t i = 0; i < port.callers.size();) {
    PendingCaller& caller = port.callers[i];
    const Error broken = caller.stream.step();
    if (auto message = caller.stream.take()) {
      auto connection = std::make_unique<OpenConnection>(std::move(caller.stream), around_.device);
      port.callers.erase(port.callers.begin() + static_cast<std::ptrdiff_t>(i));
      connection->send(first);
      return Connected{std::move(connection), std::move(*message)};
    }
    const bool late = !caller.stream.proven() && now_ns - caller.since_ns > caller_patience_ns;
    if (broken.ok() && !late) {
      ++i;
      continue;
    }
    // A caller tries several ways to a port and closes those that it does not use.
    if (late) refuse(port, caller, "it has said nothing for 10 seconds");
    if (caller.stream.was_stranger()) refuse(port, caller, broken.text());
    port.callers.erase(port.callers.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return std::nullopt;
}

base::Result<Ports::Connected> Ports::accept(std::string_view name,
                                             std::span<const std::byte> first,
                                             const mpi::GiveUp& give_up) {
  if (find(name) == nullptr) return not_open(name);
  for (PendingCaller& caller : find(name)->callers) caller.since_ns = base::now_ns();
  PortWait wait(around_.device, give_up);
  std::vector<pollfd> sockets;
  while (true) {
    Port* const port = find(name);  // another thread may close it
    if (port == nullptr) return not_open(name);
    if (port->used) {
      return failure(
          ErrorClass::port,
          "argument port_name: the port was opened for one connection (fulmar_once), which "
          "has been made; open another one");
    }
    admit(*port);
    if (auto connected = step_callers(*port, first)) {
      if (port->once) use_up(*port);
      drop_ended(*port);
      return std::move(*connected);
    }
    sockets.clear();
    for (const tcp::Listener& listener : port->listening.sockets) {
      sockets.push_back({listener.socket.get(), POLLIN, 0});
    }
    for (const PendingCaller& caller : port->callers) {
      sockets.push_back({caller.stream.descriptor(), caller.stream.events(), 0});
    }
    if (const Error error = wait.pause(sockets); error.failed()) return error;
  }
}

/// All ways to the port at once: nobody knows which one leads there.
std::vector<Ports::Attempt> Ports::call(const wire::PortName& port) const {
  std::vector<Attempt> attempts;
  for (const wire::TcpAddress& place : port.places) {
    const tcp::Endpoint end = tcp::Endpoint::of(place, place.port, place.scope);
    base::UniqueFd socket(::socket(end.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (!socket.valid()) continue;
    tcp::prepare_socket(socket.get(), connect_ms);
    if (::connect(socket.get(), end.get(), end.size()) != 0 && errno != EINPROGRESS) continue;
    attempts.push_back(
        {PortStream(std::move(socket), PortStream::Role::caller, *hash_, port.secret), end.text()});
  }
  return attempts;
}

base::Result<Ports::Connected> Ports::connect(std::string_view name,
                                              const std::vector<mpi::InfoEntry>& info,
                                              std::span<const std::byte> first,
                                              const mpi::GiveUp& give_up) {
  if (const Error error = load_hash(); error.failed()) return error;
  const auto port = wire::parse_port_name(name);
  if (port.failed()) return port.error();
  int timeout_s = default_timeout_s;
  if (const std::string* const text = value_of(info, "timeout"); text != nullptr) {
    timeout_s = parse_integer(*text).value_or(-1);
    if (timeout_s < 0) {
      return failure(ErrorClass::info_value, "info key timeout: \"%s\" is no number of seconds",
                     text->c_str());
    }
  }
  const std::uint64_t end_ns = base::now_ns() + static_cast<std::uint64_t>(timeout_s) * second_ns;
  const mpi::GiveUp bounded = [&]() -> Error {
    if (base::now_ns() < end_ns) return give_up ? give_up() : Error();
    return failure(
        ErrorClass::port,
        "no connection to the port: nobody has called MPI_Comm_accept there within %d s; "
        "raise the info key timeout",
        timeout_s);
  };
  auto stream = prove(call(port.value()), bounded);
  if (stream.failed()) return stream.error();
  auto connection = std::make_unique<OpenConnection>(std::move(*stream), around_.device);
  auto answer = connection->swap(first, bounded);
  if (answer.failed()) return answer.error();
  return Connected{std::move(connection), std::move(*answer)};
}

/// The first of the ways on which both sides have proven the secret.
base::Result<PortStream> Ports::prove(std::vector<Attempt> attempts,
                                      const mpi::GiveUp& give_up) const {
  std::string problems;
  PortWait wait(around_.device, give_up);
  std::vector<pollfd> sockets;
  while (true) {
    sockets.clear();
    for (std::size_t i = 0; i < attempts.size();) {
      Attempt& attempt = attempts[i];
      if (const Error broken = attempt.stream.step(); broken.failed()) {
        problems += (problems.empty() ? "" : "; ") + attempt.address + ": " + broken.text();
        attempts.erase(attempts.begin() + static_cast<std::ptrdiff_t>(i));
        continue;
      }
      if (attempt.stream.proven()) return std::move(attempt.stream);
      sockets.push_back({attempt.stream.descriptor(), attempt.stream.events(), 0});
      ++i;
    }
    if (attempts.empty()) {
      return failure(ErrorClass::port,
                     "no connection to the port: %s; is it closed, or its process gone?",
                     problems.empty() ? "no address of it can be tried" : problems.c_str());
    }
    if (const Error error = wait.pause(sockets); error.failed()) return error;
  }
}

}  // namespace fulmar::runtime
