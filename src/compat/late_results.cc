// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/late_results.h"

#include <pthread.h>

#include <cstdlib>
#include <new>

#include "compat/arguments.h"
#include "compat/calls.h"
#include "compat/report.h"

namespace fulmar::compat {

std::atomic<int> late_result_count;

namespace {

struct LateResult {
  MPI_Comm comm = nullptr;  // first: the library has its address
  MPI_Request request = nullptr;
  Foreign<MPI_Comm>* place = nullptr;
  LateResult* next = nullptr;
};

pthread_mutex_t results_lock = PTHREAD_MUTEX_INITIALIZER;
LateResult* results;  // under `results_lock`

LateResult* result_of(MPI_Comm* comm) { return reinterpret_cast<LateResult*>(comm); }

/// Takes the result of a request out of the list; null where it has none.
LateResult* take(MPI_Request request) {
  pthread_mutex_lock(&results_lock);
  LateResult** link = &results;
  while (*link != nullptr && (*link)->request != request) link = &(*link)->next;
  LateResult* found = *link;
  if (found != nullptr) {
    *link = found->next;
    late_result_count.fetch_sub(1, std::memory_order_relaxed);
  }
  pthread_mutex_unlock(&results_lock);
  return found;
}

}  // namespace

MPI_Comm* keep_late_result(Foreign<MPI_Comm>* place) {
  void* memory = std::malloc(sizeof(LateResult));
  if (memory == nullptr) return nullptr;
  auto* result = new (memory) LateResult;
  result->place = place;
  return &result->comm;
}

void start_late_result(MPI_Comm* comm, MPI_Request request) {
  LateResult* result = result_of(comm);
  if (result->comm != nullptr) *result->place = out(result->comm);
  if (request == nullptr) {
    std::free(result);
    return;
  }
  pthread_mutex_lock(&results_lock);
  result->request = request;
  result->next = results;
  results = result;
  late_result_count.fetch_add(1, std::memory_order_relaxed);
  pthread_mutex_unlock(&results_lock);
}

void settle_late_result(MPI_Request request) {
  LateResult* result = take(request);
  if (result == nullptr) return;
  if (result->comm == MPI_COMM_NULL) *result->place = out(result->comm);
  std::free(result);
}

namespace {

template <class Duplicate>
int duplicate(Duplicate call, Foreign<MPI_Comm>* newcomm, Foreign<MPI_Request>* request) {
  MPI_Request made = nullptr;
  MPI_Request* request_place = request != nullptr ? &made : nullptr;
  if (newcomm == nullptr) return code_out(call(nullptr, request_place));
  MPI_Comm* comm = keep_late_result(newcomm);
  if (comm == nullptr) return report(Problem::no_memory);
  const int result = call(comm, request_place);
  start_late_result(comm, result == MPI_SUCCESS ? made : nullptr);
  if (made != nullptr) *request = out(made);
  return code_out(result);
}

}  // namespace

int comm_idup(Foreign<MPI_Comm> comm, Foreign<MPI_Comm>* newcomm, Foreign<MPI_Request>* request) {
  const auto call = [&](MPI_Comm* made, MPI_Request* under_way) {
    return functions.Comm_idup(in<MPI_Comm>(comm), made, under_way);
  };
  return duplicate(call, newcomm, request);
}

int comm_idup_with_info(Foreign<MPI_Comm> comm, Foreign<MPI_Info> info, Foreign<MPI_Comm>* newcomm,
                        Foreign<MPI_Request>* request) {
  const auto call = [&](MPI_Comm* made, MPI_Request* under_way) {
    return functions.Comm_idup_with_info(in<MPI_Comm>(comm), in<MPI_Info>(info), made, under_way);
  };
  return duplicate(call, newcomm, request);
}

// A request that is freed goes on, and what it has kept is kept for good.
int request_free(Foreign<MPI_Request>* request) {
  if (request == nullptr) return code_out(functions.Request_free(nullptr));
  MPI_Request ours = in<MPI_Request>(*request);
  const int result = functions.Request_free(&ours);
  if (result == MPI_SUCCESS) *request = out(ours);
  return code_out(result);
}

}  // namespace fulmar::compat
