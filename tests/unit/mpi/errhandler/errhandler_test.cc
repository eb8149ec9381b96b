// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <string>
#include <thread>

#include "mpi/errhandler/calls.h"
#include "mpi/errhandler/error_codes.h"
#include "mpi/errhandler/raise.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

struct Call {
  void* handle = nullptr;
  int code = 0;
  int count = 0;
};
Call last_call;

void on_comm(MPI_Comm* comm, int* code, ...) { last_call = {*comm, *code, last_call.count + 1}; }
void on_win(MPI_Win* win, int* code, ...) { last_call = {*win, *code, last_call.count + 1}; }
void on_file(MPI_File* file, int* code, ...) { last_call = {*file, *code, last_call.count + 1}; }
void on_session(MPI_Session* session, int* code, ...) {
  last_call = {*session, *code, last_call.count + 1};
}

class ErrhandlerTest : public Objects {
 protected:
  void SetUp() override {
    last_call = {};
    library.define(world, reinterpret_cast<std::uintptr_t>(MPI_COMM_WORLD));
    world.name = "MPI_COMM_WORLD";
  }
  void TearDown() override {
    drop_errhandler(library, world);
    Objects::TearDown();
  }
  MPI_Errhandler make_comm_handler() {
    MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
    EXPECT_TRUE(comm_create_errhandler(library, on_comm, handle).ok());
    return handle;
  }
  void free_handler(MPI_Errhandler handle) {
    EXPECT_TRUE(errhandler_free(library, {&handle, &errhandler(handle)}).ok());
    EXPECT_EQ(handle, MPI_ERRHANDLER_NULL);
  }
  std::string text_of(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = -1;
    EXPECT_TRUE(error_string(library, code, text, length).ok());
    EXPECT_EQ(static_cast<int>(std::strlen(text)), length);
    return text;
  }

  Holder world{ObjectKind::comm};
};

TEST_F(ErrhandlerTest, New_holder_is_fatal) {
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  ASSERT_TRUE(comm_get_errhandler(library, world, handle).ok());
  EXPECT_EQ(handle, MPI_ERRORS_ARE_FATAL);
  free_handler(handle);
  EXPECT_NE(library.find<Errhandler>(MPI_ERRORS_ARE_FATAL), nullptr);
}

TEST_F(ErrhandlerTest, Raise_on_fatal_reports_and_aborts_with_the_class) {
  errors.rank = 3;
  errors.size = 8;
  testing::internal::CaptureStderr();
  const int code = raise(library, "MPI_Send", &world,
                         failure(ErrorClass::rank, "MPI_Send: argument dest: rank 9 is too large"));
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_EQ(code, MPI_ERR_RANK);
  ASSERT_EQ(aborted_with, std::vector<int>{MPI_ERR_RANK});
  EXPECT_EQ(
      report,
      "fulmar: rank 3 of 8: MPI_Send on MPI_COMM_WORLD: MPI_ERR_RANK: argument dest: rank 9 is "
      "too large\n");
}

TEST_F(ErrhandlerTest, Raise_on_abort_aborts) {
  ASSERT_TRUE(comm_set_errhandler(library, world, errhandler(MPI_ERRORS_ABORT)).ok());
  testing::internal::CaptureStderr();
  (void)raise(library, "MPI_Send", &world, Error(ErrorClass::tag));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("MPI_ERR_TAG"), std::string::npos);
  EXPECT_EQ(aborted_with, std::vector<int>{MPI_ERR_TAG});
}

TEST_F(ErrhandlerTest, Raise_on_return_gives_the_code) {
  ASSERT_TRUE(comm_set_errhandler(library, world, errhandler(MPI_ERRORS_RETURN)).ok());
  EXPECT_EQ(raise(library, "MPI_Send", &world, Error(ErrorClass::tag)), MPI_ERR_TAG);
  EXPECT_TRUE(aborted_with.empty());
}

