/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * Transforms of FFTW's library for MPI, each compared with the same one by the library for one process: complex and real numbers,
 * two and three dimensions, in place and not, transposed or not, sizes that the ranks do not divide. */
#include <fftw3-mpi.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int rank, ranks, failures;

static double number(ptrdiff_t place, int part) {
  return sin(0.7 * (double)place + part) + 0.3 * cos(0.11 * (double)(place * place % 1009));
}

/* The largest difference on any rank, of transforms of `total` numbers. */
static void report(const char* what, double mine, double total) {
  double worst = 0;
  MPI_Allreduce(&mine, &worst, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  int good = worst < 1e-12 * total;
  if (rank == 0) printf("fftw: %s %s\n", what, good ? "equal" : "DIFFERENT");
  failures += !good;
}

static void complex_3d(ptrdiff_t n0, ptrdiff_t n1, ptrdiff_t n2, unsigned flags, const char* what) {
  ptrdiff_t local, begin, local_out, begin_out;
  ptrdiff_t n[3] = {n0, n1, n2};
  ptrdiff_t room =
      fftw_mpi_local_size_many_transposed(3, n, 1, FFTW_MPI_DEFAULT_BLOCK, FFTW_MPI_DEFAULT_BLOCK,
                                          MPI_COMM_WORLD, &local, &begin, &local_out, &begin_out);
  fftw_complex* data = fftw_alloc_complex((size_t)room);
  fftw_complex* whole = fftw_alloc_complex((size_t)(n0 * n1 * n2));
  fftw_plan plan =
      fftw_mpi_plan_dft_3d(n0, n1, n2, data, data, MPI_COMM_WORLD, FFTW_FORWARD, flags);
  fftw_plan alone =
      fftw_plan_dft_3d((int)n0, (int)n1, (int)n2, whole, whole, FFTW_FORWARD, FFTW_ESTIMATE);
  for (ptrdiff_t i = 0; i < n0 * n1 * n2; ++i)
    whole[i][0] = number(i, 0), whole[i][1] = number(i, 1);
  if (local > 0) memcpy(data, whole + begin * n1 * n2, (size_t)(local * n1 * n2) * sizeof *data);
  fftw_execute(plan);
  fftw_execute(alone);
  double worst = 0;
  int transposed = (flags & FFTW_MPI_TRANSPOSED_OUT) != 0;
  ptrdiff_t rows = transposed ? local_out : local, first = transposed ? begin_out : begin,
            columns = transposed ? n0 : n1;
  for (ptrdiff_t i = 0; i < rows; ++i)
    for (ptrdiff_t j = 0; j < columns; ++j)
      for (ptrdiff_t k = 0; k < n2; ++k) {
        ptrdiff_t there =
            transposed ? (j * n1 + first + i) * n2 + k : ((first + i) * n1 + j) * n2 + k;
        for (int part = 0; part < 2; ++part)
          worst = fmax(worst, fabs(data[(i * columns + j) * n2 + k][part] - whole[there][part]));
      }
  report(what, worst, (double)(n0 * n1 * n2));
  fftw_destroy_plan(plan);
  fftw_destroy_plan(alone);
  fftw_free(data);
  fftw_free(whole);
}

/* There and back: n0 * n1 times what it was. */
static void real_2d(ptrdiff_t n0, ptrdiff_t n1) {
  ptrdiff_t local, begin, width = 2 * (n1 / 2 + 1);
  ptrdiff_t room = fftw_mpi_local_size_2d(n0, n1 / 2 + 1, MPI_COMM_WORLD, &local, &begin);
  double* data = fftw_alloc_real((size_t)(2 * room));
  fftw_plan there =
      fftw_mpi_plan_dft_r2c_2d(n0, n1, data, (fftw_complex*)data, MPI_COMM_WORLD, FFTW_MEASURE);
  fftw_plan back =
      fftw_mpi_plan_dft_c2r_2d(n0, n1, (fftw_complex*)data, data, MPI_COMM_WORLD, FFTW_MEASURE);
  for (ptrdiff_t i = 0; i < local; ++i)
    for (ptrdiff_t j = 0; j < n1; ++j) data[i * width + j] = number((begin + i) * n1 + j, 0);
  fftw_execute(there);
  fftw_execute(back);
  double worst = 0;
  for (ptrdiff_t i = 0; i < local; ++i)
    for (ptrdiff_t j = 0; j < n1; ++j)
      worst = fmax(worst,
                   fabs(data[i * width + j] - (double)(n0 * n1) * number((begin + i) * n1 + j, 0)));
  report("real numbers, there and back", worst, (double)(n0 * n1));
  fftw_destroy_plan(there);
  fftw_destroy_plan(back);
  fftw_free(data);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  complex_3d(32, 24, 20, FFTW_ESTIMATE, "32x24x20");
  complex_3d(32, 24, 20, FFTW_MEASURE, "32x24x20, measured");
  complex_3d(13, 7, 5, FFTW_ESTIMATE, "13x7x5");
  complex_3d(3, 2, 9, FFTW_ESTIMATE, "3x2x9, less than there are ranks");
  complex_3d(32, 24, 20, FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT, "32x24x20, transposed");
  complex_3d(17, 19, 3, FFTW_ESTIMATE | FFTW_MPI_TRANSPOSED_OUT, "17x19x3, transposed");
  real_2d(64, 48);
  real_2d(31, 27);
  fftw_mpi_cleanup();
  MPI_Finalize();
  return failures != 0;
}
