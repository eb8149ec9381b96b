// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The last node is killed in the middle of long writes, to it and from it. Calls that need it end
// with RWAPI_ERR_FAILED; those between the others go on, and rwapi_finalize does not wait for it. Run
// by test_deaths.py, under --on-failure=continue.
#include <csignal>
#include <cstddef>
#include <vector>

#include "rwapi/nodes.h"

namespace {

using test::expect;
using test::expect_equal;

constexpr std::size_t block_bytes = std::size_t{8} << 20;

void await_failure(int dead, const rwapi_net& local, const rwapi_net& remote) {
  test::await(
      [&] {
        test::keep_one();
        return rwapi_send(dead, test::small_of(0)) == RWAPI_ERR_FAILED;
      },
      "RWAPI_ERR_FAILED of rwapi_send");
  expect_equal(rwapi_write(dead, local, remote, 8), RWAPI_ERR_FAILED, "a write to the dead");
}

}  // namespace

int main() {
  test::begin();
  const int dead = rwapi_size() - 1;
  rwapi_net local{};
  rwapi_net landing{};
  (void)rwapi_alloc(block_bytes, &local);
  (void)rwapi_alloc(block_bytes, &landing);
  std::vector<rwapi_net> landings;
  test::exchange(landing, landings);
  const rwapi_net remote = landings[static_cast<std::size_t>(dead)];
  std::vector<rwapi_sid> sids;
  if (rwapi_rank() == dead) {
    for (int node = 0; node < dead; ++node) {
      for (int i = 0; i < 3; ++i) {
        (void)rwapi_write(node, local, landings[static_cast<std::size_t>(node)], block_bytes);
      }
    }
    (void)::raise(SIGKILL);
  }
  for (int i = 0; i < 16; ++i) {
    const rwapi_sid sid = rwapi_write(dead, local, remote, block_bytes);
    if (sid < 0) {
      expect_equal(sid, RWAPI_ERR_FAILED, "a write that comes too late");
      break;
    }
    sids.push_back(sid);
  }
  await_failure(dead, local, remote);
  for (const rwapi_sid sid : sids) {
    const int code = test::ended(sid);
    expect(code == 1 || code == RWAPI_ERR_FAILED, "how a write to the dead has ended");
    expect_equal(rwapi_issent(sid), code, "the same again");
  }
  // The others go on.
  if (dead > 1) {
    const int to = (rwapi_rank() + 1) % dead;
    const rwapi_net good = landings[static_cast<std::size_t>(to)];
    expect_equal(test::ended(rwapi_write(to, local, good, block_bytes)), 1, "between the living");
    test::send(to, test::small_of(7));
    expect_equal(test::receive_from<int>((rwapi_rank() + dead - 1) % dead), 7,
                 "a message of the living");
  }
  expect_equal(rwapi_finalize(), RWAPI_OK, "finalize without the dead");
  return test::result();
}
