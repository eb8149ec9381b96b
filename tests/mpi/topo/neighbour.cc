// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Neighbourhood collectives on random grids, graphs and distributed graphs, in all forms, against
// a model that knows all edges: every block comes from the edge that it should, and nothing else is
// touched. Grids with one or two places in a periodic dimension and edges that come twice are among
// them.
// ranks: 1 2 3 4 6

#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::mark;
using test::rank_of;
using test::size_of;
using Ints = std::vector<int>;
using Words = std::vector<std::uint32_t>;

constexpr std::uint32_t untouched = 0xa5a5a5a5;

enum class Op { allgather, allgatherv, alltoall, alltoallv, alltoallw };
enum class Form { blocking, nonblocking, persistent };

/// The neighbours of all ranks, in the order of their blocks.
struct Model {
  bool is_grid = false;
  std::vector<Ints> sources;
  std::vector<Ints> dests;

  explicit Model(int size) : sources(at(size)), dests(at(size)) {}
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  /// Which block of its source comes to a place of a rank.
  [[nodiscard]] int sent_from(int rank, int place) const {
    if (is_grid) return place ^ 1;
    const Ints& mine = sources[at(rank)];
    const int source = mine[at(place)];
    auto nth = std::count(mine.begin(), mine.begin() + place, source);
    const Ints& theirs = dests[at(source)];
    for (std::size_t i = 0; i < theirs.size(); ++i) {
      if (theirs[i] == rank && nth-- == 0) return static_cast<int>(i);
    }
    return -1;
  }
};

MPI_Datatype make_gap_type() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_UINT32_T, 0, 8, &type);
  MPI_Type_commit(&type);
  return type;
}

/// Everything of one call in one process. Words lie in the buffers `step` apart.
class Call {
 public:
  Call(const Model& model, Op op, int rank, int salt, MPI_Datatype gap_type)
      : model_(model), op_(op), rank_(rank), salt_(salt), gap_type_(gap_type) {
    fill_round(0);
    expected_ = receive_ = Words(room(receive_displs_, receive_counts_) + 1, untouched);
    expect_round(0);
  }

  int run(MPI_Comm comm) {
    switch (op_) {
      case Op::allgather:
        return MPI_Neighbor_allgather(send_.data(), send_counts_[0], send_type(), receive_.data(),
                                      receive_counts_[0], receive_type(), comm);
      case Op::allgatherv:
        return MPI_Neighbor_allgatherv(send_.data(), send_counts_[0], send_type(), receive_.data(),
                                       receive_counts_.data(), receive_displs_.data(),
                                       receive_type(), comm);
      case Op::alltoall:
        return MPI_Neighbor_alltoall(send_.data(), send_counts_[0], send_type(), receive_.data(),
                                     receive_counts_[0], receive_type(), comm);
      case Op::alltoallv:
        return MPI_Neighbor_alltoallv(send_.data(), send_counts_.data(), send_displs_.data(),
                                      send_type(), receive_.data(), receive_counts_.data(),
                                      receive_displs_.data(), receive_type(), comm);
      default:
        return MPI_Neighbor_alltoallw(send_.data(), send_counts_.data(), send_bytes_.data(),
                                      send_types_.data(), receive_.data(), receive_counts_.data(),
                                      receive_bytes_.data(), receive_types_.data(), comm);
    }
  }
  int start(MPI_Comm comm, MPI_Request* request) {
    switch (op_) {
      case Op::allgather:
        return MPI_Ineighbor_allgather(send_.data(), send_counts_[0], send_type(), receive_.data(),
                                       receive_counts_[0], receive_type(), comm, request);
      case Op::allgatherv:
        return MPI_Ineighbor_allgatherv(send_.data(), send_counts_[0], send_type(), receive_.data(),
                                        receive_counts_.data(), receive_displs_.data(),
                                        receive_type(), comm, request);
      case Op::alltoall:
        return MPI_Ineighbor_alltoall(send_.data(), send_counts_[0], send_type(), receive_.data(),
                                      receive_counts_[0], receive_type(), comm, request);
      case Op::alltoallv:
        return MPI_Ineighbor_alltoallv(send_.data(), send_counts_.data(), send_displs_.data(),
                                       send_type(), receive_.data(), receive_counts_.data(),
                                       receive_displs_.data(), receive_type(), comm, request);
      default:
        return MPI_Ineighbor_alltoallw(send_.data(), send_counts_.data(), send_bytes_.data(),
                                       send_types_.data(), receive_.data(), receive_counts_.data(),
                                       receive_bytes_.data(), receive_types_.data(), comm, request);
    }
  }
  int keep(MPI_Comm comm, MPI_Request* request) {
    const MPI_Info none = MPI_INFO_NULL;
    switch (op_) {
      case Op::allgather:
        return MPI_Neighbor_allgather_init(send_.data(), send_counts_[0], send_type(),
                                           receive_.data(), receive_counts_[0], receive_type(),
                                           comm, none, request);
      case Op::allgatherv:
        return MPI_Neighbor_allgatherv_init(
            send_.data(), send_counts_[0], send_type(), receive_.data(), receive_counts_.data(),
            receive_displs_.data(), receive_type(), comm, none, request);
      case Op::alltoall:
        return MPI_Neighbor_alltoall_init(send_.data(), send_counts_[0], send_type(),
                                          receive_.data(), receive_counts_[0], receive_type(), comm,
                                          none, request);
      case Op::alltoallv:
        return MPI_Neighbor_alltoallv_init(
            send_.data(), send_counts_.data(), send_displs_.data(), send_type(), receive_.data(),
            receive_counts_.data(), receive_displs_.data(), receive_type(), comm, none, request);
      default:
        return MPI_Neighbor_alltoallw_init(send_.data(), send_counts_.data(), send_bytes_.data(),
                                           send_types_.data(), receive_.data(),
                                           receive_counts_.data(), receive_bytes_.data(),
                                           receive_types_.data(), comm, none, request);
    }
  }

