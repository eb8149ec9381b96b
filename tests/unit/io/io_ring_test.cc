// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/async/io_ring.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <semaphore>
#include <vector>

namespace fulmar::io {
namespace {

using Kind = BlockTransfer::Kind;

class IoRingTest : public testing::Test {
 protected:
  void SetUp() override {
    if (const int error = ring_.open(); error != 0) {
      GTEST_SKIP() << "no io_uring here: " << std::strerror(error);
    }
    file_.reset(::open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    ASSERT_TRUE(file_.valid());
  }

  BlockTransfer transfer(int file, Kind kind, std::int64_t offset, std::span<std::byte> memory) {
    BlockTransfer one;
    one.file = file;
    one.kind = kind;
    one.offset = offset;
    one.memory = memory;
    one.owner = this;
    return one;
  }
  void run(BlockTransfer& one) {
    ring_.submit(one);
    done_.acquire();
  }

  base::UniqueFd file_;
  std::counting_semaphore<> done_{0};
  IoRing ring_{{[](void* self, BlockTransfer& one) noexcept {
                  EXPECT_EQ(one.owner, self);
                  static_cast<IoRingTest*>(self)->done_.release();
                },
                this}};
};

TEST_F(IoRingTest, More_transfers_than_fit_arrive_and_end_where_the_file_ends) {
  constexpr std::size_t bytes = 1000;
  constexpr std::size_t count = 5 * KernelQueues::depth;
  std::vector<std::byte> data(bytes * count);
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i * 7 / 5);
  std::vector<std::byte> back(data.size() + bytes);
  for (const Kind kind : {Kind::write, Kind::read}) {
    std::vector<BlockTransfer> all;
    for (std::size_t i = 0; i < count; ++i) {
      // The last one reads more than there is.
      const std::size_t some = kind == Kind::read && i == count - 1 ? 2 * bytes : bytes;
      all.push_back(
          transfer(file_.get(), kind, static_cast<std::int64_t>(i * bytes),
                   std::span(kind == Kind::write ? data : back).subspan(i * bytes, some)));
    }
    for (BlockTransfer& one : all) ring_.submit(one);
    for (std::size_t i = 0; i < count; ++i) done_.acquire();
    for (const BlockTransfer& one : all) {
      EXPECT_EQ(one.error, 0);
      EXPECT_EQ(one.moved, bytes);
    }
  }
  back.resize(data.size());
  EXPECT_EQ(back, data);
}

TEST_F(IoRingTest, Errors_are_told) {
  std::array<std::byte, 100> data{};
  const base::UniqueFd full(::open("/dev/full", O_RDWR | O_CLOEXEC));
  ASSERT_TRUE(full.valid());
  BlockTransfer no_space = transfer(full.get(), Kind::write, 0, data);
  run(no_space);
  EXPECT_EQ(no_space.error, ENOSPC);
  EXPECT_EQ(no_space.moved, 0U);
  const base::UniqueFd memory(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));
  ASSERT_TRUE(memory.valid());
  BlockTransfer damaged = transfer(memory.get(), Kind::read, 0, data);
  run(damaged);
  EXPECT_EQ(damaged.error, EIO);
  BlockTransfer closed = transfer(-1, Kind::read, 0, data);
  run(closed);
  EXPECT_EQ(closed.error, EBADF);
  BlockTransfer good = transfer(file_.get(), Kind::write, 0, data);
  run(good);
  EXPECT_EQ(good.error, 0);
  EXPECT_EQ(good.moved, data.size());
}

/// What comes through a pipe in parts is one transfer.
TEST_F(IoRingTest, Short_transfers_are_continued) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const base::UniqueFd from(ends[0]);
  const base::UniqueFd to(ends[1]);
  std::array<std::byte, 3> back{};
  BlockTransfer one = transfer(from.get(), Kind::read, 0, back);
  ring_.submit(one);
  for (const char byte : {'a', 'b', 'c'}) {
    EXPECT_FALSE(done_.try_acquire());
    EXPECT_EQ(::write(to.get(), &byte, 1), 1);
  }
  done_.acquire();
  EXPECT_EQ(one.moved, 3U);
  EXPECT_EQ(back, (std::array<std::byte, 3>{std::byte{'a'}, std::byte{'b'}, std::byte{'c'}}));
}

TEST_F(IoRingTest, Stop_waits_for_what_was_submitted_and_it_opens_again) {
  std::array<std::byte, 100> data{};
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(ring_.open(), 0);
    BlockTransfer one = transfer(file_.get(), Kind::write, 0, data);
    ring_.submit(one);
    ring_.stop();
    EXPECT_TRUE(done_.try_acquire());
    EXPECT_EQ(one.moved, data.size());
  }
}

/// As sandboxes do.
void forbid(long call) {
  std::array<sock_filter, 4> program{
      sock_filter{BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      sock_filter{BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<std::uint32_t>(call)},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      sock_filter{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    std::_Exit(77);
  }
}

TEST(IoRing, A_sandbox_that_forbids_it_is_told) {
  for (const long call : {SYS_io_uring_setup, SYS_io_uring_enter}) {
    const pid_t child = ::fork();
    if (child == 0) {
      forbid(call);
      IoRing ring({});
      std::_Exit(ring.open());
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    const int error = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (error == 77) GTEST_SKIP() << "no seccomp filter can be set here";
    // Where it cannot be had in any case the reason is another one.
    EXPECT_TRUE(error == EPERM || error == ENOSYS) << error;
  }
}

}  // namespace
}  // namespace fulmar::io
