// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_Comm_spawn and MPI_Comm_spawn_multiple: this program starts itself. What children are told is in
// their arguments: what they do, and what they are to find.
// "again TIMES" spawns and disconnects so many times (tests/soak.d/spawn).
// ranks: 1 2 3
// timeout: 120

#include <dirent.h>
#include <mpi.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "support/check.h"
#include "support/sanitized.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::rank_of;
using test::size_of;

const char* program = "";

int remote_size_of(MPI_Comm comm) {
  int size = -1;
  MPI_Comm_remote_size(comm, &size);
  return size;
}

MPI_Comm parent() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_get_parent(&comm);
  return comm;
}

/// Every rank receives from every rank of the other group, in a short and in a long message.
void check_messages(MPI_Comm inter) {
  const int own = rank_of(inter);
  for (const int length : {1, 50000}) {
    for (int peer = 0; peer < remote_size_of(inter); ++peer) {
      const std::vector<int> out(static_cast<std::size_t>(length), 100 * own + peer);
      std::vector<int> in(out.size(), -1);
      MPI_Sendrecv(out.data(), length, MPI_INT, peer, length, in.data(), length, MPI_INT, peer,
                   length, inter, MPI_STATUS_IGNORE);
      expect(in == std::vector<int>(in.size(), 100 * peer + own), "what came from the other group");
    }
  }
}

/// In one communicator of parents and children.
void check_merged(MPI_Comm inter, bool is_child) {
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Intercomm_merge(inter, is_child ? 1 : 0, &all);
  expect_equal(size_of(all), size_of(inter) + remote_size_of(inter), "all processes");
  std::vector<int> ranks(static_cast<std::size_t>(size_of(all)), -1);
  const int own = rank_of(all);
  MPI_Allgather(&own, 1, MPI_INT, ranks.data(), 1, MPI_INT, all);
  for (int rank = 0; rank < size_of(all); ++rank) {
    expect_equal(ranks[static_cast<std::size_t>(rank)], rank, "the ranks that were gathered");
  }
  std::vector<double> values(20000, own);
  MPI_Allreduce(MPI_IN_PLACE, values.data(), 20000, MPI_DOUBLE, MPI_SUM, all);
  expect(values.back() == size_of(all) * (size_of(all) - 1) / 2.0, "the sum over all ranks");
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_split(all, own % 2, 0, &copy);
  MPI_Barrier(copy);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&all);
}

void check_family(MPI_Comm inter, bool is_child) {
  check_messages(inter);
  check_merged(inter, is_child);
  MPI_Comm_disconnect(&inter);
  expect(inter == MPI_COMM_NULL, "the handle after MPI_Comm_disconnect");
}

void check_parent_name(MPI_Comm comm) {
  std::array<char, MPI_MAX_OBJECT_NAME> name{};
  int length = 0;
  MPI_Comm_get_name(comm, name.data(), &length);
  expect(std::string(name.data()) == "MPI_COMM_PARENT", "the name of the parent");
}

MPI_Comm spawn(int count, std::vector<std::string> words, MPI_Comm comm = MPI_COMM_WORLD) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const bool is_root = rank_of(comm) == 0;  // the rest is looked at there only
  MPI_Comm inter = MPI_COMM_NULL;
  std::vector<int> codes(static_cast<std::size_t>(count), -1);
  MPI_Comm_spawn(is_root ? program : nullptr, is_root ? arguments.data() : nullptr,
                 is_root ? count : -5, MPI_INFO_NULL, 0, comm, &inter, codes.data());
  expect(codes == std::vector<int>(codes.size(), MPI_SUCCESS), "the error codes of all processes");
  expect_equal(remote_size_of(inter), count, "the number of children");
  return inter;
}

void check_spawn() { check_family(spawn(2, {"child", "2", "an argument", ""}), false); }

