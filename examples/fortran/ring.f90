! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ring: a number travels from rank to rank, and everybody adds something to it.
!
!     mpifort -O2 ring.f90 -o ring
!     mpiexec -n 4 ./ring [laps]
!
! Rank 0 starts the number, so it sends first and receives afterwards; all others receive first. ../ring.c says
! more about it.
program ring
  use mpi_f08
  use, intrinsic :: iso_fortran_env, only: int64
  implicit none
  integer :: rank, ranks, next, previous, lap, laps
  integer(int64) :: number, right
  double precision :: begin, seconds
  character(20) :: argument
  type(MPI_Status) :: status

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  laps = 1000
  if (command_argument_count() > 0) then
    call get_command_argument(1, argument)
    read(argument, *) laps
  end if
  next = modulo(rank + 1, ranks)
  previous = modulo(rank - 1, ranks)

  number = 0
  begin = MPI_Wtime()
  do lap = 1, laps
    if (rank == 0) then
      ! With one rank this is a message to itself: only a call that does both at once never waits for itself.
      call MPI_Sendrecv_replace(number, 1, MPI_INTEGER8, next, lap, previous, lap, MPI_COMM_WORLD, status)
    else
      call MPI_Recv(number, 1, MPI_INTEGER8, previous, lap, MPI_COMM_WORLD, status)
      number = number + rank
      call MPI_Send(number, 1, MPI_INTEGER8, next, lap, MPI_COMM_WORLD)
    end if
  end do
  seconds = MPI_Wtime() - begin

  if (rank == 0) then
    right = int(laps, int64) * ranks * (ranks - 1) / 2
    print '(i0, a, i0, a, i0, a, f0.3, a)', laps, ' laps over ', ranks, ' ranks: ', number, ', ', &
      1e6 * seconds / (max(laps, 1) * ranks), ' us for each hop'
    if (number /= right) then
      print '(a, i0)', 'WRONG: it should be ', right
      call MPI_Abort(MPI_COMM_WORLD, 1)
    end if
  end if
  call MPI_Finalize()
end program ring
