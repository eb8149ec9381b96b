// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Stands for an MPI program in the tests of mpiexec: attaches to the job segment as the library
// does and carries out the steps of its command line.
//
//   init | finalize       set the state of this rank
//   abort CODE            set state and code of MPI_Abort, then exit with the code
//   exit CODE | kill SIG  end
//   barrier               wait for all ranks
//   wait                  sleep until mpiexec announces the end of the job, then exit with 0
//   forever               sleep
//   only RANK             the steps after this one are for RANK; "all" ends that
//   say TEXT              print "TEXT" and a newline, unbuffered
//   header                print the numbers of the header, one "name value" a line
//   touch                 write the first and last byte of the own data area

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/os/futex.h"
#include "wire/node/job.h"

namespace {

namespace wire = fulmar::wire;
namespace base = fulmar::base;

int number_of(const char* name) {
  const char* text = std::getenv(name);
  if (text == nullptr) {
    std::fprintf(stderr, "fake_rank: no %s\n", name);
    std::exit(99);
  }
  return std::atoi(text);
}

wire::JobView attach() {
  const int fd = number_of(wire::env_job_fd);
  struct stat status{};
  if (::fstat(fd, &status) != 0) std::exit(98);
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (start == MAP_FAILED) std::exit(97);
  const auto view = wire::attach_job({static_cast<std::byte*>(start), bytes});
  if (view.failed()) {
    std::fprintf(stderr, "fake_rank: %s\n", view.error().text().c_str());
    std::exit(96);
  }
  return view.value();
}

void set_state(wire::RankRecord& record, wire::RankState state) {
  record.state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
}

void barrier(const wire::JobView& job) {
  const std::uint32_t round = job.header->barrier_round.load();
  if (job.header->barrier_arrived.fetch_add(1) + 1 == job.rank_count) {
    job.header->barrier_arrived.store(0);
    job.header->barrier_round.fetch_add(1);
    base::futex_wake(job.header->barrier_round, 1 << 30, base::FutexScope::shared);
    return;
  }
  while (job.header->barrier_round.load() == round) {
    base::futex_wait(job.header->barrier_round, round, base::FutexScope::shared);
  }
}

void wait_for_end(const wire::JobView& job) {
  while (job.header->abort.load() == 0) {
    base::futex_wait(job.header->abort, 0, base::FutexScope::shared);
  }
}

void print_header(const wire::JobView& job, const wire::RankRecord& record) {
  std::printf("rank_count %u\napp_count %u\ncore_count %u\nflags %u\nmpiexec_pid %d\n",
              job.rank_count, job.app_count, job.core_count, job.flags, job.mpiexec_pid);
  std::printf("area_bytes %llu\npid %d\nappnum %u\nbound %u\nfirst %u\n",
              static_cast<unsigned long long>(job.area_bytes), record.pid.load(), record.appnum,
              record.core_count, record.first_core);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const auto rank = static_cast<std::uint32_t>(number_of(wire::env_rank));
  const wire::JobView job = attach();
  wire::RankRecord& record = job.records[rank];
  bool active = true;
  for (int i = 1; i < argc; ++i) {
    const std::string_view step = argv[i];
    const auto value = [&] { return i + 1 < argc ? argv[++i] : ""; };
    if (step == "only") {
      active = std::atoi(value()) == static_cast<int>(rank);
    } else if (step == "all") {
      active = true;
    } else if (!active) {
      if (step == "abort" || step == "exit" || step == "kill" || step == "say") (void)value();
    } else if (step == "init") {
      set_state(record, wire::RankState::initialised);
    } else if (step == "finalize") {
      set_state(record, wire::RankState::finalized);
    } else if (step == "abort") {
      const int code = std::atoi(value());
      record.abort_code.store(code);
      set_state(record, wire::RankState::aborted);
      ::kill(job.mpiexec_pid, SIGCHLD);
      return code;
    } else if (step == "exit") {
      return std::atoi(value());
    } else if (step == "kill") {
      const int signal = std::atoi(value());
      ::signal(signal, SIG_DFL);  // sanitizers catch some
      ::kill(::getpid(), signal);
    } else if (step == "barrier") {
      barrier(job);
    } else if (step == "wait") {
      wait_for_end(job);
      return 0;
    } else if (step == "forever") {
      while (true) ::pause();
    } else if (step == "say") {
      std::puts(value());
      std::fflush(stdout);
    } else if (step == "header") {
      print_header(job, record);
    } else if (step == "touch") {
      job.area(rank).front() = std::byte{1};
      job.area(rank).back() = std::byte{1};
    } else {
      std::fprintf(stderr, "fake_rank: unknown step %s\n", argv[i]);
      return 95;
    }
  }
  return 0;
}
