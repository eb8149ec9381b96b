! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1
! Names and intents of dummy arguments of mpi_f08 where they are not those of C.
program dummies
  use checks
  use mpi_f08
  implicit none
  type(MPI_Status) :: status
  type(MPI_Request) :: request
  integer, asynchronous :: number
  integer :: code
  logical :: flag

  call MPI_Init()
  call MPI_Status_set_error(status, err=MPI_ERR_TAG)
  call MPI_Status_get_error(status, err=code)
  call equal(code, MPI_ERR_TAG, 'MPI_Status_get_error')
  call PMPI_Status_set_error(status, err=MPI_ERR_RANK)
  call PMPI_Status_get_error(status, err=code)
  call equal(code, MPI_ERR_RANK, 'PMPI_Status_get_error')

  call MPI_Irecv(number, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request)
  call withdraw(request)
  call check(request /= MPI_REQUEST_NULL, 'MPI_Cancel leaves the handle as it is')
  call MPI_Wait(request, status)
  call MPI_Test_cancelled(status, flag)
  call check(flag, 'MPI_Cancel')
  call MPI_Irecv(number, 1, MPI_INTEGER, 0, 1, MPI_COMM_SELF, request)
  call withdraw_by_other_name(request)
  call MPI_Wait(request, status)
  call MPI_Test_cancelled(status, flag)
  call check(flag, 'PMPI_Cancel')
  call MPI_Finalize()
  call finish()
contains
  subroutine withdraw(given)
    type(MPI_Request), intent(in) :: given
    call MPI_Cancel(given)
  end subroutine withdraw

  subroutine withdraw_by_other_name(given)
    type(MPI_Request), intent(in) :: given
    call PMPI_Cancel(given)
  end subroutine withdraw_by_other_name
end program dummies
