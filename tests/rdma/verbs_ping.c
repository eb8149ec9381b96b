// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// usage: verbs_ping                        two processes on this host
//        verbs_ping serve PORT             one side, on one host
//        verbs_ping connect ADDRESS PORT   the other one
//
// Two processes move data over a reliable connection of the first verbs device, in each way that
// Fulmar uses: whether the device works, without Fulmar. Prints a line for each; exits with 1 at
// the first that fails.
#include <arpa/inet.h>
#include <errno.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "side.h"

enum { short_bytes = 1000, long_bytes = 300001, patience_s = 30 };

// Memory

static unsigned char letter_at(size_t place, unsigned seed) {
  return (unsigned char)(place * 31 + place / 251 + seed);
}

static void fill(unsigned char* memory, size_t bytes, unsigned seed) {
  for (size_t i = 0; i < bytes; ++i) {
    memory[i] = letter_at(i, seed);
  }
}

/// The bytes have arrived, and the one behind them is as it was.
static void check(const unsigned char* memory, size_t bytes, unsigned seed) {
  errno = 0;
  for (size_t i = 0; i < bytes; ++i) {
    if (memory[i] != letter_at(i, seed)) {
      fail("byte %zu of %zu is %u instead of %u", i, bytes, memory[i], letter_at(i, seed));
    }
  }
  need(memory[bytes] == 0, "something was written behind the data");
}

static void clear_incoming(const struct Side* side) { memset(incoming(side), 0, half_bytes); }

// Work

static void post_receive(struct Side* side) {
  struct ibv_sge piece = {(uint64_t)(uintptr_t)incoming(side), half_bytes, side->region->lkey};
  struct ibv_recv_wr request = {.sg_list = &piece, .num_sge = 1};
  struct ibv_recv_wr* bad = NULL;
  need(ibv_post_srq_recv(side->receives, &request, &bad) == 0, "ibv_post_srq_recv");
}

/// Sends, writes or reads `bytes` from the start of the memory on; to the other's incoming half.
static void post(struct Side* side, enum ibv_wr_opcode what, uint32_t bytes, unsigned flags) {
  struct ibv_sge piece = {(uint64_t)(uintptr_t)side->memory, bytes, side->region->lkey};
  if (flags & IBV_SEND_INLINE) {
    piece.lkey = 0;  // its memory needs no registration
  }
  struct ibv_send_wr request = {.sg_list = &piece,
                                .num_sge = 1,
                                .opcode = what,
                                .send_flags = IBV_SEND_SIGNALED | flags,
                                .imm_data = htonl(bytes)};
  if (what == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    request.wr.atomic.remote_addr = side->other.memory;
    request.wr.atomic.rkey = side->other.key;
    request.wr.atomic.compare_add = bytes;
  } else {
    request.wr.rdma.remote_addr = side->other.memory;
    request.wr.rdma.rkey = side->other.key;
  }
  struct ibv_send_wr* bad = NULL;
  need(ibv_post_send(side->pair, &request, &bad) == 0, "ibv_post_send");
}

static time_t seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

/// The next completion, whatever it says, by polling.
static struct ibv_wc any_completion(struct Side* side) {
  const time_t end = seconds() + patience_s;
  struct ibv_wc completion;
  int count = 0;
  errno = 0;
  while ((count = ibv_poll_cq(side->completions, 1, &completion)) == 0) {
    need(seconds() < end, "no completion came");
    sched_yield();
  }
  need(count == 1, "ibv_poll_cq");
  return completion;
}

static struct ibv_wc completion(struct Side* side) {
  const struct ibv_wc found = any_completion(side);
  if (found.status != IBV_WC_SUCCESS) {
    fail("completed with: %s", ibv_wc_status_str(found.status));
  }
  return found;
}

/// Sleeps until the completion queue tells of a completion.
static void sleep_for_event(struct Side* side) {
  struct pollfd descriptor = {.fd = side->channel->fd, .events = POLLIN};
  need(poll(&descriptor, 1, patience_s * 1000) == 1, "no completion event came");
  struct ibv_cq* queue = NULL;
  void* context = NULL;
  need(ibv_get_cq_event(side->channel, &queue, &context) == 0, "ibv_get_cq_event");
  ibv_ack_cq_events(queue, 1);
}

// What is tried. Both sides call each of these.

