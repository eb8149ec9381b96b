// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/measure/interfaces.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>

#include "fulmar/measure/message_path.h"

namespace fulmar::measure {

namespace {

enum class Pattern { latency, bandwidth, both_ways, burst };

struct Case {
  Pattern pattern;
  const char* file;
  std::unique_ptr<MessagePath> (*make)(const Team&, std::size_t);
};

std::unique_ptr<MessagePath> make_registered(const Team& team, std::size_t bytes) {
  return make_vipl_path(team, bytes, ViplMemory::registered);
}
std::unique_ptr<MessagePath> make_allocated(const Team& team, std::size_t bytes) {
  return make_vipl_path(team, bytes, ViplMemory::allocated);
}

Case case_of(Kind test) {
  const auto pattern = [test](Kind first) {
    return static_cast<Pattern>(static_cast<int>(test) - static_cast<int>(first));
  };
  if (test < Kind::sisci_latency)
    return {pattern(Kind::rwapi_latency), rwapi_file, make_rwapi_path};
  if (test < Kind::vipl_latency) return {pattern(Kind::sisci_latency), sisci_file, make_sisci_path};
  if (test < Kind::vipl_alloc_latency)
    return {pattern(Kind::vipl_latency), vipl_file, make_registered};
  return {pattern(Kind::vipl_alloc_latency), vipl_file, make_allocated};
}

void ping_pong(MessagePath& path, bool leads, int count) {
  for (int i = 0; i < count; ++i) {
    if (leads) path.start();
    path.receive(1);
    if (!leads) path.start();
  }
  path.complete();
}

void start_window(MessagePath& path) {
  for (int i = 0; i < window; ++i) path.start();
}

/// Each window is answered; in a burst the last one is.
void one_way(MessagePath& path, bool leads, Pattern pattern, int count) {
  for (int i = 0; i < count; ++i) {
    leads ? start_window(path) : path.receive(window);
    if (pattern == Pattern::burst && i != count - 1) continue;
    path.complete();
    leads ? path.receive(1) : path.start_empty();
  }
  path.complete();
}

void both_ways(MessagePath& path, int count) {
  for (int i = 0; i < count; ++i) {
    start_window(path);
    path.receive(window);
    path.complete();
  }
}

double operations_of(Pattern pattern) {
  if (pattern == Pattern::latency) return 2;
  return pattern == Pattern::both_ways ? 2.0 * window : window;
}

}  // namespace

bool is_of_interface(Kind test) {
  return test >= Kind::rwapi_latency && test <= Kind::vipl_alloc_bibw;
}

std::string missing_library(Kind test) {
  const Case wanted = case_of(test);
  if (LoadedLibrary(wanted.file).is_there()) return {};
  return fmt::format(
      "{}: {}; these tests need the libmpi_abi of Fulmar, and its other libraries beside it",
      name(test), ::dlerror());
}

Point run_interface(Kind test, const Team& team, std::size_t bytes, const Budget& budget,
                    const Agree& agree) {
  const Case wanted = case_of(test);
  const auto path = wanted.make(team, bytes);
  const bool leads = team.rank == 0;
  (void)swap_values(team, 0);  // both are ready
  const Point point = measure(agree, bytes, operations_of(wanted.pattern), budget, [&](int count) {
    if (wanted.pattern == Pattern::latency) return ping_pong(*path, leads, count);
    if (wanted.pattern == Pattern::both_ways) return both_ways(*path, count);
    one_way(*path, leads, wanted.pattern, count);
  });
  (void)swap_values(team, 0);  // nothing is under way
  return point;
}

void require(bool went_well, const char* call) {
  if (went_well) return;
  fmt::print(stderr, "fulmar bench: {} failed\n", call);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

LoadedLibrary::LoadedLibrary(const char* file) : handle_(::dlopen(file, RTLD_NOW | RTLD_GLOBAL)) {}

void* LoadedLibrary::symbol(const char* name) const { return ::dlsym(handle_, name); }

}  // namespace fulmar::measure
