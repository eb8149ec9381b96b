// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/group/group.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "mpi/group/calls.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

using base::ErrorClass;
using Ids = std::vector<ProcessId>;

class GroupTest : public Objects {
 protected:
  static constexpr ProcessId own = 5;

  void TearDown() override {
    for (MPI_Group handle : made_) free_group(handle);
    Objects::TearDown();
  }
  void free_group(MPI_Group handle) {
    EXPECT_TRUE(group_free(library, {&handle, &find<Group>(handle)}).ok());
    EXPECT_EQ(handle, MPI_GROUP_NULL);
  }
  /// Takes over the handle that a call gave.
  Group& keep(MPI_Group handle) {
    made_.push_back(handle);
    return find<Group>(handle);
  }
  Group& make(const Ids& ids) {
    const auto at = std::find(ids.begin(), ids.end(), own);
    const int rank = at == ids.end() ? Group::no_rank : static_cast<int>(at - ids.begin());
    MPI_Group handle = MPI_GROUP_NULL;
    EXPECT_TRUE(give_group(library, ProcessList(ids), rank, handle).ok());
    return keep(handle);
  }
  Group& range(int size) {
    Ids ids(static_cast<std::size_t>(size));
    std::iota(ids.begin(), ids.end(), 0u);
    return make(ids);
  }
  static Ids members(const Group& group) {
    Ids ids;
    for (int rank = 0; rank < group.size(); ++rank) ids.push_back(group.processes[rank]);
    return ids;
  }
  int compare(Group& a, Group& b) {
    int result = -1;
    EXPECT_TRUE(group_compare(library, a, b, result).ok());
    return result;
  }
  template <class Call>
  Group& result(Call call) {
    MPI_Group handle = MPI_GROUP_NULL;
    EXPECT_TRUE(call(handle).ok());
    return keep(handle);
  }
  Group& united(Group& a, Group& b) {
    return result([&](MPI_Group& out) { return group_union(library, a, b, out); });
  }
  Group& common(Group& a, Group& b) {
    return result([&](MPI_Group& out) { return group_intersection(library, a, b, out); });
  }
  Group& without(Group& a, Group& b) {
    return result([&](MPI_Group& out) { return group_difference(library, a, b, out); });
  }
  Group& including(Group& group, const std::vector<int>& ranks) {
    return result([&](MPI_Group& out) {
      return group_incl(library, group, static_cast<int>(ranks.size()), ranks, out);
    });
  }
  ErrorClass including_fails(Group& group, const std::vector<int>& ranks) {
    MPI_Group out = MPI_GROUP_NULL;
    return class_of(group_incl(library, group, static_cast<int>(ranks.size()), ranks, out));
  }

 private:
  std::vector<MPI_Group> made_;
};

TEST_F(GroupTest, Evenly_spaced_members_need_no_list) {
  EXPECT_TRUE(ProcessList(Ids{4, 5, 6, 7}).regular());
  EXPECT_TRUE(ProcessList(Ids{9, 6, 3}).regular());
  EXPECT_TRUE(ProcessList(Ids{9}).regular());
  EXPECT_TRUE(ProcessList(Ids{}).regular());
  EXPECT_FALSE(ProcessList(Ids{1, 2, 4}).regular());
  EXPECT_EQ(ProcessList(Ids{9, 6, 3})[2], 3u);
  EXPECT_EQ(ProcessList(Ids{9, 6, 3}), ProcessList(9, -3, 3));
}

TEST_F(GroupTest, Finder_finds_in_lists_and_formulas) {
  for (const Ids& ids : {Ids{3, 4, 5, 6}, Ids{30, 20, 10}, Ids{7, 1, 9, 2, 8}, Ids{4}, Ids{}}) {
    const ProcessList list(ids);
    for (const int expected : {1, 100}) {
      const RankFinder finder(list, expected);
      for (ProcessId id = 0; id < 40; ++id) {
        const auto at = std::find(ids.begin(), ids.end(), id);
        EXPECT_EQ(finder.rank_of(id), at == ids.end() ? -1 : static_cast<int>(at - ids.begin()));
      }
    }
  }
}

