// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "perf/count_steps.h"
#include "provider/verbs_net.h"

/// What a short packet costs in the provider for verbs once a ring is lent, with an adapter that
/// does next to nothing. A receive is the poll that finds the packet. The limits leave a few
/// instructions for another compiler; a change that needs more must say why here.
namespace fulmar::perf {
namespace {

using namespace fabric;  // NOLINT: all of this is about one provider

constexpr std::uint64_t most_instructions_to_send = 330;
constexpr std::uint64_t most_instructions_to_receive = 490;
constexpr std::uint64_t most_instructions_in_vain = 240;

class DirectAdapter;
class DirectQueue;
using Wires = std::map<std::uint32_t, DirectQueue*>;

/// Adapters that do at once what they are asked for, with as few steps as that takes.
class DirectAdapter final : public verbs::Adapter {
 public:
  explicit DirectAdapter(Wires& wires) : wires_(wires) {
    traits_.gid[15] = std::byte{1};
    traits_.receive_depth = 64;
    traits_.completion_depth = 1024;
    traits_.max_reads = 1;
    traits_.max_rdma_bytes = verbs::max_remote_bytes;
    traits_.writes_in_order = traits_.places_in_order = true;
  }
  [[nodiscard]] const verbs::Traits& traits() const noexcept override { return traits_; }
  [[nodiscard]] base::Result<MemoryRegion> open_memory(std::span<std::byte>, Access) override {
    return MemoryRegion{1, 1, 1};
  }
  std::size_t close_memory(std::uint64_t) override { return 0; }
  [[nodiscard]] base::Result<std::unique_ptr<verbs::Queue>> open_queue() override;
  std::size_t receive(std::span<const verbs::ReceiveWorkRequest> requests, std::uint32_t) override {
    buffers_.insert(buffers_.end(), requests.begin(), requests.end());
    return requests.size();
  }
  std::size_t read(std::span<verbs::Completion> completions) override {
    std::size_t count = 0;
    for (; count < completions.size() && !done_.empty(); ++count) {
      completions[count] = done_.front();
      done_.pop_front();
    }
    return count;
  }
  [[nodiscard]] std::string text_of(int) const override { return {}; }
  [[nodiscard]] int descriptor() const noexcept override { return -1; }
  void arm() override {}
  [[nodiscard]] int event_descriptor() const noexcept override { return -1; }
  [[nodiscard]] bool next_event(verbs::Event&) override { return false; }

  void take_message(std::span<const std::byte> message, std::uint32_t queue) {
    if (buffers_.empty()) std::abort();
    const verbs::ReceiveWorkRequest buffer = buffers_.front();
    buffers_.pop_front();
    std::memcpy(buffer.memory.data(), message.data(), message.size());
    done_.push_back({verbs::Completion::Kind::received, buffer.id, queue, message.size(), 0, 0});
  }
  void tell_sent(std::uint64_t id, std::uint32_t queue) {
    done_.push_back({verbs::Completion::Kind::sent, id, queue, 0, 0, 0});
  }

 private:
  Wires& wires_;
  verbs::Traits traits_;
  std::deque<verbs::ReceiveWorkRequest> buffers_;
  std::deque<verbs::Completion> done_;
};

class DirectQueue final : public verbs::Queue {
 public:
  DirectQueue(Wires& wires, DirectAdapter& adapter)
      : wires_(wires), adapter_(adapter), number_(static_cast<std::uint32_t>(wires.size()) + 1) {
    wires_[number_] = this;
  }
  [[nodiscard]] std::uint32_t number() const noexcept override { return number_; }
  [[nodiscard]] std::size_t inline_bytes() const noexcept override { return 220; }
  [[nodiscard]] std::size_t depth() const noexcept override { return 128; }
  [[nodiscard]] base::Error connect(const wire::VerbsConnectionInfo&,
                                    const wire::VerbsConnectionInfo& info) override {
    peer_ = info.queue;
    return {};
  }
  verbs::PostResult send(const verbs::SendWorkRequest& work) override {
    wires_.at(peer_)->adapter_.take_message(work.message, peer_);
    if (work.is_signaled) adapter_.tell_sent(work.id, number_);
    return verbs::PostResult::yes;
  }
  verbs::PostResult rdma_write(std::span<const std::byte> from,
                               const verbs::WriteWorkRequest& work) override {
    std::memcpy(reinterpret_cast<void*>(work.place.address), from.data(), from.size());
    if (work.is_signaled) adapter_.tell_sent(work.id, number_);
    return verbs::PostResult::yes;
  }
  verbs::PostResult rdma_read(std::span<std::byte>, const verbs::RdmaWorkRequest&) override {
    std::abort();
  }
  verbs::PostResult atomic(std::span<std::byte>, const verbs::AtomicWorkRequest&) override {
    std::abort();
  }
  [[nodiscard]] std::string last_error() const override { return {}; }

