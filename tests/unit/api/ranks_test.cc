// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "api/kinds/ranks.h"

#include <gtest/gtest.h>

#include "api/kinds/buffer.h"
#include "api/kinds/significance.h"

namespace fulmar::api {
namespace {

using base::ErrorClass;

/// A communicator of four ranks, seen from rank 1; `between_groups` makes it one of 3 and 4 ranks.
class Ranks : public testing::Test {
 protected:
  Ranks() {
    comm_.rank = 1;
    comm_.local_size = 4;
    comm_.remote_size = 4;
    comm_.name = "MPI_COMM_TEST";
    scope_.comm = &comm_;
    type_.committed = true;
    library_.define(type_, 0x209);
  }
  ~Ranks() override { library_.undefine(0x209); }

  void between_groups() {
    comm_.is_inter = true;
    comm_.local_size = 3;
  }

  template <class Wrapper>
  ErrorClass verdict(Wrapper wrapper) {
    if (wrapper.check(scope_)) return ErrorClass::success;
    const base::Error error = wrapper.explain(scope_, Argument{arguments_});
    text_ = error.text();
    return error.error_class();
  }
  ErrorClass dest(int rank) { return verdict(DestIn{0, rank}); }
  ErrorClass source(int rank) { return verdict(SourceIn{0, rank}); }
  ErrorClass root(int rank) { return verdict(RootIn{0, rank}); }