void check_spawn_multiple() {
  std::array<char*, 2> commands = {const_cast<char*>(program), const_cast<char*>(program)};
  std::string child = "child";
  std::string count = "3";
  std::string argument = "an argument";
  std::string empty;
  std::array<char*, 5> list = {child.data(), count.data(), argument.data(), empty.data(), nullptr};
  std::array<char**, 2> lists = {list.data(), list.data()};
  const std::array<int, 2> counts = {1, 2};
  const std::array<MPI_Info, 2> infos = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_spawn_multiple(2, commands.data(), lists.data(), counts.data(), infos.data(), 0,
                          MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
  expect_equal(remote_size_of(inter), 3, "the children of both commands");
  check_family(inter, false);
}

/// The error is that of all processes.
void check_failures() {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm inter = MPI_COMM_WORLD;
  std::array<int, 2> codes = {-1, -1};
  int code = MPI_Comm_spawn("/no/such/program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD,
                            &inter, codes.data());
  expect_class(code, MPI_ERR_SPAWN, "a program that is not there");
  expect(inter == MPI_COMM_NULL, "no communicator with a program that is not there");
  for (const int one : codes) expect_class(one, MPI_ERR_SPAWN, "its error codes");
  code = MPI_Comm_spawn(program, MPI_ARGV_NULL, 0, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                        MPI_ERRCODES_IGNORE);
  expect_class(code, MPI_ERR_ARG, "no processes");
  code = MPI_Comm_spawn("/bin/true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                        MPI_ERRCODES_IGNORE);
  expect_class(code, MPI_ERR_SPAWN, "a program that ends without MPI_Init");
  code = MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 99, MPI_COMM_WORLD, &inter,
                        MPI_ERRCODES_IGNORE);
  expect_class(code, MPI_ERR_ROOT, "a root that is not there");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int open_descriptors() {
  DIR* folder = opendir("/proc/self/fd");
  int count = 0;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

/// Memory of this process that is its own, in KiB.
int own_memory() {
  std::ifstream lines("/proc/self/status");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("RssAnon:")) return std::atoi(line.c_str() + 8);
  }
  return 0;
}

int mappings() {
  std::ifstream lines("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(lines, line);) ++count;
  return count;
}

/// Children that have gone leave no descriptor, no mapping, and no memory behind.
void check_growth(int times) {
  int descriptors_before = 0;
  int mappings_before = 0;
  int memory_before = 0;
  for (int time = 0; time < times; ++time) {
    MPI_Comm inter = spawn(1, {"child", "1", "an argument", ""});
    check_family(inter, false);
    if (time == 2) descriptors_before = open_descriptors();
    if (time == 2) mappings_before = mappings();
    if (time == times / 10) memory_before = own_memory();
  }
  // The last children may be on their way out.
  expect(open_descriptors() <= descriptors_before + 3, "descriptors after many children");
  expect(mappings() <= mappings_before + 8, "mappings after many children");
  constexpr int slack_kib = 1024;
  expect(test::sanitized || own_memory() <= memory_before + slack_kib,
         "memory after many children");
}

/// Each process spawns one of its own at the same time.
void check_many_at_once() {
  MPI_Comm inter = spawn(1, {"child", "1", "an argument", ""}, MPI_COMM_SELF);
  check_family(inter, false);
}

void check_deep() { check_family(spawn(1, {"deep", "4"}), false); }

int be_child(int argc, char** argv) {
  expect_equal(argc, 5, "the number of arguments");
  expect(std::string(argv[3]) == "an argument" && std::string(argv[4]).empty(), "the arguments");
  expect_equal(size_of(MPI_COMM_WORLD), std::atoi(argv[2]), "the size of the children's world");
  MPI_Comm family = parent();
  check_parent_name(family);
  check_family(family, true);
  expect(parent() == MPI_COMM_NULL, "MPI_Comm_get_parent after MPI_Comm_disconnect");
  return test::finish();
}

/// A child has a child, which has a child.
int be_deep(int levels) {
  if (levels > 0) check_family(spawn(1, {"deep", std::to_string(levels - 1)}), false);
  check_family(parent(), true);
  return test::finish();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  program = argv[0];
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "child") return be_child(argc, argv);
  if (how == "deep") return be_deep(std::atoi(argv[2]));
  if (how == "again") {
    check_growth(std::atoi(argv[2]));
    return test::finish();
  }
  expect(parent() == MPI_COMM_NULL, "the parent of what nobody spawned");
  check_spawn();
  check_spawn_multiple();
  check_failures();
  check_many_at_once();
  check_deep();
  if (size_of(MPI_COMM_WORLD) == 1) check_growth(12);
  if (size_of(MPI_COMM_WORLD) == 2) check_growth(100);
  return test::finish();
}