TEST_F(ErrhandlerTest, Raise_calls_the_function_with_handle_and_code) {
  const MPI_Errhandler handle = make_comm_handler();
  ASSERT_TRUE(comm_set_errhandler(library, world, errhandler(handle)).ok());
  EXPECT_EQ(raise(library, "MPI_Recv", &world, Error(ErrorClass::truncate)), MPI_ERR_TRUNCATE);
  EXPECT_EQ(last_call.handle, static_cast<void*>(MPI_COMM_WORLD));
  EXPECT_EQ(last_call.code, MPI_ERR_TRUNCATE);
  free_handler(handle);
}

TEST_F(ErrhandlerTest, Function_gets_the_cause_of_an_error_in_a_status) {
  const MPI_Errhandler handle = make_comm_handler();
  ASSERT_TRUE(comm_set_errhandler(library, world, errhandler(handle)).ok());
  EXPECT_EQ(raise(library, "MPI_Waitall", &world, Error(ErrorClass::in_status),
                  Error(ErrorClass::truncate)),
            MPI_ERR_IN_STATUS);
  EXPECT_EQ(last_call.code, MPI_ERR_TRUNCATE);
  EXPECT_EQ(last_call.count, 1);
  free_handler(handle);
}

TEST_F(ErrhandlerTest, Freed_handler_still_works_where_it_is_set) {
  MPI_Errhandler handle = make_comm_handler();
  ASSERT_TRUE(comm_set_errhandler(library, world, errhandler(handle)).ok());
  free_handler(handle);
  EXPECT_EQ(library.find<Errhandler>(handle), nullptr);
  EXPECT_EQ(raise(library, "MPI_Recv", &world, Error(ErrorClass::tag)), MPI_ERR_TAG);
  EXPECT_EQ(last_call.count, 1);

  MPI_Errhandler again = MPI_ERRHANDLER_NULL;
  ASSERT_TRUE(comm_get_errhandler(library, world, again).ok());
  ASSERT_NE(library.find<Errhandler>(again), nullptr);
  drop_errhandler(library, world);
  EXPECT_NE(library.find<Errhandler>(again), nullptr);
  free_handler(again);
}

TEST_F(ErrhandlerTest, Each_get_needs_its_own_free) {
  const MPI_Errhandler handle = make_comm_handler();
  ASSERT_TRUE(comm_set_errhandler(library, world, errhandler(handle)).ok());
  MPI_Errhandler second = MPI_ERRHANDLER_NULL;
  ASSERT_TRUE(comm_get_errhandler(library, world, second).ok());
  EXPECT_EQ(second, handle);
  free_handler(second);
  EXPECT_NE(library.find<Errhandler>(handle), nullptr);
  free_handler(handle);
  EXPECT_EQ(library.find<Errhandler>(handle), nullptr);
}

TEST_F(ErrhandlerTest, Set_of_a_handler_for_other_objects_fails) {
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  ASSERT_TRUE(win_create_errhandler(library, on_win, handle).ok());
  EXPECT_EQ(class_of(comm_set_errhandler(library, world, errhandler(handle))),
            ErrorClass::errhandler);
  EXPECT_EQ(world.errhandler, nullptr);
  free_handler(handle);
}

TEST_F(ErrhandlerTest, Every_kind_of_object_calls_its_kind_of_function) {
  struct {
    ObjectKind kind;
    MPI_Errhandler handle;
  } cases[3] = {{ObjectKind::win, {}}, {ObjectKind::file, {}}, {ObjectKind::session, {}}};
  ASSERT_TRUE(win_create_errhandler(library, on_win, cases[0].handle).ok());
  ASSERT_TRUE(file_create_errhandler(library, on_file, cases[1].handle).ok());
  ASSERT_TRUE(session_create_errhandler(library, on_session, cases[2].handle).ok());
  for (auto& [kind, handle] : cases) {
    Holder holder(kind);
    holder.handle = 4096;
    ASSERT_TRUE(set_errhandler(library, holder, errhandler(handle)).ok());
    last_call = {};
    EXPECT_EQ(raise(library, "MPI_X", &holder, Error(ErrorClass::io)), MPI_ERR_IO);
    EXPECT_EQ(last_call.handle, reinterpret_cast<void*>(4096));
    EXPECT_EQ(last_call.count, 1);
    drop_errhandler(library, holder);
    free_handler(handle);
  }
}

