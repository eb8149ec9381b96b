! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 2
! options: -fdefault-real-8
! gfortran: -Werror=integer-division
! Fixed form and mpif.h; a profiler in Fortran takes over MPI_SEND and calls PMPI_SEND. The time is a number of 8 bytes,
! also where DOUBLE PRECISION has 16.
      subroutine MPI_SEND(buf, count, datatype, dest, tag, comm, ierror)
      implicit none
      include 'mpif.h'
      integer buf(*), count, datatype, dest, tag, comm, ierror
      integer sends
      common /profile/ sends
      sends = sends + 1
      call PMPI_SEND(buf, count, datatype, dest, tag, comm, ierror)
      end

      program main
      use checks
      implicit none
      include 'mpif.h'
      integer rank, ierror, numbers(3), status(MPI_STATUS_SIZE), sends
      double precision before
      common /profile/ sends
      call MPI_INIT(ierror)
      sends = 0
      before = MPI_WTIME()
      call MPI_COMM_RANK(MPI_COMM_WORLD, rank, ierror)
      numbers = rank
      if (rank .eq. 0) then
        call MPI_SEND(numbers, 3, MPI_INTEGER, 1, 5, MPI_COMM_WORLD,
     &                ierror)
        call equal(sends, 1, 'the call was seen')
      else
        call MPI_RECV(numbers, 3, MPI_INTEGER, 0, 5, MPI_COMM_WORLD,
     &                status, ierror)
        call equal(numbers(3), 0, 'the call was done')
        call equal(status(MPI_SOURCE), 0, 'MPI_SOURCE')
      end if
      call check(MPI_WTIME() .ge. before, 'MPI_WTIME')
      call check(MPI_WTICK() .gt. 1d-12 .and. MPI_WTICK() .le. 1d0,
     &           'MPI_WTICK')
      call MPI_FINALIZE(ierror)
      call finish()
      end
