// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <vector>

#include "support/check.h"

// One collective operation of any kind, with data that say where they come from, and what a serial
// model says must come out. Tests start many of these in blocking, non-blocking and persistent form
// and check them when they are complete.
namespace test {

/// Elements of a call: words of 32 bits, maybe with gaps, and an operation on them.
struct Shape {
  int width;   ///< words of data in an element
  int stride;  ///< words from one element to the next
  MPI_Datatype type;
  MPI_Op op;
};

/// The composition of x -> a x + b: associative, but the order counts.
inline void compose(const void* in, void* inout, int count, std::size_t stride) {
  const auto* left = static_cast<const std::uint32_t*>(in);
  auto* right = static_cast<std::uint32_t*>(inout);
  for (int i = 0; i < count; ++i, left += stride, right += stride) {
    right[1] = left[0] * right[1] + left[1];
    right[0] = left[0] * right[0];
  }
}
extern "C" inline void compose_elements(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lower = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  compose(in, inout, *count, static_cast<std::size_t>(extent) / 4);
}

/// Plain numbers with MPI_SUM; pairs, and pairs with gaps, with an operation that does not commute.
class Shapes {
 public:
  Shapes() {
    MPI_Op_create(compose_elements, 0, &compose_);
    MPI_Type_contiguous(2, MPI_UINT32_T, &pair_);
    MPI_Type_commit(&pair_);
    MPI_Type_create_resized(pair_, 0, 12, &gapped_);
    MPI_Type_commit(&gapped_);
  }
  ~Shapes() {
    MPI_Op_free(&compose_);
    MPI_Type_free(&pair_);
    MPI_Type_free(&gapped_);
  }
  Shapes(const Shapes&) = delete;
  Shapes& operator=(const Shapes&) = delete;

  [[nodiscard]] Shape at(int i) const {
    if (i == 0) return {1, 1, MPI_UINT32_T, MPI_SUM};
    return i == 1 ? Shape{2, 2, pair_, compose_} : Shape{2, 3, gapped_, compose_};
  }
  static constexpr int count = 3;

 private:
  MPI_Op compose_ = MPI_OP_NULL;
  MPI_Datatype pair_ = MPI_DATATYPE_NULL;
  MPI_Datatype gapped_ = MPI_DATATYPE_NULL;
};

enum class Kind {
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  count
};

class Collective {
 public:
  MPI_Request request = MPI_REQUEST_NULL;

  /// The same arguments in all ranks of `comm`.
  Collective(Kind kind, MPI_Comm comm, const Shape& shape, int count, int root, bool in_place)
      : kind_(kind),
        comm_(comm),
        shape_(shape),
        rank_(rank_of(comm)),
        size_(size_of(comm)),
        count_(count),
        root_(root),
        in_place_(in_place && may_be_in_place()) {
    const int room = size_ * (count_ + 4) + 1;
    send_.resize(static_cast<std::size_t>(room * shape.stride));
    receive_.resize(send_.size());
    for (int r = 0; r < size_; ++r) {
      counts_.push_back(block(r));
      displs_.push_back(r == 0 ? 1 : displs_.back() + counts_[static_cast<std::size_t>(r - 1)] + 1);
      to_counts_.push_back(between(rank_, r));
      byte_displs_.push_back(4 * shape_.stride * r * (count_ + 1));
      wide_displs_.push_back(r * (count_ + 1));
      types_.push_back(shape_.type);
    }
  }

  /// Puts the data of a round into the buffers.
  void fill(int seed) {
    seed_ = seed;
    for (auto& word : send_) word = gap;
    for (auto& word : receive_) word = gap;
    fill_data(in_place_ ? receive_ : send_);
    before_ = receive_;
  }

