// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <pthread.h>

#include <climits>
#include <cstdlib>
#include <new>

#include "compat/arguments.h"
#include "compat/calls.h"
#include "compat/report.h"

// Buffers for MPI_Bsend (MPI 5.0 section 3.6). A program has counted the MPI_BSEND_OVERHEAD of its own ABI for each
// message, which is less than our library takes. So the library gets another, larger buffer, and the program its own
// back; pages that no message needs cost nothing.

namespace fulmar::compat {
namespace {

/// As often the size as makes room for the smallest messages, of which nothing but the overhead counts.
constexpr MPI_Count growth =
    (MPI_BSEND_OVERHEAD + foreign::bsend_overhead - 1) / foreign::bsend_overhead;

struct Attached {
  void* address;  ///< the program's
  MPI_Count size;
  void* memory;  ///< the library's
  Attached* next;
};

pthread_mutex_t attached_lock = PTHREAD_MUTEX_INITIALIZER;
Attached* attached;  // under `attached_lock`

void add(Attached* entry) {
  pthread_mutex_lock(&attached_lock);
  entry->next = attached;
  attached = entry;
  pthread_mutex_unlock(&attached_lock);
}

Attached* take(const void* memory) {
  pthread_mutex_lock(&attached_lock);
  Attached** link = &attached;
  while (*link != nullptr && (*link)->memory != memory) link = &(*link)->next;
  Attached* found = *link;
  if (found != nullptr) *link = found->next;
  pthread_mutex_unlock(&attached_lock);
  return found;
}

/// `attach(buffer, size)` is the call of the library.
template <class Attach>
int attach_buffer(void* buffer, MPI_Count size, Attach attach) {
  void* automatic = memory_in(buffer);
  if (automatic != buffer || buffer == nullptr || size <= 0 || size > LLONG_MAX / growth) {
    return code_out(attach(automatic, size));
  }
  void* memory = std::malloc(static_cast<std::size_t>(size * growth));
  void* place = std::malloc(sizeof(Attached));
  if (memory == nullptr || place == nullptr) {
    std::free(memory);
    std::free(place);
    return report(Problem::no_memory);
  }
  const int result = attach(memory, size * growth);
  if (result == MPI_SUCCESS) {
    add(new (place) Attached{buffer, size, memory, nullptr});
  } else {
    std::free(memory);
    std::free(place);
  }
  return code_out(result);
}

/// `detach(&address, &size)` is the call of the library.
template <class Size, class Detach>
int detach_buffer(void* address, Size* size, Detach detach) {
  void* memory = nullptr;
  MPI_Count found_size = 0;
  const int result =
      detach(address != nullptr ? &memory : nullptr, size != nullptr ? &found_size : nullptr);
  if (result != MPI_SUCCESS || address == nullptr || size == nullptr) return code_out(result);
  auto** place = static_cast<void**>(address);
  if (Attached* entry = take(memory); entry != nullptr) {
    *place = entry->address;
    *size = static_cast<Size>(entry->size);
    std::free(entry->memory);
    std::free(entry);
  } else {
    *place = memory_out(memory);
    *size = static_cast<Size>(found_size);
  }
  return MPI_SUCCESS;
}

}  // namespace

// The large forms take what an int would not hold once it has grown.
int buffer_attach(void* buffer, int size) { return buffer_attach_c(buffer, size); }
int buffer_attach_c(void* buffer, MPI_Count size) {
  return attach_buffer(buffer, size, functions.Buffer_attach_c);
}
int buffer_detach(void* address, int* size) {
  return detach_buffer(address, size, functions.Buffer_detach_c);
}
int buffer_detach_c(void* address, MPI_Count* size) {
  return detach_buffer(address, size, functions.Buffer_detach_c);
}

int comm_attach_buffer(Foreign<MPI_Comm> comm, void* buffer, int size) {
  return comm_attach_buffer_c(comm, buffer, size);
}
int comm_attach_buffer_c(Foreign<MPI_Comm> comm, void* buffer, MPI_Count size) {
  return attach_buffer(buffer, size, [&](void* memory, MPI_Count bytes) {
    return functions.Comm_attach_buffer_c(in<MPI_Comm>(comm), memory, bytes);
  });
}
int comm_detach_buffer(Foreign<MPI_Comm> comm, void* address, int* size) {
  return detach_buffer(address, size, [&](void* found, MPI_Count* bytes) {
    return functions.Comm_detach_buffer_c(in<MPI_Comm>(comm), found, bytes);
  });
}
int comm_detach_buffer_c(Foreign<MPI_Comm> comm, void* address, MPI_Count* size) {
  return detach_buffer(address, size, [&](void* found, MPI_Count* bytes) {
    return functions.Comm_detach_buffer_c(in<MPI_Comm>(comm), found, bytes);
  });
}

int session_attach_buffer(Foreign<MPI_Session> session, void* buffer, int size) {
  return session_attach_buffer_c(session, buffer, size);
}
int session_attach_buffer_c(Foreign<MPI_Session> session, void* buffer, MPI_Count size) {
  return attach_buffer(buffer, size, [&](void* memory, MPI_Count bytes) {
    return functions.Session_attach_buffer_c(in<MPI_Session>(session), memory, bytes);
  });
}
int session_detach_buffer(Foreign<MPI_Session> session, void* address, int* size) {
  return detach_buffer(address, size, [&](void* found, MPI_Count* bytes) {
    return functions.Session_detach_buffer_c(in<MPI_Session>(session), found, bytes);
  });
}
int session_detach_buffer_c(Foreign<MPI_Session> session, void* address, MPI_Count* size) {
  return detach_buffer(address, size, [&](void* found, MPI_Count* bytes) {
    return functions.Session_detach_buffer_c(in<MPI_Session>(session), found, bytes);
  });
}

}  // namespace fulmar::compat
