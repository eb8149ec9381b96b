// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Collective operations that move data between two groups of every size, blocking, non-blocking and
// persistent, against results computed serially: counts from zero on that differ by direction,
// types with gaps, every root, blocks of different lengths, long messages.
// ranks: 2 3 4 5

#include <mpi.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "support/check.h"
#include "support/inter.h"

namespace {

using test::expect;
using test::expect_equal;
using test::Forms;
using test::Inter;
using test::run;
using test::size_of;
using test::untouched;
using test::value;
using test::values;

/// An int with as much room behind it.
MPI_Datatype gapped_int() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &type);
  MPI_Type_commit(&type);
  return type;
}

void barriers(const Inter& inter) {
  const Forms forms{[&] { return MPI_Barrier(inter.comm); },
                    [&](MPI_Request* r) { return MPI_Ibarrier(inter.comm, r); },
                    [&](MPI_Request* r) { return MPI_Barrier_init(inter.comm, MPI_INFO_NULL, r); }};
  run(forms, [] {}, [](const char*) {});
  // No rank leaves before all of the other group have come: its messages are there by then.
  for (int r = 0; r < inter.remote; ++r) MPI_Send(&r, 1, MPI_INT, r, 9, inter.comm);
  MPI_Barrier(inter.comm);
  for (int r = 0; r < inter.remote; ++r) {
    int flag = 0;
    int got = -1;
    for (int look = 0; look < 100000 && flag == 0; ++look) {
      MPI_Iprobe(r, 9, inter.comm, &flag, MPI_STATUS_IGNORE);
    }
    expect(flag != 0, "a message sent before the barrier");
    MPI_Recv(&got, 1, MPI_INT, r, 9, inter.comm, MPI_STATUS_IGNORE);
    expect_equal(got, inter.rank, "its content");
  }
}

void bcasts(const Inter& inter, int from, int root, int count) {
  const int argument = inter.root_argument(from, root);
  const bool gets = inter.side() != from;
  const std::vector<int> sent = values(from, root, 0, count);
  // The group that gets it stores every other int.
  MPI_Datatype gapped = gapped_int();
  MPI_Datatype type = gets ? gapped : MPI_INT;
  std::vector<int> data;
  const Forms forms{
      [&] { return MPI_Bcast(data.data(), count, type, argument, inter.comm); },
      [&](MPI_Request* r) { return MPI_Ibcast(data.data(), count, type, argument, inter.comm, r); },
      [&](MPI_Request* r) {
        return MPI_Bcast_init(data.data(), count, type, argument, inter.comm, MPI_INFO_NULL, r);
      }};
  const auto prepare = [&] {
    data.resize(static_cast<std::size_t>(2 * count + 1));
    for (int& one : data) one = untouched;
    if (argument == MPI_ROOT) std::copy(sent.begin(), sent.end(), data.begin());
  };
  prepare();  // fixes the address
  run(forms, prepare, [&](const char* what) {
    if (argument == MPI_PROC_NULL) expect_equal(data[0], untouched, what);
    for (int i = 0; gets && i < count; ++i) {
      expect_equal(data[static_cast<std::size_t>(2 * i)], sent[static_cast<std::size_t>(i)], what);
      expect_equal(data[static_cast<std::size_t>(2 * i + 1)], untouched, "the gap");
    }
  });
  MPI_Type_free(&gapped);
}

/// Where the blocks of the v-forms lie: of different lengths, with an element between them.
struct Layout {
  std::vector<int> counts;
  std::vector<int> displs;
  int total = 0;

  Layout(int ranks, const std::function<int(int)>& count_of) {
    for (int r = 0; r < ranks; ++r) {
      displs.push_back(total);
      counts.push_back(count_of(r));
      total += counts.back() + 1;
    }
  }
  [[nodiscard]] std::size_t at(int rank, int i) const {
    return static_cast<std::size_t>(displs[static_cast<std::size_t>(rank)] + i);
  }
};

