// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 1 2
// env: FULMAR_EAGER_BYTES=32K
//
// MPI_T: initialisation, strings, enumerations, control variables, categories (MPI 5.0, 15.3.3 to
// 15.3.6 and 15.3.9).
#include <cstring>
#include <set>
#include <string>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;

int control(const char* name) {
  int index = -1;
  expect_equal(MPI_T_cvar_get_index(name, &index), MPI_SUCCESS, "a control variable has a name");
  return index;
}

unsigned long long number_of(const char* name) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  unsigned long long value = 0;
  MPI_T_cvar_handle_alloc(control(name), nullptr, &handle, &count);
  expect_equal(count, 1, "a number has one element");
  expect_equal(MPI_T_cvar_read(handle, &value), MPI_SUCCESS, "a control variable is read");
  MPI_T_cvar_handle_free(&handle);
  return value;
}

template <class T>
int write_to(const char* name, T value) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  MPI_T_cvar_handle_alloc(control(name), nullptr, &handle, &count);
  const int result = MPI_T_cvar_write(handle, &value);
  MPI_T_cvar_handle_free(&handle);
  return result;
}

void uninitialised() {
  int number = 0;
  expect_equal(MPI_T_cvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED, "before initialisation");
  expect_equal(MPI_T_pvar_get_num(&number), MPI_T_ERR_NOT_INITIALIZED, "before initialisation");
  expect_equal(MPI_T_category_get_num(&number), MPI_T_ERR_NOT_INITIALIZED, "before initialisation");
  expect_equal(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED, "finalize without init");
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  expect_equal(MPI_Error_string(MPI_T_ERR_NOT_INITIALIZED, text, &length), MPI_SUCCESS,
               "codes of MPI_T have a text");
  expect(length > 0, "codes of MPI_T have a text");
}

void counted() {
  int provided = -1;
  expect_equal(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS, "init");
  expect_equal(provided, MPI_THREAD_MULTIPLE, "level before MPI_Init");
  expect_equal(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS, "second init");
  int number = 0;
  expect_equal(MPI_T_finalize(), MPI_SUCCESS, "first finalize");
  expect_equal(MPI_T_cvar_get_num(&number), MPI_SUCCESS, "still in use after one of two");
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  MPI_T_cvar_handle_alloc(0, nullptr, &handle, &number);
  expect_equal(MPI_T_finalize(), MPI_SUCCESS, "second finalize");
  expect_equal(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED, "one finalize too many");
  expect_equal(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS, "init again");
  expect_equal(provided, MPI_THREAD_SINGLE, "level");
  char value[4096];
  expect_equal(MPI_T_cvar_read(handle, value), MPI_T_ERR_INVALID_HANDLE,
               "handles end with the last finalize");
}

/// The length rules of 15.3.3.
void strings() {
  const int index = control("FULMAR_EAGER_BYTES");
  const int whole = static_cast<int>(std::strlen("FULMAR_EAGER_BYTES")) + 1;
  const auto get = [&](char* name, int* length) {
    return MPI_T_cvar_get_info(index, name, length, nullptr, nullptr, nullptr, nullptr, nullptr,
                               nullptr, nullptr);
  };
  int length = 0;
  expect_equal(get(nullptr, &length), MPI_SUCCESS, "no buffer");
  expect_equal(length, whole, "length without a buffer");
  char name[64] = "unchanged";
  length = 0;
  get(name, &length);
  expect_equal(length, whole, "length with a length of 0");
  expect(std::strcmp(name, "unchanged") == 0, "nothing is stored with a length of 0");
  get(name, nullptr);
  expect(std::strcmp(name, "unchanged") == 0, "nothing is stored without a length");
  length = 7;
  get(name, &length);
  expect(std::strcmp(name, "FULMAR") == 0, "a short buffer gets what fits and a null byte");
  expect_equal(length, whole, "length of what did not fit");
  length = sizeof name;
  get(name, &length);
  expect(std::strcmp(name, "FULMAR_EAGER_BYTES") == 0, "the whole name");
  expect_equal(length, whole, "length of the whole name");
}

