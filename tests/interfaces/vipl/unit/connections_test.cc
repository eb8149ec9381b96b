// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "vipl/connections.h"

#include <gtest/gtest.h>

#include <memory>
#include <span>

#include "vipl/messages.h"

/// Messages of connections in a provider that has not joined a job: what it sends stays in the outbox.
namespace fulmar::vipl {
namespace {

using wire::ViplKind;
using wire::ViplMessage;

constexpr std::uint32_t other_node = 5;
constexpr std::uint64_t own_token = 11;
constexpr std::uint64_t other_token = 22;

ViplMessage message(ViplKind kind) {
  ViplMessage made{};
  made.kind = kind;
  made.node = other_node;
  made.from = other_token;
  made.to = own_token;
  return made;
}

class ViplConnections : public ::testing::Test {
 protected:
  /// A VI in the middle of an attempt of this kind, whose link is `link`.
  ViplConnections() {
    vi = provider.vis.add(std::make_unique<Vi>());
    vi->state = VIP_STATE_CONNECT_PENDING;
    vi->token = own_token;
    vi->node = other_node;
    vi->peer = &peer_of(provider, other_node);
    vi->link = &link;
    vi->other = other_token;
    provider.by_token.emplace(own_token, vi);
    link.bytes = sizeof(wire::ViplArea);
  }
  void come(ViplKind kind) {
    const ViplMessage each = message(kind);
    on_message(provider, std::as_bytes(std::span(&each, 1)));
  }
  void link_is(RemoteSegment::State state) {
    link.state = state;
    on_link(provider, *vi);
  }

  Provider provider;
  RemoteSegment link;
  Vi* vi = nullptr;
};

/// The segments by which a process is found are there before VipOpenNic has returned.
TEST_F(ViplConnections, A_request_that_comes_before_the_NIC_is_kept) {
  ASSERT_EQ(provider.nics.live(), 0U);
  come(ViplKind::request);
  EXPECT_EQ(provider.arrived.size(), 1U);
}

/// Either end may disconnect as soon as it is connected; so neither is before the other one can be.
TEST_F(ViplConnections, Neither_end_is_connected_before_the_other_can_reach_it) {
  for (const auto kind : {Attempt::Kind::client, Attempt::Kind::server, Attempt::Kind::peer}) {
    vi->attempt = {};
    vi->attempt.kind = kind;
    vi->state = VIP_STATE_CONNECT_PENDING;
    link_is(RemoteSegment::State::ready);
    EXPECT_EQ(provider.peers.at(other_node)->outbox.back().kind, ViplKind::established);
    EXPECT_EQ(vi->state, VIP_STATE_CONNECT_PENDING);
    come(ViplKind::established);
    EXPECT_EQ(vi->state, VIP_STATE_CONNECTED);
    EXPECT_EQ(vi->attempt.result, VIP_SUCCESS);
  }
}

TEST_F(ViplConnections, An_end_that_disconnects_at_once_was_connected) {
  vi->attempt.kind = Attempt::Kind::client;
  link_is(RemoteSegment::State::ready);
  link_is(RemoteSegment::State::ended);
  come(ViplKind::established);
  come(ViplKind::disconnect);
  EXPECT_TRUE(vi->attempt.is_over);
  EXPECT_EQ(vi->attempt.result, VIP_SUCCESS);
  EXPECT_EQ(vi->state, VIP_STATE_ERROR);
}

/// A process may close its last NIC and open one again; of its end nobody comes back.
TEST_F(ViplConnections, An_unanswered_request_goes_on_when_the_other_process_closes_its_NICs) {
  vi->link = nullptr;
  vi->attempt.kind = Attempt::Kind::client;
  lose_node(provider, other_node, Loss::nics);
  const auto& outbox = provider.peers.at(other_node)->outbox;
  EXPECT_EQ(vi->state, VIP_STATE_CONNECT_PENDING);
  ASSERT_EQ(outbox.size(), 1U);
  EXPECT_EQ(outbox.front().kind, ViplKind::request);
  EXPECT_EQ(outbox.front().from, own_token);
  lose_node(provider, other_node, Loss::process);
  EXPECT_EQ(vi->attempt.result, VIP_NOT_REACHABLE);
  EXPECT_EQ(vi->state, VIP_STATE_IDLE);
}

TEST_F(ViplConnections, An_end_that_has_given_up_ends_the_attempt_with_VIP_TIMEOUT) {
  vi->attempt.kind = Attempt::Kind::server;
  link.was_withdrawn = true;
  link_is(RemoteSegment::State::failed);
  EXPECT_EQ(vi->attempt.result, VIP_TIMEOUT);
  EXPECT_EQ(vi->state, VIP_STATE_IDLE);
}

}  // namespace
}  // namespace fulmar::vipl