  void check(const char* what) const { expect(receive_ == expected_, what); }

  /// Other data for the next start of a persistent call, in the same memory.
  void next_round(int round) {
    for (std::size_t place = 0; place < send_counts_.size(); ++place) fill(place, round);
    std::fill(receive_.begin(), receive_.end(), untouched);
    std::fill(expected_.begin(), expected_.end(), untouched);
    expect_round(round);
  }

 private:
  [[nodiscard]] bool to_all() const { return op_ == Op::allgather || op_ == Op::allgatherv; }
  /// How many elements a block has that a rank sends from a place.
  [[nodiscard]] int count_of(int source, int place) const {
    if (op_ == Op::allgather || op_ == Op::alltoall) return salt_ % 4;
    if (op_ == Op::allgatherv) return (source * 3 + salt_) % 4;
    return (source * 3 + place + salt_) % 5;
  }
  [[nodiscard]] bool gap(std::size_t place, bool sends) const {
    const int of_place = op_ == Op::alltoallw ? static_cast<int>(place) : 0;
    return (salt_ + rank_ + of_place + (sends ? 1 : 0)) % 2 == 1;
  }
  [[nodiscard]] MPI_Datatype type_at(std::size_t place, bool sends) const {
    return gap(place, sends) ? gap_type_ : MPI_UINT32_T;
  }
  [[nodiscard]] MPI_Datatype send_type() const { return type_at(0, true); }
  [[nodiscard]] MPI_Datatype receive_type() const { return type_at(0, false); }
  static std::size_t room(const Ints& displs, const Ints& counts) {
    std::size_t most = 0;
    for (std::size_t i = 0; i < displs.size(); ++i) {
      most = std::max(most, static_cast<std::size_t>(2 * (displs[i] + counts[i])));
    }
    return most;
  }

