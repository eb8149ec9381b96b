// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/line_mux.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace fulmar::mpiexec {
namespace {

constexpr std::int64_t ms = ns_per_ms;

LineMux make_mux(std::size_t streams) {
  return {std::vector<std::string>(streams), {50 * ms, 64, 128}};
}

std::string take(LineMux& mux) { return std::exchange(mux.ready(), {}); }

TEST(LineMux, Complete_lines_pass_at_once) {
  LineMux mux = make_mux(2);
  mux.append(0, "a\nb\n", 0);
  mux.append(1, "c\n", 0);
  EXPECT_EQ(take(mux), "a\nb\nc\n");
  EXPECT_EQ(mux.deadline(), never_ns);
}

TEST(LineMux, Halves_of_lines_of_two_streams_do_not_mix) {
  LineMux mux = make_mux(2);
  mux.append(0, "left ", 0);
  mux.append(1, "other ", 0);
  mux.append(0, "right\n", ms);
  mux.append(1, "end\n", ms);
  EXPECT_EQ(take(mux), "left right\nother end\n");
}

TEST(LineMux, Prompt_comes_out_after_patience) {
  LineMux mux = make_mux(1);
  mux.append(0, "name? ", 10 * ms);
  EXPECT_EQ(take(mux), "");
  EXPECT_EQ(mux.deadline(), 60 * ms);
  mux.tick(59 * ms);
  EXPECT_EQ(take(mux), "");
  mux.tick(60 * ms);
  EXPECT_EQ(take(mux), "name? ");
  EXPECT_EQ(mux.deadline(), never_ns);
}

TEST(LineMux, Holder_of_an_open_line_ends_it_first) {
  LineMux mux = make_mux(2);
  mux.append(0, "pro", 0);
  mux.tick(50 * ms);
  mux.append(0, "gr", 60 * ms);
  mux.append(1, "waits\n", 61 * ms);
  mux.append(0, "ess\n", 70 * ms);
  EXPECT_EQ(take(mux), "progress\nwaits\n");
}

TEST(LineMux, Silent_holder_is_cut_by_a_newline) {
  LineMux mux = make_mux(2);
  mux.append(0, "name? ", 0);
  mux.tick(50 * ms);
  mux.append(1, "news\n", 51 * ms);
  EXPECT_EQ(mux.deadline(), 50 * ms);
  mux.tick(52 * ms);
  EXPECT_EQ(take(mux), "name? \nnews\n");
}

using Pause = LineMux::Pause;

TEST(LineMux, Half_line_of_a_stream_that_is_not_read_waits) {
  for (const Pause why : {Pause::by_reader, Pause::by_others}) {
    LineMux mux = make_mux(2);
    mux.append(0, "half", 0);
    mux.set_pause(0, why, 0);
    EXPECT_EQ(mux.deadline(), never_ns);
    mux.tick(90 * ms);
    EXPECT_EQ(take(mux), "");
    mux.set_pause(0, Pause::none, 100 * ms);
    EXPECT_EQ(mux.deadline(), 150 * ms);
    mux.append(0, " and half\n", 149 * ms);
    EXPECT_EQ(take(mux), "half and half\n");
  }
}

TEST(LineMux, Holder_with_a_slow_reader_ends_its_line_before_the_others) {
  LineMux mux = make_mux(2);
  mux.append(0, std::string(65, 'a'), 0);
  mux.append(1, "b\n", 0);
  mux.set_pause(0, Pause::by_reader, 0);
  EXPECT_EQ(mux.deadline(), never_ns);
  mux.tick(90 * ms);
  mux.set_pause(0, Pause::none, 100 * ms);
  mux.append(0, "a\n", 120 * ms);
  EXPECT_EQ(take(mux), std::string(66, 'a') + "\nb\n");
}

TEST(LineMux, Holder_that_waits_for_others_is_cut) {
  LineMux mux = make_mux(2);
  mux.append(0, std::string(65, 'a'), 0);
  mux.append(1, "b\n", 0);
  mux.set_pause(0, Pause::by_others, 0);
  EXPECT_EQ(mux.deadline(), 50 * ms);
  mux.tick(50 * ms);
  EXPECT_EQ(take(mux), std::string(65, 'a') + "\nb\n");
}

TEST(LineMux, Half_lines_of_those_who_waited_for_a_silent_holder_stay_whole) {
  LineMux mux = make_mux(3);
  mux.append(0, std::string(65, 'a'), 0);
  for (const std::size_t stream : {1, 2}) {
    mux.append(stream, stream == 1 ? "b\nb" : "c\nc", 0);
    mux.set_pause(stream, Pause::by_others, 0);
  }
  mux.tick(90 * ms);
  EXPECT_EQ(take(mux), std::string(65, 'a') + "\nb\nc\n");
  for (const std::size_t stream : {1, 2}) mux.set_pause(stream, Pause::none, 91 * ms);
  mux.append(1, "b\n", 92 * ms);
  mux.append(2, "c\n", 92 * ms);
  EXPECT_EQ(take(mux), "bb\ncc\n");
}

TEST(LineMux, Stream_that_ends_while_it_is_not_read_lets_the_others_go_on) {
  LineMux mux = make_mux(2);
  mux.append(0, std::string(65, 'a'), 0);
  mux.append(1, "b\n", 0);
  mux.set_pause(0, Pause::by_reader, 0);
  mux.close(0);
  EXPECT_EQ(take(mux), std::string(65, 'a') + "\nb\n");
}

TEST(LineMux, End_of_stream_flushes_and_the_next_line_starts_on_its_own) {
  LineMux mux = make_mux(2);
  mux.append(0, "no newline", 0);
  mux.close(0);
  EXPECT_EQ(take(mux), "no newline");
  mux.append(1, "next\n", 0);
  EXPECT_EQ(take(mux), "\nnext\n");
}

TEST(LineMux, Single_unfinished_line_gets_no_newline) {
  LineMux mux = make_mux(1);
  mux.append(0, "x", 0);
  mux.close(0);
  EXPECT_EQ(take(mux), "x");
}

TEST(LineMux, Closing_holder_releases_those_who_wait) {
  LineMux mux = make_mux(2);
  mux.append(0, "open", 0);
  mux.tick(50 * ms);
  mux.append(1, "line\n", 51 * ms);
  mux.close(0);
  EXPECT_EQ(take(mux), "open\nline\n");
}

TEST(LineMux, Long_line_is_passed_on_in_pieces_and_stays_whole) {
  LineMux mux = make_mux(2);
  const std::string piece(65, 'a');
  mux.append(0, piece, 0);
  EXPECT_EQ(take(mux), piece);
  mux.append(1, "b\n", 1 * ms);
  mux.append(0, piece + "\n", 2 * ms);
  EXPECT_EQ(take(mux), piece + "\nb\n");
}

TEST(LineMux, Waiting_stream_is_held_back) {
  LineMux mux = make_mux(2);
  mux.append(0, std::string(65, 'a'), 0);
  mux.append(1, std::string(127, 'b'), 0);
  EXPECT_TRUE(mux.accepts(1));
  mux.append(1, "b\n", 0);
  EXPECT_FALSE(mux.accepts(1));
  mux.append(0, "\n", ms);
  EXPECT_TRUE(mux.accepts(1));
}

TEST(LineMux, Labels_begin_every_line_once) {
  LineMux mux({"[0] ", "[1] "}, {50 * ms, 64, 128});
  mux.append(0, "a\nb", 0);
  mux.append(1, "c\n", 0);
  mux.tick(50 * ms);
  mux.append(0, "b\n", 60 * ms);
  EXPECT_EQ(take(mux), "[0] a\n[1] c\n[0] bb\n");
}

TEST(LineMux, Two_prompts_do_not_spin) {
  LineMux mux = make_mux(2);
  mux.append(0, "a? ", 0);
  mux.append(1, "b? ", 0);
  mux.tick(50 * ms);
  EXPECT_EQ(take(mux), "a? \nb? ");
  EXPECT_EQ(mux.deadline(), never_ns);
}

/// Random pieces of many streams: no byte is lost, each stream's bytes keep their order, and no
/// line holds bytes of two streams. Stream i writes only the letter 'a' + i and newlines.
TEST(LineMux, Random_pieces_keep_lines_pure) {
  std::mt19937 random(99);
  for (int round = 0; round < 300; ++round) {
    LineMux mux = make_mux(4);
    std::map<char, std::size_t> sent;
    std::int64_t now = 0;
    std::string text;
    for (int step = 0; step < 200; ++step) {
      const std::size_t stream = random() % 4;
      std::string piece;
      for (std::size_t i = random() % 40; i > 0; --i) {
        piece += random() % 12 == 0 ? '\n' : static_cast<char>('a' + stream);
      }
      for (const char letter : piece) ++sent[letter];
      mux.append(stream, piece, now);
      now += static_cast<std::int64_t>(random() % 30) * ms;
      while (mux.deadline() <= now) mux.tick(now);
      text += take(mux);
    }
    for (std::size_t stream = 0; stream < 4; ++stream) mux.close(stream);
    text += take(mux);
    for (char letter = 'a'; letter < 'e'; ++letter) {
      EXPECT_EQ(std::count(text.begin(), text.end(), letter), static_cast<long>(sent[letter]));
    }
    for (std::size_t i = 1; i < text.size(); ++i) {
      const bool inside = text[i] != '\n' && text[i - 1] != '\n';
      ASSERT_TRUE(!inside || text[i] == text[i - 1]) << "at " << i;
    }
  }
}

}  // namespace
}  // namespace fulmar::mpiexec
