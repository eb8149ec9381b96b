! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1
! Chapter 5 in three bindings: addresses, MPI_BOTTOM, arrays of datatypes, packing, kinds of Fortran.
#include "binding.inc"
program types
  use checks
  USE_MPI
  implicit none
#include "mpif.inc"
  integer :: ierror, numbers(4), copies(4), lengths(2), position, bytes, integers, addresses, datatypes, combiner, i
  integer :: contents(8)
  integer(kind=MPI_ADDRESS_KIND) :: places(2), origin, lower, extent, distances(8)
  double precision :: value, other
  character(len=64) :: packed
  HANDLE(MPI_Datatype) :: made, parts(2), found(8)
  STATUS :: status STATUS_SIZE
#if !defined(TEST_F08) && !defined(TEST_MPI)
  integer(kind=MPI_ADDRESS_KIND) :: memory
#endif

  call MPI_Init(ierror)
  numbers = [1, 2, 3, 4]
  value = 2.5d0
  call MPI_Get_address(numbers, origin, ierror)
  call MPI_Get_address(numbers(3), places(1), ierror)
  call equal(int(places(1) - origin, kind=8), 8_8, 'MPI_Get_address')
  call equal(int(MPI_Aint_diff(places(1), origin), kind=8), 8_8, 'MPI_Aint_diff')
  call check(MPI_Aint_add(origin, 8_MPI_ADDRESS_KIND) == places(1), 'MPI_Aint_add')

  ! Two variables by their addresses.
  call MPI_Get_address(value, places(2), ierror)
  places(1) = origin
  lengths = [4, 1]
  parts(1) = MPI_INTEGER
  parts(2) = MPI_DOUBLE_PRECISION
  call MPI_Type_create_struct(2, lengths, places, parts, made, ierror)
  call MPI_Type_commit(made, ierror)
  position = 0
  call MPI_Pack(MPI_BOTTOM, 1, made, packed, 64, position, MPI_COMM_WORLD, ierror)
  call equal(position, 24, 'MPI_Pack from MPI_BOTTOM')
  position = 0
  copies = 0
  other = 0
  call MPI_Unpack(packed, 64, position, copies, 4, MPI_INTEGER, MPI_COMM_WORLD, ierror)
  call MPI_Unpack(packed, 64, position, other, 1, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, ierror)
  call equal(copies, numbers, 'integers from MPI_BOTTOM')
  call check(other == 2.5d0, 'a double from MPI_BOTTOM')
  call MPI_Sendrecv(MPI_BOTTOM, 1, made, 0, 1, packed, 24, MPI_PACKED, 0, 1, MPI_COMM_SELF, status, ierror)
  call MPI_Type_get_envelope(made, integers, addresses, datatypes, combiner, ierror)
  call equal([integers, addresses, datatypes, combiner], [3, 2, 2, MPI_COMBINER_STRUCT], 'MPI_Type_get_envelope')
  call MPI_Type_get_contents(made, 8, 8, 8, contents, distances, found, ierror)
  call equal(contents(1:3), [2, 4, 1], 'integers of MPI_Type_get_contents')
  call check(distances(2) == places(2), 'addresses of MPI_Type_get_contents')
  call check(found(2) == MPI_DOUBLE_PRECISION, 'datatypes of MPI_Type_get_contents')
  call MPI_Type_free(made, ierror)
  call check(made == MPI_DATATYPE_NULL, 'MPI_Type_free')

  call MPI_Type_vector(2, 1, 3, MPI_INTEGER, made, ierror)
  call MPI_Type_get_extent(made, lower, extent, ierror)
  call equal([int(lower), int(extent)], [0, 16], 'MPI_Type_get_extent')
  call MPI_Type_size(made, bytes, ierror)
  call equal(bytes, 8, 'MPI_Type_size')
  call MPI_Type_free(made, ierror)

  ! Types by their precision, and by their size.
  call MPI_Type_create_f90_real(12, 100, made, ierror)
  call MPI_Type_size(made, bytes, ierror)
  call equal(bytes, storage_size(1.0_8) / 8, 'MPI_Type_create_f90_real')
  call MPI_Type_create_f90_integer(15, made, ierror)
  call MPI_Type_size(made, bytes, ierror)
  call equal(bytes, 8, 'MPI_Type_create_f90_integer')
  call MPI_Type_match_size(MPI_TYPECLASS_COMPLEX, 16, made, ierror)
  call MPI_Type_size(made, bytes, ierror)
  call equal(bytes, 16, 'MPI_Type_match_size')
  call MPI_Type_size(MPI_LOGICAL, bytes, ierror)
  call equal(bytes, storage_size(.true.) / 8, 'MPI_LOGICAL')