TEST_F(GroupTest, Size_and_rank) {
  int size = -1;
  int rank = -1;
  Group& all = range(8);
  ASSERT_TRUE(group_size(library, all, size).ok());
  ASSERT_TRUE(group_rank(library, all, rank).ok());
  EXPECT_EQ(size, 8);
  EXPECT_EQ(rank, 5);
  ASSERT_TRUE(group_rank(library, range(3), rank).ok());
  EXPECT_EQ(rank, MPI_UNDEFINED);
}

TEST_F(GroupTest, Empty_results_are_group_empty_and_can_be_freed) {
  MPI_Group handle = MPI_GROUP_NULL;
  ASSERT_TRUE(group_incl(library, range(4), 0, {}, handle).ok());
  EXPECT_EQ(handle, MPI_GROUP_EMPTY);
  free_group(handle);
  EXPECT_NE(library.find<Group>(MPI_GROUP_EMPTY), nullptr);
  EXPECT_EQ(find<Group>(MPI_GROUP_EMPTY).size(), 0);
  EXPECT_EQ(library.find<Group>(MPI_GROUP_NULL), nullptr);
}

TEST_F(GroupTest, Compare) {
  Group& a = make({1, 2, 3});
  EXPECT_EQ(compare(a, a), MPI_IDENT);
  EXPECT_EQ(compare(a, make({1, 2, 3})), MPI_IDENT);
  EXPECT_EQ(compare(a, make({3, 1, 2})), MPI_SIMILAR);
  EXPECT_EQ(compare(a, make({3, 2, 1})), MPI_SIMILAR);
  EXPECT_EQ(compare(a, make({1, 2})), MPI_UNEQUAL);
  EXPECT_EQ(compare(a, make({1, 2, 4})), MPI_UNEQUAL);
  EXPECT_EQ(compare(group.empty, group.empty), MPI_IDENT);
  EXPECT_EQ(compare(make({7}), make({8})), MPI_UNEQUAL);
}

TEST_F(GroupTest, Set_operations_keep_the_order_of_the_standard) {
  Group& a = make({4, 1, 5, 2});
  Group& b = make({2, 9, 4, 8});
  EXPECT_EQ(members(united(a, b)), (Ids{4, 1, 5, 2, 9, 8}));
  EXPECT_EQ(united(a, b).rank, 2);
  EXPECT_EQ(members(common(a, b)), (Ids{4, 2}));
  EXPECT_EQ(common(a, b).rank, Group::no_rank);
  EXPECT_EQ(members(without(a, b)), (Ids{1, 5}));
  EXPECT_EQ(without(a, b).rank, 1);
  EXPECT_EQ(without(b, a).rank, Group::no_rank);
  EXPECT_EQ(members(united(group.empty, a)), members(a));
  EXPECT_EQ(common(a, group.empty).handle, group.empty.handle);
}

TEST_F(GroupTest, Own_rank_comes_from_the_second_group_too) {
  EXPECT_EQ(united(make({1, 2}), make({2, 5})).rank, 2);
}

TEST_F(GroupTest, Incl_reorders_and_refuses_bad_ranks) {
  Group& all = range(8);
  Group& some = including(all, {7, 5, 0});
  EXPECT_EQ(members(some), (Ids{7, 5, 0}));
  EXPECT_EQ(some.rank, 1);
  EXPECT_EQ(including_fails(all, {1, 8}), ErrorClass::rank);
  EXPECT_EQ(including_fails(all, {-1}), ErrorClass::rank);
  EXPECT_EQ(including_fails(all, {1, 2, 1}), ErrorClass::rank);
}

TEST_F(GroupTest, Excl_keeps_the_order_and_refuses_bad_ranks) {
  Group& all = range(8);
  const std::vector<int> ranks{6, 0, 3};
  Group& rest = result([&](MPI_Group& out) { return group_excl(library, all, 3, ranks, out); });
  EXPECT_EQ(members(rest), (Ids{1, 2, 4, 5, 7}));
  EXPECT_EQ(rest.rank, 3);
  MPI_Group out = MPI_GROUP_NULL;
  EXPECT_EQ(class_of(group_excl(library, all, 2, std::vector<int>{3, 3}, out)), ErrorClass::rank);
  EXPECT_EQ(class_of(group_excl(library, all, 1, std::vector<int>{8}, out)), ErrorClass::rank);
}

