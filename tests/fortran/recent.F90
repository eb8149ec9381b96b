! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2
! What MPI 4.1 and 5.0 have added, in three bindings: buffers of a communicator, statuses of several requests, hardware, error
! classes that are removed, the null handle of sessions, the calls of the ABI that tell of Fortran. Other MPIs that have an ABI
! of their own lack some of it.
#include "binding.inc"
program recent
  use checks
#if defined(TEST_F08)
  use, intrinsic :: iso_c_binding, only: c_ptr
#endif
  USE_MPI
  implicit none
#include "mpif.inc"
  integer :: rank, ranks, right, left, ierror
  logical :: flag

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  right = modulo(rank + 1, ranks)
  left = modulo(rank - 1, ranks)
  call buffered()
  call statuses()
  call environment()
  call abi()
  call MPI_Finalize(ierror)
  call finish()
contains
  !> A buffer of a communicator, whose address mpi_f08 gives back as a C_PTR and the others as an integer.
  subroutine buffered()
    integer, target ASYNC :: room(1000)
    integer :: bytes, out(2), in(2)
    HANDLE(MPI_Comm) :: comm
#if defined(TEST_F08)
    type(c_ptr) :: back
#else
    integer(kind=MPI_ADDRESS_KIND) :: back
#endif
    out = [rank, 100 * rank]
    call MPI_Comm_dup(MPI_COMM_WORLD, comm, ierror)
    call MPI_Comm_attach_buffer(comm, room, 4000, ierror)
    call MPI_Bsend(out, 2, MPI_INTEGER, right, 17, comm, ierror)
    in = -1
    call MPI_Recv(in, 2, MPI_INTEGER, left, 17, comm, MPI_STATUS_IGNORE, ierror)
    call MPI_Comm_flush_buffer(comm, ierror)
    call equal(ierror, MPI_SUCCESS, 'MPI_Comm_flush_buffer')
    call MPI_Comm_detach_buffer(comm, back, bytes, ierror)
    call equal(bytes, 4000, 'MPI_Comm_detach_buffer')
    call equal(in, [left, 100 * left], 'MPI_Bsend')
    call MPI_Comm_free(comm, ierror)
  end subroutine buffered

  !> They are told of and stay.
  subroutine statuses()
    integer :: numbers(2), found, index, indices(2)
    integer ASYNC :: in(2)
    HANDLE(MPI_Request) :: requests(2)
    requests(1) = MPI_REQUEST_NULL
    call MPI_Irecv(in, 1, MPI_INTEGER, left, 18, MPI_COMM_WORLD, requests(2), ierror)
    numbers = rank
    call MPI_Send(numbers, 1, MPI_INTEGER, right, 18, MPI_COMM_WORLD, ierror)
    flag = .false.
    do while (.not. flag)
      call MPI_Request_get_status_any(2, requests, index, flag, MPI_STATUS_IGNORE, ierror)
    end do
    call equal(index, 2, 'MPI_Request_get_status_any')
    call MPI_Request_get_status_some(2, requests, found, indices, MPI_STATUSES_IGNORE, ierror)
    call equal([found, indices(1)], [1, 2], 'MPI_Request_get_status_some')
    call MPI_Request_get_status_all(2, requests, flag, MPI_STATUSES_IGNORE, ierror)
    call check(flag, 'MPI_Request_get_status_all')
    call check(requests(2) /= MPI_REQUEST_NULL, 'the requests stay')
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE, ierror)
    call equal(in(1), left, 'what was received')
  end subroutine statuses

  subroutine environment()
    integer :: keys, class, code
    HANDLE(MPI_Info) :: info
    HANDLE(MPI_Session) :: session
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierror)
    call check(session /= MPI_SESSION_NULL, 'MPI_Session_init')
    call MPI_Session_finalize(session, ierror)
    call check(session == MPI_SESSION_NULL, 'MPI_Session_finalize gives the null handle')
    call MPI_Get_hw_resource_info(info, ierror)
    call MPI_Info_get_nkeys(info, keys, ierror)
    call check(keys > 0, 'MPI_Get_hw_resource_info')
    call MPI_Info_free(info, ierror)
    call MPI_Add_error_class(class, ierror)
    call MPI_Add_error_code(class, code, ierror)
    call MPI_Add_error_string(code, 'to be removed', ierror)
    call MPI_Remove_error_string(code, ierror)
    call MPI_Remove_error_code(code, ierror)
    call MPI_Remove_error_class(class, ierror)
    call equal(ierror, MPI_SUCCESS, 'MPI_Remove_error_class')
  end subroutine environment

  subroutine abi()
    integer :: major, minor, length
    logical :: yes, no
    character(len=8) :: text
    HANDLE(MPI_Info) :: info
    call MPI_Abi_get_version(major, minor, ierror)
    call MPI_Abi_get_info(info, ierror)
    call equal(ierror, MPI_SUCCESS, 'MPI_Abi_get_info')
    if (info /= MPI_INFO_NULL) call MPI_Info_free(info, ierror)
    call check(major > 0, 'MPI_Abi_get_version')
    call MPI_Abi_get_fortran_info(info, ierror)
    if (info /= MPI_INFO_NULL) then
      length = len(text)
      call MPI_Info_get_string(info, 'mpi_integer_size', length, text, flag, ierror)
      if (flag) call equal(trim(text), '4', 'mpi_integer_size')
      call MPI_Info_free(info, ierror)
    end if
    yes = .false.
    no = .true.
    call MPI_Abi_get_fortran_booleans(storage_size(yes) / 8, yes, no, flag, ierror)
    call check(flag, 'MPI_Abi_get_fortran_booleans')
    call check(yes .and. .not. no, 'the booleans of MPI_Abi_get_fortran_booleans')
  end subroutine abi
end program recent
