// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/trace/file_table.h"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "fulmar/trace/file_map.h"

namespace fulmar::trace {
namespace {

using Access = wire::TraceFileAccess;
using Kind = Access::Kind;

enum Name : std::uint32_t { write_all, write_at, pwrite, pread };

/// Two ranks write a file collectively; rank 0 is the aggregator and makes one system call for both.
/// Rank 1 has an independent write besides, and reads on a thread while nothing is under way.
std::vector<wire::TraceFile> two_ranks() {
  std::vector<wire::TraceFile> traces(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    traces[rank].rank = rank;
    traces[rank].size = 2;
    traces[rank].host = "h";
    traces[rank].names = {"MPI_File_write_all", "MPI_File_write_at", "pwrite", "pread"};
    traces[rank].paths = {"/f"};
  }
  traces[0].accesses = {{2000, 5000, Kind::system_call, pwrite, 0, 0, 2048, 2048},
                        {1000, 9000, Kind::exchanged_access, write_all, 0, 0, 1024, 1024}};
  traces[1].accesses = {{1000, 8000, Kind::exchanged_access, write_all, 0, 1024, 2048, 1024},
                        {9500, 9700, Kind::system_call, pwrite, 0, 4096, 4100, 4},
                        {9400, 9900, Kind::access, write_at, 0, 4096, 4100, 4},
                        {20000, 20100, Kind::system_call, pread, 0, 0, 16, 16}};
  return traces;
}

TEST(FileTable, counts_system_calls_for_the_access_that_they_serve) {
  const std::vector<FileRow> rows = file_rows(two_ranks());
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0].call, "MPI_File_write_all");
  EXPECT_EQ(rows[0].rank, 0U);
  EXPECT_EQ(rows[0].exchanged, 1U);
  EXPECT_EQ(rows[0].bytes, 1024U);
  EXPECT_EQ(rows[0].system_calls, 1U);
  EXPECT_EQ(rows[0].moved, 2048U);
  EXPECT_EQ(rows[0].disk_ns, 3000U);
  EXPECT_EQ(rows[0].exchange_ns(), 5000U);
  EXPECT_EQ(rows[1].rank, 1U);
  EXPECT_EQ(rows[1].system_calls, 0U);
  EXPECT_EQ(rows[1].exchange_ns(), 7000U);
  EXPECT_EQ(rows[2].call, "MPI_File_write_at");
  EXPECT_EQ(rows[2].first, 4096);
  EXPECT_EQ(rows[2].disk_ns, 200U);
  EXPECT_EQ(rows[3].call, "pread");
  EXPECT_EQ(rows[3].count, 0U);
}

TEST(FileTable, an_access_that_asked_for_the_byte_comes_before_one_that_serves_others) {
  std::vector<wire::TraceFile> traces = two_ranks();
  traces.pop_back();
  // Two accesses at a time: the system call at byte 4096 is the independent one's.
  traces[0].accesses = {{1000, 9000, Kind::access, write_at, 0, 4096, 4100, 4},
                        {1500, 9000, Kind::exchanged_access, write_all, 0, 0, 1024, 1024},
                        {2000, 3000, Kind::system_call, pwrite, 0, 4096, 4100, 4},
                        {4000, 5000, Kind::system_call, pwrite, 0, 8192, 8200, 8}};
  const std::vector<FileRow> rows = file_rows(traces);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].moved, 4U);
  EXPECT_EQ(rows[1].moved, 8U);
}

TEST(FileTable, is_printed_by_file) {
  const std::string text = file_text(file_rows(two_ranks()));
  EXPECT_EQ(text.find("\nfile /f\n"), 0U) << text;
  EXPECT_NE(text.find("MPI_File_write_all"), std::string::npos);
  EXPECT_NE(text.find("4096 to 4099"), std::string::npos) << text;
  EXPECT_EQ(file_text({}), "");
  EXPECT_EQ(file_html({}), "");
}

TEST(FileMap, has_a_lane_for_each_rank) {
  const std::vector<FileMap> maps = file_maps(two_ranks());
  ASSERT_EQ(maps.size(), 1U);
  const FileMap& map = maps[0];
  ASSERT_EQ(map.lanes.size(), 2U);
  EXPECT_EQ(map.first, 0);
  EXPECT_EQ(map.cell_bytes, 4100 / 256 + 1);
  const auto sum = [](const FileMap::Bytes& bytes) {
    return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
  };
  EXPECT_EQ(sum(map.lanes[0].written), 2048U / 121 * 121);
  EXPECT_EQ(sum(map.lanes[1].read), 16U);
  EXPECT_EQ(map.lanes[0].asked[0], 1024U / 61);
  EXPECT_EQ(map.lanes[1].asked[0], 0U);
  const std::string picture = svg(map);
  EXPECT_NE(picture.find("rank 1"), std::string::npos);
  EXPECT_NE(picture.find("written: "), std::string::npos);
}

TEST(FileMap, of_the_largest_offsets_and_of_many_ranks_is_bounded) {
  std::vector<wire::TraceFile> traces;
  for (std::uint32_t rank = 0; rank < 100; ++rank) {
    traces.push_back(two_ranks()[0]);
    traces.back().rank = rank;
    traces.back().accesses = {{0, UINT64_MAX, Kind::access, write_at, 0, 0, INT64_MAX, UINT64_MAX}};
  }
  const std::vector<FileMap> maps = file_maps(traces);
  ASSERT_EQ(maps.size(), 1U);
  EXPECT_EQ(maps[0].lanes.size(), most_map_lanes);
  EXPECT_NE(svg(maps[0]).find("EiB"), std::string::npos);
  EXPECT_EQ(file_rows(traces).size(), 100U);
}

}  // namespace
}  // namespace fulmar::trace
