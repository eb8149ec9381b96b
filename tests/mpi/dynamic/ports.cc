// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Ports within one job: its halves connect; callers that leave; names of services; and the errors of
// MPI_Comm_accept and MPI_Comm_connect, which are those of all processes.
// ranks: 2 4 5
// timeout: 120

#include <arpa/inet.h>
#include <dirent.h>
#include <mpi.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "support/check.h"

namespace {

using test::expect;
using test::expect_class;
using test::expect_equal;
using test::rank_of;
using test::size_of;

using Name = std::array<char, MPI_MAX_PORT_NAME>;

/// The odd ranks connect to the even ones, `times` at one port.
void check_halves(MPI_Comm half, bool accepts, int times) {
  const int root = size_of(half) - 1;
  const int owner = (size_of(MPI_COMM_WORLD) - 1) / 2 * 2;  // the last even one
  const bool opens = accepts && rank_of(half) == root;
  Name own{};  // of the process that accepts
  if (opens) MPI_Open_port(MPI_INFO_NULL, own.data());
  MPI_Bcast(own.data(), MPI_MAX_PORT_NAME, MPI_CHAR, owner, MPI_COMM_WORLD);
  for (int time = 0; time < times; ++time) {
    MPI_Comm inter = MPI_COMM_NULL;
    if (accepts) {
      MPI_Comm_accept(own.data(), MPI_INFO_NULL, root, half, &inter);
    } else {
      MPI_Comm_connect(own.data(), MPI_INFO_NULL, 0, half, &inter);
    }
    int remote = 0;
    MPI_Comm_remote_size(inter, &remote);
    expect_equal(size_of(inter) + remote, size_of(MPI_COMM_WORLD), "both halves");
    const int value = rank_of(MPI_COMM_WORLD);
    int sum = -1;
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, inter);
    int expected = 0;
    for (int rank = accepts ? 1 : 0; rank < size_of(MPI_COMM_WORLD); rank += 2) expected += rank;
    expect_equal(sum, expected, "the sum over the other half");
    MPI_Comm_disconnect(&inter);
  }
  if (opens) MPI_Close_port(own.data());
}

void check_info() {
  Name name{};
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ip_address", "127.0.0.1");
  MPI_Open_port(info, name.data());
  expect(std::string(name.data()).find("/127.0.0.1:") != std::string::npos, "ip_address");
  expect(std::string(name.data()).find(',') == std::string::npos, "no other address");
  MPI_Close_port(name.data());
  MPI_Info_set(info, "ip_address", "192.0.2.254");
  expect_class(MPI_Open_port(info, name.data()), MPI_ERR_INFO_VALUE, "an address of somebody else");
  MPI_Info_set(info, "ip_address", "127.0.0.1");
  MPI_Info_set(info, "ip_port", "many");
  expect_class(MPI_Open_port(info, name.data()), MPI_ERR_INFO_VALUE, "a port that is none");
  MPI_Info_free(&info);
}

