! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 2
! mpi_f08 as Open MPI's module has it: names of procedures, buffers by address, constants with addresses.
module openmpi_f08
  implicit none
  type, bind(c) :: MPI_Comm
    integer :: MPI_VAL
  end type
  type, bind(c) :: MPI_Datatype
    integer :: MPI_VAL
  end type
  type, bind(c) :: MPI_Op
    integer :: MPI_VAL
  end type
  type(MPI_Comm), bind(c, name='ompi_f08_mpi_comm_world') :: world
  type(MPI_Datatype), bind(c, name='ompi_f08_mpi_integer') :: whole
  type(MPI_Op), bind(c, name='ompi_f08_mpi_sum') :: sum_of
  integer :: in_place, in_place_of_status(6)
  common /mpi_fortran_in_place/ in_place
  common /mpi_fortran_status_ignore/ in_place_of_status
  interface
    subroutine MPI_Init_f08(ierror)
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Finalize_f08(ierror)
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Comm_rank_f08(comm, rank, ierror)
      import :: MPI_Comm
      type(MPI_Comm) :: comm
      integer :: rank
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Sendrecv_f08(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype, source, &
                                recvtag, comm, status, ierror)
      import :: MPI_Comm, MPI_Datatype
      type(*), dimension(*) :: sendbuf, recvbuf
      integer :: sendcount, dest, sendtag, recvcount, source, recvtag
      type(MPI_Datatype) :: sendtype, recvtype
      type(MPI_Comm) :: comm
      integer :: status(6)
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Allreduce_f08(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      import :: MPI_Comm, MPI_Datatype, MPI_Op
      type(*) :: sendbuf
      type(*), dimension(*) :: recvbuf
      integer :: count
      type(MPI_Datatype) :: datatype
      type(MPI_Op) :: op
      type(MPI_Comm) :: comm
      integer, optional :: ierror
    end subroutine
    logical function ompi_comm_op_eq(one, other) bind(c, name='__mpi_f08_types_MOD_ompi_comm_op_eq')
      import :: MPI_Comm
      type(MPI_Comm) :: one, other
    end function
    subroutine mpi_sizeof_real64_r2(x, size, ierror)
      real(8) :: x(:, :)
      integer :: size
      integer, optional :: ierror
    end subroutine
  end interface
end module openmpi_f08

program test
  use checks
  use openmpi_f08
  implicit none
  integer :: rank, other, out(4), in(4), status(6), size, ierror
  real(8) :: square(2, 2)

  call MPI_Init_f08(ierror)
  call equal(ierror, 0, 'MPI_Init')
  call equal(world%MPI_VAL, 0, 'MPI_COMM_WORLD')
  call MPI_Comm_rank_f08(world, rank)
  other = 1 - rank
  out = [rank, 2, 3, 4]
  call MPI_Sendrecv_f08(out, 4, whole, other, 3, in, 4, whole, other, 3, world, status)
  call equal(in, [other, 2, 3, 4], 'MPI_Sendrecv')
  call equal(status(1:2), [other, 3], 'MPI_SOURCE, MPI_TAG')
  in_place_of_status = -7
  call MPI_Sendrecv_f08(out, 4, whole, other, 3, in, 4, whole, other, 3, world, in_place_of_status)
  call equal(in_place_of_status(1), -7, 'MPI_STATUS_IGNORE')
  call MPI_Allreduce_f08(in_place, in, 4, whole, sum_of, world)
  call equal(in, [1, 4, 6, 8], 'MPI_IN_PLACE')
  call check(ompi_comm_op_eq(world, MPI_Comm(0)), 'equal communicators')
  call check(.not. ompi_comm_op_eq(world, MPI_Comm(1)), 'different communicators')
  call mpi_sizeof_real64_r2(square, size)
  call equal(size, 8, 'MPI_Sizeof')
  call MPI_Finalize_f08()
  call finish()
end program test
