// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/tcp/stream/inbox.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/os/fd.h"
#include "wire/tcp/tcp_frame.h"

namespace fulmar::fabric::tcp {
namespace {

using wire::PacketKind;

/// Writes down what it is told.
struct Log {
  std::string text;
  std::vector<std::byte> memory = std::vector<std::byte>(64);
  iovec piece{};
  std::size_t answer = 64;  ///< bytes of a place; 0: by parts
  bool expecting = false;   ///< bodies that come in parts are placed
  unsigned expected = 0;

  void note(const char* what, std::span<const std::byte> bytes) {
    text += what;
    for (const std::byte byte : bytes) text += static_cast<char>(byte);
    text += ';';
  }
  void packet(std::uint32_t, const wire::Envelope& envelope, const Body& body) {
    note(("p" + std::to_string(envelope.tag) + ":").c_str(), body.bytes());
  }
  bool expect(std::uint32_t, const wire::Envelope&) {
    if (expecting) ++expected;
    return expecting;
  }
  void sent(std::uint64_t, Sent) {}
  std::span<const iovec> place(std::uint32_t, const wire::Envelope&, std::span<const std::byte>,
                               std::uint64_t offset, std::uint64_t bytes) {
    piece = {memory.data() + offset, std::min<std::size_t>(answer, bytes)};
    return {&piece, answer == 0 ? 0U : 1U};
  }
  void placed(std::uint32_t, const wire::Envelope& envelope, std::span<const std::byte> prefix,
              std::uint64_t offset, std::uint64_t bytes) {
    if (offset + bytes < envelope.length - prefix.size()) return;
    complete(envelope, prefix, offset + bytes);
  }
  void part(std::uint32_t, const wire::Envelope& envelope, std::span<const std::byte> prefix,
            std::uint64_t offset, std::span<const std::byte> payload) {
    std::memcpy(memory.data() + offset, payload.data(), payload.size());
    if (offset + payload.size() < envelope.length - prefix.size()) return;
    complete(envelope, prefix, offset + payload.size());
  }
  void complete(const wire::Envelope& envelope, std::span<const std::byte> prefix,
                std::size_t bytes) {
    if (prefix.empty()) return packet(0, envelope, Body(std::span(memory).first(bytes)));
    note("d:", prefix);
    note("=", std::span(memory).first(bytes));
  }
};

struct Stream {
  std::vector<std::byte> bytes;
  std::uint32_t sequence = 0;

  void add(const void* from, std::size_t count) {
    const auto* begin = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), begin, begin + count);
  }
  Stream& packet(int tag, const std::string& body) {
    const wire::TcpFrame frame = wire::tcp_frame(
        {PacketKind::eager, 0, 1, tag, static_cast<std::uint32_t>(body.size())}, 0, sequence++);
    add(&frame, sizeof frame);
    add(body.data(), body.size());
    return *this;
  }
  Stream& in_place(const std::string& prefix, const std::string& payload) {
    const auto length = static_cast<std::uint32_t>(prefix.size() + payload.size());
    const wire::TcpFrame frame =
        wire::tcp_frame({PacketKind::data, 0, 0, 0, length}, prefix.size(), sequence++);
    add(&frame, sizeof frame);
    add(prefix.data(), prefix.size());
    add(payload.data(), payload.size());
    return *this;
  }
  Stream& signal(wire::TcpSignal which) {
    const wire::TcpFrame frame = wire::tcp_frame(which, sequence++);
    add(&frame, sizeof frame);
    return *this;
  }
};

Stream mixed() {
  Stream stream;
  stream.packet(1, "").packet(2, "hello").in_place("pre", "payload of some length");
  stream.packet(3, "between").in_place("q", "x").signal(wire::TcpSignal::bye);
  stream.signal(wire::TcpSignal::seen);
  return stream;
}
constexpr const char* mixed_text = "p1:;p2:hello;d:pre;=payload of some length;p3:between;d:q;=x;";

