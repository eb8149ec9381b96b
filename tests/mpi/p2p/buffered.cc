// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Buffered sends: attached buffers of the process and of communicators, room, detach, flush
// (MPI 5.0 section 3.6).
//
// ranks: 1 2 4
#include <sys/mman.h>

#include "check.h"

namespace {

int neighbour() { return (check::rank() + 1) % check::size(); }
int source() { return (check::rank() + check::size() - 1) % check::size(); }

void receive(std::size_t bytes, int tag, unsigned seed, MPI_Comm comm = MPI_COMM_WORLD) {
  std::vector<unsigned char> in(bytes);
  MPI_Status status;
  check::ok(MPI_Recv(in.data(), static_cast<int>(bytes), MPI_BYTE, source(), tag, comm, &status));
  check::status(status, source(), tag, static_cast<long long>(bytes));
  check::same(in.data(), bytes, seed);
}

int bsend(std::size_t bytes, int tag, unsigned seed, MPI_Comm comm = MPI_COMM_WORLD) {
  auto out = check::pattern(bytes, seed);
  const int code = MPI_Bsend(out.data(), static_cast<int>(bytes), MPI_BYTE, neighbour(), tag, comm);
  std::fill(out.begin(), out.end(), static_cast<unsigned char>(0xcc));  // the copy counts
  return code;
}

/// Exactly the room that the standard asks for is enough, whatever the address.
void exact_room() {
  const std::size_t sizes[] = {1, 100000, 0, 40000, 17, 65536, 49};
  std::size_t room = 0;
  for (const std::size_t bytes : sizes) {
    int packed = 0;
    check::ok(MPI_Pack_size(static_cast<int>(bytes), MPI_BYTE, MPI_COMM_WORLD, &packed));
    room += static_cast<std::size_t>(packed) + MPI_BSEND_OVERHEAD;
  }
  for (std::size_t shift = 0; shift < 4; ++shift) {
    std::vector<unsigned char> memory(room + 64, 0xab);
    unsigned char* buffer = memory.data() + 32 + shift;
    check::ok(MPI_Buffer_attach(buffer, static_cast<int>(room)));
    for (int i = 0; i < 7; ++i) {
      check::ok(bsend(sizes[i], i, static_cast<unsigned>(i + check::rank())));
    }
    for (int i = 6; i >= 0; --i) receive(sizes[i], i, static_cast<unsigned>(i + source()));
    void* address = nullptr;
    int size = 0;
    check::ok(MPI_Buffer_detach(&address, &size));
    check::that(address == buffer, "address");
    check::is(size, static_cast<long long>(room), "size");
    for (std::size_t i = 0; i < 32 + shift; ++i) check::is(memory[i], 0xab, "before the buffer");
    for (std::size_t i = 32 + shift + room; i < memory.size(); ++i) {
      check::is(memory[i], 0xab, "behind the buffer");
    }
  }
}

/// Room is used again; without room the call fails and nothing is sent.
void reuse_and_overflow() {
  constexpr std::size_t bytes = 100000;
  const std::size_t room = 2 * (bytes + MPI_BSEND_OVERHEAD);
  std::vector<unsigned char> memory(room);
  check::ok(MPI_Buffer_attach_c(memory.data(), static_cast<MPI_Count>(room)));
  check::error(MPI_Buffer_attach(memory.data(), 10), MPI_ERR_BUFFER);
  for (unsigned round = 0; round < 20; ++round) {
    check::ok(bsend(bytes, 1, round));
    check::ok(bsend(bytes, 2, round + 100));
    check::error(bsend(bytes, 3, round), MPI_ERR_BUFFER);
    check::meet();
    receive(bytes, 2, round + 100);
    receive(bytes, 1, round);
    check::ok(MPI_Buffer_flush());
    check::meet();
  }
  int flag = 1;
  check::ok(MPI_Iprobe(source(), 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE));
  check::is(flag, 0, "a failed send sends nothing");
  check::meet();
  check::error(bsend(room, 1, 0), MPI_ERR_BUFFER);
  void* address = nullptr;
  MPI_Count size = 0;
  check::ok(MPI_Buffer_detach_c(&address, &size));
  check::is(size, static_cast<long long>(room), "size");
  check::error(bsend(8, 1, 0), MPI_ERR_BUFFER);  // no buffer at all
  MPI_Request request;
  char byte = 0;
  check::error(MPI_Ibsend(&byte, 1, MPI_BYTE, neighbour(), 1, MPI_COMM_WORLD, &request),
               MPI_ERR_BUFFER);
  check::ok(MPI_Bsend(&byte, 1, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD));
}

/// Detach ends only when the messages have left; so does flush, while iflush says when.
void detach_and_flush() {
  constexpr std::size_t bytes = 300000;
  std::vector<unsigned char> memory(3 * (bytes + MPI_BSEND_OVERHEAD));
  check::ok(MPI_Buffer_attach(memory.data(), static_cast<int>(memory.size())));
  MPI_Request flushes[3];
  check::ok(MPI_Buffer_iflush(&flushes[0]));
  check::ok(MPI_Wait(&flushes[0], MPI_STATUS_IGNORE));  // nothing to wait for
  check::ok(bsend(bytes, 1, 1));
  check::ok(MPI_Buffer_iflush(&flushes[0]));
  check::ok(bsend(bytes, 2, 2));
  check::ok(MPI_Buffer_iflush(&flushes[1]));
  check::ok(bsend(bytes, 3, 3));
  check::ok(MPI_Buffer_iflush(&flushes[2]));
  int flag = 0;
  for (int i = 0; i < 100; ++i) {
    check::ok(MPI_Test(&flushes[0], &flag, MPI_STATUS_IGNORE));
    check::is(flag, 0, "iflush of what nobody received");
    if (flag != 0) break;
  }
  check::meet();
  receive(bytes, 1, 1);
  check::ok(MPI_Wait(&flushes[0], MPI_STATUS_IGNORE));
  check::meet();
  receive(bytes, 3, 3);
  check::ok(MPI_Test(&flushes[1], &flag, MPI_STATUS_IGNORE));
  check::is(flag, 0, "iflush of two messages of which one is left");
  check::meet();
  receive(bytes, 2, 2);
  check::ok(MPI_Waitall(3, flushes, MPI_STATUSES_IGNORE));

  // Detach: the receiver gets the message although the sender sits in the call.
  check::ok(bsend(bytes, 4, 4));
  MPI_Request receive_request;
  std::vector<unsigned char> in(bytes);
  check::ok(MPI_Irecv(in.data(), static_cast<int>(bytes), MPI_BYTE, source(), 4, MPI_COMM_WORLD,
                      &receive_request));
  void* address = nullptr;
  int size = 0;
  check::ok(MPI_Buffer_detach(&address, &size));
  std::fill(memory.begin(), memory.end(), static_cast<unsigned char>(0));
  check::ok(MPI_Wait(&receive_request, MPI_STATUS_IGNORE));
  check::same(in.data(), bytes, 4);
  check::ok(MPI_Buffer_flush());
  check::ok(MPI_Buffer_iflush(&flushes[0]));
  check::ok(MPI_Wait(&flushes[0], MPI_STATUS_IGNORE));
}

/// A communicator's buffer comes before the process's.
void of_communicators() {
  MPI_Comm comm;
  check::ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
  check::ok(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  constexpr std::size_t bytes = 20000;
  std::vector<unsigned char> small(bytes + MPI_BSEND_OVERHEAD);
  std::vector<unsigned char> large(4 * bytes + MPI_BSEND_OVERHEAD);
  check::ok(MPI_Buffer_attach(large.data(), static_cast<int>(large.size())));
  check::ok(MPI_Comm_attach_buffer(comm, small.data(), static_cast<int>(small.size())));
  check::error(MPI_Comm_attach_buffer(comm, small.data(), 1), MPI_ERR_BUFFER);
  check::error(bsend(3 * bytes, 1, 1, comm), MPI_ERR_BUFFER);
  check::ok(bsend(3 * bytes, 1, 1));
  check::ok(bsend(bytes, 2, 2, comm));
  receive(3 * bytes, 1, 1);
  receive(bytes, 2, 2, comm);
  check::ok(MPI_Comm_flush_buffer(comm));
  MPI_Request request;
  check::ok(MPI_Comm_iflush_buffer(comm, &request));
  check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
  void* address = nullptr;
  int size = 0;
  check::ok(MPI_Comm_detach_buffer(comm, &address, &size));
  check::that(address == small.data(), "address");
  check::is(size, static_cast<long long>(small.size()), "size");
  check::ok(MPI_Buffer_flush());
  // Without its own, the process's.
  check::ok(bsend(3 * bytes, 3, 3, comm));
  receive(3 * bytes, 3, 3, comm);
  check::ok(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0));
  check::ok(bsend(10 * bytes, 4, 4, comm));
  receive(10 * bytes, 4, 4, comm);
  check::ok(MPI_Comm_detach_buffer(comm, &address, &size));
  check::that(address == MPI_BUFFER_AUTOMATIC && size == 0, "automatic");
  check::ok(MPI_Buffer_detach(&address, &size));
  check::that(address == large.data(), "address");
  check::ok(MPI_Comm_free(&comm));
}

/// Messages of all modes between two ranks stay in order, buffered ones too.
/// What is under way when a communicator is freed arrives all the same, and MPI_Comm_disconnect
/// waits for it.
void freed_with_a_buffer() {
  constexpr int count = 200000;
  for (const bool disconnects : {false, true}) {
    for (int round = 0; round < 3; ++round) {
      MPI_Comm comm;
      check::ok(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
      check::ok(MPI_Comm_attach_buffer(comm, MPI_BUFFER_AUTOMATIC, 0));
      std::vector<int> sent(count, check::rank() + 10 * round);
      std::vector<int> got(count);
      MPI_Request request;
      const int peer = check::size() - 1 - check::rank();
      check::ok(MPI_Irecv(got.data(), count, MPI_INT, peer, 1, comm, &request));
      check::ok(MPI_Bsend(sent.data(), count, MPI_INT, peer, 1, comm));
      if (!disconnects) check::ok(MPI_Comm_free(&comm));
      check::ok(MPI_Wait(&request, MPI_STATUS_IGNORE));
      if (disconnects) check::ok(MPI_Comm_disconnect(&comm));
      check::is(got.back(), peer + 10 * round, "what was under way");
    }
  }
}

void order() {
  check::ok(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
  MPI_Request requests[30];
  int values[30];
  for (int i = 0; i < 30; ++i) {
    values[i] = i;
    const std::size_t extra = i % 5 == 0 ? 30000 : 0;
    std::vector<int> out(1 + extra, i);
    check::ok(MPI_Ibsend(out.data(), static_cast<int>(out.size()), MPI_INT, neighbour(), 0,
                         MPI_COMM_WORLD, &requests[i]));
    int flag = 0;
    check::ok(MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE));
    check::is(flag, 1, "a buffered send is complete at once");
  }
  std::vector<int> in(40000);
  for (int i = 0; i < 30; ++i) {
    check::ok(MPI_Recv(in.data(), 40000, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                       MPI_STATUS_IGNORE));
    check::is(in[0], values[i], "order");
  }
  void* address = nullptr;
  int size = 0;
  check::ok(MPI_Buffer_detach(&address, &size));
}

/// Larger than an int can say. Its memory is never touched.
void larger_than_an_int() {
  const MPI_Count bytes = MPI_Count{3} << 30;
  void* memory = ::mmap(nullptr, static_cast<std::size_t>(bytes), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  check::that(memory != MAP_FAILED, "address space");
  void* address = nullptr;
  int size = 0;
  check::ok(MPI_Buffer_attach_c(memory, bytes));
  check::ok(MPI_Buffer_detach(&address, &size));
  check::that(address == memory, "address");
  check::is(size, MPI_UNDEFINED, "size");
  check::ok(MPI_Comm_attach_buffer_c(MPI_COMM_WORLD, memory, bytes));
  MPI_Count large = 0;
  check::ok(MPI_Comm_detach_buffer_c(MPI_COMM_WORLD, &address, &large));
  check::is(large, bytes, "size, large");
  ::munmap(memory, static_cast<std::size_t>(bytes));
}

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  exact_room();
  reuse_and_overflow();
  detach_and_flush();
  of_communicators();
  freed_with_a_buffer();
  order();
  larger_than_an_int();
  // What is left in a buffer is delivered by MPI_Finalize.
  static unsigned char memory[100000 + MPI_BSEND_OVERHEAD];
  check::ok(MPI_Buffer_attach(memory, sizeof memory));
  check::ok(bsend(100000, 77, 7));
  receive(100000, 77, 7);
  return check::finish();
}
