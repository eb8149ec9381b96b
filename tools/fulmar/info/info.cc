// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/info/info.h"

#include <fmt/format.h>
#include <mpi.h>

#include <cstddef>
#include <string>
#include <vector>

#include "fulmar/info/tables.h"
#include "fulmar/info/variables.h"
#include "fulmar/rdma/devices.h"

/// Of the library's private interface (version node FULMAR_1), written like snprintf does.
extern "C" std::size_t fulmar_describe(char* text, std::size_t bytes);

namespace fulmar::info {

namespace {

void print_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  int version = 0;
  int subversion = 0;
  int abi_major = 0;
  int abi_minor = 0;
  MPI_Get_library_version(text, &length);
  MPI_Get_version(&version, &subversion);
  MPI_Abi_get_version(&abi_major, &abi_minor);
  fmt::print("library      {}\n", text);
  fmt::print("standard     MPI {}.{}, ABI {}.{}\n", version, subversion, abi_major, abi_minor);
}

/// Networks, protocols and options, as the library itself sees them.
void print_settings() {
  std::string text(fulmar_describe(nullptr, 0) + 1, '\0');
  text.resize(fulmar_describe(text.data(), text.size()));
  fmt::print("\n{}", text);
}

/// Those that the kernel has, whether Fulmar uses them or not.
void print_rdma_devices() {
  const std::vector<rdma::Device> devices = rdma::find_devices();
  fmt::print("\nRDMA devices{}\n", devices.empty() ? ": none" : "");
  for (const rdma::Device& device : devices) {
    for (const rdma::Port& port : device.ports) {
      fmt::print("  {:18} {:8} {}\n", fmt::format("{}:{}", device.name, port.number),
                 text_of(port.state), summary_of(port));
      for (const rdma::Gid& gid : port.gids) {
        fmt::print("  {:18} {:8} GID {} {}, {}\n", "", "", gid.index, gid.text, text_of(gid.kind));
      }
    }
  }
}

void print_coverage() {
  int functions = 0;
  int working = 0;
  fmt::print("\n{:>7}  {:44} {:>9} {:>8} {:>8}\n", "chapter", "", "functions", "working",
             "missing");
  for (const Chapter& chapter : chapters()) {
    fmt::print("{:>7}  {:44} {:>9} {:>8} {:>8}\n", chapter.number, chapter.title, chapter.functions,
               chapter.working, chapter.functions - chapter.working);
    functions += chapter.functions;
    working += chapter.working;
  }
  fmt::print("{:>7}  {:44} {:>9} {:>8} {:>8}\n", "", "all", functions, working,
             functions - working);
}

void print_missing() {
  for (const Chapter& chapter : chapters()) {
    if (*chapter.missing == '\0') {
      continue;
    }
    fmt::print("\n{} ({})\n", chapter.title, chapter.functions - chapter.working);
    std::string names = chapter.missing;
    for (std::size_t blank = names.find(' '); blank != std::string::npos;
         blank = names.find(' ', blank)) {
      names.replace(blank, 1, "\n  ");
      blank += 3;
    }
    fmt::print("  {}\n", names);
  }
}

}  // namespace

int run(Part part) {
  if (part == Part::variables) {
    print_variables();
    return 0;
  }
  if (part == Part::summary) {
    print_library();
    print_settings();
    print_rdma_devices();
    print_variable_counts();
  }
  print_coverage();
  if (part == Part::api_names) {
    print_missing();
  } else {
    fmt::print("\nfulmar info --api --names lists what is missing.\n");
  }
  return 0;
}

}  // namespace fulmar::info