void enumeration(MPI_T_enum enumtype, int value) {
  int items = 0;
  char name[128] = "";
  int length = sizeof name;
  expect_equal(MPI_T_enum_get_info(enumtype, &items, name, &length), MPI_SUCCESS, "enumeration");
  expect(items > 0 && length > 1, "an enumeration has a name and items");
  bool found = false;
  for (int i = 0; i < items; ++i) {
    int item = -1;
    length = sizeof name;
    expect_equal(MPI_T_enum_get_item(enumtype, i, &item, name, &length), MPI_SUCCESS, "item");
    expect(length > 1, "an item has a name");
    found = found || item == value;
  }
  expect(found, "the value of a variable is one of its enumeration");
  expect_equal(MPI_T_enum_get_item(enumtype, items, &length, name, &length),
               MPI_T_ERR_INVALID_INDEX, "no such item");
  expect_equal(MPI_T_enum_get_item(enumtype, -1, &length, name, &length), MPI_T_ERR_INVALID_INDEX,
               "no such item");
}

void one_control(int index, std::set<std::string>& names) {
  char name[256] = "";
  char text[1024] = "";
  int name_length = sizeof name;
  int text_length = sizeof text;
  int verbosity = 0;
  int bind = 0;
  int scope = 0;
  int found = -1;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_T_enum enumtype = MPI_T_ENUM_NULL;
  expect_equal(MPI_T_cvar_get_info(index, name, &name_length, &verbosity, &type, &enumtype, text,
                                   &text_length, &bind, &scope),
               MPI_SUCCESS, "info of a control variable");
  expect(names.insert(name).second, "names are unique");
  expect(text_length > 1, "a variable has a description");
  expect_equal(bind, MPI_T_BIND_NO_OBJECT, "options belong to the process");
  expect(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ, "scope");
  expect(verbosity >= MPI_T_VERBOSITY_USER_BASIC && verbosity <= MPI_T_VERBOSITY_MPIDEV_ALL,
         "verbosity");
  expect_equal(MPI_T_cvar_get_index(name, &found), MPI_SUCCESS, "index by name");
  expect_equal(found, index, "index by name");

  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  expect_equal(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count), MPI_SUCCESS, "handle");
  expect(handle != MPI_T_CVAR_HANDLE_NULL && count >= 1, "handle");
  int size = 0;
  const bool known = type == MPI_INT || type == MPI_CHAR || type == MPI_UNSIGNED_LONG_LONG;
  expect(known, "type of a control variable");
  size = type == MPI_INT ? 4 : type == MPI_CHAR ? 1 : 8;
  std::vector<char> value(static_cast<std::size_t>(size * count) + 1, '\x7f');
  expect_equal(MPI_T_cvar_read(handle, value.data()), MPI_SUCCESS, "read");
  expect_equal(value.back(), '\x7f', "no more is stored than count says");
  if (enumtype != MPI_T_ENUM_NULL) {
    expect(type == MPI_INT && count == 1, "enumerations are of ints");
    int number = -1;
    std::memcpy(&number, value.data(), sizeof number);
    enumeration(enumtype, number);
  }
  expect_equal(MPI_T_cvar_write(handle, nullptr), MPI_T_ERR_INVALID, "null buffer");
  const MPI_T_cvar_handle old = handle;
  expect_equal(MPI_T_cvar_handle_free(&handle), MPI_SUCCESS, "free");
  expect(handle == MPI_T_CVAR_HANDLE_NULL, "a freed handle is null");
  expect_equal(MPI_T_cvar_read(old, value.data()), MPI_T_ERR_INVALID_HANDLE, "freed handle");
}

void controls() {
  int number = 0;
  expect_equal(MPI_T_cvar_get_num(&number), MPI_SUCCESS, "number of control variables");
  expect(number >= 7, "every option is a control variable");
  std::set<std::string> names;
  for (int i = 0; i < number; ++i) one_control(i, names);
  int index = -1;
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  expect_equal(MPI_T_cvar_get_index("no such variable", &index), MPI_T_ERR_INVALID_NAME, "name");
  expect_equal(MPI_T_cvar_get_index("FULMAR_MEMORY", nullptr), MPI_T_ERR_INVALID, "null pointer");
  for (const int wrong : {-1, number}) {
    expect_equal(MPI_T_cvar_handle_alloc(wrong, nullptr, &handle, &index), MPI_T_ERR_INVALID_INDEX,
                 "index");
    expect_equal(MPI_T_cvar_get_info(wrong, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr,
                                     nullptr, nullptr, nullptr),
                 MPI_T_ERR_INVALID_INDEX, "index");
  }
  expect_equal(MPI_T_cvar_handle_free(&handle), MPI_T_ERR_INVALID_HANDLE, "null handle");
  expect_equal(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &index, nullptr, nullptr),
               MPI_T_ERR_INVALID_HANDLE, "null enumeration");
}

