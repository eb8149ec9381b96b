// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "provider/remote_makers.h"
#include "provider/remote_pair.h"

/// What every provider that reads and writes peers' memory promises. Those over libfabric have no
/// connection that an order could end: who gave it loses the peer, and the peer learns nothing.
namespace fulmar::fabric {
namespace {

template <class Maker>
constexpr bool has_connections = true;
template <class Maker>
  requires requires { Maker::has_connections; }
constexpr bool has_connections<Maker> = Maker::has_connections;

template <class Maker>
class Remote : public ::testing::Test {
 protected:
  using Pair = RemotePair<Maker>;
  using Memory = typename Pair::Memory;
  static constexpr std::size_t longest =
      std::min<std::size_t>(Maker::Provider::max_remote_bytes, 8U << 20);
  static constexpr std::size_t lengths[] = {1, 7, 4096, longest / 80 + 3, longest};

  void SetUp() override {
    if (const std::string why = Maker::lacking(); !why.empty()) GTEST_SKIP() << why;
  }
};
TYPED_TEST_SUITE(Remote, Makers, MakerName);

constexpr std::byte untouched{0xee};

/// Whether `bytes` lie at `offset` and nothing else was changed.
testing::AssertionResult holds(const std::vector<std::byte>& memory, std::size_t offset,
                               std::span<const std::byte> bytes) {
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const bool inside = i >= offset && i - offset < bytes.size();
    if (memory[i] == (inside ? bytes[i - offset] : untouched)) continue;
    return testing::AssertionFailure() << "byte " << i << " is wrong";
  }
  return testing::AssertionSuccess();
}

TYPED_TEST(Remote, Fetch_brings_the_bytes_and_nothing_else) {
  typename TestFixture::Pair two;
  for (const std::size_t bytes : TestFixture::lengths) {
    auto theirs = pattern(bytes + 20, 3);
    const auto before = theirs;
    std::vector<std::byte> mine(bytes + 20, untouched);
    typename TestFixture::Memory source(two, 1, Access::peers_read, theirs);
    typename TestFixture::Memory target(two, 0, Access::local, mine);
    ASSERT_TRUE(two.fetch(0, target.part(9, bytes), target.lkey(), source.place(4), bytes));
    ASSERT_TRUE(two.until([&] { return two.sinks[0].ended.count(bytes) == 1; })) << bytes;
    EXPECT_EQ(two.sinks[0].ended[bytes], Sent::done);
    EXPECT_TRUE(holds(mine, 9, std::span(before).subspan(4, bytes))) << bytes;
    EXPECT_EQ(theirs, before);
  }
  EXPECT_TRUE(two.sinks[1].ended.empty());
}

TYPED_TEST(Remote, Put_writes_the_bytes_and_nothing_else) {
  typename TestFixture::Pair two;
  for (const std::size_t bytes : TestFixture::lengths) {
    auto mine = pattern(bytes + 20, 5);
    const auto before = mine;
    std::vector<std::byte> theirs(bytes + 20, untouched);
    typename TestFixture::Memory target(two, 1, Access::peers_write, theirs);
    typename TestFixture::Memory source(two, 0, Access::local, mine);
    ASSERT_TRUE(two.put(0, source.part(4, bytes), source.lkey(), target.place(9), bytes));
    ASSERT_TRUE(two.post(0, 1));
    ASSERT_TRUE(two.until([&] {
      return two.sinks[0].ended.count(bytes) == 1 && !two.sinks[1].tags.empty();
    })) << bytes;
    EXPECT_EQ(two.sinks[0].ended[bytes], Sent::done);
    EXPECT_TRUE(holds(theirs, 9, std::span(before).subspan(4, bytes))) << bytes;
    EXPECT_EQ(mine, before);
    two.sinks[1].tags.clear();
  }
}

TYPED_TEST(Remote, Put_is_there_before_a_packet_that_was_posted_after_it) {
  constexpr std::size_t slots = 8;
  constexpr std::size_t bytes = 3000;
  typename TestFixture::Pair two;
  std::vector<std::byte> mine(slots * bytes);
  std::vector<std::byte> theirs(slots * bytes);
  typename TestFixture::Memory target(two, 1, Access::peers_write, theirs);
  typename TestFixture::Memory source(two, 0, Access::local, mine);
  unsigned wrong = 0;
  two.sinks[1].on_packet = [&](std::int32_t tag) {
    const auto expected = pattern(bytes, static_cast<unsigned>(tag));
    const auto at = theirs.begin() + static_cast<std::ptrdiff_t>(unsigned(tag) % slots * bytes);
    if (!std::equal(expected.begin(), expected.end(), at)) ++wrong;
  };
  for (unsigned number = 0; number < 10 * slots; ++number) {
    const std::size_t offset = number % slots * bytes;
    // All of the round before have been looked at, and have ended here.
    if (number % slots == 0) {
      ASSERT_TRUE(two.until([&] {
        return two.sinks[1].tags.size() == number && two.sinks[0].ended.size() == number;
      }));
    }
    const auto made = pattern(bytes, number);
    std::copy(made.begin(), made.end(), mine.begin() + static_cast<std::ptrdiff_t>(offset));
    ASSERT_TRUE(
        two.put(0, source.part(offset, bytes), source.lkey(), target.place(offset), number));
    ASSERT_TRUE(two.post(0, static_cast<std::int32_t>(number)));
  }
  ASSERT_TRUE(two.until([&] { return two.sinks[1].tags.size() == 10 * slots; }));
  EXPECT_EQ(wrong, 0U);
}

TYPED_TEST(Remote, Many_orders_both_ways_among_packets_all_end_once) {
  constexpr std::size_t count = 200;
  constexpr std::size_t bytes = 500;
  typename TestFixture::Pair two;
  std::vector<std::byte> theirs[2] = {pattern(count * bytes, 1), pattern(count * bytes, 2)};
  const std::vector<std::byte> before[2] = {theirs[0], theirs[1]};
  std::vector<std::byte> fetched[2], written[2];
  for (auto* const memory : {&fetched[0], &fetched[1], &written[0], &written[1]}) {
    memory->resize(count * bytes);
  }
  typename TestFixture::Memory source[2] = {{two, 0, Access::peers_read, theirs[0]},
                                            {two, 1, Access::peers_read, theirs[1]}};
  typename TestFixture::Memory fetching[2] = {{two, 0, Access::local, fetched[0]},
                                              {two, 1, Access::local, fetched[1]}};
  typename TestFixture::Memory target[2] = {{two, 0, Access::peers_write, written[0]},
                                            {two, 1, Access::peers_write, written[1]}};
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i * bytes;
    for (unsigned rank = 0; rank < 2; ++rank) {
      const unsigned other = 1 - rank;
      ASSERT_TRUE(two.fetch(rank, fetching[rank].part(at, bytes), fetching[rank].lkey(),
                            source[other].place(at), i));
      ASSERT_TRUE(two.put(rank, source[rank].part(at, bytes), source[rank].lkey(),
                          target[other].place(at), count + i));
      ASSERT_TRUE(two.post(rank, static_cast<std::int32_t>(i)));
    }
  }
  ASSERT_TRUE(two.until([&] {
    return std::all_of(two.sinks.begin(), two.sinks.end(), [](const RemoteSink& sink) {
      return sink.ended.size() == 2 * count && sink.tags.size() == count;
    });
  }));
  for (unsigned rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(two.sinks[rank].count(Sent::done), 2 * count);
    EXPECT_TRUE(std::is_sorted(two.sinks[rank].tags.begin(), two.sinks[rank].tags.end()));
    EXPECT_EQ(fetched[rank], before[1 - rank]);
    EXPECT_EQ(written[rank], before[1 - rank]);
  }
}

