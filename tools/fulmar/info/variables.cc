// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/info/variables.h"

#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <string>
#include <vector>

namespace fulmar::info {

namespace {

constexpr std::size_t text_bytes = 1024;

/// A string that MPI_T returns.
struct Text {
  std::array<char, text_bytes> bytes{};
  int length = text_bytes;
};

/// MPI_T in use for a scope.
class Session {
 public:
  Session() {
    int provided = 0;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  }
  ~Session() { MPI_T_finalize(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
};

const char* class_name(int var_class) {
  switch (var_class) {
    case MPI_T_PVAR_CLASS_STATE:
      return "state";
    case MPI_T_PVAR_CLASS_LEVEL:
      return "level";
    case MPI_T_PVAR_CLASS_SIZE:
      return "size";
    case MPI_T_PVAR_CLASS_PERCENTAGE:
      return "percentage";
    case MPI_T_PVAR_CLASS_HIGHWATERMARK:
      return "highest";
    case MPI_T_PVAR_CLASS_LOWWATERMARK:
      return "lowest";
    case MPI_T_PVAR_CLASS_COUNTER:
      return "counter";
    case MPI_T_PVAR_CLASS_AGGREGATE:
      return "aggregate";
    case MPI_T_PVAR_CLASS_TIMER:
      return "timer";
    default:
      return "generic";
  }
}

void print_line(const Text& name, const char* sort, const Text& description) {
  fmt::print("  {:32} {:11} {}\n", name.bytes.data(), sort, description.bytes.data());
}

void print_control(int index) {
  Text name;
  Text description;
  MPI_T_cvar_get_info(index, name.bytes.data(), &name.length, nullptr, nullptr, nullptr,
                      description.bytes.data(), &description.length, nullptr, nullptr);
  print_line(name, "control", description);
}

void print_performance(int index) {
  Text name;
  Text description;
  int var_class = 0;
  MPI_T_pvar_get_info(index, name.bytes.data(), &name.length, nullptr, &var_class, nullptr, nullptr,
                      description.bytes.data(), &description.length, nullptr, nullptr, nullptr,
                      nullptr);
  print_line(name, class_name(var_class), description);
}

void print_event(int index) {
  Text name;
  Text description;
  MPI_T_event_get_info(index, name.bytes.data(), &name.length, nullptr, nullptr, nullptr, nullptr,
                       nullptr, nullptr, description.bytes.data(), &description.length, nullptr);
  print_line(name, "event", description);
}

void print_category(int index) {
  Text name;
  Text description;
  int controls = 0;
  int performances = 0;
  int events = 0;
  MPI_T_category_get_info(index, name.bytes.data(), &name.length, description.bytes.data(),
                          &description.length, &controls, &performances, nullptr);
  MPI_T_category_get_num_events(index, &events);
  if (controls + performances + events == 0) {
    return;
  }
  fmt::print("\n{}: {}\n", name.bytes.data(), description.bytes.data());
  std::vector<int> members(static_cast<std::size_t>(controls + performances + events));
  MPI_T_category_get_cvars(index, controls, members.data());
  for (int i = 0; i < controls; ++i) {
    print_control(members[static_cast<std::size_t>(i)]);
  }
  MPI_T_category_get_pvars(index, performances, members.data());
  for (int i = 0; i < performances; ++i) {
    print_performance(members[static_cast<std::size_t>(i)]);
  }
  MPI_T_category_get_events(index, events, members.data());
  for (int i = 0; i < events; ++i) {
    print_event(members[static_cast<std::size_t>(i)]);
  }
}

}  // namespace

void print_variable_counts() {
  const Session session;
  int controls = 0;
  int performances = 0;
  int events = 0;
  MPI_T_cvar_get_num(&controls);
  MPI_T_pvar_get_num(&performances);
  MPI_T_event_get_num(&events);
  fmt::print(
      "\nMPI_T        {} control variables, {} performance variables, {} events; "
      "fulmar info --variables lists them\n",
      controls, performances, events);
}

void print_variables() {
  const Session session;
  int categories = 0;
  MPI_T_category_get_num(&categories);
  for (int i = 0; i < categories; ++i) {
    print_category(i);
  }
}

}  // namespace fulmar::info
