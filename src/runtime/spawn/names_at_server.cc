// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/os/fd.h"
#include "runtime/spawn/name_store.h"
#include "runtime/spawn/socket_wait.h"
#include "wire/launch/launch_message.h"
#include "wire/launch/names_channel.h"

namespace fulmar::runtime {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using wire::LaunchKind;
using wire::NamesChannel;

/// For a whole question: the connection, if there is none yet, and the answer.
constexpr std::uint64_t limit_ns = 10'000'000'000;

class NamesAtServer final : public NameStore {
 public:
  NamesAtServer(std::string text, wire::NamesPlace place, std::uint32_t job)
      : text_(std::move(text)), place_(std::move(place)), job_(job) {}

  Error publish(std::string_view service, std::string_view port) override {
    return ask(LaunchKind::publish, service, port).error();
  }
  base::Result<std::string> lookup(std::string_view service) override {
    return ask(LaunchKind::lookup, service, {});
  }
  Error unpublish(std::string_view service, std::string_view port) override {
    return ask(LaunchKind::unpublish, service, port).error();
  }

 private:
  [[nodiscard]] Error lost(const char* why) {
    socket_.reset();
    channel_.reset();
    return failure(ErrorClass::service, "the server FULMAR_NAMES=%.200s cannot be asked: %s",
                   text_.c_str(), why);
  }

  /// A server that was started again has forgotten all names: the question is asked on a new connection then.
  base::Result<std::string> ask(LaunchKind kind, std::string_view service, std::string_view port) {
    const std::string body = encode_body(wire::LaunchName{std::string(service), std::string(port)});
    end_ns_ = base::now_ns() + limit_ns;
    const bool was_open = socket_.valid();
    auto answer = ask_once(kind, body);
    if (answer.failed() && was_open) answer = ask_once(kind, body);
    if (answer.failed()) return answer.error();
    if (answer->error_class == 0) return std::move(answer->text);
    return failure(static_cast<ErrorClass>(answer->error_class), "%s", answer->text.c_str());
  }

  base::Result<wire::LaunchAnswer> ask_once(LaunchKind kind, const std::string& body) {
    if (!socket_.valid()) {
      if (const Error error = open(); error.failed()) return error;
    }
    const std::uint32_t request = ++last_request_;
    if (const Error error = send_frame(encode_frame(kind, request, body)); error.failed()) {
      return error;
    }
    while (true) {
      auto record = channel_->next();
      if (record.failed()) return lost(record.error().text().c_str());
      if (!record->has_value()) {
        if (const Error error = receive_more(); error.failed()) return error;
        continue;
      }
      wire::LaunchReader reader;
      reader.append(**record);
      auto frame = reader.next();
      if (frame.failed() || !frame->has_value()) return lost("its answer cannot be read");
      auto answer = wire::decode_answer((*frame)->body);
      if ((*frame)->request != request || (*frame)->kind != LaunchKind::answer || !answer) {
        return lost("its answer cannot be read");
      }
      return std::move(*answer);
    }
  }

  Error open() {
    const auto key = wire::read_key_file(place_.key_file);
    if (key.failed()) return lost(key.error().text().c_str());
    const auto hash = base::KeyedHash::load();
    if (hash.failed()) return lost(hash.error().text().c_str());
    if (const Error error = connect(); error.failed()) return error;
    if (const Error error = shake_hands(key.value(), hash.value()); error.failed()) return error;
    const wire::LaunchHello hello{{}, job_, 0};
    return send_frame(encode_frame(LaunchKind::hello, 0, encode_body(hello)));
  }

  Error connect() {
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int unknown = ::getaddrinfo(place_.host.c_str(), place_.port.c_str(), &hints, &found);
    if (unknown != 0) return lost(::gai_strerror(unknown));
    int reason = ETIMEDOUT;
    for (const addrinfo* one = found; one != nullptr && !socket_.valid(); one = one->ai_next) {
      reason = try_address(*one);
    }
    ::freeaddrinfo(found);
    if (!socket_.valid()) return lost(std::strerror(reason));
    const int on = 1;
    ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    return {};
  }

