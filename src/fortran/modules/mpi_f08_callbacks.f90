! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! The procedures that programs write and pass to MPI (MPI 5.0 section 19.1.2 and appendix A.4).
module mpi_f08_callbacks
  use, intrinsic :: iso_c_binding, only: c_ptr
  use mpi_abi_constants, only: MPI_ADDRESS_KIND, MPI_COUNT_KIND, MPI_OFFSET_KIND
  use mpi_f08_types, only: MPI_Comm, MPI_Datatype, MPI_File, MPI_Session, MPI_Status, MPI_Win
  implicit none
  private
  public :: MPI_User_function, MPI_User_function_c
  public :: MPI_Comm_copy_attr_function, MPI_Comm_delete_attr_function
  public :: MPI_Type_copy_attr_function, MPI_Type_delete_attr_function
  public :: MPI_Win_copy_attr_function, MPI_Win_delete_attr_function
  public :: MPI_Comm_errhandler_function, MPI_File_errhandler_function
  public :: MPI_Session_errhandler_function, MPI_Win_errhandler_function
  public :: MPI_Grequest_query_function, MPI_Grequest_free_function, MPI_Grequest_cancel_function
  public :: MPI_Datarep_extent_function
  public :: MPI_Datarep_conversion_function, MPI_Datarep_conversion_function_c

  abstract interface
    subroutine MPI_User_function(invec, inoutvec, len, datatype)
      import :: c_ptr, MPI_Datatype
      implicit none
      type(c_ptr), value :: invec, inoutvec
      integer :: len
      type(MPI_Datatype) :: datatype
    end subroutine MPI_User_function

    subroutine MPI_User_function_c(invec, inoutvec, len, datatype)
      import :: c_ptr, MPI_COUNT_KIND, MPI_Datatype
      implicit none
      type(c_ptr), value :: invec, inoutvec
      integer(kind=MPI_COUNT_KIND) :: len
      type(MPI_Datatype) :: datatype
    end subroutine MPI_User_function_c

    subroutine MPI_Comm_copy_attr_function(oldcomm, comm_keyval, extra_state, attribute_val_in, &
                                           attribute_val_out, flag, ierror)
      import :: MPI_ADDRESS_KIND, MPI_Comm
      implicit none
      type(MPI_Comm) :: oldcomm
      integer :: comm_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine MPI_Comm_copy_attr_function

    subroutine MPI_Comm_delete_attr_function(comm, comm_keyval, attribute_val, extra_state, ierror)
      import :: MPI_ADDRESS_KIND, MPI_Comm
      implicit none
      type(MPI_Comm) :: comm
      integer :: comm_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine MPI_Comm_delete_attr_function

    subroutine MPI_Type_copy_attr_function(oldtype, type_keyval, extra_state, attribute_val_in, &
                                           attribute_val_out, flag, ierror)
      import :: MPI_ADDRESS_KIND, MPI_Datatype
      implicit none
      type(MPI_Datatype) :: oldtype
      integer :: type_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine MPI_Type_copy_attr_function

    subroutine MPI_Type_delete_attr_function(datatype, type_keyval, attribute_val, extra_state, ierror)
      import :: MPI_ADDRESS_KIND, MPI_Datatype
      implicit none
      type(MPI_Datatype) :: datatype
      integer :: type_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine MPI_Type_delete_attr_function

    subroutine MPI_Win_copy_attr_function(oldwin, win_keyval, extra_state, attribute_val_in, &
                                           attribute_val_out, flag, ierror)
      import :: MPI_ADDRESS_KIND, MPI_Win
      implicit none
      type(MPI_Win) :: oldwin
      integer :: win_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: extra_state, attribute_val_in, attribute_val_out
      logical :: flag
    end subroutine MPI_Win_copy_attr_function

    subroutine MPI_Win_delete_attr_function(win, win_keyval, attribute_val, extra_state, ierror)
      import :: MPI_ADDRESS_KIND, MPI_Win
      implicit none
      type(MPI_Win) :: win
      integer :: win_keyval, ierror
      integer(kind=MPI_ADDRESS_KIND) :: attribute_val, extra_state
    end subroutine MPI_Win_delete_attr_function

    subroutine MPI_Comm_errhandler_function(comm, error_code)
      import :: MPI_Comm
      implicit none
      type(MPI_Comm) :: comm
      integer :: error_code
    end subroutine MPI_Comm_errhandler_function

    subroutine MPI_File_errhandler_function(file, error_code)
      import :: MPI_File
      implicit none
      type(MPI_File) :: file
      integer :: error_code
    end subroutine MPI_File_errhandler_function

    subroutine MPI_Session_errhandler_function(session, error_code)
      import :: MPI_Session
      implicit none
      type(MPI_Session) :: session
      integer :: error_code
    end subroutine MPI_Session_errhandler_function

    subroutine MPI_Win_errhandler_function(win, error_code)
      import :: MPI_Win
      implicit none
      type(MPI_Win) :: win
      integer :: error_code
    end subroutine MPI_Win_errhandler_function

    subroutine MPI_Grequest_query_function(extra_state, status, ierror)
      import :: MPI_ADDRESS_KIND, MPI_Status
      implicit none
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      type(MPI_Status) :: status
      integer :: ierror
    end subroutine MPI_Grequest_query_function

    subroutine MPI_Grequest_free_function(extra_state, ierror)
      import :: MPI_ADDRESS_KIND
      implicit none
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      integer :: ierror
    end subroutine MPI_Grequest_free_function

    subroutine MPI_Grequest_cancel_function(extra_state, complete, ierror)
      import :: MPI_ADDRESS_KIND
      implicit none
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      logical :: complete
      integer :: ierror
    end subroutine MPI_Grequest_cancel_function

    subroutine MPI_Datarep_extent_function(datatype, extent, extra_state, ierror)
      import :: MPI_ADDRESS_KIND, MPI_Datatype
      implicit none
      type(MPI_Datatype) :: datatype
      integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
      integer :: ierror
    end subroutine MPI_Datarep_extent_function

    subroutine MPI_Datarep_conversion_function(userbuf, datatype, count, filebuf, position, &
                                               extra_state, ierror)
      import :: c_ptr, MPI_ADDRESS_KIND, MPI_Datatype, MPI_OFFSET_KIND
      implicit none
      type(c_ptr), value :: userbuf, filebuf
      type(MPI_Datatype) :: datatype
      integer :: count, ierror
      integer(kind=MPI_OFFSET_KIND) :: position
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
    end subroutine MPI_Datarep_conversion_function

    subroutine MPI_Datarep_conversion_function_c(userbuf, datatype, count, filebuf, position, &
                                                 extra_state, ierror)
      import :: c_ptr, MPI_ADDRESS_KIND, MPI_COUNT_KIND, MPI_Datatype, MPI_OFFSET_KIND
      implicit none
      type(c_ptr), value :: userbuf, filebuf
      type(MPI_Datatype) :: datatype
      integer(kind=MPI_COUNT_KIND) :: count
      integer(kind=MPI_OFFSET_KIND) :: position
      integer(kind=MPI_ADDRESS_KIND) :: extra_state
      integer :: ierror
    end subroutine MPI_Datarep_conversion_function_c
  end interface
end module mpi_f08_callbacks
