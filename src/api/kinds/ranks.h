// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

// Wrappers of ranks, roots and tags. They are checked after the communicator was found.

#include "api/kinds/comm.h"

namespace fulmar::api {

/// The number of ranks that messages can go to: those of the other group of an inter-communicator.
[[nodiscard]] inline int peer_count(const mpi::Comm& comm) noexcept { return comm.remote_size; }

[[nodiscard]] inline bool is_peer(const mpi::Comm& comm, int rank) noexcept {
  return static_cast<unsigned>(rank) < static_cast<unsigned>(peer_count(comm));
}

/// Whether this process is the root that `root` names (MPI 5.0 section 6.2.3).
[[nodiscard]] inline bool is_root(const mpi::Comm& comm, int root) noexcept {
  return comm.is_inter ? root == MPI_ROOT : root == comm.rank;
}

/// The error for a rank outside the communicator's `ranks`. `others` lists further allowed values.
[[gnu::cold]] base::Error wrong_rank(base::ErrorClass error_class, Argument argument, int rank,
                                     const mpi::Comm& comm, int ranks, const char* others);
/// `others` follows the range of tags.
[[gnu::cold]] base::Error wrong_tag(Argument argument, int tag, const char* others);

struct DestIn {
  static constexpr Stage stage = Stage::other;
  int index;
  int raw;

  bool check(Scope& scope) const noexcept {
    return is_peer(*scope.comm, raw) || raw == MPI_PROC_NULL;
  }
  base::Error explain(const Scope& scope, Argument argument) const {
    return wrong_rank(base::ErrorClass::rank, argument, raw, *scope.comm, peer_count(*scope.comm),
                      "MPI_PROC_NULL is allowed");
  }
  int value(const Scope&) const noexcept { return raw; }
};

struct SourceIn {
  static constexpr Stage stage = Stage::other;
  static constexpr bool names_origin = true;
  int index;
  int raw;

  bool check(Scope& scope) const noexcept {
    return is_peer(*scope.comm, raw) || raw == MPI_ANY_SOURCE || raw == MPI_PROC_NULL;
  }
  base::Error explain(const Scope& scope, Argument argument) const {
    return wrong_rank(base::ErrorClass::rank, argument, raw, *scope.comm, peer_count(*scope.comm),
                      "MPI_ANY_SOURCE and MPI_PROC_NULL are allowed");
  }
  int value(const Scope&) const noexcept { return raw; }
};

/// A rank of the communicator's own group.
struct CommRankIn {
  static constexpr Stage stage = Stage::other;
  int index;
  int raw;

  bool check(Scope& scope) const noexcept {
    return static_cast<unsigned>(raw) < static_cast<unsigned>(scope.comm->size());
  }
  base::Error explain(const Scope& scope, Argument argument) const {
    return wrong_rank(base::ErrorClass::rank, argument, raw, *scope.comm, scope.comm->size(),
                      "nothing else is allowed");
  }
  int value(const Scope&) const noexcept { return raw; }
};

struct RootIn {
  static constexpr Stage stage = Stage::root;
  int index;
  int raw;

  bool check(Scope& scope) const noexcept {
    scope.root = raw;
    return is_peer(*scope.comm, raw) ||
           (scope.comm->is_inter && (raw == MPI_ROOT || raw == MPI_PROC_NULL));
  }
  base::Error explain(const Scope& scope, Argument argument) const {
    return wrong_rank(base::ErrorClass::root, argument, raw, *scope.comm, peer_count(*scope.comm),
                      scope.comm->is_inter ? "MPI_ROOT and MPI_PROC_NULL are allowed"
                                           : "nothing else is allowed");
  }
  int value(const Scope&) const noexcept { return raw; }
};

[[nodiscard]] inline bool is_tag(int tag) noexcept {
  return static_cast<unsigned>(tag) <= static_cast<unsigned>(mpi::largest_tag);
}

struct SendTagIn {
  static constexpr Stage stage = Stage::other;
  int index;
  int raw;

  bool check(Scope&) const noexcept { return is_tag(raw); }
  base::Error explain(const Scope&, Argument argument) const {
    return wrong_tag(argument, raw, "");
  }
  int value(const Scope&) const noexcept { return raw; }
};

struct RecvTagIn {
  static constexpr Stage stage = Stage::other;
  int index;
  int raw;

  bool check(Scope&) const noexcept { return is_tag(raw) || raw == MPI_ANY_TAG; }
  base::Error explain(const Scope&, Argument argument) const {
    return wrong_tag(argument, raw, "; MPI_ANY_TAG is allowed");
  }
  int value(const Scope&) const noexcept { return raw; }
};

}  // namespace fulmar::api