  /// Fills `socket_`, or returns an errno.
  int try_address(const addrinfo& address) {
    base::UniqueFd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) return errno;
    if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0) {
      if (errno != EINPROGRESS) return errno;
      if (!wait_for_socket(fd.get(), POLLOUT, end_ns_)) return ETIMEDOUT;
      int reason = 0;
      socklen_t bytes = sizeof reason;
      ::getsockopt(fd.get(), SOL_SOCKET, SO_ERROR, &reason, &bytes);
      if (reason != 0) return reason;
    }
    socket_ = std::move(fd);
    return 0;
  }

  Error shake_hands(const base::Key& key, const base::KeyedHash& hash) {
    using wire::NamesStep;
    wire::NamesNonce own{};
    wire::NamesNonce theirs{};
    base::Mac shown{};
    if (!hash.random(own)) return lost("there are no random numbers");
    if (const Error error = send(wire::encode_names_hello(own)); error.failed()) return error;
    std::string challenge;
    while (challenge.size() < wire::names_challenge_bytes) {
      const Error error = receive(challenge, wire::names_challenge_bytes - challenge.size());
      if (error.failed()) return error;
    }
    std::memcpy(theirs.data(), challenge.data(), theirs.size());
    std::memcpy(shown.data(), challenge.data() + theirs.size(), shown.size());
    const auto expected = names_mac(hash, key, NamesStep::server_proof, own, theirs);
    if (!expected || !hash.equal(*expected, shown))
      return lost("it does not know the key of the file");
    const auto proof = names_mac(hash, key, NamesStep::client_proof, own, theirs);
    const auto session = names_mac(hash, key, NamesStep::session_key, own, theirs);
    if (!proof || !session) return lost("hashing is refused");
    channel_.emplace(hash, *session, NamesChannel::Side::client);
    return send({reinterpret_cast<const char*>(proof->data()), proof->size()});
  }

  Error send_frame(const std::string& frame) {
    const auto record = channel_->seal(frame);
    if (record.failed()) {
      return failure(ErrorClass::service, "%s", record.error().text().c_str());
    }
    return send(record.value());
  }

  Error send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN) {
        if (!wait_for_socket(socket_.get(), POLLOUT, end_ns_)) return lost("it takes no questions");
      } else if (errno != EINTR) {
        return lost(std::strerror(errno));
      }
    }
    return {};
  }

  /// At least a byte, at most `most`.
  Error receive(std::string& into, std::size_t most) {
    std::array<char, 4096> piece;
    while (true) {
      const ssize_t bytes = ::recv(socket_.get(), piece.data(), std::min(most, piece.size()), 0);
      if (bytes > 0) {
        into.append(piece.data(), static_cast<std::size_t>(bytes));
        return {};
      }
      if (bytes == 0) return lost("it has closed the connection; does it use another key?");
      if (errno == EAGAIN) {
        if (!wait_for_socket(socket_.get(), POLLIN, end_ns_))
          return lost("it does not answer in time");
      } else if (errno != EINTR) {
        return lost(std::strerror(errno));
      }
    }
  }

  Error receive_more() {
    std::string bytes;
    if (const Error error = receive(bytes, 4096); error.failed()) return error;
    channel_->append(bytes);
    return {};
  }

  std::string text_;
  wire::NamesPlace place_;
  std::uint32_t job_;
  base::UniqueFd socket_;
  std::optional<NamesChannel> channel_;
  std::uint32_t last_request_ = 0;
  std::uint64_t end_ns_ = 0;
};

}  // namespace

std::unique_ptr<NameStore> names_at_server(std::string_view place, std::uint32_t job) {
  auto parsed = wire::parse_names_place(place);
  if (!parsed) return nullptr;
  return std::make_unique<NamesAtServer>(std::string(place), std::move(*parsed), job);
}

}  // namespace fulmar::runtime
