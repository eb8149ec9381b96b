! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2
! Counts of kind MPI_COUNT_KIND choose the large forms of mpi_f08; ierror may be left out; handles compare.
module large_operations
  use mpi_f08
  implicit none
contains
  subroutine largest(invec, inoutvec, len, datatype)
    use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
    type(c_ptr), value :: invec, inoutvec
    integer(kind=MPI_COUNT_KIND) :: len
    type(MPI_Datatype) :: datatype
    integer, pointer :: in(:), inout(:)
    call c_f_pointer(invec, in, [len])
    call c_f_pointer(inoutvec, inout, [len])
    if (datatype == MPI_INTEGER) inout = max(in, inout)
  end subroutine largest
end module large_operations

program large
  use checks
  use large_operations
  use mpi_f08
  implicit none
  integer :: rank, ranks, numbers(6), got(6), i
  integer(kind=MPI_COUNT_KIND) :: count, size, lower, extent
  integer(kind=MPI_COUNT_KIND), allocatable :: counts(:)
  integer(kind=MPI_ADDRESS_KIND), allocatable :: displs(:)
  type(MPI_Status) :: status, other
  type(MPI_Op) :: op
  type(MPI_Datatype) :: huge_type
  integer :: old_status(MPI_STATUS_SIZE)

  call MPI_Init()
  call MPI_Comm_rank(comm=MPI_COMM_WORLD, rank=rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  numbers = [(10 * rank + i, i = 1, 6)]
  count = 3
  call MPI_Sendrecv(numbers(1:6:2), count, MPI_INTEGER, rank, 5, got(6:1:-2), count, MPI_INTEGER, rank, 5, &
                    MPI_COMM_WORLD, status)
  call equal(got(6:1:-2), numbers(1:6:2), 'sections with a large count')
  call MPI_Get_count(status, MPI_INTEGER, count)
  call equal(count, 3_MPI_COUNT_KIND, 'MPI_Get_count')
  call equal(status%MPI_TAG, 5, 'MPI_TAG')

  allocate (counts(ranks), displs(ranks))
  counts = 1
  displs = [(i, i = 0, ranks - 1)]
  got = -1
  call MPI_Allgatherv(rank, 1_MPI_COUNT_KIND, MPI_INTEGER, got, counts, displs, MPI_INTEGER, MPI_COMM_WORLD)
  call equal(got(1:ranks), [(i, i = 0, ranks - 1)], 'MPI_Allgatherv')

  ! 6 GB that nobody sends.
  call MPI_Type_contiguous(3000000000_MPI_COUNT_KIND, MPI_INTEGER2, huge_type)
  call MPI_Type_size(huge_type, size)
  call equal(size, 6000000000_MPI_COUNT_KIND, 'MPI_Type_size')
  call MPI_Type_get_extent(huge_type, lower, extent)
  call equal(extent, 6000000000_MPI_COUNT_KIND, 'MPI_Type_get_extent')
  call MPI_Type_free(huge_type)
  call check(huge_type == MPI_DATATYPE_NULL .and. .not. huge_type /= MPI_DATATYPE_NULL, 'handles compare')

  call MPI_Op_create_c(largest, .true., op)
  call MPI_Allreduce(rank, got(1), 1, MPI_INTEGER, op, MPI_COMM_WORLD)
  call equal(got(1), ranks - 1, 'MPI_Op_create_c')
  call MPI_Op_free(op)

  ! Statuses of both worlds.
  call MPI_Status_f082f(status, old_status)
  call equal([old_status(MPI_TAG), old_status(MPI_SOURCE)], [5, rank], 'MPI_Status_f082f')
  call MPI_Status_f2f08(old_status, other)
  call MPI_Get_count(other, MPI_INTEGER, i)
  call equal([other%MPI_TAG, i], [5, 3], 'MPI_Status_f2f08')

  call MPI_Finalize()
  call finish()
end program large
