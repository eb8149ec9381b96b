// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// An MPI program with the failure that its first argument names. What else it does is
// checked traffic; it exits with 0 when all of that was right, with 77 when the accident cannot be
// arranged here.
//   traffic [BYTES]              all kinds of traffic; messages up to this long (default 4 MiB)
//   denied WHO CALL ERROR        a system call fails from before MPI_Init on; WHO: all or a rank
//   denied_midway WHO CALL ERROR ... in the middle of a long message
//   denied_later WHO CALL ERROR  ... after all kinds of traffic, before a collective call
//   undumpable                   no process may access the ranks' memory
//   leave | crash | kill         rank 1 ends in the middle of a long message
//   stop                         rank 1 stops itself in the middle of one; `stop` is continued
//   fork                         ranks fork; children exit, or execute something
//   busy                         says that it is up in the file up.RANK, then sends for ever
//   flood                        rank 1 has no memory for the messages that rank 0 sends it
//   poor WHAT                    rank 1 has no memory for a collective call by messages, or for a datatype
//   room BYTES                   takes that much address space, sends, and says what was taken
//   before again                        a child process of the rank tries to be the same rank
#include <mpi.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "fault/deny.h"
#include "fault/traffic.h"
#include "support/check.h"

namespace {

using Arguments = std::vector<std::string>;

constexpr std::size_t long_message = 48U << 20;
constexpr int skipped = 77;

int own_rank() { return test::rank_of(MPI_COMM_WORLD); }

bool concerns(const std::string& who) {
  const char* rank = std::getenv("FULMAR_RANK");
  return who == "all" || (rank != nullptr && who == rank);
}

int run_traffic(const Arguments& arguments) {
  MPI_Init(nullptr, nullptr);
  traffic::everything(arguments.size() > 1 ? std::stoul(arguments[1]) : 4U << 20);
  return test::finish();
}

int run_denied(const Arguments& arguments) {
  if (concerns(arguments.at(1)) && !deny(arguments.at(2), arguments.at(3))) return skipped;
  return run_traffic({"traffic"});
}

int run_denied_midway(const Arguments& arguments) {
  MPI_Init(nullptr, nullptr);
  traffic::RingExchange exchange(long_message);
  exchange.start();
  exchange.move_a_little();
  if (concerns(arguments.at(1)) && !deny(arguments.at(2), arguments.at(3))) std::_Exit(skipped);
  exchange.finish();
  traffic::everything(4U << 20);
  return test::finish();
}

int run_denied_later(const Arguments& arguments) {
  MPI_Init(nullptr, nullptr);
  traffic::everything(4U << 20);
  if (concerns(arguments.at(1)) && !deny(arguments.at(2), arguments.at(3))) std::_Exit(skipped);
  traffic::collectives();
  traffic::everything(4U << 20);
  return test::finish();
}

int run_undumpable() {
  ::prctl(PR_SET_DUMPABLE, 0);
  return run_traffic({"traffic"});
}

[[noreturn]] void meet_the_end(const std::string& how) {
  if (how == "crash") {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would make a report and exit
    ::raise(SIGSEGV);
  }
  if (how == "kill") ::raise(SIGKILL);
  std::exit(0);
}

int run_ending(const std::string& how) {
  MPI_Init(nullptr, nullptr);
  traffic::everything(1U << 20);
  traffic::RingExchange exchange(long_message);
  exchange.start();
  exchange.move_a_little();
  if (own_rank() == 1) meet_the_end(how);
  exchange.finish();  // never: the message of rank 1 ends in the middle
  return test::finish();
}

/// Rank 1 stops; a child of it lets it continue after a while, in which the others send.
int run_stop() {
  MPI_Init(nullptr, nullptr);
  traffic::RingExchange exchange(long_message);
  exchange.start();
  exchange.move_a_little();
  if (own_rank() == 1) {
    const pid_t stopped = ::getpid();
    const pid_t waker = ::fork();
    if (waker == 0) {
      ::usleep(2'000'000);  // the time that is to pass, not a wait for something
      ::kill(stopped, SIGCONT);
      ::_exit(0);
    }
    ::raise(SIGSTOP);
    ::waitpid(waker, nullptr, 0);
  }
  exchange.finish();
  traffic::everything(4U << 20);
  return test::finish();
}

int status_of(pid_t child) {
  int status = -1;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int run_fork() {
  MPI_Init(nullptr, nullptr);
  traffic::RingExchange exchange(long_message);
  exchange.start();
  exchange.move_a_little();
  const pid_t quick = ::fork();
  if (quick == 0) ::_exit(3);
  const pid_t other = ::fork();
  if (other == 0) {
    ::execlp("sh", "sh", "-c", "exit 4", nullptr);
    ::_exit(5);
  }
  exchange.finish();
  test::expect_equal(status_of(quick), 3, "exit code of a child");
  test::expect_equal(status_of(other), 4, "exit code of a child that executed something");
  const pid_t proper = ::fork();
  if (proper == 0) std::exit(6);  // with the functions that run at exit
  test::expect_equal(status_of(proper), 6, "exit code of a child that left through exit");
  traffic::everything(4U << 20);
  return test::finish();
}

/// The file holds the number of the process and that of the job's memory.
int run_busy() {
  MPI_Init(nullptr, nullptr);
  struct stat memory{};
  const char* descriptor = std::getenv("FULMAR_JOB_FD");
  if (descriptor == nullptr || ::fstat(std::atoi(descriptor), &memory) != 0) return 1;
  traffic::RingExchange first(long_message);
  first.start();
  first.move_a_little();
  const std::string name = "up." + std::to_string(own_rank());
  if (std::FILE* file = std::fopen(name.c_str(), "w"); file != nullptr) {
    std::fprintf(file, "%ld %llu\n", static_cast<long>(::getpid()),
                 static_cast<unsigned long long>(memory.st_ino));
    std::fclose(file);
  }
  first.finish();
  for (;;) traffic::everything(4U << 20);
}

/// Messages that are never received, below a budget that is larger than what rank 1 may allocate.
int run_flood() {
  MPI_Init(nullptr, nullptr);
  constexpr int messages = 4000;
  std::vector<char> data(32000);
  if (own_rank() == 1) {
    unsigned long pages = 0;
    std::FILE* file = std::fopen("/proc/self/statm", "r");
    if (file == nullptr || std::fscanf(file, "%lu", &pages) != 1) std::_Exit(skipped);
    std::fclose(file);
    const rlim_t room = pages * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE)) + (32U << 20);
    const rlimit limit{room, room};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(skipped);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int count = static_cast<int>(data.size());
  if (own_rank() == 0) {
    for (int i = 0; i < messages; ++i) MPI_Send(data.data(), count, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
    MPI_Send(nullptr, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD);
  } else if (own_rank() == 1) {
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < messages; ++i) {
      MPI_Recv(data.data(), count, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  return test::finish();
}

unsigned long address_space_pages() {
  std::FILE* const sizes = std::fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  if (sizes == nullptr || std::fscanf(sizes, "%lu", &pages) != 1) std::_Exit(skipped);
  std::fclose(sizes);
  return pages;
}

/// Rank 1 may use as much memory as it has now, and some.
void become_poor(std::size_t bytes) {
  const rlim_t room =
      address_space_pages() * static_cast<unsigned long>(::sysconf(_SC_PAGESIZE)) + bytes;
  const rlimit limit = {room, room};
  if (::setrlimit(RLIMIT_AS, &limit) != 0) std::_Exit(skipped);
}

int run_poor(const std::string& what) {
  MPI_Init(nullptr, nullptr);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  constexpr int count = 24 << 20;
  std::vector<int> data(count, 1);
  std::vector<int> other(count, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (own_rank() == 1) become_poor(4U << 20);
  if (what == "collective") {
    MPI_Scan(data.data(), other.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  } else {
    MPI_Datatype type;
    if (own_rank() == 1) MPI_Type_indexed(count, data.data(), other.data(), MPI_INT, &type);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return test::finish();
}

/// What MPI_Init leaves of the address space has to be at least `bytes`, and usable. Rank 0 says
/// how much was taken before.
int run_room(std::size_t bytes) {
  MPI_Init(nullptr, nullptr);
  MPI_Barrier(MPI_COMM_WORLD);
  const unsigned long taken =
      address_space_pages() * static_cast<unsigned long>(::sysconf(_SC_PAGESIZE));
  if (own_rank() == 0) std::printf("taken %lu\n", taken);
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  test::expect(memory != MAP_FAILED, "the program gets the address space that is left");
  if (memory == MAP_FAILED) return test::finish();
  // Both ends are the program's, and what is in them survives a message.
  auto* const first = static_cast<int*>(memory);
  int* const last = first + bytes / sizeof(int) - 1;
  *first = own_rank();
  *last = -1;
  const int size = test::size_of(MPI_COMM_WORLD);
  MPI_Sendrecv(first, 1, MPI_INT, (own_rank() + 1) % size, 0, last, 1, MPI_INT,
               (own_rank() + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  test::expect_equal(*last, (own_rank() + size - 1) % size, "a message into the last bytes");
  ::munmap(memory, bytes);
  return test::finish();
}

/// A child that executes an MPI program inherits the environment of the rank, but it is not it.
int run_again(const char* program) {
  MPI_Init(nullptr, nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl(program, program, "traffic", nullptr);
    ::_exit(5);
  }
  test::expect(status_of(child) > 0, "a second process cannot be the same rank");
  traffic::everything(1U << 20);
  return test::finish();
}

int run(const char* program, const Arguments& arguments) {
  const std::string& what = arguments.front();
  if (what == "traffic") return run_traffic(arguments);
  if (what == "denied") return run_denied(arguments);
  if (what == "denied_midway") return run_denied_midway(arguments);
  if (what == "denied_later") return run_denied_later(arguments);
  if (what == "undumpable") return run_undumpable();
  if (what == "leave" || what == "crash" || what == "kill") return run_ending(what);
  if (what == "stop") return run_stop();
  if (what == "fork") return run_fork();
  if (what == "busy") return run_busy();
  if (what == "flood") return run_flood();
  if (what == "poor") return run_poor(arguments.at(1));
  if (what == "room") return run_room(std::stoul(arguments.at(1)));
  if (what == "again") return run_again(program);
  std::fprintf(stderr, "fault_rank: there is no accident %s\n", what.c_str());
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments(argv + 1, argv + argc);
  if (arguments.empty()) arguments.emplace_back("traffic");
  return run(argv[0], arguments);
}
