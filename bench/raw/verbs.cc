// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// An RDMA adapter without MPI: two processes of this host with one connection between them, whose
// work requests are posted as the network verbs posts them (fabric/verbs/adapter.h). What a write takes to
// be seen by polling memory, and what writes and reads move when several are on the way.
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "fabric/verbs/open.h"
#include "team.h"
#include "tests.h"

namespace fulmar::raw {

namespace {

namespace verbs = fabric::verbs;
using verbs::PostResult;

constexpr std::size_t page = 4096;
/// Writes on the way; of reads as many as the adapters work at.
constexpr std::size_t window = 64;
/// Short writes ask for one completion for so many.
constexpr int told_every = 32;

[[noreturn]] void fail(const char* what, const std::string& why) {
  std::fprintf(stderr, "fulmar-raw: %s: %s\n", what, why.c_str());
  std::exit(1);
}

template <class Value>
Value checked(base::Result<Value> result, const char* what) {
  if (result.failed()) fail(what, result.error().text());
  return std::move(result.value());
}

/// What the two sides exchange, in memory that both map.
struct ConnectionInfo {
  wire::VerbsConnectionInfo card;
  fabric::RemoteAddress place;
};

/// One process's side of the connection, and memory that the other reads and writes.
class Side {
 public:
  Side(const Member& member, ConnectionInfo* both, std::size_t bytes)
      : bytes_(bytes),
        adapter_(checked(verbs::open_adapter({}), "no adapter")),
        queue_(checked(adapter_->open_queue(), "no queue")),
        memory_(static_cast<std::byte*>(std::aligned_alloc(page, 2 * rounded()))) {
    std::memset(memory_, 0, 2 * rounded());
    opened_ = checked(adapter_->open_memory({memory_, 2 * rounded()}, fabric::Access::peers_change),
                      "no memory");
    ConnectionInfo& own = both[member.rank];
    const verbs::Traits& traits = adapter_->traits();
    own.card.queue = queue_->number();
    own.card.lid = traits.lid;
    own.card.link = traits.link;
    own.card.mtu = traits.mtu;
    own.card.gid = traits.gid;
    own.card.max_reads = traits.max_reads;
    own.place = {opened_.name_of(memory_), opened_.rkey};
    meet(member);
    theirs_ = both[1 - member.rank];
    if (const base::Error error = queue_->connect(own.card, theirs_.card); error.failed()) {
      fail("not connected", error.text());
    }
    meet(member);  // both sides can receive now
  }
  ~Side() {
    queue_.reset();
    adapter_->close_memory(opened_.handle);
    std::free(memory_);
  }
  Side(const Side&) = delete;
  Side& operator=(const Side&) = delete;

  [[nodiscard]] std::byte* in() { return memory_; }
  [[nodiscard]] std::byte* out() { return memory_ + rounded(); }
  [[nodiscard]] std::size_t max_reads() const {
    return std::min(adapter_->traits().max_reads, theirs_.card.max_reads);
  }

  /// Writes `out` into the other's `in`.
  void write(bool is_signaled) {
    verbs::WriteWorkRequest request{base_request()};
    request.is_inline = bytes_ <= queue_->inline_bytes();
    request.is_signaled = is_signaled;
    give([&] { return queue_->rdma_write({out(), bytes_}, request); });
    unknown_ += is_signaled ? 1 : 0;  // a signaled write stands for those before it
  }
  void read() {
    give([&] { return queue_->rdma_read({out(), bytes_}, base_request()); });
    ++unknown_;
  }
  /// Waits until at most `most` signaled work requests are outstanding.
  void await(std::size_t most) {
    while (unknown_ > most) poll();
  }

