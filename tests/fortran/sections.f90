! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2 4
! Array sections with gaps as buffers of mpi_f08 (MPI 5.0 section 19.1.12): as datatypes, as copies, at
! completion, in persistent operations; errors of what cannot work.
program sections
  use checks
  use mpi_f08
  implicit none
  type pair
    sequence
    integer :: first, second
  end type pair
  integer :: rank, ranks, right, left, i, j, k, code
  integer :: cube(6, 5, 4), got(6, 5, 4), line(120), wanted(120)
  type(MPI_Request) :: requests(2)
  type(MPI_Status) :: status
  logical :: flag

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  right = modulo(rank + 1, ranks)
  left = modulo(rank - 1, ranks)
  cube = reshape([(i, i = 1, 120)], [6, 5, 4])

  call whole_sections()
  call parts_of_sections()
  call other_datatypes()
  call non_blocking()
  call persistent()
  call one_of_two_fails()
  call collectives()
  call reductions_later()
  call packing()
  call dummies(line, cube(:, 2:5:3, 1))
  call refused()

  call MPI_Finalize()
  call finish()
contains

  subroutine whole_sections()
    ! Strides in all dimensions, on both sides with other shapes.
    got = 0
    call MPI_Sendrecv(cube(1:6:2, 2:5:3, 1:4:2), 12, MPI_INTEGER, right, 1, &
                      got(6:1:-2, 1:2, 4:3:-1), 12, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    call equal(pack(got(6:1:-2, 1:2, 4:3:-1), .true.), pack(cube(1:6:2, 2:5:3, 1:4:2), .true.), 'strides')
    call equal(count(got /= 0), 12, 'nothing else was written')
    call MPI_Get_count(status, MPI_INTEGER, i)
    call equal(i, 12, 'count of a section')
    ! Rows of a matrix; a section whose inner dimension is contiguous.
    line = 0
    call MPI_Sendrecv(cube(3, :, 2), 5, MPI_INTEGER, right, 1, line, 120, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    call equal(line(1:5), cube(3, :, 2), 'a row')
    call MPI_Sendrecv(cube(2:4, :, :), 60, MPI_INTEGER, right, 1, line, 120, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    call equal(line(1:60), pack(cube(2:4, :, :), .true.), 'runs')
    ! One element, none, and a scalar.
    call MPI_Sendrecv(cube(4:4, 3:3, 2:2), 1, MPI_INTEGER, right, 1, line, 120, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    call equal(line(1), cube(4, 3, 2), 'one element')
    call MPI_Sendrecv(cube(4:3, 1:5:2, :), 0, MPI_INTEGER, right, 1, line, 0, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    call MPI_Bcast(cube(1:6:5, 2, 1:4:3), 4, MPI_INTEGER, 0, MPI_COMM_WORLD)
  end subroutine whole_sections

  subroutine parts_of_sections()
    ! Each count of a section in three dimensions, from 1 to all.
    line = 0
    wanted(1:18) = pack(cube(1:6:2, 1:5:2, 1:4:3), .true.)
    do k = 1, 18
      line = 0
      call MPI_Sendrecv(cube(1:6:2, 1:5:2, 1:4:3), k, MPI_INTEGER, right, 1, line, 120, MPI_INTEGER, left, 1, &
                        MPI_COMM_WORLD, status)
      call equal(line(1:k + 1), [wanted(1:k), 0], 'the first elements of a section')
    end do
    ! Runs, cut inside.
    wanted(1:24) = pack(cube(2:5, 1:5:2, 1:4:3), .true.)
    do k = 1, 24
      line = 0
      call MPI_Sendrecv(cube(2:5, 1:5:2, 1:4:3), k, MPI_INTEGER, right, 1, line, 120, MPI_INTEGER, left, 1, &
                        MPI_COMM_WORLD, status)
      call equal(line(1:k + 1), [wanted(1:k), 0], 'runs, cut')
    end do
  end subroutine parts_of_sections

  subroutine other_datatypes()
    complex(kind=8) :: waves(10)
    double precision :: parts(20)
    type(pair) :: pairs(10)
    type(MPI_Datatype) :: two, holes
    integer :: flat(20)
    ! Two doubles fill an element; three of them end inside the second.
    waves = [(cmplx(i, -i, kind=8), i = 1, 10)]
    parts = 0
    call MPI_Sendrecv(waves(1:10:3), 3, MPI_DOUBLE_PRECISION, right, 1, parts, 20, MPI_DOUBLE_PRECISION, left, 1, &
                      MPI_COMM_WORLD, status)
    call check(all(parts(1:4) == [1d0, -1d0, 4d0, 0d0]), 'doubles in complex elements')
    pairs = [(pair(i, 100 + i), i = 1, 10)]
    flat = 0
    call MPI_Sendrecv(pairs(2:10:4), 6, MPI_INTEGER, right, 1, flat, 20, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    call equal(flat(1:7), [2, 102, 6, 106, 10, 110, 0], 'elements of a derived type')
    ! A component of all elements: its elements lie apart.
    call MPI_Sendrecv(pairs(:)%second, 10, MPI_INTEGER, right, 1, flat, 20, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    call equal(flat(1:10), pairs%second, 'a component')
    ! A datatype of two elements, and one with a hole, index the section as if it were contiguous.
    call MPI_Type_contiguous(2, MPI_INTEGER, two)
    call MPI_Type_commit(two)
    call MPI_Sendrecv(cube(1:6:2, 1:4, 1), 4, two, right, 1, line, 120, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    wanted(1:12) = pack(cube(1:6:2, 1:4, 1), .true.)
    call equal(line(1:8), wanted(1:8), 'a datatype of two elements')
    call MPI_Type_vector(2, 1, 3, MPI_INTEGER, holes)
    call MPI_Type_commit(holes)
    call MPI_Sendrecv(cube(1:6:2, 1:4, 1), 3, holes, right, 1, line, 120, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    call equal(line(1:6), wanted([1, 4, 5, 8, 9, 12]), 'a datatype with a hole')
    got = 0
    call MPI_Sendrecv(line, 2, MPI_INTEGER, right, 1, got(1:6:2, 1:4, 1), 1, holes, left, 1, MPI_COMM_WORLD, status)
    call equal([got(1, 1, 1), got(3, 1, 1), got(1, 2, 1)], [line(1), 0, line(2)], 'received into a hole')
    call MPI_Type_free(two)
    call MPI_Type_free(holes)
  end subroutine other_datatypes

  subroutine non_blocking()
    type(MPI_Datatype) :: two
    got = 0
    call MPI_Irecv(got(1:6:2, :, 3), 15, MPI_INTEGER, left, 2, MPI_COMM_WORLD, requests(1))
    call MPI_Isend(cube(2:6:2, :, 3), 15, MPI_INTEGER, right, 2, MPI_COMM_WORLD, requests(2))
    call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
    call equal(pack(got(1:6:2, :, 3), .true.), pack(cube(2:6:2, :, 3), .true.), 'non-blocking')
    ! With a copy, stored by MPI_Wait, by MPI_Test and by MPI_Waitany.
    call MPI_Type_contiguous(2, MPI_INTEGER, two)
    call MPI_Type_commit(two)
    do k = 1, 3
      got = 0
      call MPI_Irecv(got(1:6:2, 1:4, 1), 6, two, left, 2, MPI_COMM_WORLD, requests(1))
      call MPI_Isend(cube(2:6:2, 1:4, 2), 6, two, right, 2, MPI_COMM_WORLD, requests(2))
      flag = .false.
      select case (k)
      case (1)
        call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
      case (2)
        do while (.not. flag)
          call MPI_Test(requests(1), flag, MPI_STATUS_IGNORE)
        end do
      case (3)
        call MPI_Waitany(1, requests, j, MPI_STATUS_IGNORE)
      end select
      call MPI_Wait(requests(2), MPI_STATUS_IGNORE)
      call equal(pack(got(1:6:2, 1:4, 1), .true.), pack(cube(2:6:2, 1:4, 2), .true.), 'a copy at completion')
    end do
    call MPI_Type_free(two)
  end subroutine non_blocking

  subroutine persistent()
    integer :: numbers(20), sums(20)
    call MPI_Send_init(numbers(1:20:2), 10, MPI_INTEGER, right, 3, MPI_COMM_WORLD, requests(1))
    call MPI_Recv_init(sums(2:20:2), 10, MPI_INTEGER, left, 3, MPI_COMM_WORLD, requests(2))
    do k = 1, 3
      numbers = [(k * i, i = 1, 20)]
      sums = 0
      call MPI_Startall(2, requests)
      call MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)
      call equal(sums(2:20:2), numbers(1:20:2), 'persistent')
    end do
    call MPI_Request_free(requests(1))
    call MPI_Request_free(requests(2))
    ! A reduction copies at each start and each completion.
    call MPI_Allreduce_init(numbers(1:20:2), sums(1:20:2), 10, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &
                            requests(1))
    do k = 1, 3
      numbers = [(k * i, i = 1, 20)]
      sums = 0
      call MPI_Start(requests(1))
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
      call equal(sums(1:20:2), ranks * numbers(1:20:2), 'a persistent reduction')
      call equal(sums(2:20:2), [(0, i = 1, 10)], 'nothing else')
      ! It is inactive now: nothing is stored again.
      sums = -5
      call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
      call equal(sums(1), -5, 'an inactive request')
    end do
    call MPI_Request_free(requests(1))
  end subroutine persistent

  subroutine one_of_two_fails()
    ! MPI_Waitall with an error at one request: what the other one, a persistent receive, has received is stored.
    type(MPI_Datatype) :: two
    type(MPI_Request) :: all(4)
    type(MPI_Status) :: statuses(4)
    integer :: short(1)
    call MPI_Type_contiguous(2, MPI_INTEGER, two)
    call MPI_Type_commit(two)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Recv_init(got(1:6:2, 1:4, 1), 6, two, left, 4, MPI_COMM_WORLD, all(1))
    do k = 1, 2
      got = 0
      call MPI_Start(all(1))
      call MPI_Irecv(short, 1, MPI_INTEGER, left, 5, MPI_COMM_WORLD, all(2))
      call MPI_Isend(cube(2:6:2, 1:4, 2), 6, two, right, 4, MPI_COMM_WORLD, all(3))
      call MPI_Isend(line, 2, MPI_INTEGER, right, 5, MPI_COMM_WORLD, all(4))
      if (k == 1) call MPI_Waitall(4, all, statuses, code)
      if (k == 2) call MPI_Waitall(4, all, MPI_STATUSES_IGNORE, code)
      call equal(code, MPI_ERR_IN_STATUS, 'one message is too long')
      call equal(pack(got(1:6:2, 1:4, 1), .true.), pack(cube(2:6:2, 1:4, 2), .true.), 'stored beside an error')
    end do
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
    call MPI_Request_free(all(1))
    call MPI_Type_free(two)
  end subroutine one_of_two_fails

  subroutine collectives()
    integer, allocatable :: all(:, :)
    integer :: mine(10)
    allocate (all(5, 2 * ranks))
    all = 0
    mine = [(100 * rank + i, i = 1, 10)]
    ! Blocks of one row each into every second column.
    call MPI_Allgather(mine(1:10:2), 5, MPI_INTEGER, all(:, 1:2 * ranks:2), 5, MPI_INTEGER, MPI_COMM_WORLD)
    do i = 0, ranks - 1
      call equal(all(:, 2 * i + 1), [(100 * i + j, j = 1, 10, 2)], 'MPI_Allgather')
      call equal(all(:, 2 * i + 2), [(0, j = 1, 5)], 'MPI_Allgather, between')
    end do
    mine = rank + 1
    call MPI_Allreduce(MPI_IN_PLACE, mine(2:10:4), 3, MPI_INTEGER, MPI_MAX, MPI_COMM_WORLD)
    call equal(mine(1:6), [rank + 1, ranks, rank + 1, rank + 1, rank + 1, ranks], 'MPI_Allreduce in place')
    deallocate (all)
  end subroutine collectives

  subroutine reductions_later()
    integer :: mine(12), sums(12)
    mine = [(rank + i, i = 1, 12)]
    sums = -1
    call MPI_Iallreduce(mine(1:12:3), sums(12:1:-3), 4, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, requests(1))
    call MPI_Wait(requests(1), MPI_STATUS_IGNORE)
    call equal(sums(12:1:-3), [(ranks * i + ranks * (ranks - 1) / 2, i = 1, 12, 3)], 'MPI_Iallreduce')
    call equal(count(sums == -1), 8, 'MPI_Iallreduce, between')
  end subroutine reductions_later

  subroutine packing()
    character(len=100) :: packed
    integer :: position, few(3)
    position = 0
    call MPI_Pack(cube(1:6:2, 4, 1), 3, MPI_INTEGER, packed, 100, position, MPI_COMM_WORLD)
    call equal(position, 12, 'MPI_Pack')
    position = 0
    got = 0
    call MPI_Unpack(packed, 12, position, got(6, 1:5:2, 1), 3, MPI_INTEGER, MPI_COMM_WORLD)
    call equal(got(6, 1:5:2, 1), cube(1:6:2, 4, 1), 'MPI_Unpack')
    few = 0
    position = 0
    call MPI_Unpack(packed, 12, position, few, 3, MPI_INTEGER, MPI_COMM_WORLD)
    call equal(few, cube(1:6:2, 4, 1), 'MPI_Pack packs the elements')
  end subroutine packing

  subroutine dummies(last, shaped)
    ! What the compiler knows less of: assumed size and assumed shape; and elements that are strings.
    integer, intent(inout) :: last(10, *), shaped(:, :)
    character(len=5) :: words(6), found(3)
    wanted(1:12) = pack(shaped, .true.)
    call MPI_Sendrecv(shaped, 12, MPI_INTEGER, right, 1, last, 12, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    call equal(last(:, 1), wanted(1:10), 'assumed shape to assumed size')
    call MPI_Sendrecv(last, 3, MPI_INTEGER, right, 1, shaped(2:6:2, 2), 3, MPI_INTEGER, left, 1, MPI_COMM_WORLD, status)
    call equal(shaped(2:6:2, 2), wanted(1:3), 'assumed size to a section of assumed shape')
    words = ['one  ', 'two  ', 'three', 'four ', 'five ', 'six  ']
    call MPI_Sendrecv(words(2:6:2), 15, MPI_CHARACTER, right, 1, found, 15, MPI_CHARACTER, left, 1, MPI_COMM_WORLD, status)
    call check(all(found == words(2:6:2)), 'strings')
  end subroutine dummies

  subroutine refused()
    ! Errors are raised on the object of the call. MPI_COMM_SELF, which is asked where there is none, ends the program at first.
    type(MPI_File) :: file
    type(MPI_Win) :: window
    type(MPI_Datatype) :: two
    character(len=MPI_MAX_ERROR_STRING) :: text
    character(len=40) :: name
    call MPI_Type_contiguous(2, MPI_INTEGER, two)
    call MPI_Type_commit(two)
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN)
    call MPI_Send(cube(1:6:2, 1, 1), 4, MPI_INTEGER, right, 1, MPI_COMM_WORLD, code)
    call is_class(MPI_ERR_COUNT, 'more than the section has')
    call MPI_Error_string(code, text, i)
    call check(index(text, 'section') > 0, 'the text of the error')
    call MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL)
    ! Errors of files return from the beginning.
    call system_clock(k)
    write (name, '(a,i0,a,i0)') '/tmp/fulmar_sections.', k, '.', rank
    call MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDWR + MPI_MODE_CREATE + MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, file)
    call MPI_File_write_at(file, 0_MPI_OFFSET_KIND, cube(1:6:2, 1, 1), 4, MPI_INTEGER, status, code)
    call is_class(MPI_ERR_COUNT, 'more than the section has, to a file')
    call MPI_File_write_at_all_begin(file, 0_MPI_OFFSET_KIND, cube(1:6:2, 1, 1), 1, two, code)
    call is_class(MPI_ERR_TYPE, 'a copy that nobody would store')
    call MPI_File_close(file)
    call MPI_Win_create(line, 480_MPI_ADDRESS_KIND, 4, MPI_INFO_NULL, MPI_COMM_WORLD, window)
    call MPI_Win_set_errhandler(window, MPI_ERRORS_RETURN)
    call MPI_Win_fence(0, window)
    call MPI_Put(cube(1:6:2, 1, 1), 1, two, right, 0_MPI_ADDRESS_KIND, 1, two, window, code)
    call is_class(MPI_ERR_TYPE, 'a copy that nobody would send')
    call MPI_Win_fence(0, window)
    call MPI_Win_free(window)
    call MPI_Type_free(two)
    call MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN)
    call MPI_Buffer_attach(cube(1:6:2, :, :), 100, code)
    call is_class(MPI_ERR_BUFFER, 'memory that is kept')
  end subroutine refused

  subroutine is_class(wanted_class, what)
    integer, intent(in) :: wanted_class
    character(len=*), intent(in) :: what
    integer :: class
    call MPI_Error_class(code, class)
    call equal(class, wanted_class, what)
  end subroutine is_class
end program sections
