! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1
! Strings in three bindings: trimmed on the way in, filled with blanks on the way out.
#include "binding.inc"
program text
  use checks
  USE_MPI
  implicit none
#include "mpif.inc"
  integer :: ierror, length, keys
  logical :: flag
  character(len=12) :: short
  character(len=4) :: tiny_text
  character(len=MPI_MAX_OBJECT_NAME) :: name
  character(len=MPI_MAX_ERROR_STRING) :: message
  character(len=MPI_MAX_LIBRARY_VERSION_STRING) :: version
  character(len=MPI_MAX_INFO_KEY) :: key
  HANDLE(MPI_Info) :: info, copy

  call MPI_Init(ierror)
  call MPI_Comm_set_name(MPI_COMM_SELF, '  two leading   ', ierror)
  name = repeat('x', len(name))
  call MPI_Comm_get_name(MPI_COMM_SELF, name, length, ierror)
  call equal_name(name, '  two leading', 'leading blanks count, trailing ones do not')
  call equal(length, 13, 'resultlen')
  tiny_text = 'xxxx'
  call MPI_Comm_get_name(MPI_COMM_WORLD, tiny_text, length, ierror)
  call equal(tiny_text, 'MPI_', 'what fits')
  call equal(length, 14, 'length of what does not fit')

  call MPI_Info_create(info, ierror)
  call MPI_Info_set(info, '  key one ', '  some value   ', ierror)
  call MPI_Info_set(info, 'empty', ' ', ierror)
  call MPI_Info_get_nkeys(info, keys, ierror)
  call equal(keys, 2, 'MPI_Info_get_nkeys')
  call MPI_Info_get_nthkey(info, 0, key, ierror)
  call equal(key, 'key one', 'blanks around keys go')
  length = len(short)
  short = 'xxxxxxxxxxxx'
  call MPI_Info_get_string(info, 'key one', length, short, flag, ierror)
  call check(flag, 'MPI_Info_get_string finds it')
  call equal(short, 'some value  ', 'MPI_Info_get_string')
  call equal(length, 10, 'buflen counts no zero byte')
  length = 4
  call MPI_Info_get_string(info, 'key one', length, tiny_text, flag, ierror)
  call equal(tiny_text, 'some', 'MPI_Info_get_string, cut')
  call equal(length, 10, 'buflen of what was cut')
  length = 0
  tiny_text = 'same'
  call MPI_Info_get_string(info, 'key one', length, tiny_text, flag, ierror)
  call equal(tiny_text, 'same', 'MPI_Info_get_string of length 0')
  call equal(length, 10, 'buflen needed')
  call MPI_Info_get_string(info, 'key two', length, tiny_text, flag, ierror)
  call check(.not. flag, 'MPI_Info_get_string finds nothing')
  call MPI_Info_get(info, 'key one', 10, short, flag, ierror)
  call check(flag, 'MPI_Info_get finds it')
  call equal(short, 'some value', 'MPI_Info_get')
  call MPI_Info_get(info, 'key one', huge(0), short, flag, ierror)
  call equal(short, 'some value', 'MPI_Info_get of any length')
  length = huge(0)
  call MPI_Info_get_string(info, 'key one', length, short, flag, ierror)
  call equal(length, 10, 'MPI_Info_get_string of any length')
  call MPI_Info_get_valuelen(info, ' key one', length, flag, ierror)
  call equal(length, 10, 'MPI_Info_get_valuelen')
  call MPI_Info_dup(info, copy, ierror)
  call MPI_Info_delete(copy, 'key one', ierror)
  call MPI_Info_get_nkeys(copy, keys, ierror)
  call equal(keys, 1, 'MPI_Info_delete')
  call MPI_Info_free(info, ierror)
  call MPI_Info_free(copy, ierror)
  call check(info == MPI_INFO_NULL, 'MPI_Info_free')

  call MPI_Error_string(MPI_ERR_TRUNCATE, message, length, ierror)
  call check(length > 0 .and. len_trim(message) == length, 'MPI_Error_string')
  call MPI_Get_library_version(version, length, ierror)
  call check(version(1:6) == 'Fulmar' .or. length > 6, 'MPI_Get_library_version')
  call check(len_trim(version) <= length, 'length of MPI_Get_library_version')

  call MPI_Finalize(ierror)
  call finish()
contains
  subroutine equal_name(found, wanted, what)
    character(len=*), intent(in) :: found, wanted, what
    call check(len_trim(found) == len_trim(wanted), what // ' (length)')
    call equal(found, wanted, what)
  end subroutine equal_name
end program text
