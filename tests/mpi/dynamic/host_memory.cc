// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Jobs on one host share memory: parents and children exchange messages of all lengths in all ways
// without a connection between them, and give the memory back when they part.
// ranks: 1 3
// timeout: 120

#include <dirent.h>
#include <mpi.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_equal;
using test::rank_of;
using test::size_of;

const char* program = "";

/// Whether this job may share memory with others: not where the test is run over networks alone.
bool may_share() {
  const char* fabric = std::getenv("FULMAR_FABRIC");
  return fabric == nullptr || std::string(fabric).find("shm") != std::string::npos;
}

/// Connected sockets of this process that go through the network's code.
int connections() {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  for (const dirent* entry = readdir(folder); entry != nullptr; entry = readdir(folder)) {
    sockaddr_storage address{};
    socklen_t length = sizeof address;
    const int descriptor = std::atoi(entry->d_name);
    if (getpeername(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) continue;
    if (address.ss_family == AF_INET || address.ss_family == AF_INET6) ++count;
  }
  closedir(folder);
  return count;
}

/// Memory files that are mapped beside the job's own.
int shared_mappings() {
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:fulmar-segment") != std::string::npos) ++count;
  }
  return count;
}

MPI_Comm spawn(int count, const char* what, MPI_Comm comm = MPI_COMM_WORLD) {
  std::string word = what;
  std::array<char*, 2> arguments = {word.data(), nullptr};
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Comm_spawn(program, arguments.data(), count, MPI_INFO_NULL, 0, comm, &inter,
                 MPI_ERRCODES_IGNORE);
  return inter;
}

/// Everybody and everybody of the other group at once, beyond what rings and mailboxes hold.
void exchange(MPI_Comm inter, int bytes) {
  int others = 0;
  MPI_Comm_remote_size(inter, &others);
  const auto length = static_cast<std::size_t>(bytes);
  const int own = rank_of(inter);
  std::vector<std::vector<unsigned char>> in(static_cast<std::size_t>(others));
  std::vector<std::vector<unsigned char>> out(in.size());
  std::vector<MPI_Request> requests;
  for (int peer = 0; peer < others; ++peer) {
    auto& to = in[static_cast<std::size_t>(peer)];
    auto& from = out[static_cast<std::size_t>(peer)];
    to.assign(length, 0);
    from.assign(length, static_cast<unsigned char>(16 * own + peer + bytes));
    requests.resize(requests.size() + 2);
    MPI_Irecv(to.data(), bytes, MPI_BYTE, peer, 1, inter, &requests[requests.size() - 2]);
    MPI_Isend(from.data(), bytes, MPI_BYTE, peer, 1, inter, &requests[requests.size() - 1]);
  }
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  for (int peer = 0; peer < others; ++peer) {
    const std::vector<unsigned char> expected(length,
                                              static_cast<unsigned char>(16 * peer + own + bytes));
    expect(in[static_cast<std::size_t>(peer)] == expected, "what came from the other group");
  }
}

/// Rows of a matrix, and more short messages than anything holds before the first is received.
void exchange_others(MPI_Comm inter) {
  int others = 0;
  MPI_Comm_remote_size(inter, &others);
  const int peer = rank_of(inter) % others;
  if (rank_of(inter) != 0) return;
  constexpr int rows = 400;
  std::vector<double> matrix(std::size_t{rows} * rows, 3.5);
  std::vector<double> column(rows, 0);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(rows, 1, rows, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  MPI_Sendrecv(matrix.data(), 1, type, peer, 2, column.data(), rows, MPI_DOUBLE, peer, 2, inter,
               MPI_STATUS_IGNORE);
  MPI_Type_free(&type);
  expect(column == std::vector<double>(rows, 3.5), "a column that was sent");
  constexpr int many = 5000;
  std::vector<MPI_Request> sends(many);
  std::vector<int> values(many);
  for (int i = 0; i < many; ++i) {
    values[static_cast<std::size_t>(i)] = i;
    MPI_Isend(&values[static_cast<std::size_t>(i)], 1, MPI_INT, peer, 3, inter,
              &sends[static_cast<std::size_t>(i)]);
  }
  for (int i = 0; i < many; ++i) {
    int value = -1;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, inter, MPI_STATUS_IGNORE);
    expect_equal(value, i, "messages in their order");
  }
  MPI_Waitall(many, sends.data(), MPI_STATUSES_IGNORE);
}

