// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "api/entry.h"

#include <gtest/gtest.h>

#include <string>

#include "api/kinds/comm.h"
#include "api/kinds/counts.h"
#include "mpi/errhandler/errhandler.h"
#include "mpi/errhandler/raise.h"

namespace fulmar::api {
namespace {

using base::Error;
using base::ErrorClass;

Error add(Count first, Count second, int& sum) {
  sum = static_cast<int>(first + second);
  return {};
}
Error look_at_library(mpi::Library& library, int& held) {
  held = library.lock.held() ? 1 : 0;
  return {};
}
Error fail_always(mpi::Library&, Count) {
  return base::failure(ErrorClass::io, "the disk is gone");
}
Error blame_second(mpi::Library& library, mpi::ErrorTarget& target, mpi::Comm& /*first*/) {
  target.object = library.find_object(mpi::ObjectKind::comm, 0x102);
  return Error(ErrorClass::other);
}

std::uintptr_t handler_called_for = 0;
void note_call(MPI_Comm* comm, int* /*code*/, ...) {
  handler_called_for = reinterpret_cast<std::uintptr_t>(*comm);
}

/// A library in which every error comes back, open for calls.
class Entry : public testing::Test {
 protected:
  Entry() {
    errors_.initial = &errors_.returning;
    library_.define(world_, 0x101);
    library_.define(other_, 0x102);
    EXPECT_TRUE(mpi::set_errhandler(library_, world_, errors_.returning).ok());
    EXPECT_TRUE(mpi::set_errhandler(library_, other_, errors_.returning).ok());
    world_.name = "first";
    other_.name = "second";
    open();
  }
  ~Entry() override {
    close();
    mpi::drop_errhandler(library_, world_);
    mpi::drop_errhandler(library_, other_);
    library_.undefine(0x101);
    library_.undefine(0x102);
  }
  void open() { runtime::usable_library.store(&library_); }
  static void close() { runtime::usable_library.store(nullptr); }

  mpi::Library library_;
  mpi::ErrorState errors_{library_, {}};
  mpi::Comm world_{library_};
  mpi::Comm other_{library_};
};

constexpr const char* add_call = "MPI_Add\0first\0second\0sum";

TEST_F(Entry, gives_the_implementation_its_values) {
  int sum = 0;
  EXPECT_EQ(entry<add>(add_call, CountIn{0, 3}, CountIn{1, 4}, Out{2, &sum}), MPI_SUCCESS);
  EXPECT_EQ(sum, 7);
}

TEST_F(Entry, stops_at_the_first_wrong_argument_and_names_it) {
  int sum = 5;
  EXPECT_EQ(entry<add>(add_call, CountIn{0, 3}, CountIn{1, -4}, Out{2, &sum}), MPI_ERR_COUNT);
  EXPECT_EQ(sum, 5);
  EXPECT_NE(mpi::last_error_text(MPI_ERR_COUNT).find("argument second: -4"), std::string::npos);
  EXPECT_EQ(entry<add>(add_call, CountIn{0, -3}, CountIn{1, -4}, Out{2, &sum}), MPI_ERR_COUNT);
  EXPECT_NE(mpi::last_error_text(MPI_ERR_COUNT).find("argument first"), std::string::npos);
}

TEST_F(Entry, looks_at_objects_before_values) {
  const Call call = "MPI_Two\0count\0comm";
  const auto both_wrong = [&] {
    return entry<[](Count, mpi::Comm&) { return Error{}; }>(call, CountIn{0, -1},
                                                            CommIn{1, MPI_COMM_NULL});
  };
  EXPECT_EQ(both_wrong(), MPI_ERR_COMM);
}

TEST_F(Entry, holds_the_lock_unless_told_otherwise) {
  int held = -1;
  library_.lock.set_enabled(true);
  EXPECT_EQ(entry<look_at_library>("MPI_Look\0held", Out{0, &held}), MPI_SUCCESS);
  EXPECT_EQ(held, 1);
  const auto unlocked = [&] {
    return entry<look_at_library, When::any, Lock::none>("MPI_Look\0held", Out{0, &held});
  };
  EXPECT_EQ(unlocked(), MPI_SUCCESS);
  EXPECT_EQ(held, 0);
  EXPECT_FALSE(library_.lock.held());
}

TEST_F(Entry, raises_what_the_implementation_finds) {
  EXPECT_EQ(entry<fail_always>("MPI_Fail\0count", CountIn{0, 1}), MPI_ERR_IO);
  EXPECT_NE(mpi::last_error_text(MPI_ERR_IO).find("the disk is gone"), std::string::npos);
}

TEST_F(Entry, lets_the_implementation_choose_the_error_handler) {
  mpi::Errhandler::Function function;
  function.comm = note_call;
  mpi::Errhandler* handler = library_.make<mpi::Errhandler>(mpi::ErrorAction::call_comm, function);
  EXPECT_TRUE(mpi::set_errhandler(library_, other_, *handler).ok());
  EXPECT_EQ(entry<blame_second>("MPI_Blame\0comm", CommIn{0, MPI_COMM_WORLD}), MPI_ERR_OTHER);
  EXPECT_EQ(handler_called_for, 0x102U);
  mpi::drop_errhandler(library_, other_);
}

std::string stderr_of_missing(const char* call) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(missing(call, mpi::ObjectKind::file, 0), MPI_ERR_UNSUPPORTED_OPERATION);
  return testing::internal::GetCapturedStderr();
}

/// The error handler of files returns by default, and few programs look at what a call returns.
TEST(Missing, says_so_once_for_each_call_where_the_handler_returns) {
  static constexpr char first[] = "MPI_File_first";
  static constexpr char second[] = "MPI_File_second";
  const std::string text = stderr_of_missing(first);
  EXPECT_NE(text.find("MPI_File_first does not work yet"), std::string::npos) << text;
  EXPECT_NE(text.find("`fulmar info --api`"), std::string::npos) << text;
  EXPECT_EQ(stderr_of_missing(first), "");
  EXPECT_NE(stderr_of_missing(second).find("MPI_File_second"), std::string::npos);
}

TEST(Handles, are_read_directly_and_through_pointers) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  EXPECT_EQ(handle_at(comm), 0x101U);
  EXPECT_EQ(handle_at(&comm), 0x101U);
  EXPECT_EQ(handle_at(static_cast<const MPI_Comm*>(nullptr)), 0U);
}

}  // namespace
}  // namespace fulmar::api
