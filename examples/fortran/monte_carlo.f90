! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! monte_carlo: pi by throwing darts.
!
!     mpifort -O2 monte_carlo.f90 -o monte_carlo
!     mpiexec -n 4 ./monte_carlo [millions of darts for each rank]
!
! The part of the darts that lies in the quarter circle is pi / 4. Each rank needs random numbers of its own: the
! seed of the compiler's generator is made from the rank. Counts are added as 64-bit integers. ../monte_carlo.c
! says more about it.
program monte_carlo
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer :: rank, ranks, i, words
  integer, allocatable :: seed(:)
  integer(int64) :: darts, dart, inside, total
  double precision :: point(2), pi, deviation
  character(20) :: argument

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  darts = 5000000
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read(argument, *) darts
    darts = darts * 1000000
  end if

  call random_seed(size=words)
  allocate(seed(words))
  seed = [(12345 + 7919 * rank + 104729 * i, i = 1, words)]
  call random_seed(put=seed)
  inside = 0
  do dart = 1, darts
    call random_number(point)
    if (point(1)**2 + point(2)**2 < 1) inside = inside + 1
  end do

  call MPI_Reduce(inside, total, 1, MPI_INTEGER8, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) then
    darts = darts * ranks
    pi = 4 * dble(total) / dble(darts)
    deviation = sqrt(pi * (4 - pi) / dble(darts))
    print '(a, f10.8, a, i0, a, f10.8)', 'pi is about ', pi, ', from ', darts, ' darts, with a deviation of ', deviation
    if (abs(pi - acos(-1d0)) > 6 * deviation) then
      print '(a)', 'WRONG: that is further away than chance explains'
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
  end if
  call MPI_Finalize()
end program monte_carlo