TEST_F(ErrhandlerTest, Raise_without_an_object_goes_to_comm_self) {
  Holder self(ObjectKind::comm);
  library.define(self, reinterpret_cast<std::uintptr_t>(MPI_COMM_SELF));
  ASSERT_TRUE(comm_set_errhandler(library, self, errhandler(MPI_ERRORS_RETURN)).ok());
  EXPECT_EQ(raise(library, "MPI_Type_size", nullptr, Error(ErrorClass::type)), MPI_ERR_TYPE);
  EXPECT_EQ(raise(library, "MPI_Type_size", &type(MPI_INT), Error(ErrorClass::type)), MPI_ERR_TYPE);
  EXPECT_TRUE(aborted_with.empty());
  library.undefine(self.handle);
}

TEST_F(ErrhandlerTest, Raise_without_an_object_goes_to_comm_world_where_only_that_has_a_handler) {
  Holder self(ObjectKind::comm);
  library.define(self, reinterpret_cast<std::uintptr_t>(MPI_COMM_SELF));
  const MPI_Errhandler handle = make_comm_handler();
  ASSERT_TRUE(comm_set_errhandler(library, world, errhandler(handle)).ok());
  EXPECT_EQ(raise(library, "MPI_Type_size", nullptr, Error(ErrorClass::type)), MPI_ERR_TYPE);
  EXPECT_EQ(last_call.handle, MPI_COMM_WORLD);
  EXPECT_EQ(default_holder(library), &world);
  ASSERT_TRUE(comm_set_errhandler(library, self, errhandler(handle)).ok());
  EXPECT_EQ(raise(library, "MPI_Type_size", nullptr, Error(ErrorClass::type)), MPI_ERR_TYPE);
  EXPECT_EQ(last_call.handle, MPI_COMM_SELF);
  EXPECT_EQ(last_call.count, 2);
  drop_errhandler(library, self);
  library.undefine(self.handle);
  free_handler(handle);
}

TEST_F(ErrhandlerTest, Errors_are_fatal_on_comm_self_counts_where_it_was_set) {
  Holder self(ObjectKind::comm);
  library.define(self, reinterpret_cast<std::uintptr_t>(MPI_COMM_SELF));
  ASSERT_TRUE(comm_set_errhandler(library, world, errhandler(MPI_ERRORS_RETURN)).ok());
  ASSERT_TRUE(comm_set_errhandler(library, self, errhandler(MPI_ERRORS_ARE_FATAL)).ok());
  testing::internal::CaptureStderr();
  (void)raise(library, "MPI_Type_size", nullptr, Error(ErrorClass::type));
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(aborted_with.size(), 1U);
  drop_errhandler(library, self);
  library.undefine(self.handle);
}

TEST_F(ErrhandlerTest, Raise_before_initialisation_uses_the_initial_handler) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(raise(library, "MPI_Info_set", nullptr, Error(ErrorClass::info)), MPI_ERR_INFO);
  EXPECT_EQ(testing::internal::GetCapturedStderr().rfind("fulmar: MPI_Info_set: MPI_ERR_INFO", 0),
            0u);
  EXPECT_EQ(aborted_with.size(), 1u);
  errors.initial = &errors.returning;
  EXPECT_EQ(raise(library, "MPI_Info_set", nullptr, Error(ErrorClass::info)), MPI_ERR_INFO);
  EXPECT_EQ(aborted_with.size(), 1u);
}

