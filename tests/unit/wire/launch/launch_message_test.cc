// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/launch/launch_message.h"

#include <gtest/gtest.h>

namespace fulmar::wire {
namespace {

LaunchSpawn example() {
  return {"/home/me",
          "a port",
          {{"./child", {"", "two words", ":"}, 3, {{"wdir", "/tmp"}, {"env", "A=1\nB=2"}}},
           {"other", {}, 1, {}}}};
}

LaunchStillness standing() {
  using State = JobStillness::State;
  return {{.job = 7},
          {.job = 9,
           .state = State::standing,
           .since_ns = std::int64_t{1} << 40,
           .noted_ns = (std::int64_t{1} << 40) + 5,
           .checked_ns = 0x7fffffffffffffff,
           .needs = {7, 0xffffffff},
           .needs_more = true,
           .lines = {"mpiexec:   rank 0: MPI_Recv", ""}}};
}

TEST(LaunchMessage, Bodies_survive_the_way) {
  const LaunchHello hello{{1, 2, 3}, 0xdeadbeef, 7};
  EXPECT_EQ(decode_hello(encode_body(hello)), hello);
  EXPECT_EQ(decode_spawn(encode_body(example())), example());
  const LaunchName name{"ocean", "port"};
  EXPECT_EQ(decode_name(encode_body(name)), name);
  const LaunchAnswer answer{53, "why", {0, 53, -1}};
  EXPECT_EQ(decode_answer(encode_body(answer)), answer);
  const LaunchJobEnded ended{"port", 139};
  EXPECT_EQ(decode_job_ended(encode_body(ended)), ended);
  EXPECT_EQ(decode_stillness(encode_body(standing())), standing());
  EXPECT_EQ(decode_stillness(encode_body(LaunchStillness{})), LaunchStillness{});
}

TEST(LaunchMessage, Bodies_that_are_cut_or_longer_are_none) {
  const std::string whole = encode_body(example());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(decode_spawn(std::string_view(whole).substr(0, length)).has_value()) << length;
  }
  EXPECT_FALSE(decode_spawn(whole + "x").has_value());
  const std::string still = encode_body(standing());
  for (std::size_t length = 0; length < still.size(); ++length) {
    EXPECT_FALSE(decode_stillness(std::string_view(still).substr(0, length)).has_value()) << length;
  }
  EXPECT_FALSE(decode_stillness(still + "x").has_value());
  EXPECT_FALSE(decode_hello(encode_body(LaunchHello{}) + "x").has_value());
  EXPECT_FALSE(decode_name(encode_body(LaunchName{"a", "b"}).substr(1)).has_value());
}

TEST(LaunchMessage, Texts_with_a_zero_byte_and_endless_lists_are_refused) {
  EXPECT_FALSE(decode_name(encode_body(LaunchName{std::string("a\0b", 3), "p"})).has_value());
  // An empty folder and port, then a list that says it has 2^32 - 1 programs.
  EXPECT_FALSE(decode_spawn(std::string("\0\0\0\0\0\0\0\0\xff\xff\xff\xff", 12)).has_value());
}

TEST(LaunchMessage, State_of_a_job_that_there_is_not_is_refused) {
  std::string body = encode_body(LaunchStillness{{.job = 7}});
  body[11] = 3;  // its state
  EXPECT_FALSE(decode_stillness(body).has_value());
  body[11] = 2;
  EXPECT_TRUE(decode_stillness(body).has_value());
  body[43] = 2;  // whether there are more
  EXPECT_FALSE(decode_stillness(body).has_value());
}

TEST(LaunchReader, Frames_come_out_of_any_pieces) {
  const std::string bytes = encode_frame(LaunchKind::publish, 5, "body") +
                            encode_frame(LaunchKind::bye, 6) +
                            encode_frame(LaunchKind::spawn, 7, std::string(1000, 'x'));
  for (const std::size_t piece : {1UL, 3UL, 19UL, 4096UL}) {
    LaunchReader reader;
    std::vector<LaunchFrame> frames;
    for (std::size_t at = 0; at < bytes.size(); at += piece) {
      reader.append(std::string_view(bytes).substr(at, piece));
      while (true) {
        auto frame = reader.next();
        ASSERT_TRUE(frame.ok());
        if (!frame->has_value()) break;
        frames.push_back(std::move(**frame));
      }
    }
    ASSERT_EQ(frames.size(), 3U);
    EXPECT_EQ(frames[0].kind, LaunchKind::publish);
    EXPECT_EQ(frames[0].request, 5U);
    EXPECT_EQ(frames[0].body, "body");
    EXPECT_EQ(frames[1].kind, LaunchKind::bye);
    EXPECT_EQ(frames[2].body.size(), 1000U);
  }
}

TEST(LaunchReader, Nonsense_is_refused_as_soon_as_it_is_seen) {
  for (const std::string& bytes :
       {std::string("G"), std::string("FULX"), std::string("GET / HTTP/1.1"),
        std::string("FULS\0\0\0\1\0\0\0\1\0\0\0\0\0\0\0\0", 20),    // another version
        std::string("FULS\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\0", 20),    // kind 0
        std::string("FULS\0\0\0\2\0\0\0\x63\0\0\0\0\0\0\0\0", 20),  // kind 99
        std::string("FULS\0\0\0\2\0\0\0\1\0\0\0\0\x7f\0\0\0", 20)}) {
    LaunchReader reader;
    reader.append(bytes);
    EXPECT_TRUE(reader.next().failed()) << bytes;
  }
  LaunchReader reader;
  reader.append("FUL");
  const auto frame = reader.next();
  EXPECT_TRUE(frame.ok() && !frame.value().has_value());
}

TEST(LaunchReader, Strangers_may_send_short_frames_only) {
  LaunchReader reader(10);
  reader.append(encode_frame(LaunchKind::hello, 0, std::string(11, 'x')));
  EXPECT_TRUE(reader.next().failed());
  LaunchReader known(10);
  known.set_body_limit(100);
  known.append(encode_frame(LaunchKind::hello, 0, std::string(11, 'x')));
  EXPECT_TRUE(known.next().ok());
}

TEST(LaunchAddress, Text_is_read_back_and_others_are_none) {
  LaunchAddress address{"fulmar-launch-0123", {0xab, 1, 2, 0xff}};
  const std::string text = launch_address_text(address);
  const auto read = parse_launch_address(text);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->name, address.name);
  EXPECT_EQ(read->secret, address.secret);
  for (const std::string& wrong : {std::string(), std::string("x"), text.substr(1), text + "0",
                                   text.substr(0, text.size() - 1) + "g",
                                   "fulmar-launch-" + std::string(200, 'x') + text.substr(18)}) {
    EXPECT_FALSE(parse_launch_address(wrong).has_value()) << wrong;
  }
}

}  // namespace
}  // namespace fulmar::wire
