// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/deadlock_finder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <optional>

#include "mpiexec/clock.h"

namespace fulmar::mpiexec {
namespace {

using State = wire::JobStillness::State;

/// Jobs that wait for each other only, by their places among the watched ones.
using Group = std::vector<std::size_t>;

std::optional<std::size_t> place_of(std::span<const WatchedJob> jobs, std::uint32_t id) {
  const auto at = std::find_if(jobs.begin(), jobs.end(),
                               [&](const WatchedJob& job) { return job.stillness.job == id; });
  if (at == jobs.end()) return std::nullopt;
  return static_cast<std::size_t>(at - jobs.begin());
}

/// The job and all that may end a wait in it. Nothing where one of these moves or is not known.
std::optional<Group> group_of(std::span<const WatchedJob> jobs, const std::set<std::uint32_t>& gone,
                              std::size_t first) {
  Group group = {first};
  for (std::size_t next = 0; next < group.size(); ++next) {
    const wire::JobStillness& job = jobs[group[next]].stillness;
    if (job.state == State::moving || job.needs_more) return std::nullopt;
    for (const std::uint32_t id : job.needs) {
      const auto place = place_of(jobs, id);
      if (!place && !gone.contains(id)) return std::nullopt;
      if (place && std::find(group.begin(), group.end(), *place) == group.end()) {
        group.push_back(*place);
      }
    }
  }
  std::sort(group.begin(), group.end());
  std::erase_if(group, [&](std::size_t at) { return jobs[at].stillness.state == State::left; });
  return group;
}

/// Each rank has looked twice since all of them have waited.
bool is_sure(std::span<const WatchedJob> jobs, const Group& group) {
  std::int64_t noted = 0;
  std::int64_t checked = INT64_MAX;
  for (const std::size_t at : group) {
    noted = std::max(noted, jobs[at].stillness.noted_ns);
    checked = std::min(checked, jobs[at].stillness.checked_ns);
  }
  return checked >= noted;
}

std::string names_of(std::span<const WatchedJob> jobs, const Group& group) {
  std::string text;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (i > 0) text += i + 1 == group.size() ? " and " : ", ";
    text += jobs[group[i]].name;
  }
  return text;
}

std::string id_text(std::uint32_t id) {
  std::array<char, 12> text{};
  std::snprintf(text.data(), text.size(), "%08x", id);
  return text.data();
}

std::vector<std::string> explain(std::span<const WatchedJob> jobs, const Group& group,
                                 std::int64_t now_ns) {
  std::int64_t since = 0;
  for (const std::size_t at : group) since = std::max(since, jobs[at].stillness.since_ns);
  std::vector<std::string> lines = {
      "mpiexec: deadlock: nothing has moved in " + names_of(jobs, group) + " for " +
      std::to_string((now_ns - since) / ns_per_s) + " s, and every rank in MPI waits"};
  for (const std::size_t at : group) {
    const wire::JobStillness& job = jobs[at].stillness;
    if (group.size() > 1) {
      lines.push_back("mpiexec:   in " + jobs[at].name + ", job " + id_text(job.job) + ":");
    }
    lines.insert(lines.end(), job.lines.begin(), job.lines.end());
  }
  return lines;
}

}  // namespace

std::vector<std::string> DeadlockFinder::find(std::span<const WatchedJob> jobs,
                                              const std::set<std::uint32_t>& gone,
                                              std::int64_t now_ns) {
  std::vector<std::string> lines;
  std::map<std::uint32_t, std::int64_t> reported;
  for (std::size_t at = 0; at < jobs.size(); ++at) {
    const wire::JobStillness& job = jobs[at].stillness;
    if (job.state != State::standing) continue;
    const auto known = reported_.find(job.job);
    if (known == reported_.end() || known->second != job.noted_ns) {
      const auto group = group_of(jobs, gone, at);
      if (!group || !is_sure(jobs, *group)) continue;
      for (std::string& line : explain(jobs, *group, now_ns)) lines.push_back(std::move(line));
      for (const std::size_t other : *group) {
        reported_[jobs[other].stillness.job] = jobs[other].stillness.noted_ns;
      }
    }
    reported.emplace(job.job, job.noted_ns);
  }
  reported_ = std::move(reported);
  return lines;
}

}  // namespace fulmar::mpiexec
