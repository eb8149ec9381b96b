// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/doctor/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include "wire/node/job.h"
#include "wire/node/job_file.h"

namespace fulmar::doctor {

namespace {

constexpr std::uint64_t mib = 1U << 20;
/// The address space of a rank without what the ranks of its node share: code, objects, stacks, and
/// what the C library takes for the first messages.
constexpr std::uint64_t rank_address_bytes = 32 * mib;
/// What a rank needs with all that it keeps for messages.
constexpr std::uint64_t rank_bytes = 64 * mib;
/// Two ranks do not start with less (docs/troubleshooting.md).
constexpr std::uint64_t least_file_bytes = 5 * mib;
constexpr std::uint64_t least_files = 64;
constexpr std::uint64_t few_files = 256;
/// The program's own, those of the library (progress, changes of memory), and of libraries of
/// networks.
constexpr std::uint64_t tasks_per_rank = 8;
/// For mpiexec and two ranks.
constexpr std::uint64_t least_tasks = 3;
constexpr std::uint64_t least_locked_bytes = 1024 * mib;

Finding ok(const char* group, std::string name, std::string found) {
  return {group, std::move(name), Verdict::ok, std::move(found), {}};
}

std::string size_text(std::uint64_t bytes) {
  if (bytes >= 10 * 1024 * mib) {
    return fmt::format("{} GiB", bytes / (1024 * mib));
  }
  return bytes >= mib ? fmt::format("{} MiB", bytes / mib) : fmt::format("{} KiB", bytes / 1024);
}

std::string size_text(const std::optional<std::uint64_t>& bytes) {
  return bytes ? size_text(*bytes) : "unlimited";
}

/// "ulimit -n 4096", or how to raise the hard limit if that is lower.
std::string raise(const Limit& limit, std::uint64_t wanted, const std::string& command,
                  const char* setting) {
  if (!limit.hard || *limit.hard >= wanted) {
    return command;
  }
  return fmt::format("{} as root, or {} in /etc/security/limits.conf or the unit of the service",
                     command, setting);
}

Finding judge_files(const LimitFacts& facts) {
  constexpr std::uint64_t wanted = 4096;
  Finding finding = ok("limits", "open files",
                       facts.files.soft ? fmt::format("{}", *facts.files.soft) : "unlimited");
  if (!facts.files.soft || *facts.files.soft >= few_files) {
    return finding;
  }
  const bool too_few = *facts.files.soft < least_files;
  finding.verdict = too_few ? Verdict::fail : Verdict::warn;
  finding.found += too_few ? "; mpiexec and ranks need more to start"
                           : "; a rank needs one for each rank of other hosts that it talks to";
  finding.remedy = raise(facts.files, wanted, "ulimit -n 4096", "nofile");
  return finding;
}

Finding judge_file_size(const LimitFacts& facts) {
  const auto limit = facts.file_size.soft;
  Finding finding = ok("limits", "file size", size_text(limit));
  const std::uint64_t wanted =
      wire::total_bytes_for(facts.processors, wire::area_bytes_for(facts.processors));
  if (!limit || *limit >= wanted) {
    return finding;
  }
  const bool too_small = *limit < least_file_bytes;
  finding.verdict = too_small ? Verdict::fail : Verdict::note;
  finding.found += too_small ? "; too small for the memory that ranks of a node share"
                             : "; the memory that ranks of a node share is made smaller";
  finding.remedy = raise(facts.file_size, wanted, "ulimit -f unlimited", "fsize");
  return finding;
}

Finding judge_locked_memory(const LimitFacts& facts) {
  const auto limit = facts.locked_memory.soft;
  Finding finding = ok("limits", "locked memory", size_text(limit));
  if (!facts.rdma_devices) {
    finding.found += "; not needed without an RDMA adapter";
  } else if (limit && *limit < least_locked_bytes) {
    finding.verdict = Verdict::warn;
    finding.found += "; RDMA adapters need more";
    finding.remedy =
        raise(facts.locked_memory, least_locked_bytes, "ulimit -l unlimited", "memlock");
  }
  return finding;
}

/// For one rank on each processor: they share less where the limit is low (wire/node/job_file.h).
Finding judge_address_space(const LimitFacts& facts) {
  const auto limit = facts.address_space.soft;
  Finding finding = ok("limits", "address space", size_text(limit));
  if (!limit) {
    return finding;
  }
  const std::uint32_t ranks = facts.processors;
  const std::uint64_t full = wire::area_bytes_for(ranks);
  const std::uint64_t given = wire::area_bytes_within(ranks, full, *limit);
  const std::uint64_t needed = wire::total_bytes_for(ranks, given) + rank_address_bytes;
  if (given == full && *limit >= needed) {
    finding.found += fmt::format("; {} left for each program", size_text(*limit - needed));
    return finding;
  }
  const bool too_little = *limit < needed;
  finding.verdict = too_little ? Verdict::fail : Verdict::note;
  finding.found +=
      too_little ? fmt::format("; each of {} ranks needs {} to start", ranks, size_text(needed))
                 : fmt::format(
                       "; the memory that ranks of a node share is made smaller, and {} are left "
                       "for each program",
                       size_text(*limit - needed));
  const std::uint64_t wanted =
      wire::total_bytes_for(ranks, full) * wire::address_space_fraction + rank_address_bytes;
  finding.remedy = raise(facts.address_space, wanted, "ulimit -v unlimited", "as");
  return finding;
}

Finding judge_memory(const LimitFacts& facts) {
  const bool by_group = facts.group_free && *facts.group_free < facts.memory_free;
  const std::uint64_t free_bytes = by_group ? *facts.group_free : facts.memory_free;
  Finding finding = ok("limits", "memory",
                       size_text(free_bytes) + (by_group ? " free in the control group" : " free"));
  if (free_bytes < rank_bytes * facts.processors) {
    finding.verdict = Verdict::warn;
    finding.found +=
        fmt::format("; {} ranks may use {} each", facts.processors, size_text(rank_bytes));
    finding.remedy = by_group ? "raise memory.max of the control group (docker run --memory), or "
                                "lower FULMAR_MEMORY"
                              : "start fewer ranks, or lower FULMAR_MEMORY";
  }
  return finding;
}

Finding judge_commit(const LimitFacts& facts) {
  Finding finding =
      ok("limits", "overcommit", size_text(facts.commit_free) + " left (vm.overcommit_memory=2)");
  if (facts.commit_free < rank_bytes * facts.processors) {
    finding.verdict = Verdict::warn;
    finding.found += "; allocations of ranks may fail";
    finding.remedy = "sysctl vm.overcommit_memory=0, or a larger vm.overcommit_ratio";
  }
  return finding;
}

/// Where the control groups count them.
Finding judge_tasks(const LimitFacts& facts) {
  const std::uint64_t left = facts.tasks_free.value_or(0);
  Finding finding = ok("limits", "processes", fmt::format("{} more in the control group", left));
  if (left < tasks_per_rank * facts.processors) {
    finding.verdict = left < least_tasks ? Verdict::fail : Verdict::warn;
    finding.found += fmt::format("; a rank is a process with up to {} threads", tasks_per_rank);
    finding.remedy = "raise pids.max of the control group (docker run --pids-limit)";
  }
  return finding;
}

Finding judge_processors(const LimitFacts& facts) {
  Finding finding = ok("limits", "processors", fmt::format("{}", facts.processors));
  if (facts.processors < facts.processors_online) {
    finding.found += fmt::format(" of {}", facts.processors_online);
  }
  if (facts.processor_quota && *facts.processor_quota < facts.processors) {
    finding.verdict = Verdict::note;
    finding.found +=
        fmt::format(", but time for {:.1f} (cpu.max of the control group)", *facts.processor_quota);
    finding.remedy = "start no more ranks than that, or raise the quota (docker run --cpus)";
  }
  return finding;
}

/// The first name of an option in a text.
std::string option_in(const std::string& text) {
  const std::size_t begin = std::min(text.find("FULMAR_"), text.size());
  const std::size_t end = text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_", begin);
  const std::string name = text.substr(begin, end - begin);
  return name.empty() ? "options" : name;
}

std::string copy_remedy(const KernelFacts& facts) {
  if (facts.copy_error == ENOSYS) {
    return "a kernel with CONFIG_CROSS_MEMORY_ATTACH";
  }
  if (facts.ptrace_scope >= 2) {
    return "sysctl kernel.yama.ptrace_scope=1";
  }
  if (facts.filtered) {
    return "let the container's seccomp profile allow process_vm_readv (docker run "
           "--cap-add=SYS_PTRACE)";
  }
  return "run all ranks as one user, in one process name space";
}

}  // namespace

std::vector<Finding> judge_limits(const LimitFacts& facts) {
  std::vector<Finding> findings = {judge_processors(facts),    judge_memory(facts),
                                   judge_files(facts),         judge_file_size(facts),
                                   judge_address_space(facts), judge_locked_memory(facts)};
  if (facts.strict_commit) {
    findings.push_back(judge_commit(facts));
  }
  if (facts.tasks_free) {
    findings.push_back(judge_tasks(facts));
  }
  return findings;
}

std::vector<Finding> judge_kernel(const KernelFacts& facts) {
  Finding file = ok("kernel", "memory files", "work (memfd_create)");
  if (!facts.memory_file_problem.empty()) {
    file.verdict = Verdict::fail;
    file.found = facts.memory_file_problem + "; ranks of a node share memory that way";
    file.remedy = "a kernel from 3.17 on, or a sandbox that allows memfd_create";
  }
  Finding copy = ok("kernel", "single copies", "work (process_vm_readv between ranks)");
  if (facts.copy_error != 0) {
    copy.verdict = Verdict::warn;
    copy.found = fmt::format("process_vm_readv: {}; long messages are copied twice",
                             std::strerror(facts.copy_error));
    copy.remedy = copy_remedy(facts);
  }
  Finding barrier = ok("kernel", "membarrier", "works");
  if (facts.barrier_error != 0) {
    barrier.verdict = Verdict::note;
    barrier.found =
        fmt::format("{}; each packet costs a fence more", std::strerror(facts.barrier_error));
    barrier.remedy = "a kernel from 4.16 on, or a sandbox that allows membarrier";
  }
  return {file, copy, barrier};
}

std::vector<Finding> judge(const Facts& facts) {
  std::vector<Finding> all;
  const auto add = [&](std::vector<Finding> more) {
    all.insert(all.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  };
  add(judge_network(facts.network));
  add(judge_rdma(facts.rdma));
  add(judge_limits(facts.limits));
  add(judge_kernel(facts.kernel));
  add(judge_launchers(facts));
  for (const std::string& complaint : facts.complaints) {
    all.push_back({"settings", option_in(complaint), Verdict::warn, complaint,
                   "correct or unset it; fulmar info lists all options"});
  }
  return all;
}

const char* name_of(Verdict verdict) noexcept {
  switch (verdict) {
    case Verdict::ok:
      return "ok";
    case Verdict::note:
      return "note";
    case Verdict::warn:
      return "warn";
    case Verdict::fail:
      return "fail";
  }
  return "";
}

Verdict worst_of(std::span<const Finding> findings) noexcept {
  Verdict worst = Verdict::ok;
  for (const Finding& finding : findings) {
    worst = std::max(worst, finding.verdict);
  }
  return worst;
}

}  // namespace fulmar::doctor
