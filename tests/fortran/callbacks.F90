! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2
! Chapters 7 and 9 in three bindings: attributes with copy and delete functions, error handlers, generalized
! requests, all written in Fortran.
#include "binding.inc"
module procedures
  implicit none
  integer :: copies = 0, deletes = 0, errors = 0, last_class = 0, queries = 0, frees = 0, cancels = 0
  integer(kind=8) :: seen_extra = 0, deleted = 0, query_extra = 0
  logical :: cancelled_complete = .true.
contains
  subroutine copy_comm(oldcomm, comm_keyval, extra_state, attribute_val_in, attribute_val_out, flag, ierror)
    USE_MPI
#include "mpif.inc"
    HANDLE(MPI_Comm) :: oldcomm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
    logical :: flag
    copies = copies + 1
    seen_extra = extra_state
    attribute_val_out = attribute_val_in + 1
    flag = attribute_val_in < 7000000000_8 .or. comm_keyval == MPI_KEYVAL_INVALID
    if (.not. flag .and. oldcomm == MPI_COMM_NULL) copies = -100
    ierror = MPI_SUCCESS
  end subroutine copy_comm

  subroutine delete_comm(comm, comm_keyval, attribute_val, extra_state, ierror)
    USE_MPI
#include "mpif.inc"
    HANDLE(MPI_Comm) :: comm
    integer :: comm_keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    deletes = deletes + 1
    deleted = attribute_val
    if (extra_state /= seen_extra .and. comm_keyval > 0 .and. comm == MPI_COMM_NULL) deletes = -100
    ierror = MPI_SUCCESS
  end subroutine delete_comm

  subroutine handle_error(comm, error_code)
    USE_MPI
#include "mpif.inc"
    HANDLE(MPI_Comm) :: comm
    integer :: error_code, ierror
    if (comm /= MPI_COMM_NULL) errors = errors + 1
    call MPI_Error_class(error_code, last_class, ierror)
  end subroutine handle_error

  subroutine query(extra_state, status, ierror)
    USE_MPI
#include "mpif.inc"
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    STATUS :: status STATUS_SIZE
    integer :: ierror
    queries = queries + 1
    query_extra = extra_state
    STATUS_OF(status, MPI_SOURCE) = 17
    STATUS_OF(status, MPI_TAG) = 18
    call MPI_Status_set_elements(status, MPI_INTEGER, 5, ierror)
    call MPI_Status_set_cancelled(status, .false., ierror)
    ierror = MPI_SUCCESS
  end subroutine query

  subroutine free_request(extra_state, ierror)
    USE_MPI
#include "mpif.inc"
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer :: ierror
    if (extra_state == query_extra) frees = frees + 1
    ierror = MPI_SUCCESS
  end subroutine free_request

  subroutine cancel_request(extra_state, complete, ierror)
    USE_MPI
#include "mpif.inc"
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    logical :: complete
    integer :: ierror
    if (extra_state /= 0) cancels = cancels + 1
    cancelled_complete = complete
    ierror = MPI_SUCCESS
  end subroutine cancel_request
end module procedures

program callbacks
  use checks
  use procedures
  USE_MPI
  implicit none