static void send_is_received(struct Side* side, uint32_t bytes, unsigned flags) {
  clear_incoming(side);
  if (side->role == passive) {
    post_receive(side);
  }
  meet(side);
  if (side->role == active) {
    fill(side->memory, bytes, bytes);
    post(side, IBV_WR_SEND, bytes, flags);
    completion(side);
  } else {
    const struct ibv_wc received = completion(side);
    need(received.opcode == IBV_WC_RECV && received.byte_len == bytes, "another length came");
    check(incoming(side), bytes, bytes);
  }
  meet(side);
}

static void receiver_sleeps(struct Side* side) {
  clear_incoming(side);
  if (side->role == passive) {
    post_receive(side);
    need(ibv_req_notify_cq(side->completions, 0) == 0, "ibv_req_notify_cq");
  }
  meet(side);
  if (side->role == active) {
    fill(side->memory, short_bytes, 1);
    post(side, IBV_WR_SEND, short_bytes, 0);
  } else {
    sleep_for_event(side);
    check(incoming(side), short_bytes, 1);
  }
  completion(side);
  meet(side);
}

/// Without a receive: the receiver looks at the last byte.
static void write_arrives(struct Side* side) {
  clear_incoming(side);
  meet(side);
  if (side->role == active) {
    fill(side->memory, long_bytes, 2);
    post(side, IBV_WR_RDMA_WRITE, long_bytes, 0);
    completion(side);
  } else {
    const volatile unsigned char* const last = incoming(side) + long_bytes - 1;
    const time_t end = seconds() + patience_s;
    while (*last != letter_at(long_bytes - 1, 2)) {
      need(seconds() < end, "the write did not arrive");
      sched_yield();
    }
    check(incoming(side), long_bytes, 2);
  }
  meet(side);
}

/// Of writes and sends through one pair, what was written is there when the send is received. The
/// other side opens memory for this alone, and closes it.
static void write_is_there_before_a_send(struct Side* side) {
  clear_incoming(side);
  if (side->role == passive) {
    open_incoming(side, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    post_receive(side);
  }
  exchange_key(side);
  if (side->role == active) {
    fill(side->memory, long_bytes, 6);
    post(side, IBV_WR_RDMA_WRITE, long_bytes, 0);
    post(side, IBV_WR_SEND, 0, 0);
    completion(side);
    completion(side);
  } else {
    completion(side);
    check(incoming(side), long_bytes, 6);
  }
  meet(side);
  close_incoming(side);
}

/// From memory that is open for this alone.
static void read_only_memory_is_read(struct Side* side) {
  clear_incoming(side);
  if (side->role == passive) {
    fill(incoming(side), long_bytes, 7);
    open_incoming(side, IBV_ACCESS_REMOTE_READ);
  } else {
    memset(side->memory, 0, half_bytes);
  }
  exchange_key(side);
  if (side->role == active) {
    post(side, IBV_WR_RDMA_READ, long_bytes, 0);
    completion(side);
    check(side->memory, long_bytes, 7);
  }
  meet(side);
  close_incoming(side);
}

static void write_with_immediate_is_told(struct Side* side) {
  clear_incoming(side);
  if (side->role == passive) {
    post_receive(side);
  }
  meet(side);
  if (side->role == active) {
    fill(side->memory, long_bytes, 3);
    post(side, IBV_WR_RDMA_WRITE_WITH_IMM, long_bytes, 0);
    completion(side);
  } else {
    const struct ibv_wc received = completion(side);
    need((received.wc_flags & IBV_WC_WITH_IMM) != 0 && ntohl(received.imm_data) == long_bytes,
         "another immediate came");
    check(incoming(side), long_bytes, 3);
  }
  meet(side);
}

static void read_fetches(struct Side* side) {
  clear_incoming(side);
  if (side->role == passive) {
    fill(incoming(side), long_bytes, 4);
  } else {
    memset(side->memory, 0, half_bytes);
  }
  meet(side);
  if (side->role == active) {
    post(side, IBV_WR_RDMA_READ, long_bytes, 0);
    completion(side);
    check(side->memory, long_bytes, 4);
  }
  meet(side);
}

static void atomic_adds(struct Side* side) {
  uint64_t value = 40;
  clear_incoming(side);
  memcpy(incoming(side), &value, sizeof value);
  meet(side);
  if (side->role == active) {
    post(side, IBV_WR_ATOMIC_FETCH_AND_ADD, sizeof value, 0);
    completion(side);
    memcpy(&value, side->memory, sizeof value);
    need(value == 40, "another value was fetched");
  }
  meet(side);
  if (side->role == passive) {
    memcpy(&value, incoming(side), sizeof value);
    need(value == 40 + sizeof value, "nothing was added");
  }
  meet(side);
}

/// The connection does not survive it, so this comes last.
static void wrong_key_is_refused(struct Side* side) {
  clear_incoming(side);
  meet(side);
  if (side->role == active) {
    side->other.key ^= 0x5a5a00;
    fill(side->memory, short_bytes, 5);
    post(side, IBV_WR_RDMA_WRITE, short_bytes, 0);
    need(any_completion(side).status == IBV_WC_REM_ACCESS_ERR, "a wrong key was not refused");
  }
  meet(side);
  need(incoming(side)[0] == 0, "a wrong key was good for a write");
}

static void passed(const struct Side* side, const char* name) {
  if (side->role == active) {
    printf("ok %s\n", name);
    fflush(stdout);
  }
}

static void try_all(struct Side* side) {
  set_up(side);
  send_is_received(side, short_bytes, 0);
  passed(side, "send");
  send_is_received(side, 0, 0);
  passed(side, "empty send");
  send_is_received(side, inline_bytes, IBV_SEND_INLINE);
  passed(side, "inline send");
  send_is_received(side, long_bytes, 0);
  passed(side, "long send");
  receiver_sleeps(side);
  passed(side, "completion event");
  write_arrives(side);
  passed(side, "write");
  write_is_there_before_a_send(side);
  passed(side, "write before send");
  write_with_immediate_is_told(side);
  passed(side, "write with immediate");
  read_fetches(side);
  passed(side, "read");
  read_only_memory_is_read(side);
  passed(side, "read of read-only memory");
  atomic_adds(side);
  passed(side, "atomic");
  wrong_key_is_refused(side);
  passed(side, "refusal");
}

// Sides

static int serve(int tcp_port) {
  const int door = socket(AF_INET, SOCK_STREAM, 0);
  const int yes = 1;
  setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)tcp_port)};
  need(bind(door, (struct sockaddr*)&place, sizeof place) == 0 && listen(door, 1) == 0,
       "cannot listen");
  const int wire = accept(door, NULL, NULL);
  need(wire >= 0, "accept");
  close(door);
  return wire;
}