TEST(Inbox, Units_of_packets_with_a_copy_are_counted_and_told_ones_are_fetched_once) {
  Stream stream;
  stream.packet(1, "").packet(2, std::string(3000, 'x')).in_place("pre", std::string(9000, 'y'));
  stream.signal(wire::TcpSignal::taken).signal(wire::TcpSignal::taken);
  Inbox inbox;
  Buffers buffers(1U << 20);
  Log log;
  log.memory.resize(9000);
  ASSERT_EQ(inbox.take(stream.bytes, 0, SinkRef(log), buffers), nullptr);
  EXPECT_EQ(inbox.untold_units(), wire::tcp_units(0) + wire::tcp_units(3000));
  EXPECT_EQ(inbox.fetch_acknowledged(), 2 * wire::tcp_taken_step);
  EXPECT_EQ(inbox.fetch_acknowledged(), 0U);
}

TEST(Inbox, Peer_is_idle_until_its_next_packet) {
  Inbox inbox;
  Buffers buffers(1U << 20);
  Log log;
  Stream stream;
  const auto take = [&] {
    EXPECT_EQ(inbox.take(std::exchange(stream.bytes, {}), 0, SinkRef(log), buffers), nullptr);
    return inbox.peer_is_idle();
  };
  EXPECT_FALSE(inbox.peer_is_idle());
  stream.packet(1, "a").signal(wire::TcpSignal::idle);
  EXPECT_TRUE(take());
  stream.signal(wire::TcpSignal::taken);
  EXPECT_TRUE(take());
  stream.packet(2, "");
  EXPECT_FALSE(take());
  stream.signal(wire::TcpSignal::idle).signal(wire::TcpSignal::idle).signal(wire::TcpSignal::part);
  EXPECT_TRUE(take());
  EXPECT_TRUE(inbox.bye_received() && inbox.part_received() && !inbox.farewell_received());
}

TEST(Inbox, Farewell_is_a_goodbye_for_good) {
  for (const auto signal :
       {wire::TcpSignal::bye, wire::TcpSignal::farewell, wire::TcpSignal::part}) {
    Inbox inbox;
    Buffers buffers(1U << 20);
    Log log;
    ASSERT_EQ(inbox.take(Stream().signal(signal).bytes, 0, SinkRef(log), buffers), nullptr);
    EXPECT_TRUE(inbox.bye_received());
    EXPECT_EQ(inbox.farewell_received(), signal == wire::TcpSignal::farewell);
  }
}

void expect_the_same_for_every_split(std::size_t answer, bool expecting) {
  const Stream stream = mixed();
  for (std::size_t split = 0; split <= stream.bytes.size(); ++split) {
    Inbox inbox;
    Buffers buffers(1U << 20);
    Log log;
    log.answer = answer;
    log.expecting = expecting;
    const std::span<const std::byte> all(stream.bytes);
    ASSERT_EQ(inbox.take(all.first(split), 0, SinkRef(log), buffers), nullptr);
    ASSERT_EQ(inbox.take(all.subspan(split), 0, SinkRef(log), buffers), nullptr);
    ASSERT_EQ(log.text, mixed_text) << split;
    EXPECT_TRUE(inbox.bye_received() && inbox.seen_received());
    EXPECT_FALSE(inbox.in_frame());
    EXPECT_EQ(buffers.bytes_in_use(), 0U);
    EXPECT_EQ(inbox.untold_units(), 3U);
  }
}

TEST(Inbox, Stream_split_anywhere_means_the_same) {
  for (const std::size_t answer : {0U, 1U, 5U, 64U}) {
    expect_the_same_for_every_split(answer, false);
    expect_the_same_for_every_split(answer, true);
  }
}

/// Remembers where the last read put its first byte.
struct WatchingIo : Io {
  SystemIo system;
  const void* first = nullptr;
  ssize_t write(int socket, std::span<const iovec> pieces, Next next) noexcept override {
    return system.write(socket, pieces, next);
  }
  ssize_t read(int socket, std::span<const iovec> pieces) noexcept override {
    first = pieces[0].iov_base;
    return system.read(socket, pieces);
  }
  void push(int socket) noexcept override { system.push(socket); }
};