 private:
  Wires& wires_;
  DirectAdapter& adapter_;
  std::uint32_t number_;
  std::uint32_t peer_ = 0;
};

base::Result<std::unique_ptr<verbs::Queue>> DirectAdapter::open_queue() {
  return std::unique_ptr<verbs::Queue>(std::make_unique<DirectQueue>(wires_, *this));
}

struct CountingSink {
  unsigned packets = 0;
  void packet(std::uint32_t, const wire::Envelope&, const Body&) { ++packets; }
};

/// Both ranks write into each other's rings.
struct Pair {
  Pair()
      : net(2, {}, [this](std::uint32_t) { return std::make_unique<DirectAdapter>(wires); }),
        sinks(2) {
    for (int i = 0; i < 200; ++i) {
      for (const std::uint32_t rank : {0U, 1U}) {
        poll_until(net, sinks, [&] { return say(rank); });
        net[1 - rank].poll(sinks[1 - rank]);
      }
    }
  }
  bool say(std::uint32_t rank) { return net[rank].post(1 - rank, head, body) == Post::done; }
  [[nodiscard]] bool is_warm() const {
    return net.ranks[0]->verbs->messages().counters().ring_packets > 16 &&
           net.ranks[1]->verbs->messages().counters().ring_packets > 16;
  }

  Wires wires;
  VerbsNet net;
  std::vector<CountingSink> sinks;
  wire::Envelope head = envelope(8);
  std::vector<std::byte> body = pattern(8, 1);
};

constexpr unsigned repeats = 64;

/// Messages there and back. Each time the waiting side polls in vain a given number of times.
void ping_pong(void* argument) {
  const unsigned in_vain = *static_cast<const unsigned*>(argument);
  Pair pair;
  if (!pair.is_warm()) std::abort();
  const unsigned before = pair.sinks[1].packets;
  count_steps_marker();
  for (unsigned i = 0; i < repeats; ++i) {
    const std::uint32_t rank = i % 2;
    if (!pair.say(rank)) std::abort();
    for (unsigned look = 0; look <= in_vain; ++look) pair.net[1 - rank].poll(pair.sinks[1 - rank]);
  }
  count_steps_marker();
  if (pair.sinks[1].packets - before != repeats / 2) std::abort();
}

/// Messages one way; the receiver polls later.
void sends(void*) {
  Pair pair;
  count_steps_marker();
  for (unsigned i = 0; i < 32; ++i) {
    if (!pair.say(0)) std::abort();
  }
  count_steps_marker();
}

TEST(PerfVerbs, Eight_bytes_over_a_ring_cost_no_more_instructions_than_before) {
  unsigned in_vain = 0;
  const Steps first = count_steps(ping_pong, &in_vain);
  in_vain = 4;
  const Steps second = count_steps(ping_pong, &in_vain);
  const Steps sent = count_steps(sends, nullptr);
  if (!first.complete || !second.complete || !sent.complete) {
    GTEST_SKIP() << "instructions cannot be counted here";
  }
  const std::uint64_t send = sent.instructions / 32;
  const std::uint64_t receive = first.instructions / repeats - send;
  const std::uint64_t look = (second.instructions - first.instructions) / (4 * repeats);
  std::printf("send %lu, receive %lu, a look in vain %lu; locked %lu, system calls %lu\n", send,
              receive, look, first.locked, first.system_calls);
  EXPECT_EQ(first.locked, 0U);
  EXPECT_EQ(first.system_calls, 0U);
  EXPECT_LE(send, most_instructions_to_send);
  EXPECT_LE(receive, most_instructions_to_receive);
  EXPECT_LE(look, most_instructions_in_vain);
}

}  // namespace
}  // namespace fulmar::perf
