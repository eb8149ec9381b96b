// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/spawn/port_stream.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <iterator>
#include <string>
#include <string_view>

namespace fulmar::runtime {
namespace {

constexpr wire::PortSecret secret = {1, 2, 3};
constexpr wire::PortSecret other_secret = {1, 2, 4};

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

struct Ends {
  base::UniqueFd caller;
  base::UniqueFd answerer;
};

Ends socket_pair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  return {base::UniqueFd(ends[0]), base::UniqueFd(ends[1])};
}

class PortStreamTest : public testing::Test {
 protected:
  void SetUp() override {
    auto hash = base::KeyedHash::load();
    if (hash.failed()) GTEST_SKIP() << hash.error().text();
    hash_ = *hash;
  }
  PortStream caller(Ends& ends, const wire::PortSecret& key = secret) {
    return {std::move(ends.caller), PortStream::Role::caller, *hash_, key};
  }
  PortStream answerer(Ends& ends) {
    return {std::move(ends.answerer), PortStream::Role::answerer, *hash_, secret};
  }
  std::optional<base::KeyedHash> hash_;
};

TEST_F(PortStreamTest, Messages_arrive_in_order_and_whole) {
  Ends ends = socket_pair();
  PortStream one = caller(ends);
  PortStream other = answerer(ends);
  const std::string longer(1'000'000, 'x');
  one.send(bytes_of("first"));
  one.send(bytes_of(""));
  other.send(bytes_of("second"));
  one.send(bytes_of(longer));
  std::vector<std::vector<std::byte>> arrived;
  std::optional<std::vector<std::byte>> answer;
  while (arrived.size() < 3 || !answer) {
    ASSERT_TRUE(one.step().ok());
    ASSERT_TRUE(other.step().ok());
    while (auto message = other.take()) arrived.push_back(std::move(*message));
    if (auto message = one.take()) answer = std::move(message);
  }
  EXPECT_TRUE(one.proven() && other.proven());
  EXPECT_TRUE(std::ranges::equal(arrived[0], bytes_of("first")));
  EXPECT_TRUE(arrived[1].empty());
  EXPECT_TRUE(std::ranges::equal(arrived[2], bytes_of(longer)));
  EXPECT_TRUE(std::ranges::equal(*answer, bytes_of("second")));
}

TEST_F(PortStreamTest, Who_has_another_secret_is_refused_by_both) {
  Ends ends = socket_pair();
  PortStream one = caller(ends, other_secret);
  PortStream other = answerer(ends);
  one.send(bytes_of("hidden"));
  ASSERT_TRUE(one.step().ok());
  ASSERT_TRUE(other.step().ok());
  EXPECT_TRUE(one.step().failed());
  EXPECT_TRUE(one.was_stranger());
  EXPECT_FALSE(one.proven() || other.proven());
}

TEST_F(PortStreamTest, A_caller_that_only_repeats_what_it_saw_is_refused) {
  // What a caller said to the port at another time.
  Ends before = socket_pair();
  const int heard = before.answerer.get();
  std::array<std::byte, wire::port_hello_bytes> hello{};
  PortStream honest = caller(before);
  ASSERT_TRUE(honest.step().ok());
  ASSERT_EQ(::read(heard, hello.data(), hello.size()), static_cast<ssize_t>(hello.size()));
  Ends ends = socket_pair();
  const base::UniqueFd thief = std::move(ends.caller);
  PortStream port = answerer(ends);
  ASSERT_EQ(::write(thief.get(), hello.data(), hello.size()), static_cast<ssize_t>(hello.size()));
  ASSERT_TRUE(port.step().ok());
  // The challenge sent back as a proof is the best that it can do.
  std::array<std::byte, wire::port_challenge_bytes> challenge{};
  ASSERT_EQ(::read(thief.get(), challenge.data(), challenge.size()),
            static_cast<ssize_t>(challenge.size()));
  ASSERT_EQ(::write(thief.get(), &challenge[40], wire::port_proof_bytes),
            static_cast<ssize_t>(wire::port_proof_bytes));
  EXPECT_TRUE(port.step().failed());
  EXPECT_TRUE(port.was_stranger());
  EXPECT_FALSE(port.proven());
}

TEST_F(PortStreamTest, Who_speaks_something_else_is_refused_at_its_first_letters) {
  Ends ends = socket_pair();
  const base::UniqueFd stranger = std::move(ends.caller);
  PortStream port = answerer(ends);
  ASSERT_EQ(::write(stranger.get(), "GET /", 5), 5);
  EXPECT_TRUE(port.step().failed());
  EXPECT_TRUE(port.was_stranger());
}

TEST_F(PortStreamTest, After_a_failed_step_nothing_more_is_read) {
  Ends ends = socket_pair();
  const base::UniqueFd stranger = std::move(ends.caller);
  PortStream port = answerer(ends);
  const std::string greeting(wire::port_hello_bytes, 'x');  // all that is awaited, and wrong
  ASSERT_EQ(::write(stranger.get(), greeting.data(), greeting.size()), std::ssize(greeting));
  const base::Error first = port.step();
  ASSERT_TRUE(first.failed());
  ASSERT_EQ(::write(stranger.get(), "more", 4), 4);
  const base::Error second = port.step();
  EXPECT_EQ(second.text(), first.text());
  EXPECT_TRUE(port.was_stranger());
  std::array<char, 8> left{};
  EXPECT_EQ(::recv(port.descriptor(), left.data(), left.size(), 0), 4);
}

TEST_F(PortStreamTest, A_frame_that_was_changed_on_its_way_ends_the_connection) {
  Ends ends = socket_pair();
  Ends further = socket_pair();
  PortStream one = caller(ends);
  PortStream other{std::move(further.answerer), PortStream::Role::answerer, *hash_, secret};
  one.send(bytes_of("message"));
  // Between the two stands somebody who passes on everything, and changes one bit of the frame.
  std::size_t passed = 0;
  base::Error broken;
  const auto pass = [&](int from, int to, bool counts) {
    std::array<std::byte, 4096> bytes{};
    const ssize_t got = ::read(from, bytes.data(), bytes.size());
    for (ssize_t i = 0; counts && i < got; ++i, ++passed) {
      const std::size_t in_frame = wire::port_hello_bytes + wire::port_proof_bytes + 6;
      if (passed == in_frame) bytes[static_cast<std::size_t>(i)] ^= std::byte{1};
    }
    if (got > 0) {
      EXPECT_EQ(::write(to, bytes.data(), static_cast<std::size_t>(got)), got);
    }
  };
  for (int look = 0; look < 20 && broken.ok(); ++look) {
    (void)one.step();
    pass(ends.answerer.get(), further.caller.get(), true);
    broken = other.step();
    pass(further.caller.get(), ends.answerer.get(), false);
  }
  EXPECT_TRUE(broken.failed());
  EXPECT_FALSE(other.take());
}

TEST_F(PortStreamTest, Nothing_of_a_message_can_be_read_on_its_way) {
  Ends ends = socket_pair();
  Ends further = socket_pair();
  PortStream one = caller(ends);
  PortStream other{std::move(further.answerer), PortStream::Role::answerer, *hash_, secret};
  one.send(bytes_of("0123456789abcdef"));
  std::string seen;
  while (!other.take()) {
    (void)one.step();
    std::array<char, 4096> bytes{};
    ssize_t got = ::read(ends.answerer.get(), bytes.data(), bytes.size());
    if (got > 0) {
      seen.append(bytes.data(), static_cast<std::size_t>(got));
      EXPECT_EQ(::write(further.caller.get(), bytes.data(), static_cast<std::size_t>(got)), got);
    }
    ASSERT_TRUE(other.step().ok());
    got = ::read(further.caller.get(), bytes.data(), bytes.size());
    if (got > 0) {
      EXPECT_EQ(::write(ends.answerer.get(), bytes.data(), static_cast<std::size_t>(got)), got);
    }
  }
  EXPECT_EQ(seen.find("0123456789abcdef"), std::string::npos);
  EXPECT_EQ(seen.find("456789"), std::string::npos);
}

TEST_F(PortStreamTest, A_message_before_the_end_of_the_connection_is_there) {
  Ends ends = socket_pair();
  PortStream other = answerer(ends);
  {
    PortStream one = caller(ends);
    one.send(bytes_of("last"));
    for (int look = 0; look < 4; ++look) {
      ASSERT_TRUE(one.step().ok());
      if (look < 3) {
        ASSERT_TRUE(other.step().ok());
      }
    }
  }
  (void)other.step();
  const auto message = other.take();
  ASSERT_TRUE(message);
  EXPECT_TRUE(std::ranges::equal(*message, bytes_of("last")));
  EXPECT_TRUE(other.step().failed());
}

}  // namespace
}  // namespace fulmar::runtime
