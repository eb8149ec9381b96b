// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include "fortran/choice.h"

// What has to be done when a request of Fortran completes: store copies of sections, free arrays that the
// call still reads, tell the program of a result that has changed. Keyed by the request's INTEGER. Where nothing is pending, completion calls pay one load.
//
// Only completion by Fortran is seen. A request that Fortran starts on a section with gaps that no datatype
// describes, and that C completes, does not store what was received; docs/fortran.md says so. Its record goes when
// its number is given to another request, so each call that gives a request forgets what was there.

namespace fulmar::fortran {

enum class Lifetime {
  once,        ///< a non-blocking operation: done at its completion
  persistent,  ///< of an MPI_*_init: done at each completion, gone when the request is freed
};

/// Whether MPI_Request_free accepts a request that is active. Collective operations have to be completed (MPI 5.0
/// section 6.12): C's call says so.
enum class Freeing { accepted, refused };

/// What one request needs.
struct Pending {
  static constexpr int most_copies = 2;
  static constexpr int most_blocks = 2;

  Pending* next = nullptr;
  int request = 0;
  Lifetime lifetime = Lifetime::once;
  Freeing freeing = Freeing::accepted;
  bool active = true;
  int copies = 0;
  int blocks = 0;
  SectionCopy copy[most_copies];
  void* block[most_blocks];
  MPI_Comm comm = MPI_COMM_NULL;  ///< of MPI_Comm_idup: the library may change it until completion
  int* comm_place = nullptr;      ///< where the program has it; null: of another operation
  MPI_Request freed = MPI_REQUEST_NULL;  ///< the request itself, where the program has freed it
};

/// Collects what a call leaves behind, and files it under the request when the call has succeeded.
class PendingBuilder {
 public:
  PendingBuilder(Lifetime lifetime, Freeing freeing) : lifetime_(lifetime), freeing_(freeing) {}
  ~PendingBuilder();
  PendingBuilder(const PendingBuilder&) = delete;
  PendingBuilder& operator=(const PendingBuilder&) = delete;

  /// Reserves the record, ahead of the call, where `wanted`. False without memory.
  [[nodiscard]] bool reserve(bool wanted);
  void add(Choice& choice);
  void add_block(void* block);
  /// For MPI_Comm_idup, where a record is reserved: the variable that the library gets for that of the program.
  [[nodiscard]] MPI_Comm* add_comm(int* place);
  /// Files the record, if there is one, in place of an old one; `request` as Fortran sees it.
  void keep(int request);

 private:
  Lifetime lifetime_;
  Freeing freeing_;
  Pending* record_ = nullptr;
};

/// Whether any request has something pending.
[[nodiscard]] bool anything_pending();
/// A persistent request is about to be started: brings what it sends up to date.
void pending_start(int request);
/// A call has said that a request is complete, which stays: stores what it has brought.
void pending_store(int request);
/// A request has completed.
void pending_complete(int request);
/// The number of a request is given to another one, as that one has been completed or freed by C.
void pending_forget(int request);
/// C's MPI_Request_free has freed a request.
void pending_freed(int request);

/// In place of C's MPI_Request_free for an active request whose operation works on copies: those and the request stay
/// until it is complete, as MPI_Test tells in later calls. False for other requests.
[[nodiscard]] bool pending_free_later(int number, MPI_Request request);
/// MPI_Finalize is about to be called: leaves to it what is not complete.
void pending_finalize();

}  // namespace fulmar::fortran
