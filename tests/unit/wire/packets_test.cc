// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/packets.h"

#include <gtest/gtest.h>

#include <cstring>

#include "wire/travels.h"

namespace fulmar::wire {
namespace {

TEST(RtsBody, Says_where_open_memory_lies) {
  const RtsBody body{1, 0x1122334455667788, 3, rts_early | rts_puts, 0xaabbccddeeff0011, 5};
  const auto bytes = bytes_of(body);
  ASSERT_EQ(bytes.size(), 48U);
  std::uint64_t address = 0;
  std::uint64_t flags = 0;
  std::uint64_t key = 0;
  std::memcpy(&address, bytes.data() + 8, sizeof address);
  std::memcpy(&flags, bytes.data() + 24, sizeof flags);
  std::memcpy(&key, bytes.data() + 32, sizeof key);
  EXPECT_EQ(address, body.address);
  EXPECT_EQ(flags, 5U);
  EXPECT_EQ(key, body.key);
}

TEST(PutBody, Comes_back_as_it_was) {
  const PutBody body{1, 2, 3, 4, 0x5566778899aabbcc};
  const auto bytes = bytes_of(body);
  const auto decoded = decode<PutBody>(bytes);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->send, 1U);
  EXPECT_EQ(decoded->receive, 2U);
  EXPECT_EQ(decoded->address, 3U);
  EXPECT_EQ(decoded->length, 4U);
  EXPECT_EQ(decoded->key, 0x5566778899aabbccU);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode<PutBody>(bytes.first(length))) << length;
  }
}

TEST(Range, Ends_where_addresses_do) {
  constexpr std::uint64_t last = ~std::uint64_t{0};
  EXPECT_TRUE(is_range(0, last));
  EXPECT_TRUE(is_range(4096, 0));
  EXPECT_TRUE(is_range(last - 5, 5));
  EXPECT_FALSE(is_range(last - 5, 6));
  EXPECT_FALSE(is_range(1, last));
}

TEST(Travels, Kinds_of_this_version_alone) {
  const auto kind = [](PacketKind one) { return static_cast<std::uint8_t>(one); };
  EXPECT_TRUE(travels(kind(PacketKind::eager)));
  EXPECT_TRUE(travels(kind(PacketKind::cts_put)));
  EXPECT_TRUE(travels(kind(PacketKind::no_put)));
  EXPECT_TRUE(travels(kind(PacketKind::pipe_card)));
  EXPECT_FALSE(travels(kind(PacketKind::none)));
  EXPECT_FALSE(travels(kind(PacketKind::ring_close)));
  EXPECT_FALSE(travels(16));  // not in use
  EXPECT_FALSE(travels(kind(PacketKind::last) + 1));
}

}  // namespace
}  // namespace fulmar::wire
