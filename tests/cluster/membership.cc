// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Joins the job of whatever launcher started it, without any network between nodes, and prints one
// line:
//   rank R size S app A nodes N node M local I of RANKS peers P
// M is the node of this rank, RANKS those it shares memory with, P the number of ranks whose
// published address could be looked up and is right. `membership abort RANK CODE`: that rank ends
// the job.
#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "runtime/abort.h"
#include "runtime/job/job.h"
#include "wire/node/node_join.h"

namespace {

using fulmar::runtime::Job;

/// As long as an address may be, and different for every rank.
std::vector<std::byte> address_of(std::uint32_t rank) {
  std::vector<std::byte> bytes(Job::most_address_bytes);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i * 7 + rank);
  return bytes;
}

int give_up(const char* step, const fulmar::base::Error& error) {
  std::fprintf(stderr, "membership: %s: %s\n", step, error.text().c_str());
  return 1;
}

/// How many ranks' addresses come back as they were published.
unsigned count_peers(Job& job) {
  unsigned right = 0;
  for (std::uint32_t rank = 0; rank < job.size(); ++rank) {
    const auto found = job.address_of(rank, Job::Patience::wait);
    if (found.failed()) std::fprintf(stderr, "membership: %s\n", found.error().text().c_str());
    right += found.ok() && found.value() == address_of(rank) ? 1 : 0;
  }
  return right;
}

}  // namespace

int main(int argc, char** argv) {
  Job job;
  if (const auto error = job.join(); error.failed()) return give_up("join", error);
  job.set_state(fulmar::wire::RankState::initialised);
  if (argc == 4 && std::strcmp(argv[1], "abort") == 0) {
    if (job.rank() == static_cast<std::uint32_t>(std::atoi(argv[2]))) {
      fulmar::runtime::abort_job(job, std::atoi(argv[3]));
    }
    for (;;) ::pause();
  }
  const auto own = address_of(job.rank());
  if (const auto error = job.publish_address(own); error.failed()) return give_up("publish", error);
  const unsigned peers = count_peers(job);
  std::printf("rank %u size %u app %d nodes %u node %u local %u of %s peers %u\n", job.rank(),
              job.size(), job.appnum(), job.node_count(), job.node_of(job.rank()),
              job.local_index(), fulmar::wire::encode_ranks(job.node_ranks()).c_str(), peers);
  std::fflush(stdout);
  job.set_state(fulmar::wire::RankState::finalized);
  if (const auto error = job.leave(); error.failed()) return give_up("leave", error);
  return 0;
}
