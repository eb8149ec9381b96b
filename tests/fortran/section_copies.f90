! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2 4
! Operations of mpi_f08 on sections that no datatype describes, so that they work on a copy: what the operation does not write
! belongs to the program or to other operations until completion.
program section_copies
  use checks
  use mpi_f08
  implicit none
  integer :: rank, ranks, right, left, i
  type(MPI_Datatype) :: two
  integer, asynchronous :: a(20), b(20)
  integer, parameter :: length = 2000000
  integer, asynchronous, allocatable :: long(:)
  type(MPI_Request) :: requests(2)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = modulo(rank + 1, ranks)
  left = modulo(rank - 1, ranks)
  call MPI_Type_contiguous(2, MPI_INTEGER, two)
  call MPI_Type_commit(two)
  a = [(i, i = 1, 20)]

  call not_significant()
  call behind_the_count()
  call two_operations()
  call persistent()
  call bytes()
  call told_of()
  call freed_receive()
  call freed_send()

  call MPI_Type_free(two)
  call MPI_Finalize()
  call finish()
contains

  subroutine not_significant()
    b = 0
    call MPI_Ireduce(a(1:5), b(1:10:2), 5, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD, requests(1))
    if (rank /= 0) b = 42
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    if (rank == 0) call equal(b(1:10:2), ranks * a(1:5), 'MPI_Ireduce, root')
    if (rank /= 0) call equal(count(b == 42), 20, 'a receive buffer that is not significant')
  end subroutine not_significant

  subroutine behind_the_count()
    ! The first four elements of the section are the buffer.
    b = 0
    call MPI_Irecv(b(1:20:2), 2, two, left, 1, MPI_COMM_WORLD, requests(1))
    b(9:20) = 99
    call MPI_Send(a, 2, two, right, 1, MPI_COMM_WORLD)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call equal(b(1:8), [1, 0, 2, 0, 3, 0, 4, 0], 'what was received')
    call equal(count(b(9:20) == 99), 12, 'elements behind the count')
  end subroutine behind_the_count

  subroutine two_operations()
    ! Into the first and into the last elements of one section.
    integer, asynchronous :: counts(ranks), first(ranks), last(ranks), mine(2), all(4 * ranks)
    all = 0
    mine = [rank + 1, rank + 101]
    counts = 1
    first = [(i, i = 0, ranks - 1)]
    last = first + ranks
    call MPI_Iallgatherv(mine(1), 1, MPI_INTEGER, all(1::2), counts, first, MPI_INTEGER, MPI_COMM_WORLD, requests(1))
    call MPI_Iallgatherv(mine(2), 1, MPI_INTEGER, all(1::2), counts, last, MPI_INTEGER, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call equal(all(1::2), [(i, i = 1, ranks), (100 + i, i = 1, ranks)], 'two operations on one section')
  end subroutine two_operations

  subroutine persistent()
    b = 0
    call MPI_Recv_init(b(1:20:2), 2, two, left, 2, MPI_COMM_WORLD, requests(1))
    do i = 1, 3
      b(1:8) = -i
      call MPI_Start(requests(1))
      b(9:20) = 10 * i
      a = [1, 2, 3, 4, a(5:20)] + i
      call MPI_Send(a, 2, two, right, 2, MPI_COMM_WORLD)
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
      call equal(b(1:8:2), a(1:4), 'a persistent receive')
      call equal(count(b(9:20) == 10 * i), 12, 'elements behind the count of a persistent receive')
      a = [(i, i = 1, 20)]
    end do
    call MPI_Request_free(requests(1))
  end subroutine persistent

  subroutine bytes()
    ! Long runs, of which bytes in the middle are received.
    character(len=200), asynchronous :: text(4)
    character(len=100) :: words
    type(MPI_Datatype) :: middle
    words = repeat('0123456789', 10)
    text = repeat('x', 200)
    call MPI_Type_create_hindexed_block(1, 100, [77_MPI_ADDRESS_KIND], MPI_CHARACTER, middle)
    call MPI_Type_commit(middle)
    call MPI_Irecv(text(1:4:2), 1, middle, left, 3, MPI_COMM_WORLD, requests(1))
    text(1)(1:77) = repeat('a', 77)
    text(1)(178:200) = repeat('b', 23)
    call MPI_Send(words, 100, MPI_CHARACTER, right, 3, MPI_COMM_WORLD)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call equal(text(1), repeat('a', 77) // words // repeat('b', 23), 'bytes in the middle')
    call equal(text(3), repeat('x', 200), 'an element that nothing was received for')
    call MPI_Type_free(middle)
  end subroutine bytes

  subroutine told_of()
    ! When a call has said that the request is complete, the program has its buffer back; the request ends later.
    integer :: k, found, places(1)
    logical :: flag
    do k = 1, 4
      b = 0
      call MPI_Irecv(b(1:20:2), 2, two, left, 6, MPI_COMM_WORLD, requests(1))
      call MPI_Send(a, 2, two, right, 6, MPI_COMM_WORLD)
      flag = .false.
      do while (.not. flag)
        select case (k)
        case (1)
          call MPI_Request_get_status(requests(1), flag, MPI_STATUS_IGNORE)
        case (2)
          call MPI_Request_get_status_any(1, requests, found, flag, MPI_STATUS_IGNORE)
        case (3)
          call MPI_Request_get_status_some(1, requests, found, places, MPI_STATUSES_IGNORE)
          flag = found == 1
        case (4)
          call MPI_Request_get_status_all(1, requests, flag, MPI_STATUSES_IGNORE)
        end select
      end do
      call equal(b(1:8), [1, 0, 2, 0, 3, 0, 4, 0], 'received when MPI_Request_get_status says so')
      b = 7
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
      call equal(count(b == 7), 20, 'stored once')
    end do
  end subroutine told_of

  subroutine freed_receive()
    ! The second message comes behind the first.
    integer :: small(1)
    small = 1
    b = 0
    call MPI_Irecv(b(1:20:2), 2, two, left, 4, MPI_COMM_WORLD, requests(1))
    call MPI_Request_free(requests(1))
    call check(requests(1) == MPI_REQUEST_NULL, 'MPI_Request_free')
    call MPI_Irecv(small, 1, MPI_INTEGER, left, 4, MPI_COMM_WORLD, requests(1))
    call MPI_Send(a, 2, two, right, 4, MPI_COMM_WORLD)
    call MPI_Send(a, 1, MPI_INTEGER, right, 4, MPI_COMM_WORLD)
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call equal(b(1:8), [1, 0, 2, 0, 3, 0, 4, 0], 'a receive that was freed')
  end subroutine freed_receive

  subroutine freed_send()
    ! Too long to be sent at once: one that is persistent, and one that may end in MPI_Finalize.
    integer, allocatable :: got(:)
    integer :: k
    allocate (long(2 * length), got(length))
    long = [(i, i = 1, 2 * length)]
    do k = 1, 2
      got = 0
      if (k == 1) then
        call MPI_Send_init(long(1::2), length / 2, two, right, 5, MPI_COMM_WORLD, requests(1))
        call MPI_Start(requests(1))
      else
        call MPI_Isend(long(1::2), length / 2, two, right, 5, MPI_COMM_WORLD, requests(1))
      end if
      call MPI_Request_free(requests(1))
      call MPI_Barrier(MPI_COMM_WORLD)
      call MPI_Recv(got, length, MPI_INTEGER, left, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
      call equal(count(got /= long(1::2)), 0, 'wrong elements of a send that was freed')
    end do
  end subroutine freed_send
end program section_copies