void expect_blocks(const std::vector<int>& data, const Layout& layout,
                   const std::function<int(int, int)>& expected, const char* what) {
  for (int r = 0; r < static_cast<int>(layout.counts.size()); ++r) {
    const int count = layout.counts[static_cast<std::size_t>(r)];
    for (int i = 0; i < count; ++i) expect_equal(data[layout.at(r, i)], expected(r, i), what);
    expect_equal(data[layout.at(r, count)], untouched, "between the blocks");
  }
}

void gathers(const Inter& inter, int to, int root, int count) {
  const int argument = inter.root_argument(to, root);
  const bool gives = inter.side() != to;
  const std::vector<int> own = values(1 - to, inter.rank, root, count);
  std::vector<int> all(static_cast<std::size_t>(count * inter.remote) + 1);
  const auto prepare = [&] {
    for (int& one : all) one = untouched;
  };
  const int* in = gives ? own.data() : nullptr;
  const Forms equal{
      [&] {
        return MPI_Gather(in, count, MPI_INT, all.data(), count, MPI_INT, argument, inter.comm);
      },
      [&](MPI_Request* r) {
        return MPI_Igather(in, count, MPI_INT, all.data(), count, MPI_INT, argument, inter.comm, r);
      },
      [&](MPI_Request* r) {
        return MPI_Gather_init(in, count, MPI_INT, all.data(), count, MPI_INT, argument, inter.comm,
                               MPI_INFO_NULL, r);
      }};
  run(equal, prepare, [&](const char* what) {
    for (int i = 0; argument == MPI_ROOT && i < count * inter.remote; ++i) {
      expect_equal(all[static_cast<std::size_t>(i)],
                   value(inter.other_side(), i / count, root, i % count), what);
    }
    expect_equal(all.back(), untouched, "behind the blocks");
  });
}

void gathervs(const Inter& inter, int to, int root) {
  const int argument = inter.root_argument(to, root);
  const bool gives = inter.side() != to;
  const auto count_of = [](int rank) { return rank * 3 % 5; };
  const Layout layout(inter.remote, count_of);
  const int count = gives ? count_of(inter.rank) : 0;
  const std::vector<int> own = values(1 - to, inter.rank, root, count + 1);
  std::vector<int> all(static_cast<std::size_t>(layout.total) + 1);
  const int* counts = layout.counts.data();
  const int* displs = layout.displs.data();
  const Forms forms{[&] {
                      return MPI_Gatherv(own.data(), count, MPI_INT, all.data(), counts, displs,
                                         MPI_INT, argument, inter.comm);
                    },
                    [&](MPI_Request* r) {
                      return MPI_Igatherv(own.data(), count, MPI_INT, all.data(), counts, displs,
                                          MPI_INT, argument, inter.comm, r);
                    },
                    [&](MPI_Request* r) {
                      return MPI_Gatherv_init(own.data(), count, MPI_INT, all.data(), counts,
                                              displs, MPI_INT, argument, inter.comm, MPI_INFO_NULL,
                                              r);
                    }};
  const auto prepare = [&] {
    for (int& one : all) one = untouched;
  };
  run(forms, prepare, [&](const char* what) {
    if (argument != MPI_ROOT) return;
    expect_blocks(
        all, layout, [&](int r, int i) { return value(inter.other_side(), r, root, i); }, what);
  });
}