TYPED_TEST(Remote, First_order_to_a_peer_asks_for_the_connection) {
  typename TestFixture::Pair two;
  auto theirs = pattern(64, 1);
  std::vector<std::byte> mine(64);
  typename TestFixture::Memory source(two, 1, Access::peers_read, theirs);
  typename TestFixture::Memory target(two, 0, Access::local, mine);
  constexpr std::uint64_t token = UINT64_MAX;  // any number will do
  ASSERT_TRUE(two.fetch(0, target.part(0, 64), target.lkey(), source.place(), token));
  ASSERT_TRUE(two.until_ended(0, 1));
  EXPECT_EQ(two.sinks[0].ended.at(token), Sent::done);
  EXPECT_EQ(mine, theirs);
}

TYPED_TEST(Remote, Sink_may_post_from_its_call) {
  constexpr std::size_t count = 20;
  typename TestFixture::Pair two;
  auto theirs = pattern(count, 1);
  std::vector<std::byte> mine(count);
  typename TestFixture::Memory source(two, 1, Access::peers_read, theirs);
  typename TestFixture::Memory target(two, 0, Access::local, mine);
  std::uint64_t next = 1;
  bool refused = false;
  const auto go_on = [&] {
    refused = two.maker.at(0)->rdma_read(1, target.part(next, 1), target.lkey(), source.place(next),
                                         next) == Post::again;
    if (!refused) ++next;
  };
  two.sinks[0].on_sent = [&](std::uint64_t, Sent) {
    if (next < count) go_on();
  };
  ASSERT_TRUE(two.fetch(0, target.part(0, 1), target.lkey(), source.place(), 0));
  ASSERT_TRUE(two.until([&] {
    if (refused) go_on();
    return two.sinks[0].ended.size() == count;
  }));
  EXPECT_EQ(mine, theirs);
}