  enum class Form { blocking, nonblocking, persistent };
  /// Makes the call in this form; result of the MPI function.
  int call(Form form) {
    const auto run = [&](auto blocking, auto nonblocking, auto persistent, auto... arguments) {
      switch (form) {
        case Form::blocking:
          return blocking(arguments..., comm_);
        case Form::nonblocking:
          return nonblocking(arguments..., comm_, &request);
        default:
          return persistent(arguments..., comm_, MPI_INFO_NULL, &request);
      }
    };
    const void* from = in_place_ ? MPI_IN_PLACE : send_.data();
    void* to = receive_.data();
    const MPI_Datatype type = shape_.type;
    const int own = block(rank_);
    switch (kind_) {
      case Kind::barrier:
        return run(MPI_Barrier, MPI_Ibarrier, MPI_Barrier_init);
      case Kind::bcast:
        return run(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, to, count_, type, root_);
      case Kind::gather:
        return run(MPI_Gather, MPI_Igather, MPI_Gather_init, from, count_, type, to, count_, type,
                   root_);
      case Kind::gatherv:
        return run(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, from, own, type, to, counts_.data(),
                   displs_.data(), type, root_);
      case Kind::scatter:
        return run(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, from, count_, type, to, count_,
                   type, root_);
      case Kind::scatterv:
        return run(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, from, counts_.data(),
                   displs_.data(), type, to, own, type, root_);
      case Kind::allgather:
        return run(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, from, count_, type, to,
                   count_, type);
      case Kind::allgatherv:
        return run(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, from, own, type, to,
                   counts_.data(), displs_.data(), type);
      case Kind::alltoall:
        return run(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, from, count_, type, to, count_,
                   type);
      case Kind::alltoallv:
        return run(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, from, to_counts_.data(),
                   wide_displs_.data(), type, to, to_counts_.data(), wide_displs_.data(), type);
      case Kind::alltoallw:
        return run(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, from, to_counts_.data(),
                   byte_displs_.data(), types_.data(), to, to_counts_.data(), byte_displs_.data(),
                   types_.data());
      case Kind::reduce:
        return run(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, from, to, count_, type, shape_.op,
                   root_);
      case Kind::allreduce:
        return run(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, from, to, count_, type,
                   shape_.op);
      case Kind::reduce_scatter:
        return run(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, from, to,
                   counts_.data(), type, shape_.op);
      case Kind::reduce_scatter_block:
        return run(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
                   MPI_Reduce_scatter_block_init, from, to, count_, type, shape_.op);
      case Kind::scan:
        return run(MPI_Scan, MPI_Iscan, MPI_Scan_init, from, to, count_, type, shape_.op);
      default:
        return run(MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, from, to, count_, type, shape_.op);
    }
  }

  /// After completion: what this rank must have got, and nothing else touched.
  void check() {
    std::vector<std::uint32_t> expected = before_;
    model(expected);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      if (receive_[i] == expected[i]) continue;
      expect_equal(receive_[i], expected[i], name());
      std::fprintf(stderr, "  kind %d, word %zu, count %d, root %d, %d ranks%s\n",
                   static_cast<int>(kind_), i, count_, root_, size_, in_place_ ? ", in place" : "");
      return;
    }
  }

  [[nodiscard]] const char* name() const {
    static constexpr std::array<const char*, static_cast<std::size_t>(Kind::count)> names = {
        "barrier",   "bcast",     "gather",     "gatherv",        "scatter",
        "scatterv",  "allgather", "allgatherv", "alltoall",       "alltoallv",
        "alltoallw", "reduce",    "allreduce",  "reduce_scatter", "reduce_scatter_block",
        "scan",      "exscan"};
    return names[static_cast<std::size_t>(kind_)];
  }

