// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "mpi/info/info.h"
#include "mpi/spawn/calls.h"
#include "mpi/spawn/group_exchange.h"
#include "mpi/spawn/info_entries.h"
#include "mpi/spawn/unlocked.h"

/// MPI_Comm_spawn and MPI_Comm_spawn_multiple: the root opens a port, has the launcher start the
/// processes, which find the port's name in their environment, and accepts them as it would any other
/// group; they connect within MPI_Init.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

std::vector<std::string> arguments_of(char** list) {
  std::vector<std::string> arguments;
  for (; list != nullptr && *list != nullptr; ++list) arguments.emplace_back(*list);
  return arguments;
}

Error check(const std::vector<SpawnCommand>& commands) {
  if (commands.empty()) {
    return failure(ErrorClass::arg, "argument count: 0 commands; give one at least");
  }
  for (const SpawnCommand& command : commands) {
    if (command.program.empty()) {
      return failure(ErrorClass::arg, "argument command: empty; name a program");
    }
    if (command.processes <= 0) {
      return failure(ErrorClass::arg,
                     "argument maxprocs: %d processes of \"%s\"; give one at least",
                     command.processes, command.program.c_str());
    }
  }
  return {};
}

/// One call, at its root.
class Spawning {
 public:
  Spawning(Library& library, const std::vector<SpawnCommand>& commands)
      : library_(library), commands_(commands) {}

  Opening run(std::span<const std::byte> first, const GiveUp& give_up) {
    if (const Error bad = check(commands_); bad.failed()) return {bad, {}};
    const auto port = library_.ports->open({});
    if (port.failed()) return {port.error(), {}};
    Opening opening = start(port.value(), first, give_up);
    (void)library_.ports->close(port.value());
    return opening;
  }

 private:
  Opening start(const std::string& port, std::span<const std::byte> first, const GiveUp& give_up) {
    const auto started =
        unlocked(library_, [&] { return library_.launcher->spawn(commands_, port); });
    if (started.failed()) return {started.error(), codes_of(started.error())};
    const GiveUp give_up_or_ended = [&]() -> Error {
      const std::string how = library_.launcher->spawned_job_ended(port);
      if (how.empty()) return give_up();
      return failure(ErrorClass::spawn,
                     "the processes that were spawned have ended before they "
                     "called MPI_Init: %s",
                     how.c_str());
    };
    auto connected = library_.ports->accept(port, first, give_up_or_ended);
    unlocked(library_, [&] { library_.launcher->forget_spawned_job(port); });
    if (connected.failed()) return {connected.error(), codes_of(connected.error())};
    return {std::move(connected), started.value()};
  }

  /// Of each process where none can be used.
  [[nodiscard]] std::vector<int> codes_of(const Error& error) const {
    const int processes = std::accumulate(
        commands_.begin(), commands_.end(), 0,
        [](int sum, const SpawnCommand& command) { return sum + command.processes; });
    return std::vector<int>(static_cast<std::size_t>(processes), error.code());
  }

  Library& library_;
  const std::vector<SpawnCommand>& commands_;
};

Error spawn(Library& library, const std::vector<SpawnCommand>& commands, int root, Comm& comm,
            MPI_Comm& out, int* codes) {
  std::vector<int> all_codes;
  const auto open = [&](std::span<const std::byte> first, const GiveUp& give_up) {
    return Spawning(library, commands).run(first, give_up);
  };
  const Error error = connect_groups(library, comm, root, open, out, &all_codes);
  if (codes != MPI_ERRCODES_IGNORE) std::copy(all_codes.begin(), all_codes.end(), codes);
  return error;
}

}  // namespace

Error comm_spawn(Library& library, std::string_view command, char** arguments, int processes,
                 Info* info, int root, Comm& comm, MPI_Comm& out, int* codes) {
  std::vector<SpawnCommand> commands;
  if (comm.rank == root) {
    commands.push_back(
        {std::string(command), arguments_of(arguments), processes, entries_of(info)});
  }
  return spawn(library, commands, root, comm, out, codes);
}

Error comm_spawn_multiple(Library& library, int count, char** commands, char*** arguments,
                          const int* processes, const MPI_Info* infos, int root, Comm& comm,
                          MPI_Comm& out, int* codes) {
  std::vector<SpawnCommand> list;
  for (int i = 0; comm.rank == root && i < count; ++i) {
    const bool has_arguments = arguments != MPI_ARGVS_NULL;
    list.push_back({std::string(commands[i]),
                    has_arguments ? arguments_of(arguments[i]) : std::vector<std::string>(),
                    processes[i], entries_of(library.find<Info>(infos[i]))});
  }
  return spawn(library, list, root, comm, out, codes);
}

}  // namespace fulmar::mpi
