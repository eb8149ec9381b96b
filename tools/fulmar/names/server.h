// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/keyed_hash.h"
#include "base/os/fd.h"
#include "wire/launch/name_table.h"
#include "wire/launch/names_channel.h"

namespace fulmar::names {

/// The server's side of one connection (wire/launch/names_channel.h), without its socket: bytes in, bytes out.
/// Until the client has proven the key, no more than the handshake is taken.
class Session {
 public:
  /// `number` is that of the connection. `hash`, `key` and `table` outlive this.
  Session(const base::KeyedHash& hash, const base::Key& key, wire::NameTable& table,
          std::uint64_t number) noexcept
      : hash_(hash), key_(key), table_(table), publisher_{number, 0} {}
  ~Session() { table_.forget(publisher_.connection); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Takes what has come and appends what is to be sent. Fails (other) where the connection is to be closed.
  [[nodiscard]] base::Error take(std::string_view bytes, std::string& out);
  [[nodiscard]] bool proven() const noexcept { return step_ == Step::open; }

 private:
  enum class Step : std::uint8_t { hello, proof, open };
  [[nodiscard]] base::Error challenge(std::string& out);
  [[nodiscard]] base::Error check_proof();
  [[nodiscard]] base::Error answer_all(std::string& out);

  const base::KeyedHash& hash_;
  const base::Key& key_;
  wire::NameTable& table_;
  wire::NameTable::Publisher publisher_;
  Step step_ = Step::hello;
  std::string unread_;  ///< of the handshake
  wire::NamesNonce client_{};
  wire::NamesNonce server_{};
  std::optional<wire::NamesChannel> channel_;
};

/// Listens, and serves up to `most_clients` connections; at most `most_strangers` of them have not proven
/// the key, each for at most `handshake_limit_ns`. One thread.
class Server {
 public:
  static constexpr std::size_t most_clients = 4096;
  static constexpr std::size_t most_strangers = 64;
  static constexpr std::uint64_t handshake_limit_ns = 5'000'000'000;

  Server(const base::KeyedHash& hash, const base::Key& key) : hash_(hash), key_(key) {}

  /// Fails (other) where the address cannot be listened on.
  [[nodiscard]] base::Error listen(const std::string& host, const std::string& port);
  /// The port that it listens on.
  [[nodiscard]] std::uint16_t port() const;
  /// Serves until `stop` becomes readable.
  void run(int stop);

 private:
  struct Client {
    base::UniqueFd socket;
    std::unique_ptr<Session> session;
    std::string unsent;
    std::uint64_t since_ns = 0;
  };
  void accept_one();
  [[nodiscard]] bool serve(Client& client, short events) const;
  [[nodiscard]] std::size_t strangers() const;

  base::KeyedHash hash_;
  base::Key key_;
  wire::NameTable table_;
  base::UniqueFd listener_;
  std::map<std::uint64_t, Client> clients_;
  std::uint64_t next_ = 1;
};

}  // namespace fulmar::names
