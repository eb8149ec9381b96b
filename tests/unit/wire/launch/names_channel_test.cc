// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "wire/launch/names_channel.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fulmar::wire {
namespace {

using Side = NamesChannel::Side;

class NamesChannelTest : public testing::Test {
 protected:
  void SetUp() override {
    const auto loaded = base::KeyedHash::load();
    if (loaded.failed()) GTEST_SKIP() << loaded.error().text();
    hash_ = loaded.value();
  }

  [[nodiscard]] NamesChannel channel(Side side) const {
    base::Mac session{};
    session[3] = std::byte{7};
    return {*hash_, session, side};
  }

  std::optional<base::KeyedHash> hash_;
};

TEST_F(NamesChannelTest, Texts_arrive_in_both_directions_and_are_hidden) {
  NamesChannel client = channel(Side::client);
  NamesChannel server = channel(Side::server);
  for (const std::string& text : {std::string("a question"), std::string(), std::string(1000, 'x'),
                                  std::string(names_record_limit, 'y')}) {
    const auto record = client.seal(text);
    ASSERT_TRUE(record.ok());
    if (!text.empty()) {
      EXPECT_EQ(record.value().find(text.substr(0, 8)), std::string::npos);
    }
    server.append(record.value());
    EXPECT_EQ(server.next().value(), text);
    client.append(server.seal("answer").value());
    EXPECT_EQ(client.next().value(), "answer");
  }
  EXPECT_NE(channel(Side::client).seal("a").value(), channel(Side::server).seal("a").value());
  EXPECT_TRUE(client.seal(std::string(names_record_limit + 1, 'x')).failed());
}

TEST_F(NamesChannelTest, Records_come_out_of_single_bytes) {
  NamesChannel client = channel(Side::client);
  NamesChannel server = channel(Side::server);
  const std::string record = client.seal("text").value();
  for (const char byte : record) {
    EXPECT_FALSE(server.next().value().has_value());
    server.append({&byte, 1});
  }
  EXPECT_EQ(server.next().value(), "text");
}

TEST_F(NamesChannelTest, Every_changed_bit_is_noticed) {
  const std::string record = channel(Side::client).seal("the text").value();
  for (std::size_t at = 0; at < record.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = record;
      changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
      NamesChannel server = channel(Side::server);
      server.append(changed);
      const auto text = server.next();
      EXPECT_TRUE(text.failed() || !text.value().has_value()) << at;
    }
  }
}

TEST_F(NamesChannelTest, Repeated_left_out_and_returned_records_are_noticed) {
  NamesChannel client = channel(Side::client);
  const std::string first = client.seal("1").value();
  const std::string second = client.seal("2").value();
  NamesChannel repeated = channel(Side::server);
  repeated.append(first + first);
  EXPECT_TRUE(repeated.next().ok());
  EXPECT_TRUE(repeated.next().failed());
  NamesChannel left_out = channel(Side::server);
  left_out.append(second);
  EXPECT_TRUE(left_out.next().failed());
  client.append(first);
  EXPECT_TRUE(client.next().failed());
}

TEST_F(NamesChannelTest, Proofs_differ_by_step_key_and_nonce) {
  const NamesNonce one{std::byte{1}};
  const NamesNonce two{std::byte{2}};
  const base::Key key{1};
  const auto mac = names_mac(*hash_, key, NamesStep::server_proof, one, two);
  ASSERT_TRUE(mac.has_value());
  EXPECT_NE(mac, names_mac(*hash_, key, NamesStep::client_proof, one, two));
  EXPECT_NE(mac, names_mac(*hash_, key, NamesStep::server_proof, two, one));
  EXPECT_NE(mac, names_mac(*hash_, base::Key{2}, NamesStep::server_proof, one, two));
}

TEST(NamesHello, Only_a_hello_of_this_version_is_one) {
  NamesNonce nonce{};
  nonce[31] = std::byte{9};
  const std::string hello = encode_names_hello(nonce);
  EXPECT_EQ(hello.size(), names_hello_bytes);
  EXPECT_EQ(decode_names_hello(hello), nonce);
  EXPECT_FALSE(decode_names_hello(hello + "x").has_value());
  EXPECT_FALSE(decode_names_hello(hello.substr(1)).has_value());
  for (std::size_t at = 0; at < 8; ++at) {
    std::string other = hello;
    other[at] = static_cast<char>(other[at] ^ 1);
    EXPECT_FALSE(decode_names_hello(other).has_value());
  }
}

TEST_F(NamesChannelTest, Key_files_are_made_once_and_read_by_their_owner) {
  const auto folder =
      std::filesystem::temp_directory_path() / ("fulmar-key-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const std::string file = folder / "key";
  EXPECT_TRUE(read_key_file(file).failed());
  EXPECT_TRUE(make_key_file(file, *hash_).ok());
  const auto key = read_key_file(file);
  ASSERT_TRUE(key.ok()) << key.error().text();
  EXPECT_TRUE(make_key_file(file, *hash_).ok());
  EXPECT_EQ(read_key_file(file).value(), key.value());
  ::chmod(file.c_str(), 0640);
  EXPECT_TRUE(read_key_file(file).failed());
  ::chmod(file.c_str(), 0600);
  std::ofstream(file) << std::string(63, 'a');
  EXPECT_TRUE(read_key_file(file).failed());
  std::ofstream(file) << std::string(63, 'a') + "g";
  EXPECT_TRUE(read_key_file(file).failed());
  EXPECT_TRUE(read_key_file(folder).failed());
  std::filesystem::remove_all(folder);
}

TEST(NamesPlace, Host_port_and_file_are_told_apart) {
  const auto plain = parse_names_place("node1:4000:/home/a:b");
  ASSERT_TRUE(plain.has_value());
  EXPECT_EQ(plain->host, "node1");
  EXPECT_EQ(plain->port, "4000");
  EXPECT_EQ(plain->key_file, "/home/a:b");
  const auto six = parse_names_place("[fe80::1]:4000:key");
  ASSERT_TRUE(six.has_value());
  EXPECT_EQ(six->host, "fe80::1");
  for (const char* text :
       {"", "a", "a:1", "a:1:", ":1:k", "a::k", "a:x:k", "a:123456:k", "[a:1:k", "[a]1:k"}) {
    EXPECT_FALSE(parse_names_place(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace fulmar::wire
