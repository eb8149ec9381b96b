// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
//
// Error classes and codes that a program adds and removes (MPI 5.0, 9.5), info objects that
// describe the environment (11.2.2), and MPI_Pcontrol and the names PMPI_ (15.2).
#include <mpi.h>

#include <cstring>
#include <string>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

std::string text_of(int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = -1;
  expect_equal(MPI_Error_string(code, text, &length), MPI_SUCCESS, "text of a code");
  expect_equal(length, std::strlen(text), "length of the text");
  return text;
}

int last_used() {
  int* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, static_cast<void*>(&value), &found);
  return found != 0 ? *value : -1;
}

void added() {
  int ours = 0;
  int code = 0;
  int of_predefined = 0;
  expect(last_used() >= MPI_ERR_LASTCODE, "MPI_LASTUSEDCODE");
  expect_equal(MPI_Add_error_class(&ours), MPI_SUCCESS, "class");
  expect(ours > MPI_ERR_LASTCODE, "a new class is above the predefined codes");
  expect_equal(last_used(), ours, "MPI_LASTUSEDCODE follows");
  expect_equal(MPI_Add_error_code(ours, &code), MPI_SUCCESS, "code");
  expect_equal(MPI_Add_error_code(MPI_ERR_TAG, &of_predefined), MPI_SUCCESS, "code");
  expect_equal(last_used(), of_predefined, "MPI_LASTUSEDCODE follows");
  int found = -1;
  MPI_Error_class(code, &found);
  expect_equal(found, ours, "class of a code");
  MPI_Error_class(of_predefined, &found);
  expect_equal(found, MPI_ERR_TAG, "class of a code");
  MPI_Error_class(ours, &found);
  expect_equal(found, ours, "a class is a code of itself");
  expect(text_of(code).empty(), "no text yet");
  expect_equal(MPI_Add_error_string(code, "the flux is out of balance"), MPI_SUCCESS, "text");
  expect(text_of(code) == "the flux is out of balance", "text");
  expect_equal(MPI_Add_error_string(code, "another"), MPI_SUCCESS, "another text");
  expect(text_of(code) == "another", "the later one counts");
  expect_class(MPI_Add_error_string(MPI_ERR_TAG, "mine"), MPI_ERR_ARG, "predefined");
  // From the inside out: text, code, class.
  expect_class(MPI_Remove_error_class(ours), MPI_ERR_ARG, "a class with codes");
  expect_class(MPI_Remove_error_code(code), MPI_ERR_ARG, "a code with a text");
  expect_equal(MPI_Remove_error_string(code), MPI_SUCCESS, "text");
  expect(text_of(code).empty(), "no text any more");
  expect_class(MPI_Remove_error_string(code), MPI_ERR_ARG, "a code without a text");
  expect_equal(MPI_Remove_error_code(code), MPI_SUCCESS, "code");
  expect_class(MPI_Error_class(code, &found), MPI_ERR_ARG, "a removed code");
  expect_equal(MPI_Remove_error_class(ours), MPI_SUCCESS, "class");
  expect_class(MPI_Remove_error_class(ours), MPI_ERR_ARG, "a removed class");
  expect_equal(MPI_Remove_error_code(of_predefined), MPI_SUCCESS, "code");
  expect_class(MPI_Remove_error_class(MPI_ERR_TAG), MPI_ERR_ARG, "predefined");
}

void tool_codes() {
  for (int code = MPI_T_ERR_CANNOT_INIT; code <= MPI_T_ERR_PVAR_NO_ATOMIC; ++code) {
    int found = 0;
    expect_equal(MPI_Error_class(code, &found), MPI_SUCCESS, "codes of MPI_T have a class");
    expect_equal(found, code, "they are classes");
    expect(!text_of(code).empty(), "and have a text");
  }
}

std::string value_of(MPI_Info info, const char* key) {
  char value[1024] = "";
  int size = sizeof value;
  int found = 0;
  MPI_Info_get_string(info, key, &size, value, &found);
  return found != 0 ? value : "";
}

void environment(int argc, char** argv) {
  MPI_Info info = MPI_INFO_NULL;
  expect_equal(MPI_Info_create_env(argc, argv, &info), MPI_SUCCESS, "description of the process");
  expect(!value_of(info, "command").empty(), "command");
  expect(!value_of(info, "wdir").empty(), "working directory");
  expect_equal(std::stoi("0" + value_of(info, "maxprocs")), test::size_of(MPI_COMM_WORLD),
               "number of processes");
  expect_equal(MPI_Info_set(info, "command", "mine"), MPI_SUCCESS, "it may be changed");
  expect(value_of(MPI_INFO_ENV, "command") != "mine", "MPI_INFO_ENV stays");
  expect_class(MPI_Info_set(MPI_INFO_ENV, "command", "mine"), MPI_ERR_INFO, "MPI_INFO_ENV stays");
  MPI_Info_free(&info);
}

void profiling() {
  expect_equal(MPI_Pcontrol(0), MPI_SUCCESS, "off");
  expect_equal(MPI_Pcontrol(1), MPI_SUCCESS, "standard");
  expect_equal(MPI_Pcontrol(2, "what", 3, 4.0), MPI_SUCCESS, "more arguments");
  expect_equal(PMPI_Pcontrol(1), MPI_SUCCESS, "by its other name");
  int provided = 0;
  expect_equal(PMPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS, "MPI_T too");
  expect_equal(PMPI_T_finalize(), MPI_SUCCESS, "MPI_T too");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  added();
  tool_codes();
  environment(argc, argv);
  profiling();
  return test::finish();
}
