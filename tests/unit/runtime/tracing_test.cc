// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/report/tracing.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace fulmar::runtime {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_((fs::temp_directory_path() / "fulmar-tracing-XXXXXX").string()) {
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
  }
  ~Folder() { fs::remove_all(path_); }
  [[nodiscard]] std::string at(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::string text_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string stderr_of_write(const Tracing& tracing) {
  ::testing::internal::CaptureStderr();
  tracing.write(2, 4, io::FileTrace(2));
  return ::testing::internal::GetCapturedStderr();
}

TEST(Tracing, equal_names_are_one_name) {
  base::Trace trace(64);
  const std::string again = "call";  // another address than that of the literal
  {
    const base::TraceSpan span(&trace, "call", 1, 8);
  }
  {
    const base::TraceSpan span(&trace, again.c_str());
  }
  const wire::TraceFile file = trace_file_of(trace);
  EXPECT_EQ(file.names, std::vector<std::string>{"call"});
  ASSERT_EQ(file.events.size(), 4U);
  EXPECT_EQ(file.events[2].name, 0U);
  EXPECT_EQ(file.events[0].thread, 0U);
}

TEST(Tracing, an_end_without_its_begin_is_left_out) {
  base::Trace trace(4);
  trace.begin("a", 0, 0);
  trace.begin("b", 0, 0);
  trace.end();
  trace.end();
  trace.begin("c", 0, 0);
  trace.end();  // the ring holds: end, end, c, end
  const wire::TraceFile file = trace_file_of(trace);
  ASSERT_EQ(file.events.size(), 2U);
  EXPECT_EQ(file.names, std::vector<std::string>{"c"});
  EXPECT_EQ(file.lost, 4U);
}

TEST(Tracing, writes_a_file_that_can_be_read) {
  const Folder folder;
  Tracing tracing(folder.at("new"), 1024);
  {
    const base::TraceSpan known(&tracing.trace(), "call", 3, 8);
    const base::TraceSpan any(&tracing.trace(), "call", 4000000000U, 8);
  }
  EXPECT_EQ(stderr_of_write(tracing), "");
  const auto file = wire::parse_trace(text_in(folder.at("new/rank-2.trace")));
  ASSERT_TRUE(file.ok()) << file.error().text();
  EXPECT_EQ(file.value().rank, 2U);
  EXPECT_EQ(file.value().size, 4U);
  EXPECT_EQ(file.value().events[0].peer, 3U);
  EXPECT_EQ(file.value().events[1].peer, wire::TraceEvent::no_peer);
}

TEST(Tracing, a_folder_that_is_none_is_an_error_with_a_remedy) {
  const Folder folder;
  std::ofstream(folder.at("file")) << "text";
  const std::string said = stderr_of_write(Tracing(folder.at("file"), 1024));
  EXPECT_NE(said.find("rank 2: FULMAR_TRACE="), std::string::npos) << said;
  EXPECT_NE(said.find("name a folder that can be written"), std::string::npos) << said;
}

/// Somebody else may have put it there.
TEST(Tracing, follows_no_link) {
  const Folder folder;
  std::ofstream(folder.at("target")) << "text";
  ::mkdir(folder.at("traces").c_str(), 0700);
  fs::create_symlink(folder.at("target"), folder.at("traces/rank-2.trace"));
  EXPECT_NE(stderr_of_write(Tracing(folder.at("traces"), 1024)), "");
  EXPECT_EQ(text_in(folder.at("target")), "text");
}

}  // namespace
}  // namespace fulmar::runtime
