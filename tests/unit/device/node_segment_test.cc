// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "device/transport/node_segment.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <string>

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
  std::array<int, 2> asked{};
  ASSERT_EQ(::pipe(asked.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    // The answer comes from the parent, which the child waits for.
    if (request.ask().failed() || ::write(asked[1], "", 1) != 1) ::_exit(1);
    while (true) {
      auto mapped = request.take();
      if (mapped.failed()) ::_exit(2);
      if (!mapped->has_value()) continue;
      (*mapped)->memory()[0] = std::byte{5};
      ::_exit(0);
    }
  }
  // An offer is served once its process has heard that the other one has asked.
  char heard = 0;
  ASSERT_EQ(::read(asked[0], &heard, 1), 1);
  EXPECT_EQ((*offer)->serve(), 0U);
  for (const int end : asked) ::close(end);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(segment->memory()[0], std::byte{5});
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
