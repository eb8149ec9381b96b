! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2 4
! Chapter 6 in three bindings: MPI_IN_PLACE, arrays of datatypes, operations written in Fortran.
#include "binding.inc"
module operations
  implicit none
  integer :: calls = 0
contains
#if defined(TEST_F08)
  subroutine add_twice(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
    use mpi_f08
    type(c_ptr), value :: invec, inoutvec
    integer :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    if (datatype == MPI_INTEGER) calls = calls + 1
    inout = inout + 2 * in
  end subroutine add_twice
#else
  subroutine add_twice(in, inout, len, datatype)
    USE_MPI
#include "mpif.inc"
    integer :: len, datatype, in(len), inout(len)
    if (datatype == MPI_INTEGER) calls = calls + 1
    inout = inout + 2 * in
  end subroutine add_twice
#endif
end module operations

program coll
  use checks
  use operations
  USE_MPI
  implicit none
#include "mpif.inc"
  integer :: rank, ranks, ierror, i
  integer, allocatable :: in(:), out(:), counts(:), displs(:)
  HANDLE(MPI_Datatype), allocatable :: types(:)
  HANDLE(MPI_Op) :: op
  HANDLE(MPI_Request) :: request
  logical :: commute

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  allocate (in(2 * ranks), out(2 * ranks), counts(ranks), displs(ranks), types(ranks))

  out = rank + 1
  call MPI_Allreduce(MPI_IN_PLACE, out, 2, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
  call equal(out(1:2), [(ranks * (ranks + 1) / 2, i = 1, 2)], 'MPI_Allreduce in place')

  counts = 2
  displs = [(2 * (ranks - i), i = 1, ranks)]
  in = -1
  out(1:2) = [rank, 10 * rank]
  call MPI_Allgatherv(out, 2, MPI_INTEGER, in, counts, displs, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  do i = 0, ranks - 1
    call equal(in(displs(i + 1) + 1:displs(i + 1) + 2), [i, 10 * i], 'MPI_Allgatherv')
  end do

  ! One datatype for each process, converted for the length of the call, or until completion.
  types = MPI_INTEGER
  displs = [(4 * 2 * i, i = 0, ranks - 1)]
  out = [(100 * rank + i, i = 1, 2 * ranks)]
  in = 0
  call MPI_Alltoallw(out, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD, ierror)
  do i = 0, ranks - 1
    call equal(in(2 * i + 1:2 * i + 2), [100 * i + 2 * rank + 1, 100 * i + 2 * rank + 2], 'MPI_Alltoallw')
  end do
  in = 0
  call MPI_Ialltoallw(out, counts, displs, types, in, counts, displs, types, MPI_COMM_WORLD, request, ierror)
  call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
  do i = 0, ranks - 1
    call equal(in(2 * i + 1:2 * i + 2), [100 * i + 2 * rank + 1, 100 * i + 2 * rank + 2], 'MPI_Ialltoallw')
  end do

  ! An operation that is not commutative: x0 * 2**(n-1) + ... + x(n-1).
  call MPI_Op_create(add_twice, .false., op, ierror)
  call equal(ierror, MPI_SUCCESS, 'MPI_Op_create')
  call MPI_Op_commutative(op, commute, ierror)
  call check(.not. commute, 'MPI_Op_commutative')
  out = 1
  in = 0
  call MPI_Reduce(out, in, 1, MPI_INTEGER, op, 0, MPI_COMM_WORLD, ierror)
  if (rank == 0) call equal(in(1), 2 * ranks - 1, 'operation written in Fortran')
  call MPI_Reduce_local(out, in, 1, MPI_INTEGER, op, ierror)
  call check(calls > 0, 'the datatype reaches the operation')
  call MPI_Op_free(op, ierror)
  call check(op == MPI_OP_NULL, 'MPI_Op_free')

  call MPI_Finalize(ierror)
  call finish()
end program coll
