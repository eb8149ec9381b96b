// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What the functions of the C interface ask of src/runtime, for ranks that a test has made and will end,
// several in one process: the library that is meant, which `usable_library` names (current_rank.cc), and
// the few calls that need nothing else.

#include <array>
#include <cstdio>
#include <cstdlib>

#include "runtime/calls.h"
#include "runtime/init_lock.h"
#include "runtime/library_access.h"
#include "runtime/options/tool_calls.h"

namespace fulmar::runtime {
namespace {

base::Error refusal(const char* call) {
  return base::failure(base::ErrorClass::unsupported_operation,
                       "%s does not exist in a simulated job, which begins and ends MPI itself",
                       call);
}

[[noreturn]] void stop(const char* what) {
  std::fprintf(stderr, "%s in a simulated job\n", what);
  std::fflush(stdout);
  std::_Exit(1);
}

}  // namespace

mpi::Library& library() {
  mpi::Library* current = usable_library.load(std::memory_order_relaxed);
  if (current == nullptr) stop("MPI was called by no rank");
  return *current;
}

std::recursive_mutex& init_lock() {
  static std::recursive_mutex lock;
  return lock;
}

mpi::Tool& tool() { stop("MPI_T was called"); }
int t_init_thread(int /*required*/, int* /*provided*/) { return MPI_T_ERR_NOT_SUPPORTED; }
int t_finalize() { return MPI_T_ERR_NOT_INITIALIZED; }

base::Error init(int* /*argc*/, char*** /*argv*/) { return refusal("MPI_Init"); }
base::Error init_thread(int* /*argc*/, char*** /*argv*/, int /*required*/, int& /*provided*/) {
  return refusal("MPI_Init_thread");
}
base::Error finalize() { return refusal("MPI_Finalize"); }
base::Error session_init(mpi::Info* /*info*/, mpi::Errhandler& /*errhandler*/,
                         MPI_Session& /*out*/) {
  return refusal("MPI_Session_init");
}
base::Error session_finalize(mpi::Handle<mpi::Session> /*session*/) {
  return refusal("MPI_Session_finalize");
}
base::Error initialized(int& flag) {
  flag = 1;
  return {};
}
base::Error finalized(int& flag) {
  flag = 0;
  return {};
}
base::Error query_thread(int& provided) {
  provided = MPI_THREAD_SINGLE;
  return {};
}
base::Error is_thread_main(int& flag) {
  flag = 1;
  return {};
}
base::Error abort(mpi::Comm& /*comm*/, int /*code*/) { stop("MPI_Abort was called"); }
base::Error get_processor_name(char* name, int& length) {
  length = std::snprintf(name, MPI_MAX_PROCESSOR_NAME, "simulated");
  return {};
}
base::Error alloc_mem(mpi::Count size, mpi::Info* /*info*/, void*& memory) {
  memory = std::malloc(static_cast<std::size_t>(size));
  return {};
}
base::Error free_mem(void* memory) {
  std::free(memory);
  return {};
}

}  // namespace fulmar::runtime
