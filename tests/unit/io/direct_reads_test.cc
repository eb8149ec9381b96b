// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/async/direct_reads.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "io/posix_file.h"

namespace fulmar::io {
namespace {

constexpr std::size_t mib = 1 << 20;
constexpr std::size_t file_bytes = 6 * mib + 1234;
constexpr std::size_t unit = 4096;  ///< no device asks for more

std::byte byte_at(std::size_t i) { return static_cast<std::byte>(i % 251 + i / mib); }

/// A file on the device below /var/tmp, or wherever TMPDIR says.
class DirectReadsTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* const folder = std::getenv("TMPDIR");
    path_ = std::string(folder != nullptr ? folder : "/var/tmp") + "/fulmar-unit-XXXXXX";
    descriptor_.reset(::mkstemp(path_.data()));
    ASSERT_TRUE(descriptor_.valid());
    std::vector<std::byte> data(file_bytes);
    for (std::size_t i = 0; i < file_bytes; ++i) data[i] = byte_at(i);
    ASSERT_EQ(::pwrite(descriptor_.get(), data.data(), file_bytes, 0),
              static_cast<ssize_t>(file_bytes));
    struct statfs facts{};
    ASSERT_EQ(::fstatfs(descriptor_.get(), &facts), 0);
    constexpr std::array<long, 2> with_devices = {0xef53, 0x58465342};  // ext4, xfs
    if (std::ranges::find(with_devices, static_cast<long>(facts.f_type)) == with_devices.end()) {
      GTEST_SKIP() << path_ << " is not on ext4 or xfs; set TMPDIR to a folder that is";
    }
  }
  ~DirectReadsTest() override { ::unlink(path_.c_str()); }
  void forget() const {
    ASSERT_EQ(::fdatasync(descriptor_.get()), 0);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    // Pages that something in the system still uses stay.
    do {
      ASSERT_EQ(::posix_fadvise(descriptor_.get(), 0, 0, POSIX_FADV_DONTNEED), 0);
    } while (any_in_memory() && std::chrono::steady_clock::now() < end);
  }
  [[nodiscard]] bool any_in_memory() const {
    void* const pages = ::mmap(nullptr, file_bytes, PROT_READ, MAP_SHARED, descriptor_.get(), 0);
    std::array<unsigned char, file_bytes / 4096 + 1> there{};
    EXPECT_EQ(::mincore(pages, file_bytes, there.data()), 0);
    ::munmap(pages, file_bytes);
    return std::any_of(there.begin(), there.end(), [](unsigned char page) { return page != 0; });
  }
  [[nodiscard]] std::span<std::byte> memory(std::size_t shift, std::size_t bytes) const {
    return {memory_.get() + shift, bytes};
  }

  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t(unit)); }
  };
  std::string path_;
  base::UniqueFd descriptor_;
  std::unique_ptr<std::byte, Free> memory_{
      static_cast<std::byte*>(::operator new(file_bytes + unit, std::align_val_t(unit)))};
};

TEST_F(DirectReadsTest, Only_what_is_not_in_memory_comes_directly) {
  const auto reads = DirectReads::open(descriptor_.get());
  ASSERT_NE(reads, nullptr);
  EXPECT_FALSE(reads->takes(0, memory(0, 4 * mib))) << "it was just written";
  forget();
  EXPECT_TRUE(reads->takes(0, memory(0, 4 * mib)));
  EXPECT_EQ(reads->next(0, memory(0, 4 * mib)).bytes, 4 * mib);
  // Three quarters of it.
  ASSERT_EQ(::pread(descriptor_.get(), memory_.get(), 3 * mib, 0), static_cast<ssize_t>(3 * mib));
  EXPECT_FALSE(reads->takes(0, memory(0, 4 * mib)));
}

TEST_F(DirectReadsTest, Long_reads_go_in_steps_that_begin_with_a_block) {
  ASSERT_EQ(::ftruncate(descriptor_.get(), 40 * mib), 0);
  forget();
  const auto reads = DirectReads::open(descriptor_.get());
  ASSERT_NE(reads, nullptr);
  std::vector<std::byte> to(40 * mib);
  const auto step = [&](std::int64_t offset, std::size_t bytes) {
    return reads->next(offset, std::span(to).first(bytes));
  };
  EXPECT_FALSE(step(0, DirectReads::least_bytes - 1).direct);
  EXPECT_TRUE(step(0, DirectReads::least_bytes).direct);
  EXPECT_FALSE(reads->takes(0, {}));
  const DirectReads::Step first = step(unit + 100, 38 * mib);
  EXPECT_TRUE(first.direct);
  EXPECT_EQ(first.bytes, 16 * mib - 100);
  const DirectReads::Step whole = step(unit + 100, 16 * mib + 5000);
  EXPECT_EQ(whole.bytes, 16 * mib + 5000) << "no rest that is too short";
}

TEST_F(DirectReadsTest, A_file_without_a_name_can_be_read_so) {
  forget();
  ASSERT_EQ(::unlink(path_.c_str()), 0);
  const auto reads = DirectReads::open(descriptor_.get());
  ASSERT_NE(reads, nullptr);
  EXPECT_TRUE(reads->takes(0, memory(0, mib)));
}

TEST(DirectReads, Not_of_what_is_no_file) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  EXPECT_EQ(DirectReads::open(-1), nullptr);
  ::close(ends[0]);
  ::close(ends[1]);
}

/// Through PosixFile, which goes on where a direct read ends.
TEST_F(DirectReadsTest, All_bytes_come_wherever_a_read_begins_and_ends) {
  PosixFile file = std::move(PosixFile::open(path_, O_RDWR, 0).value());
  FileLog log;
  file.keep_log(log);
  file.read_once();
  for (const std::size_t first : {std::size_t{0}, std::size_t{1}, unit, unit + 100, 5 * mib}) {
    for (const std::size_t bytes :
         {mib, 2 * mib + 1, file_bytes, file_bytes + unit - first % unit}) {
      forget();
      const std::uint64_t before = log.figures.bytes_read.load();
      const std::span<std::byte> to = memory(bytes % 17, std::min(bytes, file_bytes));
      const auto got = file.read(static_cast<std::int64_t>(first), to);
      ASSERT_TRUE(got.ok());
      const std::size_t there = std::min(to.size(), file_bytes - first);
      ASSERT_EQ(got.value(), there) << first << ", " << bytes;
      EXPECT_EQ(log.figures.bytes_read.load() - before, there);
      for (std::size_t i = 0; i < there; ++i) {
        ASSERT_EQ(to[i], byte_at(first + i)) << "byte " << first + i;
      }
    }
  }
}

TEST_F(DirectReadsTest, What_was_written_and_not_stored_is_read) {
  PosixFile file = std::move(PosixFile::open(path_, O_RDWR, 0).value());
  file.read_once();
  forget();
  const std::vector<std::byte> changed(1000, std::byte{0xee});
  ASSERT_TRUE(file.write(mib + 10, changed).ok());
  ASSERT_EQ(file.read(0, memory(0, 4 * mib)).value(), 4 * mib);
  for (std::size_t i = 0; i < 4 * mib; ++i) {
    const bool is_changed = i >= mib + 10 && i < mib + 10 + changed.size();
    ASSERT_EQ(memory_.get()[i], is_changed ? changed[0] : byte_at(i)) << "byte " << i;
  }
}

}  // namespace
}  // namespace fulmar::io
