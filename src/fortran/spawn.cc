// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <new>

#include "fortran/calls.h"
#include "fortran/handles.h"
#include "fortran/report.h"
#include "fortran/sentinels.h"
#include "fortran/strings.h"

namespace fulmar::fortran {
namespace {

bool is_root(MPI_Comm comm, int root) {
  int rank = MPI_UNDEFINED;
  return PMPI_Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
}

/// The argument lists of MPI_Comm_spawn_multiple: ARRAY_OF_ARGV(count, *), the arguments of one command in a
/// row of the array.
class ArgumentLists {
 public:
  ArgumentLists(const char* argvs, std::size_t length, int count)
      : lists_(count), pointers_(count) {
    if (lists_.failed() || pointers_.failed()) return;
    const std::size_t step = length * static_cast<std::size_t>(count);
    for (; made_ < count; ++made_) {
      auto* list = new (&lists_[made_])
          StringList(argvs + static_cast<std::size_t>(made_) * length, length, step, -1);
      if (list->failed()) {
        list->~StringList();
        return;
      }
      pointers_[made_] = list->get();
    }
    complete_ = true;
  }
  ~ArgumentLists() {
    for (int i = 0; i < made_; ++i) {
      std::launder(reinterpret_cast<StringList*>(&lists_[i]))->~StringList();
    }
  }
  ArgumentLists(const ArgumentLists&) = delete;
  ArgumentLists& operator=(const ArgumentLists&) = delete;
  [[nodiscard]] bool failed() const { return !complete_; }
  [[nodiscard]] char*** get() { return pointers_.data(); }

 private:
  struct alignas(StringList) Place {
    char bytes[sizeof(StringList)];
  };
  SmallArray<Place, 8> lists_;
  SmallArray<char**, 8> pointers_;
  int made_ = 0;
  bool complete_ = false;
};

}  // namespace

void comm_spawn(const char* command, const char* argv, const int* maxprocs, const int* info,
                const int* root, const int* comm, int* intercomm, int* errcodes, int* ierror,
                std::size_t command_length, std::size_t argv_length) {
  const auto parents = handle<MPI_Comm>(*comm);
  const bool matters = is_root(parents, *root);  // all before `root` is looked at there only
  const bool arguments = matters && !is_argv_null(argv);
  InString c_command(command, matters ? command_length : 0, Trim::both);
  StringList c_argv(argv, argv_length, argv_length, arguments ? -1 : 0);
  if (c_command.failed() || c_argv.failed())
    return give(ierror, report(Problem::no_memory, ErrorTarget::comm(*comm)));
  HandleResult<MPI_Comm> made(intercomm);
  give(ierror,
       PMPI_Comm_spawn(c_command.get(), arguments ? c_argv.get() : MPI_ARGV_NULL,
                       matters ? *maxprocs : 0, matters ? handle<MPI_Info>(*info) : MPI_INFO_NULL,
                       *root, parents, made.get(), errcodes_address(errcodes)));
  made.store();
}

void comm_spawn_multiple(const int* count, const char* commands, const char* argvs,
                         const int* maxprocs, const int* infos, const int* root, const int* comm,
                         int* intercomm, int* errcodes, int* ierror, std::size_t command_length,
                         std::size_t argv_length) {
  const auto parents = handle<MPI_Comm>(*comm);
  const int programs = is_root(parents, *root) && *count > 0 ? *count : 0;
  const bool arguments = programs > 0 && !is_argvs_null(argvs);
  StringList c_commands(commands, command_length, command_length, programs);
  ArgumentLists c_argvs(argvs, argv_length, arguments ? programs : 0);
  HandleArray<MPI_Info> c_infos(infos, programs);
  if (c_commands.failed() || c_argvs.failed() || c_infos.failed()) {
    return give(ierror, report(Problem::no_memory, ErrorTarget::comm(*comm)));
  }
  HandleResult<MPI_Comm> made(intercomm);
  give(ierror, PMPI_Comm_spawn_multiple(
                   programs, c_commands.get(), arguments ? c_argvs.get() : MPI_ARGVS_NULL, maxprocs,
                   c_infos.get(), *root, parents, made.get(), errcodes_address(errcodes)));
  made.store();
}

}  // namespace fulmar::fortran