 private:
  static constexpr std::uint32_t gap = 0x5ca1ab1e;
  using Element = std::array<std::uint32_t, 2>;

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  /// Elements of a rank in the v-forms.
  [[nodiscard]] int block(int r) const { return (count_ + 3 * r) % (count_ + 2); }
  /// Elements from one rank to another, and back.
  [[nodiscard]] int between(int a, int b) const { return (count_ + a + b) % (count_ + 1); }
  [[nodiscard]] int operands() const {
    if (kind_ == Kind::reduce_scatter_block) return size_ * count_;
    if (kind_ != Kind::reduce_scatter) return count_;
    int sum = 0;
    for (int r = 0; r < size_; ++r) sum += block(r);
    return sum;
  }
  [[nodiscard]] bool may_be_in_place() const {
    switch (kind_) {
      case Kind::gather:
      case Kind::gatherv:
      case Kind::reduce:
        return rank_ == root_;
      case Kind::barrier:
      case Kind::bcast:
      case Kind::scatter:
      case Kind::scatterv:
        return false;
      default:
        return true;
    }
  }
  void fill_data(std::vector<std::uint32_t>& to) {
    switch (kind_) {
      case Kind::barrier:
        return;
      case Kind::bcast:
        for (int i = 0; i < count_ && rank_ == root_; ++i) put(receive_, i, rank_, i);
        return;
      case Kind::gather:
      case Kind::allgather:
        for (int i = 0; i < count_; ++i) put(to, in_place_ ? rank_ * count_ + i : i, rank_, i);
        return;
      case Kind::gatherv:
      case Kind::allgatherv:
        for (int i = 0; i < block(rank_); ++i) {
          put(to, in_place_ ? displs_[at(rank_)] + i : i, rank_, i);
        }
        return;
      case Kind::scatter:
        for (int i = 0; i < size_ * count_ && rank_ == root_; ++i) put(send_, i, rank_, i);
        return;
      case Kind::scatterv:
        for (int r = 0; r < size_ && rank_ == root_; ++r) {
          for (int i = 0; i < block(r); ++i) put(send_, displs_[at(r)] + i, r, i);
        }
        return;
      case Kind::alltoall:
        for (int r = 0; r < size_; ++r) {
          for (int i = 0; i < count_; ++i) put(to, r * count_ + i, rank_ * size_ + r, i);
        }
        return;
      case Kind::alltoallv:
      case Kind::alltoallw:
        for (int r = 0; r < size_; ++r) {
          for (int i = 0; i < between(rank_, r); ++i) {
            put(to, r * (count_ + 1) + i, rank_ * size_ + r, i);
          }
        }
        return;
      default:
        for (int i = 0; i < operands(); ++i) put(to, i, rank_, i);
    }
  }
  [[nodiscard]] Element element(int from, int i) const {
    return {mark(from, i, seed_) | 1U, mark(i, seed_, from)};
  }
  void store(std::vector<std::uint32_t>& buffer, int index, const Element& value) const {
    for (int w = 0; w < shape_.width; ++w) buffer[at(index * shape_.stride + w)] = value[at(w)];
  }
  void put(std::vector<std::uint32_t>& buffer, int index, int from, int i) const {
    store(buffer, index, element(from, i));
  }
  /// The reduction of element `i` of ranks `first` to `last` - 1.
  [[nodiscard]] Element reduced(int i, int last) const {
    Element sum = element(0, i);
    for (int r = 1; r < last; ++r) {
      Element next = element(r, i);
      if (shape_.width == 1) {
        next[0] += sum[0];
      } else {
        compose(sum.data(), next.data(), 1, 2);
      }
      sum = next;
    }
    return sum;
  }
  void model(std::vector<std::uint32_t>& out) const;

  Kind kind_;
  MPI_Comm comm_;
  Shape shape_;
  int rank_;
  int size_;
  int count_;
  int root_;
  bool in_place_;
  int seed_ = 0;
  std::vector<std::uint32_t> send_;
  std::vector<std::uint32_t> receive_;
  std::vector<std::uint32_t> before_;
  std::vector<int> counts_;
  std::vector<int> displs_;
  std::vector<int> to_counts_;
  std::vector<int> wide_displs_;
  std::vector<int> byte_displs_;
  std::vector<MPI_Datatype> types_;
};