TYPED_TEST(Remote, Pieces_of_memory_are_opened_and_closed_independently) {
  typename TestFixture::Pair two;
  ASSERT_TRUE(two.connect());
  auto theirs = pattern(8192, 1);
  const auto before = theirs;
  std::vector<std::byte> mine(8192);
  typename TestFixture::Memory target(two, 0, Access::local, mine);
  // The same bytes twice, for both uses; and parts of them.
  auto read = std::make_unique<typename TestFixture::Memory>(two, 1, Access::peers_read, theirs);
  typename TestFixture::Memory write(two, 1, Access::peers_write, theirs);
  typename TestFixture::Memory part(two, 1, Access::peers_read, std::span(theirs).subspan(100, 50));
  ASSERT_TRUE(two.fetch(0, target.part(0, 8192), target.lkey(), read->place(), 1));
  ASSERT_TRUE(two.until_ended(0, 1));
  EXPECT_EQ(mine, before);
  read.reset();
  std::fill(mine.begin(), mine.end(), std::byte{7});
  ASSERT_TRUE(two.fetch(0, target.part(0, 50), target.lkey(), part.place(), 2));
  ASSERT_TRUE(two.put(0, target.part(60, 40), target.lkey(), write.place(1), 3));
  ASSERT_TRUE(two.until_ended(0, 3));
  EXPECT_EQ(two.sinks[0].count(Sent::done), 3U);
  EXPECT_TRUE(std::equal(mine.begin(), mine.begin() + 50, before.begin() + 100));
  for (int i = 0; i < 100; ++i) {
    typename TestFixture::Memory again(two, i % 2, Access::peers_write, i % 2 == 0 ? mine : theirs);
  }
  EXPECT_FALSE(two.maker.has_lost(0));
  EXPECT_FALSE(two.maker.has_lost(1));
}

/// A string constant can be sent.
TYPED_TEST(Remote, Memory_that_cannot_be_written_can_be_read_by_peers) {
  constexpr std::size_t bytes = 4096;
  void* const page =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const std::span theirs(static_cast<std::byte*>(page), bytes);
  const auto before = pattern(bytes, 9);
  std::copy(before.begin(), before.end(), theirs.begin());
  ASSERT_EQ(::mprotect(page, bytes, PROT_READ), 0);
  {
    typename TestFixture::Pair two;
    std::vector<std::byte> mine(bytes);
    typename TestFixture::Memory source(two, 1, Access::peers_read, theirs);
    typename TestFixture::Memory target(two, 0, Access::local, mine);
    ASSERT_TRUE(two.fetch(0, target.part(0, bytes), target.lkey(), source.place(), 1));
    ASSERT_TRUE(two.until_ended(0, 1));
    EXPECT_EQ(mine, before);
  }
  ::munmap(page, bytes);
}

enum class Fault { wrong_key, one_byte_too_far, before_it, other_use, only_local, closed };
constexpr Fault faults[] = {Fault::wrong_key, Fault::one_byte_too_far, Fault::before_it,
                            Fault::other_use, Fault::only_local,       Fault::closed};

/// A place in `memory` as somebody would name it who must not get there.
template <class Memory>
RemoteAddress forbidden(Memory& memory, Fault fault) {
  RemoteAddress place = memory.place(10);
  if (fault == Fault::wrong_key) place.key ^= 0x5a5a00;
  if (fault == Fault::one_byte_too_far) place.address += 1;
  if (fault == Fault::before_it) place.address -= 11;
  if (fault == Fault::closed) memory.close();
  return place;
}

