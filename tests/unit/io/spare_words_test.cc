// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>

#include "io/shared_word.h"

namespace fulmar::io {
namespace {

TEST(SpareWords, AWordThatIsKept_IsFoundByItsPlace) {
  SpareWords spares;
  EXPECT_FALSE(spares.take_own().is_open());
  base::Result<SharedWord> made = SharedWord::make();
  ASSERT_TRUE(made.ok());
  const SharedWord::Place place = made->place();
  base::Result<SharedWord> found = SharedWord::open(place);
  ASSERT_TRUE(found.ok());
  made->word().store(7);
  spares.keep(std::move(made.value()));
  SharedWord::Place other = place;
  ++other.token;
  EXPECT_FALSE(spares.take(other).is_open());
  SharedWord again = spares.take_own();
  ASSERT_TRUE(again.is_open());
  EXPECT_EQ(found->word().load(), 0) << "begins at 0";
  EXPECT_EQ(again.place().token, place.token);
  spares.keep(std::move(found.value()));
  EXPECT_TRUE(spares.take(place).is_open());
  EXPECT_FALSE(spares.take(place).is_open()) << "given out once";
}

TEST(SpareWords, TooMany_TheOldestEnds) {
  SpareWords spares;
  SharedWord::Place first;
  for (std::size_t i = 0; i <= SpareWords::most; ++i) {
    base::Result<SharedWord> made = SharedWord::make();
    ASSERT_TRUE(made.ok());
    if (i == 0) first = made->place();
    spares.keep(std::move(made.value()));
  }
  EXPECT_FALSE(spares.take(first).is_open());
}

}  // namespace
}  // namespace fulmar::io