/// Of a body that is expected nothing is kept here, and the socket is read to its place.
TEST(Inbox, Body_that_is_expected_is_read_to_its_place) {
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const base::UniqueFd from(ends[0]);
  const base::UniqueFd to(ends[1]);
  Stream stream;
  stream.packet(1, std::string(40, 'x')).packet(2, "y");
  ASSERT_EQ(::send(from.get(), stream.bytes.data(), 30, 0), 30);
  WatchingIo io;
  Inbox inbox;
  Buffers buffers(1U << 20);
  Log log;
  log.expecting = true;
  std::vector<std::byte> scratch(Inbox::scratch_bytes);
  inbox.read(io, to.get(), scratch, 0, SinkRef(log), buffers);
  EXPECT_EQ(log.expected, 1U);
  EXPECT_EQ(buffers.bytes_in_use(), 0U);
  EXPECT_TRUE(inbox.in_frame());
  const auto rest = std::span(stream.bytes).subspan(30);
  ASSERT_EQ(::send(from.get(), rest.data(), rest.size(), 0), static_cast<ssize_t>(rest.size()));
  inbox.read(io, to.get(), scratch, 0, SinkRef(log), buffers);
  EXPECT_EQ(io.first, log.memory.data() + 10);
  EXPECT_EQ(log.text, "p1:" + std::string(40, 'x') + ";p2:y;");
  EXPECT_EQ(log.expected, 1U);
}

TEST(Inbox, One_byte_at_a_time) {
  const Stream stream = mixed();
  Inbox inbox;
  Buffers buffers(1U << 20);
  Log log;
  for (const std::byte& byte : stream.bytes) {
    ASSERT_EQ(inbox.take({&byte, 1}, 0, SinkRef(log), buffers), nullptr);
  }
  EXPECT_EQ(log.text, mixed_text);
}

TEST(Inbox, Half_a_packet_takes_its_own_length_only) {
  Stream stream;
  stream.packet(1, std::string(1000, 'x'));
  Inbox inbox;
  Buffers buffers(1U << 20);
  Log log;
  const std::span<const std::byte> all(stream.bytes);
  ASSERT_EQ(inbox.take(all.first(10), 0, SinkRef(log), buffers), nullptr);
  EXPECT_TRUE(inbox.in_frame());
  EXPECT_EQ(buffers.bytes_in_use(), 0U);
  ASSERT_EQ(inbox.take(all.subspan(10, 20), 0, SinkRef(log), buffers), nullptr);
  EXPECT_EQ(buffers.bytes_in_use(), 1000U);
  inbox.abandon(buffers);
  EXPECT_EQ(buffers.bytes_in_use(), 0U);
  EXPECT_EQ(log.text, "");
}

TEST(Inbox, Faults_are_named) {
  const auto fault_of = [](const Stream& stream) -> std::string {
    Inbox inbox;
    Buffers buffers(1U << 20);
    Log log;
    const char* fault = inbox.take(stream.bytes, 0, SinkRef(log), buffers);
    return fault == nullptr ? "" : fault;
  };
  EXPECT_EQ(fault_of(Stream().packet(1, "a")), "");
  Stream skipped;
  skipped.packet(1, "a").sequence = 5;
  EXPECT_EQ(fault_of(skipped.packet(2, "b")), "a wrong sequence number");
  EXPECT_EQ(fault_of(Stream().signal(wire::TcpSignal::bye).packet(1, "a")),
            "a packet after its last");
  EXPECT_EQ(fault_of(Stream().signal(wire::TcpSignal::bye).signal(wire::TcpSignal::bye)),
            "a signal that comes twice");
  EXPECT_EQ(fault_of(Stream().signal(wire::TcpSignal::bye).signal(wire::TcpSignal::farewell)),
            "a signal that comes twice");
  EXPECT_EQ(fault_of(Stream().in_place("prefix", "")), "a prefix and nothing behind it");
  EXPECT_EQ(fault_of(Stream().in_place(std::string(33, 'p'), "x")), "a prefix that is too long");
  EXPECT_EQ(fault_of(Stream().packet(1, std::string(wire::tcp_max_body_bytes + 1, 'x'))),
            "a body that is too long");
  EXPECT_EQ(fault_of(Stream().in_place("p", std::string(wire::tcp_max_in_place_bytes, 'x'))),
            "a body that is too long");
}

}  // namespace
}  // namespace fulmar::fabric::tcp
