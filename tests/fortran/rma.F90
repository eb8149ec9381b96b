! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2 4
! Chapter 12 in three bindings: windows of all kinds, epochs, atomics, attributes and error handlers of windows.
#include "binding.inc"
module window_procedures
  implicit none
  integer :: copies = 0, deletes = 0, errors = 0, last_class = 0
  integer(kind=8) :: deleted = 0
contains
  subroutine delete_win(win, keyval, attribute_val, extra_state, ierror)
    USE_MPI
#include "mpif.inc"
    HANDLE(MPI_Win) :: win
    integer :: keyval, ierror
    integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    if (win /= MPI_WIN_NULL .and. keyval /= MPI_KEYVAL_INVALID .and. extra_state == 77) deletes = deletes + 1
    deleted = attribute_val
    ierror = MPI_SUCCESS
  end subroutine delete_win

  subroutine handle_error(win, error_code)
    USE_MPI
#include "mpif.inc"
    HANDLE(MPI_Win) :: win
    integer :: error_code, ierror
    if (win /= MPI_WIN_NULL) errors = errors + 1
    call MPI_Error_class(error_code, last_class, ierror)
  end subroutine handle_error
end module window_procedures

program rma
  use checks
  use window_procedures
  USE_MPI
  implicit none
#include "mpif.inc"
  integer, target :: memory(8)
  integer :: ierror, rank, ranks, right, left, old, one, i, unit, keyval, found, length
  integer(kind=MPI_ADDRESS_KIND) :: bytes, disp, value, extra, base
  logical :: flag
  character(len=MPI_MAX_OBJECT_NAME) :: name
  HANDLE(MPI_Win) :: win
  HANDLE(MPI_Group) :: group, neighbours
  HANDLE(MPI_Errhandler) :: handler
  HANDLE(MPI_Request) :: request
  STATUS :: status STATUS_SIZE

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  right = modulo(rank + 1, ranks)
  left = modulo(rank - 1, ranks)

  memory = -1
  bytes = 32
  call MPI_Win_create(memory, bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
  call equal(ierror, MPI_SUCCESS, 'MPI_Win_create')
  call attributes()
  call MPI_Win_fence(0, win, ierror)
  one = rank
  disp = 2
  call MPI_Put(one, 1, MPI_INTEGER, right, disp, 1, MPI_INTEGER, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  call equal(memory(3), left, 'MPI_Put')
  call MPI_Get(old, 1, MPI_INTEGER, right, disp, 1, MPI_INTEGER, win, ierror)
  call MPI_Win_fence(0, win, ierror)
  call equal(old, rank, 'MPI_Get')

  ! Post, start, complete, wait.
  call MPI_Win_get_group(win, group, ierror)
  call MPI_Group_incl(group, 1, [left], neighbours, ierror)
  call MPI_Win_post(neighbours, 0, win, ierror)
  call MPI_Group_free(neighbours, ierror)
  call MPI_Group_incl(group, 1, [right], neighbours, ierror)
  call MPI_Win_start(neighbours, 0, win, ierror)
  call MPI_Put([10 * rank, 20 * rank], 2, MPI_INTEGER, right, 0_MPI_ADDRESS_KIND, 2, MPI_INTEGER, win, ierror)
  call MPI_Win_complete(win, ierror)
  flag = .false.
  do while (.not. flag)
    call MPI_Win_test(win, flag, ierror)
  end do
  call equal(memory(1:2), [10 * left, 20 * left], 'MPI_Win_post, MPI_Win_start')
  call MPI_Group_free(neighbours, ierror)
  call MPI_Group_free(group, ierror)

  ! A counter at rank 0.
  memory(5) = 0
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Win_lock_all(0, win, ierror)
  one = 1
  disp = 4
  old = -1
  if (rank > 0) then
    call MPI_Fetch_and_op(one, old, MPI_INTEGER, 0, disp, MPI_SUM, win, ierror)
    call MPI_Win_flush(0, win, ierror)
    call check(old >= 0 .and. old < 2 * (ranks - 1), 'MPI_Fetch_and_op')
    call MPI_Raccumulate(one, 1, MPI_INTEGER, 0, disp, 1, MPI_INTEGER, MPI_SUM, win, request, ierror)
    call MPI_Wait(request, status, ierror)
  end if
  call MPI_Win_unlock_all(win, ierror)
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win, ierror)
  if (rank == 0) call equal(memory(5), 2 * (ranks - 1), 'MPI_Raccumulate')
  one = 5
  found = 7
  i = memory(8)
  call MPI_Compare_and_swap(one, i, found, MPI_INTEGER, rank, 7_MPI_ADDRESS_KIND, win, ierror)
  call MPI_Get_accumulate(one, 0, MPI_INTEGER, old, 1, MPI_INTEGER, rank, 7_MPI_ADDRESS_KIND, 1, MPI_INTEGER, &
                          MPI_NO_OP, win, ierror)
  call MPI_Win_unlock(rank, win, ierror)
  call equal([found, old, memory(8)], [-1, 5, 5], 'MPI_Compare_and_swap, MPI_Get_accumulate')

  ! Errors.
  call MPI_Win_create_errhandler(handle_error, handler, ierror)
  call MPI_Win_set_errhandler(win, handler, ierror)
  call MPI_Errhandler_free(handler, ierror)
  call MPI_Win_lock(MPI_LOCK_SHARED, ranks + 3, 0, win, ierror)
  call equal([errors, last_class], [1, MPI_ERR_RANK], 'error handler of a window')
  call MPI_Error_class(ierror, found, ierror)
  call equal(found, MPI_ERR_RANK, 'ierror of a window')
  call MPI_Win_call_errhandler(win, MPI_ERR_RMA_SYNC, ierror)
  call equal([errors, last_class], [2, MPI_ERR_RMA_SYNC], 'MPI_Win_call_errhandler')
  call MPI_Win_set_name(win, 'a window ', ierror)
  call MPI_Win_get_name(win, name, length, ierror)
  call equal(length, 8, 'MPI_Win_get_name')
  call equal(name, 'a window', 'the name of a window')
  call MPI_Win_free(win, ierror)
  call equal([deletes, int(deleted)], [1, 99], 'delete function of a window')
  call check(win == MPI_WIN_NULL, 'MPI_Win_free')

  call integer_addresses()
#if defined(TEST_F08) || defined(TEST_MPI)
  call pointers()
#endif
  call dynamic()
  call MPI_Finalize(ierror)
  call finish()
contains
  subroutine attributes()
    integer(kind=MPI_ADDRESS_KIND) :: address
    call MPI_Get_address(memory, address, ierror)
    call MPI_Win_get_attr(win, MPI_WIN_BASE, base, flag, ierror)
    call check(flag .and. base == address, 'MPI_WIN_BASE')
    call MPI_Win_get_attr(win, MPI_WIN_SIZE, value, flag, ierror)
    call check(flag .and. value == 32, 'MPI_WIN_SIZE')
    call MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, value, flag, ierror)
    call check(flag .and. value == 4, 'MPI_WIN_DISP_UNIT')
    call MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, value, flag, ierror)
    call check(flag .and. value == MPI_WIN_FLAVOR_CREATE, 'MPI_WIN_CREATE_FLAVOR')
    call MPI_Win_get_attr(win, MPI_WIN_MODEL, value, flag, ierror)
    call check(flag .and. (value == MPI_WIN_UNIFIED .or. value == MPI_WIN_SEPARATE), 'MPI_WIN_MODEL')
    extra = 77
    call MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, delete_win, keyval, extra, ierror)
    call MPI_Win_get_attr(win, keyval, value, flag, ierror)
    call check(.not. flag, 'an attribute that is not set')
    value = 99
    call MPI_Win_set_attr(win, keyval, value, ierror)
    value = 0
    call MPI_Win_get_attr(win, keyval, value, flag, ierror)
    call check(flag .and. value == 99, 'MPI_Win_set_attr')
    call MPI_Win_free_keyval(keyval, ierror)
  end subroutine attributes

  subroutine integer_addresses()
