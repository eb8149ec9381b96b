// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// usage: fault_mixed SEED ROUNDS FOLDER
// In each round the ranks spawn processes, write and read a file together, or use a window of the program's memory, and a
// timer kills some of them, or of the spawned ones, at any moment. Every call ends with the right answer or with an error
// class of mpi-ext.h; those that are left shrink their communicator, and go on.
#include <mpi-ext.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "fault/deaths.h"
#include "support/check.h"

namespace {

using test::Dice;
using test::die_after;
using test::expect;
using test::expect_equal;
using test::is_failure;
using test::mark;
using test::rank_of;
using test::size_of;

constexpr int ints = 5000;
constexpr std::uint32_t longest_life_us = 6000;

/// The result of one round in this process.
struct Outcome {
  bool good = true;

  /// Whether a call has succeeded; if not, a process must have failed.
  bool is_good(int code, const char* what) {
    if (code == MPI_SUCCESS) return true;
    if (!is_failure(code)) tell(code, what);
    good = false;
    return false;
  }
  static void tell(int code, const char* what) {
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    MPI_Error_string(code, text, &length);
    expect(false, (std::string(what) + ": " + text).c_str());
  }
};

/// Both groups add up their ranks for each other. Who fails keeps nobody waiting.
void exchange(MPI_Comm inter, Outcome& outcome) {
  const int rank = rank_of(inter);
  int others = 0;
  MPI_Comm_remote_size(inter, &others);
  int sum = -1;
  MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
  for (int i = 0; i < 3 && outcome.good; ++i) {
    if (!outcome.is_good(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter), "allreduce"))
      break;
    expect_equal(sum, others * (others - 1) / 2, "sum of the other group");
  }
  if (!outcome.good) MPIX_Comm_revoke(inter);
}

void spawn(MPI_Comm comm, Dice& dice, Outcome& outcome, const char* self) {
  const auto count = static_cast<int>(1 + dice.draw(2));
  const auto root = static_cast<int>(dice.draw(static_cast<std::uint32_t>(size_of(comm))));
  const bool fatal = dice.draw(3) == 0;
  std::string life = std::to_string(fatal ? 1 + dice.draw(longest_life_us) : 0);
  std::string word = "child";
  std::string program = self;
  char* arguments[] = {word.data(), life.data(), nullptr};
  MPI_Comm children = MPI_COMM_NULL;
  int error_class = MPI_SUCCESS;
  const int code = MPI_Comm_spawn(program.c_str(), arguments, count, MPI_INFO_NULL, root, comm,
                                  &children, MPI_ERRCODES_IGNORE);
  if (code != MPI_SUCCESS) MPI_Error_class(code, &error_class);
  // The spawned job ended before it had got here.
  if (fatal && error_class == MPI_ERR_SPAWN) return;
  if (!outcome.is_good(code, "spawn")) return;
  exchange(children, outcome);
  // It waits for nobody who has failed.
  if (outcome.good) (void)outcome.is_good(MPI_Comm_disconnect(&children), "disconnect");
  if (children != MPI_COMM_NULL) MPI_Comm_free(&children);
}

int child(const char* life) {
  MPI_Comm parents = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_get_parent(&parents);
  const auto us = static_cast<std::uint32_t>(std::strtoul(life, nullptr, 10));
  if (us != 0 && rank_of(MPI_COMM_WORLD) == 0) die_after(us);
  Outcome outcome;
  exchange(parents, outcome);
  if (outcome.good) (void)outcome.is_good(MPI_Comm_disconnect(&parents), "disconnect");
  return test::finish();
}

