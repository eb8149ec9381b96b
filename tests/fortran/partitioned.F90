! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2
! Chapter 4 in three bindings: partitions count from 0, the lengths are MPI_COUNT_KIND.
#include "binding.inc"
program partitioned
  use checks
  USE_MPI
  implicit none
#include "mpif.inc"
  integer, parameter :: parts = 6, length = 3
  integer :: rank, ranks, ierror, round, i
  integer ASYNC :: out(parts * length), in(parts * length)
  integer(kind=MPI_COUNT_KIND) :: per_part, per_arrival
  logical :: flag
  HANDLE(MPI_Request) :: requests(2)

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  ! The receiver divides the same data differently.
  per_part = length
  per_arrival = parts * length / 2
  call MPI_Psend_init(out, parts, per_part, MPI_INTEGER, modulo(rank + 1, ranks), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &
                      requests(1), ierror)
  call MPI_Precv_init(in, 2, per_arrival, MPI_INTEGER, modulo(rank - 1, ranks), 7, MPI_COMM_WORLD, MPI_INFO_NULL, &
                      requests(2), ierror)
  do round = 1, 3
    in = -1
    call MPI_Startall(2, requests, ierror)
    out = [(1000 * round + 100 * rank + i, i = 1, parts * length)]
    call MPI_Pready(0, requests(1), ierror)
    call MPI_Pready_list(2, [2, 1], requests(1), ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Parrived(requests(2), 0, flag, ierror)
    end do
    call equal(in(1:3 * length), expected(1, 3 * length), 'the first half has arrived')
    call MPI_Parrived(requests(2), 1, flag, ierror)
    if (ranks == 1) call check(.not. flag, 'MPI_Parrived of what is not sent yet')
    call MPI_Pready_range(3, parts - 1, requests(1), ierror)
    call equal(ierror, MPI_SUCCESS, 'MPI_Pready_range')
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call equal(in, expected(1, parts * length), 'all partitions')
    call check(requests(1) /= MPI_REQUEST_NULL, 'the requests stay')
  end do
  call MPI_Request_free(requests(1), ierror)
  call MPI_Request_free(requests(2), ierror)
  call check(requests(1) == MPI_REQUEST_NULL, 'MPI_Request_free')
  call MPI_Finalize(ierror)
  call finish()
contains
  !> What the left neighbour sends in this round.
  function expected(first, last) result(values)
    integer, intent(in) :: first, last
    integer :: values(last - first + 1)
    values = [(1000 * round + 100 * modulo(rank - 1, ranks) + i, i = first, last)]
  end function expected
end program partitioned