TYPED_TEST(Remote, Place_that_is_not_open_is_not_written_and_ends_the_connection) {
  for (const Fault fault : faults) {
    const auto number = static_cast<int>(fault);
    typename TestFixture::Pair two;
    ASSERT_TRUE(two.connect());
    std::vector<std::byte> theirs(1020, untouched);
    auto mine = pattern(1000, 1);
    const std::span inside(theirs.data() + 10, 1000);
    typename TestFixture::Memory source(two, 0, Access::local, mine);
    const Access access = fault == Fault::other_use    ? Access::peers_read
                          : fault == Fault::only_local ? Access::local
                                                       : Access::peers_write;
    typename TestFixture::Memory target(two, 1, access, inside);
    const RemoteAddress place = forbidden(target, fault);
    const std::size_t bytes = fault == Fault::one_byte_too_far ? 990 : 900;
    ASSERT_TRUE(two.put(0, source.part(0, bytes), source.lkey(), place, 1));
    ASSERT_TRUE(two.until([&] {
      return two.sinks[0].ended.size() == 1 && two.maker.has_lost(0) &&
             (two.maker.has_lost(1) || !has_connections<TypeParam>);
    })) << number;
    EXPECT_EQ(two.sinks[0].ended.at(1), Sent::lost) << number;
    EXPECT_TRUE(holds(theirs, 0, {})) << number;
    EXPECT_FALSE(two.maker.at(0)->alive(1));
  }
}

TYPED_TEST(Remote, Place_that_is_not_open_is_not_read_and_ends_the_connection) {
  for (const Fault fault : faults) {
    const auto number = static_cast<int>(fault);
    typename TestFixture::Pair two;
    ASSERT_TRUE(two.connect());
    auto theirs = pattern(1020, 1);
    std::vector<std::byte> mine(1000, untouched);
    const std::span inside(theirs.data() + 10, 1000);
    typename TestFixture::Memory target(two, 0, Access::local, mine);
    const Access access = fault == Fault::other_use    ? Access::peers_write
                          : fault == Fault::only_local ? Access::local
                                                       : Access::peers_read;
    typename TestFixture::Memory source(two, 1, access, inside);
    const RemoteAddress place = forbidden(source, fault);
    const std::size_t bytes = fault == Fault::one_byte_too_far ? 990 : 900;
    ASSERT_TRUE(two.fetch(0, target.part(0, bytes), target.lkey(), place, 1));
    ASSERT_TRUE(two.until([&] {
      return two.sinks[0].ended.size() == 1 && two.maker.has_lost(0) &&
             (two.maker.has_lost(1) || !has_connections<TypeParam>);
    })) << number;
    EXPECT_EQ(two.sinks[0].ended.at(1), Sent::lost) << number;
    EXPECT_TRUE(holds(mine, 0, {})) << number;
  }
}

TYPED_TEST(Remote, Orders_end_when_the_peer_dies_and_its_memory_is_left_alone) {
  constexpr std::size_t bytes = std::min<std::size_t>(65536, TestFixture::longest);
  constexpr std::size_t count = 24;
  for (const unsigned steps : {0U, 1U, 5U, 30U}) {
    typename TestFixture::Pair two;
    ASSERT_TRUE(two.connect());
    auto theirs = pattern(bytes, 1);
    std::vector<std::byte> written(bytes);
    std::vector<std::byte> mine(count * bytes);
    typename TestFixture::Memory target(two, 0, Access::local, mine);
    typename TestFixture::Memory source(two, 1, Access::peers_read, theirs);
    typename TestFixture::Memory writable(two, 1, Access::peers_write, written);
    std::uint64_t posted = 0;
    for (; posted < count; ++posted) {
      auto& zero = *two.maker.at(0);
      const auto part = target.part(posted * bytes, bytes);
      const Post answer = posted % 4 == 3
                              ? zero.rdma_write(1, part, target.lkey(), writable.place(), posted)
                              : zero.rdma_read(1, part, target.lkey(), source.place(), posted);
      if (answer == Post::again) break;
    }
    for (unsigned i = 0; i < steps; ++i) two.step();
    two.maker.kill(1);
    ASSERT_TRUE(two.until_ended(0, posted)) << two.sinks[0].ended.size() << " of " << posted;
    for (std::uint64_t i = 0; i < posted; ++i) {
      const bool done = two.sinks[0].ended.at(i) == Sent::done;
      const auto part = target.part(i * bytes, bytes);
      if (done && i % 4 != 3) {
        EXPECT_TRUE(std::equal(part.begin(), part.end(), theirs.begin())) << i;
      }
    }
    // From here on it may be used for something else.
    std::fill(mine.begin(), mine.end(), untouched);
    ASSERT_TRUE(two.until([&] { return two.maker.has_lost(0); }));
    for (unsigned i = 0; i < 300; ++i) two.step();
    EXPECT_TRUE(holds(mine, 0, {}));
    EXPECT_EQ(two.sinks[0].ended.size(), posted);
  }
}