TEST_F(ErrhandlerTest, File_null_holds_the_handler_of_new_files) {
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  ASSERT_TRUE(file_get_errhandler(library, nullptr, handle).ok());
  EXPECT_EQ(handle, MPI_ERRORS_RETURN);
  ASSERT_TRUE(file_set_errhandler(library, nullptr, errhandler(MPI_ERRORS_ARE_FATAL)).ok());
  ASSERT_TRUE(file_get_errhandler(library, nullptr, handle).ok());
  EXPECT_EQ(handle, MPI_ERRORS_ARE_FATAL);
  ASSERT_TRUE(file_create_errhandler(library, on_file, handle).ok());
  ASSERT_TRUE(file_set_errhandler(library, nullptr, errhandler(handle)).ok());
  free_handler(handle);
  ASSERT_TRUE(file_call_errhandler(library, nullptr, MPI_ERR_AMODE).ok());
  EXPECT_EQ(last_call.handle, static_cast<void*>(MPI_FILE_NULL));
  ASSERT_TRUE(file_set_errhandler(library, nullptr, errors.returning).ok());
}

TEST_F(ErrhandlerTest, Call_errhandler_succeeds_whatever_the_code) {
  const MPI_Errhandler handle = make_comm_handler();
  ASSERT_TRUE(comm_set_errhandler(library, world, errhandler(handle)).ok());
  EXPECT_TRUE(comm_call_errhandler(library, world, MPI_ERR_OTHER).ok());
  EXPECT_EQ(last_call.code, MPI_ERR_OTHER);
  free_handler(handle);
}

Library* freeing_library = nullptr;
ErrorHolder* freeing_holder = nullptr;
void free_itself(MPI_Comm*, int*, ...) { drop_errhandler(*freeing_library, *freeing_holder); }

TEST_F(ErrhandlerTest, Function_may_drop_the_last_use_of_its_handler) {
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  ASSERT_TRUE(comm_create_errhandler(library, free_itself, handle).ok());
  ASSERT_TRUE(comm_set_errhandler(library, world, errhandler(handle)).ok());
  free_handler(handle);
  freeing_library = &library;
  freeing_holder = &world;
  EXPECT_EQ(raise(library, "MPI_Send", &world, Error(ErrorClass::tag)), MPI_ERR_TAG);
  EXPECT_EQ(library.live(ObjectKind::errhandler), 0u);
}

void fail_again(MPI_Comm*, int*, ...) {
  (void)raise(*freeing_library, "MPI_Recv", freeing_holder, Error(ErrorClass::tag));
}

TEST_F(ErrhandlerTest, Function_that_fails_without_end_ends_the_job) {
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  ASSERT_TRUE(comm_create_errhandler(library, fail_again, handle).ok());
  ASSERT_TRUE(comm_set_errhandler(library, world, errhandler(handle)).ok());
  freeing_library = &library;
  freeing_holder = &world;
  testing::internal::CaptureStderr();
  EXPECT_EQ(raise(library, "MPI_Send", &world, Error(ErrorClass::tag)), MPI_ERR_TAG);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("raises errors itself"), std::string::npos);
  EXPECT_EQ(aborted_with, std::vector<int>{MPI_ERR_TAG});
  free_handler(handle);
}

void leave(MPI_Comm*, int*, ...) { throw 1; }

TEST_F(ErrhandlerTest, Function_may_leave_by_an_exception) {
  MPI_Errhandler handle = MPI_ERRHANDLER_NULL;
  ASSERT_TRUE(comm_create_errhandler(library, leave, handle).ok());
  ASSERT_TRUE(comm_set_errhandler(library, world, errhandler(handle)).ok());
  for (int i = 0; i < 100; ++i) {
    EXPECT_THROW((void)raise(library, "MPI_Send", &world, Error(ErrorClass::tag)), int);
  }
  EXPECT_TRUE(aborted_with.empty());
  Errhandler& left = errhandler(handle);
  left.references = 2;  // what each exception has left behind
  free_handler(handle);
}

