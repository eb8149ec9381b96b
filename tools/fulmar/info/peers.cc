// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/info/peers.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fulmar/info/sockets.h"

/// Of the library's private interface (version node FULMAR_1), written like snprintf does.
extern "C" std::size_t fulmar_describe_peer(int rank, char* text, std::size_t bytes);

namespace fulmar::info {

namespace {

constexpr std::size_t counts_bytes = 120;
constexpr std::size_t ends_bytes = 160;
/// Above this number of ranks only rank 0 talks to all others.
constexpr int most_talkers = 512;

struct Peer {
  std::string provider;
  std::string reason;
};

Peer peer_at(int rank) {
  std::string text(fulmar_describe_peer(rank, nullptr, 0) + 1, '\0');
  text.resize(fulmar_describe_peer(rank, text.data(), text.size()));
  const std::size_t tab = std::min(text.find('\t'), text.size());
  return {text.substr(0, tab), tab == text.size() ? "" : text.substr(tab + 1)};
}

/// A connection is made when it is needed; what was never used has no address to show.
void talk_to_all(int rank, int size) {
  char sent = 0;
  char received = 0;
  const int rounds = size <= most_talkers ? size : 1;
  for (int step = 1; step < rounds; ++step) {
    MPI_Sendrecv(&sent, 1, MPI_CHAR, (rank + step) % size, 0, &received, 1, MPI_CHAR,
                 (rank - step + size) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  if (rounds == size) return;
  for (int peer = 1; peer < size; ++peer) {
    if (rank == peer) MPI_Send(&sent, 1, MPI_CHAR, 0, 0, MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Recv(&received, 1, MPI_CHAR, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

/// Several networks at once are as fast as long messages over them were: sends some to the first
/// ranks that are reached so, until the library says for each network how fast it is, or for long.
void try_rails(int rank, int size) {
  constexpr int most_tried = 8;
  constexpr int most_rounds = 16;
  constexpr int message_bytes = 2 << 20;
  std::vector<char> message(message_bytes);
  for (int peer = 1; peer < std::min(size, most_tried + 1); ++peer) {
    if (rank != 0 && rank != peer) continue;
    if (peer_at(rank == 0 ? peer : 0).provider != "rails") continue;
    for (char goes_on = 1; goes_on != 0;) {
      if (rank == 0) {
        const std::string known = peer_at(peer).reason;
        const bool all_known = count_of(known, "/s") >= count_of(known, ", ");
        message[0] = static_cast<char>(all_known || goes_on == most_rounds ? 0 : goes_on);
        MPI_Send(message.data(), message_bytes, MPI_CHAR, peer, 1, MPI_COMM_WORLD);
        goes_on = static_cast<char>(message[0] == 0 ? 0 : goes_on + 1);
      } else {
        MPI_Recv(message.data(), message_bytes, MPI_CHAR, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        goes_on = message[0];
      }
    }
  }
}

/// The texts of all ranks, on rank 0.
template <std::size_t bytes>
std::vector<std::string> gather(const std::array<char, bytes>& text, int rank, int size) {
  std::vector<char> all(rank == 0 ? bytes * static_cast<std::size_t>(size) : 0);
  MPI_Gather(text.data(), bytes, MPI_CHAR, all.data(), bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (std::size_t at = 0; at < all.size(); at += bytes) texts.emplace_back(&all[at]);
  return texts;
}

/// "shm 1 tcp 2": how many ranks each provider serves here.
std::array<char, counts_bytes> count_providers(int rank, int size) {
  std::map<std::string, int> counts;
  for (int peer = 0; peer < size; ++peer) {
    if (peer != rank) ++counts[peer_at(peer).provider];
  }
  std::string text;
  for (const auto& [provider, count] : counts) text += fmt::format("{} {} ", provider, count);
  std::array<char, counts_bytes> bytes{};
  text.copy(bytes.data(), bytes.size() - 1);
  return bytes;
}

/// The sum of such texts.
std::string add_counts(const std::vector<std::string>& texts) {
  std::map<std::string, long> sums;
  for (std::string_view rest : texts) {
    while (!rest.empty()) {
      const std::size_t blank = rest.find(' ');
      const std::size_t end = rest.find(' ', blank + 1);
      if (end == std::string_view::npos) break;
      const std::string number(rest.substr(blank + 1, end - blank - 1));
      sums[std::string(rest.substr(0, blank))] += std::strtol(number.c_str(), nullptr, 10);
      rest.remove_prefix(end + 1);
    }
  }
  std::string text;
  for (const auto& [provider, sum] : sums) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", provider, sum);
  }
  return text.empty() ? "none" : text;
}

/// The connections of rank 0, broadcast to all: "own other" and a newline for each.
std::string tell_connections(int rank) {
  std::string text;
  if (rank == 0) {
    for (const SocketEnds& ends : own_connections()) text += ends.own + " " + ends.other + "\n";
  }
  int length = static_cast<int>(text.size());
  MPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

/// Which of them ends here: "from A to B" as rank 0 sees it; empty if none does. A connection is
/// known by both of its ends, whoever has made it.
std::array<char, ends_bytes> find_connection(const std::string& told) {
  std::array<char, ends_bytes> text{};
  for (const SocketEnds& ends : own_connections()) {
    if (("\n" + told).find("\n" + ends.other + " " + ends.own + "\n") == std::string::npos)
      continue;
    const std::string found = "from " + ends.other + " to " + ends.own;
    found.copy(text.data(), text.size() - 1);
    break;
  }
  return text;
}

struct Seen {
  std::vector<std::string> hosts;
  std::vector<std::string> connections;
};

void print_table(const Seen& seen) {
  const std::vector<std::string>& hosts = seen.hosts;
  std::size_t width = 4;
  for (const std::string& host : hosts) width = std::max(width, host.size());
  fmt::print("{:>6}  {:{}}  {:8}  {}\n", "rank", "host", width, "provider", "why");
  for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
    Peer peer = peer_at(static_cast<int>(rank));
    if (hosts[rank] == hosts[0] && peer.reason.starts_with("another node")) {
      peer.reason += " (the host name is the same: another container, user or machine?)";
    }
    if (rank > 0 && !seen.connections[rank].empty()) peer.reason += ", " + seen.connections[rank];
    fmt::print("{:>6}  {:{}}  {:8}  {}\n", rank, hosts[rank], width, peer.provider, peer.reason);
  }
}

/// Of the jobs that have spawned this one; the numbers of their processes follow the ranks.
void print_other_jobs(int size) {
  Peer peer = peer_at(size);
  if (peer.provider.empty()) return;
  fmt::print("\nprocesses of other jobs, seen from rank 0\n\n");
  for (int number = size; !peer.provider.empty(); peer = peer_at(++number)) {
    fmt::print("{:8}  {}\n", peer.provider, peer.reason);
  }
}

}  // namespace

int show_peers() {
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  talk_to_all(rank, size);
  try_rails(rank, size);
  std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
  int length = 0;
  MPI_Get_processor_name(name.data(), &length);
  Seen seen;
  seen.connections = gather(find_connection(tell_connections(rank)), rank, size);
  seen.hosts = gather(name, rank, size);
  const auto counts = gather(count_providers(rank, size), rank, size);
  if (rank == 0) {
    fmt::print("{} ranks, seen from rank 0 on {}\n\n", size, seen.hosts[0]);
    print_table(seen);
    fmt::print("\nall pairs, in both directions: {}\n", add_counts(counts));
    print_other_jobs(size);
    if (size == 1) fmt::print("start it as a job to see more: mpiexec -n 4 fulmar info --peers\n");
    std::fflush(stdout);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace fulmar::info
