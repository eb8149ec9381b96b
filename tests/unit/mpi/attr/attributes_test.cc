// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/attr/attributes.h"

#include <string>
#include <vector>

#include "mpi/attr/calls.h"
#include "unit/support/objects.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

/// What the callbacks below did, in order.
std::vector<std::string> events;
int failing_keyval = MPI_KEYVAL_INVALID;

std::string word(const char* what, MPI_Comm comm, int keyval, void* value) {
  return std::string(what) + " " + std::to_string(reinterpret_cast<std::uintptr_t>(comm)) + " " +
         std::to_string(keyval) + " " + std::to_string(reinterpret_cast<std::uintptr_t>(value));
}

int copy_plus_one(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  events.push_back(word("copy", comm, keyval, in));
  if (extra != nullptr) ++*static_cast<int*>(extra);
  if (keyval == failing_keyval) return MPI_ERR_OTHER;
  *static_cast<std::uintptr_t*>(out) = reinterpret_cast<std::uintptr_t>(in) + 1;
  *flag = 1;
  return MPI_SUCCESS;
}
int refuse_copy(MPI_Comm, int, void*, void*, void*, int* flag) {
  *flag = 0;
  return MPI_SUCCESS;
}
int note_delete(MPI_Comm comm, int keyval, void* value, void*) {
  events.push_back(word("delete", comm, keyval, value));
  return keyval == failing_keyval ? MPI_ERR_INTERN : MPI_SUCCESS;
}

void* number(std::uintptr_t value) { return reinterpret_cast<void*>(value); }

class AttributesTest : public Objects {
 protected:
  void SetUp() override {
    events.clear();
    failing_keyval = MPI_KEYVAL_INVALID;
  }
  int make_key(MPI_Comm_copy_attr_function* copy = copy_plus_one,
               MPI_Comm_delete_attr_function* remove = note_delete, void* extra = nullptr) {
    int keyval = MPI_KEYVAL_INVALID;
    EXPECT_TRUE(comm_create_keyval(library, copy, remove, keyval, extra).ok());
    EXPECT_NE(keyval, MPI_KEYVAL_INVALID);
    return keyval;
  }
  void free_key(int keyval) {
    EXPECT_TRUE(comm_free_keyval(library, keyval).ok());
    EXPECT_EQ(keyval, MPI_KEYVAL_INVALID);
  }
  void set(AttributeOwner owner, int keyval, std::uintptr_t value) {
    EXPECT_TRUE(set_attribute(library, owner, keyval, number(value)).ok());
  }
  /// The value of an attribute, or -1.
  std::intptr_t get(AttributeOwner owner, int keyval) {
    void* value = number(12345);
    int found = -1;
    EXPECT_TRUE(get_attribute(library, owner, keyval, value, found).ok());
    return found == 1 ? reinterpret_cast<std::intptr_t>(value) : -1;
  }
  [[nodiscard]] std::string event(const char* what, int comm, int keyval, int value) const {
    return std::string(what) + " " + std::to_string(comm) + " " + std::to_string(keyval) + " " +
           std::to_string(value);
  }

  AttributeSet first_set;
  AttributeSet second_set;
  AttributeOwner first{first_set, KeyvalKind::comm, 1001};
  AttributeOwner second{second_set, KeyvalKind::comm, 1002};
};

TEST_F(AttributesTest, Set_get_delete) {
  const int key = make_key();
  EXPECT_EQ(get(first, key), -1);
  set(first, key, 7);
  EXPECT_EQ(get(first, key), 7);
  EXPECT_EQ(get(second, key), -1);
  EXPECT_TRUE(delete_attribute(library, first, key).ok());
  EXPECT_EQ(events, (std::vector{event("delete", 1001, key, 7)}));
  EXPECT_EQ(get(first, key), -1);
  EXPECT_TRUE(delete_attribute(library, first, key).ok());
  EXPECT_EQ(events.size(), 1u);
  free_key(key);
}

TEST_F(AttributesTest, Null_is_a_value) {
  const int key = make_key();
  set(first, key, 0);
  EXPECT_EQ(get(first, key), 0);
  EXPECT_TRUE(delete_attributes(library, first).ok());
  free_key(key);
}

TEST_F(AttributesTest, Set_again_deletes_the_old_value_first) {
  const int key = make_key();
  set(first, key, 7);
  set(first, key, 8);
  EXPECT_EQ(events, (std::vector{event("delete", 1001, key, 7)}));
  EXPECT_EQ(get(first, key), 8);
  EXPECT_TRUE(delete_attributes(library, first).ok());
  free_key(key);
}

