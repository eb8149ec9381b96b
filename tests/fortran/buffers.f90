! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2
! gfortran: -std=f2018 -pedantic
! Buffers as programs of mpi_f08 have them: assumed size, text, derived types, and arrays that are not allocated where
! a rank takes no part. It is standard Fortran, which the module has to allow.
module users
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int
  use checks
  use mpi_f08
  implicit none

  type, bind(c) :: particle
    real(c_double) :: x(3)
    integer(c_int) :: id
    character(c_char) :: tag(4)
  end type particle

  integer :: rank, ranks

contains

  subroutine assumed_size(a, lda, n)
    integer, intent(in) :: lda, n
    integer, intent(inout) :: a(lda, *)
    integer :: copy(lda * n)
    call MPI_Sendrecv(a, lda * n, MPI_INTEGER, rank, 1, copy, lda * n, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call equal(copy, reshape(a(:, 1:n), [lda * n]), 'an array of assumed size')
    call MPI_Allreduce(MPI_IN_PLACE, a, lda * n, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
    call equal(reshape(a(:, 1:n), [lda * n]), ranks * copy, 'MPI_IN_PLACE with an array of assumed size')
    call MPI_Sendrecv(a(1, 2), lda, MPI_INTEGER, rank, 1, copy, lda, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call equal(copy(1:lda), a(:, 2), 'an element that stands for those behind it')
  end subroutine assumed_size

  subroutine text(words)
    character(len=*), intent(in) :: words(:)
    character(len=len(words)) :: copies(size(words)), one
    integer :: n
    n = len(words)
    copies = ''
    call MPI_Sendrecv(words(::2), n * size(words(::2)), MPI_CHARACTER, rank, 1, copies(size(words):1:-2), &
                      n * size(words(::2)), MPI_CHARACTER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(copies(size(words):1:-2) == words(::2)), 'every other word')
    copies = ''
    call MPI_Sendrecv(words(:)(2:3), 2 * size(words), MPI_CHARACTER, rank, 1, copies(:)(1:2), 2 * size(words), &
                      MPI_CHARACTER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call check(all(copies == words(:)(2:3)), 'parts of words')
    one = words(1)
    if (rank > 0) one = ''
    call MPI_Bcast(one, n, MPI_CHARACTER, 0, MPI_COMM_WORLD)
    call equal(one, words(1), 'a word')
  end subroutine text

  subroutine particles()
    type(particle) :: some(5), others(5)
    type(MPI_Datatype) :: parts, whole
    integer(kind=MPI_ADDRESS_KIND) :: places(3), end
    integer :: i, ids(5)
    call MPI_Get_address(some(1), places(1))
    call MPI_Get_address(some(1)%id, places(2))
    call MPI_Get_address(some(1)%tag, places(3))
    call MPI_Get_address(some(2), end)
    call MPI_Type_create_struct(3, [3, 1, 4], places - places(1), [MPI_DOUBLE_PRECISION, MPI_INTEGER, MPI_CHARACTER], &
                                parts)
    call MPI_Type_create_resized(parts, 0_MPI_ADDRESS_KIND, end - places(1), whole)
    call MPI_Type_commit(whole)
    do i = 1, 5
      some(i) = particle([1d0 * i, 2d0 * i, 3d0 * i], 10 * i, ['a', 'b', 'c', 'd'])
      others(i) = particle(0d0, 0, ' ')
    end do
    call MPI_Sendrecv(some(1:5:2), 3, whole, rank, 1, others(5:1:-2), 3, whole, rank, 1, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call equal(others%id, [50, 0, 30, 0, 10], 'every other particle')
    call MPI_Sendrecv(some%id, 5, MPI_INTEGER, rank, 1, ids, 5, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE)
    call equal(ids, some%id, 'a component of all particles')
    call MPI_Sendrecv(ids, 5, MPI_INTEGER, rank, 1, others%id, 5, MPI_INTEGER, rank, 1, MPI_COMM_WORLD, &
                      MPI_STATUS_IGNORE)
    call equal(others%id, some%id, 'a component of all particles that receives')
    call MPI_Type_free(parts)
    call MPI_Type_free(whole)
  end subroutine particles

  subroutine not_allocated()
    integer, allocatable :: all_ranks(:), cube(:, :, :)
    integer, pointer :: nowhere(:, :)
    integer, target :: grid(9, 2)
    type(MPI_Request) :: request
    integer :: one
    one = rank
    nowhere => grid(1:9:2, :)  ! gaps, which the descriptor of a null pointer may keep
    nullify (nowhere)
    if (rank == 0) allocate (all_ranks(ranks), cube(1, 1, 1))
    call MPI_Gather(one, 1, MPI_INTEGER, all_ranks, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    if (rank == 0) call equal(all_ranks(ranks), ranks - 1, 'MPI_Gather')
    call MPI_Reduce(one, cube, 1, MPI_INTEGER, MPI_MAX, 0, MPI_COMM_WORLD)
    if (rank == 0) call equal(cube(1, 1, 1), ranks - 1, 'MPI_Reduce')
    if (rank == 0) then
      call MPI_Gather(one, 1, MPI_INTEGER, all_ranks, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    else
      call MPI_Gather(one, 1, MPI_INTEGER, nowhere, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    end if
    call MPI_Igather(one, 1, MPI_INTEGER, all_ranks, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, request)
    call MPI_Wait(request, MPI_STATUS_IGNORE)
    call MPI_Bcast(nowhere, 0, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call MPI_Scatter(all_ranks, 1, MPI_INTEGER, one, 1, MPI_INTEGER, 0, MPI_COMM_WORLD)
    call equal(one, rank, 'MPI_Scatter')
  end subroutine not_allocated

end module users

program buffers
  use users
  implicit none
  integer :: numbers(10), i
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  numbers = [(i, i = 1, 10)]
  call assumed_size(numbers, 5, 2)
  call text(['abcd', 'efgh', 'ijkl', 'mnop', 'qrst'])
  call particles()
  call not_allocated()
  call MPI_Finalize()
  call finish()
end program buffers
