// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/p2p/buffered.h"
#include "mpi/session/calls.h"
#include "mpi/session/session.h"

// A detach may wait without the lock, and the place of a buffer move meanwhile: what is waited for
// is looked up anew behind the wait.

namespace fulmar::mpi {

base::Error session_attach_buffer(Library& library, Session& session, void* buffer, Count size) {
  return attach_buffer(*library.device, session_buffer(library, session.handle), buffer, size);
}

base::Error session_detach_buffer(Library& library, Session& session, void*& buffer,
                                  CountOut size) {
  flush_buffer(session_buffer(library, session.handle));
  return detach_buffer(session_buffer(library, session.handle), buffer, size);
}

base::Error session_flush_buffer(Library& library, Session& session) {
  flush_buffer(session_buffer(library, session.handle));
  return {};
}

base::Error session_iflush_buffer(Library& library, Session& session, MPI_Request& request) {
  return iflush_buffer(library, session_buffer(library, session.handle), nullptr, request);
}

}  // namespace fulmar::mpi
