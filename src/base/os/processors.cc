// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/os/processors.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <tuple>

#include "base/os/fd.h"

namespace fulmar::base {
namespace {

std::uint32_t read_number(const std::string& name, std::uint32_t otherwise) {
  const std::string text = read_small_file(name);
  std::string_view rest = text;
  const auto value = take_number(rest);
  return value ? static_cast<std::uint32_t>(*value) : otherwise;
}

void read_numa_nodes(std::vector<Processor>& processors, const std::string& sysfs) {
  const std::string base = sysfs + "/devices/system/node";
  for (const std::uint32_t node : parse_processor_list(read_small_file(base + "/online"))) {
    const auto members =
        parse_processor_list(read_small_file(base + "/node" + std::to_string(node) + "/cpulist"));
    for (Processor& processor : processors) {
      if (std::find(members.begin(), members.end(), processor.id) != members.end()) {
        processor.numa = node;
      }
    }
  }
}

/// The caches of one processor. The lowest processor of a list stands for the object that all of
/// the list share.
void read_caches(Processor& processor, const std::string& folder) {
  for (int index = 0; index < 8; ++index) {
    const std::string base = folder + "/cache/index" + std::to_string(index);
    const std::uint32_t level = read_number(base + "/level", 0);
    if (level == 0) break;
    if (read_small_file(base + "/type").starts_with("Instruction")) continue;
    const std::uint32_t first = read_number(base + "/shared_cpu_list", processor.id);
    if (level == 1) processor.l1 = first;
    if (level == 2) processor.l2 = first;
    if (level == 3) processor.l3 = first;
  }
}

}  // namespace

std::string read_small_file(const std::string& name) {
  const base::UniqueFd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return {};
  std::array<char, 4096> text;
  const ssize_t bytes = ::read(fd.get(), text.data(), text.size());
  return bytes > 0 ? std::string(text.data(), static_cast<std::size_t>(bytes)) : std::string();
}

std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  return value;
}

std::vector<std::uint32_t> allowed_processors() {
  std::vector<std::uint32_t> ids;
  for (std::size_t count = 1024; count <= (1U << 20); count *= 2) {
    std::vector<unsigned long> mask(count / (8 * sizeof(unsigned long)));
    auto* set = reinterpret_cast<cpu_set_t*>(mask.data());
    if (::sched_getaffinity(0, count / 8, set) != 0) continue;
    for (std::size_t id = 0; id < count; ++id) {
      if (CPU_ISSET_S(id, count / 8, set)) ids.push_back(static_cast<std::uint32_t>(id));
    }
    break;
  }
  if (ids.empty()) ids.push_back(0);
  return ids;
}

std::vector<Processor> read_topology(const std::vector<std::uint32_t>& allowed,
                                     const std::string& sysfs, TopologyDetail detail) {
  std::vector<Processor> processors;
  processors.reserve(allowed.size());
  for (const std::uint32_t id : allowed) {
    const std::string base = sysfs + "/devices/system/cpu/cpu" + std::to_string(id);
    Processor processor;
    processor.id = id;
    processor.core = read_number(base + "/topology/thread_siblings_list", id);
    processor.socket = read_number(base + "/topology/physical_package_id", 0);
    if (detail == TopologyDetail::all) {
      processor.l1 = processor.l2 = processor.core;
      processor.l3 = processor.socket;
      read_caches(processor, base);
    }
    processors.push_back(processor);
  }
  if (detail == TopologyDetail::all) read_numa_nodes(processors, sysfs);
  std::sort(processors.begin(), processors.end(), [](const Processor& a, const Processor& b) {
    return std::tie(a.socket, a.numa, a.l3, a.core, a.id) <
           std::tie(b.socket, b.numa, b.l3, b.core, b.id);
  });
  return processors;
}

std::vector<std::uint32_t> parse_processor_list(std::string_view text) {
  std::vector<std::uint32_t> ids;
  while (const auto first = take_number(text)) {
    std::uint64_t last = *first;
    if (text.starts_with('-')) {
      text.remove_prefix(1);
      last = take_number(text).value_or(*first);
    }
    last = std::min(last, *first + (1U << 20));
    for (std::uint64_t id = *first; id <= last; ++id) ids.push_back(static_cast<std::uint32_t>(id));
    if (!text.starts_with(',')) break;
    text.remove_prefix(1);
  }
  return ids;
}

std::string format_processor_list(std::vector<std::uint32_t> ids) {
  std::sort(ids.begin(), ids.end());
  std::string text;
  for (std::size_t i = 0; i < ids.size();) {
    std::size_t end = i + 1;
    while (end < ids.size() && ids[end] == ids[end - 1] + 1) ++end;
    if (!text.empty()) text += ',';
    text += std::to_string(ids[i]);
    if (end - i > 1) text += "-" + std::to_string(ids[end - 1]);
    i = end;
  }
  return text;
}

}  // namespace fulmar::base
