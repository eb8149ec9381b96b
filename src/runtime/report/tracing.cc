// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/report/tracing.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <map>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/os/absolute_path.h"
#include "base/os/fd.h"

namespace fulmar::runtime {
namespace {

using base::ErrorClass;
using base::failure;

constexpr std::size_t least_records = 1024;
constexpr std::size_t most_records = std::size_t{1} << 26;
constexpr std::size_t standard_records = 65536;

std::int64_t clock_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  const auto since_1970 = static_cast<std::int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
  return since_1970 - static_cast<std::int64_t>(base::now_ns());
}

std::string host_name() {
  std::array<char, 65> host{};
  const bool known = ::gethostname(host.data(), host.size() - 1) == 0 && host[0] != '\0';
  return known ? host.data() : "localhost";
}

/// Numbers values in the order of their first use.
template <class Value>
class Numbers {
 public:
  std::uint32_t of(const Value& value) {
    return numbers_.try_emplace(value, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  [[nodiscard]] std::size_t size() const noexcept { return numbers_.size(); }

 private:
  std::map<Value, std::uint32_t> numbers_;
};

}  // namespace

wire::TraceFile trace_file_of(const base::Trace& trace) {
  const base::Trace::Taken taken = trace.take();
  wire::TraceFile file;
  file.lost = taken.lost;
  file.cost_ns = trace.cost_ns();
  Numbers<std::string_view> names;
  Numbers<std::uint64_t> threads;
  std::map<std::uint32_t, std::uint32_t> open;  // spans, by thread
  for (const base::Trace::Record& record : taken.records) {
    wire::TraceEvent event{record.ns, threads.of(record.thread), wire::TraceEvent::ends,
                           record.peer, record.bytes};
    std::uint32_t& depth = open[event.thread];
    if (record.name != nullptr) {
      event.name = names.of(record.name);
      if (event.name == file.names.size()) file.names.emplace_back(record.name);
      ++depth;
    } else if (depth == 0) {
      ++file.lost;
      continue;
    } else {
      --depth;
    }
    file.events.push_back(event);
  }
  return file;
}

void add_files(wire::TraceFile& file, const io::FileTrace& files) {
  const io::FileTrace::Taken taken = files.take();
  file.lost += taken.lost;
  for (const std::string& path : taken.paths) file.paths.push_back(wire::plain_path(path));
  Numbers<std::string> names;
  for (const std::string& name : file.names) (void)names.of(name);
  for (const io::FileTrace::Record& record : taken.records) {
    wire::TraceFileAccess access;
    access.begin_ns = record.begin_ns;
    access.end_ns = record.end_ns;
    access.kind = static_cast<wire::TraceFileAccess::Kind>(record.kind);
    access.name = names.of(record.name);
    if (access.name == file.names.size()) file.names.emplace_back(record.name);
    access.file = record.file;
    access.first = record.first;
    access.end = record.end;
    access.bytes = record.bytes;
    file.accesses.push_back(access);
  }
}

std::unique_ptr<Tracing> Tracing::from(const Options& options) {
  const std::string& folder = options.text("FULMAR_TRACE");
  if (folder.empty()) return nullptr;
  const std::uint64_t records = options.size("FULMAR_TRACE_RECORDS").value_or(standard_records);
  return std::make_unique<Tracing>(base::absolute_path(folder),
                                   std::clamp<std::uint64_t>(records, least_records, most_records));
}

void Tracing::write(std::uint32_t rank, std::uint32_t size, const io::FileTrace& files) const {
  wire::TraceFile file = trace_file_of(trace_);
  add_files(file, files);
  file.rank = rank;
  file.size = size;
  file.host = host_name();
  file.clock_ns = clock_ns();
  for (wire::TraceEvent& event : file.events) {
    if (event.peer >= size) event.peer = wire::TraceEvent::no_peer;  // any rank
  }
  const std::string path = folder_ + "/rank-" + std::to_string(rank) + ".trace";
  const base::Error error = save(path, wire::to_text(file));
  if (error.failed()) std::fprintf(stderr, "fulmar: rank %u: %s\n", rank, error.text().c_str());
}

base::Error Tracing::save(const std::string& path, const std::string& text) const {
  constexpr mode_t folder_mode = 0777;
  constexpr mode_t file_mode = 0666;  // less the process's mask, as for files of the program
  const auto problem = [&](const std::string& what) {
    return failure(ErrorClass::other,
                   "FULMAR_TRACE=%s: no trace is kept: %s: %s; name a folder that can be written",
                   folder_.c_str(), what.c_str(), std::strerror(errno));
  };
  if (::mkdir(folder_.c_str(), folder_mode) != 0 && errno != EEXIST) return problem(folder_);
  const base::UniqueFd fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, file_mode));
  if (!fd.valid()) return problem(path);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t count = ::write(fd.get(), text.data() + done, text.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return problem(path);
    done += static_cast<std::size_t>(count);
  }
  return {};
}

}  // namespace fulmar::runtime