  void fill_round(int round) {
    const Ints& dests = model_.dests[Model::at(rank_)];
    const Ints& sources = model_.sources[Model::at(rank_)];
    const std::size_t blocks = to_all() ? 1 : dests.size();
    int next = 0;
    for (std::size_t i = 0; i < std::max<std::size_t>(blocks, 1); ++i) {
      place_block(send_counts_, send_displs_, count_of(rank_, static_cast<int>(i)), next);
    }
    next = 0;
    for (std::size_t i = 0; i < std::max<std::size_t>(sources.size(), 1); ++i) {
      const bool real = i < sources.size() && sources[i] != MPI_PROC_NULL;
      const int from = real ? sources[i] : rank_;
      const int block = real ? model_.sent_from(rank_, static_cast<int>(i)) : 0;
      place_block(receive_counts_, receive_displs_, count_of(from, block), next);
    }
    for (std::size_t i = 0; i < send_displs_.size(); ++i) {
      send_bytes_.push_back(send_displs_[i] * 8);
      send_types_.push_back(type_at(i, true));
    }
    for (std::size_t i = 0; i < receive_displs_.size(); ++i) {
      receive_bytes_.push_back(receive_displs_[i] * 8);
      receive_types_.push_back(type_at(i, false));
    }
    send_.resize(room(send_displs_, send_counts_) + 1, 0);
    for (std::size_t place = 0; place < send_counts_.size(); ++place) fill(place, round);
  }
  /// One after the other; with counts of their own there are gaps between them.
  void place_block(Ints& counts, Ints& displs, int count, int& next) const {
    counts.push_back(count);
    displs.push_back(next);
    next += count + (op_ == Op::allgather || op_ == Op::alltoall ? 0 : 1);
  }
  /// Where an element lies, in words.
  [[nodiscard]] std::size_t word(int displ, int element, std::size_t place, bool sends) const {
    const int step = gap(place, sends) ? 2 : 1;
    const int start = op_ == Op::alltoallw ? 2 * displ : step * displ;
    return static_cast<std::size_t>(start + step * element);
  }
  void fill(std::size_t place, int round) {
    for (int k = 0; k < send_counts_[place]; ++k) {
      send_[word(send_displs_[place], k, place, true)] =
          mark(rank_ * 100 + static_cast<int>(place), k, salt_ + 1000 * round);
    }
  }
  void expect_round(int round) {
    const Ints& sources = model_.sources[Model::at(rank_)];
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (sources[i] == MPI_PROC_NULL) continue;
      const int block = to_all() ? 0 : model_.sent_from(rank_, static_cast<int>(i));
      for (int k = 0; k < receive_counts_[i]; ++k) {
        expected_[word(receive_displs_[i], k, i, false)] =
            mark(sources[i] * 100 + block, k, salt_ + 1000 * round);
      }
    }
  }

  const Model& model_;
  Op op_;
  int rank_;
  int salt_;
  MPI_Datatype gap_type_;
  Ints send_counts_;
  Ints send_displs_;
  Ints receive_counts_;
  Ints receive_displs_;
  std::vector<MPI_Aint> send_bytes_;
  std::vector<MPI_Aint> receive_bytes_;
  std::vector<MPI_Datatype> send_types_;
  std::vector<MPI_Datatype> receive_types_;
  Words send_;
  Words receive_;
  Words expected_;
};

constexpr Op all_ops[] = {Op::allgather, Op::allgatherv, Op::alltoall, Op::alltoallv,
                          Op::alltoallw};

/// `seed` is the same in all members.
void check_forms(MPI_Comm comm, const Model& model, int seed, const char* what) {
  const int rank = rank_of(comm);
  std::mt19937 random(static_cast<unsigned>(seed));
  const auto salt = [&] { return static_cast<int>(random() % 1000); };
  MPI_Datatype gap_type = make_gap_type();
  for (const Op op : all_ops) {
    Call blocking(model, op, rank, salt(), gap_type);
    blocking.run(comm);
    blocking.check(what);
  }
  // All at once, and completed in another order.
  std::vector<Call> calls;
  std::vector<MPI_Request> requests(std::size(all_ops) + 1, MPI_REQUEST_NULL);
  for (const Op op : all_ops) calls.emplace_back(model, op, rank, salt(), gap_type);
  Call kept(model, all_ops[salt() % 5], rank, salt(), gap_type);
  kept.keep(comm, &requests.back());
  for (int round = 1; round < 4; ++round) {
    kept.next_round(round);
    MPI_Start(&requests.back());
    for (std::size_t i = 0; i < calls.size(); ++i) {
      calls[i].next_round(round);
      calls[i].start(comm, &requests[i]);
    }
    for (std::size_t i = calls.size(); i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    MPI_Wait(&requests.back(), MPI_STATUS_IGNORE);
    for (const Call& call : calls) call.check(what);
    kept.check(what);
  }
  MPI_Request_free(&requests.back());
  MPI_Type_free(&gap_type);
}

void check_grid(test::Shared& random) {
  const int size = size_of(MPI_COMM_WORLD);
  const int ndims = random.below(4);
  const int seed = random.below(100000);
  Ints dims(static_cast<std::size_t>(ndims));
  Ints periods;
  for (int i = 0; i < ndims; ++i) periods.push_back(random.below(2));
  if (ndims > 0) MPI_Dims_create(size, ndims, dims.data());
  if (ndims > 1 && random.coin()) std::swap(dims[0], dims[1]);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, ndims, dims.data(), periods.data(), 0, &comm);
  if (comm == MPI_COMM_NULL) return;
  Model model(size_of(comm));
  model.is_grid = true;
  for (int rank = 0; rank < size_of(comm); ++rank) {
    Ints& mine = model.sources[Model::at(rank)];
    Ints coords(dims.size());
    if (ndims > 0) MPI_Cart_coords(comm, rank, ndims, coords.data());
    for (std::size_t i = 0; i < dims.size(); ++i) {
      for (const int step : {-1, 1}) {
        Ints to = coords;
        to[i] += step;
        int other = MPI_PROC_NULL;
        const bool inside = to[i] >= 0 && to[i] < dims[i];
        if (inside || periods[i] != 0) MPI_Cart_rank(comm, to.data(), &other);
        mine.push_back(other);
      }
    }
    model.dests[Model::at(rank)] = mine;
  }
  check_forms(comm, model, seed, "on a grid");
  MPI_Comm_free(&comm);
}