void writes_before_init() {
  expect_equal(number_of("FULMAR_EAGER_BYTES"), 32768, "the environment is read");
  expect_equal(write_to("FULMAR_EAGER_BYTES", 1000ULL), MPI_SUCCESS, "written before MPI_Init");
  expect_equal(number_of("FULMAR_EAGER_BYTES"), 1000, "what was written is read");
  expect_equal(write_to("FULMAR_LONG_COPY", 99), MPI_T_ERR_INVALID, "no such choice");
  expect_equal(write_to("FULMAR_SINGLE_COPY", 0), MPI_SUCCESS, "a switch before MPI_Init");
  char networks[512] = "shm";
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  MPI_T_cvar_handle_alloc(control("FULMAR_FABRIC"), nullptr, &handle, &count);
  expect(count > 1 && count <= 512, "room for a text");
  expect_equal(MPI_T_cvar_write(handle, networks), MPI_SUCCESS, "a text before MPI_Init");
  std::memset(networks, 'x', sizeof networks);
  expect_equal(MPI_T_cvar_read(handle, networks), MPI_SUCCESS, "a text");
  expect(std::strcmp(networks, "shm") == 0, "a text");
  MPI_T_cvar_handle_free(&handle);
}

/// What was read may be written, also the empty text of an option that is not set.
void writes_back(const char* name, const char* other) {
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  MPI_T_cvar_handle_alloc(control(name), nullptr, &handle, &count);
  std::vector<char> text(static_cast<std::size_t>(count), 'x');
  MPI_T_cvar_read(handle, text.data());
  expect(text[0] == '\0', "the option is not set");
  expect_equal(MPI_T_cvar_write(handle, text.data()), MPI_SUCCESS, "what was read is written");
  expect_equal(MPI_T_cvar_write(handle, other), MPI_SUCCESS, "another value");
  expect_equal(MPI_T_cvar_write(handle, ""), MPI_SUCCESS, "the option is unset");
  MPI_T_cvar_read(handle, text.data());
  expect(text[0] == '\0', "the option is not set again");
  MPI_T_cvar_handle_free(&handle);
}

