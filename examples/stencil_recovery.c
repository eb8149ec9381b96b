/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * A stencil that outlives its processes.
 *
 * A ring of cells is cut into blocks, one for each rank. In each step a cell becomes a mixture of itself and
 * its two neighbours, so ranks exchange the cells at the borders of their blocks. Every 20 steps all ranks
 * collect all cells: that is the checkpoint, in the memory of each. Once a second a rank kills itself.
 * Then some call of the others fails, and they
 *
 *   revoke   the communicator, so that everybody leaves the step, also those whose calls went well;
 *   shrink   it to those that live;
 *   respawn  the dead, if the second argument is "respawn": new processes are merged with those that live,
 *            and get the ranks and the checkpoint of those that they replace;
 *   go back  to the last checkpoint that all of them have. Without new processes the ring is cut into
 *            larger blocks, until two ranks are left.
 *
 * Who has which checkpoint is no guess: a checkpoint counts once all agree that they have it, and an
 * agreement (MPIX_Comm_agree) has the same result in all, whoever dies meanwhile.
 *
 * At the end the cells are compared with those that one process computes alone.
 *
 *   mpiexec -n 5 --on-failure=continue ./stencil_recovery [seconds [respawn]]
 *
 * needs the functions of mpi-ext.h, which not every MPI library has. */
#include <mpi-ext.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { cells = 4096, steps_between_checkpoints = 20, most_ranks = 64 };
static const unsigned modulus = 1000003;

static unsigned first_value(int cell) { return (unsigned)(cell * 37 % 101); }
static unsigned mixed(unsigned left, unsigned self, unsigned right) {
  return (left + 2 * self + right) % modulus;
}
static int begin_of(int rank, int size) { return (int)((long)cells * rank / size); }

/* What all have agreed on: the cells after so many steps. */
struct checkpoint {
  long step;
  double seconds; /* since the start, when it was given to a new process */
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

/* Whether it went well in all processes of both groups. An agreement on an intercommunicator gives the flags
 * of the other group; the second one tells them what it thinks of the first. */
static int all_joined(MPI_Comm inter, int good) {
  int others = good;
  MPIX_Comm_agree(inter, &others);
  good = good && others;
  MPIX_Comm_agree(inter, &good);
  return good && others;
}

/* Old and new processes become one communicator. `lost` has the ranks of the dead, of which the new processes,
 * in their order, get one each; `rank` is the own one, which a new process learns here. */
static int join(MPI_Comm inter, int is_new, int* lost, int* rank, struct checkpoint* state,
                MPI_Comm* joined) {
  MPI_Comm merged = MPI_COMM_NULL;
  *joined = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  int good = MPI_Intercomm_merge(inter, is_new, &merged) == MPI_SUCCESS;
  if (good) {
    MPI_Comm_set_errhandler(merged, MPI_ERRORS_RETURN);
    good = MPI_Bcast(lost, most_ranks, MPI_INT, 0, merged) == MPI_SUCCESS &&
           MPI_Bcast(state, sizeof *state, MPI_BYTE, 0, merged) == MPI_SUCCESS;
  }
  if (good && is_new) {
    int number;
    MPI_Comm_rank(MPI_COMM_WORLD, &number);
    *rank = lost[number];
  }
  good = good && MPI_Comm_split(merged, 0, *rank, joined) == MPI_SUCCESS;
  /* Who waits for one that has given up would wait for ever. */
  if (!good && merged != MPI_COMM_NULL) MPIX_Comm_revoke(merged);
  good = all_joined(inter, good);
  if (merged != MPI_COMM_NULL) MPI_Comm_free(&merged);
  if (!good && *joined != MPI_COMM_NULL) MPI_Comm_free(joined);
  MPI_Comm_free(&inter);
  if (good) MPI_Comm_set_errhandler(*joined, MPI_ERRORS_RETURN);
  return good;
}

/* In place of a communicator of which processes have died, one with new processes in their ranks. Whatever
 * goes wrong, because others die meanwhile, is tried again with those that are left. */
static MPI_Comm respawn(MPI_Comm broken, char* program, char** arguments,
                        struct checkpoint* state) {
  int rank, size, ranks[most_ranks], places[most_ranks], lost[most_ranks];
  MPI_Group all;
  MPI_Comm_group(broken, &all);
  MPI_Group_rank(all, &rank);
  MPI_Group_size(all, &size);
  for (int i = 0; i < size; ++i) ranks[i] = i;
  for (;;) {
    MPI_Comm alive, inter, joined;
    MPI_Group living;
    if (MPIX_Comm_shrink(broken, &alive) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Comm_free(&broken);
    MPI_Comm_set_errhandler(alive, MPI_ERRORS_RETURN);
    MPI_Comm_group(alive, &living);
    MPI_Group_translate_ranks(all, size, ranks, living, places);
    MPI_Group_free(&living);
    int count = 0;
    for (int i = 0; i < size; ++i)
      if (places[i] == MPI_UNDEFINED) lost[count++] = i;
    if (count == 0) {
      MPI_Group_free(&all);
      return alive; /* everybody lives: somebody has only revoked the communicator */
    }
    broken = alive;
    if (MPI_Comm_spawn(program, arguments, count, MPI_INFO_NULL, 0, alive, &inter,
                       MPI_ERRCODES_IGNORE) != MPI_SUCCESS)
      continue;
    if (!join(inter, 0, lost, &rank, state, &joined)) continue;
    MPI_Comm_free(&alive);
    MPI_Group_free(&all);
    return joined;
  }
}

static MPI_Comm shrink(MPI_Comm broken) {
  MPI_Comm smaller;
  if (MPIX_Comm_shrink(broken, &smaller) != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Comm_free(&broken);
  return smaller;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const double seconds = argc > 1 ? atof(argv[1]) : 4;
  const int respawns = argc > 2 && strcmp(argv[2], "respawn") == 0;
  static struct checkpoint state, fresh;
  MPI_Comm comm, parent;
  MPI_Comm_get_parent(&parent);
  if (parent == MPI_COMM_NULL) {
    for (int i = 0; i < cells; ++i) state.all[i] = first_value(i);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  } else {
    int lost[most_ranks], rank = 0;
    if (!join(parent, 1, lost, &rank, &state, &comm)) {
      MPI_Finalize(); /* the others try again, with another process */
      return 0;
    }
  }
  const double start = MPI_Wtime() - state.seconds;
  int next_death = (int)state.seconds + 1;
  for (int over = 0; !over;) {
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    if (MPI_Wtime() - start > next_death) {
      const int victim = respawns ? next_death % size : size - 1;
      if (rank == victim && size > 2) raise(SIGKILL);
      ++next_death;
    }
    const int good = work(comm, &state, &fresh) == MPI_SUCCESS;
    if (!good) MPIX_Comm_revoke(comm);
    /* Bit 0: everybody has the new checkpoint. Bit 1: everybody's time is over. */
    int flag = (good ? 1 : 0) | (MPI_Wtime() - start > seconds ? 2 : 0);
    const int agreed = MPIX_Comm_agree(comm, &flag);
    if ((flag & 1) != 0) state = fresh;
    over = (flag & 2) != 0;
    if (agreed != MPI_SUCCESS || (flag & 1) == 0) {
      state.seconds = MPI_Wtime() - start;
      comm = respawns ? respawn(comm, argv[0], argv + 1, &state) : shrink(comm);
    }
  }
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int right = is_right(&state);
  if (rank == 0)
    printf("%ld steps, %d of the ranks are %s, the result is %s\n", state.step, size,
           respawns ? "there" : "left", right ? "right" : "wrong");
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return right ? 0 : 1;
}