inline void Collective::model(std::vector<std::uint32_t>& out) const {
  const bool at_root = rank_ == root_;
  switch (kind_) {
    case Kind::barrier:
      return;
    case Kind::bcast:
      for (int i = 0; i < count_; ++i) put(out, i, root_, i);
      return;
    case Kind::gather:
    case Kind::allgather:
      if (kind_ == Kind::gather && !at_root) return;
      for (int i = 0; i < size_ * count_; ++i) put(out, i, i / count_, i % count_);
      return;
    case Kind::gatherv:
    case Kind::allgatherv:
      if (kind_ == Kind::gatherv && !at_root) return;
      for (int r = 0; r < size_; ++r) {
        for (int i = 0; i < block(r); ++i) put(out, displs_[at(r)] + i, r, i);
      }
      return;
    case Kind::scatter:
      for (int i = 0; i < count_; ++i) put(out, i, root_, rank_ * count_ + i);
      return;
    case Kind::scatterv:
      for (int i = 0; i < block(rank_); ++i) put(out, i, rank_, i);
      return;
    case Kind::alltoall:
      for (int r = 0; r < size_; ++r) {
        for (int i = 0; i < count_; ++i) put(out, r * count_ + i, r * size_ + rank_, i);
      }
      return;
    case Kind::alltoallv:
    case Kind::alltoallw:
      for (int r = 0; r < size_; ++r) {
        for (int i = 0; i < between(rank_, r); ++i) {
          put(out, r * (count_ + 1) + i, r * size_ + rank_, i);
        }
      }
      return;
    case Kind::reduce:
    case Kind::allreduce:
      for (int i = 0; i < count_ && (at_root || kind_ == Kind::allreduce); ++i) {
        store(out, i, reduced(i, size_));
      }
      return;
    case Kind::reduce_scatter:
    case Kind::reduce_scatter_block: {
      const bool equal = kind_ == Kind::reduce_scatter_block;
      int first = 0;
      for (int r = 0; r < rank_; ++r) first += equal ? count_ : block(r);
      const int own = equal ? count_ : block(rank_);
      for (int i = 0; i < own; ++i) store(out, i, reduced(first + i, size_));
      // In place the rest of the buffer is used up.
      for (int i = own; in_place_ && i < operands(); ++i) {
        for (int w = 0; w < shape_.width; ++w) {
          const std::size_t word = at(i * shape_.stride + w);
          out[word] = receive_[word];
        }
      }
      return;
    }
    case Kind::scan:
      for (int i = 0; i < count_; ++i) store(out, i, reduced(i, rank_ + 1));
      return;
    default:
      for (int i = 0; i < count_ && rank_ > 0; ++i) store(out, i, reduced(i, rank_));
  }
}

/// Every kind of call with every shape and several lengths, non-blocking, two of a kind at a time.
inline void run_all_kinds(MPI_Comm comm, const std::vector<int>& counts) {
  const Shapes shapes;
  int seed = 0;
  for (int kind = 0; kind < static_cast<int>(Kind::count); ++kind) {
    for (int shape = 0; shape < Shapes::count; ++shape) {
      for (const int count : counts) {
        const int root = ++seed % size_of(comm);
        Collective one(static_cast<Kind>(kind), comm, shapes.at(shape), count, root, false);
        Collective two(static_cast<Kind>(kind), comm, shapes.at(shape), count, root, true);
        std::array<MPI_Request, 2> requests{};
        one.fill(seed);
        two.fill(seed + 1000);
        one.call(Collective::Form::nonblocking);
        two.call(Collective::Form::nonblocking);
        requests = {two.request, one.request};
        MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
        one.check();
        two.check();
      }
    }
  }
}

/// The same with blocking calls.
inline void run_all_kinds_blocking(MPI_Comm comm, const std::vector<int>& counts) {
  const Shapes shapes;
  int seed = 0;
  for (int kind = 0; kind < static_cast<int>(Kind::count); ++kind) {
    for (int shape = 0; shape < Shapes::count; ++shape) {
      for (const int count : counts) {
        const int root = ++seed % size_of(comm);
        for (const bool in_place : {false, true}) {
          Collective one(static_cast<Kind>(kind), comm, shapes.at(shape), count, root, in_place);
          one.fill(seed);
          one.call(Collective::Form::blocking);
          one.check();
        }
      }
    }
  }
}

}  // namespace test
