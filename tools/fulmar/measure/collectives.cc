// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/measure/collectives.h"

#include <array>

namespace fulmar::measure {

namespace {

using Arguments = CollectiveArguments;

/// How a test's buffers and communicator are laid out.
enum class Shape {
  barrier,  ///< no data
  data,     ///< the same data of every rank
  doubles,  ///< the same, reduced
  blocks,   ///< a block for each rank
  double_blocks,
};
enum class Ends { together, with_barrier };

struct Form {
  Kind test;
  Shape shape;
  Ends ends;
  void (*call)(Arguments& a);
  void (*prepare)(Arguments& a) = nullptr;  ///< before the first call
};

/// A non-blocking call, which `start(MPI_Request*)` makes, and its end.
template <class Start>
void complete(Start&& start) {
  MPI_Request request = MPI_REQUEST_NULL;
  start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void start(Arguments& a) {
  MPI_Start(&a.request);
  MPI_Wait(&a.request, MPI_STATUS_IGNORE);
}

void make_ring(Arguments& a) {
  int size = 0;
  MPI_Comm_size(a.comm, &size);
  const int periodic = 1;
  MPI_Cart_create(a.comm, 1, &size, &periodic, 0, &a.comm);
}

/// Even and odd ranks; rank 0 of the even ones is the root.
void make_inter(Arguments& a) {
  int rank = 0;
  MPI_Comm_rank(a.comm, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(a.comm, rank % 2, rank, &half);
  constexpr int tag = 7003;
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Intercomm_create(half, 0, a.comm, 1 - rank % 2, tag, &inter);
  MPI_Comm_free(&half);
  a.comm = inter;
  a.root = rank == 0 ? MPI_ROOT : rank % 2 == 0 ? MPI_PROC_NULL : 0;
}

constexpr std::array<Form, 50> forms{{
    {Kind::barrier, Shape::barrier, Ends::together, [](Arguments& a) { MPI_Barrier(a.comm); }},
    {Kind::bcast, Shape::data, Ends::with_barrier,
     [](Arguments& a) { MPI_Bcast(a.receive, a.bytes, MPI_BYTE, a.root, a.comm); }},
    {Kind::reduce, Shape::doubles, Ends::with_barrier,
     [](Arguments& a) {
       MPI_Reduce(a.send, a.receive, a.doubles, MPI_DOUBLE, MPI_SUM, a.root, a.comm);
     }},
    {Kind::allreduce, Shape::doubles, Ends::together,
     [](Arguments& a) {
       MPI_Allreduce(a.send, a.receive, a.doubles, MPI_DOUBLE, MPI_SUM, a.comm);
     }},
    {Kind::allgather, Shape::blocks, Ends::together,
     [](Arguments& a) {
       MPI_Allgather(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.comm);
     }},
    {Kind::alltoall, Shape::blocks, Ends::together,
     [](Arguments& a) {
       MPI_Alltoall(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.comm);
     }},
    {Kind::gather, Shape::blocks, Ends::with_barrier,
     [](Arguments& a) {
       MPI_Gather(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.root, a.comm);
     }},
    {Kind::scatter, Shape::blocks, Ends::with_barrier,
     [](Arguments& a) {
       MPI_Scatter(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.root, a.comm);
     }},
    {Kind::reduce_scatter, Shape::double_blocks, Ends::together,
     [](Arguments& a) {
       MPI_Reduce_scatter_block(a.send, a.receive, a.doubles, MPI_DOUBLE, MPI_SUM, a.comm);
     }},
    {Kind::scan, Shape::doubles, Ends::with_barrier,
     [](Arguments& a) { MPI_Scan(a.send, a.receive, a.doubles, MPI_DOUBLE, MPI_SUM, a.comm); }},
    {Kind::exscan, Shape::doubles, Ends::with_barrier,
     [](Arguments& a) { MPI_Exscan(a.send, a.receive, a.doubles, MPI_DOUBLE, MPI_SUM, a.comm); }},
    {Kind::gatherv, Shape::blocks, Ends::with_barrier,
     [](Arguments& a) {
       MPI_Gatherv(a.send, a.bytes, MPI_BYTE, a.receive, a.counts.data(), a.displs.data(), MPI_BYTE,
                   a.root, a.comm);
     }},
    {Kind::scatterv, Shape::blocks, Ends::with_barrier,
     [](Arguments& a) {
       MPI_Scatterv(a.send, a.counts.data(), a.displs.data(), MPI_BYTE, a.receive, a.bytes,
                    MPI_BYTE, a.root, a.comm);
     }},
    {Kind::allgatherv, Shape::blocks, Ends::together,
     [](Arguments& a) {
       MPI_Allgatherv(a.send, a.bytes, MPI_BYTE, a.receive, a.counts.data(), a.displs.data(),
                      MPI_BYTE, a.comm);
     }},
    {Kind::alltoallv, Shape::blocks, Ends::together,
     [](Arguments& a) {
       MPI_Alltoallv(a.send, a.counts.data(), a.displs.data(), MPI_BYTE, a.receive, a.counts.data(),
                     a.displs.data(), MPI_BYTE, a.comm);
     }},
    {Kind::alltoallw, Shape::blocks, Ends::together,
     [](Arguments& a) {
       MPI_Alltoallw(a.send, a.counts.data(), a.displs.data(), a.types.data(), a.receive,
                     a.counts.data(), a.displs.data(), a.types.data(), a.comm);
     }},
    {Kind::reduce_scatterv, Shape::double_blocks, Ends::together,
     [](Arguments& a) {
       MPI_Reduce_scatter(a.send, a.receive, a.counts.data(), MPI_DOUBLE, MPI_SUM, a.comm);
     },
     [](Arguments& a) {
       for (int& count : a.counts) count = a.doubles;
     }},
    {Kind::ibarrier, Shape::barrier, Ends::together,
     [](Arguments& a) { complete([&](MPI_Request* request) { MPI_Ibarrier(a.comm, request); }); }},
    {Kind::ibcast, Shape::data, Ends::with_barrier,
     [](Arguments& a) {
       complete([&](MPI_Request* request) {
         MPI_Ibcast(a.receive, a.bytes, MPI_BYTE, a.root, a.comm, request);
       });
     }},
    {Kind::ireduce, Shape::doubles, Ends::with_barrier,
     [](Arguments& a) {
       complete([&](MPI_Request* request) {
         MPI_Ireduce(a.send, a.receive, a.doubles, MPI_DOUBLE, MPI_SUM, a.root, a.comm, request);
       });
     }},
    {Kind::iallreduce, Shape::doubles, Ends::together,
     [](Arguments& a) {
       complete([&](MPI_Request* request) {
         MPI_Iallreduce(a.send, a.receive, a.doubles, MPI_DOUBLE, MPI_SUM, a.comm, request);
       });
     }},
    {Kind::iallgather, Shape::blocks, Ends::together,
     [](Arguments& a) {
       complete([&](MPI_Request* request) {
         MPI_Iallgather(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.comm, request);
       });
     }},
    {Kind::ialltoall, Shape::blocks, Ends::together,
     [](Arguments& a) {
       complete([&](MPI_Request* request) {
         MPI_Ialltoall(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.comm, request);
       });
     }},
    {Kind::igather, Shape::blocks, Ends::with_barrier,
     [](Arguments& a) {
       complete([&](MPI_Request* request) {
         MPI_Igather(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.root, a.comm,
                     request);
       });
     }},
    {Kind::iscatter, Shape::blocks, Ends::with_barrier,
     [](Arguments& a) {
       complete([&](MPI_Request* request) {
         MPI_Iscatter(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.root, a.comm,
                      request);
       });
     }},
    {Kind::ireduce_scatter, Shape::double_blocks, Ends::together,
     [](Arguments& a) {
       complete([&](MPI_Request* request) {
         MPI_Ireduce_scatter_block(a.send, a.receive, a.doubles, MPI_DOUBLE, MPI_SUM, a.comm,
                                   request);
       });
     }},
    {Kind::iscan, Shape::doubles, Ends::with_barrier,
     [](Arguments& a) {
       complete([&](MPI_Request* request) {
         MPI_Iscan(a.send, a.receive, a.doubles, MPI_DOUBLE, MPI_SUM, a.comm, request);
       });
     }},
    {Kind::igatherv, Shape::blocks, Ends::with_barrier,
     [](Arguments& a) {
       complete([&](MPI_Request* request) {
         MPI_Igatherv(a.send, a.bytes, MPI_BYTE, a.receive, a.counts.data(), a.displs.data(),
                      MPI_BYTE, a.root, a.comm, request);
       });
     }},
    {Kind::iscatterv, Shape::blocks, Ends::with_barrier,
     [](Arguments& a) {
       complete([&](MPI_Request* request) {
         MPI_Iscatterv(a.send, a.counts.data(), a.displs.data(), MPI_BYTE, a.receive, a.bytes,
                       MPI_BYTE, a.root, a.comm, request);
       });
     }},
    {Kind::iallgatherv, Shape::blocks, Ends::together,
     [](Arguments& a) {
       complete([&](MPI_Request* request) {
         MPI_Iallgatherv(a.send, a.bytes, MPI_BYTE, a.receive, a.counts.data(), a.displs.data(),
                         MPI_BYTE, a.comm, request);
       });
     }},
    {Kind::ialltoallv, Shape::blocks, Ends::together,
     [](Arguments& a) {
       complete([&](MPI_Request* request) {
         MPI_Ialltoallv(a.send, a.counts.data(), a.displs.data(), MPI_BYTE, a.receive,
                        a.counts.data(), a.displs.data(), MPI_BYTE, a.comm, request);
       });
     }},
    {Kind::barrier_init, Shape::barrier, Ends::together, start,
     [](Arguments& a) { MPI_Barrier_init(a.comm, MPI_INFO_NULL, &a.request); }},
    {Kind::bcast_init, Shape::data, Ends::with_barrier, start,
     [](Arguments& a) {
       MPI_Bcast_init(a.receive, a.bytes, MPI_BYTE, a.root, a.comm, MPI_INFO_NULL, &a.request);
     }},
    {Kind::reduce_init, Shape::doubles, Ends::with_barrier, start,
     [](Arguments& a) {
       MPI_Reduce_init(a.send, a.receive, a.doubles, MPI_DOUBLE, MPI_SUM, a.root, a.comm,
                       MPI_INFO_NULL, &a.request);
     }},
    {Kind::allreduce_init, Shape::doubles, Ends::together, start,
     [](Arguments& a) {
       MPI_Allreduce_init(a.send, a.receive, a.doubles, MPI_DOUBLE, MPI_SUM, a.comm, MPI_INFO_NULL,
                          &a.request);
     }},
    {Kind::allgather_init, Shape::blocks, Ends::together, start,
     [](Arguments& a) {
       MPI_Allgather_init(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.comm,
                          MPI_INFO_NULL, &a.request);
     }},
    {Kind::alltoall_init, Shape::blocks, Ends::together, start,
     [](Arguments& a) {
       MPI_Alltoall_init(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.comm,
                         MPI_INFO_NULL, &a.request);
     }},
    {Kind::gather_init, Shape::blocks, Ends::with_barrier, start,
     [](Arguments& a) {
       MPI_Gather_init(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.root, a.comm,
                       MPI_INFO_NULL, &a.request);
     }},
    {Kind::scatter_init, Shape::blocks, Ends::with_barrier, start,
     [](Arguments& a) {
       MPI_Scatter_init(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.root, a.comm,
                        MPI_INFO_NULL, &a.request);
     }},
    {Kind::neighbor_allgather, Shape::blocks, Ends::with_barrier,
     [](Arguments& a) {
       MPI_Neighbor_allgather(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.comm);
     },
     make_ring},
    {Kind::neighbor_alltoall, Shape::blocks, Ends::with_barrier,
     [](Arguments& a) {
       MPI_Neighbor_alltoall(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.comm);
     },
     make_ring},
    {Kind::ineighbor_alltoall, Shape::blocks, Ends::with_barrier,
     [](Arguments& a) {
       complete([&](MPI_Request* request) {
         MPI_Ineighbor_alltoall(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.comm,
                                request);
       });
     },
     make_ring},
    {Kind::reduce_in_place, Shape::doubles, Ends::with_barrier,
     [](Arguments& a) {
       MPI_Reduce(a.send, a.receive, a.doubles, MPI_DOUBLE, MPI_SUM, a.root, a.comm);
     },
     [](Arguments& a) {
       int rank = 0;
       MPI_Comm_rank(a.comm, &rank);
       if (rank == a.root) a.send = MPI_IN_PLACE;
     }},
    {Kind::allreduce_in_place, Shape::doubles, Ends::together,
     [](Arguments& a) {
       MPI_Allreduce(MPI_IN_PLACE, a.receive, a.doubles, MPI_DOUBLE, MPI_SUM, a.comm);
     }},
    {Kind::allgather_in_place, Shape::blocks, Ends::together,
     [](Arguments& a) {
       MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a.receive, a.bytes, MPI_BYTE, a.comm);
     }},
    {Kind::alltoall_in_place, Shape::blocks, Ends::together,
     [](Arguments& a) {
       MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, a.receive, a.bytes, MPI_BYTE, a.comm);
     }},
    {Kind::inter_bcast, Shape::data, Ends::with_barrier,
     [](Arguments& a) { MPI_Bcast(a.receive, a.bytes, MPI_BYTE, a.root, a.comm); }, make_inter},
    {Kind::inter_allreduce, Shape::doubles, Ends::together,
     [](Arguments& a) { MPI_Allreduce(a.send, a.receive, a.doubles, MPI_DOUBLE, MPI_SUM, a.comm); },
     make_inter},
    {Kind::inter_allgather, Shape::blocks, Ends::together,
     [](Arguments& a) {
       MPI_Allgather(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.comm);
     },
     make_inter},
    {Kind::inter_alltoall, Shape::blocks, Ends::together,
     [](Arguments& a) {
       MPI_Alltoall(a.send, a.bytes, MPI_BYTE, a.receive, a.bytes, MPI_BYTE, a.comm);
     },
     make_inter},
}};
// The sums of repeated reductions in place overflow to infinity, which costs no processor time.

constexpr const Form& form_of(Kind test) {
  return forms[static_cast<std::size_t>(test) - static_cast<std::size_t>(Kind::barrier)];
}

constexpr bool are_in_order() {
  for (std::size_t i = 0; i < forms.size(); ++i) {
    if (static_cast<std::size_t>(forms[i].test) != static_cast<std::size_t>(Kind::barrier) + i) {
      return false;
    }
  }
  return true;
}
static_assert(are_in_order(), "forms are found by their place");

}  // namespace

CollectiveRun::CollectiveRun(Kind test, const Team& team, std::size_t bytes, const Buffers& buffers)
    : test_(test),
      team_(team.comm),
      arguments_{
          .send = buffers.send(),
          .receive = buffers.receive(),
          .bytes = static_cast<int>(bytes),
          .doubles = static_cast<int>(bytes / sizeof(double)),
          .comm = team.comm,
          .counts = std::vector<int>(static_cast<std::size_t>(team.size), static_cast<int>(bytes)),
          .displs = {},
          .types = std::vector<MPI_Datatype>(static_cast<std::size_t>(team.size), MPI_BYTE),
          .root = 0} {
  for (int rank = 0; rank < team.size; ++rank) {
    arguments_.displs.push_back(rank * static_cast<int>(bytes));
  }
  if (form_of(test).prepare != nullptr) form_of(test).prepare(arguments_);
}

CollectiveRun::~CollectiveRun() {
  if (arguments_.request != MPI_REQUEST_NULL) MPI_Request_free(&arguments_.request);
  if (arguments_.comm != team_) MPI_Comm_free(&arguments_.comm);
}

void CollectiveRun::calls(int count) {
  const Form& form = form_of(test_);
  for (int i = 0; i < count; ++i) {
    form.call(arguments_);
  }
  if (form.ends == Ends::with_barrier) {
    MPI_Barrier(team_);
  }
}

std::size_t blocks_of(Kind test, int ranks) {
  if (point_to_point(test)) return 1;
  const Shape shape = form_of(test).shape;
  return shape == Shape::blocks || shape == Shape::double_blocks
             ? static_cast<std::size_t>(ranks < 2 ? 2 : ranks)
             : 1;
}

bool is_of_doubles(Kind test) {
  if (point_to_point(test)) return false;
  const Shape shape = form_of(test).shape;
  return shape == Shape::doubles || shape == Shape::double_blocks;
}

bool is_barrier(Kind test) {
  return !point_to_point(test) && form_of(test).shape == Shape::barrier;
}

}  // namespace fulmar::measure
