! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2
! C and Fortran in one program: handles, attributes, statuses (MPI 5.0 section 19.3).
#include "binding.inc"
#if defined(TEST_F08)
#define NUMBER(handle) handle%MPI_VAL
#else
#define NUMBER(handle) handle
#endif
program mixed
  use, intrinsic :: iso_c_binding
  use checks
  USE_MPI
  implicit none
#include "mpif.inc"
  interface
    function c_rank(comm) bind(c)
      import
      integer(c_int), value :: comm
      integer(c_int) :: c_rank
    end function
    function c_keyval() bind(c)
      import
      integer(c_int) :: c_keyval
    end function
    function c_put(comm, keyval) bind(c)
      import
      integer(c_int), value :: comm, keyval
      integer(c_int64_t) :: c_put
    end function
    function c_is_put(comm, keyval) bind(c)
      import
      integer(c_int), value :: comm, keyval
      integer(c_int) :: c_is_put
    end function
    function c_read(comm, keyval) bind(c)
      import
      integer(c_int), value :: comm, keyval
      integer(c_int64_t) :: c_read
    end function
    function c_tag_of(status) bind(c)
      import
      STATUS, intent(in) :: status STATUS_SIZE
      integer(c_int) :: c_tag_of
    end function
#if defined(TEST_F08)
    function c_is_f08_status_ignore(status) bind(c)
      import
      type(MPI_Status) :: status
      integer(c_int) :: c_is_f08_status_ignore
    end function
    function c_is_f08_statuses_ignore(statuses) bind(c)
      import
      type(MPI_Status) :: statuses(*)
      integer(c_int) :: c_is_f08_statuses_ignore
    end function
#else
    function c_is_status_ignore(status) bind(c)
      import
      integer(c_int) :: status(*)
      integer(c_int) :: c_is_status_ignore
    end function
    function c_is_statuses_ignore(statuses) bind(c)
      import
      integer(c_int) :: statuses(8, *)
      integer(c_int) :: c_is_statuses_ignore
    end function
#endif
  end interface
  integer :: ierror, rank, keyval
  integer(kind=MPI_ADDRESS_KIND) :: value, extra, address
  logical :: flag
  HANDLE(MPI_Comm) :: dup, other
  STATUS :: status STATUS_SIZE

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_dup(MPI_COMM_WORLD, dup, ierror)
  call equal(c_rank(NUMBER(dup)), rank, 'MPI_Comm_f2c')

  ! C attaches a pointer: Fortran sees the address.
  keyval = c_keyval()
  address = c_put(NUMBER(dup), keyval)
  value = 0
  call MPI_Comm_get_attr(dup, keyval, value, flag, ierror)
  call check(flag, 'an attribute of C')
  call equal(value, address, 'its address')
  ! Fortran attaches an integer: C sees where it lies, also under C''s keyval.
  value = 5000000000_8
  call MPI_Comm_set_attr(dup, keyval, value, ierror)
  call equal(c_read(NUMBER(dup), keyval), 5000000000_8, 'an attribute of Fortran')
  extra = 0
  call MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, keyval, extra, ierror)
  value = -12
  call MPI_Comm_set_attr(dup, keyval, value, ierror)
  call equal(c_read(NUMBER(dup), keyval), -12_8, 'an attribute of Fortran, its keyval')
  ! A communicator is duplicated: what C attached under the keyval of Fortran stays a pointer, what Fortran attached an integer.
  call MPI_Comm_dup(dup, other, ierror)
  call equal(c_read(NUMBER(other), keyval), -12_8, 'an attribute of Fortran, copied')
  call MPI_Comm_free(other, ierror)
  address = c_put(NUMBER(dup), keyval)
  call MPI_Comm_dup(dup, other, ierror)
  call equal(c_is_put(NUMBER(other), keyval), 1, 'an attribute of C, copied under the keyval of Fortran')
  call MPI_Comm_get_attr(other, keyval, value, flag, ierror)
  call equal(value, address, 'its address in the copy')
  call MPI_Comm_free(other, ierror)

#if defined(TEST_F08)
  call equal(c_is_f08_status_ignore(MPI_STATUS_IGNORE), 1, 'MPI_F08_STATUS_IGNORE')
  call equal(c_is_f08_statuses_ignore(MPI_STATUSES_IGNORE), 1, 'MPI_F08_STATUSES_IGNORE')
#elif !defined(TEST_MPI)
  call equal(c_is_status_ignore(MPI_STATUS_IGNORE), 1, 'MPI_F_STATUS_IGNORE')
  call equal(c_is_statuses_ignore(MPI_STATUSES_IGNORE), 1, 'MPI_F_STATUSES_IGNORE')
#endif
  call MPI_Sendrecv(rank, 1, MPI_INTEGER, rank, 77, keyval, 1, MPI_INTEGER, rank, 77, dup, status, ierror)
  call equal(c_tag_of(status), 77, 'MPI_Status_f2c')

  call MPI_Comm_free(dup, ierror)
  call MPI_Finalize(ierror)
  call finish()
end program mixed
