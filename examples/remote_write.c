// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A ring of remote writes, with RWAPI and without MPI: each node writes a block of numbers straight into
// the memory of the next one, and sends a small message behind it that says how many.
//
//     mpicc -O2 remote_write.c -o remote_write -lrwapi
//     mpiexec -n 4 ./remote_write
//
// A network address travels in a small message: only who was given one can write to a block.
#include <rwapi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { numbers = 100000, laps = 10 };

static void fail(const char* call, long code) {
  printf("WRONG: %s returned %ld\n", call, code);
  exit(1);
}

static void send(int node, const void* content, size_t bytes) {
  rwapi_small message;
  memset(&message, 0, sizeof message);
  memcpy(message.data, content, bytes);
  int code = RWAPI_ERR_FULL;
  while (code == RWAPI_ERR_FULL) code = rwapi_send(node, message);
  if (code != RWAPI_OK) fail("rwapi_send", code);
}

// The next message of one node. What the other neighbour has sent meanwhile, one message at most, waits.
static void receive_from(int node, void* content, size_t bytes) {
  static rwapi_small kept;
  static rwapi_node keeper = -1;
  rwapi_node from = keeper;
  rwapi_small message = kept;
  if (keeper == node) keeper = -1;
  while (from != node) {
    if (rwapi_receive(&from, &message) == 0 || from == node) continue;
    kept = message;
    keeper = from;
  }
  memcpy(content, message.data, bytes);
}

int main(int argc, char** argv) {
  const int code = rwapi_init(argc, argv);
  if (code != RWAPI_OK) fail("rwapi_init", code);
  const int rank = rwapi_rank();
  const int size = rwapi_size();
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;

  // The block that the node before this one writes to, and the one that this node writes from.
  rwapi_net own_net;
  rwapi_net source_net;
  const double* landing = rwapi_alloc(numbers * sizeof(double), &own_net);
  double* source = rwapi_alloc(numbers * sizeof(double), &source_net);
  if (landing == NULL || source == NULL) fail("rwapi_alloc", 0);

  rwapi_net next_net;
  send(before, &own_net, sizeof own_net);
  receive_from(next, &next_net, sizeof next_net);

  double sum = 0;
  for (int lap = 1; lap <= laps; ++lap) {
    for (int i = 0; i < numbers; ++i) source[i] = rank + lap;
    const rwapi_sid sid = rwapi_write(next, source_net, next_net, numbers * sizeof(double));
    if (sid < 0) fail("rwapi_write", (long)sid);
    const int count = numbers;
    send(next, &count, sizeof count);

    // The numbers are there when the message behind them is.
    int received = 0;
    receive_from(before, &received, sizeof received);
    for (int i = 0; i < received; ++i) sum += landing[i];

    // The source may be filled again when they have arrived, the landing when they were added up.
    int sent = 0;
    while (sent == 0) sent = rwapi_issent(sid);
    if (sent != 1) fail("rwapi_issent", sent);
    send(before, &lap, sizeof lap);
    receive_from(next, &received, sizeof received);
  }

  const double expected = numbers * (laps * (double)before + laps * (laps + 1) / 2.0);
  if (sum != expected) fail("the sum of what was written", (long)sum);
  if (rank == 0) printf("%d laps over %d nodes: node 0 received a sum of %.0f\n", laps, size, sum);
  const int end = rwapi_finalize();
  if (end != RWAPI_OK) fail("rwapi_finalize", end);
  return 0;
}