/// Tries until somebody listens there.
static int reach(const char* address, int tcp_port) {
  struct sockaddr_in place = {.sin_family = AF_INET, .sin_port = htons((uint16_t)tcp_port)};
  need(inet_pton(AF_INET, address, &place.sin_addr) == 1, "not an IPv4 address");
  const time_t end = seconds() + patience_s;
  while (1) {
    const int wire = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(wire, (struct sockaddr*)&place, sizeof place) == 0) {
      return wire;
    }
    need(errno == ECONNREFUSED && seconds() < end, "cannot connect");
    close(wire);
    poll(NULL, 0, 50);
  }
}

/// Two processes: what was opened before a fork is of no use behind it.
static int run_here(void) {
  int wires[2];
  need(socketpair(AF_UNIX, SOCK_STREAM, 0, wires) == 0, "socketpair");
  const pid_t child = fork();
  need(child >= 0, "fork");
  close(wires[child == 0 ? 0 : 1]);
  struct Side side = {.role = child == 0 ? passive : active, .wire = wires[child == 0 ? 1 : 0]};
  try_all(&side);
  int status = 0;
  if (child != 0) {
    need(waitpid(child, &status, 0) == child, "waitpid");
  }
  return status == 0 ? 0 : 1;
}

int main(int count, char** words) {
  const int serves = count == 3 && strcmp(words[1], "serve") == 0;
  const int connects = count == 4 && strcmp(words[1], "connect") == 0;
  if (count == 1) {
    return run_here();
  }
  if (!serves && !connects) {
    fprintf(stderr, "usage: verbs_ping [serve PORT | connect ADDRESS PORT]\n");
    return 2;
  }
  struct Side side = {.role = serves ? passive : active};
  side.wire = serves ? serve(atoi(words[2])) : reach(words[2], atoi(words[3]));
  try_all(&side);
  return 0;
}
