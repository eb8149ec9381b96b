// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/os/unix_socket.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace fulmar::base {
namespace {

/// How many descriptors this process has open.
int open_descriptors() {
  DIR* const folder = ::opendir("/proc/self/fd");
  int count = 0;
  while (::readdir(folder) != nullptr) ++count;
  ::closedir(folder);
  return count;
}

class UnixSocket : public ::testing::Test {
 protected:
  UniqueFd here;
  UniqueFd there;
  UniqueFd memory{::memfd_create("memory", MFD_CLOEXEC)};

  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()), 0);
    here.reset(ends[0]);
    there.reset(ends[1]);
    ASSERT_EQ(::ftruncate(memory.get(), 4711), 0);
  }
  static std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text));
  }
  /// Sends descriptors in one entry, as many as there are.
  template <std::size_t count>
  void send_many(const std::array<int, count>& descriptors) {
    char byte = 'x';
    iovec piece{&byte, 1};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptors)> room{};
    msghdr header{};
    header.msg_iov = &piece;
    header.msg_iovlen = 1;
    header.msg_control = room.data();
    header.msg_controllen = room.size();
    cmsghdr* const entry = CMSG_FIRSTHDR(&header);
    entry->cmsg_level = SOL_SOCKET;
    entry->cmsg_type = SCM_RIGHTS;
    entry->cmsg_len = CMSG_LEN(sizeof descriptors);
    std::memcpy(CMSG_DATA(entry), descriptors.data(), sizeof descriptors);
    ASSERT_EQ(::sendmsg(here.get(), &header, 0), 1);
  }
  Passed receive(std::string& text) {
    text.assign(64, '\0');
    Passed passed =
        receive_with_descriptor(there.get(), std::as_writable_bytes(std::span(text)), MSG_DONTWAIT);
    text.resize(passed.bytes > 0 ? static_cast<std::size_t>(passed.bytes) : 0);
    return passed;
  }
};

TEST_F(UnixSocket, Descriptor_travels_with_its_message) {
  ASSERT_EQ(send_with_descriptor(here.get(), bytes_of("take this"), memory.get(), 0), 9);
  std::string text;
  const Passed passed = receive(text);
  EXPECT_EQ(text, "take this");
  ASSERT_TRUE(passed.descriptor.valid());
  EXPECT_NE(passed.descriptor.get(), memory.get());
  EXPECT_EQ(::lseek(passed.descriptor.get(), 0, SEEK_END), 4711);
  EXPECT_NE(::fcntl(passed.descriptor.get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(UnixSocket, Message_may_come_alone) {
  ASSERT_EQ(send_with_descriptor(here.get(), bytes_of("nothing"), -1, 0), 7);
  std::string text;
  EXPECT_FALSE(receive(text).descriptor.valid());
  EXPECT_EQ(text, "nothing");
}

TEST_F(UnixSocket, No_descriptor_beyond_the_first_stays_open) {
  const int before = open_descriptors();
  send_many(std::array{memory.get(), memory.get()});
  {
    std::string text;
    const Passed passed = receive(text);
    EXPECT_EQ(passed.bytes, 1);
    EXPECT_TRUE(passed.descriptor.valid());
    EXPECT_EQ(open_descriptors(), before + 1);
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(UnixSocket, Peer_that_has_gone_is_an_error_and_no_signal) {
  there.reset();
  EXPECT_EQ(send_with_descriptor(here.get(), bytes_of("x"), memory.get(), 0), -1);
  EXPECT_EQ(errno, EPIPE);
}

TEST_F(UnixSocket, Kernel_names_the_peer) {
  const auto peer = peer_of(there.get());
  ASSERT_TRUE(peer.has_value());
  EXPECT_EQ(peer->pid, ::getpid());
  EXPECT_EQ(peer->uid, ::geteuid());
  EXPECT_FALSE(peer_of(memory.get()).has_value());
}

TEST(AbstractAddress, Leads_to_the_listener_of_that_name) {
  const std::string name = "fulmar-test-" + std::to_string(::getpid());
  const AbstractAddress address(name);
  const UniqueFd listener(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_EQ(::bind(listener.get(), address.get(), address.size()), 0);
  ASSERT_EQ(::listen(listener.get(), 1), 0);
  const UniqueFd caller(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const AbstractAddress longer(name + "-");
  EXPECT_NE(::connect(caller.get(), longer.get(), longer.size()), 0);
  EXPECT_EQ(errno, ECONNREFUSED);
  EXPECT_EQ(::connect(caller.get(), address.get(), address.size()), 0);
}

TEST(AbstractAddress, Is_cut_where_the_system_has_no_room) {
  const AbstractAddress address(std::string(500, 'x'));
  EXPECT_EQ(address.size(), sizeof(sockaddr_un));
}

}  // namespace
}  // namespace fulmar::base
