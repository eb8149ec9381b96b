// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/spawn/job_keys.h"

#include <gtest/gtest.h>

namespace fulmar::mpi {
namespace {

class JobKeysTest : public testing::Test {
 protected:
  void SetUp() override {
    auto hash = base::KeyedHash::load();
    if (hash.failed()) GTEST_SKIP() << hash.error().text();
    hash_ = *hash;
  }
  std::optional<base::KeyedHash> hash_;
};

constexpr base::Key own = {1, 2, 3};
constexpr base::Key shared = {4, 5, 6};

TEST_F(JobKeysTest, Each_pair_has_a_key_of_its_own) {
  const auto key = pair_key(*hash_, own, 3, 9);
  ASSERT_TRUE(key);
  EXPECT_EQ(key, pair_key(*hash_, own, 3, 9));
  EXPECT_NE(key, pair_key(*hash_, own, 9, 3));
  EXPECT_NE(key, pair_key(*hash_, own, 3, 10));
  EXPECT_NE(key, pair_key(*hash_, shared, 3, 9));
  EXPECT_NE(*key, own);
}

TEST_F(JobKeysTest, A_wrapped_key_comes_out_with_the_same_words_only) {
  const WrapNonce nonce = {std::byte{7}};
  const WrapNonce other_nonce = {std::byte{8}};
  const auto hidden = wrapped(*hash_, shared, nonce, 1, own);
  ASSERT_TRUE(hidden);
  EXPECT_NE(*hidden, own);
  EXPECT_EQ(wrapped(*hash_, shared, nonce, 1, *hidden), own);
  EXPECT_NE(wrapped(*hash_, shared, nonce, 2, *hidden), own);
  EXPECT_NE(wrapped(*hash_, shared, other_nonce, 1, *hidden), own);
  EXPECT_NE(wrapped(*hash_, own, nonce, 1, *hidden), own);
}

}  // namespace
}  // namespace fulmar::mpi
