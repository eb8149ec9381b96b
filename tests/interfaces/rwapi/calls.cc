// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Every call of RWAPI with every error that one process can make, and messages to itself.
// ranks: 1 2 4
// networks: tcp
#include <cstdint>

#include "rwapi/nodes.h"

namespace {

using test::expect;
using test::expect_equal;

void check_before_init() {
  rwapi_node node = 0;
  rwapi_small message{};
  rwapi_net net{};
  expect_equal(rwapi_size(), RWAPI_ERR_STATE, "size before init");
  expect_equal(rwapi_rank(), RWAPI_ERR_STATE, "rank before init");
  expect_equal(rwapi_finalize(), RWAPI_ERR_STATE, "finalize before init");
  expect(rwapi_alloc(64, &net) == nullptr, "alloc before init");
  expect_equal(rwapi_free(&net), RWAPI_ERR_STATE, "free before init");
  expect_equal(rwapi_send(0, message), RWAPI_ERR_STATE, "send before init");
  expect_equal(rwapi_receive(&node, &message), RWAPI_ERR_STATE, "receive before init");
  expect_equal(rwapi_write(0, net, net, 1), RWAPI_ERR_STATE, "write before init");
  expect_equal(rwapi_issent(0), RWAPI_ERR_STATE, "issent before init");
}

void check_arguments() {
  rwapi_net net{};
  rwapi_node node = 0;
  rwapi_small message{};
  expect_equal(rwapi_init(0, nullptr), RWAPI_ERR_STATE, "init twice");
  expect(rwapi_alloc(0, &net) == nullptr, "no bytes");
  expect(rwapi_alloc(64, nullptr) == nullptr, "no place for the address");
  expect(rwapi_alloc(SIZE_MAX / 2, &net) == nullptr, "more than there is");
  expect_equal(rwapi_free(&net), RWAPI_ERR_MEMORY, "free of the stack");
  expect_equal(rwapi_free(nullptr), RWAPI_ERR_MEMORY, "free of nothing");
  expect_equal(rwapi_send(-1, message), RWAPI_ERR_NODE, "send to node -1");
  expect_equal(rwapi_send(rwapi_size(), message), RWAPI_ERR_NODE, "send beyond the last node");
  expect_equal(rwapi_receive(nullptr, &message), RWAPI_ERR_ARGUMENT, "receive without a node");
  expect_equal(rwapi_receive(&node, nullptr), RWAPI_ERR_ARGUMENT, "receive without a message");
  expect_equal(rwapi_write(-1, net, net, 1), RWAPI_ERR_NODE, "write to node -1");
  expect_equal(rwapi_write(rwapi_size(), net, net, 1), RWAPI_ERR_NODE, "write beyond the last");
  expect_equal(rwapi_issent(-1), RWAPI_ERR_SID, "a negative SID");
  expect_equal(rwapi_issent(1000), RWAPI_ERR_SID, "an SID that was never given");
}

/// Messages of a process to itself, and what is wrong with an own address.
void check_self() {
  const rwapi_node self = rwapi_rank();
  rwapi_net net{};
  auto* const block = static_cast<unsigned char*>(rwapi_alloc(1000, &net));
  expect(block != nullptr && reinterpret_cast<std::uintptr_t>(block) % 64 == 0, "an aligned block");
  for (int i = 0; i < 1000; ++i) expect(block[i] == 0, "zeros");
  for (int i = 0; i < 500; ++i) block[i] = static_cast<unsigned char>(i);
  rwapi_net half = net;
  half.offset = 500;
  expect_equal(test::ended(rwapi_write(self, net, half, 500)), 1, "a write to the own block");
  for (int i = 0; i < 500; ++i) expect(block[500 + i] == block[i], "the copy");
  expect_equal(test::ended(rwapi_write(self, net, half, 0)), 1, "nothing");
  expect_equal(rwapi_write(self, net, half, 501), RWAPI_ERR_RANGE, "a byte beyond, remote");
  expect_equal(rwapi_write(self, half, net, 501), RWAPI_ERR_RANGE, "a byte beyond, local");
  rwapi_net wrong = net;
  wrong.offset = UINT64_MAX;
  expect_equal(rwapi_write(self, net, wrong, 2), RWAPI_ERR_RANGE, "an offset that wraps");
  wrong = net;
  wrong.seal ^= 1;
  expect_equal(rwapi_write(self, net, wrong, 1), RWAPI_ERR_ADDRESS, "a forged seal");
  expect_equal(rwapi_write(self, wrong, net, 1), RWAPI_ERR_ADDRESS, "the same, local");
  wrong = net;
  ++wrong.generation;
  expect_equal(rwapi_write(self, net, wrong, 1), RWAPI_ERR_ADDRESS, "another generation");
  wrong = net;
  wrong.block = UINT32_MAX;
  expect_equal(rwapi_write(self, net, wrong, 1), RWAPI_ERR_ADDRESS, "a block that is none");
  expect_equal(rwapi_free(block + 64), RWAPI_ERR_MEMORY, "the middle of a block");
  expect_equal(rwapi_free(block), RWAPI_OK, "free");
  expect_equal(rwapi_free(block), RWAPI_ERR_MEMORY, "free twice");
  expect_equal(rwapi_write(self, net, net, 1), RWAPI_ERR_ADDRESS, "a freed block");
  rwapi_net again{};
  auto* const next = static_cast<unsigned char*>(rwapi_alloc(1000, &again));
  for (int i = 0; i < 1000; ++i) expect(next[i] == 0, "zeros in memory that was used");
  expect_equal(rwapi_write(self, again, net, 1), RWAPI_ERR_ADDRESS, "a stale address");
  expect_equal(rwapi_free(next), RWAPI_OK, "free of the next");
}

/// The queue to a node that does not receive is full at RWAPI_QUEUE, and nothing blocks.
void check_queue_to_self() {
  const rwapi_node self = rwapi_rank();
  for (int i = 0; i < RWAPI_QUEUE; ++i) {
    expect_equal(rwapi_send(self, test::small_of(i)), RWAPI_OK, "room");
  }
  expect_equal(rwapi_send(self, test::small_of(0)), RWAPI_ERR_FULL, "no room");
  for (int i = 0; i < RWAPI_QUEUE; ++i) {
    expect_equal(test::receive_from<int>(self), i, "the order");
  }
  rwapi_node node = 0;
  rwapi_small message{};
  expect_equal(rwapi_receive(&node, &message), 0, "nothing more");
}

}  // namespace

int main() {
  check_before_init();
  test::begin();
  expect(rwapi_size() >= 1 && rwapi_rank() < rwapi_size(), "size and rank");
  check_arguments();
  check_self();
  check_queue_to_self();
  expect_equal(rwapi_finalize(), RWAPI_OK, "finalize");
  expect_equal(rwapi_finalize(), RWAPI_ERR_STATE, "finalize twice");
  check_before_init();
  return test::result();
}
