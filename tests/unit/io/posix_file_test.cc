// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/posix_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "io/io_error.h"

namespace fulmar::io {
namespace {

using base::ErrorClass;

class PosixFileTest : public testing::Test {
 protected:
  PosixFileTest() {
    std::array<char, 64> name{"/tmp/fulmar-unit-XXXXXX"};
    ::close(::mkstemp(name.data()));
    path_ = name.data();
  }
  ~PosixFileTest() override { ::unlink(path_.c_str()); }
  PosixFile open(int flags = O_RDWR) {
    return std::move(PosixFile::open(path_, flags, 0600).value());
  }

  std::string path_;
};

std::vector<std::byte> pattern(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  for (std::size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>(i * 7);
  return data;
}

TEST_F(PosixFileTest, Reads_what_was_written_and_ends_with_the_file) {
  const PosixFile file = open();
  const auto data = pattern(1000);
  ASSERT_TRUE(file.write(50, data).ok());
  std::vector<std::byte> back(2000);
  const auto got = file.read(50, back);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got.value(), 1000U);
  back.resize(1000);
  EXPECT_EQ(back, data);
  EXPECT_EQ(file.size().value(), 1050);
}

TEST_F(PosixFileTest, Pieces_of_memory_follow_each_other_in_the_file) {
  const PosixFile file = open();
  auto data = pattern(300);
  std::array<iovec, 3> pieces{iovec{&data[200], 100}, iovec{&data[0], 0}, iovec{&data[0], 100}};
  ASSERT_TRUE(file.write(0, std::span<iovec>(pieces)).ok());
  std::vector<std::byte> back(200);
  std::array<iovec, 2> places{iovec{&back[100], 100}, iovec{&back[0], 100}};
  EXPECT_EQ(file.read(0, std::span<iovec>(places)).value(), 200U);
  EXPECT_TRUE(std::equal(back.begin(), back.end(), data.begin() + 0, data.begin() + 100) == false);
  EXPECT_TRUE(std::equal(back.begin(), back.begin() + 100, data.begin()));
  EXPECT_TRUE(std::equal(back.begin() + 100, back.end(), data.begin() + 200));
}

TEST_F(PosixFileTest, A_pipe_has_no_offsets) {
  const std::string pipe = path_ + ".pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const PosixFile file = std::move(PosixFile::open(pipe, O_RDWR, 0).value());
  ::unlink(pipe.c_str());
  std::vector<std::byte> data(10);
  const base::Error written = file.write(0, std::span<const std::byte>(data));
  EXPECT_EQ(written.error_class(), ErrorClass::unsupported_operation);
  EXPECT_NE(written.text().find("not a pipe"), std::string::npos) << written.text();
  EXPECT_EQ(file.read(0, data).error().error_class(), ErrorClass::unsupported_operation);
  EXPECT_EQ(file.preallocate(10).error_class(), ErrorClass::unsupported_operation);
}

TEST_F(PosixFileTest, Preallocation_makes_longer_and_never_shorter) {
  const PosixFile file = open();
  ASSERT_TRUE(file.set_size(5000).ok());
  ASSERT_TRUE(file.preallocate(100).ok());
  EXPECT_EQ(file.size().value(), 5000);
  ASSERT_TRUE(file.preallocate(9000).ok());
  EXPECT_EQ(file.size().value(), 9000);
}

TEST_F(PosixFileTest, Errors_name_file_offset_and_class) {
  const auto missing = PosixFile::open(path_ + "/x", O_RDONLY, 0);
  EXPECT_EQ(missing.error().error_class(), ErrorClass::bad_file);
  EXPECT_EQ(PosixFile::open(path_ + "x", O_RDONLY, 0).error().error_class(),
            ErrorClass::no_such_file);
  EXPECT_EQ(PosixFile::open(path_, O_RDWR | O_CREAT | O_EXCL, 0600).error().error_class(),
            ErrorClass::file_exists);
  const PosixFile file = open(O_RDONLY);
  const base::Error error = file.write(77, pattern(4));
  EXPECT_EQ(error.error_class(), ErrorClass::io);
  EXPECT_NE(error.text().find(path_), std::string::npos);
  EXPECT_NE(error.text().find("77"), std::string::npos);
}

TEST_F(PosixFileTest, A_lock_keeps_other_open_files_out_while_it_exists) {
  const PosixFile one = open();
  const PosixFile other = open();
  struct flock probe{};
  probe.l_type = F_WRLCK;
  probe.l_start = 15;
  probe.l_len = 1;
  const int descriptor = ::open(path_.c_str(), O_RDWR);
  {
    RangeLock lock;
    ASSERT_TRUE(lock.acquire(one, 10, 10, RangeLock::Mode::exclusive).ok());
    EXPECT_EQ(::fcntl(descriptor, F_OFD_SETLK, &probe), -1);
    RangeLock beside;
    EXPECT_TRUE(beside.acquire(other, 20, 10, RangeLock::Mode::exclusive).ok());
  }
  EXPECT_EQ(::fcntl(descriptor, F_OFD_SETLK, &probe), 0);
  ::close(descriptor);
}

/// Who waits too long is told for whom, where, how long, and what to do.
TEST_F(PosixFileTest, A_lock_that_is_never_released_is_an_error_that_says_who_has_it) {
  constexpr std::int64_t timeout_ns = 20'000'000;
  const PosixFile one = open();
  const PosixFile other = open();
  RangeLock first;
  ASSERT_TRUE(first.acquire(one, 10, 10, RangeLock::Mode::exclusive).ok());
  RangeLock second;
  const base::Error error = second.acquire(other, 15, 10, RangeLock::Mode::exclusive, timeout_ns);
  EXPECT_EQ(error.error_class(), ErrorClass::io);
  EXPECT_NE(error.text().find("\"" + path_ +
                              "\": another process has held a lock on bytes 15 to "
                              "25 for 0.02 s; end it"),
            std::string::npos)
      << error.text();
  RangeLock third;
  const base::Error own = third.acquire(one, 0, 11, RangeLock::Mode::shared, timeout_ns);
  EXPECT_NE(own.text().find("another thread of this process"), std::string::npos) << own.text();
}

TEST_F(PosixFileTest, A_lock_of_another_program_is_told_by_its_process) {
  const PosixFile file = open();
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    struct flock lock{};
    lock.l_type = F_WRLCK;
    const int descriptor = ::open(path_.c_str(), O_RDWR);
    const char done = ::fcntl(descriptor, F_SETLK, &lock) == 0 ? 'l' : 'x';
    if (::write(ends[1], &done, 1) != 1) ::_exit(1);
    ::pause();
  }
  char done = 0;
  ASSERT_EQ(::read(ends[0], &done, 1), 1);
  EXPECT_EQ(done, 'l');
  RangeLock lock;
  const base::Error error = lock.acquire(file, 0, 4, RangeLock::Mode::shared, 20'000'000);
  EXPECT_NE(error.text().find("process " + std::to_string(child) + " has held a lock"),
            std::string::npos)
      << error.text();
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

/// For the operating system their locks are one.
TEST_F(PosixFileTest, A_lock_keeps_out_threads_that_use_the_same_file) {
  constexpr int rounds = 1000;
  const PosixFile file = open();
  int value = 0;
  bool failed = false;
  const auto count = [&] {
    for (int round = 0; round < rounds; ++round) {
      RangeLock lock;
      const base::Error error = lock.acquire(file, 10, 10, RangeLock::Mode::shared);
      failed = failed || error.failed();
      const int before = value;
      std::this_thread::yield();
      value = before + 1;
    }
  };
  std::thread other(count);
  count();
  other.join();
  EXPECT_FALSE(failed);
  EXPECT_EQ(value, 2 * rounds);
}

/// Whether another open file could lock one byte for writing.
bool is_free(const std::string& path, std::int64_t offset) {
  const int other = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  struct flock lock{};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = offset;
  lock.l_len = 1;
  EXPECT_EQ(::fcntl(other, F_OFD_GETLK, &lock), 0);
  ::close(other);
  return lock.l_type == F_UNLCK;
}

/// A lock of a part makes clients of NFS store no more than what is written.
TEST_F(PosixFileTest, A_file_that_is_stored_exactly_has_a_lock_behind_all_data) {
  constexpr std::int64_t behind = std::int64_t{1} << 62;
  {
    PosixFile one = open();
    PosixFile other = open();
    ASSERT_TRUE(is_free(path_, behind));
    ASSERT_TRUE(one.store_exactly().ok());
    ASSERT_TRUE(other.store_exactly().ok()) << "all share it";
    EXPECT_FALSE(is_free(path_, behind));
    one.refresh();
    EXPECT_FALSE(is_free(path_, behind)) << "refreshing leaves it";
    EXPECT_TRUE(is_free(path_, 0)) << "the data are not locked";
  }
  EXPECT_TRUE(is_free(path_, behind)) << "it goes with the file";
}

/// How many descriptors of this process are open for a file so that each write waits until it is stored.
int synchronous_descriptors(const std::string& path) {
  int found = 0;
  for (int fd = 0; fd < 256; ++fd) {
    std::array<char, 256> name{};
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    const ssize_t length = ::readlink(link.c_str(), name.data(), name.size());
    if (length <= 0 || path != std::string_view(name.data(), static_cast<std::size_t>(length)))
      continue;
    if ((::fcntl(fd, F_GETFL) & O_DSYNC) != 0) ++found;
  }
  return found;
}

TEST_F(PosixFileTest, Where_no_lock_can_be_had_each_write_waits_until_it_is_stored) {
  PosixFile file = open(O_WRONLY);
  EXPECT_EQ(synchronous_descriptors(path_), 0);
  ASSERT_TRUE(file.store_exactly().ok());
  EXPECT_EQ(synchronous_descriptors(path_), 1);
  ASSERT_TRUE(file.write(10, pattern(100)).ok());
  EXPECT_TRUE(file.push().ok());
  file.refresh();
  EXPECT_EQ(file.size().value(), 110);
}

}  // namespace
}  // namespace fulmar::io
