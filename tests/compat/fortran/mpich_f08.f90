! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 2
! mpi_f08 as MPICH's module has it: names of procedures, descriptors of the compiler, constants as variables.
module mpich_f08
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
  type, bind(c) :: MPI_Request
    integer :: MPI_VAL
  end type
  type, bind(c) :: MPI_Status
    integer :: count_low, count_high, MPI_SOURCE, MPI_TAG, MPI_ERROR
  end type
  integer, bind(c, name='MPIR_F08_MPI_IN_PLACE') :: in_place
  type(MPI_Status), bind(c, name='MPIR_F08_MPI_STATUS_IGNORE_OBJ') :: status_ignore
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
    subroutine MPI_Send_f08ts(buf, count, datatype, dest, tag, comm, ierror)
      import :: MPI_Comm, MPI_Datatype
      type(*), dimension(..) :: buf
      integer :: count, dest, tag
      type(MPI_Datatype) :: datatype
      type(MPI_Comm) :: comm
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Send_f08ts_large(buf, count, datatype, dest, tag, comm, ierror)
      import :: MPI_Comm, MPI_Datatype
      type(*), dimension(..) :: buf
      integer(8) :: count
      integer :: dest, tag
      type(MPI_Datatype) :: datatype
      type(MPI_Comm) :: comm
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Recv_f08ts(buf, count, datatype, source, tag, comm, status, ierror)
      import :: MPI_Comm, MPI_Datatype, MPI_Status
      type(*), dimension(..) :: buf
      integer :: count, source, tag
      type(MPI_Datatype) :: datatype
      type(MPI_Comm) :: comm
      type(MPI_Status) :: status
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Irecv_f08ts(buf, count, datatype, source, tag, comm, request, ierror)
      import :: MPI_Comm, MPI_Datatype, MPI_Request
      type(*), dimension(..), asynchronous :: buf
      integer :: count, source, tag
      type(MPI_Datatype) :: datatype
      type(MPI_Comm) :: comm
      type(MPI_Request) :: request
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Wait_f08(request, status, ierror)
      import :: MPI_Request, MPI_Status
      type(MPI_Request) :: request
      type(MPI_Status) :: status
      integer, optional :: ierror
    end subroutine
    subroutine MPI_Allreduce_f08ts(sendbuf, recvbuf, count, datatype, op, comm, ierror)
      import :: MPI_Comm, MPI_Datatype, MPI_Op
      type(*), dimension(..) :: sendbuf, recvbuf
      integer :: count
      type(MPI_Datatype) :: datatype
      type(MPI_Op) :: op
      type(MPI_Comm) :: comm
      integer, optional :: ierror
    end subroutine
  end interface
end module mpich_f08

program test
  use checks
  use mpich_f08
  implicit none
  integer, parameter :: MPI_COMM_WORLD_ = int(z'44000000'), MPI_INTEGER_ = int(z'4c00041b'), MPI_SUM_ = int(z'58000003')
  type(MPI_Comm) :: world = MPI_Comm(MPI_COMM_WORLD_)
  type(MPI_Datatype) :: whole = MPI_Datatype(MPI_INTEGER_)
  type(MPI_Op) :: sum_of = MPI_Op(MPI_SUM_)
  type(MPI_Request) :: request
  type(MPI_Status) :: status
  integer, asynchronous :: field(6, 4)
  integer :: rank, other, i, j, ierror, one

  call MPI_Init_f08()
  call MPI_Comm_rank_f08(world, rank)
  other = 1 - rank

  ! Every second row of the inner columns, to a column that is contiguous: 6 integers each.
  field = reshape([((100 * rank + 10 * i + j, i = 1, 6), j = 1, 4)], [6, 4])
  call MPI_Irecv_f08ts(field(:, 4), 6, whole, other, 5, world, request)
  call MPI_Send_f08ts(field(1:6:2, 2:3), 6, whole, other, 5, world, ierror)
  call equal(ierror, 0, 'MPI_Send of a section')
  call MPI_Wait_f08(request, status_ignore)
  call equal(field(:, 4), [(((100 * other + 10 * i + j), i = 1, 6, 2), j = 2, 3)], 'a section that was sent')

  ! The other way round, and a large count.
  call MPI_Irecv_f08ts(field(2:6:2, 1:3:2), 6, whole, other, 6, world, request)
  call MPI_Send_f08ts_large(field(:, 4), 6_8, whole, other, 6, world)
  call MPI_Wait_f08(request, status)
  call equal(field(2:6:2, 1), [((100 * rank + 10 * i + 2), i = 1, 6, 2)], 'a section that was received')
  call equal(field(1, 1), 100 * rank + 11, 'beside it')
  call equal(status%MPI_SOURCE, other, 'MPI_SOURCE')
  call equal(status%MPI_TAG, 6, 'MPI_TAG')

  ! Arrays of assumed size, single elements, reductions of sections through a copy.
  call exchange(field(:, 2), 6)
  one = rank + 1
  call MPI_Allreduce_f08ts(in_place, one, 1, whole, sum_of, world)
  call equal(one, 3, 'MPI_IN_PLACE')
  field = rank
  call MPI_Allreduce_f08ts(in_place, field(1:6:5, :), 8, whole, sum_of, world, ierror)
  call equal(field(6, :), [1, 1, 1, 1], 'MPI_Allreduce of a section')
  call equal(field(5, :), [rank, rank, rank, rank], 'beside it')
  call MPI_Finalize_f08()
  call finish()

contains

  subroutine exchange(numbers, count)
    integer, asynchronous :: numbers(*)
    integer, intent(in) :: count
    integer :: k
    numbers(1:count) = [(1000 * rank + k, k = 1, count)]
    if (rank == 0) then
      call MPI_Send_f08ts(numbers, count, whole, 1, 7, world)
    else
      call MPI_Recv_f08ts(numbers, count, whole, 0, 7, world, status)
      call equal(numbers(1:count), [(k, k = 1, count)], 'an array of assumed size')
    end if
  end subroutine exchange
end program test
