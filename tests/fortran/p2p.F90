! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2 4
! Chapter 3 in three bindings: messages, statuses, completion with indices from 1.
#include "binding.inc"
program p2p
  use checks
  USE_MPI
  implicit none
#include "mpif.inc"
  integer :: rank, ranks, ierror, right, left, count, index, found, i
  integer :: out(8), in(8), indices(4)
  logical :: flag
  STATUS :: one STATUS_SIZE
  STATUS :: all_of STATUS_LIST(4)
  HANDLE(MPI_Request) :: requests(4), request
  HANDLE(MPI_Message) :: message

  call MPI_Init(ierror)
  call equal(ierror, MPI_SUCCESS, 'MPI_Init')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  right = modulo(rank + 1, ranks)
  left = modulo(rank - 1, ranks)
  out = [(100 * rank + i, i = 1, 8)]

  ! A status, and a count of elements.
  in = 0
  call MPI_Sendrecv(out, 5, MPI_INTEGER, right, 7, in, 8, MPI_INTEGER, left, 7, MPI_COMM_WORLD, one, ierror)
  call equal(in(1:5), [(100 * left + i, i = 1, 5)], 'MPI_Sendrecv')
  call equal(in(6:8), [0, 0, 0], 'MPI_Sendrecv, behind')
  call equal(STATUS_OF(one, MPI_SOURCE), left, 'MPI_SOURCE')
  call equal(STATUS_OF(one, MPI_TAG), 7, 'MPI_TAG')
  call MPI_Get_count(one, MPI_INTEGER, count, ierror)
  call equal(count, 5, 'MPI_Get_count')

  ! MPI_STATUS_IGNORE, MPI_PROC_NULL.
  call MPI_Sendrecv(out, 1, MPI_INTEGER, right, 7, in, 1, MPI_INTEGER, left, 7, MPI_COMM_WORLD, &
                    MPI_STATUS_IGNORE, ierror)
  call equal(in(1), 100 * left + 1, 'MPI_STATUS_IGNORE')
  call MPI_Recv(in, 1, MPI_INTEGER, MPI_PROC_NULL, 1, MPI_COMM_WORLD, one, ierror)
  call equal(STATUS_OF(one, MPI_SOURCE), MPI_PROC_NULL, 'MPI_PROC_NULL')

  ! All, with statuses and without.
  do i = 1, 2
    call MPI_Irecv(in(i), 1, MPI_INTEGER, left, i, MPI_COMM_WORLD, requests(i), ierror)
    call MPI_Isend(out(i), 1, MPI_INTEGER, right, i, MPI_COMM_WORLD, requests(i + 2), ierror)
  end do
  call MPI_Waitall(4, requests, all_of, ierror)
  call equal(STATUS_AT(all_of, 2, MPI_TAG), 2, 'tag of the second status')
  do i = 1, 4
    call check(requests(i) == MPI_REQUEST_NULL, 'MPI_Waitall gives null handles')
  end do
  do i = 1, 2
    call MPI_Irecv(in(i), 1, MPI_INTEGER, left, i, MPI_COMM_WORLD, requests(i), ierror)
    call MPI_Isend(out(i), 1, MPI_INTEGER, right, i, MPI_COMM_WORLD, requests(i + 2), ierror)
  end do
  call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, ierror)
  call equal(in(1:2), [100 * left + 1, 100 * left + 2], 'MPI_STATUSES_IGNORE')

  ! Indices count from 1: only the third request can complete.
  requests = MPI_REQUEST_NULL
  call MPI_Irecv(in(3), 1, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(3), ierror)
  call MPI_Send(out(3), 1, MPI_INTEGER, right, 3, MPI_COMM_WORLD, ierror)
  call MPI_Waitany(4, requests, index, one, ierror)
  call equal(index, 3, 'MPI_Waitany')
  call MPI_Waitany(4, requests, index, one, ierror)
  call equal(index, MPI_UNDEFINED, 'MPI_Waitany of nothing')
  call MPI_Irecv(in(4), 1, MPI_INTEGER, left, 4, MPI_COMM_WORLD, requests(4), ierror)
  call MPI_Send(out(4), 1, MPI_INTEGER, right, 4, MPI_COMM_WORLD, ierror)
  call MPI_Waitsome(4, requests, found, indices, all_of, ierror)
  call equal([found, indices(1)], [1, 4], 'MPI_Waitsome')
  call MPI_Waitsome(4, requests, found, indices, MPI_STATUSES_IGNORE, ierror)
  call equal(found, MPI_UNDEFINED, 'MPI_Waitsome of nothing')
  call MPI_Irecv(in(2), 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(2), ierror)
  call MPI_Send(out(2), 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, ierror)
  flag = .false.
  do while (.not. flag)
    call MPI_Testany(4, requests, index, flag, one, ierror)
  end do
  call equal(index, 2, 'MPI_Testany')
  call MPI_Irecv(in(1), 1, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Send(out(2), 1, MPI_INTEGER, right, 2, MPI_COMM_WORLD, ierror)
  found = 0
  do while (found == 0)
    call MPI_Testsome(4, requests, found, indices, MPI_STATUSES_IGNORE, ierror)
  end do
  call equal([found, indices(1)], [1, 1], 'MPI_Testsome')

  ! Persistent requests keep their handles.
  call MPI_Recv_init(in, 2, MPI_INTEGER, left, 9, MPI_COMM_WORLD, requests(1), ierror)
  call MPI_Send_init(out, 2, MPI_INTEGER, right, 9, MPI_COMM_WORLD, requests(2), ierror)
  do i = 1, 3
    in = -1
    out(1) = i
    call MPI_Startall(2, requests, ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call equal(in(1), i, 'persistent')
    call check(requests(1) /= MPI_REQUEST_NULL, 'persistent requests stay')
  end do
  call MPI_Request_free(requests(1), ierror)
  call MPI_Request_free(requests(2), ierror)
  call check(requests(2) == MPI_REQUEST_NULL, 'MPI_Request_free')

  ! Matched probe.
  call MPI_Isend(out, 3, MPI_INTEGER, right, 11, MPI_COMM_WORLD, request, ierror)
  call MPI_Mprobe(left, 11, MPI_COMM_WORLD, message, one, ierror)
  call MPI_Get_count(one, MPI_INTEGER, count, ierror)
  call equal(count, 3, 'MPI_Mprobe')
  call MPI_Mrecv(in, 3, MPI_INTEGER, message, MPI_STATUS_IGNORE, ierror)
  call check(message == MPI_MESSAGE_NULL, 'MPI_Mrecv gives the null handle')
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  call MPI_Iprobe(MPI_ANY_SOURCE, 999, MPI_COMM_WORLD, flag, MPI_STATUS_IGNORE, ierror)
  call check(.not. flag, 'MPI_Iprobe of nothing')
  call exchanges()

  call MPI_Finalize(ierror)
  call finish()
contains
  !> Both directions in one call, and a matched message without blocking.
  subroutine exchanges()
    out(1) = rank
    call MPI_Sendrecv_replace(out, 1, MPI_INTEGER, right, 13, left, 13, MPI_COMM_WORLD, one, ierror)
    call equal([out(1), STATUS_OF(one, MPI_SOURCE)], [left, left], 'MPI_Sendrecv_replace')
    in = -1
    call MPI_Isendrecv(out, 1, MPI_INTEGER, left, 14, in, 1, MPI_INTEGER, right, 14, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Isendrecv_replace(out(2), 1, MPI_INTEGER, right, 15, left, 15, MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call equal(in(1), rank, 'MPI_Isendrecv')
    call equal(out(2), 100 * left + 2, 'MPI_Isendrecv_replace')
    call MPI_Isend(out(3), 1, MPI_INTEGER, right, 16, MPI_COMM_WORLD, requests(1), ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Improbe(left, 16, MPI_COMM_WORLD, flag, message, one, ierror)
    end do
    call MPI_Imrecv(in, 1, MPI_INTEGER, message, requests(2), ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call equal(in(1), 100 * left + 3, 'MPI_Imrecv')
  end subroutine exchanges
end program p2p