unsigned long long announced() {
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  int index = -1;
  int count = 0;
  unsigned long long value = 0;
  MPI_T_pvar_get_index("device_rendezvous_sends", MPI_T_PVAR_CLASS_COUNTER, &index);
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_handle_alloc(session, index, nullptr, &handle, &count);
  MPI_T_pvar_start(session, handle);
  std::vector<char> data(5000);
  const int rank = test::rank_of(MPI_COMM_WORLD);
  if (rank == 0) MPI_Send(data.data(), 5000, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) {
    MPI_Recv(data.data(), 5000, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_T_pvar_read(session, handle, &value);
  MPI_T_pvar_session_free(&session);
  return value;
}

void writes_after_init() {
  expect_equal(write_to("FULMAR_SINGLE_COPY", 1), MPI_T_ERR_CVAR_SET_NOT_NOW,
               "too late for what counts at the start only");
  expect_equal(number_of("FULMAR_EAGER_BYTES"), 1000, "the value of before MPI_Init counts");
  if (test::size_of(MPI_COMM_WORLD) < 2) return;
  const unsigned long long mine = test::rank_of(MPI_COMM_WORLD) == 0 ? 1 : 0;
  expect_equal(announced(), mine, "5000 bytes are announced with a limit of 1000");
  expect_equal(write_to("FULMAR_EAGER_BYTES", 6000ULL), MPI_SUCCESS, "changed while running");
  expect_equal(announced(), 0, "5000 bytes are sent at once with a limit of 6000");
}

void one_category(int index, std::vector<int>& cvars, std::vector<int>& pvars) {
  char name[128] = "";
  char text[512] = "";
  int name_length = sizeof name;
  int text_length = sizeof text;
  int sizes[3] = {-1, -1, -1};
  int found = -1;
  expect_equal(MPI_T_category_get_info(index, name, &name_length, text, &text_length, &sizes[0],
                                       &sizes[1], &sizes[2]),
               MPI_SUCCESS, "info of a category");
  expect(name_length > 1 && text_length > 1, "a category has a name and a description");
  expect_equal(MPI_T_category_get_index(name, &found), MPI_SUCCESS, "index by name");
  expect_equal(found, index, "index by name");
  int categories = 0;
  MPI_T_category_get_num(&categories);
  std::vector<int> members(static_cast<std::size_t>(sizes[0]) + 1, -7);
  expect_equal(MPI_T_category_get_cvars(index, sizes[0], members.data()), MPI_SUCCESS, "members");
  expect_equal(members.back(), -7, "no more than asked for");
  cvars.insert(cvars.end(), members.begin(), members.end() - 1);
  members.assign(static_cast<std::size_t>(sizes[1]) + 1, -7);
  // Asking for more than there is gives what there is.
  expect_equal(MPI_T_category_get_pvars(index, sizes[1] + 1, members.data()), MPI_SUCCESS,
               "members");
  expect_equal(members.back(), -7, "no more than there are");
  pvars.insert(pvars.end(), members.begin(), members.end() - 1);
  members.assign(static_cast<std::size_t>(sizes[2]) + 1, -7);
  expect_equal(MPI_T_category_get_categories(index, sizes[2], members.data()), MPI_SUCCESS,
               "members");
  for (int i = 0; i < sizes[2]; ++i) {
    const int child = members[static_cast<std::size_t>(i)];
    expect(child >= 0 && child < categories && child != index, "a category inside another");
  }
}

void categories() {
  int number = 0;
  expect_equal(MPI_T_category_get_num(&number), MPI_SUCCESS, "number of categories");
  std::vector<int> cvars;
  std::vector<int> pvars;
  for (int i = 0; i < number; ++i) one_category(i, cvars, pvars);
  int total = 0;
  MPI_T_cvar_get_num(&total);
  expect_equal(cvars.size(), total, "every control variable is in one category");
  expect_equal(std::set<int>(cvars.begin(), cvars.end()).size(), total, "in one only");
  MPI_T_pvar_get_num(&total);
  expect_equal(pvars.size(), total, "every performance variable is in one category");
  expect_equal(std::set<int>(pvars.begin(), pvars.end()).size(), total, "in one only");
  int changed = -1;
  int later = -2;
  expect_equal(MPI_T_category_changed(&changed), MPI_SUCCESS, "update number");
  MPI_T_category_changed(&later);
  expect_equal(later, changed, "nothing has changed");
  expect_equal(MPI_T_category_get_index("no such category", &total), MPI_T_ERR_INVALID_NAME,
               "name");
  expect_equal(MPI_T_category_get_cvars(number, 0, nullptr), MPI_T_ERR_INVALID_INDEX, "index");
  expect_equal(
      MPI_T_category_get_info(-1, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr),
      MPI_T_ERR_INVALID_INDEX, "index");
  expect_equal(MPI_T_category_get_num_events(number, &total), MPI_T_ERR_INVALID_INDEX, "index");
  expect_equal(MPI_T_category_get_num_events(0, &total), MPI_SUCCESS, "events");
}

}  // namespace

int main(int argc, char** argv) {
  uninitialised();
  counted();
  strings();
  controls();
  categories();
  writes_before_init();
  writes_back("FULMAR_CHECK", "collectives");
  writes_back("FULMAR_PMIX_LIBRARY", "/nowhere/libpmix.so");
  MPI_Init(&argc, &argv);
  writes_after_init();
  MPI_Finalize();
  expect_equal(number_of("FULMAR_SHARE_BYTES"), 65537, "read after MPI_Finalize");
  expect_equal(MPI_T_finalize(), MPI_SUCCESS, "finalize after MPI_Finalize");
  return test::failures() == 0 ? 0 : 1;
}