/// Each writes a part of its own, and reads that of the next rank.
void access_file(MPI_Comm comm, MPI_File file, Outcome& outcome) {
  const int rank = rank_of(comm);
  const int size = size_of(comm);
  const int next = (rank + 1) % size;
  std::vector<int> out(ints, rank);
  std::vector<int> in(ints, -1);
  const auto place = [](int of) { return MPI_Offset{of} * ints * MPI_Offset{sizeof(int)}; };
  for (int i = 0; i < 3 && outcome.good; ++i) {
    out.back() = i;
    if (!outcome.is_good(
            MPI_File_write_at_all(file, place(rank), out.data(), ints, MPI_INT, MPI_STATUS_IGNORE),
            "write"))
      break;
    if (!outcome.is_good(MPI_File_sync(file), "sync")) break;
    if (!outcome.is_good(MPI_Barrier(comm), "barrier")) break;
    if (!outcome.is_good(
            MPI_File_read_at_all(file, place(next), in.data(), ints, MPI_INT, MPI_STATUS_IGNORE),
            "read"))
      break;
    expect_equal(in.front(), next, "what the next rank has written");
    expect_equal(in.back(), i, "in this round");
    if (!outcome.is_good(MPI_Barrier(comm), "barrier")) break;
  }
}

/// Where all agree before they close the file, each knows of the same deaths then.
void use_file(MPI_Comm comm, const std::string& path, bool agrees, Outcome& outcome) {
  MPI_File file = MPI_FILE_NULL;
  const int opened =
      MPI_File_open(comm, path.c_str(), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (outcome.is_good(opened, "open")) access_file(comm, file, outcome);
  int all_good = outcome.good ? 1 : 0;
  if (agrees) (void)outcome.is_good(MPIX_Comm_agree(comm, &all_good), "agree");
  if (file == MPI_FILE_NULL) return;
  (void)outcome.is_good(MPI_File_close(&file), "close");
  expect(file == MPI_FILE_NULL, "a file is closed, whoever has died");
}

MPI_Group neighbour(MPI_Comm comm, int rank) {
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group one = MPI_GROUP_NULL;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, 1, &rank, &one);
  MPI_Group_free(&all);
  return one;
}

/// Each stores in the memory of the next rank, in epochs of these two, and the last value has to be there.
void post_and_wait(MPI_Comm comm, MPI_Win win, const std::vector<int>& memory, Outcome& outcome) {
  const int rank = rank_of(comm);
  const int size = size_of(comm);
  MPI_Group origins = neighbour(comm, (rank + size - 1) % size);
  MPI_Group targets = neighbour(comm, (rank + 1) % size);
  std::vector<int> out(ints, rank);
  const auto run = [&](int i) {
    out.back() = i;
    if (!outcome.is_good(MPI_Win_post(origins, 0, win), "post")) return;
    if (!outcome.is_good(MPI_Win_start(targets, 0, win), "start")) return;
    const int put = MPI_Put(out.data(), ints, MPI_INT, (rank + 1) % size, 0, ints, MPI_INT, win);
    const bool fine = outcome.is_good(put, "put");
    if (!outcome.is_good(MPI_Win_complete(win), "complete") || !fine) return;
    if (!outcome.is_good(MPI_Win_wait(win), "wait")) return;
    expect_equal(memory.front(), (rank + size - 1) % size, "what the rank before has stored");
    expect_equal(memory.back(), i, "in this epoch");
  };
  for (int i = 0; i < 20 && outcome.good; ++i) run(i);
  MPI_Group_free(&origins);
  MPI_Group_free(&targets);
}

/// All count in the memory of each.
void lock_all(MPI_Comm comm, MPI_Win win, Outcome& outcome) {
  const int size = size_of(comm);
  const int one = 1;
  int before = 0;
  if (!outcome.is_good(MPI_Win_lock_all(0, win), "lock_all")) return;
  for (int i = 0; i < 50 * size && outcome.good; ++i) {
    if (!outcome.is_good(MPI_Fetch_and_op(&one, &before, MPI_INT, i % size, 0, MPI_SUM, win),
                         "fetch_and_op"))
      break;
    (void)outcome.is_good(MPI_Win_flush(i % size, win), "flush");
  }
  (void)outcome.is_good(MPI_Win_unlock_all(win), "unlock_all");
}

