// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <climits>
#include <cstdlib>

#include "compat/arguments.h"
#include "compat/calls.h"

// Spawning (MPI 5.0 section 11.8). The number of error codes is known at the root, from its arguments, and to the
// others when there are processes.

namespace fulmar::compat {
namespace {

constexpr int untouched = INT_MIN;  // no error code

/// The error codes of a call. At the root, which knows how many they are, the library writes them into an array of this
/// object: an error may leave the program's as it is, or come with codes. Elsewhere they are known to be as many as the
/// processes that were made.
class SpawnCodes {
 public:
  SpawnCodes(int* errcodes, MPI_Comm comm, int root) : errcodes_(errcodes) {
    int rank = MPI_PROC_NULL;
    is_root_ = functions.Comm_rank(comm, &rank) == MPI_SUCCESS && rank == root;
  }
  [[nodiscard]] bool is_root() const { return is_root_; }
  /// Where the library writes; `count` is what the root asks for.
  [[nodiscard]] int* place_for(MPI_Count count) {
    if (errcodes_ == nullptr || !is_root_ || count <= 0) return errcodes_;
    own_ = static_cast<int*>(std::malloc(static_cast<std::size_t>(count) * sizeof(int)));
    if (own_ == nullptr) return errcodes_;
    count_ = count;
    for (MPI_Count i = 0; i < count; ++i) own_[i] = untouched;
    return own_;
  }
  ~SpawnCodes() { std::free(own_); }
  SpawnCodes(const SpawnCodes&) = delete;
  SpawnCodes& operator=(const SpawnCodes&) = delete;

  /// After the call.
  void store(int result, MPI_Comm made) {
    if (errcodes_ == nullptr) return;
    int processes = 0;
    if (!is_root_ && result == MPI_SUCCESS && made != nullptr && made != MPI_COMM_NULL &&
        functions.Comm_remote_size(made, &processes) == MPI_SUCCESS) {
      for (int i = 0; i < processes; ++i) errcodes_[i] = code_out(errcodes_[i]);
    }
    for (MPI_Count i = 0; i < count_; ++i) {
      if (own_[i] != untouched) errcodes_[i] = code_out(own_[i]);
    }
  }

 private:
  int* errcodes_;
  bool is_root_ = false;
  int* own_ = nullptr;
  MPI_Count count_ = 0;
};

void store_comm(MPI_Comm comm, Foreign<MPI_Comm>* place) {
  if (comm != nullptr) *place = out(comm);
}

}  // namespace

int comm_spawn(const char* command, char** argv, int maxprocs, Foreign<MPI_Info> info, int root,
               Foreign<MPI_Comm> comm, Foreign<MPI_Comm>* intercomm, int* errcodes) {
  const MPI_Comm parents = in<MPI_Comm>(comm);
  MPI_Comm made = nullptr;
  SpawnCodes codes(errcodes, parents, root);
  const int result = functions.Comm_spawn(
      command, argv, maxprocs, in<MPI_Info>(info), to_standard<set::rank>(root), parents,
      intercomm != nullptr ? &made : nullptr, codes.place_for(maxprocs));
  codes.store(result, made);
  store_comm(made, intercomm);
  return code_out(result);
}

int comm_spawn_multiple(int count, char** commands, char*** argvs, const int* maxprocs,
                        const Foreign<MPI_Info>* infos, int root, Foreign<MPI_Comm> comm,
                        Foreign<MPI_Comm>* intercomm, int* errcodes) {
  const MPI_Comm parents = in<MPI_Comm>(comm);
  MPI_Comm made = nullptr;
  SpawnCodes codes(errcodes, parents, root);
  const bool has_arrays = codes.is_root() && count > 0 && maxprocs != nullptr;
  MPI_Count wanted = 0;
  for (int i = 0; has_arrays && i < count; ++i) wanted += maxprocs[i] > 0 ? maxprocs[i] : 0;
  const int result = functions.Comm_spawn_multiple(
      count, commands, argvs, maxprocs, HandleArrayIn<MPI_Info>(infos, codes.is_root() ? count : 0),
      to_standard<set::rank>(root), parents, intercomm != nullptr ? &made : nullptr,
      codes.place_for(wanted));
  codes.store(result, made);
  store_comm(made, intercomm);
  return code_out(result);
}

}  // namespace fulmar::compat
