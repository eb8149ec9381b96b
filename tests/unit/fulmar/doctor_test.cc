// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <nlohmann/json.hpp>

#include "fabric/tcp/endpoint.h"
#include "fulmar/doctor/child.h"
#include "fulmar/doctor/gather.h"
#include "fulmar/doctor/judge.h"
#include "fulmar/doctor/loops.h"
#include "fulmar/doctor/show.h"

namespace fulmar::doctor {
namespace {

using wire::AddressKind;
constexpr std::uint64_t gib = std::uint64_t{1} << 30;

/// A machine without a fault.
Facts sound() {
  Facts facts;
  facts.host = "node0";
  facts.network.addresses = {
      {"eth0", "10.0.0.1/24", AddressKind::ordinary, true, AddressFacts::Loop::reached, 0.3, ""},
      {"lo", "127.0.0.1/8", AddressKind::loopback, true, AddressFacts::Loop::reached, 0.2, ""}};
  facts.network.listens_at = "port 4711";
  facts.network.crypto_library = "libsodium.so.23";
  facts.network.name = {"node0", NameFacts::Leads::here, "10.0.0.1", 0.01};
  facts.limits.files = {1024, 4096};
  facts.limits.processors = 4;
  facts.limits.processors_online = 4;
  facts.limits.memory_free = 8 * gib;
  facts.launcher.started_by = "no launcher";
  facts.launcher.own_mpiexec = facts.launcher.first_mpiexec = "/opt/fulmar/bin/mpiexec";
  facts.launcher.first_is_own = true;
  facts.launcher.managers = {{"mpiexec.hydra", "/usr/bin/mpiexec.hydra", "Hydra 4.0"}};
  facts.launcher.pmix = {"libpmix.so.2", "PMIx 4.2", ""};
  return facts;
}

Finding finding_of(const Facts& facts, const std::string& name) {
  for (const Finding& finding : judge(facts)) {
    if (finding.name == name) {
      return finding;
    }
  }
  ADD_FAILURE() << "nothing about " << name;
  return {};
}

/// A remedy stands behind all but ok, and nowhere else.
void expect_remedies(const Facts& facts) {
  for (const Finding& finding : judge(facts)) {
    EXPECT_EQ(finding.verdict == Verdict::ok, finding.remedy.empty()) << finding.name;
    EXPECT_FALSE(finding.found.empty()) << finding.name;
  }
}

TEST(Doctor, A_sound_machine_has_no_fault) {
  EXPECT_EQ(worst_of(judge(sound())), Verdict::ok);
  expect_remedies(sound());
}

TEST(Doctor, Every_kind_of_address_is_judged) {
  Facts facts = sound();
  AddressFacts& address = facts.network.addresses[0];
  address.kind = AddressKind::bridge;
  EXPECT_EQ(finding_of(facts, "eth0").verdict, Verdict::note);
  EXPECT_NE(finding_of(facts, "eth0").remedy.find("^eth0"), std::string::npos);
  EXPECT_EQ(finding_of(facts, "other hosts").verdict, Verdict::warn);
  address.kind = AddressKind::idle;
  EXPECT_NE(finding_of(facts, "eth0").found.find("no carrier"), std::string::npos);
  address.kind = AddressKind::link_local;
  EXPECT_EQ(finding_of(facts, "eth0").verdict, Verdict::ok);
  address.kind = AddressKind::tunnel;
  EXPECT_EQ(finding_of(facts, "other hosts").verdict, Verdict::ok);
  expect_remedies(facts);
}

TEST(Doctor, An_address_that_does_not_answer_fails_if_others_are_told_of_it) {
  Facts facts = sound();
  AddressFacts& address = facts.network.addresses[0];
  address.loop = AddressFacts::Loop::failed;
  address.problem = "no answer";
  EXPECT_EQ(finding_of(facts, "eth0").verdict, Verdict::fail);
  EXPECT_NE(finding_of(facts, "eth0").found.find("no answer"), std::string::npos);
  EXPECT_NE(finding_of(facts, "eth0").remedy.find("firewall"), std::string::npos);
  address.told = false;
  EXPECT_EQ(finding_of(facts, "eth0").verdict, Verdict::note);
  EXPECT_NE(finding_of(facts, "eth0").found.find("not told"), std::string::npos);
  facts.network.addresses.pop_back();
  EXPECT_EQ(finding_of(facts, "eth0").remedy, "ip link set lo up");
}

TEST(Doctor, Without_an_address_jobs_of_this_host_work) {
  Facts facts = sound();
  facts.network.addresses.clear();
  facts.network.open_problem = "FULMAR_TCP_CONGESTION=x: there is no such thing";
  EXPECT_EQ(finding_of(facts, "other hosts").verdict, Verdict::fail);
  EXPECT_NE(finding_of(facts, "other hosts").remedy.find("FULMAR_TCP_CONGESTION"),
            std::string::npos);
  facts.network.open_problem = "no address to listen on";
  EXPECT_EQ(finding_of(facts, "other hosts").verdict, Verdict::warn);
  facts.network.interfaces = "eth7";
  EXPECT_EQ(finding_of(facts, "other hosts").verdict, Verdict::fail);
  EXPECT_NE(finding_of(facts, "other hosts").remedy.find("FULMAR_TCP_INTERFACES"),
            std::string::npos);
}

TEST(Doctor, Without_a_library_nothing_is_authenticated) {
  Facts facts = sound();
  facts.network.crypto_library = "";
  facts.network.crypto_problem = "no usable library";
  EXPECT_EQ(finding_of(facts, "authentication").verdict, Verdict::warn);
  EXPECT_EQ(finding_of(facts, "other hosts").remedy, "apt install libsodium23");
}

TEST(Doctor, Host_names) {
  using Leads = NameFacts::Leads;
  Facts facts = sound();
  NameFacts& name = facts.network.name;
  const auto verdict = [&](Leads leads) {
    name.leads = leads;
    expect_remedies(facts);
    return finding_of(facts, "host name").verdict;
  };
  EXPECT_EQ(verdict(Leads::here), Verdict::ok);
  EXPECT_EQ(verdict(Leads::loopback), Verdict::note);
  EXPECT_EQ(verdict(Leads::nowhere), Verdict::note);
  EXPECT_EQ(verdict(Leads::elsewhere), Verdict::warn);
  EXPECT_EQ(verdict(Leads::late), Verdict::warn);
  name.seconds = 3;
  EXPECT_EQ(verdict(Leads::here), Verdict::warn);
  name = {"localhost", Leads::here, "10.0.0.1", 0};
  EXPECT_EQ(verdict(Leads::here), Verdict::warn);
}

TEST(Doctor, Open_files) {
  Facts facts = sound();
  const auto finding = [&](std::optional<std::uint64_t> soft, std::optional<std::uint64_t> hard) {
    facts.limits.files = {soft, hard};
    return finding_of(facts, "open files");
  };
  EXPECT_EQ(finding(20, 20).verdict, Verdict::fail);
  EXPECT_NE(finding(20, 20).remedy.find("limits.conf"), std::string::npos);
  EXPECT_EQ(finding(128, 4096).verdict, Verdict::warn);
  EXPECT_EQ(finding(128, 4096).remedy, "ulimit -n 4096");
  EXPECT_EQ(finding(std::nullopt, std::nullopt).verdict, Verdict::ok);
}

TEST(Doctor, Sizes_of_files_and_memory) {
  Facts facts = sound();
  facts.limits.file_size = {1U << 20, std::nullopt};
  EXPECT_EQ(finding_of(facts, "file size").verdict, Verdict::fail);
  facts.limits.file_size = {64U << 20, std::nullopt};
  EXPECT_EQ(finding_of(facts, "file size").verdict, Verdict::note);
  facts.limits.group_free = 100U << 20;
  EXPECT_EQ(finding_of(facts, "memory").verdict, Verdict::warn);
  EXPECT_NE(finding_of(facts, "memory").remedy.find("memory.max"), std::string::npos);
  facts.limits.group_free = 100 * gib;
  EXPECT_EQ(finding_of(facts, "memory").verdict, Verdict::ok);
  facts.limits.strict_commit = true;
  EXPECT_EQ(finding_of(facts, "overcommit").verdict, Verdict::warn);
  expect_remedies(facts);
}

TEST(Doctor, Address_space) {
  Facts facts = sound();
  const auto finding = [&](std::uint64_t limit) {
    facts.limits.address_space = {limit, limit};
    expect_remedies(facts);
    return finding_of(facts, "address space");
  };
  constexpr std::uint64_t mib = std::uint64_t{1} << 20;
  EXPECT_EQ(finding(4 * gib).verdict, Verdict::ok);
  EXPECT_EQ(finding(gib).verdict, Verdict::ok);
  // Four ranks share 170 MiB where they may.
  EXPECT_EQ(finding(256 * mib).verdict, Verdict::note);
  EXPECT_NE(finding(256 * mib).found.find("are left for each program"), std::string::npos);
  EXPECT_EQ(finding(30 * mib).verdict, Verdict::fail);
  EXPECT_NE(finding(30 * mib).remedy.find("limits.conf"), std::string::npos);
  facts.limits.processors = facts.limits.processors_online = 256;
  EXPECT_EQ(finding(4 * gib).verdict, Verdict::note);
  EXPECT_EQ(finding(200 * mib).verdict, Verdict::fail) << "each maps 1 MiB of every other";
}

TEST(Doctor, Processes_count_where_a_control_group_counts_them) {
  Facts facts = sound();
  facts.limits.tasks_free = 1000;
  EXPECT_EQ(finding_of(facts, "processes").verdict, Verdict::ok);
  facts.limits.tasks_free = 31;
  EXPECT_EQ(finding_of(facts, "processes").verdict, Verdict::warn);
  EXPECT_NE(finding_of(facts, "processes").remedy.find("pids.max"), std::string::npos);
  facts.limits.tasks_free = 2;
  EXPECT_EQ(finding_of(facts, "processes").verdict, Verdict::fail);
  expect_remedies(facts);
}

TEST(Doctor, Locked_memory_is_for_rdma_only) {
  Facts facts = sound();
  facts.limits.locked_memory = {64U << 10, 64U << 10};
  EXPECT_EQ(finding_of(facts, "locked memory").verdict, Verdict::ok);
  facts.limits.rdma_devices = true;
  EXPECT_EQ(finding_of(facts, "locked memory").verdict, Verdict::warn);
  EXPECT_EQ(finding_of(facts, "libfabric").verdict, Verdict::note);
  expect_remedies(facts);
}

TEST(Doctor, A_quota_of_processors_is_told) {
  Facts facts = sound();
  facts.limits.processor_quota = 1.5;
  EXPECT_EQ(finding_of(facts, "processors").verdict, Verdict::note);
  facts.limits.processor_quota = 4;
  EXPECT_EQ(finding_of(facts, "processors").verdict, Verdict::ok);
}

TEST(Doctor, What_the_kernel_denies) {
  Facts facts = sound();
  facts.kernel.memory_file_problem = "memfd_create: Function not implemented";
  EXPECT_EQ(finding_of(facts, "memory files").verdict, Verdict::fail);
  facts.kernel.copy_error = EPERM;
  facts.kernel.filtered = true;
  EXPECT_NE(finding_of(facts, "single copies").remedy.find("seccomp"), std::string::npos);
  facts.kernel.ptrace_scope = 3;
  EXPECT_NE(finding_of(facts, "single copies").remedy.find("yama"), std::string::npos);
  facts.kernel.copy_error = ENOSYS;
  EXPECT_NE(finding_of(facts, "single copies").remedy.find("CONFIG_"), std::string::npos);
  facts.kernel.barrier_error = EPERM;
  EXPECT_EQ(finding_of(facts, "membarrier").verdict, Verdict::note);
  expect_remedies(facts);
}

TEST(Doctor, Launchers) {
  Facts facts = sound();
  LauncherFacts& launcher = facts.launcher;
  launcher.first_is_own = false;
  launcher.first_mpiexec = "/usr/bin/mpiexec";
  EXPECT_EQ(finding_of(facts, "mpiexec").remedy, "export PATH=/opt/fulmar/bin:$PATH");
  launcher.own_mpiexec = "";
  EXPECT_EQ(finding_of(facts, "mpiexec").verdict, Verdict::note);
  launcher.pmix = {"", "", "libpmix.so.2: no such file"};
  EXPECT_EQ(finding_of(facts, "libpmix").verdict, Verdict::ok);
  launcher.managers = {{"prterun", "/usr/bin/prterun", "3.0"}};
  EXPECT_EQ(finding_of(facts, "libpmix").verdict, Verdict::note);
  launcher.pmix.problem = "FULMAR_PMIX_LIBRARY: /x: no such file";
  EXPECT_EQ(finding_of(facts, "libpmix").verdict, Verdict::warn);
  launcher.managers.clear();
  EXPECT_EQ(finding_of(facts, "several hosts").verdict, Verdict::note);
  launcher.problem = "SLURM_STEP_NUM_TASKS=4 says that ...";
  EXPECT_EQ(finding_of(facts, "environment").verdict, Verdict::fail);
  expect_remedies(facts);
}

TEST(Doctor, Settings_that_cannot_be_read_are_named) {
  Facts facts = sound();
  facts.complaints = {"there is no option FULMAR_FABRICS; did you mean FULMAR_FABRIC?"};
  EXPECT_EQ(finding_of(facts, "FULMAR_FABRICS").verdict, Verdict::warn);
}

TEST(Doctor, Text_and_json_tell_the_same) {
  Facts facts = sound();
  facts.limits.files = {16, 16};
  const std::vector<Finding> findings = judge(facts);
  const std::string text = text_of(facts, findings);
  EXPECT_NE(text.find("  fail  open files"), std::string::npos) << text;
  EXPECT_NE(text.find("-> ulimit -n 4096"), std::string::npos);
  EXPECT_NE(text.find("0 warn, 1 fail\n"), std::string::npos);
  const auto json = nlohmann::json::parse(json_of(facts, findings));
  EXPECT_EQ(json["findings"].size(), findings.size());
  EXPECT_EQ(json["counts"]["fail"], 1);
  EXPECT_EQ(json["host"], "node0");
}

TEST(AskChild, Answers_and_what_is_none) {
  constexpr std::uint64_t long_ns = 20'000'000'000;
  EXPECT_EQ(ask_child([] { return std::string("a\nb"); }, long_ns), "a\nb");
  EXPECT_EQ(ask_child([] { return std::string(); }, long_ns), "");
  const auto crash = [] {
    ::raise(SIGKILL);
    return std::string("never");
  };
  EXPECT_EQ(ask_child(crash, long_ns), std::nullopt);
  const auto hang = [] {
    ::pause();
    return std::string("never");
  };
  EXPECT_EQ(ask_child(hang, 50'000'000), std::nullopt);
}

TEST(Loops, The_loopback_is_reached) {
  fabric::tcp::LocalAddress local{*fabric::tcp::parse_address("127.0.0.1"), "lo"};
  local.address.kind = AddressKind::loopback;
  const auto loops = try_loops(std::span(&local, 1), 20'000'000'000);
  ASSERT_EQ(loops.size(), 1U);
  if (loops[0].problem.find("no usable library") != std::string::npos) {
    GTEST_SKIP() << loops[0].problem;
  }
  EXPECT_EQ(loops[0].problem, "");
  EXPECT_GT(loops[0].ms, 0);
}

TEST(Loops, An_address_of_somebody_else_is_a_problem) {
  const fabric::tcp::LocalAddress local{*fabric::tcp::parse_address("203.0.113.7"), "none"};
  const auto loops = try_loops(std::span(&local, 1), 1'000'000'000);
  ASSERT_EQ(loops.size(), 1U);
  EXPECT_FALSE(loops[0].problem.empty());
}

TEST(Gather, This_machine_has_processors_and_memory) {
  const LimitFacts limits = gather_limits();
  EXPECT_GE(limits.processors, 1U);
  EXPECT_GE(limits.processors_online, limits.processors);
  EXPECT_GT(limits.memory_free, 0U);
  EXPECT_EQ(gather_kernel().memory_file_problem, "");
}

}  // namespace
}  // namespace fulmar::doctor