void scatters(const Inter& inter, int from, int root, int count) {
  const int argument = inter.root_argument(from, root);
  std::vector<int> all;
  for (int r = 0; r < inter.remote; ++r) {
    for (int i = 0; i < count; ++i) all.push_back(value(from, root, r, i));
  }
  all.push_back(0);
  std::vector<int> own(static_cast<std::size_t>(count) + 1);
  const auto prepare = [&] {
    for (int& one : own) one = untouched;
  };
  const Forms forms{[&] {
                      return MPI_Scatter(all.data(), count, MPI_INT, own.data(), count, MPI_INT,
                                         argument, inter.comm);
                    },
                    [&](MPI_Request* r) {
                      return MPI_Iscatter(all.data(), count, MPI_INT, own.data(), count, MPI_INT,
                                          argument, inter.comm, r);
                    },
                    [&](MPI_Request* r) {
                      return MPI_Scatter_init(all.data(), count, MPI_INT, own.data(), count,
                                              MPI_INT, argument, inter.comm, MPI_INFO_NULL, r);
                    }};
  run(forms, prepare, [&](const char* what) {
    const bool gets = inter.side() != from;
    for (int i = 0; i < count; ++i) {
      expect_equal(own[static_cast<std::size_t>(i)],
                   gets ? value(from, root, inter.rank, i) : untouched, what);
    }
    expect_equal(own.back(), untouched, "behind the block");
  });
}

void scattervs(const Inter& inter, int from, int root) {
  const int argument = inter.root_argument(from, root);
  const auto count_of = [](int rank) { return (rank + 1) * 3 % 4; };
  const Layout layout(inter.remote, count_of);
  std::vector<int> all(static_cast<std::size_t>(layout.total), untouched);
  for (int r = 0; r < inter.remote; ++r) {
    for (int i = 0; i < count_of(r); ++i) all[layout.at(r, i)] = value(from, root, r, i);
  }
  const int count = count_of(inter.rank);
  const int* counts = layout.counts.data();
  const int* displs = layout.displs.data();
  std::vector<int> own(static_cast<std::size_t>(count) + 1);
  const auto prepare = [&] {
    for (int& one : own) one = untouched;
  };
  const Forms forms{[&] {
                      return MPI_Scatterv(all.data(), counts, displs, MPI_INT, own.data(), count,
                                          MPI_INT, argument, inter.comm);
                    },
                    [&](MPI_Request* r) {
                      return MPI_Iscatterv(all.data(), counts, displs, MPI_INT, own.data(), count,
                                           MPI_INT, argument, inter.comm, r);
                    },
                    [&](MPI_Request* r) {
                      return MPI_Scatterv_init(all.data(), counts, displs, MPI_INT, own.data(),
                                               count, MPI_INT, argument, inter.comm, MPI_INFO_NULL,
                                               r);
                    }};
  run(forms, prepare, [&](const char* what) {
    for (int i = 0; inter.side() != from && i < count; ++i) {
      expect_equal(own[static_cast<std::size_t>(i)], value(from, root, inter.rank, i), what);
    }
    expect_equal(own.back(), untouched, "behind the block");
  });
}

/// The left group sends `left` elements a process, the right one `right`.
void allgathers(const Inter& inter, int left, int right) {
  const int out = inter.is_left ? left : right;
  const int in = inter.is_left ? right : left;
  const std::vector<int> own = values(inter.side(), inter.rank, 0, out + 1);
  std::vector<int> all(static_cast<std::size_t>(in * inter.remote) + 1);
  const auto prepare = [&] {
    for (int& one : all) one = untouched;
  };
  const Forms forms{
      [&] { return MPI_Allgather(own.data(), out, MPI_INT, all.data(), in, MPI_INT, inter.comm); },
      [&](MPI_Request* r) {
        return MPI_Iallgather(own.data(), out, MPI_INT, all.data(), in, MPI_INT, inter.comm, r);
      },
      [&](MPI_Request* r) {
        return MPI_Allgather_init(own.data(), out, MPI_INT, all.data(), in, MPI_INT, inter.comm,
                                  MPI_INFO_NULL, r);
      }};
  run(forms, prepare, [&](const char* what) {
    for (int i = 0; i < in * inter.remote; ++i) {
      expect_equal(all[static_cast<std::size_t>(i)], value(inter.other_side(), i / in, 0, i % in),
                   what);
    }
    expect_equal(all.back(), untouched, "behind the blocks");
  });
}