/// Both directions of every edge, some several times, and loops.
void check_graph(test::Shared& random) {
  const int size = size_of(MPI_COMM_WORLD);
  Model model(size);
  for (int edges = random.below(3 * size); edges > 0; --edges) {
    const int a = random.below(size);
    const int b = random.below(size);
    model.dests[Model::at(a)].push_back(b);
    if (a != b) model.dests[Model::at(b)].push_back(a);
  }
  model.sources = model.dests;
  Ints index;
  Ints edges;
  for (const Ints& mine : model.dests) {
    edges.insert(edges.end(), mine.begin(), mine.end());
    index.push_back(static_cast<int>(edges.size()));
  }
  edges.reserve(1);
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Graph_create(MPI_COMM_WORLD, size, index.data(), edges.data(), 0, &comm);
  check_forms(comm, model, random.below(100000), "on a graph");
  MPI_Comm_free(&comm);
}

void check_dist_graph(test::Shared& random) {
  const int size = size_of(MPI_COMM_WORLD);
  Model model(size);
  for (int edges = random.below(4 * size); edges > 0; --edges) {
    const int from = random.below(size);
    const int to = random.below(size);
    model.dests[Model::at(from)].push_back(to);
    Ints& sources = model.sources[Model::at(to)];
    sources.insert(sources.begin() + random.below(static_cast<int>(sources.size()) + 1), from);
  }
  const Ints& sources = model.sources[Model::at(rank_of(MPI_COMM_WORLD))];
  const Ints& dests = model.dests[Model::at(rank_of(MPI_COMM_WORLD))];
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(sources.size()), sources.data(),
                                 MPI_UNWEIGHTED, static_cast<int>(dests.size()), dests.data(),
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(comm, &copy);
  MPI_Comm_free(&comm);
  check_forms(copy, model, random.below(100000), "on a distributed graph");
  MPI_Comm_free(&copy);
}

/// Processes without neighbours may give null pointers for everything.
void check_nobody() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 0, nullptr, MPI_WEIGHTS_EMPTY, 0, nullptr,
                                 MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, &comm);
  expect_class(MPI_Neighbor_allgather(nullptr, 3, MPI_INT, nullptr, 3, MPI_INT, comm), MPI_SUCCESS,
               "allgather with nobody");
  expect_class(MPI_Neighbor_alltoall(nullptr, 3, MPI_INT, nullptr, 3, MPI_INT, comm), MPI_SUCCESS,
               "alltoall with nobody");
  expect_class(MPI_Neighbor_alltoallv(nullptr, nullptr, nullptr, MPI_INT, nullptr, nullptr, nullptr,
                                      MPI_INT, comm),
               MPI_SUCCESS, "alltoallv with nobody");
  expect_class(MPI_Neighbor_alltoallw(nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                      nullptr, comm),
               MPI_SUCCESS, "alltoallw with nobody");
  MPI_Comm_free(&comm);
}

