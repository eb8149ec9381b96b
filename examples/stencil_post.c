// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// stencil_post: heat in a square plate, where each rank writes its edges into the memory of its
// neighbours and tells only them when that may begin and when it is done.
//
//     mpicc -O2 stencil_post.c -o stencil_post
//     mpiexec -n 4 ./stencil_post [cells] [steps]
//
// The plate has cells x cells cells; rows and columns are dealt to a grid of ranks. Each rank has a
// frame of one cell around its part, the halo, where the cells of its neighbours belong. Before each
// step:
//
//     MPI_Win_post(neighbours)       "my halo may be written now"
//     MPI_Win_start(neighbours)      waits for theirs
//     MPI_Put, four times            the own edges into their halos; columns by a vector type
//     MPI_Win_complete               "my edges are there"
//     MPI_Win_wait                   waits for theirs
//
// Ranks that are no neighbours know nothing of each other, so nobody waits for the slowest of all, as
// after a fence. The upper edge of the plate is kept at 100 degrees, the lower one at 0, the sides at 20.
// At the end each rank computes the whole plate by itself and compares: every cell has to be the same.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { up, down, left, right, sides };

typedef struct {
  int rows, columns;  // of this rank, without the halo
  int width;          // of a row in memory
  double* cells;
} Block;

static int begin_of(int part, int parts, int cells) { return (int)((long)cells * part / parts); }

static double* cell(const Block* block, int row, int column) {
  return block->cells + (long)row * block->width + column;
}

// The temperature at the edge of the plate, and at the beginning everywhere else.
static double border(int row, int n) { return row < 0 ? 100.0 : row >= n ? 0.0 : 20.0; }

static void step(const Block* from, const Block* to) {
  for (int i = 1; i <= from->rows; ++i) {
    for (int k = 1; k <= from->columns; ++k) {
      *cell(to, i, k) = 0.25 * (*cell(from, i - 1, k) + *cell(from, i + 1, k) +
                                *cell(from, i, k - 1) + *cell(from, i, k + 1));
    }
  }
}

// Two blocks in `memory`, one behind the other, with all cells as they are at the beginning.
static void fill(Block blocks[2], double* memory, int rows, int columns, int row, int n) {
  for (int b = 0; b < 2; ++b) {
    const Block block = {rows, columns, columns + 2, memory + b * (long)(rows + 2) * (columns + 2)};
    blocks[b] = block;
    for (int i = 0; i < rows + 2; ++i) {
      for (int k = 0; k < columns + 2; ++k) {
        *cell(&block, i, k) = border(row + i - 1, n);
      }
    }
  }
}

