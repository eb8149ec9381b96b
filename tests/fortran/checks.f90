! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! What the tests of the Fortran bindings share. It knows nothing of MPI.
module checks
  implicit none
  private
  public :: check, equal, finish

  integer :: failures = 0

  interface equal
    module procedure equal_integer, equal_long, equal_list, equal_text
  end interface

contains

  subroutine check(condition, what)
    logical, intent(in) :: condition
    character(len=*), intent(in) :: what
    if (condition) return
    failures = failures + 1
    write (*, '(2a)') 'FAILED: ', what
  end subroutine check

  subroutine equal_integer(found, wanted, what)
    integer, intent(in) :: found, wanted
    character(len=*), intent(in) :: what
    if (found == wanted) return
    failures = failures + 1
    write (*, '(3a,i0,a,i0)') 'FAILED: ', what, ': found ', found, ', wanted ', wanted
  end subroutine equal_integer

  subroutine equal_long(found, wanted, what)
    integer(kind=8), intent(in) :: found, wanted
    character(len=*), intent(in) :: what
    if (found == wanted) return
    failures = failures + 1
    write (*, '(3a,i0,a,i0)') 'FAILED: ', what, ': found ', found, ', wanted ', wanted
  end subroutine equal_long

  subroutine equal_list(found, wanted, what)
    integer, intent(in) :: found(:), wanted(:)
    character(len=*), intent(in) :: what
    if (size(found) == size(wanted)) then
      if (all(found == wanted)) return
    end if
    failures = failures + 1
    write (*, '(3a)') 'FAILED: ', what, ':'
    write (*, '(a,*(1x,i0))') '  found ', found
    write (*, '(a,*(1x,i0))') '  wanted', wanted
  end subroutine equal_list

  subroutine equal_text(found, wanted, what)
    character(len=*), intent(in) :: found, wanted, what
    if (found == wanted .and. len_trim(found) == len_trim(wanted)) return
    failures = failures + 1
    write (*, '(6a)') 'FAILED: ', what, ': found "', found, '", wanted "', wanted // '"'
  end subroutine equal_text

  !> Ends the program with an error if any check has failed. Called after MPI_Finalize.
  subroutine finish()
    if (failures > 0) error stop 1
  end subroutine finish

end module checks
