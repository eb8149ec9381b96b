// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "fabric/fake/fake.h"
#include "provider/faulty.h"
#include "provider/shm_pair.h"

/// What every provider that reaches memory promises. Each is made with the test's own process as
/// its peer number 1.
namespace fulmar::fabric {
namespace {

struct ShmMaker {
  ShmPair pair;
  Faulty<Shm> provider{pair.config(0)};
  Shm peer{pair.config(1)};
};
struct FakeMaker {
  FakeNetwork network{2};
  Faulty<Fake> provider{network, 0U};
};

template <class Maker>
class Copies : public ::testing::Test {
 protected:
  Maker maker;
  [[nodiscard]] static std::uint64_t address(const void* at) {
    return reinterpret_cast<std::uintptr_t>(at);
  }
};
using Makers = ::testing::Types<ShmMaker, FakeMaker>;
TYPED_TEST_SUITE(Copies, Makers);

TYPED_TEST(Copies, Peer_is_reached_and_alive) {
  EXPECT_TRUE(this->maker.provider.alive(1));
  EXPECT_TRUE(this->maker.provider.reach(1));
}

TYPED_TEST(Copies, Pieces_of_every_shape_are_read_and_written) {
  auto& provider = this->maker.provider;
  ASSERT_TRUE(provider.reach(1));
  for (const std::size_t count : {1U, 2U, 1023U, 1024U, 1025U, 3000U}) {
    std::vector<unsigned char> there(count * 3);
    for (std::size_t i = 0; i < there.size(); ++i) there[i] = static_cast<unsigned char>(i * 7);
    std::vector<unsigned char> here(count * 5, 0xee);
    std::vector<iovec> pieces;
    for (std::size_t i = 0; i < count; ++i) pieces.push_back({&here[i * 5], i % 3 == 2 ? 4U : 2U});
    std::size_t bytes = 0;
    for (const iovec& piece : pieces) bytes += piece.iov_len;
    there.resize(bytes + 1, 0x11);
    ASSERT_TRUE(provider.read(1, pieces, this->address(there.data()), bytes).ok()) << count;
    std::size_t at = 0;
    for (const iovec& piece : pieces) {
      for (std::size_t i = 0; i < piece.iov_len; ++i) {
        ASSERT_EQ(static_cast<unsigned char*>(piece.iov_base)[i], there[at++]);
      }
    }
    std::vector<unsigned char> back(bytes + 1, 0x22);
    ASSERT_TRUE(provider.write(1, pieces, this->address(back.data()), bytes).ok());
    EXPECT_EQ(std::vector<unsigned char>(back.begin(), back.end() - 1),
              std::vector<unsigned char>(there.begin(), there.begin() + long(bytes)));
    EXPECT_EQ(back[bytes], 0x22);
  }
}

TYPED_TEST(Copies, Fewer_bytes_than_the_pieces_hold) {
  auto& provider = this->maker.provider;
  ASSERT_TRUE(provider.reach(1));
  const std::vector<char> there(100, 'x');
  std::vector<char> here(100, '-');
  const iovec pieces[] = {{here.data(), 30}, {here.data() + 50, 50}};
  ASSERT_TRUE(provider.read(1, pieces, this->address(there.data()), 40).ok());
  EXPECT_EQ(here[29], 'x');
  EXPECT_EQ(here[30], '-');
  EXPECT_EQ(here[59], 'x');
  EXPECT_EQ(here[60], '-');
}

TYPED_TEST(Copies, Wrapper_refuses_as_told) {
  auto& provider = this->maker.provider;
  ASSERT_TRUE(provider.reach(1));
  provider.refuse_every(2);
  char here = 0;
  const char there = 1;
  const iovec piece{&here, 1};
  EXPECT_TRUE(provider.read(1, {&piece, 1}, this->address(&there), 1).ok());
  EXPECT_TRUE(provider.read(1, {&piece, 1}, this->address(&there), 1).failed());
}

}  // namespace
}  // namespace fulmar::fabric
