// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// MPI_Comm_split_type by hardware: ranks that are bound to cores are grouped with those on the same core, and
// what MPI_Get_hw_resource_info says agrees with it.
// launch: --bind-to core --map-by core
// ranks: 1 2 4

#include <mpi.h>
#include <sched.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;
using test::rank_of;
using test::size_of;

constexpr const char* key = "mpi_hw_resource_type";

struct Binding {
  int first = -1;  ///< the first processor that this process may run on
  int count = 0;
};

Binding own_binding() {
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof set, &set);
  Binding binding;
  for (int id = CPU_SETSIZE; id-- > 0;) {
    if (!CPU_ISSET(id, &set)) continue;
    binding.first = id;
    ++binding.count;
  }
  return binding;
}

std::string value_of(MPI_Info info, const char* name) {
  char text[MPI_MAX_INFO_VAL + 1] = "";
  int length = sizeof text;
  int found = 0;
  MPI_Info_get_string(info, name, &length, text, &found);
  return found != 0 ? text : "";
}

/// MPI_COMM_NULL without a value.
MPI_Comm split(int type, const char* name, const char* value, int order = 0) {
  MPI_Info info = MPI_INFO_NULL;
  if (value != nullptr) {
    MPI_Info_create(&info);
    MPI_Info_set(info, name, value);
  }
  MPI_Comm part = MPI_COMM_WORLD;
  MPI_Comm_split_type(MPI_COMM_WORLD, type, order, info, &part);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  return part;
}

/// The processes of the world that share the own processors.
int mates(const Binding& own) {
  std::vector<int> all(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
  MPI_Allgather(&own.first, 1, MPI_INT, all.data(), 1, MPI_INT, MPI_COMM_WORLD);
  int count = 0;
  for (const int first : all) count += first == own.first ? 1 : 0;
  return count;
}

void check_guided(int type) {
  const Binding own = own_binding();
  const int together = mates(own);
  MPI_Comm part = split(type, key, "hwloc://PU", -rank_of(MPI_COMM_WORLD));
  expect_equal(part == MPI_COMM_NULL, own.count != 1, "who is bound to one processor has a part");
  if (part != MPI_COMM_NULL) {
    expect_equal(size_of(part), together, "all that run on the same processor are in it");
    int highest = -1;
    const int world_rank = rank_of(MPI_COMM_WORLD);
    MPI_Allreduce(&world_rank, &highest, 1, MPI_INT, MPI_MAX, part);
    expect_equal(rank_of(part) == 0, highest == world_rank, "the key orders the ranks");
    MPI_Comm_free(&part);
  }
  part = split(type, key, "hwloc://Core");
  expect(part != MPI_COMM_NULL, "all are bound to cores");
  expect_equal(size_of(part), together, "all of a core are in its part");
  MPI_Comm_free(&part);
  for (const char* whole : {"mpi_shared_memory", "hwloc://Machine"}) {
    part = split(type, key, whole);
    expect_equal(size_of(part), size_of(MPI_COMM_WORLD), "the node holds all");
    MPI_Comm_free(&part);
  }
  expect(split(type, key, "hwloc://Toaster") == MPI_COMM_NULL, "unknown hardware");
  expect(split(type, "something", "else") == MPI_COMM_NULL, "no kind of hardware named");
  expect(split(type, nullptr, nullptr) == MPI_COMM_NULL, "no info");
}

void check_unguided() {
  const int together = mates(own_binding());
  const int size = size_of(MPI_COMM_WORLD);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Comm part = MPI_COMM_WORLD;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part);
  if (together == size) {
    expect(part == MPI_COMM_NULL, "nothing divides processes of one core");
    expect(value_of(info, key).empty(), "no kind of hardware is told");
  } else {
    expect(part != MPI_COMM_NULL, "processes of several cores are divided");
    expect(size_of(part) < size, "a part is smaller than the whole");
    const std::string type = value_of(info, key);
    MPI_Comm same = split(MPI_COMM_TYPE_HW_GUIDED, key, type.c_str());
    expect(same != MPI_COMM_NULL, "the kind that is told is known");
    int result = -1;
    MPI_Comm_compare(part, same, &result);
    expect_equal(result, MPI_CONGRUENT, "it gives the same part");
    MPI_Comm_free(&same);
    MPI_Comm nested = MPI_COMM_WORLD;
    MPI_Comm_split_type(part, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &nested);
    if (nested != MPI_COMM_NULL) {
      expect(size_of(nested) < size_of(part), "a part of a part is smaller");
      MPI_Comm_free(&nested);
    }
    MPI_Comm_free(&part);
  }
  MPI_Info_free(&info);
}

/// Processes may give MPI_UNDEFINED where others name a type.
void check_undefined() {
  const bool out = rank_of(MPI_COMM_WORLD) == 0;
  for (const int type : {MPI_COMM_TYPE_SHARED, MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_HW_UNGUIDED,
                         MPI_COMM_TYPE_RESOURCE_GUIDED}) {
    MPI_Comm part = split(out ? MPI_UNDEFINED : type, key, "mpi_shared_memory");
    if (out) expect(part == MPI_COMM_NULL, "nothing for who gives MPI_UNDEFINED");
    if (part == MPI_COMM_NULL) continue;
    expect(size_of(part) < size_of(MPI_COMM_WORLD), "who gives MPI_UNDEFINED is in no part");
    int sum = 0;
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, part);
    expect_equal(sum, size_of(part), "the part works");
    MPI_Comm_free(&part);
  }
}

void check_hints() {
  MPI_Comm part = split(MPI_COMM_TYPE_SHARED, "mpi_assert_exact_length", "true");
  MPI_Info info = MPI_INFO_NULL;
  MPI_Comm_get_info(part, &info);
  expect(value_of(info, "mpi_assert_exact_length") == "true", "the info has hints, too");
  expect(value_of(info, "mpi_assert_no_any_tag") == "false", "the others have their defaults");
  MPI_Info_free(&info);
  MPI_Comm_free(&part);
}

void check_sets() {
  constexpr int type = MPI_COMM_TYPE_RESOURCE_GUIDED;
  MPI_Comm part = split(type, "mpi_pset_name", "mpi://WORLD");
  expect_equal(size_of(part), size_of(MPI_COMM_WORLD), "the set of all processes");
  MPI_Comm_free(&part);
  part = split(type, "mpi_pset_name", "mpi://SELF");
  expect_equal(size_of(part), 1, "the set of one process");
  MPI_Comm_free(&part);
  expect(split(type, "mpi_pset_name", "mpi://NOBODY") == MPI_COMM_NULL, "unknown set");
}

void check_info() {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Get_hw_resource_info(&info);
  expect(value_of(info, "mpi_shared_memory") == "true", "one node");
  expect(value_of(info, "hwloc://Core") == "true", "bound to a core");
  expect(value_of(info, "hwloc://PU") == (own_binding().count == 1 ? "true" : "false"),
         "bound to a processor");
  expect(value_of(info, "hwloc://NUMANode") == "true", "so also to a NUMA node");
  MPI_Info_free(&info);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  check_guided(MPI_COMM_TYPE_HW_GUIDED);
  check_guided(MPI_COMM_TYPE_RESOURCE_GUIDED);
  check_unguided();
  check_undefined();
  check_hints();
  check_sets();
  check_info();
  return test::finish();
}