void allgathervs(const Inter& inter) {
  const auto count_of = [](int side, int rank) { return (side + 2 * rank) % 4; };
  const Layout layout(inter.remote, [&](int r) { return count_of(inter.other_side(), r); });
  const int count = count_of(inter.side(), inter.rank);
  const std::vector<int> own = values(inter.side(), inter.rank, 0, count + 1);
  std::vector<int> all(static_cast<std::size_t>(layout.total));
  const int* counts = layout.counts.data();
  const int* displs = layout.displs.data();
  const auto prepare = [&] {
    for (int& one : all) one = untouched;
  };
  const Forms forms{[&] {
                      return MPI_Allgatherv(own.data(), count, MPI_INT, all.data(), counts, displs,
                                            MPI_INT, inter.comm);
                    },
                    [&](MPI_Request* r) {
                      return MPI_Iallgatherv(own.data(), count, MPI_INT, all.data(), counts, displs,
                                             MPI_INT, inter.comm, r);
                    },
                    [&](MPI_Request* r) {
                      return MPI_Allgatherv_init(own.data(), count, MPI_INT, all.data(), counts,
                                                 displs, MPI_INT, inter.comm, MPI_INFO_NULL, r);
                    }};
  run(forms, prepare, [&](const char* what) {
    expect_blocks(
        all, layout, [&](int r, int i) { return value(inter.other_side(), r, 0, i); }, what);
  });
}

/// What a pair exchanges, in ints.
int pair_count(int side, int rank, int dest) { return (side * 5 + rank * 3 + dest) % 4; }

struct Traffic {
  Layout out;
  Layout in;
  std::vector<int> sent;
  std::vector<int> got;

  explicit Traffic(const Inter& inter)
      : out(inter.remote, [&](int r) { return pair_count(inter.side(), inter.rank, r); }),
        in(inter.remote, [&](int r) { return pair_count(inter.other_side(), r, inter.rank); }),
        sent(static_cast<std::size_t>(out.total), untouched),
        got(static_cast<std::size_t>(in.total), untouched) {
    for (int r = 0; r < inter.remote; ++r) {
      for (int i = 0; i < out.counts[static_cast<std::size_t>(r)]; ++i) {
        sent[out.at(r, i)] = value(inter.side(), inter.rank, r, i);
      }
    }
  }
  void clear() {
    for (int& one : got) one = untouched;
  }
  void check(const Inter& inter, const char* what) const {
    expect_blocks(
        got, in, [&](int r, int i) { return value(inter.other_side(), r, inter.rank, i); }, what);
  }
};

void alltoallvs(const Inter& inter) {
  Traffic t(inter);
  const int* out_counts = t.out.counts.data();
  const int* out_displs = t.out.displs.data();
  const int* in_counts = t.in.counts.data();
  const int* in_displs = t.in.displs.data();
  const Forms forms{
      [&] {
        return MPI_Alltoallv(t.sent.data(), out_counts, out_displs, MPI_INT, t.got.data(),
                             in_counts, in_displs, MPI_INT, inter.comm);
      },
      [&](MPI_Request* r) {
        return MPI_Ialltoallv(t.sent.data(), out_counts, out_displs, MPI_INT, t.got.data(),
                              in_counts, in_displs, MPI_INT, inter.comm, r);
      },
      [&](MPI_Request* r) {
        return MPI_Alltoallv_init(t.sent.data(), out_counts, out_displs, MPI_INT, t.got.data(),
                                  in_counts, in_displs, MPI_INT, inter.comm, MPI_INFO_NULL, r);
      }};
  run(forms, [&] { t.clear(); }, [&](const char* what) { t.check(inter, what); });
}

