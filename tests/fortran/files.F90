! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2 4
! Chapter 14 in three bindings: positions, views, ordered and split access, errors, a data representation of ours.
#include "binding.inc"
module file_procedures
  implicit none
  integer :: errors = 0, last_class = 0, extents = 0
contains
  subroutine handle_error(file, error_code)
    USE_MPI
#include "mpif.inc"
    HANDLE(MPI_File) :: file
    integer :: error_code, ierror
    if (file == MPI_FILE_NULL) errors = errors + 1
    errors = errors + 1
    call MPI_Error_class(error_code, last_class, ierror)
  end subroutine handle_error

  subroutine extent_of(datatype, extent, extra_state, ierror)
    USE_MPI
#include "mpif.inc"
    HANDLE(MPI_Datatype) :: datatype
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state, lower
    integer :: ierror
    if (extra_state == 7000000000_8) extents = extents + 1
    call MPI_Type_get_extent(datatype, lower, extent, ierror)
  end subroutine extent_of
end module file_procedures

program files
  use checks
  use file_procedures
  USE_MPI
  implicit none
#include "mpif.inc"
  integer :: ierror, rank, ranks, i, count, mode, values(12), got(12), class
  integer(kind=MPI_OFFSET_KIND) :: offset, place, bytes, zero
  integer(kind=MPI_ADDRESS_KIND) :: extent, extra
  logical :: flag
  character(len=MPI_MAX_DATAREP_STRING) :: datarep
  character(len=64) :: name
  character(len=10) :: line
  HANDLE(MPI_File) :: file
  HANDLE(MPI_Datatype) :: etype, filetype, every
  HANDLE(MPI_Errhandler) :: handler
  HANDLE(MPI_Request) :: request
  HANDLE(MPI_Info) :: info
  STATUS :: status STATUS_SIZE

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  zero = 0
  if (rank == 0) call name_of_file()
  call MPI_Bcast(name, 64, MPI_CHARACTER, 0, MPI_COMM_WORLD, ierror)

  ! Errors of files return, unless told otherwise.
  call MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
  call MPI_Error_class(ierror, class, ierror)
  call equal(class, MPI_ERR_NO_SUCH_FILE, 'MPI_File_open')
  call MPI_File_create_errhandler(handle_error, handler, ierror)
  call MPI_File_set_errhandler(MPI_FILE_NULL, handler, ierror)
  call MPI_File_delete(name, MPI_INFO_NULL, ierror)
  call equal([errors, last_class], [2, MPI_ERR_NO_SUCH_FILE], 'the error handler of MPI_FILE_NULL')
  call MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN, ierror)

  call MPI_File_open(MPI_COMM_WORLD, trim(name), ior(MPI_MODE_RDWR, MPI_MODE_CREATE), MPI_INFO_NULL, file, ierror)
  call equal(ierror, MPI_SUCCESS, 'MPI_File_open')
  call MPI_File_get_amode(file, mode, ierror)
  call equal(mode, MPI_MODE_RDWR + MPI_MODE_CREATE, 'MPI_File_get_amode')
  call MPI_File_set_errhandler(file, handler, ierror)
  call MPI_File_seek(file, -1_MPI_OFFSET_KIND, MPI_SEEK_SET, ierror)
  call equal(errors, 3, 'the error handler of a file')
  call MPI_File_set_errhandler(file, MPI_ERRORS_RETURN, ierror)
  call MPI_Errhandler_free(handler, ierror)

  ! Explicit offsets.
  values = [(100 * rank + i, i = 1, 12)]
  offset = 48 * rank
  call MPI_File_write_at_all(file, offset, values, 12, MPI_INTEGER, status, ierror)
  call MPI_Get_count(status, MPI_INTEGER, count, ierror)
  call equal(count, 12, 'status of MPI_File_write_at_all')
  offset = 48 * modulo(rank + 1, ranks)
  call MPI_File_read_at_all(file, offset, got, 12, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
  call equal(got, [(100 * modulo(rank + 1, ranks) + i, i = 1, 12)], 'MPI_File_read_at_all')
  call MPI_File_get_size(file, bytes, ierror)
  call equal(int(bytes), 48 * ranks, 'MPI_File_get_size')

  ! A view: each rank has every `ranks`-th integer.
  call MPI_Type_create_resized(MPI_INTEGER, 0_MPI_ADDRESS_KIND, int(4 * ranks, MPI_ADDRESS_KIND), every, ierror)
  call MPI_Type_commit(every, ierror)
  offset = 4 * rank
  call MPI_File_set_view(file, offset, MPI_INTEGER, every, 'native', MPI_INFO_NULL, ierror)
  datarep = 'x'
  call MPI_File_get_view(file, place, etype, filetype, datarep, ierror)
  call equal(datarep, 'native', 'datarep of MPI_File_get_view')
  call equal(int(place), 4 * rank, 'displacement of MPI_File_get_view')
  call check(etype == MPI_INTEGER, 'etype of MPI_File_get_view')
  call MPI_Type_free(filetype, ierror)
  values(1:3) = [rank, rank + 10, rank + 20]
  call MPI_File_write_all(file, values, 3, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
  call MPI_File_get_position(file, place, ierror)
  call equal(int(place), 3, 'MPI_File_get_position')
  call MPI_File_get_byte_offset(file, place, offset, ierror)
  call equal(int(offset), 4 * (rank + 3 * ranks), 'MPI_File_get_byte_offset')
  call MPI_File_get_type_extent(file, every, extent, ierror)
  call equal(int(extent), 4 * ranks, 'MPI_File_get_type_extent')
  call MPI_File_seek(file, 1_MPI_OFFSET_KIND, MPI_SEEK_SET, ierror)
  got = -1
  call MPI_File_iread(file, got, 2, MPI_INTEGER, request, ierror)
  call MPI_Wait(request, status, ierror)
  call MPI_Get_count(status, MPI_INTEGER, count, ierror)
  call equal([count, got(1:3)], [2, rank + 10, rank + 20, -1], 'MPI_File_iread')

  ! Split collectives.
  call MPI_File_seek(file, zero, MPI_SEEK_SET, ierror)
  got = -1
  call MPI_File_read_all_begin(file, got, 3, MPI_INTEGER, ierror)
  call MPI_File_read_all_end(file, got, status, ierror)
  call equal(got(1:3), values(1:3), 'MPI_File_read_all_begin')
  call MPI_Get_elements(status, MPI_INTEGER, count, ierror)
  call equal(count, 3, 'status of MPI_File_read_all_end')

  ! Text in the order of ranks, by the shared pointer.
  call MPI_File_set_size(file, zero, ierror)
  call MPI_File_set_view(file, zero, MPI_CHARACTER, MPI_CHARACTER, 'native', MPI_INFO_NULL, ierror)
  write (line, '(a,i3,a)') 'rank', rank, '  ' // achar(10)
  call MPI_File_write_ordered(file, line, 10, MPI_CHARACTER, status, ierror)
  call MPI_File_get_position_shared(file, place, ierror)
  call equal(int(place), 10 * ranks, 'MPI_File_get_position_shared')
  call MPI_File_seek_shared(file, zero, MPI_SEEK_SET, ierror)
  line = ''
  call MPI_File_read_shared(file, line, 10, MPI_CHARACTER, status, ierror)
  call equal(line(1:4), 'rank', 'MPI_File_read_shared')
  call MPI_Barrier(MPI_COMM_WORLD, ierror)
  offset = 10 * rank
  call MPI_File_read_at(file, offset, line, 10, MPI_CHARACTER, status, ierror)
  read (line(5:7), *) i
  call equal(i, rank, 'MPI_File_write_ordered')
  ! At the end there is nothing.
  offset = 10 * ranks
  call MPI_File_read_at(file, offset, line, 10, MPI_CHARACTER, status, ierror)
  call MPI_Get_count(status, MPI_CHARACTER, count, ierror)
  call equal([ierror, count], [MPI_SUCCESS, 0], 'MPI_File_read_at at the end')
  call MPI_File_set_atomicity(file, .true., ierror)
  call MPI_File_get_atomicity(file, flag, ierror)
  call check(flag, 'MPI_File_set_atomicity')
  call MPI_File_get_info(file, info, ierror)
  call check(info /= MPI_INFO_NULL, 'MPI_File_get_info')
  call MPI_Info_free(info, ierror)
  call MPI_File_set_view(file, zero, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, ierror)
  call MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_BYTE, MPI_BYTE, 'native', MPI_INFO_NULL, ierror)
  call MPI_Error_class(ierror, class, ierror)
  call check(class /= MPI_SUCCESS, 'MPI_DISPLACEMENT_CURRENT without MPI_MODE_SEQUENTIAL')

  ! A data representation that stores as memory does, with an extent function of ours.
  extra = 7000000000_8
  call MPI_Register_datarep('ours ', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, extra, ierror)
  call equal(ierror, MPI_SUCCESS, 'MPI_Register_datarep')
  call MPI_Register_datarep('ours', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_of, extra, ierror)
  call MPI_Error_class(ierror, class, ierror)
  call equal(class, MPI_ERR_DUP_DATAREP, 'MPI_Register_datarep twice')
  call MPI_File_set_view(file, zero, MPI_INTEGER, MPI_INTEGER, 'ours', MPI_INFO_NULL, ierror)
  call equal(ierror, MPI_SUCCESS, 'MPI_File_set_view of a data representation')
  call MPI_File_get_type_extent(file, MPI_INTEGER, extent, ierror)
  call check(extents > 0 .and. extent == 4, 'the extent function was called')
  call MPI_Type_free(every, ierror)
  call MPI_File_close(file, ierror)
  call check(file == MPI_FILE_NULL, 'MPI_File_close')
  if (rank == 0) call MPI_File_delete(name, MPI_INFO_NULL, ierror)
  call equal(ierror, MPI_SUCCESS, 'MPI_File_delete')
  call MPI_Finalize(ierror)
  call finish()
contains
  subroutine name_of_file()
    integer(kind=8) :: clock
    character(len=40) :: folder
    call get_environment_variable('TMPDIR', folder)
    if (folder == '') folder = '/tmp'
    call system_clock(clock)
    write (name, '(2a,i0)') trim(folder), '/fulmar_', clock
  end subroutine name_of_file
end program files