TEST_F(ErrhandlerTest, Error_string_names_class_and_last_detail_of_this_thread) {
  errors.initial = &errors.returning;
  (void)raise(library, "MPI_Send", nullptr,
              failure(ErrorClass::tag, "argument tag: -7 is negative"));
  const std::string text = text_of(MPI_ERR_TAG);
  EXPECT_EQ(text.rfind("MPI_ERR_TAG: ", 0), 0u) << text;
  EXPECT_NE(text.find("(MPI_Send: argument tag: -7 is negative)"), std::string::npos) << text;
  EXPECT_EQ(text_of(MPI_ERR_RANK).find("argument"), std::string::npos);
  std::thread([&] { EXPECT_EQ(text_of(MPI_ERR_TAG).find("argument"), std::string::npos); }).join();
}

TEST_F(ErrhandlerTest, Error_string_of_long_detail_fits_the_buffer) {
  errors.initial = &errors.returning;
  const std::string long_text(600, 'x');
  (void)raise(library, "MPI_Send", nullptr, failure(ErrorClass::tag, "%s", long_text.c_str()));
  EXPECT_EQ(text_of(MPI_ERR_TAG).size(), std::size_t{MPI_MAX_ERROR_STRING - 1});
}

TEST_F(ErrhandlerTest, Every_predefined_class_has_itself_and_a_text) {
  for (int code = 0; code <= MPI_ERR_ABI; ++code) {
    int error_class_value = -1;
    EXPECT_TRUE(error_class(library, code, error_class_value).ok());
    EXPECT_EQ(error_class_value, code);
    EXPECT_FALSE(text_of(code).empty());
  }
}

TEST_F(ErrhandlerTest, Unknown_code_is_refused) {
  for (const int code : {-1, 63, 16382, ErrorCodes::first_user_code, 1 << 30}) {
    int out = 0;
    char text[MPI_MAX_ERROR_STRING];
    EXPECT_EQ(class_of(error_class(library, code, out)), ErrorClass::arg) << code;
    EXPECT_EQ(class_of(error_string(library, code, text, out)), ErrorClass::arg) << code;
  }
}

TEST_F(ErrhandlerTest, User_classes_and_codes_live_above_lastcode) {
  EXPECT_EQ(errors.codes.last_used_code(), MPI_ERR_LASTCODE);
  int user_class = 0;
  int user_code = 0;
  int own_code = 0;
  int out = 0;
  ASSERT_TRUE(add_error_class(library, user_class).ok());
  EXPECT_GT(user_class, MPI_ERR_LASTCODE);
  ASSERT_TRUE(add_error_code(library, user_class, user_code).ok());
  ASSERT_TRUE(add_error_code(library, MPI_ERR_IO, own_code).ok());
  EXPECT_EQ(errors.codes.last_used_code(), own_code);
  ASSERT_TRUE(error_class(library, user_code, out).ok());
  EXPECT_EQ(out, user_class);
  ASSERT_TRUE(error_class(library, own_code, out).ok());
  EXPECT_EQ(out, MPI_ERR_IO);
  EXPECT_EQ(text_of(user_code), "");
  ASSERT_TRUE(add_error_string(library, user_code, "disk full").ok());
  EXPECT_EQ(text_of(user_code), "disk full");
  ASSERT_TRUE(remove_error_string(library, user_code).ok());
  EXPECT_EQ(text_of(user_code), "");
}

TEST_F(ErrhandlerTest, Codes_are_removed_before_their_class) {
  int user_class = 0;
  int code = 0;
  ASSERT_TRUE(add_error_class(library, user_class).ok());
  ASSERT_TRUE(add_error_code(library, user_class, code).ok());
  EXPECT_EQ(class_of(remove_error_class(library, user_class)), ErrorClass::arg);
  EXPECT_EQ(class_of(remove_error_code(library, user_class)), ErrorClass::arg);
  EXPECT_EQ(class_of(remove_error_class(library, code)), ErrorClass::arg);
  ASSERT_TRUE(remove_error_code(library, code).ok());
  EXPECT_EQ(class_of(remove_error_code(library, code)), ErrorClass::arg);
  ASSERT_TRUE(remove_error_class(library, user_class).ok());
  int out = 0;
  EXPECT_EQ(class_of(error_class(library, user_class, out)), ErrorClass::arg);
  int next = 0;
  ASSERT_TRUE(add_error_class(library, next).ok());
  EXPECT_GT(next, code) << "numbers are not used again at once";
}