TEST_F(GroupTest, Ranges_expand_in_order) {
  Group& all = range(10);
  int ranges[][3] = {{1, 7, 3}, {9, 5, -4}, {0, 0, 5}, {2, 3, 7}};
  Group& some =
      result([&](MPI_Group& out) { return group_range_incl(library, all, 4, ranges, out); });
  EXPECT_EQ(members(some), (Ids{1, 4, 7, 9, 5, 0, 2}));
  Group& rest =
      result([&](MPI_Group& out) { return group_range_excl(library, all, 4, ranges, out); });
  EXPECT_EQ(members(rest), (Ids{3, 6, 8}));
}

TEST_F(GroupTest, Bad_ranges_are_refused) {
  Group& all = range(10);
  const auto fails = [&](int first, int last, int stride) {
    int ranges[][3] = {{first, last, stride}};
    MPI_Group out = MPI_GROUP_NULL;
    const auto incl = class_of(group_range_incl(library, all, 1, ranges, out));
    if (out != MPI_GROUP_NULL) keep(out);
    out = MPI_GROUP_NULL;
    EXPECT_EQ(incl, class_of(group_range_excl(library, all, 1, ranges, out)));
    if (out != MPI_GROUP_NULL) keep(out);
    return incl;
  };
  EXPECT_EQ(fails(0, 5, 0), ErrorClass::arg);
  EXPECT_EQ(fails(5, 0, 1), ErrorClass::arg);
  EXPECT_EQ(fails(0, 5, -1), ErrorClass::arg);
  EXPECT_EQ(fails(0, 10, 1), ErrorClass::rank);
  EXPECT_EQ(fails(-1, 3, 1), ErrorClass::rank);
  EXPECT_EQ(fails(0, 2147483647, 2147483647), ErrorClass::rank);
  EXPECT_EQ(fails(0, 11, 9), ErrorClass::success) << "only the ranks that are named count";
  int twice[][3] = {{0, 4, 2}, {4, 6, 1}};
  MPI_Group out = MPI_GROUP_NULL;
  EXPECT_EQ(class_of(group_range_incl(library, all, 2, twice, out)), ErrorClass::rank);
}

TEST_F(GroupTest, Translate_ranks) {
  Group& a = make({4, 1, 5, 2});
  Group& b = make({2, 9, 4, 8, 77});
  const std::vector<int> ranks{0, 1, MPI_PROC_NULL, 3, 0};
  std::vector<int> out(5);
  ASSERT_TRUE(group_translate_ranks(library, a, 5, ranks, b, out).ok());
  EXPECT_EQ(out, (std::vector<int>{2, MPI_UNDEFINED, MPI_PROC_NULL, 0, 2}));
  ASSERT_TRUE(group_translate_ranks(library, a, 0, {}, b, {}).ok());
  EXPECT_EQ(class_of(group_translate_ranks(library, a, 1, std::vector<int>{4}, b, out)),
            ErrorClass::rank);
  EXPECT_EQ(
      class_of(group_translate_ranks(library, a, 1, std::vector<int>{MPI_ANY_SOURCE}, b, out)),
      ErrorClass::rank);
}

TEST_F(GroupTest, Random_sets_agree_with_plain_lists) {
  std::mt19937 random(12345);
  const auto draw = [&] {
    Ids all(12);
    std::iota(all.begin(), all.end(), 0u);
    std::shuffle(all.begin(), all.end(), random);
    all.resize(random() % 13);
    return all;
  };
  const auto contains = [](const Ids& ids, ProcessId id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
  };
  for (int round = 0; round < 300; ++round) {
    const Ids a = draw();
    const Ids b = draw();
    Ids both;
    Ids only_a;
    Ids either = a;
    for (const ProcessId id : a) (contains(b, id) ? both : only_a).push_back(id);
    for (const ProcessId id : b) {
      if (!contains(a, id)) either.push_back(id);
    }
    Group& group_a = make(a);
    Group& group_b = make(b);
    EXPECT_EQ(members(united(group_a, group_b)), either);
    EXPECT_EQ(members(common(group_a, group_b)), both);
    EXPECT_EQ(members(without(group_a, group_b)), only_a);
  }
}

}  // namespace
}  // namespace fulmar::mpi