/// Others may write to the memory until they have left the window.
std::unique_ptr<std::vector<int>> use_window(MPI_Comm comm, Dice& dice, Outcome& outcome) {
  auto memory = std::make_unique<std::vector<int>>(ints, 0);
  MPI_Win win = MPI_WIN_NULL;
  const bool posts = dice.draw(2) == 0;
  const auto bytes = static_cast<MPI_Aint>(ints * sizeof(int));
  const int code = MPI_Win_create(memory->data(), bytes, sizeof(int), MPI_INFO_NULL, comm, &win);
  // Who has it waits for those who do not.
  int all_have_it = outcome.is_good(code, "the window") ? 1 : 0;
  (void)outcome.is_good(MPIX_Comm_agree(comm, &all_have_it), "agree");
  if (win == MPI_WIN_NULL) return memory;
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  if (all_have_it == 0) {
    outcome.good = false;
  } else if (posts) {
    post_and_wait(comm, win, *memory, outcome);
  } else {
    lock_all(comm, win, outcome);
    if (outcome.is_good(MPI_Barrier(comm), "barrier")) {
      MPI_Win_lock(MPI_LOCK_SHARED, rank_of(comm), 0, win);
      expect_equal(memory->front(), 50 * size_of(comm), "what all have counted");
      MPI_Win_unlock(rank_of(comm), win);
    }
  }
  (void)outcome.is_good(MPI_Win_free(&win), "free");
  return memory;
}

enum class Activity : std::uint32_t { spawn, file, window, count };

void act(MPI_Comm comm, Dice& dice, Outcome& outcome, char** words, int round,
         std::unique_ptr<std::vector<int>>& kept) {
  switch (static_cast<Activity>(dice.draw(static_cast<std::uint32_t>(Activity::count)))) {
    case Activity::spawn:
      return spawn(comm, dice, outcome, words[0]);
    case Activity::file:
      return use_file(comm, words[3] + ("/file" + std::to_string(round)), dice.draw(2) == 0,
                      outcome);
    default:
      kept = use_window(comm, dice, outcome);
  }
}

/// One round; returns the communicator to go on with.
MPI_Comm live_through(MPI_Comm comm, Dice& dice, char** words, int round) {
  mark("round");
  const auto size = static_cast<std::uint32_t>(size_of(comm));
  const auto victim = static_cast<int>(dice.draw(size));
  const std::uint32_t us = dice.draw(1U << (3 + dice.draw(11)));
  const bool dies = size > 2 && dice.draw(4) != 0;
  MPI_Barrier(comm);  // all know of this communicator
  if (dies && victim == rank_of(comm)) die_after(us);
  Outcome outcome;
  Dice own{dice.state};
  std::unique_ptr<std::vector<int>> kept;
  act(comm, own, outcome, words, round, kept);
  if (!outcome.good) MPIX_Comm_revoke(comm);
  int flag = outcome.good ? 1 : 0;
  const int code = MPIX_Comm_agree(comm, &flag);
  expect(code == MPI_SUCCESS || is_failure(code), "class of the error of an agreement");
  MPI_Comm fresh = MPI_COMM_NULL;
  expect_equal(MPIX_Comm_shrink(comm, &fresh), MPI_SUCCESS, "shrink");
  MPI_Comm_free(&comm);
  return fresh;
}

int rounds(char** words) {
  Dice dice{std::strtoull(words[1], nullptr, 10) * 2 + 1};
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  const int count = std::atoi(words[2]);
  for (int round = 0; round < count; ++round) comm = live_through(comm, dice, words, round);
  MPI_Comm_free(&comm);
  const int status = test::finish();
  mark("end");
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(nullptr, nullptr);
  if (argc == 3) return child(argv[2]);
  return argc == 4 ? rounds(argv) : 2;
}
