// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "fabric/tcp/tcp.h"

/// Ranks of one process, connected by sockets.
namespace fulmar::fabric {

/// Two ends of a connection inside the kernel, with little room.
inline std::pair<int, int> local_sockets(int room_bytes = 0) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  for (const int end : ends) {
    if (room_bytes != 0) {
      ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &room_bytes, sizeof room_bytes);
    }
  }
  return {ends[0], ends[1]};
}

/// Two ends of a TCP connection over the loopback interface.
inline std::pair<int, int> loopback_sockets() {
  const int listening = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const any = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  const int first = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::bind(listening, any, length) != 0 || ::listen(listening, 1) != 0 ||
      ::getsockname(listening, any, &length) != 0 || ::connect(first, any, length) != 0) {
    std::abort();
  }
  const int second = ::accept4(listening, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  ::close(listening);
  ::fcntl(first, F_SETFL, O_NONBLOCK);
  return {first, second};
}

/// The system's calls, to be overridden.
struct PlainIo : tcp::Io {
  ssize_t write(int socket, std::span<const iovec> pieces, Next next) noexcept override {
    return system_.write(socket, pieces, next);
  }
  ssize_t read(int socket, std::span<const iovec> pieces) noexcept override {
    return system_.read(socket, pieces);
  }
  void push(int socket) noexcept override { system_.push(socket); }

 private:
  tcp::SystemIo system_;
};

/// Counts the calls that moved something, and those that say what waits.
struct CountingIo : PlainIo {
  unsigned writes = 0;
  unsigned unended_writes = 0;  ///< of those: the end may wait for more
  unsigned reads = 0;
  unsigned pushes = 0;
  ssize_t write(int socket, std::span<const iovec> pieces, Next next) noexcept override {
    const ssize_t moved = PlainIo::write(socket, pieces, next);
    if (moved > 0) ++writes;
    if (moved > 0 && next == Next::more) ++unended_writes;
    return moved;
  }
  void push(int socket) noexcept override {
    ++pushes;
    PlainIo::push(socket);
  }
  ssize_t read(int socket, std::span<const iovec> pieces) noexcept override {
    const ssize_t moved = PlainIo::read(socket, pieces);
    if (moved > 0) ++reads;
    return moved;
  }
};

/// Every call moves at most as many bytes as `next_cut` says; 0: the call is refused.
struct CuttingIo : PlainIo {
  virtual std::size_t next_cut() noexcept = 0;
  ssize_t write(int socket, std::span<const iovec> pieces, Next next) noexcept override {
    const std::vector<iovec> cut = shortened(pieces);
    return cut.empty() ? -EAGAIN : PlainIo::write(socket, cut, next);
  }
  ssize_t read(int socket, std::span<const iovec> pieces) noexcept override {
    const std::vector<iovec> cut = shortened(pieces);
    return cut.empty() ? -EAGAIN : PlainIo::read(socket, cut);
  }

 private:
  std::vector<iovec> shortened(std::span<const iovec> pieces) {
    std::size_t left = next_cut();
    std::vector<iovec> cut;
    for (const iovec& piece : pieces) {
      const std::size_t length = std::min(left, piece.iov_len);
      if (length == 0) break;
      cut.push_back({piece.iov_base, length});
      left -= length;
    }
    return cut;
  }
};
struct OneByteIo : CuttingIo {
  std::size_t next_cut() noexcept override { return 1; }
};
struct RandomIo : CuttingIo {
  std::mt19937_64 random{7};
  std::size_t next_cut() noexcept override {
    switch (random() % 4) {
      case 0:
        return 0;
      case 1:
        return random() % 30;
      case 2:
        return random() % 3000;
      default:
        return random() % 300000;
    }
  }
};

/// `size` ranks, each with so many bytes of memory for what is under way; a lost peer is noted in
/// `losses[rank]`.
struct TcpNet {
  struct Loss {
    std::uint32_t peer;
    std::string text;
  };
  struct Rank {
    std::unique_ptr<Tcp> tcp;
    std::vector<Loss> losses;
    std::vector<std::uint32_t> wanted;
    std::vector<std::uint32_t> leavers;
  };
  /// Whether ranks that have left may come back.
  enum class Leavers : bool { are_gone, may_return };
  std::vector<std::unique_ptr<Rank>> ranks;

  explicit TcpNet(std::uint32_t size, tcp::Io* io = nullptr,
                  const std::vector<std::size_t>& memory_bytes = {},
                  Leavers leavers = Leavers::are_gone) {
    for (std::uint32_t self = 0; self < size; ++self) {
      ranks.push_back(std::make_unique<Rank>());
      tcp::Streams::Config config;
      config.self = self;
      config.size = size;
      if (!memory_bytes.empty()) config.memory_bytes = memory_bytes[self];
      config.owner = ranks.back().get();
      config.connect = [](void* owner, std::uint32_t peer) {
        static_cast<Rank*>(owner)->wanted.push_back(peer);
      };
      config.lost = [](void* owner, std::uint32_t peer, const base::Error& why) {
        static_cast<Rank*>(owner)->losses.push_back({peer, why.text()});
      };
      if (leavers == Leavers::may_return) {
        config.left = [](void* owner, std::uint32_t peer) {
          static_cast<Rank*>(owner)->leavers.push_back(peer);
        };
      }
      config.io = io;
      auto opened = Tcp::open_bare(config);
      if (opened.failed()) std::abort();
      ranks.back()->tcp = std::move(opened.value());
    }
  }
  Tcp& operator[](std::size_t rank) { return *ranks[rank]->tcp; }
  std::vector<Loss>& losses(std::size_t rank) { return ranks[rank]->losses; }

  void connect(std::uint32_t a, std::uint32_t b, std::pair<int, int> ends, unsigned lane = 0) {
    if ((*this)[a].adopt(b, lane, ends.first).failed()) std::abort();
    if ((*this)[b].adopt(a, lane, ends.second).failed()) std::abort();
  }
};

/// Keeps what arrives.
struct KeepingSink {
  struct Packet {
    std::uint32_t peer;
    wire::Envelope envelope;
    std::vector<std::byte> body;
  };
  std::vector<Packet> packets;
  void packet(std::uint32_t peer, const wire::Envelope& envelope, const Body& body) {
    const auto bytes = body.bytes();
    packets.push_back({peer, envelope, {bytes.begin(), bytes.end()}});
  }
};

inline std::vector<std::byte> pattern(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) {
    made[i] = static_cast<std::byte>(i * 7 + i / 251 + seed * 13);
  }
  return made;
}
inline wire::Envelope envelope(std::size_t bytes, std::int32_t tag = 0,
                               wire::PacketKind kind = wire::PacketKind::eager) {
  return {kind, 0, 5, tag, static_cast<std::uint32_t>(bytes)};
}

}  // namespace fulmar::fabric
