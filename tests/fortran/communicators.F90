! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 2 4
! Chapters 6 and 7 in three bindings: how communicators are made and compared, intercommunicators, collective operations that
! do not block. callbacks.F90 has attributes and error handlers, topology.F90 groups.
#include "binding.inc"
program communicators
  use checks
  USE_MPI
  implicit none
#include "mpif.inc"
  integer :: rank, ranks, ierror, number, place
  logical :: flag
  HANDLE(MPI_Comm) :: comm, copy
  HANDLE(MPI_Request) :: request

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call splits()
  call copies()
  call two_halves()
  call without_blocking()
  call MPI_Finalize(ierror)
  call finish()
contains
  subroutine splits()
    HANDLE(MPI_Group) :: group, evens
    ! Backwards, and nobody of odd rank.
    call MPI_Comm_split(MPI_COMM_WORLD, merge(0, MPI_UNDEFINED, modulo(rank, 2) == 0), -rank, comm, ierror)
    call check((comm == MPI_COMM_NULL) .eqv. (modulo(rank, 2) == 1), 'MPI_UNDEFINED as colour')
    if (comm /= MPI_COMM_NULL) then
      call MPI_Comm_rank(comm, place, ierror)
      call equal(place, (ranks - 1) / 2 - rank / 2, 'keys of MPI_Comm_split')
      call MPI_Comm_free(comm, ierror)
      call check(comm == MPI_COMM_NULL, 'MPI_Comm_free')
    end if
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, comm, ierror)
    call MPI_Comm_size(comm, number, ierror)
    call check(number >= 1 .and. number <= ranks, 'MPI_Comm_split_type')
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_group(MPI_COMM_WORLD, group, ierror)
    call MPI_Group_incl(group, (ranks + 1) / 2, [0, 2, 4, 6], evens, ierror)
    if (modulo(rank, 2) == 0) then
      call MPI_Comm_create_group(MPI_COMM_WORLD, evens, 5, comm, ierror)
      call MPI_Comm_rank(comm, place, ierror)
      call equal(place, rank / 2, 'MPI_Comm_create_group')
      call MPI_Comm_free(comm, ierror)
    end if
    call MPI_Comm_create(MPI_COMM_WORLD, evens, comm, ierror)
    call check((comm == MPI_COMM_NULL) .eqv. (modulo(rank, 2) == 1), 'MPI_Comm_create')
    if (comm /= MPI_COMM_NULL) call MPI_Comm_free(comm, ierror)
    call MPI_Group_free(group, ierror)
    call MPI_Group_free(evens, ierror)
  end subroutine splits

  subroutine copies()
    character(len=8) :: text
    integer :: length
    HANDLE(MPI_Info) :: info
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'mpi_assert_no_any_tag', 'true', ierror)
    call MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, comm, ierror)
    call MPI_Info_free(info, ierror)
    call MPI_Comm_get_info(comm, info, ierror)
    length = len(text)
    call MPI_Info_get_string(info, 'mpi_assert_no_any_tag', length, text, flag, ierror)
    call check(flag, 'MPI_Comm_get_info')
    if (flag) call equal(trim(text), 'true', 'value of MPI_Comm_get_info')
    call MPI_Comm_idup_with_info(comm, info, copy, request, ierror)
    call MPI_Info_free(info, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_Comm_compare(comm, copy, number, ierror)
    call equal(number, MPI_CONGRUENT, 'MPI_Comm_compare of a copy')
    call MPI_Comm_compare(comm, comm, number, ierror)
    call equal(number, MPI_IDENT, 'MPI_Comm_compare of the same')
    call MPI_Comm_free(copy, ierror)
    call MPI_Comm_idup(comm, copy, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call MPI_Allreduce(1, number, 1, MPI_INTEGER, MPI_SUM, copy, ierror)
    call equal(number, ranks, 'MPI_Comm_idup')
    call MPI_Comm_free(copy, ierror)
    call MPI_Comm_free(comm, ierror)
  end subroutine copies

  !> Rank 0 and the others, joined and merged with the others first.
  subroutine two_halves()
    integer :: low
    HANDLE(MPI_Comm) :: half, between
    if (ranks == 1) return
    low = merge(1, 0, rank == 0)
    call MPI_Comm_split(MPI_COMM_WORLD, low, rank, half, ierror)
    call MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, low, 3, between, ierror)
    call MPI_Comm_test_inter(between, flag, ierror)
    call check(flag, 'MPI_Intercomm_create')
    call MPI_Comm_remote_size(between, number, ierror)
    call equal(number, merge(ranks - 1, 1, rank == 0), 'MPI_Comm_remote_size')
    number = 42
    if (rank == 0) then
      call MPI_Bcast(number, 1, MPI_INTEGER, MPI_ROOT, between, ierror)
    else
      number = 0
      call MPI_Bcast(number, 1, MPI_INTEGER, 0, between, ierror)
    end if
    call equal(number, 42, 'MPI_ROOT')
    call MPI_Intercomm_merge(between, rank == 0, comm, ierror)
    call MPI_Comm_rank(comm, place, ierror)
    call equal(place, modulo(rank - 1, ranks), 'MPI_Intercomm_merge')
    call MPI_Comm_free(comm, ierror)
    call MPI_Comm_free(between, ierror)
    call MPI_Comm_free(half, ierror)
  end subroutine two_halves

  !> Collective operations that do not block, and one that is started again and again.
  subroutine without_blocking()
    integer ASYNC :: mine(4), got(4), total, sums(1)
    integer :: i
    HANDLE(MPI_Request) :: requests(2)
    mine = 0
    if (rank == 0) mine = [1, 2, 3, 4]
    call MPI_Ibcast(mine, 4, MPI_INTEGER, 0, MPI_COMM_WORLD, requests(1), ierror)
    call MPI_Ibarrier(MPI_COMM_WORLD, requests(2), ierror)
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call equal(mine, [1, 2, 3, 4], 'MPI_Ibcast')
    call MPI_Allreduce_init(mine, got, 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, request, ierror)
    do i = 1, 3
      mine = i * rank
      call MPI_Start(request, ierror)
      call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
      call equal(got(4), i * ranks * (ranks - 1) / 2, 'MPI_Allreduce_init')
    end do
    call MPI_Request_free(request, ierror)
    mine = [(10 * i + rank, i = 0, 3)]
    call MPI_Reduce_scatter_block(mine, sums, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    call equal(sums(1), 10 * rank * ranks + ranks * (ranks - 1) / 2, 'MPI_Reduce_scatter_block')
    total = -1
    call MPI_Exscan(1, total, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
    if (rank > 0) call equal(total, rank, 'MPI_Exscan')
    mine = 7
    call MPI_Allreduce(MPI_IN_PLACE, mine, 4, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD, ierror)
    call equal(mine, [7, 7, 7, 7], 'MPI_IN_PLACE')
  end subroutine without_blocking
end program communicators