/// A name that is good once: the second client finds nothing, and the port accepts nobody.
void check_once() {
  Name name{};
  const int rank = rank_of(MPI_COMM_WORLD);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "fulmar_once", "perhaps");
  expect_class(MPI_Open_port(info, name.data()), MPI_ERR_INFO_VALUE, "fulmar_once=perhaps");
  MPI_Info_set(info, "fulmar_once", "true");
  if (rank == 0) MPI_Open_port(info, name.data());
  MPI_Info_free(&info);
  MPI_Bcast(name.data(), MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Comm inter = MPI_COMM_NULL;
  if (rank == 0) MPI_Comm_accept(name.data(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  if (rank == 1) MPI_Comm_connect(name.data(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  if (rank <= 1) MPI_Comm_disconnect(&inter);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    expect_class(MPI_Comm_accept(name.data(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter),
                 MPI_ERR_PORT, "MPI_Comm_accept at a port that was used");
  } else {
    expect_class(MPI_Comm_connect(name.data(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter),
                 MPI_ERR_PORT, "MPI_Comm_connect with a name that was used");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) expect_class(MPI_Close_port(name.data()), MPI_SUCCESS, "closing a used port");
}

/// A connection to a port of this host from somebody who says nothing.
int call_silently(std::uint16_t number) {
  const int caller = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(number);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int done = connect(caller, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  expect_equal(done, 0, "connect to the port");
  return caller;
}

/// How many descriptors this process has of connections that others have made to the port.
int callers_at(std::uint16_t number) {
  int found = 0;
  DIR* const folder = opendir("/proc/self/fd");
  for (const dirent* entry = readdir(folder); entry != nullptr; entry = readdir(folder)) {
    sockaddr_in own{};
    socklen_t length = sizeof own;
    int listens = 0;
    socklen_t size = sizeof listens;
    const int descriptor = std::atoi(entry->d_name);
    if (entry->d_name[0] == '.') continue;
    if (getsockname(descriptor, reinterpret_cast<sockaddr*>(&own), &length) != 0) continue;
    if (own.sin_family != AF_INET || own.sin_port != htons(number)) continue;
    getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size);
    if (listens == 0) ++found;
  }
  closedir(folder);
  return found;
}

/// Opens a port at the loopback address; returns its number.
std::uint16_t open_loopback(Name& name) {
  constexpr std::string_view place = "/127.0.0.1:";
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "ip_address", "127.0.0.1");
  MPI_Open_port(info, name.data());
  MPI_Info_free(&info);
  const std::string text = name.data();
  return static_cast<std::uint16_t>(std::atoi(&text[text.find(place) + place.size()]));
}

/// Who has left while another one was accepted is not kept until the next MPI_Comm_accept; who waits is.
void check_callers_that_leave() {
  const int rank = rank_of(MPI_COMM_WORLD);
  if (rank > 1) return;
  Name name{};
  MPI_Comm inter = MPI_COMM_NULL;
  if (rank == 1) {
    MPI_Recv(name.data(), MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_connect(name.data(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
    MPI_Comm_disconnect(&inter);
    return;
  }
  const std::uint16_t number = open_loopback(name);
  const int leaves = call_silently(number);
  const int waits = call_silently(number);
  MPI_Send(name.data(), MPI_MAX_PORT_NAME, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  MPI_Comm_accept(name.data(), MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
  expect_equal(callers_at(number), 2, "those that wait after MPI_Comm_accept");
  close(leaves);
  MPI_Comm_disconnect(&inter);
  expect_equal(callers_at(number), 1, "those that wait after MPI_Comm_disconnect");
  close(waits);
  MPI_Close_port(name.data());
}

/// What the root gives decides, the others give nothing of use.
void check_errors() {
  const bool is_root = rank_of(MPI_COMM_WORLD) == 1;
  MPI_Comm inter = MPI_COMM_WORLD;
  const char* wrong = is_root ? "not a name" : nullptr;
  expect_class(MPI_Comm_accept(wrong, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &inter), MPI_ERR_PORT,
               "MPI_Comm_accept at no port");
  expect(inter == MPI_COMM_NULL, "no communicator from MPI_Comm_accept");
  expect_class(MPI_Comm_connect(wrong, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &inter), MPI_ERR_PORT,
               "MPI_Comm_connect to no port");
  Name name{};
  if (is_root) {
    MPI_Open_port(MPI_INFO_NULL, name.data());
    MPI_Close_port(name.data());
    expect_class(MPI_Close_port(name.data()), MPI_ERR_PORT, "a port that is closed already");
  }
  expect_class(MPI_Comm_accept(name.data(), MPI_INFO_NULL, 1, MPI_COMM_WORLD, &inter), MPI_ERR_PORT,
               "MPI_Comm_accept at a port that is closed");
  expect_class(MPI_Comm_connect(name.data(), MPI_INFO_NULL, 1, MPI_COMM_WORLD, &inter),
               MPI_ERR_PORT, "MPI_Comm_connect to a port that is closed");
  expect_class(MPI_Comm_connect(is_root ? nullptr : "", MPI_INFO_NULL, 1, MPI_COMM_WORLD, &inter),
               MPI_ERR_ARG, "a null pointer at the root");
  expect_class(MPI_Comm_spawn(nullptr, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 1, MPI_COMM_WORLD, &inter,
                              MPI_ERRCODES_IGNORE),
               MPI_ERR_ARG, "a program without a name at the root");
  expect_class(MPI_Comm_spawn_multiple(is_root ? -1 : 7, nullptr, nullptr, nullptr, nullptr, 1,
                                       MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE),
               MPI_ERR_ARG, "a negative number of commands at the root");
}

/// There is no accept: the timeout expires.
void check_timeout() {
  Name name{};
  MPI_Comm inter = MPI_COMM_NULL;
  if (rank_of(MPI_COMM_WORLD) == 0) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", "1");
    MPI_Open_port(MPI_INFO_NULL, name.data());
    expect_class(MPI_Comm_connect(name.data(), info, 0, MPI_COMM_SELF, &inter), MPI_ERR_PORT,
                 "MPI_Comm_connect to a port where nobody accepts");
    MPI_Info_set(info, "timeout", "soon");
    expect_class(MPI_Comm_connect(name.data(), info, 0, MPI_COMM_SELF, &inter), MPI_ERR_INFO_VALUE,
                 "a time that is no number");
    MPI_Close_port(name.data());
    MPI_Info_free(&info);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

void check_names() {
  Name port{};
  Name found{};
  const bool publishes = rank_of(MPI_COMM_WORLD) == 0;
  if (publishes) {
    MPI_Open_port(MPI_INFO_NULL, port.data());
    MPI_Publish_name("a service of the test", MPI_INFO_NULL, port.data());
    expect_class(MPI_Publish_name("a service of the test", MPI_INFO_NULL, port.data()),
                 MPI_ERR_SERVICE, "a name that is taken");
  }
  MPI_Bcast(port.data(), MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Lookup_name("a service of the test", MPI_INFO_NULL, found.data());
  expect(std::string(found.data()) == port.data(), "the name that was published");
  expect_class(MPI_Lookup_name("another one", MPI_INFO_NULL, found.data()), MPI_ERR_NAME,
               "a name that nobody published");
  MPI_Barrier(MPI_COMM_WORLD);
  if (publishes) {
    MPI_Unpublish_name("a service of the test", MPI_INFO_NULL, port.data());
    expect_class(MPI_Unpublish_name("a service of the test", MPI_INFO_NULL, port.data()),
                 MPI_ERR_SERVICE, "a name that is not published any more");
    MPI_Close_port(port.data());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  expect_class(MPI_Lookup_name("a service of the test", MPI_INFO_NULL, found.data()), MPI_ERR_NAME,
               "a name that is not published any more");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const bool accepts = rank_of(MPI_COMM_WORLD) % 2 == 0;
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, accepts ? 0 : 1, 0, &half);
  check_halves(half, accepts, 5);
  check_info();
  check_once();
  check_callers_that_leave();
  check_errors();
  check_timeout();
  check_names();
  MPI_Comm_free(&half);
  return test::finish();
}
