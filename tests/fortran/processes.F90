! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2
! Chapter 11 in three bindings: threads, sessions, processes that are started, ports and names that are published.
#include "binding.inc"
program processes
  use checks
  USE_MPI
  implicit none
#include "mpif.inc"
  integer :: rank, ranks, ierror, level, total
  logical :: flag
  HANDLE(MPI_Comm) :: parent

  call MPI_Init_thread(MPI_THREAD_MULTIPLE, level, ierror)
  call equal(level, MPI_THREAD_MULTIPLE, 'MPI_Init_thread')
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  call MPI_Comm_get_parent(parent, ierror)
  if (parent /= MPI_COMM_NULL) then
    call child()
  else
    call environment()
    call session_of_the_world()
    call start_children()
    call meet_at_a_port()
  end if
  call MPI_Finalize(ierror)
  call MPI_Finalized(flag, ierror)
  call check(flag, 'MPI_Finalized')
  call finish()
contains
  subroutine environment()
    integer :: length, keys, class, code
    character(len=MPI_MAX_PROCESSOR_NAME) :: name
    character(len=MPI_MAX_ERROR_STRING) :: message
    HANDLE(MPI_Info) :: info
    call MPI_Query_thread(level, ierror)
    call equal(level, MPI_THREAD_MULTIPLE, 'MPI_Query_thread')
    call MPI_Is_thread_main(flag, ierror)
    call check(flag, 'MPI_Is_thread_main')
    call MPI_Initialized(flag, ierror)
    call check(flag, 'MPI_Initialized')
    call MPI_Get_processor_name(name, length, ierror)
    call equal(len_trim(name), length, 'MPI_Get_processor_name')
    call MPI_Info_create_env(info, ierror)
    call MPI_Info_get_nkeys(info, keys, ierror)
    call equal(ierror, MPI_SUCCESS, 'MPI_Info_create_env')
    call MPI_Info_free(info, ierror)
    call MPI_Add_error_class(class, ierror)
    call MPI_Add_error_code(class, code, ierror)
    call MPI_Add_error_string(code, 'made in Fortran   ', ierror)
    call MPI_Error_string(code, message, length, ierror)
    call equal(trim(message), 'made in Fortran', 'MPI_Add_error_string')
    call equal(length, 15, 'length of MPI_Error_string')
  end subroutine environment

  subroutine session_of_the_world()
    integer :: sets, length, i
    logical :: found
    character(len=MPI_MAX_PSET_NAME_LEN) :: name
    character(len=8) :: number
    HANDLE(MPI_Session) :: session
    HANDLE(MPI_Group) :: group
    HANDLE(MPI_Comm) :: comm
    HANDLE(MPI_Info) :: info
    call MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, session, ierror)
    call equal(ierror, MPI_SUCCESS, 'MPI_Session_init')
    call MPI_Session_get_num_psets(session, MPI_INFO_NULL, sets, ierror)
    found = .false.
    do i = 0, sets - 1
      length = 0
      call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name, ierror)
      call check(length > 0 .and. length <= len(name), 'length of MPI_Session_get_nth_pset')
      length = len(name)
      call MPI_Session_get_nth_pset(session, MPI_INFO_NULL, i, length, name, ierror)
      found = found .or. name == 'mpi://WORLD'
    end do
    call check(found, 'mpi://WORLD of MPI_Session_get_nth_pset')
    call MPI_Session_get_pset_info(session, 'mpi://WORLD  ', info, ierror)
    length = len(number)
    call MPI_Info_get_string(info, 'mpi_size', length, number, found, ierror)
    call check(found, 'mpi_size of MPI_Session_get_pset_info')
    read (number, *) i
    call equal(i, ranks, 'mpi_size')
    call MPI_Info_free(info, ierror)
    call MPI_Group_from_session_pset(session, 'mpi://WORLD  ', group, ierror)
    call MPI_Comm_create_from_group(group, 'fulmar.tests.fortran ', MPI_INFO_NULL, MPI_ERRORS_RETURN, comm, ierror)
    call MPI_Allreduce(rank, total, 1, MPI_INTEGER, MPI_SUM, comm, ierror)
    call equal(total, ranks * (ranks - 1) / 2, 'MPI_Comm_create_from_group')
    call MPI_Group_free(group, ierror)
    call MPI_Comm_free(comm, ierror)
    call MPI_Session_finalize(session, ierror)
    call equal(ierror, MPI_SUCCESS, 'MPI_Session_finalize')
  end subroutine session_of_the_world

  !> Two children from one command, and two from two.
  subroutine start_children()
    integer :: codes(2), sizes(2), number
    character(len=1000) :: program_name, commands(2)
    character(len=8) :: arguments(3), many(2, 3)
    HANDLE(MPI_Comm) :: children
    HANDLE(MPI_Info) :: infos(2)
    call get_command_argument(0, program_name)
    arguments = ['  first ', 'second 2', '        ']  ! blanks at either end do not count
    program_name = '  '//program_name
    codes = -1
    call MPI_Comm_spawn(program_name, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, children, codes, ierror)
    call equal(codes, [MPI_SUCCESS, MPI_SUCCESS], 'codes of MPI_Comm_spawn')
    call MPI_Comm_remote_size(children, number, ierror)
    call equal(number, 2, 'MPI_Comm_spawn')
    call talk(children, .false.)
    commands = program_name
    many(:, 1) = ' first'
    many(:, 2) = 'second 2'
    many(:, 3) = ' '
    sizes = 1
    infos = MPI_INFO_NULL
    call MPI_Comm_spawn_multiple(2, commands, many, sizes, infos, 0, MPI_COMM_WORLD, children, MPI_ERRCODES_IGNORE, ierror)
    call equal(ierror, MPI_SUCCESS, 'MPI_Comm_spawn_multiple')
    call talk(children, .false.)
  end subroutine start_children

  subroutine child()
    integer :: i
    character(len=20) :: word
    character(len=8) :: wanted(2)
    wanted = ['first   ', 'second 2']
    call equal(command_argument_count(), 2, 'number of arguments')
    do i = 1, 2
      call get_command_argument(i, word)
      call equal(trim(word), trim(wanted(i)), 'an argument')
    end do
    call talk(parent, .true.)
  end subroutine child

  !> Parents give 1, children 100; then the two part.
  subroutine talk(between, high)
    HANDLE(MPI_Comm) :: between
    logical :: high
    integer :: mine, number
    HANDLE(MPI_Comm) :: all
    call MPI_Comm_test_inter(between, flag, ierror)
    call check(flag, 'MPI_Comm_test_inter')
    call MPI_Intercomm_merge(between, high, all, ierror)
    mine = merge(100, 1, high)
    call MPI_Allreduce(mine, total, 1, MPI_INTEGER, MPI_SUM, all, ierror)
    call MPI_Comm_size(all, number, ierror)
    call equal(total, 200 + number - 2, 'parents and children')
    call MPI_Comm_disconnect(all, ierror)
    call MPI_Comm_disconnect(between, ierror)
    call check(between == MPI_COMM_NULL, 'MPI_Comm_disconnect')
  end subroutine talk

  !> Rank 0 opens a port and publishes it, the last rank looks it up.
  subroutine meet_at_a_port()
    integer :: got
    character(len=MPI_MAX_PORT_NAME) :: port
    HANDLE(MPI_Comm) :: other
    if (ranks == 1) return
    if (rank == 0) then
      call MPI_Open_port(MPI_INFO_NULL, port, ierror)
      call check(len_trim(port) > 0, 'MPI_Open_port')
      call MPI_Publish_name('  fortran port  ', MPI_INFO_NULL, port, ierror)
      call equal(ierror, MPI_SUCCESS, 'MPI_Publish_name')
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (rank == 0) call MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, other, ierror)
    if (rank == ranks - 1) then
      call MPI_Lookup_name('  fortran port', MPI_INFO_NULL, port, ierror)
      call MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, other, ierror)
    end if
    if (rank == 0 .or. rank == ranks - 1) then
      call MPI_Sendrecv(rank, 1, MPI_INTEGER, 0, 1, got, 1, MPI_INTEGER, 0, 1, other, MPI_STATUS_IGNORE, ierror)
      call equal(got, ranks - 1 - rank, 'through a port')
      call MPI_Comm_disconnect(other, ierror)
    end if
    if (rank == 0) then
      call MPI_Unpublish_name('  fortran port', MPI_INFO_NULL, port, ierror)
      call MPI_Close_port(port, ierror)
      call equal(ierror, MPI_SUCCESS, 'MPI_Close_port')
    end if
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
  end subroutine meet_at_a_port
end program processes