#if !defined(TEST_F08)
    integer(kind=MPI_ADDRESS_KIND) :: pointer, size_there, got_base
    integer :: disp_unit
    bytes = 16
    call MPI_Win_allocate(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, pointer, win, ierror)
    call equal(ierror, MPI_SUCCESS, 'MPI_Win_allocate')
    call MPI_Win_get_attr(win, MPI_WIN_BASE, got_base, flag, ierror)
    call check(got_base == pointer, 'MPI_Win_allocate')
    call MPI_Win_free(win, ierror)
    call MPI_Win_allocate_shared(bytes, 4, MPI_INFO_NULL, MPI_COMM_SELF, pointer, win, ierror)
    call MPI_Win_shared_query(win, 0, size_there, disp_unit, got_base, ierror)
    call check(got_base == pointer .and. size_there >= 16 .and. disp_unit == 4, 'MPI_Win_shared_query')
    call MPI_Win_free(win, ierror)
#endif
  end subroutine integer_addresses

#if defined(TEST_F08) || defined(TEST_MPI)
  subroutine pointers()
    use, intrinsic :: iso_c_binding, only : c_ptr, c_f_pointer, c_associated
    type(c_ptr) :: pointer, theirs
    double precision, pointer :: values(:), other(:)
    integer(kind=MPI_ADDRESS_KIND) :: there
    integer :: disp_unit
    HANDLE(MPI_Comm) :: node
    bytes = 80
    call MPI_Win_allocate(bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, pointer, win, ierror)
    call c_f_pointer(pointer, values, [10])
    values = rank
    call MPI_Win_fence(0, win, ierror)
    call MPI_Accumulate([1d0, 2d0], 2, MPI_DOUBLE_PRECISION, right, 3_MPI_ADDRESS_KIND, 2, MPI_DOUBLE_PRECISION, &
                        MPI_SUM, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call check(all(values(3:6) == [rank + 0d0, rank + 1d0, rank + 2d0, rank + 0d0]), 'MPI_Accumulate')
    call MPI_Win_free(win, ierror)
    call MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, node, ierror)
    call MPI_Win_allocate_shared(bytes, 8, MPI_INFO_NULL, node, pointer, win, ierror)
    call c_f_pointer(pointer, values, [10])
    call MPI_Win_fence(0, win, ierror)
    values = 3 * rank
    call MPI_Win_fence(0, win, ierror)
    call MPI_Win_shared_query(win, right, there, disp_unit, theirs, ierror)
    call c_f_pointer(theirs, other, [10])
    call check(other(10) == 3 * right .and. disp_unit == 8 .and. there >= 80, 'MPI_Win_shared_query of a pointer')
    call MPI_Win_fence(0, win, ierror)
    call MPI_Win_free(win, ierror)
    call MPI_Comm_free(node, ierror)
  end subroutine pointers
#endif

  subroutine dynamic()
    integer(kind=MPI_ADDRESS_KIND) :: mine, theirs
    call MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, win, ierror)
    call MPI_Win_attach(win, memory, bytes_of_memory(), ierror)
    call equal(ierror, MPI_SUCCESS, 'MPI_Win_attach')
    call MPI_Get_address(memory(6), mine, ierror)
    call MPI_Sendrecv(mine, 1, MPI_AINT, left, 0, theirs, 1, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE, &
                      ierror)
    call MPI_Win_fence(0, win, ierror)
    one = 1000 + rank
    call MPI_Put(one, 1, MPI_INTEGER, right, theirs, 1, MPI_INTEGER, win, ierror)
    call MPI_Win_fence(0, win, ierror)
    call equal(memory(6), 1000 + left, 'MPI_Put into a dynamic window')
    call MPI_Win_detach(win, memory, ierror)
    call MPI_Win_free(win, ierror)
  end subroutine dynamic

  integer(kind=MPI_ADDRESS_KIND) function bytes_of_memory()
    bytes_of_memory = 32
  end function bytes_of_memory
end program rma
