// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Windows on memory of MPI_Alloc_mem: on a node they are loads and stores, whatever part of a block a
// window has, in created and in dynamic windows.
// ranks: 1 2 4
// networks: tcp

#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "rma/window.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;

int rank = 0;
int size = 1;
/// All ranks map each other's memory of MPI_Alloc_mem.
bool maps = false;

unsigned long long value_of(const char* name) {
  int index = -1;
  int count = 0;
  MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
  MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
  unsigned long long value = 0;
  expect_equal(MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index), MPI_SUCCESS, name);
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_handle_alloc(session, index, nullptr, &handle, &count);
  MPI_T_pvar_start(session, handle);
  MPI_T_pvar_read(session, handle, &value);
  MPI_T_pvar_session_free(&session);
  return value;
}

/// Operations that went any way but by loads and stores.
unsigned long long indirect() {
  return value_of("rma_requests") + value_of("rma_calls") + value_of("rma_kernel_copies");
}

template <class T>
T* allocate(std::size_t count) {
  T* memory = nullptr;
  const auto bytes = static_cast<MPI_Aint>(count * sizeof(T));
  expect_equal(MPI_Alloc_mem(bytes, MPI_INFO_NULL, static_cast<void*>(&memory)), MPI_SUCCESS,
               "MPI_Alloc_mem");
  std::memset(memory, 0, count * sizeof(T));
  return memory;
}

/// Every rank does each operation at the next rank. `base`: what displacement 0 is there.
void operate(MPI_Win win, std::int64_t* own, MPI_Aint base, std::size_t words) {
  const int next = (rank + 1) % size;
  constexpr std::size_t short_words = 4;
  std::vector<std::int64_t> data(words, rank + 1);
  std::vector<std::int64_t> back(words, -1);
  const std::int64_t one = 1;
  std::int64_t old = -1;
  MPI_Win_lock_all(0, win);
  for (const std::size_t count : {short_words, words}) {
    const int elements = static_cast<int>(count);
    MPI_Put(data.data(), elements, MPI_INT64_T, next, base, elements, MPI_INT64_T, win);
    MPI_Win_flush(next, win);
    MPI_Get(back.data(), elements, MPI_INT64_T, next, base, elements, MPI_INT64_T, win);
    MPI_Win_flush(next, win);
    expect(std::memcmp(back.data(), data.data(), count * sizeof one) == 0,
           "what was put comes back");
    MPI_Accumulate(data.data(), elements, MPI_INT64_T, next, base, elements, MPI_INT64_T, MPI_SUM,
                   win);
    MPI_Get_accumulate(data.data(), elements, MPI_INT64_T, back.data(), elements, MPI_INT64_T, next,
                       base, elements, MPI_INT64_T, MPI_SUM, win);
    MPI_Win_flush(next, win);
    expect_equal(back[0], 2 * (rank + 1), "the first element before the second sum");
    expect_equal(back[count - 1], 2 * (rank + 1), "the last one");
  }
  MPI_Fetch_and_op(&one, &old, MPI_INT64_T, next, base, MPI_SUM, win);
  MPI_Win_flush(next, win);
  expect_equal(old, 3 * (rank + 1), "fetch and add");
  const std::int64_t found = old + 1;
  MPI_Compare_and_swap(&one, &found, &old, MPI_INT64_T, next, base, win);
  MPI_Win_flush(next, win);
  expect_equal(old, found, "compare and swap");
  MPI_Win_unlock_all(win);
  MPI_Barrier(MPI_COMM_WORLD);
  const int before = (rank + size - 1) % size;
  expect_equal(own[0], 1, "what the rank before has swapped in");
  expect_equal(own[words - 1], 3 * (before + 1), "what it has put and added");
  MPI_Barrier(MPI_COMM_WORLD);
}

