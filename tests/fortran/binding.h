! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! One source for three bindings: compiled with TEST_F08 for mpi_f08, TEST_MPI for the module mpi, neither for
! mpif.h. Lines that are too long for the preprocessor's output stay below 132 columns when expanded.
#if defined(TEST_F08)
#define USE_MPI use mpi_f08
#define HANDLE(T) type(T)
#define STATUS type(MPI_Status)
#define STATUS_SIZE
#define STATUS_OF(s, part) s % part
#define STATUS_AT(s, i, part) s(i) % part
#define STATUS_LIST(n) (n)
#elif defined(TEST_MPI)
#define USE_MPI use mpi
#else
#define USE_MPI use checks, only : finish
#endif
#if !defined(TEST_F08)
#define HANDLE(T) integer
#define STATUS integer
#define STATUS_SIZE (MPI_STATUS_SIZE)
#define STATUS_OF(s, part) s(part)
#define STATUS_AT(s, i, part) s(part, i)
#define STATUS_LIST(n) (MPI_STATUS_SIZE, n)
#endif