TYPED_TEST(Remote, Orders_for_a_peer_that_is_lost_end_at_once) {
  typename TestFixture::Pair two;
  ASSERT_TRUE(two.connect());
  std::vector<std::byte> mine(100, untouched);
  typename TestFixture::Memory target(two, 0, Access::local, mine);
  two.maker.kill(1);
  ASSERT_TRUE(two.until([&] { return two.maker.has_lost(0); }));
  auto& zero = *two.maker.at(0);
  EXPECT_EQ(zero.rdma_read(1, target.part(0, 100), target.lkey(), {4096, 1}, 1), Post::done);
  EXPECT_EQ(zero.rdma_write(1, target.part(0, 100), target.lkey(), {4096, 1}, 2), Post::done);
  ASSERT_TRUE(two.until_ended(0, 2));
  EXPECT_EQ(two.sinks[0].count(Sent::lost), 2U);
  EXPECT_TRUE(holds(mine, 0, {}));
}

TYPED_TEST(Remote, Changes_of_both_ranks_are_none_lost) {
  typename TestFixture::Pair two;
  if (two.maker.at(0)->changes_memory() == Network::Changes::none)
    GTEST_SKIP() << "this adapter has no atomic operations";
  alignas(8) std::uint64_t counter = 5;
  std::uint64_t was[2] = {};
  const auto bytes = [](std::uint64_t& word) {
    return std::as_writable_bytes(std::span(&word, 1));
  };
  typename TestFixture::Memory target(two, 1, Access::peers_change, bytes(counter));
  typename TestFixture::Memory first(two, 0, Access::local, bytes(was[0]));
  constexpr std::uint64_t rounds = 30;
  std::uint64_t expected = 5;
  for (std::uint64_t token = 0; token < rounds; ++token) {
    ASSERT_TRUE(two.until([&] {
      return two.maker.at(0)->fetch_add(1, first.part(0, 8), first.lkey(), target.place(),
                                        token + 1, token) == Post::done;
    }));
    ASSERT_TRUE(two.until_ended(0, token + 1));
    EXPECT_EQ(was[0], expected);
    expected += token + 1;
    EXPECT_EQ(counter, expected);
  }
  const auto swap = [&](std::uint64_t if_it_is, std::uint64_t value, std::uint64_t token) {
    ASSERT_TRUE(two.until([&] {
      return two.maker.at(0)->compare_swap(1, first.part(0, 8), first.lkey(), target.place(),
                                           if_it_is, value, token) == Post::done;
    }));
    ASSERT_TRUE(two.until_ended(0, token + 1));
    EXPECT_EQ(was[0], expected);
  };
  swap(expected + 1, 7, rounds);
  EXPECT_EQ(counter, expected);
  swap(expected, 7, rounds + 1);
  EXPECT_EQ(counter, 7U);
  EXPECT_EQ(two.sinks[0].count(Sent::done), rounds + 2);
}

TYPED_TEST(Remote, Change_of_memory_that_is_open_for_less_ends_the_connection) {
  typename TestFixture::Pair two;
  if (two.maker.at(0)->changes_memory() == Network::Changes::none)
    GTEST_SKIP() << "this adapter has no atomic operations";
  alignas(8) std::uint64_t counter = 5;
  std::uint64_t was = 3;
  typename TestFixture::Memory target(two, 1, Access::peers_write,
                                      std::as_writable_bytes(std::span(&counter, 1)));
  typename TestFixture::Memory source(two, 0, Access::local,
                                      std::as_writable_bytes(std::span(&was, 1)));
  ASSERT_TRUE(two.until([&] {
    return two.maker.at(0)->fetch_add(1, source.part(0, 8), source.lkey(), target.place(), 1, 9) ==
           Post::done;
  }));
  ASSERT_TRUE(two.until_ended(0, 1));
  EXPECT_EQ(two.sinks[0].ended[9], Sent::lost);
  EXPECT_EQ(counter, 5U);
  EXPECT_TRUE(two.until([&] { return two.maker.has_lost(0); }));
}

}  // namespace
}  // namespace fulmar::fabric
