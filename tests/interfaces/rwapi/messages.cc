// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Small messages and writes between nodes: content, order, full queues, addresses of all kinds that
// a node must refuse, SIDs of several destinations, blocks that are freed under writes, twice in
// one process.
// ranks: 2 4
// networks: tcp
// timeout: 120
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "rwapi/nodes.h"

namespace {

using test::expect;
using test::expect_equal;

constexpr std::size_t block_bytes = std::size_t{3} << 20;

std::size_t index(int node) { return static_cast<std::size_t>(node); }

unsigned char pattern(int from, std::size_t at) {
  return static_cast<unsigned char>(static_cast<std::size_t>(from) * 37 + at * 11 + at / 251);
}

struct Landing {
  rwapi_net net;
};

/// Each node writes to a slot of its own in the block of each other, at many lengths; the small
/// message behind it says how long it was.
void check_writes(const std::vector<Landing>& landings, const rwapi_net& source, unsigned char* out,
                  const unsigned char* in) {
  struct Note {
    std::uint64_t bytes;
    std::uint64_t offset;
  };
  const int size = rwapi_size();
  const std::size_t slot = block_bytes / index(size);
  for (std::size_t bytes : {std::size_t{1}, std::size_t{8}, std::size_t{4000}, std::size_t{4097},
                            std::size_t{100'000}, slot}) {
    for (std::size_t i = 0; i < bytes; ++i) out[i] = pattern(rwapi_rank(), i + bytes);
    std::vector<rwapi_sid> sids;
    for (int step = 1; step < size; ++step) {
      const int to = (rwapi_rank() + step) % size;
      rwapi_net remote = landings[index(to)].net;
      remote.offset += slot * index(rwapi_rank());
      const rwapi_sid sid = rwapi_write(to, source, remote, bytes);
      expect(sid >= 0, "a write");
      sids.push_back(sid);
      test::send(to, test::small_of(Note{bytes, slot * index(rwapi_rank())}));
    }
    for (int step = 1; step < size; ++step) {
      const int from = (rwapi_rank() + step) % size;
      const auto note = test::receive_from<Note>(from);
      expect_equal(note.bytes, bytes, "the length that was announced");
      const unsigned char* const at = in + note.offset;
      bool same = true;
      for (std::size_t i = 0; i < bytes; ++i) same &= at[i] == pattern(from, i + bytes);
      expect(same, "what was written is there before the small message behind it");
    }
    std::reverse(sids.begin(), sids.end());
    for (const rwapi_sid sid : sids) expect_equal(test::ended(sid), 1, "each SID for itself");
    std::vector<int> all;
    test::exchange(1, all);  // nobody overwrites before all have looked
  }
}

/// Node 0 sends more than the queue takes to node 1, which makes no call until it finds in its memory
/// that the queue is full: writes pass a full queue.
void check_full_queue(const std::vector<Landing>& landings, const rwapi_net& source,
                      unsigned char* out, unsigned char* in) {
  if (rwapi_rank() == 0) {
    // It makes no call after that. What it received before may not be known here yet.
    (void)test::receive_from<int>(1);
    for (int i = 0; i < RWAPI_QUEUE; ++i) test::send(1, test::small_of(i));
    for (int i = 0; i < 1000; ++i) {
      expect_equal(rwapi_send(1, test::small_of(0)), RWAPI_ERR_FULL, "one more");
    }
    *out = 1;
    expect_equal(test::ended(rwapi_write(1, source, landings[1].net, 1)), 1, "a write beside it");
    test::send(1, test::small_of(-1));
  } else if (rwapi_rank() == 1) {
    test::send(0, test::small_of(1));
    test::await([&] { return std::atomic_ref(*in).load(std::memory_order_acquire) == 1; },
                "the word that the queue is full");
    for (int i = 0; i < RWAPI_QUEUE; ++i) expect_equal(test::receive_from<int>(0), i, "the order");
    expect_equal(test::receive_from<int>(0), -1, "the first after a full queue");
  }
}

void check_refusals(const std::vector<Landing>& landings, const rwapi_net& source) {
  const int to = (rwapi_rank() + 1) % rwapi_size();
  const rwapi_net good = landings[index(to)].net;
  rwapi_net wrong = good;
  wrong.seal ^= std::uint64_t{1} << 63;
  expect_equal(test::ended(rwapi_write(to, source, wrong, 8)), RWAPI_ERR_ADDRESS, "forged");
  expect_equal(test::ended(rwapi_write(to, source, wrong, 100'000)), RWAPI_ERR_ADDRESS,
               "forged, long");
  expect_equal(test::ended(rwapi_write(to, source, wrong, 0)), RWAPI_ERR_ADDRESS, "forged, empty");
  wrong = good;
  wrong.block += 1;
  expect_equal(test::ended(rwapi_write(to, source, wrong, 8)), RWAPI_ERR_ADDRESS, "another block");
  wrong = good;
  wrong.block = 0x7fffffff;
  expect_equal(test::ended(rwapi_write(to, source, wrong, 8)), RWAPI_ERR_ADDRESS, "no block");
  wrong = good;
  wrong.generation += 1;
  expect_equal(test::ended(rwapi_write(to, source, wrong, 8)), RWAPI_ERR_ADDRESS, "generation");
  wrong = good;
  wrong.generation = 0;
  expect_equal(test::ended(rwapi_write(to, source, wrong, 8)), RWAPI_ERR_ADDRESS, "no generation");
  wrong = good;
  wrong.offset = block_bytes - 7;
  expect_equal(test::ended(rwapi_write(to, source, wrong, 8)), RWAPI_ERR_RANGE, "one byte beyond");
  wrong.offset = block_bytes - 99'999;
  expect_equal(test::ended(rwapi_write(to, source, wrong, 100'000)), RWAPI_ERR_RANGE,
               "one byte beyond, long");
  if (rwapi_size() > 2) {
    const rwapi_net third = landings[index((to + 1) % rwapi_size())].net;
    expect_equal(test::ended(rwapi_write(to, source, third, 8)), RWAPI_ERR_ADDRESS,
                 "an address of another node");
  }
  expect_equal(test::ended(rwapi_write(to, source, good, 8)), 1, "a good one after all that");
}

/// Blocks that are freed while others write to them: each write ends, well or with an error, and a
/// block that takes the place of a freed one is never written to.
void check_free_under_writes(const rwapi_net& source) {
  constexpr int rounds = 40;
  constexpr std::size_t bytes = 50'000;
  struct Turn {
    rwapi_net net;
    int round;
  };
  const int next = (rwapi_rank() + 1) % rwapi_size();
  const int before = (rwapi_rank() + rwapi_size() - 1) % rwapi_size();
  int stale = 0;
  for (int round = 0; round < rounds; ++round) {
    rwapi_net net{};
    void* const block = rwapi_alloc(bytes, &net);
    test::send(before, test::small_of(Turn{net, round}));
    const Turn turn = test::receive_from<Turn>(next);
    std::vector<rwapi_sid> sids;
    for (int i = 0; i < 4; ++i) sids.push_back(rwapi_write(next, source, turn.net, bytes));
    expect_equal(rwapi_free(block), RWAPI_OK, "free");
    rwapi_net other{};
    auto* const fresh = static_cast<unsigned char*>(rwapi_alloc(bytes, &other));
    for (const rwapi_sid sid : sids) {
      const int code = test::ended(sid);
      expect(code == 1 || code == RWAPI_ERR_ADDRESS, "a write to a block that goes");
    }
    std::vector<int> all;
    test::exchange(round, all);
    bool clean = true;
    for (std::size_t i = 0; i < bytes; ++i) clean &= fresh[i] == 0;
    expect(clean, "the block that took its place is untouched");
    const int code = test::ended(rwapi_write(next, source, turn.net, 8));
    stale += code == RWAPI_ERR_ADDRESS ? 1 : 0;
    test::exchange(round, all);
    expect_equal(rwapi_free(fresh), RWAPI_OK, "free of the fresh one");
  }
  expect_equal(stale, rounds, "stale addresses that were refused");
}

void run() {
  test::begin();
  rwapi_net source{};
  Landing landing{};
  auto* const out = static_cast<unsigned char*>(rwapi_alloc(block_bytes, &source));
  auto* const in = static_cast<unsigned char*>(rwapi_alloc(block_bytes, &landing.net));
  if (!expect(out != nullptr && in != nullptr, "two blocks")) std::_Exit(1);
  std::vector<Landing> landings;
  test::exchange(landing, landings);
  check_writes(landings, source, out, in);
  check_refusals(landings, source);
  std::vector<int> all;
  test::exchange(0, all);
  *in = 0;
  test::exchange(0, all);
  check_full_queue(landings, source, out, in);
  test::exchange(0, all);
  check_free_under_writes(source);
  expect_equal(rwapi_finalize(), RWAPI_OK, "finalize");
}

}  // namespace

int main() {
  run();
  run();
  return test::result();
}
