! SPDX-License-Identifier: BSD-3-Clause
! Copyright (c) 2026 the Fulmar authors
!
! ranks: 1 2 4
! Chapters 7 and 8 in three bindings: groups, LOGICALs alone and in arrays, MPI_UNWEIGHTED.
#include "binding.inc"
program topology
  use checks
  USE_MPI
  implicit none
#include "mpif.inc"
  integer :: ierror, rank, ranks, dims(2), coords(2), got(2), source, dest, found, ranges(3, 1), i, indegree, outdegree
  integer :: neighbours(4), weights(4), numbers(4), sources(1), dests(1), from(1), in(2)
  integer :: wide_dims(6), wide_coords(6)
  logical :: wide_periods(6)
  logical :: periods(2), got_periods(2), remain(2), flag
  HANDLE(MPI_Comm) :: cart, line, graph
  HANDLE(MPI_Group) :: group, some

  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)

  dims = 0
  call MPI_Dims_create(ranks, 2, dims, ierror)
  call equal(dims(1) * dims(2), ranks, 'MPI_Dims_create')
  periods = [.true., .false.]
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, periods, .false., cart, ierror)
  call MPI_Cart_get(cart, 2, got, got_periods, coords, ierror)
  call equal(got, dims, 'dims of MPI_Cart_get')
  call check(all(got_periods .eqv. periods), 'periods of MPI_Cart_get')
  wide_periods = [.true., .false., .true., .false., .true., .true.]
  call MPI_Cart_get(cart, 6, wide_dims, wide_periods, wide_coords, ierror)
  call check(all(wide_periods .eqv. [periods, .true., .false., .true., .true.]), 'periods behind those of MPI_Cart_get')
  call MPI_Cart_rank(cart, coords, found, ierror)
  call equal(found, rank, 'MPI_Cart_rank')
  call MPI_Cart_shift(cart, 1, dims(2), source, dest, ierror)
  call equal([source, dest], [MPI_PROC_NULL, MPI_PROC_NULL], 'MPI_Cart_shift beyond the end')
  remain = [.false., .true.]
  call MPI_Cart_sub(cart, remain, line, ierror)
  call MPI_Comm_size(line, found, ierror)
  call equal(found, dims(2), 'MPI_Cart_sub')
  call MPI_Topo_test(line, found, ierror)
  call equal(found, MPI_CART, 'MPI_Topo_test')
  call MPI_Comm_test_inter(line, flag, ierror)
  call check(.not. flag, 'MPI_Comm_test_inter')
  call MPI_Comm_free(line, ierror)
  call MPI_Comm_free(cart, ierror)

  ! A ring without weights; the datatypes of its neighbours are converted for their number.
  sources = modulo(rank - 1, ranks)
  dests = modulo(rank + 1, ranks)
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, MPI_UNWEIGHTED, 1, dests, MPI_UNWEIGHTED, &
                                      MPI_INFO_NULL, .false., graph, ierror)
  call MPI_Dist_graph_neighbors_count(graph, indegree, outdegree, flag, ierror)
  call equal([indegree, outdegree], [1, 1], 'MPI_Dist_graph_neighbors_count')
  call check(.not. flag, 'MPI_UNWEIGHTED')
  call MPI_Dist_graph_neighbors(graph, 1, neighbours, MPI_UNWEIGHTED, 1, numbers, MPI_UNWEIGHTED, ierror)
  call equal([neighbours(1), numbers(1)], [sources(1), dests(1)], 'MPI_Dist_graph_neighbors')
  call exchange()
  call MPI_Comm_free(graph, ierror)
  call graphs()
  weights = 3
  call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, sources, weights, 1, dests, weights, MPI_INFO_NULL, .false., &
                                      graph, ierror)
  call MPI_Dist_graph_neighbors_count(graph, indegree, outdegree, flag, ierror)
  call check(flag, 'weights')
  call MPI_Comm_free(graph, ierror)

  call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., cart, ierror)
  call exchange_both_ways()
  call MPI_Comm_free(cart, ierror)

  call MPI_Comm_group(MPI_COMM_WORLD, group, ierror)
  ranges(:, 1) = [ranks - 1, 0, -1]
  call MPI_Group_range_incl(group, 1, ranges, some, ierror)
  call MPI_Group_rank(some, found, ierror)
  call equal(found, ranks - 1 - rank, 'MPI_Group_range_incl')
  call MPI_Group_translate_ranks(group, ranks, [(i, i = 0, ranks - 1)], some, numbers, ierror)
  call equal(numbers(1:ranks), [(ranks - 1 - i, i = 0, ranks - 1)], 'MPI_Group_translate_ranks')
  call MPI_Group_compare(group, some, found, ierror)
  call equal(found, merge(MPI_IDENT, MPI_SIMILAR, ranks == 1), 'MPI_Group_compare')
  call MPI_Group_free(group, ierror)
  call MPI_Group_free(some, ierror)
  call check(group == MPI_GROUP_NULL, 'MPI_Group_free')

  call MPI_Finalize(ierror)
  call finish()
