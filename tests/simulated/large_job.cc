// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "simulated/large_job.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "mpi/random/report.h"
#include "runtime/library_access.h"

namespace simulated {
namespace {

/// An algorithm that has got its last packet goes on in the next looks.
constexpr std::uint8_t most_in_vain = 4;
constexpr std::uint64_t most_idle_turns = 1'000'000;

Setup setup_of(int ranks, int ranks_per_node) {
  Setup setup(1);
  setup.set_ranks(ranks);
  setup.set_nodes_of(ranks_per_node);
  setup.algorithms.clear();
  setup.compares_calls = false;
  setup.reaches = setup.opens = false;
  setup.reluctance = 0;
  setup.crowded = false;
  setup.common_context_ranks = fulmar::mpi::World::default_common_context_ranks;
  setup.device.eager_bytes = 64 << 10;
  setup.device.unexpected_budget_bytes = 16 << 20;
  return setup;
}

}  // namespace

std::size_t resident_bytes() {
  std::size_t pages = 0;
  std::size_t resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  const bool read = std::fscanf(file, "%zu %zu", &pages, &resident) == 2;
  std::fclose(file);
  return read ? resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

LargeJob::LargeJob(int ranks, int ranks_per_node)
    : setup_(setup_of(ranks, ranks_per_node)),
      network_(static_cast<std::uint32_t>(ranks)),
      waits_(generated::at(ranks)),
      in_vain_(generated::at(ranks)),
      received_(generated::at(ranks)) {
  // The tables of peers of all ranks are mappings of their own, whose pages are seldom touched.
  ::mallopt(M_MMAP_MAX, 1 << 30);
  ::mallopt(M_MMAP_THRESHOLD, 32 << 10);
  network_.set_reach(false);
  for (int i = 0; i < ranks; ++i) {
    ranks_.push_back(std::make_unique<Rank>(network_, setup_, static_cast<std::uint32_t>(i),
                                            ranks_.empty() ? nullptr : ranks_.front().get()));
  }
}

LargeJob::~LargeJob() {
  while (!ranks_.empty()) ranks_.pop_back();
}

LargeJob::Cost LargeJob::run(const std::function<void(int)>& program) {
  const std::uint64_t before = network_.packets_posted();
  std::fill(received_.begin(), received_.end(), 0);
  std::fill(waits_.begin(), waits_.end(), false);
  std::fill(in_vain_.begin(), in_vain_.end(), 0);
  ready_.resize(ranks_.size());
  std::iota(ready_.begin(), ready_.end(), 0U);
  int running = setup_.ranks;
  fibers_ = std::make_unique<Fibers>(setup_.ranks, [&](int rank) {
    be(static_cast<std::uint32_t>(rank));
    program(rank);
    ranks_[generated::at(rank)]->device().drain();
    --running;
  });
  network_.set_turn([this](std::uint32_t port) { take_turn(port); });
  network_.set_posted([this](std::uint32_t port) { on_posted(port); });
  while (running > 0) fibers_->run(static_cast<int>(next_ready()));
  resident_ = std::max(resident_, resident_bytes());
  network_.set_turn({});
  network_.set_posted({});
  fibers_.reset();
  const std::uint64_t sent = network_.packets_posted() - before;
  return {static_cast<double>(sent) / setup_.ranks,
          *std::max_element(received_.begin(), received_.end())};
}

std::uint32_t LargeJob::next_ready() {
  if (ready_.empty()) generated::fail("every rank waits for a packet, and none is on its way");
  const std::uint32_t next = ready_.front();
  ready_.pop_front();
  return next;
}

/// The rank goes on while there are packets for it.
void LargeJob::take_turn(std::uint32_t port) {
  if (network_.has_packets(port)) {
    in_vain_[port] = 0;
    return;
  }
  if (++in_vain_[port] <= most_in_vain) return;
  in_vain_[port] = 0;
  if (ready_.empty()) {
    if (++idle_turns_ > most_idle_turns) generated::fail("nothing moves any more");
    return;
  }
  idle_turns_ = 0;
  waits_[port] = true;
  fibers_->pass_to(static_cast<int>(next_ready()));
  be(port);
}

void LargeJob::on_posted(std::uint32_t port) {
  ++received_[port];
  if (!waits_[port]) return;
  waits_[port] = false;
  ready_.push_back(port);
}

void LargeJob::be(std::uint32_t rank) {
  fulmar::runtime::usable_library.store(&ranks_[rank]->library(), std::memory_order_relaxed);
  generated::report().rank = static_cast<int>(rank);
}

}  // namespace simulated
