// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/process_address.h"

#include <gtest/gtest.h>

#include <string>

namespace fulmar::wire {
namespace {

const std::vector<std::byte> network = {std::byte{1}, std::byte{2}, std::byte{3}};

std::vector<std::byte> some_address() {
  auto bytes = encode_process_address({0x01020304, 5, 6}, network);
  EXPECT_TRUE(bytes.ok());
  return bytes.ok() ? bytes.value() : std::vector<std::byte>();
}

TEST(ProcessAddress, Comes_back_as_it_was) {
  const auto decoded = decode_process_address(some_address());
  ASSERT_TRUE(decoded.ok()) << decoded.error().text();
  EXPECT_EQ(decoded.value(), (ProcessAddress{{0x01020304, 5, 6}, network}));
}

TEST(ProcessAddress, Has_its_name_at_the_documented_place) {
  const std::vector<std::byte> bytes = some_address();
  ASSERT_EQ(bytes.size(), process_address_header_bytes + network.size());
  EXPECT_EQ(bytes[4], std::byte{1});
  EXPECT_EQ(bytes[7], std::byte{4});
  EXPECT_EQ(bytes[11], std::byte{5});
  EXPECT_EQ(bytes[12], std::byte{6});
  EXPECT_EQ(bytes[16], std::byte{1});
}

TEST(ProcessAddress, What_is_none_is_refused_with_a_text) {
  const std::vector<std::byte> good = some_address();
  for (std::size_t bytes = 0; bytes <= process_address_header_bytes; ++bytes) {
    const auto decoded = decode_process_address(std::span(good).first(bytes));
    ASSERT_TRUE(decoded.failed());
    EXPECT_NE(decoded.error().text().find("the same version"), std::string::npos);
  }
  std::vector<std::byte> long_one = good;
  long_one.resize(max_process_address_bytes + 1);
  EXPECT_TRUE(decode_process_address(long_one).failed());
  std::vector<std::byte> other_version = good;
  other_version[3] = std::byte{'0'};
  EXPECT_TRUE(decode_process_address(other_version).failed());
  for (const std::size_t zero : {13U, 14U, 15U}) {
    std::vector<std::byte> damaged = good;
    damaged[zero] = std::byte{1};
    EXPECT_TRUE(decode_process_address(damaged).failed());
  }
  std::vector<std::byte> no_job = good;
  for (std::size_t i = 4; i < 8; ++i) no_job[i] = std::byte{0};
  EXPECT_TRUE(decode_process_address(no_job).failed());
}

TEST(ProcessAddress, A_network_with_no_or_too_long_an_address_is_refused) {
  EXPECT_TRUE(encode_process_address({1, 0}, {}).failed());
  const std::vector<std::byte> most(max_network_address_bytes);
  EXPECT_TRUE(encode_process_address({1, 0}, most).ok());
  const std::vector<std::byte> too_long(max_network_address_bytes + 1);
  EXPECT_TRUE(encode_process_address({1, 0}, too_long).failed());
}

}  // namespace
}  // namespace fulmar::wire
