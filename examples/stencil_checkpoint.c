/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * A stencil that can be killed and goes on where it was, on another host.
 *
 * A ring of cells is cut into blocks, one for each rank. In each step a cell becomes a mixture of itself and
 * its two neighbours. The cells at the borders are sent as soon as they are known, and received a step later, so at
 * any moment some messages are under way. Every 50 steps all ranks call MPIX_Checkpoint_quiesce, which keeps
 * those messages and closes all connections. Then each rank writes its cells into a file, and all go on. A program that
 * finds such files begins where they end, and sends the borders again.
 *
 * A rank keeps its last two files, because it may be killed while it writes, and others may be one checkpoint ahead: all
 * agree on the last one that everybody has.
 *
 * Between quiesce and resume a process can be saved as a whole as well, by a tool. With a command as the third
 * argument each rank runs it there, with its rank and process number behind it. A process that comes out of an image
 * looks for the new launcher in the file launcher.RANK of the folder (docs/checkpoint.md).
 *
 *   mpiexec -n 4 ./stencil_checkpoint steps folder [command]
 *
 * needs the functions of mpi-ext.h, which not every MPI library has. */
#include <mpi-ext.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { cells = 4096, steps_between_checkpoints = 50, text_bytes = 4096 };
static const unsigned modulus = 1000003;

struct block {
  long step;
  int count;
  unsigned cell[cells];
};

static int rank, size;
static const char *folder, *command;

static unsigned first_value(int cell) { return (unsigned)(cell * 37 % 101); }
static unsigned mixed(unsigned left, unsigned self, unsigned right) {
  return (left + 2 * self + right) % modulus;
}
static int begin_of(int of) { return (int)((long)cells * of / size); }

/* One of two files, in turns. */
static void name_of(char* name, long step) {
  snprintf(name, text_bytes, "%s/cells.%d.%ld", folder, rank, step / steps_between_checkpoints % 2);
}

static int load(struct block* block, long step) {
  char name[text_bytes];
  name_of(name, step);
  FILE* const file = fopen(name, "rb");
  if (file == NULL) return 0;
  const size_t got = fread(block, sizeof *block, 1, file);
  fclose(file);
  return got == 1;
}

static void save(const struct block* block) {
  char name[text_bytes], fresh[text_bytes + 8];
  name_of(name, block->step);
  snprintf(fresh, sizeof fresh, "%s.new", name);
  FILE* const file = fopen(fresh, "wb");
  const int good = file != NULL && fwrite(block, sizeof *block, 1, file) == 1;
  if (file == NULL || fclose(file) != 0 || !good || rename(fresh, name) != 0) {
    perror(name);
    exit(1);
  }
}

/* The last checkpoint that all ranks have; step 0 where there is none. */
static void begin(struct block* block) {
  long newest = 0;
  for (long turn = 0; turn < 2; ++turn) {
    if (load(block, turn * steps_between_checkpoints) && block->step > newest) newest = block->step;
  }
  long common = newest;
  MPI_Allreduce(&newest, &common, 1, MPI_LONG, MPI_MIN, MPI_COMM_WORLD);
  if (common > 0) {
    if (!load(block, common) || block->step != common) MPI_Abort(MPI_COMM_WORLD, 2);
    return;
  }
  const int from = begin_of(rank);
  block->step = 0;
  block->count = begin_of(rank + 1) - from;
  for (int i = 0; i < block->count; ++i) block->cell[i] = first_value(from + i);
}

/* What is under way between two steps. */
static unsigned edges[2]; /* own first and last cell */
static MPI_Request sends[2];

static void send_edges(const struct block* block) {
  edges[0] = block->cell[0];
  edges[1] = block->cell[block->count - 1];
  MPI_Isend(&edges[0], 1, MPI_UNSIGNED, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &sends[0]);
  MPI_Isend(&edges[1], 1, MPI_UNSIGNED, (rank + 1) % size, 1, MPI_COMM_WORLD, &sends[1]);
}

static void receive_edges(unsigned* left, unsigned* right) {
  MPI_Recv(left, 1, MPI_UNSIGNED, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Recv(right, 1, MPI_UNSIGNED, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(2, sends, MPI_STATUSES_IGNORE);
}

static void compute(struct block* block, unsigned left, unsigned right) {
  for (int i = 0; i < block->count; ++i) {
    const unsigned self = block->cell[i];
    block->cell[i] = mixed(left, self, i + 1 < block->count ? block->cell[i + 1] : right);
    left = self;
  }
  ++block->step;
}

/* Where an image was restored under another launcher, a file tells which. */
static void resume(void) {
  char name[text_bytes];
  snprintf(name, sizeof name, "%s/launcher.%d", folder, rank);
  MPI_Info info = MPI_INFO_NULL;
  if (access(name, R_OK) == 0) {
    MPI_Info_create(&info);
    MPI_Info_set(info, "fulmar_launcher", name);
  }
  MPIX_Checkpoint_resume(info);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
}

static void run_command(void) {
  char line[text_bytes];
  snprintf(line, sizeof line, "%s %d %d", command, rank, (int)getpid());
  if (system(line) != 0) fprintf(stderr, "%s has failed\n", line);
}

int main(int argc, char** argv) {
  static struct block block;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const long steps = argc > 1 ? atol(argv[1]) : 1000;
  folder = argc > 2 ? argv[2] : ".";
  command = argc > 3 ? argv[3] : NULL;
  begin(&block);
  const long first = block.step;
  unsigned left, right;
  send_edges(&block);
  while (block.step < steps) {
    receive_edges(&left, &right);
    compute(&block, left, right);
    send_edges(&block);
    if (block.step % steps_between_checkpoints != 0) continue;
    MPIX_Checkpoint_quiesce(MPI_INFO_NULL);
    save(&block);
    if (command != NULL) run_command();
    resume();
  }
  receive_edges(&left, &right);

  unsigned sum = 0, total = 0;
  for (int i = 0; i < block.count; ++i)
    sum = (sum + block.cell[i] * (unsigned)(begin_of(rank) + i + 1)) % modulus;
  MPI_Reduce(&sum, &total, 1, MPI_UNSIGNED, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("steps %ld to %ld on %d ranks: the sum is %u\n", first, steps, size, total % modulus);
  MPI_Finalize();
  return 0;
}