TEST_F(AttributesTest, Deletes_run_last_set_first) {
  const int a = make_key();
  const int b = make_key();
  const int c = make_key();
  set(first, a, 1);
  set(first, b, 2);
  set(first, c, 3);
  set(first, a, 4);  // now the last
  events.clear();
  EXPECT_TRUE(delete_attributes(library, first).ok());
  EXPECT_EQ(events, (std::vector{event("delete", 1001, a, 4), event("delete", 1001, c, 3),
                                 event("delete", 1001, b, 2)}));
  for (const int key : {a, b, c}) free_key(key);
}

TEST_F(AttributesTest, Copy_follows_the_functions) {
  int calls = 0;
  const int counting = make_key(copy_plus_one, note_delete, &calls);
  const int none = make_key(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN);
  const int same = make_key(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN);
  const int refusing = make_key(refuse_copy, MPI_COMM_NULL_DELETE_FN);
  set(first, counting, 10);
  set(first, none, 20);
  set(first, same, 30);
  set(first, refusing, 40);
  EXPECT_TRUE(copy_attributes(library, first, second).ok());
  EXPECT_EQ(get(second, counting), 11);
  EXPECT_EQ(get(second, none), -1);
  EXPECT_EQ(get(second, same), 30);
  EXPECT_EQ(get(second, refusing), -1);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(events, (std::vector{event("copy", 1001, counting, 10)}));
  EXPECT_TRUE(delete_attributes(library, first).ok());
  EXPECT_TRUE(delete_attributes(library, second).ok());
  for (const int key : {counting, none, same, refusing}) free_key(key);
}

TEST_F(AttributesTest, Failing_copy_undoes_those_before_and_hands_on_the_code) {
  const int good = make_key();
  const int bad = make_key();
  set(first, good, 10);
  set(first, bad, 20);
  failing_keyval = bad;
  EXPECT_EQ(copy_attributes(library, first, second).code(), MPI_ERR_OTHER);
  EXPECT_EQ(events, (std::vector{event("copy", 1001, good, 10), event("copy", 1001, bad, 20),
                                 event("delete", 1002, good, 11)}));
  EXPECT_TRUE(second_set.entries.empty());
  failing_keyval = MPI_KEYVAL_INVALID;
  EXPECT_TRUE(delete_attributes(library, first).ok());
  free_key(good);
  free_key(bad);
}

TEST_F(AttributesTest, Failing_delete_keeps_the_attribute) {
  const int key = make_key();
  set(first, key, 10);
  failing_keyval = key;
  EXPECT_EQ(delete_attribute(library, first, key).code(), MPI_ERR_INTERN);
  EXPECT_EQ(get(first, key), 10);
  EXPECT_EQ(set_attribute(library, first, key, number(11)).code(), MPI_ERR_INTERN);
  EXPECT_EQ(get(first, key), 10);
  EXPECT_EQ(delete_attributes(library, first).code(), MPI_ERR_INTERN);
  EXPECT_EQ(first_set.entries.size(), 1u);
  failing_keyval = MPI_KEYVAL_INVALID;
  EXPECT_TRUE(delete_attributes(library, first).ok());
  free_key(key);
}

TEST_F(AttributesTest, Freed_key_still_copies_and_deletes) {
  const int key = make_key();
  set(first, key, 10);
  free_key(key);
  EXPECT_EQ(get(first, key), 10);
  EXPECT_EQ(class_of(set_attribute(library, first, key, nullptr)), ErrorClass::keyval);
  EXPECT_TRUE(copy_attributes(library, first, second).ok());
  EXPECT_EQ(get(second, key), 11);
  free_key(key);
  EXPECT_TRUE(delete_attribute(library, first, key).ok());
  EXPECT_EQ(get(first, key), -1);
  EXPECT_TRUE(delete_attributes(library, second).ok());
  int stale = key;
  EXPECT_EQ(class_of(comm_free_keyval(library, stale)), ErrorClass::keyval);
  EXPECT_EQ(events, (std::vector{event("copy", 1001, key, 10), event("delete", 1001, key, 10),
                                 event("delete", 1002, key, 11)}));
}

AttributeOwner* reentrant_owner = nullptr;
Library* reentrant_library = nullptr;
int other_key = 0;
int delete_other(MPI_Comm, int, void*, void*) {
  (void)delete_attribute(*reentrant_library, *reentrant_owner, other_key);
  return MPI_SUCCESS;
}

