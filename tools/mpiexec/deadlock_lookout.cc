// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/deadlock_lookout.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <utility>

namespace fulmar::mpiexec {
namespace {

/// So that a frame fits into an empty socket whatever the system's settings are.
constexpr std::size_t most_frame_bytes = std::size_t{64} << 10;

}  // namespace

/// Generations that are over are not watched any more.
wire::LaunchStillness DeadlockLookout::look_at_own(std::int64_t now_ns) {
  wire::LaunchStillness stillness;
  std::map<std::uint32_t, DeadlockWatch> watches;
  generations_.for_each([&](std::uint32_t generation, const JobSegment& segment) {
    auto watch = watches_.extract(generation);
    if (!watch.empty()) watches.insert(std::move(watch));
    const auto at =
        watches.try_emplace(generation, segment.records(), segment.header().job_id, times_);
    stillness.push_back(at.first->second.look(now_ns));
  });
  watches_ = std::move(watches);
  return stillness;
}

std::vector<std::string> DeadlockLookout::look(const LaunchServer& server, std::int64_t now_ns) {
  std::vector<WatchedJob> jobs;
  for (wire::JobStillness& own : look_at_own(now_ns)) {
    jobs.push_back({"this job", std::move(own)});
  }
  server.add_spawned_jobs(jobs);
  return finder_.find(jobs, server.gone_jobs(), now_ns);
}

void DeadlockLookout::tell(int report_fd, std::int64_t now_ns) {
  wire::LaunchStillness now = look_at_own(now_ns);
  int unread_bytes = 0;
  if (now == told_ || ::ioctl(report_fd, SIOCOUTQ, &unread_bytes) != 0 || unread_bytes != 0) return;
  std::string frame = encode_frame(wire::LaunchKind::stillness, 0, encode_body(now));
  if (frame.size() > most_frame_bytes) {
    for (wire::JobStillness& job : now)
      job.lines = {"mpiexec:   of its waits there are too many to tell"};
    frame = encode_frame(wire::LaunchKind::stillness, 0, encode_body(now));
  }
  if (::send(report_fd, frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
    told_ = std::move(now);
}

}  // namespace fulmar::mpiexec
