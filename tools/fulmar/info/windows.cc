// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/info/windows.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace fulmar::info {

namespace {

/// Where the memory of a window comes from.
enum class Memory { window, alloc_mem, program, attached };

struct Kind {
  const char* name;
  Memory memory;
  MPI_Aint bytes;
  const char* granularity = "";  ///< mpi_accumulate_granularity; empty: not set
};

constexpr MPI_Aint short_bytes = 4096;  // an adapter may change the elements of windows so short
constexpr MPI_Aint long_bytes = MPI_Aint{1} << 20;

constexpr std::array<Kind, 6> kinds = {{
    {"MPI_Win_allocate, 4096 bytes", Memory::window, short_bytes},
    {"MPI_Win_allocate, 1 MiB", Memory::window, long_bytes},
    {"the same, mpi_accumulate_granularity=8", Memory::window, long_bytes, "8"},
    {"MPI_Win_create on memory of MPI_Alloc_mem", Memory::alloc_mem, long_bytes},
    {"MPI_Win_create on other memory", Memory::program, long_bytes},
    {"MPI_Win_create_dynamic", Memory::attached, long_bytes},
}};

std::string value_of(MPI_Info info, const char* key) {
  std::array<char, MPI_MAX_INFO_VAL> text{};
  int room = static_cast<int>(text.size());
  int found = 0;
  MPI_Info_get_string(info, key, &room, text.data(), &found);
  return found != 0 ? text.data() : "?";
}

struct SeenWindows {
  std::string ways;
  std::string agent;
  std::string reason;
};

/// What a window tells, between two calls that make and free it.
SeenWindows look_at(MPI_Win win) {
  MPI_Info told = MPI_INFO_NULL;
  MPI_Win_get_info(win, &told);
  SeenWindows seen{value_of(told, "fulmar_ways"), value_of(told, "fulmar_accumulate_agent"),
                   value_of(told, "fulmar_accumulate_agent_reason")};
  MPI_Info_free(&told);
  MPI_Win_free(&win);
  return seen;
}

SeenWindows look_at(const Kind& kind) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  if (*kind.granularity != '\0') MPI_Info_set(info, "mpi_accumulate_granularity", kind.granularity);
  MPI_Win win = MPI_WIN_NULL;
  void* memory = nullptr;
  std::vector<std::byte> own;
  switch (kind.memory) {
    case Memory::window:
      MPI_Win_allocate(kind.bytes, 1, info, MPI_COMM_WORLD, &memory, &win);
      break;
    case Memory::attached:
      MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
      break;
    case Memory::alloc_mem:
      MPI_Alloc_mem(kind.bytes, MPI_INFO_NULL, static_cast<void*>(&memory));
      MPI_Win_create(memory, kind.bytes, 1, info, MPI_COMM_WORLD, &win);
      break;
    case Memory::program:
      own.resize(static_cast<std::size_t>(kind.bytes));
      MPI_Win_create(own.data(), kind.bytes, 1, info, MPI_COMM_WORLD, &win);
      break;
  }
  MPI_Info_free(&info);
  SeenWindows seen = look_at(win);
  if (kind.memory == Memory::alloc_mem) MPI_Free_mem(memory);
  return seen;
}

void print_table(const std::vector<SeenWindows>& all) {
  std::size_t kind_width = 0;
  std::size_t ways_width = 20;
  for (const Kind& kind : kinds) kind_width = std::max(kind_width, std::string(kind.name).size());
  for (const SeenWindows& seen : all) ways_width = std::max(ways_width, seen.ways.size());
  fmt::print("{:{}}  {:{}}  {:8}  {}\n", "window", kind_width, "the others' memory", ways_width,
             "agent", "why");
  for (std::size_t i = 0; i < all.size(); ++i) {
    fmt::print("{:{}}  {:{}}  {:8}  {}\n", kinds.at(i).name, kind_width, all[i].ways, ways_width,
               all[i].agent, all[i].reason);
  }
}

}  // namespace

int show_windows() {
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::vector<SeenWindows> all;
  for (const Kind& kind : kinds) all.push_back(look_at(kind));
  if (rank == 0) {
    fmt::print(
        "{} ranks, seen from rank 0: how operations of windows reach the other ranks (and how "
        "many),\nand what carries out accumulates on elements of eight bytes\n\n",
        size);
    print_table(all);
    if (size == 1) {
      fmt::print("\nstart it as a job to see more: mpiexec -n 4 fulmar info --windows\n");
    }
    std::fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace fulmar::info