TEST_F(AttributesTest, Delete_function_may_delete_another_attribute) {
  other_key = make_key();
  const int key = make_key(MPI_COMM_NULL_COPY_FN, delete_other);
  reentrant_library = &library;
  reentrant_owner = &first;
  set(first, other_key, 1);
  set(first, key, 2);
  EXPECT_TRUE(delete_attributes(library, first).ok());
  EXPECT_EQ(events.size(), 1u);
  EXPECT_TRUE(first_set.entries.empty());
  free_key(key);
  free_key(other_key);
}

int free_own_key(MPI_Comm, int keyval, void*, void*) {
  (void)comm_free_keyval(*reentrant_library, keyval);
  return MPI_SUCCESS;
}

TEST_F(AttributesTest, Delete_function_may_free_its_key) {
  const int key = make_key(MPI_COMM_NULL_COPY_FN, free_own_key);
  reentrant_library = &library;
  set(first, key, 2);
  EXPECT_TRUE(delete_attributes(library, first).ok());
  int stale = key;
  EXPECT_EQ(class_of(comm_free_keyval(library, stale)), ErrorClass::keyval);
}

TEST_F(AttributesTest, Wrong_keys_are_refused) {
  int type_key = 0;
  ASSERT_TRUE(
      type_create_keyval(library, MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, type_key, nullptr)
          .ok());
  for (int keyval : {MPI_KEYVAL_INVALID + 0, -5, 1 << 20, type_key}) {
    EXPECT_EQ(class_of(set_attribute(library, first, keyval, nullptr)), ErrorClass::keyval);
    EXPECT_EQ(class_of(delete_attribute(library, first, keyval)), ErrorClass::keyval);
    int copy = keyval;
    EXPECT_EQ(class_of(comm_free_keyval(library, copy)), ErrorClass::keyval);
    EXPECT_EQ(copy, keyval);
  }
  EXPECT_TRUE(type_free_keyval(library, type_key).ok());
}

TEST_F(AttributesTest, Predefined_attributes_are_read_only_pointers_to_int) {
  keyvals.define_predefined(MPI_TAG_UB, 1 << 20);
  keyvals.follow_predefined(MPI_LASTUSEDCODE, errors.codes.last_used_code());
  EXPECT_EQ(*reinterpret_cast<int*>(get(first, MPI_TAG_UB)), 1 << 20);
  const int* last = reinterpret_cast<int*>(get(first, MPI_LASTUSEDCODE));
  EXPECT_EQ(*last, MPI_ERR_LASTCODE);
  ASSERT_TRUE(errors.codes.add_class().ok());
  EXPECT_EQ(*last, MPI_ERR_LASTCODE + 1);
  EXPECT_EQ(get(first, MPI_APPNUM), -1) << "not defined here";
  EXPECT_EQ(class_of(set_attribute(library, first, MPI_TAG_UB, nullptr)), ErrorClass::keyval);
  EXPECT_EQ(class_of(delete_attribute(library, first, MPI_TAG_UB)), ErrorClass::keyval);
  int keyval = MPI_TAG_UB;
  EXPECT_EQ(class_of(comm_free_keyval(library, keyval)), ErrorClass::keyval);
}

TEST_F(AttributesTest, Fixed_attributes_of_an_object_are_found) {
  AttributeOwner window{first_set, KeyvalKind::win, 1001};
  first_set.fixed.push_back({MPI_WIN_BASE, number(4096)});
  EXPECT_EQ(get(window, MPI_WIN_BASE), 4096);
  EXPECT_EQ(get(window, MPI_WIN_SIZE), -1);
  EXPECT_EQ(class_of(set_attribute(library, window, MPI_WIN_BASE, nullptr)), ErrorClass::keyval);
}

TEST_F(AttributesTest, Old_names_make_keys_of_communicators) {
  int key = 0;
  ASSERT_TRUE(keyval_create(library, MPI_DUP_FN, MPI_NULL_DELETE_FN, key, nullptr).ok());
  set(first, key, 5);
  EXPECT_TRUE(copy_attributes(library, first, second).ok());
  EXPECT_EQ(get(second, key), 5);
  EXPECT_TRUE(delete_attributes(library, first).ok());
  EXPECT_TRUE(delete_attributes(library, second).ok());
  EXPECT_TRUE(keyval_free(library, key).ok());
  EXPECT_EQ(key, MPI_KEYVAL_INVALID);
}

}  // namespace
}  // namespace fulmar::mpi
