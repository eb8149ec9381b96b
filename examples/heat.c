// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// heat: how a metal plate warms up from its edges, drawn as a picture.
//
//     mpicc -O2 heat.c -o heat -lm
//     mpiexec -n 4 ./heat [cells on a side] [steps] [picture.ppm]
//
// The plate is a square of n by n cells. Its upper edge is kept at 100 degrees, the left one at 75,
// the others at 0. In each step every inner cell takes the mean of its four neighbours; this is the
// explicit scheme for the heat equation with the longest time step that is stable.
//
// Each rank owns a band of rows. To compute its first row it needs the last row of the band above,
// and for its last row the first row of the band below. So each rank stores two rows more than it
// owns, the halo, and before each step the ranks fill each other's halo:
//
//     +------------------+
//     | halo             |  <- last own row of rank - 1
//     | first own row    |  -> halo of rank - 1
//     |  ...             |
//     | last own row     |  -> halo of rank + 1
//     | halo             |  <- first own row of rank + 1
//     +------------------+
//
// The messages are non-blocking: started (MPI_Isend, MPI_Irecv), then the rows that need no halo
// are computed while they travel, then waited for (MPI_Waitall), then the two rows at the edges are
// computed. At the ends of the plate the neighbour is MPI_PROC_NULL, to which messages vanish at
// once, so no case has to be made of them. MPI_Allreduce finds the largest change, in all ranks,
// every 100 steps.
//
// At the end rank 0 gathers the bands (MPI_Gatherv, because they may differ by a row) and writes a
// picture in the PPM format, which most viewers show. It is the same, byte for byte, for any number
// of ranks.
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  int n;           // cells on a side
  int first;       // the first row that this rank owns
  int rows;        // how many it owns
  int above;       // the rank of the band above, or MPI_PROC_NULL
  int below;       // and below
  double* now;     // rows + 2 rows of n cells, halo included
  double* coming;  // the same after the next step
} Plate;

// The first row of a band, if `n` rows are dealt to `size` ranks as evenly as they can be.
static int first_row(int n, int size, int rank) { return (int)((long)n * rank / size); }

static double edge(int n, int row, int column) {
  if (row == 0) return 100;
  if (row == n - 1) return 0;
  return column == 0 ? 75 : 0;
}

static Plate make_plate(int n) {
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Plate plate = {.n = n, .first = first_row(n, size, rank)};
  plate.rows = first_row(n, size, rank + 1) - plate.first;
  plate.above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  plate.below = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
  const size_t cells = (size_t)(plate.rows + 2) * (size_t)n;
  plate.now = calloc(cells, sizeof(double));
  plate.coming = calloc(cells, sizeof(double));
  if (plate.now == NULL || plate.coming == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 1; i <= plate.rows; ++i) {
    for (int j = 0; j < n; ++j) {
      const size_t at = (size_t)i * (size_t)n + (size_t)j;
      plate.now[at] = plate.coming[at] = edge(n, plate.first + i - 1, j);
    }
  }
  return plate;
}

// Computes the rows from `from` to `to`, numbered from 1 within the band, and gives the largest
// change.
static double relax(Plate* plate, int from, int to) {
  const int n = plate->n;
  double largest = 0;
  for (int i = from; i <= to; ++i) {
    const int row = plate->first + i - 1;
    if (row == 0 || row == n - 1) continue;  // an edge that is kept
    const double* up = plate->now + (size_t)(i - 1) * (size_t)n;
    const double* here = up + n;
    const double* down = here + n;
    double* out = plate->coming + (size_t)i * (size_t)n;
    for (int j = 1; j < n - 1; ++j) {
      out[j] = 0.25 * (up[j] + down[j] + here[j - 1] + here[j + 1]);
      largest = fmax(largest, fabs(out[j] - here[j]));
    }
  }
  return largest;
}

