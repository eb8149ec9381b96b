// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_Alltoallv and MPI_Alltoallw with blocks that are too long for one payload of shared memory, beside short and
// empty ones: in all forms, in place, of elements with gaps, by several rounds where each rank has a core. MPI 5.0
// section 6.8.
// ranks: 2 3 5
// env: FULMAR_COLL=auto

#include <mpi.h>

#include <algorithm>
#include <array>
#include <vector>

#include "support/check.h"
#include "support/packets.h"

namespace {

using test::expect_equal;

/// Elements from one rank to another, and as many back.
using Lengths = int (*)(int low, int high);

int all_long(int /*low*/, int /*high*/) { return 50'000; }
int one_long(int low, int high) { return low == 0 && high == 1 ? 300'001 : 3; }
int mixed(int low, int high) {
  constexpr std::array<int, 5> lengths = {0, 70'000, 5, 16'385, 131'072};
  return lengths[static_cast<std::size_t>(low + 2 * high) % lengths.size()];
}

class Exchange {
 public:
  enum class Form { blocking, nonblocking, persistent };

  /// `gaps`: elements are words with a gap behind each.
  Exchange(MPI_Comm comm, Lengths lengths, bool gaps, bool in_place)
      : comm_(comm), rank_(test::rank_of(comm)), stride_(gaps ? 2 : 1), in_place_(in_place) {
    const int size = test::size_of(comm);
    MPI_Type_create_resized(MPI_UINT32_T, 0, 4 * stride_, &type_);
    MPI_Type_commit(&type_);
    int at = 1;
    for (int peer = 0; peer < size; ++peer) {
      counts_.push_back(lengths(std::min(rank_, peer), std::max(rank_, peer)));
      displs_.push_back(at);
      bytes_.push_back(4 * stride_ * at);
      at += counts_.back() + 1;
      types_.push_back(type_);
    }
    to_.resize(static_cast<std::size_t>(at * stride_));
    from_.resize(to_.size());
  }
  ~Exchange() { MPI_Type_free(&type_); }
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void run(Form form, bool wide, int round) {
    fill(round);
    const void* from = in_place_ ? MPI_IN_PLACE : from_.data();
    const int* counts = counts_.data();
    const int* displs = displs_.data();
    const int* bytes = bytes_.data();
    const MPI_Datatype* types = types_.data();
    void* to = to_.data();
    MPI_Request request = MPI_REQUEST_NULL;
    if (form == Form::blocking && wide) {
      MPI_Alltoallw(from, counts, bytes, types, to, counts, bytes, types, comm_);
    } else if (form == Form::blocking) {
      MPI_Alltoallv(from, counts, displs, type_, to, counts, displs, type_, comm_);
    } else if (form == Form::nonblocking && wide) {
      MPI_Ialltoallw(from, counts, bytes, types, to, counts, bytes, types, comm_, &request);
    } else if (form == Form::nonblocking) {
      MPI_Ialltoallv(from, counts, displs, type_, to, counts, displs, type_, comm_, &request);
    } else {
      const MPI_Info none = MPI_INFO_NULL;
      MPI_Alltoallv_init(from, counts, displs, type_, to, counts, displs, type_, comm_, none,
                         &request);
      for (int start = 0; start < 2; ++start) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        check(round + start);
        fill(round + start + 1);
      }
      MPI_Request_free(&request);
      return;
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(round);
  }

 private:
  static constexpr std::uint32_t gap = 0x5ca1ab1e;

  void fill(int round) {
    std::fill(to_.begin(), to_.end(), gap);
    for (std::size_t peer = 0; peer < counts_.size(); ++peer) {
      for (int i = 0; i < counts_[peer]; ++i) {
        const auto place = static_cast<std::size_t>((displs_[peer] + i) * stride_);
        (in_place_ ? to_ : from_)[place] = test::mark(rank_, i, round + static_cast<int>(peer));
      }
    }
  }
  void check(int round) const {
    std::vector<std::uint32_t> expected(to_.size(), gap);
    for (std::size_t peer = 0; peer < counts_.size(); ++peer) {
      for (int i = 0; i < counts_[peer]; ++i) {
        expected[static_cast<std::size_t>((displs_[peer] + i) * stride_)] =
            test::mark(static_cast<int>(peer), i, round + rank_);
      }
    }
    const auto wrong = std::mismatch(to_.begin(), to_.end(), expected.begin()).first;
    expect_equal(wrong - to_.begin(), std::ssize(to_), "the first word that is wrong");
  }

  MPI_Comm comm_;
  int rank_;
  int stride_;
  bool in_place_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  std::vector<int> counts_;
  std::vector<int> displs_;
  std::vector<int> bytes_;
  std::vector<MPI_Datatype> types_;
  std::vector<std::uint32_t> from_;
  std::vector<std::uint32_t> to_;
};

void all_forms(Lengths lengths) {
  using Form = Exchange::Form;
  int round = 0;
  for (const bool gaps : {false, true}) {
    for (const bool in_place : {false, true}) {
      Exchange exchange(MPI_COMM_WORLD, lengths, gaps, in_place);
      for (const bool wide : {false, true}) {
        for (const Form form : {Form::blocking, Form::nonblocking, Form::persistent}) {
          exchange.run(form, wide, ++round);
        }
      }
    }
  }
}

}  // namespace

int main() {
  MPI_Init(nullptr, nullptr);
  int level = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &level);
  {
    const test::PacketCounter packets;
    const long long before = packets.value();
    for (const Lengths lengths : {all_long, one_long, mixed}) all_forms(lengths);
    // Two ranks have a core each on every machine with two.
    const bool may_share = test::size_of(MPI_COMM_WORLD) > 2;
    if (!may_share) expect_equal(packets.value(), before, "packets of two ranks");
  }
  MPI_T_finalize();
  return test::finish();
}
