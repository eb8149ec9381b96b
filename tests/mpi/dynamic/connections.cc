// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Jobs that meet over a network and part have no connection afterwards, on either side, while both go on. With
// another communicator between them they keep it, and who speaks later is heard.
// ranks: 1 2
// env: FULMAR_FABRIC=tcp
// timeout: 120

#include <dirent.h>
#include <mpi.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;
using test::rank_of;
using test::size_of;

constexpr double patience_s = 20;

struct Descriptors {
  int all = 0;
  int connections = 0;  ///< over the network
  bool operator==(const Descriptors&) const = default;
};

Descriptors descriptors() {
  Descriptors found;
  DIR* const folder = opendir("/proc/self/fd");
  for (const dirent* entry = readdir(folder); entry != nullptr; entry = readdir(folder)) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    const int descriptor = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.') continue;
    ++found.all;
    if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) continue;
    if (address.ss_family == AF_INET || address.ss_family == AF_INET6) ++found.connections;
  }
  closedir(folder);
  return found;
}

/// Makes progress until that is so.
template <class Condition>
void await(Condition condition) {
  const double end = MPI_Wtime() + patience_s;
  while (!condition() && MPI_Wtime() < end) {
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
  }
}

void await(const Descriptors& wanted, const std::string& what) {
  await([&] { return descriptors() == wanted; });
  expect_equal(descriptors().connections, wanted.connections, (what + ": connections").c_str());
  expect_equal(descriptors().all, wanted.all, (what + ": descriptors").c_str());
}

/// Each with each of the other group, short and long.
void exchange(MPI_Comm inter, int round) {
  int others = 0;
  MPI_Comm_remote_size(inter, &others);
  for (const int count : {1, 200000}) {
    const std::vector<int> out(static_cast<std::size_t>(count), round + rank_of(inter));
    std::vector<std::vector<int>> in(static_cast<std::size_t>(others),
                                     std::vector<int>(out.size()));
    std::vector<MPI_Request> requests;
    for (int peer = 0; peer < others; ++peer) {
      requests.resize(requests.size() + 2);
      MPI_Irecv(in[static_cast<std::size_t>(peer)].data(), count, MPI_INT, peer, 1, inter,
                &requests[requests.size() - 2]);
      MPI_Isend(out.data(), count, MPI_INT, peer, 1, inter, &requests.back());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (int peer = 0; peer < others; ++peer) {
      const std::vector<int> expected(out.size(), round + peer);
      expect(in[static_cast<std::size_t>(peer)] == expected, "what came from the other job");
    }
  }
}

using PortName = std::array<char, MPI_MAX_PORT_NAME>;

MPI_Comm meet(const PortName& port, bool connects) {
  MPI_Comm inter = MPI_COMM_NULL;
  const auto call = connects ? MPI_Comm_connect : MPI_Comm_accept;
  call(port.data(), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
  return inter;
}

void meet_and_part(const PortName& port, bool connects) {
  // Both of this job have met, and have parted from those of the other one.
  MPI_Barrier(MPI_COMM_WORLD);
  await([] { return descriptors().connections == size_of(MPI_COMM_WORLD) - 1; });
  const Descriptors alone = descriptors();
  expect_equal(alone.connections, size_of(MPI_COMM_WORLD) - 1, "connections within the job");
  for (int round = 0; round < 12; ++round) {
    MPI_Comm inter = meet(port, connects);
    exchange(inter, round);
    expect(descriptors().connections > alone.connections, "a connection to the other job");
    MPI_Comm_disconnect(&inter);
    // Without a pause, too: one side may speak while the other one still parts.
    if (round % 2 == 0) await(alone, "after round " + std::to_string(round));
  }
  MPI_Comm kept = meet(port, connects);
  exchange(kept, 100);
  const Descriptors together = descriptors();
  for (int round = 0; round < 3; ++round) {
    MPI_Comm inter = meet(port, connects);
    exchange(inter, round);
    MPI_Comm_disconnect(&inter);
    await(together, "with another communicator");
  }
  exchange(kept, 200);
  MPI_Comm_disconnect(&kept);
  await(alone, "at the end");
  MPI_Barrier(MPI_COMM_WORLD);  // the other ranks' connections to this one are counted until then
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  const bool is_child = parent != MPI_COMM_NULL;
  PortName port{};
  const bool has_port = !is_child && rank_of(MPI_COMM_WORLD) == 0;
  MPI_Comm inter = parent;
  if (!is_child) {
    if (has_port) MPI_Open_port(MPI_INFO_NULL, port.data());
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                   MPI_ERRCODES_IGNORE);
  }
  const int root = is_child ? 0 : rank_of(inter) == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Bcast(port.data(), MPI_MAX_PORT_NAME, MPI_CHAR, root, inter);
  exchange(inter, 1000);
  MPI_Comm_disconnect(&inter);
  meet_and_part(port, is_child);
  if (has_port) MPI_Close_port(port.data());
  return test::finish();
}
