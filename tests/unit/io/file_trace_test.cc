// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/file_trace.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "io/posix_file.h"

namespace fulmar::io {
namespace {

TEST(FileTrace, keeps_the_newest_records_and_counts_the_others) {
  FileTrace trace(4);
  const std::uint32_t file = trace.number_of("/a");
  for (std::int64_t i = 0; i < 6; ++i) {
    trace.add({1, 2, "pread", FileTrace::Kind::system_call, file, i, i + 1, 1});
  }
  const FileTrace::Taken taken = trace.take();
  EXPECT_EQ(taken.lost, 2U);
  ASSERT_EQ(taken.records.size(), 4U);
  EXPECT_EQ(taken.records.front().first, 2);
  EXPECT_EQ(taken.records.back().first, 5);
}

TEST(FileTrace, gives_a_path_one_number) {
  FileTrace trace(4);
  EXPECT_EQ(trace.number_of("/a"), 0U);
  EXPECT_EQ(trace.number_of("/b"), 1U);
  EXPECT_EQ(trace.number_of("/a"), 0U);
  for (std::size_t i = 0; i < 2 * FileTrace::most_files; ++i) {
    EXPECT_LT(trace.number_of(std::to_string(i)), FileTrace::most_files);
  }
  EXPECT_EQ(trace.take().paths.size(), FileTrace::most_files);
}

TEST(FileLog, counts_and_records_system_calls) {
  std::array<char, 64> name{"/tmp/fulmar-unit-XXXXXX"};
  ::close(::mkstemp(name.data()));
  base::Trace spans(64);
  FileLog log;
  log.trace = std::make_unique<FileTrace>(64);
  log.spans = &spans;
  PosixFile file = std::move(PosixFile::open(name.data(), O_RDWR, 0600).value());
  file.keep_log(log);
  std::vector<std::byte> data(100);
  ASSERT_TRUE(file.write(50, data).ok());
  std::array<iovec, 2> pieces{iovec{data.data(), 40}, iovec{data.data() + 40, 60}};
  ASSERT_TRUE(file.read(100, std::span<iovec>(pieces)).ok());
  ASSERT_TRUE(file.sync().ok());
  EXPECT_EQ(log.figures.bytes_written.load(), 100U);
  EXPECT_EQ(log.figures.bytes_read.load(), 50U);
  EXPECT_EQ(log.figures.system_calls.load(), 4U);  // the last read says that the file has ended
  const FileTrace::Taken taken = log.trace->take();
  ASSERT_EQ(taken.records.size(), 4U);
  EXPECT_STREQ(taken.records[0].name, "pwrite");
  EXPECT_EQ(taken.records[0].first, 50);
  EXPECT_EQ(taken.records[0].end, 150);
  EXPECT_STREQ(taken.records[1].name, "preadv");
  EXPECT_EQ(taken.records[2].bytes, 0U);
  EXPECT_STREQ(taken.records[3].name, "fsync");
  EXPECT_EQ(taken.paths, std::vector<std::string>{name.data()});
  EXPECT_EQ(spans.take().records.size(), 8U);
  ::unlink(name.data());
}

}  // namespace
}  // namespace fulmar::io
