// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/transport/node_segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <vector>

#include "base/os/unix_socket.h"

namespace fulmar::device {
namespace {

constexpr std::size_t bytes = 3 * 4096 + 5;
constexpr wire::ProcessName one = {7, 1};
constexpr wire::ProcessName two = {9, 0};

NodeSegment made() {
  auto segment = NodeSegment::make(bytes);
  EXPECT_TRUE(segment.ok()) << segment.error().text();
  return std::move(*segment);
}

TEST(NodeSegment, Is_zero_and_can_be_written_to_its_end) {
  const NodeSegment segment = made();
  ASSERT_EQ(segment.memory().size(), bytes);
  for (const std::byte byte : segment.memory()) ASSERT_EQ(byte, std::byte{0});
  segment.memory().back() = std::byte{1};
  EXPECT_NE(::ftruncate(segment.file(), 1), 0) << "its size is sealed";
}

TEST(NodeSegment, Is_shared_by_those_who_are_expected_of_any_job) {
  const NodeSegment segment = made();
  auto offer = SegmentOffer::open(segment, {one, two});
  ASSERT_TRUE(offer.ok()) << offer.error().text();
  SegmentRequest first((*offer)->ticket(), one);
  SegmentRequest second((*offer)->ticket(), two);
  ASSERT_TRUE(first.ask().ok());
  auto early = first.take();
  ASSERT_TRUE(early.ok());
  EXPECT_FALSE(early->has_value()) << "before it was served";
  EXPECT_EQ((*offer)->serve(), 1U);
  ASSERT_TRUE(second.ask().ok());
  EXPECT_EQ((*offer)->serve(), 0U);
  segment.memory()[bytes - 1] = std::byte{42};
  for (SegmentRequest* const request : {&first, &second}) {
    auto mapped = request->take();
    ASSERT_TRUE(mapped.ok()) << mapped.error().text();
    ASSERT_TRUE(mapped->has_value());
    EXPECT_EQ((*mapped)->memory().size(), bytes);
    EXPECT_EQ((*mapped)->memory()[bytes - 1], std::byte{42});
    EXPECT_NE((*mapped)->memory().data(), segment.memory().data());
  }
}

TEST(NodeSegment, Reaches_another_process_and_outlives_its_maker) {
  auto segment = std::make_unique<NodeSegment>(made());
  auto offer = SegmentOffer::open(*segment, {one});
  ASSERT_TRUE(offer.ok());
  SegmentRequest request((*offer)->ticket(), one);
  const pid_t child = ::fork();
  if (child == 0) {
    // The answer comes from the parent, which the child waits for.
    if (request.ask().failed()) ::_exit(1);
    while (true) {
      auto mapped = request.take();
      if (mapped.failed()) ::_exit(2);
      if (!mapped->has_value()) continue;
      (*mapped)->memory()[0] = std::byte{5};
      ::_exit(0);
    }
  }
  while ((*offer)->serve() != 0) std::this_thread::yield();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(segment->memory()[0], std::byte{5});
}

/// A process may be accepted between its connect and its hello, which is not the end of it.
TEST(SegmentOffer, Waits_for_hellos_without_blocking) {
  const NodeSegment segment = made();
  auto offer = SegmentOffer::open(segment, {one});
  ASSERT_TRUE(offer.ok());
  const wire::SegmentTicket ticket = (*offer)->ticket();
  const base::UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const base::AbstractAddress address(wire::segment_socket_name(ticket));
  ASSERT_EQ(::connect(socket.get(), address.get(), address.size()), 0);
  EXPECT_EQ((*offer)->serve(), 1U);
  EXPECT_EQ((*offer)->serve(), 1U);
  wire::SegmentHello hello;
  hello.job = one.job;
  hello.rank = one.rank;
  hello.engine = one.engine;
  hello.secret = ticket.secret;
  ASSERT_EQ(::send(socket.get(), &hello, sizeof hello, 0), ssize_t{sizeof hello});
  EXPECT_EQ((*offer)->serve(), 0U);
  wire::SegmentGrant grant;
  ASSERT_EQ(::recv(socket.get(), &grant, sizeof grant, MSG_DONTWAIT), ssize_t{sizeof grant});
  EXPECT_EQ(grant.bytes, bytes);
}
/// More connections that say nothing than are kept do not keep out who is expected.
TEST(SegmentOffer, Silent_strangers_give_way) {
  const NodeSegment segment = made();
  auto offer = SegmentOffer::open(segment, {one});
  ASSERT_TRUE(offer.ok());
  const base::AbstractAddress address(wire::segment_socket_name((*offer)->ticket()));
  std::vector<base::UniqueFd> strangers;
  for (int i = 0; i < 40; ++i) {
    strangers.emplace_back(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    ASSERT_EQ(::connect(strangers.back().get(), address.get(), address.size()), 0);
    EXPECT_EQ((*offer)->serve(), 1U);
  }
  char byte = 0;
  EXPECT_EQ(::recv(strangers.front().get(), &byte, 1, MSG_DONTWAIT), 0) << "closed";
  EXPECT_EQ(::recv(strangers.back().get(), &byte, 1, MSG_DONTWAIT), -1) << "kept";
  SegmentRequest request((*offer)->ticket(), one);
  ASSERT_TRUE(request.ask().ok());
  EXPECT_EQ((*offer)->serve(), 0U);
}

TEST(SegmentOffer, Gives_nothing_to_strangers) {
  const NodeSegment segment = made();
  auto offer = SegmentOffer::open(segment, {one});
  ASSERT_TRUE(offer.ok());
  wire::SegmentTicket wrong = (*offer)->ticket();
  wrong.secret[31] ^= 1;
  SegmentRequest strangers[] = {
      {wrong, one}, {(*offer)->ticket(), two}, {(*offer)->ticket(), {7, 1, 1}}};
  for (SegmentRequest& stranger : strangers) {
    ASSERT_TRUE(stranger.ask().ok());
    EXPECT_EQ((*offer)->serve(), 1U);
    EXPECT_TRUE(stranger.take().failed());
  }
  SegmentRequest genuine((*offer)->ticket(), one);
  ASSERT_TRUE(genuine.ask().ok());
  EXPECT_EQ((*offer)->serve(), 0U);
  EXPECT_TRUE(genuine.take().ok());
  SegmentRequest again((*offer)->ticket(), one);
  ASSERT_TRUE(again.ask().ok());
  EXPECT_EQ((*offer)->serve(), 0U);
  auto second = again.take();
  EXPECT_TRUE(second.failed() || !second->has_value()) << "each process gets it once";
}

TEST(SegmentRequest, Believes_no_other_size_than_the_ticket_says) {
  const NodeSegment segment = made();
  auto offer = SegmentOffer::open(segment, {one});
  ASSERT_TRUE(offer.ok());
  wire::SegmentTicket other = (*offer)->ticket();
  other.bytes += 4096;
  SegmentRequest request(other, one);
  ASSERT_TRUE(request.ask().ok());
  EXPECT_EQ((*offer)->serve(), 0U);
  EXPECT_TRUE(request.take().failed());
}

TEST(SegmentRequest, Fails_where_nobody_offers) {
  wire::SegmentTicket ticket;
  ticket.bytes = bytes;
  EXPECT_TRUE(SegmentRequest(ticket, one).ask().failed());
}

TEST(NodeSegment, A_file_that_can_shrink_is_not_mapped) {
  base::UniqueFd file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(::ftruncate(file.get(), bytes), 0);
  EXPECT_TRUE(NodeSegment::map(std::move(file), bytes).failed());
}

}  // namespace
}  // namespace fulmar::device
