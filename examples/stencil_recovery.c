/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * A stencil that outlives its processes.
 *
 * A ring of cells is cut into blocks, one for each rank. In each step a cell becomes a mixture of itself and
 * its two neighbours, so ranks exchange the cells at the borders of their blocks. Every 20 steps all ranks
 * collect all cells: that is the checkpoint, in the memory of each. Once a second the last rank kills itself,
 * while others are left. Then some call of the others fails, and they
 *
 *   revoke   the communicator, so that everybody leaves the step, also those whose calls went well;
 *   shrink   it to those that live;
 *   go back  to the last checkpoint that all of them have, and cut the ring into larger blocks.
 *
 * Who has which checkpoint is no guess: a checkpoint counts once all agree that they have it, and an
 * agreement (MPIX_Comm_agree) has the same result in all, whoever dies meanwhile.
 *
 * At the end the cells are compared with those that one process computes alone.
 *
 *   mpiexec -n 5 --on-failure=continue ./stencil_recovery [seconds]
 *
 * needs the functions of mpi-ext.h, which not every MPI library has. */
#include <mpi-ext.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { cells = 4096, steps_between_checkpoints = 20 };
static const unsigned modulus = 1000003;

static unsigned first_value(int cell) { return (unsigned)(cell * 37 % 101); }
static unsigned mixed(unsigned left, unsigned self, unsigned right) {
  return (left + 2 * self + right) % modulus;
}
static int begin_of(int rank, int size) { return (int)((long)cells * rank / size); }

/* What all have agreed on: the cells after so many steps. */
struct checkpoint {
  long step;
  unsigned all[cells];
};

/* Computes steps on one block, [1] to [count]; [0] and [count + 1] are the neighbours' cells. */
static int advance(MPI_Comm comm, unsigned* block, unsigned* next, int count) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int left = (rank + size - 1) % size, right = (rank + 1) % size;
  for (int step = 0; step < steps_between_checkpoints; ++step) {
    int code = MPI_Sendrecv(&block[count], 1, MPI_UNSIGNED, right, 0, &block[0], 1, MPI_UNSIGNED,
                            left, 0, comm, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return code;
    code = MPI_Sendrecv(&block[1], 1, MPI_UNSIGNED, left, 1, &block[count + 1], 1, MPI_UNSIGNED,
                        right, 1, comm, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) return code;
    for (int i = 1; i <= count; ++i) next[i] = mixed(block[i - 1], block[i], block[i + 1]);
    memcpy(block + 1, next + 1, (size_t)count * sizeof *block);
  }
  return MPI_SUCCESS;
}

/* From the old checkpoint to a new one. */
static int work(MPI_Comm comm, const struct checkpoint* old, struct checkpoint* fresh) {
  static unsigned block[cells + 2], next[cells + 2];
  static int counts[cells], begins[cells];
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  for (int i = 0; i < size; ++i) {
    begins[i] = begin_of(i, size);
    counts[i] = begin_of(i + 1, size) - begins[i];
  }
  memcpy(block + 1, old->all + begins[rank], (size_t)counts[rank] * sizeof *block);
  const int code = advance(comm, block, next, counts[rank]);
  if (code != MPI_SUCCESS) return code;
  fresh->step = old->step + steps_between_checkpoints;
  return MPI_Allgatherv(block + 1, counts[rank], MPI_UNSIGNED, fresh->all, counts, begins,
                        MPI_UNSIGNED, comm);
}

static int is_right(const struct checkpoint* result) {
  static unsigned now[cells], next[cells];
  for (int i = 0; i < cells; ++i) now[i] = first_value(i);
  for (long step = 0; step < result->step; ++step) {
    for (int i = 0; i < cells; ++i)
      next[i] = mixed(now[(i + cells - 1) % cells], now[i], now[(i + 1) % cells]);
    memcpy(now, next, sizeof now);
  }
  return memcmp(now, result->all, sizeof now) == 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double seconds = argc > 1 ? atof(argv[1]) : 4;
  static struct checkpoint state, fresh;
  for (int i = 0; i < cells; ++i) state.all[i] = first_value(i);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const double start = MPI_Wtime();
  double next_death = start + 1;
  for (int over = 0; !over;) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (MPI_Wtime() > next_death) {
      if (rank == size - 1 && size > 2) raise(SIGKILL);
      next_death += 1;
    }
    const int good = work(comm, &state, &fresh) == MPI_SUCCESS;
    if (!good) MPIX_Comm_revoke(comm);
    /* Bit 0: everybody has the new checkpoint. Bit 1: everybody's time is over. */
    int flag = (good ? 1 : 0) | (MPI_Wtime() - start > seconds ? 2 : 0);
    const int agreed = MPIX_Comm_agree(comm, &flag);
    if ((flag & 1) != 0) state = fresh;
    over = (flag & 2) != 0;
    if (agreed != MPI_SUCCESS || (flag & 1) == 0) {
      MPI_Comm smaller;
      if (MPIX_Comm_shrink(comm, &smaller) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
      MPI_Comm_free(&comm);
      comm = smaller;
    }
  }
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int right = is_right(&state);
  if (rank == 0)
    printf("%ld steps, %d of the ranks are left, the result is %s\n", state.step, size,
           right ? "right" : "wrong");
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return right ? 0 : 1;
}