  static constexpr const char* arguments_ = "buf\0count\0datatype";
  mpi::Library library_;
  mpi::Comm comm_{library_};
  mpi::Datatype type_{mpi::TypeMap{}, nullptr};
  Scope scope_{library_};
  std::string text_;
};

TEST_F(Ranks, destination_is_a_rank_or_nobody) {
  EXPECT_EQ(dest(0), ErrorClass::success);
  EXPECT_EQ(dest(3), ErrorClass::success);
  EXPECT_EQ(dest(MPI_PROC_NULL), ErrorClass::success);
  EXPECT_EQ(dest(MPI_ANY_SOURCE), ErrorClass::rank);
  EXPECT_EQ(dest(4), ErrorClass::rank);
  EXPECT_EQ(
      text_,
      "argument buf: rank 4 is outside communicator MPI_COMM_TEST of size 4; ranks go from 0 to 3, "
      "MPI_PROC_NULL is allowed");
}

TEST_F(Ranks, source_may_be_anybody) {
  EXPECT_EQ(source(MPI_ANY_SOURCE), ErrorClass::success);
  EXPECT_EQ(source(MPI_PROC_NULL), ErrorClass::success);
  EXPECT_EQ(source(3), ErrorClass::success);
  EXPECT_EQ(source(4), ErrorClass::rank);
  EXPECT_EQ(source(MPI_ROOT), ErrorClass::rank);
}

TEST_F(Ranks, messages_between_groups_go_to_the_other_group) {
  between_groups();
  EXPECT_EQ(dest(3), ErrorClass::success);
  EXPECT_EQ(verdict(CommRankIn{0, 2}), ErrorClass::success);
  EXPECT_EQ(verdict(CommRankIn{0, 3}), ErrorClass::rank);
}

TEST_F(Ranks, root_may_be_this_process_only_between_groups) {
  EXPECT_EQ(root(3), ErrorClass::success);
  EXPECT_EQ(root(MPI_ROOT), ErrorClass::root);
  EXPECT_EQ(root(MPI_PROC_NULL), ErrorClass::root);
  between_groups();
  EXPECT_EQ(root(MPI_ROOT), ErrorClass::success);
  EXPECT_EQ(root(MPI_PROC_NULL), ErrorClass::success);
  EXPECT_EQ(root(4), ErrorClass::root);
}

TEST_F(Ranks, tags_go_from_zero_to_the_bound) {
  EXPECT_EQ(verdict(SendTagIn{0, 0}), ErrorClass::success);
  EXPECT_EQ(verdict(SendTagIn{0, mpi::largest_tag}), ErrorClass::success);
  EXPECT_EQ(verdict(SendTagIn{0, -1}), ErrorClass::tag);
  EXPECT_EQ(verdict(SendTagIn{0, MPI_ANY_TAG}), ErrorClass::tag);
  EXPECT_EQ(verdict(RecvTagIn{0, MPI_ANY_TAG}), ErrorClass::success);
  EXPECT_EQ(verdict(RecvTagIn{0, -1}), ErrorClass::tag);
}

TEST_F(Ranks, buffer_is_refused_only_where_it_must_be) {
  int element = 0;
  EXPECT_EQ(verdict(SendData{0, &element, 1, MPI_INT}), ErrorClass::success);
  EXPECT_EQ(verdict(SendData{0, nullptr, 1, MPI_INT}), ErrorClass::buffer);
  EXPECT_EQ(verdict(SendData{0, nullptr, 0, MPI_INT}), ErrorClass::success);
  EXPECT_EQ(verdict(SendData{0, MPI_IN_PLACE, 1, MPI_INT}), ErrorClass::buffer);
  EXPECT_EQ(verdict(SendDataOrInPlace{0, MPI_IN_PLACE, -1, MPI_DATATYPE_NULL}),
            ErrorClass::success);
  EXPECT_EQ(verdict(SendData{0, &element, -1, MPI_INT}), ErrorClass::count);
  EXPECT_NE(text_.find("argument count"), std::string::npos) << text_;
  EXPECT_EQ(verdict(SendData{0, &element, 1, MPI_DATATYPE_NULL}), ErrorClass::type);
  EXPECT_NE(text_.find("argument datatype"), std::string::npos) << text_;
  type_.committed = false;
  EXPECT_EQ(verdict(SendData{0, &element, 1, MPI_INT}), ErrorClass::type);
  EXPECT_NE(text_.find("MPI_Type_commit"), std::string::npos) << text_;
}

TEST_F(Ranks, null_address_is_right_with_absolute_addresses) {
  type_.predefined = false;
  EXPECT_EQ(verdict(SendData{0, MPI_BOTTOM, 1, MPI_INT}), ErrorClass::success);
}

TEST_F(Ranks, argument_of_the_root_counts_at_the_root_only) {
  scope_.root = 0;
  auto elsewhere = at<Significant::root>(ReceiveData{0, nullptr, -5, MPI_DATATYPE_NULL});
  EXPECT_TRUE(elsewhere.check(scope_));
  EXPECT_EQ(elsewhere.value(scope_).type, nullptr);
  EXPECT_EQ(elsewhere.value(scope_).count, 0);
  auto type_elsewhere = at<Significant::root>(DatatypeIn{0, MPI_DATATYPE_NULL});
  EXPECT_TRUE(type_elsewhere.check(scope_));
  EXPECT_EQ(type_elsewhere.value(scope_), nullptr);
  scope_.root = 1;
  EXPECT_EQ(verdict(elsewhere), ErrorClass::count);
  auto here = at<Significant::root>(DatatypeIn{0, MPI_INT});
  EXPECT_TRUE(here.check(scope_));
  EXPECT_EQ(here.value(scope_), &type_);
}

TEST_F(Ranks, idle_companions_of_a_root_give_nothing) {
  between_groups();
  const SendData wrong{0, nullptr, -5, MPI_DATATYPE_NULL};
  scope_.root = MPI_PROC_NULL;
  EXPECT_EQ(verdict(at<Significant::root>(wrong)), ErrorClass::success);
  EXPECT_EQ(verdict(at<Significant::leaf>(wrong)), ErrorClass::success);
  EXPECT_EQ(verdict(at<Significant::member>(wrong)), ErrorClass::success);
  scope_.root = MPI_ROOT;
  EXPECT_EQ(verdict(at<Significant::root>(wrong)), ErrorClass::count);
  EXPECT_EQ(verdict(at<Significant::leaf>(wrong)), ErrorClass::success);
  EXPECT_EQ(verdict(at<Significant::member>(wrong)), ErrorClass::count);
  scope_.root = 2;
  EXPECT_EQ(verdict(at<Significant::root>(wrong)), ErrorClass::success);
  EXPECT_EQ(verdict(at<Significant::leaf>(wrong)), ErrorClass::count);
}

TEST_F(Ranks, in_place_makes_companions_meaningless) {
  int element = 0;
  auto ignored = unless_in_place(MPI_IN_PLACE, DatatypeIn{0, MPI_DATATYPE_NULL});
  EXPECT_TRUE(ignored.check(scope_));
  EXPECT_EQ(ignored.value(scope_), nullptr);
  EXPECT_EQ(verdict(unless_in_place(&element, DatatypeIn{0, MPI_DATATYPE_NULL})), ErrorClass::type);
}

}  // namespace
}  // namespace fulmar::api