#if defined(TEST_F08) || defined(TEST_MPI)
  call MPI_Sizeof(value, bytes, ierror)
  call equal(bytes, 8, 'MPI_Sizeof of a scalar')
  call MPI_Sizeof(numbers, bytes, ierror)
  call equal(bytes, 4, 'MPI_Sizeof of an array')
  call allocate_memory()
#else
  call MPI_Alloc_mem(1000_8, MPI_INFO_NULL, memory, ierror)
  call check(memory /= 0, 'MPI_Alloc_mem')
#endif
  call logicals()
  call portable_and_distributed()
  call MPI_Finalize(ierror)
  call finish()
contains
  !> MPI_Pack_external, whose sizes are addresses; the second of two blocks of an array, which counts its axes from 0.
  subroutine portable_and_distributed()
    integer(kind=MPI_ADDRESS_KIND) :: room, at
    integer :: matrix(2, 4), half(4)
    call MPI_Pack_external_size('external32 ', 4, MPI_INTEGER, room, ierror)
    call equal(int(room), 16, 'MPI_Pack_external_size')
    at = 0
    call MPI_Pack_external('external32 ', numbers, 4, MPI_INTEGER, packed, room, at, ierror)
    call equal(int(at), 16, 'MPI_Pack_external')
    call equal(ichar(packed(16:16)), 4, 'the last byte is the lowest')
    at = 0
    copies = 0
    call MPI_Unpack_external('external32', packed, room, at, copies, 4, MPI_INTEGER, ierror)
    call equal(copies, numbers, 'MPI_Unpack_external')
    matrix = reshape([(i, i = 1, 8)], [2, 4])
    call MPI_Type_create_darray(2, 1, 2, [2, 4], [MPI_DISTRIBUTE_NONE, MPI_DISTRIBUTE_BLOCK], &
                                [MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG], [1, 2], MPI_ORDER_FORTRAN, MPI_INTEGER, &
                                made, ierror)
    call MPI_Type_commit(made, ierror)
    call MPI_Sendrecv(matrix, 1, made, 0, 2, half, 4, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
    call equal(half, [5, 6, 7, 8], 'MPI_Type_create_darray')
    call MPI_Type_free(made, ierror)
    call MPI_Type_create_subarray(2, [2, 4], [1, 3], [1, 1], MPI_ORDER_FORTRAN, MPI_INTEGER, made, ierror)
    call MPI_Type_commit(made, ierror)
    half = 0
    call MPI_Sendrecv(matrix, 1, made, 0, 2, half, 4, MPI_INTEGER, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE, ierror)
    call equal(half, [4, 6, 8, 0], 'MPI_Type_create_subarray')
    call MPI_Type_free(made, ierror)
  end subroutine portable_and_distributed

  subroutine logicals()
    logical :: one(2), all_true(2)
    one = [.true., .false.]
    all_true = .true.
    call MPI_Allreduce(one, all_true, 2, MPI_LOGICAL, MPI_LAND, MPI_COMM_WORLD, ierror)
    call check(all_true(1) .and. .not. all_true(2), 'MPI_LAND of LOGICALs')
  end subroutine logicals
#if defined(TEST_F08) || defined(TEST_MPI)
  subroutine allocate_memory()
    use, intrinsic :: iso_c_binding, only: c_f_pointer, c_ptr
    type(c_ptr) :: pointer_of_c
    integer, pointer :: array(:)
    call MPI_Alloc_mem(400_MPI_ADDRESS_KIND, MPI_INFO_NULL, pointer_of_c, ierror)
    call c_f_pointer(pointer_of_c, array, [100])
    array = [(i, i = 1, 100)]
    call equal(array(100), 100, 'MPI_Alloc_mem')
    call MPI_Free_mem(array, ierror)
    call equal(ierror, MPI_SUCCESS, 'MPI_Free_mem')
  end subroutine allocate_memory
#endif
end program types