#include "mpif.inc"
  integer :: ierror, keyval, other, code, count, rank, ranks
  integer(kind=MPI_ADDRESS_KIND) :: value, extra
  logical :: flag
  HANDLE(MPI_Comm) :: dup
  HANDLE(MPI_Datatype) :: type1, type2
  HANDLE(MPI_Errhandler) :: handler, got
  HANDLE(MPI_Request) :: request
  STATUS :: status STATUS_SIZE

  call MPI_Init(ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)

  ! Predefined attributes are values.
  call MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, value, flag, ierror)
  call check(flag, 'MPI_TAG_UB is there')
  call check(value >= 32767, 'MPI_TAG_UB is a value and no address')
  call check(value <= huge(1), 'MPI_TAG_UB is no address')

  ! A keyval of ours; its value does not fit into 4 bytes.
  extra = 6000000001_8
  call MPI_Comm_create_keyval(copy_comm, delete_comm, keyval, extra, ierror)
  call equal(ierror, MPI_SUCCESS, 'MPI_Comm_create_keyval')
  value = 5000000000_8
  call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, value, ierror)
  call MPI_Comm_dup(MPI_COMM_SELF, dup, ierror)
  call equal(copies, 1, 'the copy function was called')
  call equal(seen_extra, extra, 'extra_state')
  call MPI_Comm_get_attr(dup, keyval, value, flag, ierror)
  call check(flag, 'the attribute was copied')
  call equal(value, 5000000001_8, 'the copy function gives the value')
  call MPI_Comm_delete_attr(dup, keyval, ierror)
  call equal(deletes, 1, 'the delete function was called')
  call equal(deleted, 5000000001_8, 'the delete function sees the value')
  call MPI_Comm_get_attr(dup, keyval, value, flag, ierror)
  call check(.not. flag, 'the attribute is gone')
  call MPI_Comm_free(dup, ierror)
  value = 7000000000_8  ! not to be copied
  call MPI_Comm_set_attr(MPI_COMM_SELF, keyval, value, ierror)
  call equal(deleted, 5000000000_8, 'a new value deletes the old one')
  call MPI_Comm_dup(MPI_COMM_SELF, dup, ierror)
  call MPI_Comm_get_attr(dup, keyval, value, flag, ierror)
  call check(.not. flag, 'flag of the copy function')
  call MPI_Comm_free(dup, ierror)
  call MPI_Comm_delete_attr(MPI_COMM_SELF, keyval, ierror)
  call MPI_Comm_free_keyval(keyval, ierror)
  call equal(keyval, MPI_KEYVAL_INVALID, 'MPI_Comm_free_keyval')

  ! Predefined functions.
  call MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, keyval, extra, ierror)
  call MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, other, extra, ierror)
  call MPI_Type_contiguous(2, MPI_INTEGER, type1, ierror)
  value = -3
  call MPI_Type_set_attr(type1, keyval, value, ierror)
  call MPI_Type_set_attr(type1, other, value, ierror)
  call MPI_Type_dup(type1, type2, ierror)
  value = 0
  call MPI_Type_get_attr(type2, keyval, value, flag, ierror)
  call check(flag .and. value == -3, 'MPI_TYPE_DUP_FN')
  call MPI_Type_get_attr(type2, other, value, flag, ierror)
  call check(.not. flag, 'MPI_TYPE_NULL_COPY_FN')
  call MPI_Type_free(type1, ierror)
  call MPI_Type_free(type2, ierror)

  ! An error handler.
  call MPI_Comm_create_errhandler(handle_error, handler, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierror)
  call MPI_Comm_set_errhandler(dup, handler, ierror)
  call MPI_Comm_get_errhandler(dup, got, ierror)
  call check(got == handler, 'MPI_Comm_get_errhandler')
  call MPI_Send(rank, 1, MPI_INTEGER, ranks + 5, 1, dup, ierror)
  call equal([errors, last_class], [1, MPI_ERR_RANK], 'the error handler was called')
  call MPI_Error_class(ierror, code, ierror)
  call equal(code, MPI_ERR_RANK, 'ierror')
  call MPI_Comm_call_errhandler(dup, MPI_ERR_TOPOLOGY, ierror)
  call equal([errors, last_class], [2, MPI_ERR_TOPOLOGY], 'MPI_Comm_call_errhandler')
  call MPI_Errhandler_free(handler, ierror)
  call MPI_Errhandler_free(got, ierror)
  call MPI_Comm_free(dup, ierror)

  ! A generalized request.
  call MPI_Grequest_start(query, free_request, cancel_request, extra, request, ierror)
  call MPI_Test(request, flag, status, ierror)
  call check(.not. flag, 'MPI_Test of a generalized request')
  call MPI_Cancel(request, ierror)
  call equal(cancels, 1, 'the cancel function was called')
  call check(.not. cancelled_complete, 'complete')
  call MPI_Grequest_complete(request, ierror)
  call MPI_Wait(request, status, ierror)
  call equal([queries, frees], [1, 1], 'the query and the free function were called')
  call equal(query_extra, extra, 'extra_state of a generalized request')
  call equal([STATUS_OF(status, MPI_SOURCE), STATUS_OF(status, MPI_TAG)], [17, 18], 'status of the query function')
  call MPI_Get_count(status, MPI_INTEGER, count, ierror)
  call equal(count, 5, 'elements of the query function')

  call MPI_Finalize(ierror)
  call finish()
end program callbacks
