// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The buffer of a session serves the communicators that come from it, and no others (MPI 5.0
// section 3.6).
//
// ranks: 1 2
#include "check.h"

namespace {

constexpr int bytes = 50000;

int bsend(int dest, MPI_Comm comm) {
  const auto out = check::pattern(bytes, 1);
  return MPI_Bsend(out.data(), bytes, MPI_BYTE, dest, 1, comm);
}
void receive(int source, MPI_Comm comm) {
  std::vector<unsigned char> in(bytes);
  check::ok(MPI_Recv(in.data(), bytes, MPI_BYTE, source, 1, comm, MPI_STATUS_IGNORE));
  check::same(in.data(), bytes, 1);
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  const int right = (check::rank() + 1) % check::size();
  const int left = (check::rank() + check::size() - 1) % check::size();
  MPI_Session session;
  check::ok(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  MPI_Group group;
  check::ok(MPI_Group_from_session_pset(session, "mpi://WORLD", &group));
  MPI_Comm comm;
  check::ok(MPI_Comm_create_from_group(group, "buffers", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
  MPI_Comm copy;
  check::ok(MPI_Comm_dup(comm, &copy));
  MPI_Comm from_its_group;
  MPI_Group its_group;
  check::ok(MPI_Comm_group(copy, &its_group));
  check::ok(MPI_Comm_create_group(copy, its_group, 3, &from_its_group));

  check::error(bsend(right, comm), MPI_ERR_BUFFER);
  std::vector<unsigned char> memory(bytes + MPI_BSEND_OVERHEAD);
  check::ok(MPI_Session_attach_buffer(session, memory.data(), static_cast<int>(memory.size())));
  check::error(MPI_Session_attach_buffer(session, memory.data(), 1), MPI_ERR_BUFFER);
  check::error(bsend(right, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  for (const MPI_Comm each : {comm, copy, from_its_group}) {
    check::ok(bsend(right, each));
    receive(left, each);
    check::ok(MPI_Session_flush_buffer(session));
  }
  check::ok(bsend(right, copy));
  MPI_Request request;
  check::ok(MPI_Session_iflush_buffer(session, &request));
  receive(left, copy);
  check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
  void* address = nullptr;
  int size = 0;
  check::ok(MPI_Session_detach_buffer(session, &address, &size));
  check::that(address == memory.data() && size == static_cast<int>(memory.size()), "buffer");
  // Without it the process's buffer is used.
  check::ok(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  check::ok(bsend(right, comm));
  receive(left, comm);
  check::ok(MPI_Buffer_detach(&address, &size));
  check::ok(MPI_Session_attach_buffer(session, MPI_BUFFER_AUTOMATIC, 0));
  check::ok(bsend(right, comm));
  receive(left, comm);
  check::ok(MPI_Group_free(&group));
  check::ok(MPI_Group_free(&its_group));
  check::ok(MPI_Comm_free(&from_its_group));
  check::ok(MPI_Comm_free(&copy));
  check::ok(MPI_Comm_free(&comm));
  check::ok(MPI_Session_finalize(&session));
  return check::finish();
}