// Where each part lies in the memory of a rank with such a block: displacements in cells.
static long displacement(int rows, int columns, int number, int row, int column) {
  return number * (long)(rows + 2) * (columns + 2) + (long)row * (columns + 2) + column;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int n = argc > 1 ? atoi(argv[1]) : 400;
  const int steps = argc > 2 ? atoi(argv[2]) : 200;
  int size = 0;
  int rank = 0;
  int dims[2] = {0, 0};
  int at[2] = {0, 0};
  const int periods[2] = {0, 0};
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, dims);
  MPI_Comm grid = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, 0, &grid);
  MPI_Comm_rank(grid, &rank);
  MPI_Cart_coords(grid, rank, 2, at);
  const int row = begin_of(at[0], dims[0], n);
  const int column = begin_of(at[1], dims[1], n);
  const int rows = begin_of(at[0] + 1, dims[0], n) - row;
  const int columns = begin_of(at[1] + 1, dims[1], n) - column;

  double* memory = NULL;
  MPI_Win win = MPI_WIN_NULL;
  const MPI_Aint bytes = 2 * (MPI_Aint)(rows + 2) * (columns + 2) * (MPI_Aint)sizeof(double);
  MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, grid, &memory, &win);
  Block blocks[2];
  fill(blocks, memory, rows, columns, row, n);

  // The neighbours, as ranks and as a group.
  int neighbours[sides];
  MPI_Cart_shift(grid, 0, 1, &neighbours[up], &neighbours[down]);
  MPI_Cart_shift(grid, 1, 1, &neighbours[left], &neighbours[right]);
  int present[sides];
  int count = 0;
  for (int side = 0; side < sides; ++side) {
    if (neighbours[side] != MPI_PROC_NULL) present[count++] = neighbours[side];
  }
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Comm_group(grid, &all);
  MPI_Group_incl(all, count, present, &group);

  // Blocks differ by a row or a column, so a column has another stride at the neighbour's.
  const int rows_up = row - begin_of(at[0] - 1, dims[0], n);
  const int columns_left = column - begin_of(at[1] - 1, dims[1], n);
  const int columns_right = begin_of(at[1] + 2, dims[1], n) - column - columns;
  MPI_Datatype own_column = MPI_DATATYPE_NULL;
  MPI_Datatype left_column = MPI_DATATYPE_NULL;
  MPI_Datatype right_column = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, columns + 2, MPI_DOUBLE, &own_column);
  MPI_Type_vector(rows, 1, columns_left + 2, MPI_DOUBLE, &left_column);
  MPI_Type_vector(rows, 1, columns_right + 2, MPI_DOUBLE, &right_column);
  MPI_Type_commit(&own_column);
  MPI_Type_commit(&left_column);
  MPI_Type_commit(&right_column);

  MPI_Barrier(grid);
  for (int s = 0; s < steps; ++s) {
    const int now = s % 2;
    const Block* block = &blocks[now];
    const int rows_down = begin_of(at[0] + 2, dims[0], n) - row - rows;
    MPI_Win_post(group, 0, win);
    MPI_Win_start(group, 0, win);
    MPI_Put(cell(block, 1, 1), columns, MPI_DOUBLE, neighbours[up],
            displacement(rows_up, columns, now, rows_up + 1, 1), columns, MPI_DOUBLE, win);
    MPI_Put(cell(block, rows, 1), columns, MPI_DOUBLE, neighbours[down],
            displacement(rows_down, columns, now, 0, 1), columns, MPI_DOUBLE, win);
    MPI_Put(cell(block, 1, 1), 1, own_column, neighbours[left],
            displacement(rows, columns_left, now, 1, columns_left + 1), 1, left_column, win);
    MPI_Put(cell(block, 1, columns), 1, own_column, neighbours[right],
            displacement(rows, columns_right, now, 1, 0), 1, right_column, win);
    MPI_Win_complete(win);
    MPI_Win_wait(win);
    step(block, &blocks[1 - now]);
  }

  // The whole plate, computed alone.
  double* whole = malloc(2 * (size_t)(n + 2) * (size_t)(n + 2) * sizeof(double));
  if (whole == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  Block plate[2];
  fill(plate, whole, n, n, 0, n);
  for (int s = 0; s < steps; ++s) step(&plate[s % 2], &plate[1 - s % 2]);
  long wrong = 0;
  for (int i = 1; i <= rows; ++i) {
    for (int k = 1; k <= columns; ++k) {
      wrong += *cell(&blocks[steps % 2], i, k) != *cell(&plate[steps % 2], row + i, column + k);
    }
  }
  free(whole);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_LONG, MPI_SUM, grid);
  if (rank == 0) {
    printf("%d steps of %d x %d cells on %d x %d ranks: %ld cells are wrong%s\n", steps, n, n,
           dims[0], dims[1], wrong, wrong != 0 ? ": WRONG" : "");
  }
  MPI_Datatype* types[] = {&own_column, &left_column, &right_column};
  for (int i = 0; i < 3; ++i) MPI_Type_free(types[i]);
  MPI_Group_free(&all);
  MPI_Group_free(&group);
  MPI_Win_free(&win);
  MPI_Comm_free(&grid);
  MPI_Finalize();
  return wrong != 0;
}
