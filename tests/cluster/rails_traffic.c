// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// usage: rails_traffic MESSAGES BYTES [both]
// Rank 0 sends long messages to the last rank, `both`: and gets as many. Every byte is checked, and
// between them short messages have to come in order. Rank 0 prints how fast it was.
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { window = 4, short_tag = 1000 };

static unsigned char byte_of(long message, long at) {
  return (unsigned char)(at * 7 + at / 251 + message * 13);
}

static void fill(unsigned char* buffer, long bytes, long message) {
  for (long i = 0; i < bytes; ++i) buffer[i] = byte_of(message, i);
}

static void check(const unsigned char* buffer, long bytes, long message) {
  for (long i = 0; i < bytes; ++i) {
    if (buffer[i] == byte_of(message, i)) continue;
    fprintf(stderr, "message %ld has a wrong byte at %ld\n", message, i);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
}

static unsigned char* buffers[window];

/// Sends, or receives, all messages; messages with tags of their own, each followed by a short one.
static void move(int sends, int peer, long messages, long bytes) {
  for (long begin = 0; begin < messages; begin += window) {
    MPI_Request requests[2 * window];
    long numbers[window];
    int count = 0;
    for (int i = 0; i < window && begin + i < messages; ++i) {
      const long message = begin + i;
      numbers[i] = sends ? message : -1;
      if (sends) {
        fill(buffers[i], bytes, message);
        MPI_Isend(buffers[i], (int)bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[count++]);
        MPI_Isend(&numbers[i], 1, MPI_LONG, peer, short_tag, MPI_COMM_WORLD, &requests[count++]);
      } else {
        memset(buffers[i], 0, (size_t)bytes);
        MPI_Irecv(buffers[i], (int)bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[count++]);
        MPI_Irecv(&numbers[i], 1, MPI_LONG, peer, short_tag, MPI_COMM_WORLD, &requests[count++]);
      }
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; !sends && i < window && begin + i < messages; ++i) {
      check(buffers[i], bytes, begin + i);
      if (numbers[i] == begin + i) continue;
      fprintf(stderr, "short message %ld came instead of %ld\n", numbers[i], begin + i);
      MPI_Abort(MPI_COMM_WORLD, 4);
    }
  }
}

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc < 3 || size < 2) MPI_Abort(MPI_COMM_WORLD, 2);
  const long messages = strtol(argv[1], NULL, 10);
  const long bytes = strtol(argv[2], NULL, 10);
  const int both = argc > 3 && strcmp(argv[3], "both") == 0;
  for (int i = 0; i < window; ++i) buffers[i] = malloc((size_t)bytes);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  const int peer = rank == 0 ? size - 1 : 0;
  if (rank == 0 || rank == size - 1) {
    move(rank == 0, peer, messages, bytes);
    if (both) move(rank != 0, peer, messages, bytes);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    const double moved = (double)messages * (double)bytes * (both ? 2 : 1);
    printf("%ld messages arrived, %.1f MB/s\n", messages * (both ? 2 : 1),
           moved / (MPI_Wtime() - begin) / 1e6);
    fflush(stdout);
  }
  for (int i = 0; i < window; ++i) free(buffers[i]);
  return MPI_Finalize() == MPI_SUCCESS ? 0 : 1;
}