/// The memory is a block from `offset` on.
void created(std::size_t words, std::size_t offset) {
  auto* const block = allocate<std::int64_t>(words + offset + 3);
  std::int64_t* const own = block + offset;
  const auto bytes = static_cast<MPI_Aint>(words * sizeof *own);
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(own, bytes, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  const unsigned long long before = indirect();
  operate(win, own, 0, words);
  if (maps) expect_equal(indirect(), before, "all operations are loads and stores");
  MPI_Aint shared_bytes = -1;
  int unit = -1;
  void* there = nullptr;
  MPI_Win_shared_query(win, (rank + 1) % size, &shared_bytes, &unit, static_cast<void*>(&there));
  if (maps) expect_equal(shared_bytes, bytes, "the memory of the next rank is shared");
  MPI_Win_free(&win);
  expect_equal(MPI_Free_mem(block), MPI_SUCCESS, "free");
}

void dynamic(std::size_t words, std::size_t offset) {
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  for (int round = 0; round < 3; ++round) {
    auto* const block = allocate<std::int64_t>(words + offset + 3);
    std::int64_t* const own = block + offset;
    MPI_Win_attach(win, own, static_cast<MPI_Aint>(words * sizeof *own));
    MPI_Aint place = 0;
    MPI_Get_address(own, &place);
    std::vector<MPI_Aint> places(static_cast<std::size_t>(size));
    MPI_Allgather(&place, 1, MPI_AINT, places.data(), 1, MPI_AINT, MPI_COMM_WORLD);
    const unsigned long long before = indirect();
    operate(win, own, places[static_cast<std::size_t>((rank + 1) % size)], words);
    if (maps) expect_equal(indirect(), before, "all operations are loads and stores");
    MPI_Win_detach(win, own);
    expect_equal(MPI_Free_mem(block), MPI_SUCCESS, "free");
  }
  MPI_Win_free(&win);
}

/// Some ranks have memory of MPI_Alloc_mem and others their own; rank 0 has none.
void mixed() {
  constexpr std::size_t words = 1000;
  std::vector<std::int64_t> plain(words, rank);
  auto* const block = allocate<std::int64_t>(words);
  for (std::size_t i = 0; i < words; ++i) block[i] = rank;
  const bool is_plain = rank % 2 != 0;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(rank == 0  ? nullptr
                 : is_plain ? plain.data()
                            : block,
                 rank == 0 ? 0 : words * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_fence(0, win);
  std::vector<std::int64_t> found(static_cast<std::size_t>(size), -1);
  for (int peer = 1; peer < size; ++peer) {
    MPI_Get(&found[static_cast<std::size_t>(peer)], 1, MPI_INT64_T, peer, words - 1, 1, MPI_INT64_T,
            win);
  }
  MPI_Win_fence(0, win);
  for (int peer = 1; peer < size; ++peer) {
    expect_equal(found[static_cast<std::size_t>(peer)], peer, "the memory of each rank");
  }
  MPI_Win_free(&win);
  MPI_Free_mem(block);
}

/// Memory that is freed while a window has it: the program is wrong, but nothing else is damaged.
void freed_too_early() {
  constexpr MPI_Aint bytes = MPI_Aint{80} << 20;
  char* block = nullptr;
  char* other = nullptr;
  MPI_Win win = MPI_WIN_NULL;
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, static_cast<void*>(&block));
  MPI_Win_create(block, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Free_mem(block);
  MPI_Alloc_mem(bytes, MPI_INFO_NULL, static_cast<void*>(&other));
  other[4096] = 7;
  MPI_Barrier(MPI_COMM_WORLD);
  if (maps && rank != 0) {
    const char value = 1;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Put(&value, 1, MPI_CHAR, 0, 4096, 1, MPI_CHAR, win);
    MPI_Win_unlock(0, win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  expect_equal(other[4096], 7, "another block");
  MPI_Win_free(&win);
  MPI_Free_mem(other);
}

void wrong_frees() {
  if (!maps) return;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  auto* const block = allocate<char>(1000);
  expect_class(MPI_Free_mem(block + 64), MPI_ERR_BASE, "a part of a block");
  expect_equal(MPI_Free_mem(block), MPI_SUCCESS, "the block");
  expect_class(MPI_Free_mem(block), MPI_ERR_BASE, "the same again");
}

/// A child uses the memory that it has of its parent, and ends.
void child_of_fork() {
  auto* const block = allocate<int>(10000);
  block[0] = 5;
  const pid_t child = ::fork();
  if (child == 0) ::_exit(block[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  expect(WIFEXITED(status) && WEXITSTATUS(status) == 5, "a child reads the memory");
  expect_equal(block[0], 5, "which is still there");
  MPI_Free_mem(block);
}

/// Many blocks alive need no descriptor each.
void many_blocks() {
  constexpr std::size_t blocks = 3000;
  std::vector<char*> all;
  for (std::size_t i = 0; i < blocks; ++i) {
    all.push_back(allocate<char>(i % 10 == 0 ? 100'000 : 100 + i));
    all.back()[0] = static_cast<char>(i);
  }
  for (std::size_t i = 0; i < blocks; ++i) {
    expect_equal(all[i][0], static_cast<char>(i), "a block of many");
    MPI_Free_mem(all[i]);
  }
}

/// Asks the windows themselves: FULMAR_ALLOC_MEM, or the system, may not allow it.
bool are_mapped() {
  auto* const block = allocate<char>(100);
  MPI_Win win = MPI_WIN_NULL;
  MPI_Win_create(block, 100, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Aint bytes = 0;
  int unit = 0;
  int mapped = 1;
  void* base = nullptr;
  for (int peer = 0; peer < size; ++peer) {
    MPI_Win_shared_query(win, peer, &bytes, &unit, static_cast<void*>(&base));
    if (bytes != 100) mapped = 0;
  }
  MPI_Win_free(&win);
  MPI_Free_mem(block);
  MPI_Allreduce(MPI_IN_PLACE, &mapped, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return size > 1 && mapped != 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  rank = test::rank_of(MPI_COMM_WORLD);
  size = test::size_of(MPI_COMM_WORLD);
  maps = are_mapped();
  const bool on_node = std::getenv("FULMAR_FABRIC") == nullptr;
  expect(maps || size == 1 || !on_node, "memory of MPI_Alloc_mem is mapped");
  for (const std::size_t words : {8UL, 1000UL, 300'000UL}) {
    for (const std::size_t offset : {0UL, 3UL, 777UL}) {
      created(words, offset);
      dynamic(words, offset);
    }
  }
  mixed();
  freed_too_early();
  wrong_frees();
  child_of_fork();
  many_blocks();
  MPI_T_finalize();
  return test::finish();
}