void alltoallws(const Inter& inter) {
  Traffic t(inter);
  const auto in_bytes = [](std::vector<int> displs) {
    for (int& one : displs) one *= static_cast<int>(sizeof(int));
    return displs;
  };
  const std::vector<int> out_displs = in_bytes(t.out.displs);
  const std::vector<int> in_displs = in_bytes(t.in.displs);
  const std::vector<MPI_Datatype> types(static_cast<std::size_t>(inter.remote), MPI_INT);
  const int* out_counts = t.out.counts.data();
  const int* in_counts = t.in.counts.data();
  const Forms forms{[&] {
                      return MPI_Alltoallw(t.sent.data(), out_counts, out_displs.data(),
                                           types.data(), t.got.data(), in_counts, in_displs.data(),
                                           types.data(), inter.comm);
                    },
                    [&](MPI_Request* r) {
                      return MPI_Ialltoallw(t.sent.data(), out_counts, out_displs.data(),
                                            types.data(), t.got.data(), in_counts, in_displs.data(),
                                            types.data(), inter.comm, r);
                    },
                    [&](MPI_Request* r) {
                      return MPI_Alltoallw_init(
                          t.sent.data(), out_counts, out_displs.data(), types.data(), t.got.data(),
                          in_counts, in_displs.data(), types.data(), inter.comm, MPI_INFO_NULL, r);
                    }};
  run(forms, [&] { t.clear(); }, [&](const char* what) { t.check(inter, what); });
}

/// `left` elements to each process from left to right, `right` the other way.
void alltoalls(const Inter& inter, int left, int right) {
  const int out = inter.is_left ? left : right;
  const int in = inter.is_left ? right : left;
  std::vector<int> sent;
  for (int r = 0; r < inter.remote; ++r) {
    for (int i = 0; i < out; ++i) sent.push_back(value(inter.side(), inter.rank, r, i));
  }
  sent.push_back(0);
  std::vector<int> got(static_cast<std::size_t>(in * inter.remote) + 1);
  const auto prepare = [&] {
    for (int& one : got) one = untouched;
  };
  const Forms forms{
      [&] { return MPI_Alltoall(sent.data(), out, MPI_INT, got.data(), in, MPI_INT, inter.comm); },
      [&](MPI_Request* r) {
        return MPI_Ialltoall(sent.data(), out, MPI_INT, got.data(), in, MPI_INT, inter.comm, r);
      },
      [&](MPI_Request* r) {
        return MPI_Alltoall_init(sent.data(), out, MPI_INT, got.data(), in, MPI_INT, inter.comm,
                                 MPI_INFO_NULL, r);
      }};
  run(forms, prepare, [&](const char* what) {
    for (int i = 0; i < in * inter.remote; ++i) {
      expect_equal(got[static_cast<std::size_t>(i)],
                   value(inter.other_side(), i / in, inter.rank, i % in), what);
    }
    expect_equal(got.back(), untouched, "behind the blocks");
  });
}

void all_of(const Inter& inter) {
  barriers(inter);
  for (int side = 0; side < 2; ++side) {
    const int roots = inter.side() == side ? inter.local : inter.remote;
    for (int root = 0; root < roots; ++root) {
      for (const int count : {0, 1, 5}) {
        bcasts(inter, side, root, count);
        gathers(inter, side, root, count);
        scatters(inter, side, root, count);
      }
      gathervs(inter, side, root);
      scattervs(inter, side, root);
    }
    bcasts(inter, side, 0, 30000);
  }
  allgathers(inter, 2, 3);
  allgathers(inter, 0, 4);
  allgathers(inter, 1, 0);
  allgathervs(inter);
  alltoalls(inter, 1, 3);
  alltoalls(inter, 2, 0);
  alltoalls(inter, 5000, 7000);
  alltoallvs(inter);
  alltoallws(inter);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  for (int left = 1; left < size_of(MPI_COMM_WORLD); ++left) {
    const Inter inter(left);
    all_of(inter);
  }
  return test::finish();
}
