// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A rank that does something while a test breaks the network or the other ranks (test_faults.py,
// test_strangers.py). All that arrives is compared with what was sent.
//
// usage: fault_peer FOLDER WHAT [NUMBER]
//   talk             ranks 0 and 1 answer each other, up to 256 KiB
//   stream           rank 0 sends messages of 8 MiB to rank 1
//   listen           rank 0 waits for rank 1, which computes
//   collective       all ranks reduce 256 KiB, again and again
//   flood NUMBER     rank 0 sends so many messages to rank 1, which receives nothing before the
//   file
//                    `drain` is there
//   stopped          rank 1 stops itself before it has made a connection
//   leave            rank 1 ends in the middle without MPI_Finalize
//   absent           all ranks but 0 end without MPI_Init
//
// Each rank writes its process number to FOLDER/pid.RANK, and how often it went round to
// FOLDER/beat.RANK. `talk`, `stream` and `collective` end when there is a file FOLDER/stop.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fault/traffic.h"
#include "support/check.h"

namespace {

using Bytes = std::vector<std::byte>;

struct Place {
  std::filesystem::path folder;
  int rank = 0;
  int beats_file = -1;
  std::uint64_t beats = 0;

  [[nodiscard]] bool has(const char* name) const { return std::filesystem::exists(folder / name); }
  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path unfinished = folder / (name + ".new");
    std::ofstream(unfinished) << text;
    std::filesystem::rename(unfinished, folder / name);
  }
  void beat() {
    ++beats;
    if (::pwrite(beats_file, &beats, sizeof beats, 0) != sizeof beats) std::abort();
  }
};

