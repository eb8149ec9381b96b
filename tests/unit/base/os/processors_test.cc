// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/os/processors.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace fulmar::base {
namespace {

using Ids = std::vector<std::uint32_t>;

TEST(Processors, Processor_lists_are_read_and_written) {
  EXPECT_EQ(parse_processor_list("0-3,8\n"), (Ids{0, 1, 2, 3, 8}));
  EXPECT_EQ(parse_processor_list("5"), (Ids{5}));
  EXPECT_EQ(parse_processor_list(""), Ids{});
  EXPECT_EQ(parse_processor_list("x"), Ids{});
  EXPECT_EQ(parse_processor_list("3-1"), Ids{});
  EXPECT_EQ(format_processor_list({8, 1, 0, 2}), "0-2,8");
  EXPECT_EQ(format_processor_list({}), "");
}

TEST(Processors, Processor_list_without_end_is_cut) {
  EXPECT_LE(parse_processor_list("0-18446744073709551615").size(), (1U << 20) + 1);
}

TEST(Processors, Allowed_processors_are_at_least_one) {
  EXPECT_FALSE(allowed_processors().empty());
}

TEST(Processors, Missing_sysfs_gives_one_core_per_processor) {
  const auto processors = read_topology({4, 2}, "/nonexistent", TopologyDetail::all);
  ASSERT_EQ(processors.size(), 2U);
  EXPECT_EQ(processors[0].id, 2U);
  EXPECT_EQ(processors[0].core, 2U);
  EXPECT_EQ(processors[1].core, 4U);
}

TEST(Processors, Processors_are_sorted_by_socket_and_core) {
  const std::filesystem::path root =
      std::filesystem::path(::testing::TempDir()) / ("fulmar_sysfs." + std::to_string(::getpid()));
  const auto write = [&](const std::string& name, const std::string& text) {
    std::filesystem::create_directories((root / name).parent_path());
    std::ofstream(root / name) << text << "\n";
  };
  for (int id = 0; id < 4; ++id) {  // cores {0,2} and {1,3} on sockets 1 and 0
    const std::string base = "devices/system/cpu/cpu" + std::to_string(id);
    write(base + "/topology/thread_siblings_list", id % 2 == 0 ? "0,2" : "1,3");
    write(base + "/topology/physical_package_id", id % 2 == 0 ? "1" : "0");
    for (const std::string level : {"1", "2", "3"}) {
      const std::string cache = base + "/cache/index" + level;
      write(cache + "/level", level);
      write(cache + "/type", "Unified");
      const std::string own = std::to_string(id);
      const std::string pair = id % 2 == 0 ? "0,2" : "1,3";
      write(cache + "/shared_cpu_list", level == "1" ? own : pair);
    }
    write(base + "/cache/index0/level", "1");
    write(base + "/cache/index0/type", "Instruction");
    write(base + "/cache/index0/shared_cpu_list", "0-3");
  }
  write("devices/system/node/online", "0-1");
  write("devices/system/node/node1/cpulist", "0,2");
  write("devices/system/node/node0/cpulist", "1,3");
  const auto processors = read_topology({0, 1, 2, 3}, root.string(), TopologyDetail::all);
  Ids order;
  for (const Processor& processor : processors) order.push_back(processor.id);
  EXPECT_EQ(order, (Ids{1, 3, 0, 2}));
  EXPECT_EQ(processors[0].core, processors[1].core);
  EXPECT_EQ(processors[3].numa, 1U);
  EXPECT_EQ(processors[3].l3, 0U);
  EXPECT_EQ(processors[3].l2, 0U);
  EXPECT_EQ(processors[3].l1, 2U);
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace fulmar::base