TEST(ErrorCodesTest, Removed_numbers_are_used_again_after_many_others) {
  ErrorCodes codes;
  const int user_class = *codes.add_class();
  const int kept = *codes.add_code(user_class);
  const int first = *codes.add_code(user_class);
  int largest = first;
  ASSERT_TRUE(codes.remove_code(first).ok());
  for (int i = 0; i < 100000; ++i) {
    const int code = *codes.add_code(i % 2 == 0 ? user_class : MPI_ERR_OTHER);
    ASSERT_NE(code, kept);
    ASSERT_TRUE(i >= ErrorCodes::most_resting || code > first) << "a stale code is noticed";
    ASSERT_EQ(*codes.class_of(code), i % 2 == 0 ? user_class : MPI_ERR_OTHER);
    ASSERT_EQ(*codes.text_of(code), "");
    ASSERT_TRUE(codes.set_text(code, "text").ok());
    ASSERT_TRUE(codes.remove_text(code).ok());
    largest = std::max(largest, code);
    ASSERT_GE(codes.last_used_code(), largest) << "MPI_LASTUSEDCODE does not go back";
    ASSERT_TRUE(codes.remove_code(code).ok());
    ASSERT_EQ(class_of(codes.class_of(code).error()), ErrorClass::arg);
  }
  EXPECT_LE(codes.last_used_code(), kept + 2 + ErrorCodes::most_resting) << "bounded";
  const int other_class = *codes.add_class();
  EXPECT_EQ(*codes.class_of(other_class), other_class) << "a class with the number of a code";
  ASSERT_TRUE(codes.remove_code(kept).ok());
  EXPECT_TRUE(codes.remove_class(user_class).ok());
}

TEST_F(ErrhandlerTest, Texts_are_removed_before_their_code_or_class) {
  int user_class = 0;
  int code = 0;
  ASSERT_TRUE(add_error_class(library, user_class).ok());
  ASSERT_TRUE(add_error_code(library, user_class, code).ok());
  ASSERT_TRUE(add_error_string(library, user_class, "a class").ok());
  ASSERT_TRUE(add_error_string(library, code, "a code").ok());
  EXPECT_EQ(class_of(remove_error_code(library, code)), ErrorClass::arg);
  ASSERT_TRUE(remove_error_string(library, code).ok());
  ASSERT_TRUE(remove_error_code(library, code).ok());
  EXPECT_EQ(class_of(remove_error_class(library, user_class)), ErrorClass::arg);
  ASSERT_TRUE(remove_error_string(library, user_class).ok());
  EXPECT_TRUE(remove_error_class(library, user_class).ok());
}

TEST_F(ErrhandlerTest, Predefined_codes_cannot_be_changed) {
  int out = 0;
  EXPECT_EQ(class_of(add_error_string(library, MPI_ERR_RANK, "x")), ErrorClass::arg);
  EXPECT_EQ(class_of(remove_error_class(library, MPI_ERR_RANK)), ErrorClass::arg);
  EXPECT_EQ(class_of(remove_error_string(library, MPI_ERR_RANK)), ErrorClass::arg);
  EXPECT_EQ(class_of(add_error_code(library, 12345, out)), ErrorClass::arg);
  ASSERT_TRUE(add_error_class(library, out).ok());
  const std::string too_long(MPI_MAX_ERROR_STRING, 'x');
  EXPECT_EQ(class_of(add_error_string(library, out, too_long)), ErrorClass::arg);
}

}  // namespace
}  // namespace fulmar::mpi
