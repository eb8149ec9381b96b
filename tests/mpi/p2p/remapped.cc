// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Long messages from and into memory that goes and comes again between them: a network that
// remembers memory of the program must notice. Rank 0 also prints what adapters did.
// ranks: 2
// timeout: 120

#include <sys/mman.h>

#include <vector>

#include "check.h"

namespace {

constexpr std::size_t longest = 3U << 20;
constexpr std::size_t lengths[] = {70'000, 1U << 20, (1U << 20) + 1, longest};

/// One message each way at a time, from `from` and into `to`, which may be the same.
void exchange(unsigned char* from, unsigned char* to, std::size_t bytes, unsigned seed) {
  const int count = static_cast<int>(bytes);
  const int peer = 1 - check::rank();
  for (const int sender : {0, 1}) {
    if (check::rank() == sender) {
      for (std::size_t i = 0; i < bytes; ++i) from[i] = check::byte_of(i, seed);
      check::ok(MPI_Send(from, count, MPI_BYTE, peer, 1, MPI_COMM_WORLD));
    } else {
      std::memset(to, 0x5a, bytes);
      MPI_Status status = check::marked_status();
      check::ok(MPI_Recv(to, count, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &status));
      check::status(status, peer, 1, count);
      check::same(to, bytes, seed);
    }
    ++seed;
  }
}

/// The same addresses, other pages each time. They stay reserved in between: into a hole another
/// thread may map something of its own.
void mapped_anew() {
  constexpr int reserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const place = ::mmap(nullptr, longest, PROT_NONE, reserved, -1, 0);
  check::that(place != MAP_FAILED, "addresses");
  for (unsigned round = 0; round < 6; ++round) {
    void* const memory = ::mmap(place, longest, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    check::that(memory == place, "memory");
    auto* const bytes = static_cast<unsigned char*>(memory);
    exchange(bytes, bytes, lengths[round % 4], round * 2);
    exchange(bytes + 100, bytes + 100, 70'000, round * 2 + 50);
    if (round % 2 == 0) {
      check::that(::mmap(place, longest, PROT_NONE, reserved | MAP_FIXED, -1, 0) == place,
                  "pages given back");
    }
  }
  ::munmap(place, longest);
}

/// Pages that are emptied and not unmapped.
void emptied() {
  void* const memory =
      ::mmap(nullptr, longest, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check::that(memory != MAP_FAILED, "memory");
  auto* const bytes = static_cast<unsigned char*>(memory);
  for (unsigned round = 0; round < 4; ++round) {
    exchange(bytes, bytes, longest, round * 3);
    check::is(::madvise(memory, longest, MADV_DONTNEED), 0, "madvise");
    check::is(bytes[5000], 0, "an emptied page");
  }
  ::munmap(memory, longest);
}

void from_the_heap() {
  for (unsigned round = 0; round < 8; ++round) {
    std::vector<unsigned char> from(lengths[round % 4]);
    std::vector<unsigned char> to(from.size() + round * 4096);
    exchange(from.data(), to.data(), from.size(), round * 5);
    exchange(to.data(), from.data(), from.size(), round * 5 + 7);
  }
}

/// Memory of MPI is used often, freed, and allocated again, perhaps in the same place.
void of_mpi() {
  for (unsigned round = 0; round < 4; ++round) {
    unsigned char* memory = nullptr;
    check::ok(MPI_Alloc_mem(2 * longest, MPI_INFO_NULL, &memory));
    for (unsigned again = 0; again < 4; ++again) {
      exchange(memory, memory + longest, lengths[again], round * 10 + again);
    }
    check::ok(MPI_Free_mem(memory));
  }
}

/// Long runs with gaps at one side, or at both; the gaps stay as they were.
void in_long_runs() {
  constexpr std::size_t run = 9000;
  constexpr std::size_t gap = 1000;
  constexpr std::size_t runs = 40;
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  check::ok(MPI_Type_vector(runs, run, run + gap, MPI_BYTE, &spread));
  check::ok(MPI_Type_commit(&spread));
  std::vector<unsigned char> memory(runs * (run + gap));
  for (const int spread_sides : {1, 2, 3}) {
    const bool here = (spread_sides >> check::rank() & 1) != 0;
    const MPI_Datatype type = here ? spread : MPI_BYTE;
    const int count = here ? 1 : static_cast<int>(runs * run);
    const auto at = [&](std::size_t i) { return here ? i / run * (run + gap) + i % run : i; };
    std::fill(memory.begin(), memory.end(), static_cast<unsigned char>(0xee));
    if (check::rank() == 0) {
      for (std::size_t i = 0; i < runs * run; ++i) memory[at(i)] = check::byte_of(i, 3);
      check::ok(MPI_Send(memory.data(), count, type, 1, 2, MPI_COMM_WORLD));
      continue;
    }
    check::ok(MPI_Recv(memory.data(), count, type, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    long long wrong = 0;
    for (std::size_t i = 0; i < runs * run; ++i)
      wrong += memory[at(i)] != check::byte_of(i, 3) ? 1 : 0;
    for (std::size_t i = run; here && i < run + gap; ++i) wrong += memory[i] != 0xee ? 1 : 0;
    check::is(wrong, 0, "bytes that are wrong");
  }
  check::ok(MPI_Type_free(&spread));
}

/// What must not be written can be sent.
void read_only() {
  void* const memory =
      ::mmap(nullptr, longest, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check::that(memory != MAP_FAILED, "memory");
  auto* const bytes = static_cast<unsigned char*>(memory);
  for (std::size_t i = 0; i < longest; ++i) bytes[i] = check::byte_of(i, 9);
  check::is(::mprotect(memory, longest, PROT_READ), 0, "mprotect");
  std::vector<unsigned char> to(longest);
  for (int round = 0; round < 3; ++round) {
    if (check::rank() == 0) {
      check::ok(MPI_Send(memory, static_cast<int>(longest), MPI_BYTE, 1, 3, MPI_COMM_WORLD));
    } else {
      check::ok(MPI_Recv(to.data(), static_cast<int>(longest), MPI_BYTE, 0, 3, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE));
      check::same(to.data(), longest, 9);
    }
  }
  ::munmap(memory, longest);
}

/// What adapters do from here on, in performance variables of this library; a library without them
/// has nothing to tell.
class Figures {
 public:
  Figures() {
    int provided = 0;
    check::ok(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    check::ok(MPI_T_pvar_session_create(&session_));
    for (const char* const name : names) {
      int index = 0;
      int count = 0;
      MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL;
      if (MPI_T_pvar_get_index(name, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS) {
        check::ok(MPI_T_pvar_handle_alloc(session_, index, nullptr, &handle, &count));
        check::ok(MPI_T_pvar_start(session_, handle));
      }
      handles_.push_back(handle);
    }
  }
  Figures(const Figures&) = delete;
  Figures& operator=(const Figures&) = delete;
  ~Figures() {
    check::ok(MPI_T_pvar_session_free(&session_));
    check::ok(MPI_T_finalize());
  }
  void print() {
    for (std::size_t i = 0; i < handles_.size(); ++i) {
      if (handles_[i] == MPI_T_PVAR_HANDLE_NULL) continue;
      unsigned long long value = 0;
      check::ok(MPI_T_pvar_read(session_, handles_[i], &value));
      std::printf("%s %llu\n", names[i], value);
    }
  }

 private:
  static constexpr const char* names[] = {
      "device_fetched_messages", "device_put_messages",         "device_remote_retreats",
      "device_memory_opened",    "device_memory_hits",          "device_memory_passing",
      "device_memory_evicted",   "device_memory_refused",       "device_memory_gone",
      "device_thread_wakeups",   "device_second_thread_wakeups"};
  MPI_T_pvar_session session_ = MPI_T_PVAR_SESSION_NULL;
  std::vector<MPI_T_pvar_handle> handles_;
};

}  // namespace

int main(int argc, char** argv) {
  check::start(&argc, &argv);
  {
    Figures figures;
    mapped_anew();
    emptied();
    from_the_heap();
    of_mpi();
    in_long_runs();
    read_only();
    if (check::rank() == 0) figures.print();
  }
  return check::finish();
}
