! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1
! What reaches C: lists of strings, files, data representations with functions in Fortran. The functions of C are
! those of arguments_in_c.c, which check what they get.
#include "binding.inc"
module conversions
  implicit none
contains
#if defined(TEST_F08)
  subroutine write_numbers(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
    use mpi_f08
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: from(:), to(:)
    call c_f_pointer(userbuf, from, [count])
    call c_f_pointer(filebuf, to, [count])
#else
  subroutine write_numbers(from, datatype, count, to, position, extra_state, ierror)
    USE_MPI
#include "mpif.inc"
    integer :: datatype, count, ierror, from(count), to(count)
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
#endif
    ierror = 0
    if (datatype == MPI_INTEGER .and. extra_state == 6000000001_8) ierror = 42
    to = from + int(position)
  end subroutine write_numbers

  subroutine file_extent(datatype, extent, extra_state, ierror)
    USE_MPI
#include "mpif.inc"
    HANDLE(MPI_Datatype) :: datatype
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
    integer :: ierror
    extent = 0
    if (datatype == MPI_INTEGER) extent = extra_state
    ierror = MPI_SUCCESS
  end subroutine file_extent
end module conversions

program arguments
  use, intrinsic :: iso_c_binding, only: c_f_pointer, c_loc, c_ptr
  use checks
  use conversions
  USE_MPI
  implicit none
#include "mpif.inc"
  character(len=20) :: argv(3), commands(2), argvs(2, 3)
  integer :: errcodes(3), ierror
  integer(kind=MPI_ADDRESS_KIND) :: extra
  HANDLE(MPI_Comm) :: made
  HANDLE(MPI_Info) :: infos(2)
  HANDLE(MPI_File) :: file
  HANDLE(MPI_Win) :: window
  integer, pointer :: array(:)
#if defined(TEST_F08) || defined(TEST_MPI)
  type(c_ptr) :: base
#endif

  call MPI_Init(ierror)
  argv(1) = 'first argument'
  argv(2) = '-x'
  argv(3) = ' '
  errcodes = 0
  call MPI_Comm_spawn('a program  ', argv, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, made, errcodes, ierror)
  call equal(ierror, MPI_SUCCESS, 'MPI_Comm_spawn')
  call equal(errcodes, [0, 0, 77], 'array_of_errcodes')
  call check(made == MPI_COMM_SELF, 'intercomm')
  call MPI_Comm_spawn('plain', MPI_ARGV_NULL, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, made, MPI_ERRCODES_IGNORE, ierror)
  call equal(ierror, MPI_SUCCESS, 'MPI_ARGV_NULL and MPI_ERRCODES_IGNORE')

  commands = [character(len=20) :: 'one', 'the other']
  argvs = ' '
  argvs(1, 1:2) = [character(len=20) :: '1a', '1b']
  argvs(2, 1) = '2a'
  infos(1) = MPI_INFO_NULL
  infos(2) = MPI_INFO_ENV
  call MPI_Comm_spawn_multiple(2, commands, argvs, [4, 5], infos, 0, MPI_COMM_WORLD, made, MPI_ERRCODES_IGNORE, ierror)
  call equal(ierror, MPI_SUCCESS, 'MPI_Comm_spawn_multiple')
  commands(1) = 'plain'
  call MPI_Comm_spawn_multiple(2, commands, MPI_ARGVS_NULL, [4, 5], infos, 0, MPI_COMM_WORLD, made, &
                               MPI_ERRCODES_IGNORE, ierror)
  call equal(ierror, MPI_SUCCESS, 'MPI_ARGVS_NULL')

  extra = 6000000001_8
  call MPI_Register_datarep('ours  ', MPI_CONVERSION_FN_NULL, write_numbers, file_extent, extra, ierror)
  call equal(ierror, MPI_SUCCESS, 'MPI_Register_datarep')
  call MPI_File_open(MPI_COMM_SELF, 'dir/a file ', MPI_MODE_RDONLY, MPI_INFO_NULL, file, ierror)
  call equal(ierror, MPI_SUCCESS, 'MPI_File_open')
  call check(file == MPI_FILE_NULL, 'fh')

#if defined(TEST_F08) || defined(TEST_MPI)
  call MPI_Win_allocate(5000000000_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, base, window, ierror)
  call c_f_pointer(base, array, [4])
  call equal(array(4), 99, 'baseptr')
#else
  allocate (array(1))
  call MPI_Win_allocate(5000000000_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, extra, window, ierror)
  call check(extra /= 6000000001_8, 'baseptr')
#endif
  call equal(ierror, MPI_SUCCESS, 'MPI_Win_allocate')
  call check(window == MPI_WIN_NULL, 'win')
#if defined(TEST_F08)
  call complete_in_c()
#endif
  call MPI_Finalize(ierror)
  call finish()
#if defined(TEST_F08)
contains
  subroutine complete_in_c()
    ! A request that works on a copy, completed by C. When its number is used again, nothing is stored late.
    integer :: numbers(8), sums(8), k
    type(MPI_Request) :: request
    numbers = [(k, k = 1, 8)]
    call MPI_Iallreduce(numbers(1:8:2), sums(1:8:2), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_SELF, request, ierror)
    call equal(ierror, MPI_SUCCESS, 'MPI_Iallreduce of a copy')
    sums = -7
    call MPI_Ibarrier(MPI_COMM_SELF, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call equal(ierror, MPI_SUCCESS, 'MPI_Wait')
    call equal(sums, [(-7, k = 1, 8)], 'nothing is stored late')
  end subroutine complete_in_c
#endif
end program arguments
