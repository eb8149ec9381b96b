// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <rwapi.h>

#include <algorithm>
#include <cstring>
#include <deque>

#include "support/expect.h"

// What the programs that test RWAPI share.
namespace test {

template <class T>
rwapi_small small_of(const T& value) {
  static_assert(sizeof value <= RWAPI_SMALL_BYTES);
  rwapi_small message{};
  std::memcpy(message.data, &value, sizeof value);
  return message;
}

template <class T>
T value_of(const rwapi_small& message) {
  static_assert(sizeof(T) <= RWAPI_SMALL_BYTES);
  T value;
  std::memcpy(&value, message.data, sizeof value);
  return value;
}

/// Sends, and tries again while the queue is full.
inline void send(rwapi_node to, const rwapi_small& message) {
  await(
      [&] {
        const int code = rwapi_send(to, message);
        if (code != RWAPI_ERR_FULL) expect_equal(code, RWAPI_OK, "rwapi_send");
        return code != RWAPI_ERR_FULL;
      },
      "room in the queue");
}

struct Received {
  rwapi_node from;
  rwapi_small message;
};
/// Messages that were received while one of another node was awaited.
inline std::deque<Received>& kept() {
  static std::deque<Received> messages;
  return messages;
}
/// One look.
inline void keep_one() {
  Received received{-1, {}};
  if (rwapi_receive(&received.from, &received.message) == 1) kept().push_back(received);
}
/// The oldest message of this node.
template <class T>
T receive_from(rwapi_node from) {
  T value{};
  await(
      [&] {
        const auto place =
            std::ranges::find_if(kept(), [&](const Received& each) { return each.from == from; });
        if (place == kept().end()) {
          keep_one();
          return false;
        }
        value = value_of<T>(place->message);
        kept().erase(place);
        return true;
      },
      "a small message");
  return value;
}

/// How a write has ended.
inline int ended(rwapi_sid sid) {
  if (sid < 0) return static_cast<int>(sid);
  int code = 0;
  await([&] { return (code = rwapi_issent(sid)) != 0; }, "the end of a write");
  return code;
}

inline void begin() {
  expect_equal(rwapi_init(0, nullptr), RWAPI_OK, "rwapi_init");
  own_rank() = rwapi_rank();
}

/// Every process sends `mine` to every other and gets theirs, by rank.
template <class T, class Values>
void exchange(const T& mine, Values& all) {
  all.resize(static_cast<std::size_t>(rwapi_size()));
  all[static_cast<std::size_t>(rwapi_rank())] = mine;
  for (int node = 0; node < rwapi_size(); ++node) {
    if (node != rwapi_rank()) send(node, small_of(mine));
  }
  for (int node = 0; node < rwapi_size(); ++node) {
    if (node != rwapi_rank()) all[static_cast<std::size_t>(node)] = receive_from<T>(node);
  }
}

}  // namespace test
