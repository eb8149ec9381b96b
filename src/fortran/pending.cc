// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/pending.h"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

#include "fortran/handles.h"

namespace fulmar::fortran {
namespace {

constexpr unsigned bucket_count = 64;

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
Pending* buckets[bucket_count];  // under `lock`
Pending* to_free;                // of requests that the program has freed; under `lock`
std::atomic<int> pending_count = 0;

class Guard {
 public:
  Guard() { pthread_mutex_lock(&lock); }
  ~Guard() { pthread_mutex_unlock(&lock); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
};

/// The link to a request's record, or to the null at the end of its list.
Pending** find(int request) {
  Pending** link = &buckets[static_cast<unsigned>(request) % bucket_count];
  while (*link != nullptr && (*link)->request != request) link = &(*link)->next;
  return link;
}

Pending* take(int request) {
  Pending** link = find(request);
  Pending* record = *link;
  if (record == nullptr) return nullptr;
  *link = record->next;
  pending_count.fetch_sub(1, std::memory_order_relaxed);
  return record;
}

void destroy(Pending* record) {
  if (record == nullptr) return;
  for (int i = 0; i < record->blocks; ++i) std::free(record->block[i]);
  record->~Pending();
  std::free(record);
}

/// MPI_Comm_idup has given the program a handle at once, which is void where the operation has failed.
void store_comm(const Pending& record) {
  if (record.comm_place == nullptr || record.comm != MPI_COMM_NULL) return;
  *record.comm_place = number(MPI_COMM_NULL);
}

/// Once for each time that the operation is active.
void store_copies(Pending& record) {
  if (!record.active) return;
  record.active = false;
  for (int i = 0; i < record.copies; ++i) record.copy[i].store();
}

/// Takes all records of `to_free`.
Pending* take_to_free() {
  const Guard guard;
  return std::exchange(to_free, nullptr);
}

void push_to_free(Pending* record) {
  const Guard guard;
  record->next = std::exchange(to_free, record);
}

/// Whether a request is complete, or has failed. It is freed then.
bool has_ended(MPI_Request& request) {
  int done = 0;
  const int result = PMPI_Test(&request, &done, MPI_STATUS_IGNORE);
  if (result == MPI_SUCCESS && done == 0) return false;
  if (request != MPI_REQUEST_NULL) PMPI_Request_free(&request);  // a persistent one
  return true;
}

/// Ends those requests of `to_free` that are complete. Without the lock: MPI_Test may call an error handler.
void free_complete() {
  for (Pending* next = take_to_free(); next != nullptr;) {
    Pending* record = std::exchange(next, next->next);
    if (!has_ended(record->freed)) {
      push_to_free(record);
      continue;
    }
    store_copies(*record);
    destroy(record);
    pending_count.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace

PendingBuilder::~PendingBuilder() { destroy(record_); }

bool PendingBuilder::reserve(bool wanted) {
  if (!wanted) return true;
  if (anything_pending()) free_complete();
  void* memory = std::malloc(sizeof(Pending));
  if (memory == nullptr) return false;
  record_ = new (memory) Pending;
  record_->lifetime = lifetime_;
  record_->freeing = freeing_;
  record_->active = lifetime_ == Lifetime::once;
  return true;
}

void PendingBuilder::add(Choice& choice) {
  if (record_ == nullptr || !choice.has_copy()) return;
  record_->copy[record_->copies++] = choice.release_copy();
}

void PendingBuilder::add_block(void* block) {
  if (record_ != nullptr) record_->block[record_->blocks++] = block;
}

MPI_Comm* PendingBuilder::add_comm(int* place) {
  record_->comm = before_result<MPI_Comm>(*place);
  record_->comm_place = place;
  return &record_->comm;
}

void PendingBuilder::keep(int request) {
  if (anything_pending()) pending_forget(request);
  if (record_ == nullptr) return;
  record_->request = request;
  const Guard guard;
  Pending** bucket = &buckets[static_cast<unsigned>(request) % bucket_count];
  record_->next = *bucket;
  *bucket = record_;
  record_ = nullptr;
  pending_count.fetch_add(1, std::memory_order_relaxed);
}

bool anything_pending() { return pending_count.load(std::memory_order_relaxed) != 0; }

void pending_start(int request) {
  const Guard guard;
  Pending* record = *find(request);
  if (record == nullptr) return;
  record->active = true;
  for (int i = 0; i < record->copies; ++i) record->copy[i].load();
}

void pending_store(int request) {
  const Guard guard;
  Pending* record = *find(request);
  if (record != nullptr) store_copies(*record);
}

void pending_complete(int request) {
  free_complete();
  const Guard guard;
  Pending* record = *find(request);
  if (record == nullptr) return;
  store_copies(*record);
  store_comm(*record);
  if (record->lifetime == Lifetime::once) destroy(take(request));
}

void pending_forget(int request) {
  const Guard guard;
  destroy(take(request));
}

void pending_freed(int request) {
  const Guard guard;
  Pending* record = take(request);
  // An operation that goes on still uses what its record has, which stays for good.
  if (record == nullptr || record->active) return;
  store_comm(*record);
  destroy(record);
}

bool pending_free_later(int number, MPI_Request request) {
  {
    const Guard guard;
    Pending* record = *find(number);
    if (record == nullptr || !record->active || record->freeing == Freeing::refused) return false;
    take(number);
    pending_count.fetch_add(1, std::memory_order_relaxed);
    record->freed = request;
    record->next = std::exchange(to_free, record);
  }
  free_complete();
  return true;
}

void pending_finalize() {
  free_complete();
  // MPI_Finalize completes what the program has freed; it may still use the copies, which stay.
  for (Pending* record = take_to_free(); record != nullptr; record = record->next) {
    PMPI_Request_free(&record->freed);
  }
}

}  // namespace fulmar::fortran
