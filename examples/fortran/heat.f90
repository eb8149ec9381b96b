! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! heat: how a metal plate warms up from its edges, drawn as a picture.
!
!     mpifort -O2 heat.f90 -o heat
!     mpiexec -n 4 ./heat [cells on a side] [steps] [picture.ppm]
!
! ../heat.c explains the method; this program draws the same picture, byte for byte. What differs is Fortran's
! order of memory: the first index runs fastest, so a row of the picture is now(:, row), and each rank owns a range
! of rows with one more on either side, the halo.
!
! Buffers of non-blocking calls are `asynchronous`: the compiler must not keep copies of what MPI changes
! between the start of a call and MPI_Waitall.
program heat
  use mpi_f08
  implicit none
  double precision, allocatable, asynchronous :: now(:, :), coming(:, :)
  integer :: rank, ranks, n, steps, done, first, rows, above, below
  double precision :: largest, begin
  character(200) :: picture

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  n = 400
  steps = 2000
  picture = 'heat.ppm'
  call read_arguments()
  if (n < ranks .or. n < 3) then
    if (rank == 0) print '(a, i0, a)', 'heat: give at least 3 cells, and one row to each of ', ranks, ' ranks'
    call MPI_Finalize()
    stop 2
  end if

  call make_plate()
  begin = MPI_Wtime()
  done = 0
  do while (done < steps)
    call step()
    done = done + 1
    if (modulo(done, 100) /= 0 .and. done /= steps) cycle
    call MPI_Allreduce(MPI_IN_PLACE, largest, 1, MPI_DOUBLE_PRECISION, MPI_MAX, MPI_COMM_WORLD)
    if (largest < 1d-4) exit
  end do
  if (rank == 0) then
    print '(a, i0, a, f0.6, a)', 'after ', done, ' steps the largest change is ', largest, ' degrees'
    print '(f0.3, a, i0, a)', MPI_Wtime() - begin, ' s on ', ranks, ' ranks'
  end if
  call draw()
  call MPI_Finalize()

contains

  subroutine read_arguments()
    character(20) :: argument
    if (command_argument_count() > 0) then
      call get_command_argument(1, argument)
      read(argument, *) n
    end if
    if (command_argument_count() > 1) then
      call get_command_argument(2, argument)
      read(argument, *) steps
    end if
    if (command_argument_count() > 2) call get_command_argument(3, picture)
  end subroutine read_arguments

  ! The first row of a rank's band, counted from 0.
  pure integer function first_row(of_rank)
    integer, intent(in) :: of_rank
    first_row = n * of_rank / ranks
  end function first_row

  subroutine make_plate()
    first = first_row(rank)
    rows = first_row(rank + 1) - first
    above = merge(rank - 1, MPI_PROC_NULL, rank > 0)
    below = merge(rank + 1, MPI_PROC_NULL, rank < ranks - 1)
    allocate(now(n, 0:rows + 1))
    now = 0
    now(1, 1:rows) = 75
    if (rank == 0) now(:, 1) = 100
    if (rank == ranks - 1) now(:, rows) = 0
    coming = now
  end subroutine make_plate

  subroutine relax(from, to)
    integer, intent(in) :: from, to
    integer :: i, row
    do row = from, to
      if (first + row == 1 .or. first + row == n) cycle  ! an edge that is kept
      do i = 2, n - 1
        coming(i, row) = 0.25d0 * (now(i, row - 1) + now(i, row + 1) + now(i - 1, row) + now(i + 1, row))
        largest = max(largest, abs(coming(i, row) - now(i, row)))
      end do
    end do
  end subroutine relax

  subroutine step()
    type(MPI_Request) :: requests(4)
    double precision, allocatable, asynchronous :: swap(:, :)
    largest = 0
    ! The tag says in which direction a row travels: 0 up, 1 down.
    call MPI_Irecv(now(:, 0), n, MPI_DOUBLE_PRECISION, above, 1, MPI_COMM_WORLD, requests(1))
    call MPI_Irecv(now(:, rows + 1), n, MPI_DOUBLE_PRECISION, below, 0, MPI_COMM_WORLD, requests(2))
    call MPI_Isend(now(:, 1), n, MPI_DOUBLE_PRECISION, above, 0, MPI_COMM_WORLD, requests(3))
    call MPI_Isend(now(:, rows), n, MPI_DOUBLE_PRECISION, below, 1, MPI_COMM_WORLD, requests(4))
    call relax(2, rows - 1)
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE)
    call relax(1, 1)
    if (rows > 1) call relax(rows, rows)
    call move_alloc(now, swap)
    call move_alloc(coming, now)
    call move_alloc(swap, coming)
  end subroutine step

  ! Brings all bands to rank 0, which draws them.
  subroutine draw()
    double precision, allocatable :: all(:, :)
    integer :: counts(0:ranks - 1), places(0:ranks - 1), i, row, file
    do i = 0, ranks - 1
      places(i) = n * first_row(i)
      counts(i) = n * first_row(i + 1) - places(i)
    end do
    allocate(all(n, merge(n, 0, rank == 0)))
    call MPI_Gatherv(now(:, 1:rows), n * rows, MPI_DOUBLE_PRECISION, all, counts, places, MPI_DOUBLE_PRECISION, 0, &
                     MPI_COMM_WORLD)
    if (rank /= 0) return
    open(newunit=file, file=picture, access='stream', form='unformatted', status='replace')
    write(file) 'P6' // new_line('a') // text(n) // ' ' // text(n) // new_line('a') // '255' // new_line('a')
    do row = 1, n
      do i = 1, n
        write(file) color(all(i, row) / 100)
      end do
    end do
    close(file)
    print '(a, a)', trim(picture), ' shows the plate'
  end subroutine draw

  pure function text(number) result(digits)
    integer, intent(in) :: number
    character(:), allocatable :: digits
    character(20) :: buffer
    write(buffer, '(i0)') number
    digits = trim(buffer)
  end function text

  ! Blue is cold, red is warm, yellow is hot.
  pure function color(t) result(bytes)
    double precision, intent(in) :: t
    character(3) :: bytes
    bytes = char(int(255 * min(1d0, 2 * t))) // char(int(255 * max(0d0, 2 * t - 1))) // &
            char(int(255 * max(0d0, 1 - 2 * t)))
  end function color
end program heat