 private:
  [[nodiscard]] std::size_t rounded() const { return (bytes_ / page + 1) * page; }
  [[nodiscard]] verbs::RdmaWorkRequest base_request() const {
    return {opened_.lkey, theirs_.place, 1};
  }
  template <class Give>
  void give(Give&& request) {
    PostResult taken = request();
    while (taken == PostResult::later) {
      poll();
      taken = request();
    }
    if (taken == PostResult::failed) fail("refused", queue_->last_error());
  }
  void poll() {
    std::array<verbs::Completion, 16> completions;
    const std::size_t count = adapter_->read(completions);
    for (std::size_t i = 0; i < count; ++i) {
      if (completions[i].kind == verbs::Completion::Kind::failed) {
        fail("a work request failed", adapter_->text_of(completions[i].status));
      }
    }
    unknown_ -= std::min(count, unknown_);
  }
  /// Returns when both have come here.
  static void meet(const Member& member) {
    member.agree(0);
    member.agree(0);
  }

  std::size_t bytes_;
  std::unique_ptr<verbs::Adapter> adapter_;
  std::unique_ptr<verbs::Queue> queue_;
  std::byte* memory_;
  fabric::MemoryRegion opened_;
  ConnectionInfo theirs_;
  std::size_t unknown_ = 0;  ///< orders whose completion has not been read
};

/// Runs `body` on both sides of a connection with messages of `bytes` bytes.
template <class Body>
measure::Point connected(std::size_t bytes, const Body& body) {
  const SharedMemory memory(2 * sizeof(ConnectionInfo));
  return run_team(2, Placement::free, [&](const Member& member) {
    Side side(member, &memory.at<ConnectionInfo>(0), bytes);
    const measure::Point point = body(member, side);
    member.agree(0);  // the side that leaves first ends the connection
    return point;
  });
}

/// Looks before a process gives its core away. Adapters in software need one themselves, and get it
/// late where both processes spin on the last two.
unsigned patience() {
  cpu_set_t cores;
  const bool few = sched_getaffinity(0, sizeof cores, &cores) == 0 && CPU_COUNT(&cores) <= 2;
  return few ? 16 : 4096;
}

/// Waits until the last byte of what the other wrote is `mark`.
void await_mark(const volatile std::byte& last, std::byte mark, unsigned patience) {
  unsigned looks = 0;
  while (last != mark) {
    ++looks % patience == 0 ? void(sched_yield()) : pause();
  }
}

}  // namespace

bool verbs_allowed() { return verbs::open_adapter({}).ok(); }

measure::Point verbs_latency(std::size_t bytes, const measure::Budget& budget) {
  return connected(bytes, [&](const Member& member, Side& side) {
    const unsigned looks = patience();
    int round = 0;
    const auto write = [&] {
      side.out()[bytes - 1] = static_cast<std::byte>(round % 255 + 1);
      side.write(round % told_every == 0);
      side.await(1);
    };
    const auto wait = [&] {
      await_mark(side.in()[bytes - 1], static_cast<std::byte>(round % 255 + 1), looks);
    };
    return measure::measure(member.agree, bytes, 2, budget, [&](int count) {
      for (int i = 0; i < count; ++i) {
        ++round;
        if (member.rank == 0) write();
        wait();
        if (member.rank != 0) write();
      }
    });
  });
}

measure::Point verbs_write(std::size_t bytes, const measure::Budget& budget) {
  return connected(bytes, [&](const Member& member, Side& side) {
    return measure::measure(member.agree, bytes, 1, budget, [&](int count) {
      for (int i = 0; i < count && member.rank == 0; ++i) {
        side.write(true);
        side.await(window - 1);
      }
      side.await(0);
    });
  });
}

measure::Point verbs_read(std::size_t bytes, const measure::Budget& budget) {
  return connected(bytes, [&](const Member& member, Side& side) {
    const std::size_t most = std::max<std::size_t>(side.max_reads(), 1);
    return measure::measure(member.agree, bytes, 1, budget, [&](int count) {
      for (int i = 0; i < count && member.rank == 0; ++i) {
        side.read();
        side.await(most - 1);
      }
      side.await(0);
    });
  });
}

}  // namespace fulmar::raw