void enter(Place& place) {
  MPI_Init(nullptr, nullptr);
  place.rank = test::rank_of(MPI_COMM_WORLD);
  const std::string own = std::to_string(place.rank);
  place.beats_file =
      ::open((place.folder / ("beat." + own)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  place.write("pid." + own, std::to_string(::getpid()));
}

void send(const Bytes& data, int to, int tag) {
  MPI_Send(data.data(), static_cast<int>(data.size()), MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

/// Of a message whose length the receiver knows.
void receive_checked(Bytes& data, int from, int tag, std::uint32_t seed) {
  MPI_Status status;
  MPI_Recv(data.data(), static_cast<int>(data.size()), MPI_BYTE, from, tag, MPI_COMM_WORLD,
           &status);
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  test::expect_equal(count, data.size(), "bytes of a message");
  test::expect_equal(traffic::first_difference(data, seed), data.size(), "content of a message");
}

constexpr int stop_tag = 1;
constexpr int data_tag = 2;

/// Whether to go on: rank 0 decides, and tells rank 1.
bool goes_on(const Place& place) {
  int stop = place.rank == 0 && place.has("stop") ? 1 : 0;
  if (place.rank == 0) MPI_Send(&stop, 1, MPI_INT, 1, stop_tag, MPI_COMM_WORLD);
  if (place.rank == 1) MPI_Recv(&stop, 1, MPI_INT, 0, stop_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return stop == 0;
}

void talk(Place& place) {
  if (place.rank > 1) return place.beat();
  for (std::uint32_t turn = 0; goes_on(place); ++turn, place.beat()) {
    Bytes data(std::size_t{1} << turn % 19);
    for (int speaker : {0, 1}) {
      const std::uint32_t seed = 2 * turn + static_cast<unsigned>(speaker);
      if (speaker == place.rank) {
        traffic::fill(data, seed);
        send(data, 1 - speaker, data_tag);
      } else {
        receive_checked(data, speaker, data_tag, seed);
      }
    }
  }
}

void stream(Place& place) {
  Bytes data(8U << 20);
  traffic::fill(data, 7);
  for (; goes_on(place); place.beat()) {
    if (place.rank == 0) {
      send(data, 1, data_tag);
    } else {
      std::fill(data.begin(), data.end(), std::byte{0});
      receive_checked(data, 0, data_tag, 7);
    }
  }
}

/// One message first: there is a connection.
void listen(Place& place) {
  Bytes data(8);
  traffic::fill(data, 1);
  if (place.rank == 1) {
    send(data, 0, data_tag);
    place.beat();
    for (;;) ::pause();
  }
  receive_checked(data, 1, data_tag, 1);
  place.beat();
  receive_checked(data, 1, data_tag, 1);
}

void collective(Place& place) {
  constexpr int count = 64 << 10;
  const int size = test::size_of(MPI_COMM_WORLD);
  std::vector<int> mine(count, 1);
  std::vector<int> sums(count);
  for (;; place.beat()) {
    mine[0] = place.rank == 0 && place.has("stop") ? 1 : 0;
    MPI_Allreduce(mine.data(), sums.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    test::expect_equal(sums[count - 1], size, "sum");
    if (sums[0] != 0) return;
  }
}

void flood(Place& place, int messages) {
  Bytes data(2048);
  if (place.rank == 1) {
    while (!place.has("drain")) ::usleep(1000);  // outside MPI: nothing is taken meanwhile
    receive_checked(data, 0, messages, static_cast<unsigned>(messages));
    for (int i = 0; i < messages; ++i, place.beat()) {
      receive_checked(data, 0, i, static_cast<unsigned>(i));
    }
    return;
  }
  std::vector<MPI_Request> requests(static_cast<std::size_t>(messages) + 1);
  std::vector<Bytes> all(requests.size(), data);
  for (int i = 0; i <= messages; ++i, place.beat()) {
    Bytes& each = all[static_cast<std::size_t>(i)];
    traffic::fill(each, static_cast<unsigned>(i));
    MPI_Isend(each.data(), static_cast<int>(each.size()), MPI_BYTE, 1, i, MPI_COMM_WORLD,
              &requests[static_cast<std::size_t>(i)]);
  }
  place.write("flooded", "");
  MPI_Waitall(messages + 1, requests.data(), MPI_STATUSES_IGNORE);
}

/// In the middle of a long message to rank 0.
[[noreturn]] void end_abruptly(Place& place) {
  Bytes data(64U << 20);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_BYTE, 0, data_tag, MPI_COMM_WORLD,
            &request);
  int done = 0;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  place.beat();
  std::exit(0);
}

void leave(Place& place) {
  Bytes data(64U << 20);
  MPI_Barrier(MPI_COMM_WORLD);
  if (place.rank == 1) end_abruptly(place);
  place.beat();
  receive_checked(data, 1, data_tag, 0);
}

/// The first connection meets a process that its kernel speaks for, and which says nothing.
void meet_one_that_is_stopped(Place& place) {
  if (place.rank == 1) {
    place.write("stopping", "");
    ::raise(SIGSTOP);
  } else {
    while (!place.has("stopping")) ::usleep(1000);
  }
  Bytes data(1024);
  traffic::fill(data, 3);
  if (place.rank == 0) {
    place.beat();
    send(data, 1, data_tag);
  }
  if (place.rank == 1) receive_checked(data, 0, data_tag, 3);
  MPI_Barrier(MPI_COMM_WORLD);
}

int run(Place& place, const std::string& what, int number) {
  if (what == "absent" && std::string(std::getenv("FAULT_PEER_RANK")) != "0") return 0;
  enter(place);
  if (what == "talk") talk(place);
  if (what == "stream") stream(place);
  if (what == "listen") listen(place);
  if (what == "collective") collective(place);
  if (what == "flood") flood(place, number);
  if (what == "leave") leave(place);
  if (what == "stopped") meet_one_that_is_stopped(place);
  if (what == "absent") talk(place);
  return test::finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  Place place;
  place.folder = argv[1];
  return run(place, argv[2], argc > 3 ? std::atoi(argv[3]) : 0);
}
