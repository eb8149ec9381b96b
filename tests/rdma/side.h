// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <infiniband/verbs.h>
#include <stddef.h>
#include <stdint.h>

/// One of the two processes that verbs_ping connects. Whatever fails ends the process with a text.

enum { half_bytes = 1 << 20, inline_bytes = 64, port = 1 };

/// What one side tells the other. Both have the same byte order.
struct Address {
  uint64_t memory;
  uint32_t key;
  uint32_t queue_pair;
  uint32_t first_packet;
  uint16_t lid;
  uint8_t gid[16];
};

enum Role { active, passive };

struct Side {
  enum Role role;
  int wire;  // to the other side
  struct ibv_context* context;
  struct ibv_pd* domain;
  struct ibv_comp_channel* channel;
  struct ibv_cq* completions;
  struct ibv_srq* receives;
  struct ibv_qp* pair;
  struct ibv_mr* region;
  struct ibv_mr* opened;  // what is open for one use; null: none
  struct ibv_port_attr port;
  uint8_t gid_index;
  unsigned char* memory;  // what is sent in the first half, what comes in the second
  struct Address self;
  struct Address other;
};

/// Ends the process with a text and, where there is one, the error in errno.
_Noreturn void fail(const char* format, ...);
/// Fails where something does not hold.
void need(int holds, const char* what);

/// Opens the first device of this host and connects to the other side, which does the same. `role`
/// and `wire` are given.
void set_up(struct Side* side);
/// Returns when both sides have called it.
void meet(const struct Side* side);
/// Where the other side's data come to.
unsigned char* incoming(const struct Side* side);
/// Registers the incoming half once more, with other access.
void open_incoming(struct Side* side, int access);
/// Tells the key of that to the other side, which uses it from now on; and as meet. A side that has
/// opened nothing tells its usual key.
void exchange_key(struct Side* side);
/// Ends both.
void close_incoming(struct Side* side);