/// Long messages, of 64-bit counts.
void check_long() {
  const int size = size_of(MPI_COMM_WORLD);
  const int period = 1;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &period, 0, &comm);
  constexpr std::size_t words = 100000;
  const int rank = rank_of(comm);
  Words send(2 * words);
  Words receive(2 * words);
  for (std::size_t i = 0; i < send.size(); ++i) {
    send[i] = static_cast<std::uint32_t>(i) * 7 + static_cast<std::uint32_t>(rank);
  }
  MPI_Neighbor_alltoall_c(send.data(), words, MPI_UINT32_T, receive.data(), words, MPI_UINT32_T,
                          comm);
  bool same = true;
  for (std::size_t i = 0; i < send.size(); ++i) {
    const bool below = i < words;
    const int from = below ? (rank + size - 1) % size : (rank + 1) % size;
    const std::size_t of_block = below ? i + words : i - words;
    same = same && receive[i] ==
                       static_cast<std::uint32_t>(of_block) * 7 + static_cast<std::uint32_t>(from);
  }
  expect(same, "long blocks");
  MPI_Comm_free(&comm);
}

void check_errors() {
  const MPI_Comm world = MPI_COMM_WORLD;
  const int size = size_of(world);
  Ints in(2);
  Ints out(2);
  MPI_Request request = MPI_REQUEST_NULL;
  expect_class(MPI_Neighbor_allgather(in.data(), 1, MPI_INT, out.data(), 1, MPI_INT, world),
               MPI_ERR_TOPOLOGY, "no topology");
  expect_class(
      MPI_Ineighbor_alltoall(in.data(), 1, MPI_INT, out.data(), 1, MPI_INT, world, &request),
      MPI_ERR_TOPOLOGY, "no topology, non-blocking");
  expect_class(MPI_Neighbor_alltoall_init(in.data(), 1, MPI_INT, out.data(), 1, MPI_INT, world,
                                          MPI_INFO_NULL, &request),
               MPI_ERR_TOPOLOGY, "no topology, persistent");
  const int period = 1;
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Cart_create(world, 1, &size, &period, 0, &comm);
  expect_class(MPI_Neighbor_allgather(MPI_IN_PLACE, 1, MPI_INT, out.data(), 1, MPI_INT, comm),
               MPI_ERR_BUFFER, "in place");
  expect_class(MPI_Neighbor_alltoall(in.data(), 1, MPI_INT, nullptr, 1, MPI_INT, comm),
               MPI_ERR_BUFFER, "no buffer");
  expect_class(MPI_Neighbor_alltoall(in.data(), -1, MPI_INT, out.data(), 1, MPI_INT, comm),
               MPI_ERR_COUNT, "negative count");
  const Ints bad = {1, -1};
  const Ints one = {1, 1};
  const Ints displs = {0, 1};
  expect_class(MPI_Neighbor_alltoallv(in.data(), one.data(), displs.data(), MPI_INT, out.data(),
                                      bad.data(), displs.data(), MPI_INT, comm),
               MPI_ERR_COUNT, "negative count of a block");
  expect_class(MPI_Neighbor_alltoallv(in.data(), one.data(), nullptr, MPI_INT, out.data(),
                                      one.data(), displs.data(), MPI_INT, comm),
               MPI_ERR_ARG, "no displacements");
  const MPI_Aint bytes[2] = {0, 4};
  const MPI_Datatype types[2] = {MPI_INT, MPI_DATATYPE_NULL};
  expect_class(MPI_Neighbor_alltoallw(in.data(), one.data(), bytes, types, out.data(), one.data(),
                                      bytes, types, comm),
               MPI_ERR_TYPE, "no datatype");
  MPI_Comm_free(&comm);
  if (size == 1) return;
  Ints index(static_cast<std::size_t>(size), 1);
  const int edge = 1;
  MPI_Graph_create(world, size, index.data(), &edge, 0, &comm);
  expect_class(MPI_Neighbor_allgather(in.data(), 1, MPI_INT, out.data(), 1, MPI_INT, comm),
               MPI_ERR_TOPOLOGY, "an edge without its reverse");
  MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  test::Shared random(argc, argv);
  for (int i = 0; i < 6; ++i) {
    check_grid(random);
    check_graph(random);
    check_dist_graph(random);
  }
  check_nobody();
  check_long();
  check_errors();
  return test::finish();
}
