! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2
! MPI_Comm_idup in three bindings where a copy function fails: the new communicator belongs to the operation until the
! request is complete (MPI 5.0 section 7.4.2), and is MPI_COMM_NULL then, in whatever call completes it.
#include "binding.inc"
! A variable that a call changes to which it is no argument; without an interface the compiler knows nothing of that.
#if defined(TEST_F08) || defined(TEST_MPI)
#define CHANGES , asynchronous
#else
#define CHANGES , volatile
#endif
module refusal
  implicit none
contains
  subroutine refuse(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    USE_MPI
#include "mpif.inc"
    HANDLE(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    attribute_val_out = attribute_val_in + extra_state
    flag = .false.
    ierror = MPI_ERR_OTHER
    if (oldcomm == MPI_COMM_NULL .or. comm_keyval == MPI_KEYVAL_INVALID) ierror = MPI_SUCCESS
  end subroutine refuse
end module refusal

program duplicates
  use checks
  use refusal
  USE_MPI
  implicit none
#include "mpif.inc"
  integer :: rank, ierror, keyval
  integer(kind=MPI_ADDRESS_KIND) :: value
  HANDLE(MPI_Comm) :: parent

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, parent, ierror)
  call MPI_Comm_set_errhandler(parent, MPI_ERRORS_RETURN, ierror)
  call waited_for('succeeds', .false.)
  value = 1
  call MPI_Comm_create_keyval(refuse, MPI_COMM_NULL_DELETE_FN, keyval, value, ierror)
  if (rank == 0) call MPI_Comm_set_attr(parent, keyval, value, ierror)
  call waited_for('fails', .true.)
  call told_first()
  call two_at_once()
  call MPI_Comm_free(parent, ierror)
  call MPI_Finalize(ierror)
  call finish()
contains
  subroutine waited_for(what, fails)
    character(len=*), intent(in) :: what
    logical, intent(in) :: fails
    HANDLE(MPI_Comm) CHANGES :: copy
    HANDLE(MPI_Request) :: request
    copy = MPI_COMM_SELF
    call MPI_Comm_idup(parent, copy, request, ierror)
    call check(copy /= MPI_COMM_SELF, what // ': the handle is given at once')
    call complete(request, what, fails)
    call check((copy == MPI_COMM_NULL) .eqv. fails, what // ': the communicator')
    if (copy /= MPI_COMM_NULL) call MPI_Comm_free(copy, ierror)
  end subroutine waited_for

  !> In a frame of its own, which nothing but itself writes to.
  subroutine complete(request, what, fails)
    HANDLE(MPI_Request), intent(inout) :: request
    character(len=*), intent(in) :: what
    logical, intent(in) :: fails
    integer, volatile :: words(1000)
    words = 1431655765
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call check((ierror /= MPI_SUCCESS) .eqv. fails, what // ': ierror')
    call equal(count(words /= 1431655765), 0, what // ': words of the stack that were changed')
  end subroutine complete

  subroutine told_first()
    HANDLE(MPI_Comm) CHANGES :: copy
    HANDLE(MPI_Request) :: request
    logical :: flag
    call MPI_Comm_idup(parent, copy, request, ierror)
    flag = .false.
    ierror = MPI_SUCCESS
    do while (.not. flag .and. ierror == MPI_SUCCESS)
      call MPI_Request_get_status(request, flag, MPI_STATUS_IGNORE, ierror)
    end do
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call check(copy == MPI_COMM_NULL, 'MPI_Request_get_status, then MPI_Wait')
  end subroutine told_first

  subroutine two_at_once()
    HANDLE(MPI_Comm) CHANGES :: one, other
    HANDLE(MPI_Request) :: requests(2)
    STATUS :: statuses STATUS_LIST(2)
    call MPI_Comm_idup_with_info(parent, MPI_INFO_NULL, one, requests(1), ierror)
    call MPI_Comm_idup(MPI_COMM_WORLD, other, requests(2), ierror)
    call MPI_Waitall(2, requests, statuses, ierror)
    call equal(ierror, MPI_ERR_IN_STATUS, 'one of two fails')
    call check(one == MPI_COMM_NULL, 'MPI_Waitall')
    call check(other /= MPI_COMM_NULL, 'MPI_Waitall, the other')
    call MPI_Comm_free(other, ierror)
  end subroutine two_at_once
end program duplicates