static double step(Plate* plate) {
  const int n = plate->n;
  double* own = plate->now + n;
  double* last = plate->now + (size_t)plate->rows * (size_t)n;
  MPI_Request requests[4];
  // The tag says in which direction a row travels: 0 up, 1 down.
  MPI_Irecv(plate->now, n, MPI_DOUBLE, plate->above, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(last + n, n, MPI_DOUBLE, plate->below, 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(own, n, MPI_DOUBLE, plate->above, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(last, n, MPI_DOUBLE, plate->below, 1, MPI_COMM_WORLD, &requests[3]);
  double largest = relax(plate, 2, plate->rows - 1);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  largest = fmax(largest, relax(plate, 1, 1));
  if (plate->rows > 1) largest = fmax(largest, relax(plate, plate->rows, plate->rows));
  double* swap = plate->now;
  plate->now = plate->coming;
  plate->coming = swap;
  return largest;
}

// Blue is cold, red is warm, yellow is hot.
static void put_color(FILE* file, double degrees) {
  const double t = degrees / 100;
  const double red = fmin(1, 2 * t);
  const double green = fmax(0, 2 * t - 1);
  const double blue = fmax(0, 1 - 2 * t);
  fputc((int)(255 * red), file);
  fputc((int)(255 * green), file);
  fputc((int)(255 * blue), file);
}

static int write_picture(const char* name, int n, const double* cells) {
  FILE* file = fopen(name, "wb");
  if (file == NULL) {
    perror(name);
    return 1;
  }
  fprintf(file, "P6\n%d %d\n255\n", n, n);
  for (size_t i = 0; i < (size_t)n * (size_t)n; ++i) put_color(file, cells[i]);
  return fclose(file) == 0 ? 0 : 1;
}

// Brings all bands to rank 0, which draws them.
static int draw(const Plate* plate, const char* name) {
  const int n = plate->n;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  // A row is one element, so that counts stay small however large the plate is.
  MPI_Datatype row;
  MPI_Type_contiguous(n, MPI_DOUBLE, &row);
  MPI_Type_commit(&row);
  double* all = NULL;
  int* counts = calloc((size_t)size, sizeof(int));
  int* places = calloc((size_t)size, sizeof(int));
  if (rank == 0) all = malloc((size_t)n * (size_t)n * sizeof(double));
  if (counts == NULL || places == NULL || (rank == 0 && all == NULL)) MPI_Abort(MPI_COMM_WORLD, 1);
  for (int i = 0; i < size; ++i) {
    places[i] = first_row(n, size, i);
    counts[i] = first_row(n, size, i + 1) - places[i];
  }
  MPI_Gatherv(plate->now + n, plate->rows, row, all, counts, places, row, 0, MPI_COMM_WORLD);
  const int failed = rank == 0 ? write_picture(name, n, all) : 0;
  MPI_Type_free(&row);
  free(all);
  free(counts);
  free(places);
  return failed;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int n = argc > 1 ? atoi(argv[1]) : 400;
  const int steps = argc > 2 ? atoi(argv[2]) : 2000;
  const char* picture = argc > 3 ? argv[3] : "heat.ppm";
  if (n < size || n < 3) {
    if (rank == 0)
      fprintf(stderr, "heat: give at least 3 cells, and one row to each of %d ranks\n", size);
    MPI_Finalize();
    return 2;
  }
  Plate plate = make_plate(n);
  const double begin = MPI_Wtime();
  double largest = 0;
  int done = 0;
  while (done < steps) {
    largest = step(&plate);
    ++done;
    if (done % 100 != 0 && done != steps) continue;
    MPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (largest < 1e-4) break;
  }
  if (rank == 0) {
    printf("after %d steps the largest change is %.6f degrees\n", done, largest);
    printf("%.3f s on %d ranks\n", MPI_Wtime() - begin, size);
  }
  const int failed = draw(&plate, picture);
  if (rank == 0 && !failed) printf("%s shows the plate\n", picture);
  free(plate.now);
  free(plate.coming);
  MPI_Finalize();
  return failed;
}
