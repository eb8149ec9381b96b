// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/calls.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <optional>
#include <string>

#include "base/engine_lock.h"
#include "mpi/attr/attributes.h"
#include "mpi/info/info.h"
#include "mpi/rma/last_use.h"
#include "mpi/spawn/calls.h"
#include "mpi/spawn/launch_service.h"
#include "runtime/abort.h"
#include "runtime/init_lock.h"
#include "runtime/options/options.h"
#include "runtime/process.h"

namespace fulmar::runtime {
namespace {

using base::Error;
using base::ErrorClass;
using mpi::Count;
using WorldState = Process::WorldState;

Error init_world(const char* call, int required, int& provided) {
  const std::lock_guard guard(init_lock());
  Process& process = runtime::process();
  if (process.world_state != WorldState::before) {
    return base::failure(ErrorClass::other,
                         process.world_state == WorldState::open
                             ? "MPI is initialised already; call %s once"
                             : "%s came after MPI_Finalize; start again with MPI_Session_init",
                         call);
  }
  provided = required > MPI_THREAD_SERIALIZED ? MPI_THREAD_MULTIPLE
             : required > MPI_THREAD_FUNNELED ? MPI_THREAD_SERIALIZED
             : required > MPI_THREAD_SINGLE   ? MPI_THREAD_FUNNELED
                                              : MPI_THREAD_SINGLE;
  if (const Error error = process.enter(provided); error.failed()) {
    // The program cannot continue without it: report the cause before the error handler ends it.
    return error;
  }
  process.world_thread_level = provided;
  process.open_world();
  const base::EngineGuard lock(process.library().lock);
  const std::string parent = process.library().launcher->parent_port();
  return parent.empty() ? Error() : mpi::connect_to_parent(process.library(), parent);
}

/// What adapters know of the blocks of MPI_Alloc_mem.
device::RegistrationCache& opener() { return process().library().device->memory(); }

/// At least cache lines, so that neither a copy nor a network adapter splits one; the key
/// mpi_minimum_memory_alignment may ask for more (MPI 5.0 section 9.2).
std::size_t block_alignment(const mpi::Info* info) {
  constexpr int least = 64;
  const std::string* asked = info == nullptr ? nullptr : info->find("mpi_minimum_memory_alignment");
  const std::optional<int> wanted = asked == nullptr ? std::nullopt : parse_integer(*asked);
  const int bytes = std::clamp(wanted.value_or(least), least, 1 << 30);
  return std::bit_ceil(static_cast<std::size_t>(bytes));
}

}  // namespace

std::recursive_mutex& init_lock() {
  static std::recursive_mutex lock;
  return lock;
}

Error init(int* /*argc*/, char*** /*argv*/) {
  int provided = 0;
  return init_world("MPI_Init", MPI_THREAD_SINGLE, provided);
}

Error init_thread(int* /*argc*/, char*** /*argv*/, int required, int& provided) {
  return init_world("MPI_Init_thread", required, provided);
}

Error finalize() {
  std::unique_lock guard(init_lock());
  Process& process = runtime::process();
  if (process.world_state != WorldState::open) {
    return base::failure(ErrorClass::other, process.world_state == WorldState::before
                                                ? "MPI is not initialised; call MPI_Init first"
                                                : "MPI is finalized already; call it once");
  }
  mpi::Library& library = process.library();
  {
    // First as if MPI_COMM_SELF were freed (MPI 5.0 section 11.2.2): its callbacks may still use
    // MPI.
    const base::EngineGuard lock(library.lock);
    mpi::Comm& self = process.world().self;
    const Error error =
        delete_attributes(library, {self.attributes, mpi::KeyvalKind::comm, self.handle});
    if (error.failed()) return error;
    if (process.world_state != WorldState::open) {
      return base::failure(ErrorClass::other,
                           "a delete function of MPI_COMM_SELF called MPI_Finalize itself");
    }
    process.world_state = WorldState::finalizing;
  }
  guard.unlock();  // other threads may begin and end sessions meanwhile
  {
    const base::EngineGuard lock(library.lock);
    mpi::await_other_users(library, 0);
    library.device->drain();
  }
  guard.lock();
  process.close_world();
  process.leave();
  return {};
}

Error initialized(int& flag) {
  flag = runtime::process().world_state != WorldState::before ? 1 : 0;
  return {};
}

Error finalized(int& flag) {
  flag = runtime::process().world_state == WorldState::closed ? 1 : 0;
  return {};
}

Error query_thread(int& provided) {
  provided = runtime::process().world_thread_level;
  return {};
}

Error is_thread_main(int& flag) {
  flag = ::pthread_equal(runtime::process().main_thread, ::pthread_self()) != 0 ? 1 : 0;
  return {};
}

Error abort(mpi::Comm& comm, int code) {
  std::fprintf(stderr, "fulmar: rank %d of %d called MPI_Abort(%s, %d)\n",
               runtime::process().errors().rank, runtime::process().errors().size,
               comm.name != nullptr ? comm.name : "a communicator", code);
  abort_job(runtime::process().job(), code);
}

Error get_processor_name(char* name, int& length) {
  std::array<char, MPI_MAX_PROCESSOR_NAME> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) std::strcpy(host.data(), "localhost");
  length = static_cast<int>(std::strlen(host.data()));
  std::memcpy(name, host.data(), static_cast<std::size_t>(length) + 1);
  return {};
}

Error alloc_mem(Count size, mpi::Info* info, void*& memory) {
  const std::size_t alignment = block_alignment(info);
  const std::size_t bytes =
      (static_cast<std::size_t>(size) + alignment - 1) / alignment * alignment;
  mpi::SharedHeap* const heap = process().world().heaps->own();
  memory = heap == nullptr ? nullptr : heap->allocate(std::max(bytes, alignment), alignment);
  if (memory == nullptr) memory = std::aligned_alloc(alignment, std::max(bytes, alignment));
  if (memory != nullptr) {
    opener().own({static_cast<std::byte*>(memory), bytes});
    return {};
  }
  return base::failure(ErrorClass::no_mem, "argument size: %lld bytes are not available",
                       static_cast<long long>(size));
}

Error free_mem(void* memory) {
  opener().disown(static_cast<const std::byte*>(memory));
  using Freed = mpi::SharedHeap::Freed;
  mpi::SharedHeap* const heap = process().world().heaps->opened();
  const Freed freed = heap == nullptr ? Freed::not_here : heap->free(memory);
  if (freed == Freed::bad) {
    return base::failure(ErrorClass::base,
                         "argument base: no block of MPI_Alloc_mem begins at %p, or it was freed "
                         "before",
                         memory);
  }
  if (freed == Freed::not_here) std::free(memory);
  return {};
}

}  // namespace fulmar::runtime
