// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/memory/slot_arena.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <set>
#include <vector>

#include "base/sanitizer.h"

namespace fulmar::base {
namespace {

constexpr std::size_t object_bytes = 448;
constexpr std::size_t slot_bytes = 512;
constexpr std::size_t many = std::size_t{1} << 22;
constexpr std::size_t first_objects = SlotArena::first_chunk_bytes / slot_bytes;
constexpr std::uint32_t quarantine = 16;

/// As many as fill the first chunk and two more.
constexpr std::size_t in_three_chunks = 4 * first_objects;

std::vector<void*> allocate(SlotArena& arena, std::size_t count) {
  std::vector<void*> objects;
  for (std::size_t i = 0; i < count; ++i) {
    objects.push_back(arena.allocate());
    if (objects.back() == nullptr) break;
  }
  return objects;
}

TEST(SlotArena, A_new_one_takes_little_address_space) {
  const SlotArena arena(object_bytes, many, quarantine);
  EXPECT_EQ(arena.reserved_bytes(), SlotArena::first_chunk_bytes);
  const SlotArena small(object_bytes, 16, quarantine);
  EXPECT_EQ(small.reserved_bytes(), SlotArena::smallest_chunk_bytes);
}

TEST(SlotArena, Address_space_grows_with_the_objects) {
  SlotArena arena(object_bytes, many, quarantine);
  for (std::size_t i = 0; i < in_three_chunks; ++i) {
    ASSERT_NE(arena.allocate(), nullptr);
    ASSERT_LE(arena.reserved_bytes(), 2 * arena.used_bytes() + SlotArena::first_chunk_bytes);
  }
  EXPECT_EQ(arena.used_bytes(), in_three_chunks * slot_bytes);
  EXPECT_EQ(arena.live(), in_three_chunks);
}

TEST(SlotArena, Handles_of_all_chunks_are_found) {
  SlotArena arena(object_bytes, many, quarantine);
  const std::vector<void*> objects = allocate(arena, in_three_chunks);
  std::set<std::uintptr_t> handles;
  for (void* object : objects) {
    const std::uintptr_t handle = arena.handle_of(object);
    EXPECT_GE(handle, 4096U);
    ASSERT_EQ(arena.find(handle), object);
    handles.insert(handle);
  }
  EXPECT_EQ(handles.size(), objects.size());
  EXPECT_TRUE(arena.lives_in_first(arena.handle_of(objects.front())));
  EXPECT_FALSE(arena.lives_in_first(arena.handle_of(objects.back())));
  EXPECT_EQ(arena.find_in_later(arena.handle_of(objects.back())), objects.back());
}

TEST(SlotArena, Stale_handles_of_all_chunks_are_refused) {
  SlotArena arena(object_bytes, many, quarantine);
  for (void* object : allocate(arena, in_three_chunks)) {
    const std::uintptr_t handle = arena.handle_of(object);
    arena.retire(object);
    ASSERT_EQ(arena.find(handle), nullptr);
    arena.revive(object);
    ASSERT_EQ(arena.find(handle), object);
    arena.free(object);
    ASSERT_EQ(arena.find(handle), nullptr);
  }
  EXPECT_EQ(arena.live(), 0U);
}

TEST(SlotArena, A_slot_that_is_used_again_has_another_handle) {
  SlotArena arena(object_bytes, many, quarantine);
  const std::vector<void*> objects = allocate(arena, in_three_chunks);
  std::set<std::uintptr_t> stale;
  for (void* object : objects) {
    stale.insert(arena.handle_of(object));
    arena.free(object);
  }
  std::set<void*> again;
  for (std::size_t i = 0; i + quarantine < in_three_chunks; ++i) {
    void* object = arena.allocate();
    again.insert(object);
    ASSERT_EQ(stale.count(arena.handle_of(object)), 0U);
  }
  EXPECT_EQ(arena.used_bytes(), in_three_chunks * slot_bytes) << "freed slots were not used again";
  EXPECT_EQ(again.size(), in_three_chunks - quarantine);
  for (const std::uintptr_t handle : stale) ASSERT_EQ(arena.find(handle), nullptr);
}

TEST(SlotArena, What_is_no_handle_is_refused) {
  SlotArena arena(object_bytes, many, quarantine);
  const std::vector<void*> objects = allocate(arena, in_three_chunks);
  SlotArena other(object_bytes, many, quarantine);
  EXPECT_EQ(arena.find(other.handle_of(other.allocate())), nullptr);
  for (const std::uintptr_t value :
       {std::uintptr_t{0}, std::uintptr_t{1}, std::uintptr_t{4096}, ~std::uintptr_t{0},
        reinterpret_cast<std::uintptr_t>(&arena), std::uintptr_t{1} << 47}) {
    EXPECT_EQ(arena.find(value), nullptr) << value;
    EXPECT_EQ(arena.number_of(value), -1) << value;
  }
  for (const void* object : {objects.front(), objects.back()}) {
    const std::uintptr_t handle = arena.handle_of(object);
    for (std::uintptr_t beside = 1; beside < slot_bytes; ++beside) {
      ASSERT_EQ(arena.find(handle + beside), nullptr) << beside;
    }
  }
  // Behind the last slot, where the chunk goes on.
  EXPECT_EQ(arena.find(arena.handle_of(arena.allocate()) + slot_bytes), nullptr);
}

TEST(SlotArena, Numbers_of_all_chunks_lead_back_to_their_handles) {
  SlotArena arena(object_bytes, many, quarantine);
  std::set<std::int64_t> numbers;
  for (void* object : allocate(arena, in_three_chunks)) {
    const std::uintptr_t handle = arena.handle_of(object);
    const std::int64_t number = arena.number_of(handle);
    ASSERT_GE(number, 0);
    ASSERT_LT(number, static_cast<std::int64_t>(64 * in_three_chunks));
    ASSERT_EQ(arena.handle_of_number(number), handle);
    numbers.insert(number);
  }
  EXPECT_EQ(numbers.size(), in_three_chunks);
  EXPECT_EQ(arena.handle_of_number(64 * in_three_chunks), 0U);
  EXPECT_EQ(arena.handle_of_number(-1), 0U);
}

TEST(SlotArena, Any_looks_into_all_chunks) {
  SlotArena arena(object_bytes, many, quarantine);
  const std::vector<void*> objects = allocate(arena, in_three_chunks);
  for (const void* wanted : {objects.front(), objects[first_objects], objects.back()}) {
    EXPECT_TRUE(arena.any([&](void* object) { return object == wanted; }));
  }
  EXPECT_FALSE(arena.any([](void*) { return false; }));
}

TEST(SlotArena, Where_no_more_are_allowed_freed_ones_come_back) {
  constexpr std::size_t most = 3 * first_objects;
  SlotArena arena(object_bytes, most, quarantine);
  std::vector<void*> objects = allocate(arena, most + 1);
  ASSERT_EQ(objects.size(), most + 1);
  EXPECT_EQ(objects.back(), nullptr);
  const std::uintptr_t stale = arena.handle_of(objects[5]);
  arena.free(objects[5]);
  EXPECT_EQ(arena.allocate(), objects[5]);
  EXPECT_EQ(arena.find(stale), nullptr);
  EXPECT_EQ(arena.allocate(), nullptr);
}

std::size_t address_space_bytes() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// In a child process that may take only `more` bytes of address space: how many objects there are
/// before the first failure, in units of 64 KiB; -1 if one of them is not found.
int objects_within(std::size_t more) {
  SlotArena arena(object_bytes, many, quarantine);
  std::vector<void*> objects;
  objects.reserve(many / 64);
  const std::size_t limit = address_space_bytes() + more;
  const rlimit bounds{limit, limit};
  if (::setrlimit(RLIMIT_AS, &bounds) != 0) return -1;
  while (objects.size() < objects.capacity()) {
    void* object = arena.allocate();
    if (object == nullptr) break;
    objects.push_back(object);
  }
  for (void* object : objects) {
    if (arena.find(arena.handle_of(object)) != object) return -1;
  }
  return static_cast<int>(objects.size() * slot_bytes / SlotArena::smallest_chunk_bytes);
}

/// Near the limit of the process an arena takes what is left, and no more than it needs.
TEST(SlotArena, Little_address_space_is_used_up_to_the_end) {
#if defined(FULMAR_ADDRESS_SANITIZER) || defined(FULMAR_THREAD_SANITIZER)
  GTEST_SKIP() << "a sanitizer needs address space of its own";
#endif
  constexpr std::size_t more = std::size_t{5} << 20;
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(objects_within(more) & 0xff);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  constexpr int first = SlotArena::first_chunk_bytes / SlotArena::smallest_chunk_bytes;
  constexpr int most = first + static_cast<int>(more / SlotArena::smallest_chunk_bytes);
  EXPECT_LE(WEXITSTATUS(status), most);
  EXPECT_GE(WEXITSTATUS(status), most - 2);
}

}  // namespace
}  // namespace fulmar::base