/// Memory is given back by calls that connect or disconnect, once all others have said in one of theirs that
/// they need it no more.
void await_release() {
  constexpr double patience_s = 20;
  const double end = MPI_Wtime() + patience_s;
  while (shared_mappings() > 0 && MPI_Wtime() < end) {
    MPI_Comm none = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &none);
    MPI_Comm_disconnect(&none);
  }
  expect_equal(shared_mappings(), 0, "memory of jobs that have parted");
}

void check_family(MPI_Comm inter) {
  for (const int bytes : {0, 1, 48, 49, 4000, 70000, 3000000}) exchange(inter, bytes);
  exchange_others(inter);
  MPI_Comm all = MPI_COMM_NULL;
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  MPI_Intercomm_merge(inter, parent == inter ? 1 : 0, &all);
  std::vector<long> values(100000, 1);
  MPI_Allreduce(MPI_IN_PLACE, values.data(), 100000, MPI_LONG, MPI_SUM, all);
  expect(values == std::vector<long>(100000, size_of(all)), "the sum over both jobs");
  MPI_Comm_free(&all);
  if (may_share()) {
    expect_equal(connections(), 0, "connections between jobs on one host");
    expect_equal(shared_mappings(), 1, "memory that is shared with the other job");
  }
  MPI_Comm_disconnect(&inter);
  await_release();
}

/// Children that have gone leave no memory behind.
void check_release() {
  for (int time = 0; time < 8; ++time) check_family(spawn(1, "child"));
}

using PortName = std::array<char, MPI_MAX_PORT_NAME>;

/// A port of the parents, whose name the children get.
PortName next_port(MPI_Comm inter, bool is_child) {
  PortName port{};
  if (!is_child && rank_of(inter) == 0) MPI_Open_port(MPI_INFO_NULL, port.data());
  const int root = is_child ? 0 : rank_of(inter) == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Bcast(port.data(), MPI_MAX_PORT_NAME, MPI_CHAR, root, inter);
  return port;
}

/// A port is closed with its first connection: callers that tried a second address of it may still
/// wait there.
MPI_Comm meet(const PortName& port, bool is_child) {
  MPI_Comm again = MPI_COMM_NULL;
  if (is_child) {
    MPI_Comm_connect(port.data(), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &again);
  } else {
    MPI_Comm_accept(port.data(), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &again);
    if (rank_of(MPI_COMM_WORLD) == 0) MPI_Close_port(port.data());
  }
  exchange(again, 10000);
  return again;
}

/// The same two jobs meet again, with and without a communicator between them, and at the same time
/// with a second one.
void check_again(MPI_Comm inter, bool is_child) {
  MPI_Comm second = meet(next_port(inter, is_child), is_child);
  MPI_Comm_disconnect(&inter);
  exchange(second, 100);
  PortName port = next_port(second, is_child);
  MPI_Comm_disconnect(&second);
  for (int time = 0; time < 4; ++time) {
    MPI_Comm third = meet(port, is_child);
    if (may_share()) expect_equal(connections(), 0, "connections of jobs that meet again");
    port = next_port(third, is_child);
    MPI_Comm_disconnect(&third);
    await_release();
  }
  if (!is_child && rank_of(MPI_COMM_WORLD) == 0) MPI_Close_port(port.data());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  program = argv[0];
  const std::string how = argc > 1 ? argv[1] : "";
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  if (how == "again") {
    check_again(parent, true);
  } else if (parent != MPI_COMM_NULL) {
    check_family(parent);
  } else {
    check_family(spawn(2, "child"));
    check_release();
    check_again(spawn(2, "again"), false);
  }
  return test::finish();
}