contains
  !> A ring, as each rank knows its own edge, and as all ranks know all edges.
  subroutine graphs()
    integer :: index(ranks), edges(2 * ranks), nodes, links, count(1)
    integer(kind=MPI_ADDRESS_KIND) :: displs(1)
    HANDLE(MPI_Datatype) :: types(1)
    HANDLE(MPI_Request) :: request
    count = 1
    call MPI_Dist_graph_create(MPI_COMM_WORLD, 1, [rank], count, dests, MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierror)
    call MPI_Topo_test(graph, found, ierror)
    call equal(found, MPI_DIST_GRAPH, 'MPI_Dist_graph_create')
    displs = 0
    types = MPI_INTEGER
    from = 5 * rank
    in = -1
    call MPI_Ineighbor_alltoallw(from, count, displs, types, in, count, displs, types, graph, request, ierror)
    call MPI_Wait(request, MPI_STATUS_IGNORE, ierror)
    call equal(in, [5 * sources(1), -1], 'MPI_Ineighbor_alltoallw')
    call MPI_Comm_free(graph, ierror)

    index = [(2 * i, i = 1, ranks)]
    edges = [(modulo(i - 1, ranks), modulo(i + 1, ranks), i = 0, ranks - 1)]
    call MPI_Graph_create(MPI_COMM_WORLD, ranks, index, edges, .false., graph, ierror)
    call MPI_Graphdims_get(graph, nodes, links, ierror)
    call equal([nodes, links], [ranks, 2 * ranks], 'MPI_Graphdims_get')
    index = 0
    edges = -1
    call MPI_Graph_get(graph, ranks, 2 * ranks, index, edges, ierror)
    call equal(index(ranks), 2 * ranks, 'index of MPI_Graph_get')
    call equal(edges(1:2), [modulo(-1, ranks), modulo(1, ranks)], 'edges of MPI_Graph_get')
    call MPI_Graph_neighbors_count(graph, rank, nodes, ierror)
    call MPI_Graph_neighbors(graph, rank, nodes, neighbours, ierror)
    call equal(neighbours(1:nodes), [sources(1), dests(1)], 'MPI_Graph_neighbors')
    call MPI_Comm_free(graph, ierror)
  end subroutine graphs

  subroutine exchange_both_ways()
    ! Two neighbours of a Cartesian communicator, with datatypes of their own.
    integer :: counts(2), out(2), both(2)
    integer(kind=MPI_ADDRESS_KIND) :: displs(2)
    HANDLE(MPI_Datatype) :: types(2)
    counts = 1
    displs = [0, 4]
    types = MPI_INTEGER
    out = [10 * rank, 10 * rank + 1]
    both = -1
    call MPI_Neighbor_alltoallw(out, counts, displs, types, both, counts, displs, types, cart, ierror)
    call equal(both, [10 * modulo(rank - 1, ranks) + 1, 10 * modulo(rank + 1, ranks)], 'MPI_Neighbor_alltoallw, Cartesian')
  end subroutine exchange_both_ways

  subroutine exchange()
    integer :: counts(1)
    integer(kind=MPI_ADDRESS_KIND) :: displs(1)
    HANDLE(MPI_Datatype) :: types(1)
    counts = 2
    displs = 0
    types = MPI_INTEGER
    from = rank
    in = -1
    counts = 1
    call MPI_Neighbor_alltoallw(from, counts, displs, types, in, counts, displs, types, graph, ierror)
    call equal(in, [sources(1), -1], 'MPI_Neighbor_alltoallw')
  end subroutine exchange
end program topology
