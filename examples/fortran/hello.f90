! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! hello: who is there, and where.
!
!     mpifort hello.f90 -o hello
!     mpiexec -n 4 ./hello
!
! The module mpi_f08 is the interface of MPI for new programs: handles have types of their own, arguments are
! checked, and the last argument, an error code, may be left out. ../hello.c explains what the program does.
program hello
  use mpi_f08
  implicit none
  integer :: rank, ranks, length, i
  character(MPI_MAX_PROCESSOR_NAME) :: name
  character(MPI_MAX_PROCESSOR_NAME), allocatable :: names(:)

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call MPI_Get_processor_name(name, length)

  ! Only the root needs room for all names, but what is not allocated cannot be passed.
  allocate(names(merge(ranks, 0, rank == 0)))
  call MPI_Gather(name, len(name), MPI_CHARACTER, names, len(name), MPI_CHARACTER, 0, MPI_COMM_WORLD)
  if (rank == 0) then
    do i = 1, ranks
      print '(a, i0, a, i0, a, a)', 'hello from rank ', i - 1, ' of ', ranks, ' on ', trim(names(i))
    end do
  end if
  call MPI_Finalize()
end program hello
