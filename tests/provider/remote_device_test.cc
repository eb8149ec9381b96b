// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "base/engine_lock.h"
#include "device/device.h"
#include "provider/ofi_net.h"
#include "provider/ofi_real.h"
#include "provider/verbs_real.h"

/// Two devices over adapters that read and write memory: what the fake network cannot show, because
/// it knows nothing of pages.
namespace fulmar::device {
namespace {

using fabric::OfiNet;
using fabric::RealOfi;
using fabric::VerbsNet;

/// Two ranks and what is between them.
struct Net {
  virtual ~Net() = default;
  virtual void serve(Device& device, unsigned rank) = 0;
  /// Bytes of one packet: what fits goes without an announcement.
  [[nodiscard]] virtual std::size_t packet_bytes() const = 0;
};
template <class Ranks>
struct NetOf : Net {
  explicit NetOf(std::unique_ptr<Ranks> made) : ranks(std::move(made)) {}
  void serve(Device& device, unsigned rank) override { device.use((*ranks)[rank]); }
  [[nodiscard]] std::size_t packet_bytes() const override {
    return std::remove_cvref_t<decltype((*ranks)[0])>::max_body_bytes;
  }
  std::unique_ptr<Ranks> ranks;
};
template <class Ranks>
std::unique_ptr<Net> net_of(std::unique_ptr<Ranks> ranks) {
  return std::make_unique<NetOf<Ranks>>(std::move(ranks));
}

enum class Adapters { verbs, reluctant_verbs, real_verbs, ofi, reluctant_ofi, real_ofi };

/// Why there is nothing to test with; empty if there is.
std::string lacking(Adapters adapters) {
  if (adapters == Adapters::real_verbs) return fabric::lacking_adapter();
  return adapters == Adapters::real_ofi ? fabric::lacking_libfabric() : std::string();
}

std::unique_ptr<Net> make_net(Adapters adapters) {
  switch (adapters) {
    case Adapters::verbs:
      return net_of(std::make_unique<VerbsNet>(2));
    case Adapters::reluctant_verbs:
      return net_of(std::make_unique<VerbsNet>(
          2, fabric::VerbsHabits{
                 .reluctance = 0.3, .lag = 0.7, .answer_lag = 0.7, .receive_depth = 4}));
    case Adapters::real_verbs:
      return net_of(fabric::real_verbs_net(2));
    case Adapters::ofi:
      return net_of(std::make_unique<OfiNet>(2));
    case Adapters::reluctant_ofi:
      return net_of(std::make_unique<OfiNet>(
          2, fabric::OfiHabits{
                 .ordered = false,
                 .registers_memory = true,
                 .reluctance = 0.3,
                 .memory = {.asks_for_own = true, .names_by_place = false, .lag = 0.7}}));
    case Adapters::real_ofi:
      break;
  }
  return net_of(std::make_unique<RealOfi>(2));
}

/// Pages at an address that stays reserved when they are given back.
class Pages {
 public:
  explicit Pages(std::size_t bytes)
      : place_(
            ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)),
        bytes_(bytes) {
    renew();
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  ~Pages() { ::munmap(place_, bytes_); }
  /// Other pages, which are empty.
  void renew() {
    // In one step: into a hole another thread may map something of its own.
    ASSERT_EQ(::mmap(place_, bytes_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              place_);
  }
  [[nodiscard]] std::span<std::byte> first(std::size_t count) const {
    return {static_cast<std::byte*>(place_), count};
  }

 private:
  void* place_;
  std::size_t bytes_;
};

struct Node {
  Node(Net& net, const Config& config) : device(config, lock) {
    lock.set_enabled(false);
    net.serve(device, config.self);
  }
  base::EngineLock lock;
  Device device;
};

class RemoteDevices : public ::testing::TestWithParam<std::tuple<Adapters, RdmaProtocol>> {
 protected:
  static constexpr std::size_t longest = 3U << 20;

  void SetUp() override {
    const auto [adapters, way] = GetParam();
    if (const std::string why = lacking(adapters); !why.empty()) GTEST_SKIP() << why;
    serve(make_net(adapters), way);
  }
  void serve(std::unique_ptr<Net> made, RdmaProtocol way) {
    net = std::move(made);
    Config config;
    config.size = 2;
    config.rdma_protocol = way;
    for (config.self = 0; config.self < 2; ++config.self) {
      nodes[config.self] = std::make_unique<Node>(*net, config);
    }
  }
  void TearDown() override {
    for (auto& node : nodes) node.reset();
  }

  [[nodiscard]] Device& device(unsigned rank) { return nodes[rank]->device; }
  void keep(std::uint64_t bytes) {
    for (const unsigned rank : {0U, 1U}) device(rank).memory().keep(bytes);
  }
  /// False: not within the time that a slow machine may need.
  template <class Done>
  [[nodiscard]] static bool until(Done done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      if (std::chrono::steady_clock::now() > end) return false;
    }
    return true;
  }
  [[nodiscard]] bool until_done(const Operation& one, const Operation& other) {
    return until([&] {
      for (const unsigned rank : {0U, 1U}) device(rank).progress();
      return one.done() && other.done();
    });
  }
  /// One message from `source` of rank `from` to `target` of the other.
  void exchange(unsigned from, std::span<std::byte> source, std::span<std::byte> target,
                unsigned seed) {
    const auto text = fabric::pattern(source.size(), seed);
    std::ranges::copy(text, source.begin());
    std::ranges::fill(target, std::byte{0x77});
    Operation send;
    send.posted.key = {0, 1 - from, 3};
    send.buffer = {source.data(), source.size(), nullptr};
    Operation receive;
    receive.posted.key = {0, from, 3};
    receive.buffer = {target.data(), target.size(), nullptr};
    device(from).start_send(send);
    device(1 - from).start_receive(receive);
    ASSERT_TRUE(until_done(send, receive));
    EXPECT_EQ(send.outcome.error, base::ErrorClass::success);
    EXPECT_EQ(receive.outcome.error, base::ErrorClass::success);
    EXPECT_EQ(receive.outcome.bytes, source.size());
    EXPECT_TRUE(std::ranges::equal(target, text)) << seed;
  }
  [[nodiscard]] std::uint64_t moved() {
    std::uint64_t messages = 0;
    for (const unsigned rank : {0U, 1U}) {
      const Counters& counters = device(rank).counters();
      messages += counters.fetched + counters.put;
      EXPECT_EQ(counters.remote_retreats, 0U);
      EXPECT_EQ(counters.malformed, 0U);
    }
    return messages;
  }
  [[nodiscard]] Registrations::Figures figures(unsigned rank) {
    return device(rank).memory().figures();
  }

  std::unique_ptr<Net> net;
  std::unique_ptr<Node> nodes[2];
  Pages blocks[2] = {Pages(longest), Pages(longest)};
};

TEST_P(RemoteDevices, Long_messages_are_moved_by_adapters) {
  std::uint64_t messages = 0;
  const std::size_t shortest = std::max<std::size_t>(65'536, net->packet_bytes() + 1);
  for (const std::size_t bytes : {shortest, std::size_t{100'003}, longest}) {
    for (const unsigned from : {0U, 1U}) {
      exchange(from, blocks[from].first(bytes), blocks[1 - from].first(bytes), ++messages);
    }
  }
  EXPECT_EQ(moved(), messages);
  EXPECT_EQ(figures(0).regions, 0U);
  EXPECT_EQ(figures(1).regions, 0U);
}

TEST_P(RemoteDevices, Second_message_from_the_same_memory_opens_nothing) {
  keep(1U << 30);
  for (unsigned rank = 0; rank < 2; ++rank) device(rank).memory().own(blocks[rank].first(longest));
  for (unsigned seed = 0; seed < 5; ++seed) {
    exchange(0, blocks[0].first(300'000), blocks[1].first(300'000), seed);
  }
  EXPECT_EQ(moved(), 5U);
  for (unsigned rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(figures(rank).opened, 1U);
    EXPECT_EQ(figures(rank).hits, 4U);
  }
}

/// An adapter that is not told moves the pages that were there before.
TEST_P(RemoteDevices, Pages_that_are_gone_are_not_believed_in) {
  keep(1U << 30);
  for (unsigned round = 0; round < 6; ++round) {
    for (const unsigned from : {0U, 1U}) {
      exchange(from, blocks[from].first(200'000), blocks[1 - from].first(200'000), round);
    }
    blocks[round % 2].renew();
  }
  EXPECT_EQ(moved(), 12U);
}

TEST_P(RemoteDevices, What_the_program_gives_back_is_closed_by_progress) {
  keep(1U << 30);
  exchange(0, blocks[0].first(200'000), blocks[1].first(200'000), 1);
  if (figures(0).not_kept != 0) GTEST_SKIP() << "memory cannot be watched here";
  EXPECT_EQ(figures(0).regions, 1U);
  blocks[0].renew();
  // The thread that reads the news has let munmap go, but need not have told of it yet.
  EXPECT_TRUE(until([&] {
    device(0).progress();
    return figures(0).regions == 0;
  }));
  EXPECT_EQ(figures(1).regions, 1U);
}

/// Where memory cannot be opened, or the endpoint reaches none, messages go in packets.
class OfiRetreats : public RemoteDevices {
 protected:
  void SetUp() override {}
  [[nodiscard]] std::uint64_t refused() {
    return device(0).counters().refused + device(1).counters().refused;
  }
};

TEST_P(OfiRetreats, Memory_that_cannot_be_opened_goes_in_packets) {
  const auto [adapters, way] = GetParam();
  serve(net_of(std::make_unique<OfiNet>(
            2, fabric::OfiHabits{.memory = {.asks_for_own = true, .most_regions = 0}})),
        way);
  for (unsigned seed = 0; seed < 3; ++seed) {
    exchange(0, blocks[0].first(300'000), blocks[1].first(300'000), seed);
  }
  EXPECT_EQ(moved(), 0U);
  EXPECT_GT(refused(), 0U);
}

TEST_P(OfiRetreats, Endpoint_that_reaches_no_memory_is_not_asked_to) {
  const auto [adapters, way] = GetParam();
  serve(net_of(std::make_unique<OfiNet>(2, fabric::OfiHabits{.memory = {.is_there = false}})), way);
  exchange(0, blocks[0].first(300'000), blocks[1].first(300'000), 1);
  EXPECT_EQ(moved(), 0U);
  EXPECT_EQ(refused(), 0U);
}

std::string name_of(const ::testing::TestParamInfo<std::tuple<Adapters, RdmaProtocol>>& each) {
  const auto [adapters, way] = each.param;
  constexpr const char* kinds[] = {"Verbs", "ReluctantVerbs", "RealVerbs",
                                   "Ofi",   "ReluctantOfi",   "RealOfi"};
  return std::string(kinds[static_cast<std::size_t>(adapters)]) +
         (way == RdmaProtocol::fetch ? "Fetch" : "Put");
}

INSTANTIATE_TEST_SUITE_P(
    Adapters, RemoteDevices,
    ::testing::Combine(::testing::Values(Adapters::verbs, Adapters::reluctant_verbs,
                                         Adapters::real_verbs, Adapters::ofi,
                                         Adapters::reluctant_ofi, Adapters::real_ofi),
                       ::testing::Values(RdmaProtocol::fetch, RdmaProtocol::put)),
    name_of);
INSTANTIATE_TEST_SUITE_P(Adapters, OfiRetreats,
                         ::testing::Combine(::testing::Values(Adapters::ofi),
                                            ::testing::Values(RdmaProtocol::fetch,
                                                              RdmaProtocol::put)),
                         name_of);

}  // namespace
}  // namespace fulmar::device
