// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// matmul: C = A B with matrices that are spread over a grid of ranks.
//
//     mpicc -O2 matmul.c -o matmul
//     mpiexec -n 4 ./matmul [size]
//
// The ranks form a grid of rows and columns (MPI_Dims_create chooses it, MPI_Cart_create makes it),
// and each of the three matrices is cut into as many blocks. No rank holds a whole matrix, so the
// matrices can be larger than the memory of one machine.
//
// The block of C in row i and column j of the grid needs the whole row i of A and column j of B. It
// gets them in panels of `width` columns of A, and rows of B. For each panel
//
//   - the rank that owns these columns of A broadcasts its part along its row of the grid,
//   - the rank that owns these rows of B broadcasts its part along its column of the grid,
//   - and everybody adds the product of the two panels to its block of C.
//
// This is known as SUMMA. Its two broadcasts run in communicators for one row, or one column, of
// the grid each: MPI_Cart_sub cuts them out of the grid.
//
// The result is checked: A(i,k) = i + k + 1 and B(k,j) = k - j, for which the sum over k has a
// formula. All numbers are integers, so that it holds exactly as long as they have at most 53 bits.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  MPI_Comm comm;  // all ranks
  MPI_Comm row;   // those of the same row; the rank in it is the column
  MPI_Comm column;
  int dims[2];    // rows and columns
  int coords[2];  // where this rank is
} Grid;

enum { width = 32 };  // of a panel; sizes are multiples of it

static Grid make_grid(void) {
  Grid grid = {.dims = {0, 0}};
  const int periods[2] = {0, 0};
  const int along_row[2] = {0, 1};
  const int along_column[2] = {1, 0};
  int size = 0;
  int rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Dims_create(size, 2, grid.dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, grid.dims, periods, 1, &grid.comm);
  MPI_Comm_rank(grid.comm, &rank);
  MPI_Cart_coords(grid.comm, rank, 2, grid.coords);
  MPI_Cart_sub(grid.comm, along_row, &grid.row);
  MPI_Cart_sub(grid.comm, along_column, &grid.column);
  return grid;
}

// c (rows x columns) += a (rows x width) b (width x columns)
static void multiply_add(int rows, int columns, const double* a, const double* b, double* c) {
  for (int i = 0; i < rows; ++i) {
    for (int k = 0; k < width; ++k) {
      const double factor = a[i * width + k];
      for (int j = 0; j < columns; ++j) c[i * columns + j] += factor * b[k * columns + j];
    }
  }
}

// The panel of A that begins at column k of the matrix, in all ranks of the row of the grid.
static void spread_a(const Grid* grid, int n, int k, const double* a, double* panel) {
  const int rows = n / grid->dims[0];
  const int columns = n / grid->dims[1];
  const int owner = k / columns;
  if (grid->coords[1] == owner) {
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < width; ++j) panel[i * width + j] = a[i * columns + k % columns + j];
    }
  }
  MPI_Bcast(panel, rows * width, MPI_DOUBLE, owner, grid->row);
}

// The panel of B that begins at row k of the matrix, in all ranks of the column of the grid.
static void spread_b(const Grid* grid, int n, int k, const double* b, double* panel) {
  const int rows = n / grid->dims[0];
  const int columns = n / grid->dims[1];
  const int owner = k / rows;
  if (grid->coords[0] == owner) {
    for (int i = 0; i < width * columns; ++i) panel[i] = b[k % rows * columns + i];
  }
  MPI_Bcast(panel, width * columns, MPI_DOUBLE, owner, grid->column);
}

static long errors_in(const Grid* grid, int n, const double* c) {
  const int rows = n / grid->dims[0];
  const int columns = n / grid->dims[1];
  const double sum_k = (double)n * (n - 1) / 2;
  const double sum_kk = (double)n * (n - 1) * (2.0 * n - 1) / 6;
  long errors = 0;
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const double row = grid->coords[0] * rows + i + 1;
      const double column = grid->coords[1] * columns + j;
      const double expected = row * sum_k - row * column * n + sum_kk - column * sum_k;
      errors += c[i * columns + j] != expected;
    }
  }
  MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_LONG, MPI_SUM, grid->comm);
  return errors;
}

static double* room(int count) {
  double* block = calloc((size_t)count, sizeof(double));
  if (block == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return block;
}

static long multiply(const Grid* grid, int n) {
  const int rows = n / grid->dims[0];
  const int columns = n / grid->dims[1];
  double* a = room(rows * columns);
  double* b = room(rows * columns);
  double* c = room(rows * columns);
  double* panel_a = room(rows * width);
  double* panel_b = room(width * columns);
  for (int i = 0; i < rows; ++i) {
    for (int j = 0; j < columns; ++j) {
      const int row = grid->coords[0] * rows + i;
      const int column = grid->coords[1] * columns + j;
      a[i * columns + j] = row + column + 1;
      b[i * columns + j] = row - column;
    }
  }
  for (int k = 0; k < n; k += width) {
    spread_a(grid, n, k, a, panel_a);
    spread_b(grid, n, k, b, panel_b);
    multiply_add(rows, columns, panel_a, panel_b, c);
  }
  const long errors = errors_in(grid, n, c);
  free(a);
  free(b);
  free(c);
  free(panel_a);
  free(panel_b);
  return errors;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Grid grid = make_grid();
  int rank = 0;
  MPI_Comm_rank(grid.comm, &rank);
  // Up to a size that gives every block whole panels.
  const int unit = width * grid.dims[0] * grid.dims[1];
  const int asked = argc > 1 ? atoi(argv[1]) : 512;
  const int n = (asked + unit - 1) / unit * unit;
  const double begin = MPI_Wtime();
  const long errors = multiply(&grid, n);
  const double seconds = MPI_Wtime() - begin;
  if (rank == 0) {
    printf("%d x %d on a grid of %d x %d ranks: %ld wrong elements\n", n, n, grid.dims[0],
           grid.dims[1], errors);
    printf("%.3f s, %.2f Gflop/s\n", seconds, 2.0 * n * n * n / seconds * 1e-9);
  }
  MPI_Comm_free(&grid.row);
  MPI_Comm_free(&grid.column);
  MPI_Comm_free(&grid.comm);
  MPI_Finalize();
  return errors != 0;
}
