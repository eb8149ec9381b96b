// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fmt/format.h>

#include <algorithm>

#include "fulmar/doctor/judge.h"

namespace fulmar::doctor {

namespace {

using wire::AddressKind;
using LoopState = AddressFacts::Loop;
using Leads = NameFacts::Leads;

/// A resolver that takes longer makes every start of a job slow.
constexpr double slow_s = 1;

const char* text_of(AddressKind kind) {
  switch (kind) {
    case AddressKind::tunnel:
      return "a tunnel";
    case AddressKind::bridge:
      return "a network inside this host (containers, virtual machines)";
    case AddressKind::idle:
      return "no carrier";
    case AddressKind::link_local:
      return "means something on its link only";
    case AddressKind::loopback:
      return "this host only";
    default:
      return "";
  }
}

bool leads_out(AddressKind kind) {
  return kind == AddressKind::ordinary || kind == AddressKind::tunnel;
}

/// A host reaches itself through the loopback, also at its other addresses.
enum class Loopback : std::uint8_t { up, missing };

Finding judge_address(const AddressFacts& facts, Loopback loopback) {
  Finding finding{"network", facts.interface, Verdict::ok, facts.address, {}};
  const auto add = [&](const std::string& text) {
    if (!text.empty()) {
      finding.found += ", " + text;
    }
  };
  add(text_of(facts.kind));
  add(facts.told ? "told to other ranks" : "not told to other ranks");
  if (facts.loop == LoopState::reached) {
    add(fmt::format("reached itself in {:.1f} ms", facts.loop_ms));
  }
  if (facts.kind == AddressKind::idle) {
    finding.verdict = Verdict::note;
    finding.remedy =
        "plug the cable in, or take the interface down: ip link set " + facts.interface + " down";
  } else if (facts.kind == AddressKind::bridge && facts.told) {
    finding.verdict = Verdict::note;
    finding.remedy = fmt::format("nothing has to be done; FULMAR_TCP_INTERFACES=^{} leaves it out",
                                 facts.interface);
  }
  if (facts.loop == LoopState::failed) {
    add("a process does not reach itself there: " + facts.problem);
    // Elsewhere packets may be dropped on purpose, and other addresses are tried as well.
    finding.verdict = facts.told && leads_out(facts.kind) ? Verdict::fail : Verdict::note;
    finding.remedy = loopback == Loopback::missing
                         ? "ip link set lo up"
                         : "let the firewall pass connections between ranks (FULMAR_TCP_PORTS "
                           "keeps them in a range), or leave it out: FULMAR_TCP_INTERFACES=^" +
                               facts.interface;
  }
  return finding;
}

/// Whether anything leads to other hosts.
Finding judge_reach(const NetworkFacts& facts) {
  const auto count = std::count_if(
      facts.addresses.begin(), facts.addresses.end(),
      [](const AddressFacts& address) { return address.told && leads_out(address.kind); });
  Finding finding{"network", "other hosts", Verdict::ok, {}, {}};
  if (facts.crypto_library.empty()) {
    finding.verdict = Verdict::warn;
    finding.found = "tcp is not used without authentication; jobs on this host work";
    finding.remedy = "apt install libsodium23";
  } else if (!facts.open_problem.empty()) {
    // Whoever names interfaces means something by it; else a machine may well be alone.
    const bool asked = !facts.interfaces.empty() || facts.open_problem.starts_with("FULMAR_");
    finding.verdict = asked ? Verdict::fail : Verdict::warn;
    finding.found = facts.open_problem;
    finding.remedy = !asked ? "jobs on this host work; for others, bring an interface up (ip link)"
                            : "correct or unset FULMAR_TCP_INTERFACES, FULMAR_TCP_PORTS and "
                              "FULMAR_TCP_CONGESTION";
  } else if (count == 0) {
    finding.verdict = Verdict::warn;
    finding.found = "no address leads to them; jobs on this host work";
    finding.remedy = facts.interfaces.empty() ? "bring an interface up: ip link, ip address"
                                              : "FULMAR_TCP_INTERFACES=" + facts.interfaces +
                                                    " leaves them out: change it";
  } else {
    finding.found = fmt::format("tcp listens at {} and tells {} address{} that may lead here",
                                facts.listens_at, count, count == 1 ? "" : "es");
  }
  if (facts.left_out > 0) {
    finding.found += fmt::format("; {} more addresses were not looked at", facts.left_out);
  }
  return finding;
}

Finding judge_crypto(const NetworkFacts& facts) {
  Finding finding{"network", "authentication", Verdict::ok, facts.crypto_library, {}};
  if (facts.crypto_library.empty()) {
    finding.verdict = Verdict::warn;
    finding.found = facts.crypto_problem + "; jobs on several hosts do not start";
    finding.remedy = "apt install libsodium23";
  }
  return finding;
}

Finding judge_name(const NameFacts& facts) {
  Finding finding{"network", "host name", Verdict::ok, facts.name, {}};
  const std::string hosts_line = fmt::format(
      "a line for {} with its address in /etc/hosts, or in the name server", facts.name);
  if (facts.name.empty() || facts.name.starts_with("localhost")) {
    finding.verdict = Verdict::warn;
    finding.found = facts.name.empty() ? "none" : facts.name + " is the name of every host";
    finding.remedy = "hostnamectl set-hostname NAME, with a name of its own for each host";
    return finding;
  }
  switch (facts.leads) {
    case Leads::here:
      finding.found += " is " + facts.addresses;
      break;
    case Leads::loopback:
      finding.verdict = Verdict::note;
      finding.found += " is " + facts.addresses +
                       ", which other hosts cannot use; launchers may tell it to them";
      finding.remedy = "nothing on one host; for several, " + hosts_line;
      break;
    case Leads::elsewhere:
      finding.verdict = Verdict::warn;
      finding.found += " is " + facts.addresses + ", which is no address of this host";
      finding.remedy = hosts_line;
      break;
    case Leads::nowhere:
      finding.verdict = Verdict::note;
      finding.found += " has no address; Fulmar needs none, launchers for several hosts may";
      finding.remedy = hosts_line;
      break;
    case Leads::late:
      finding.verdict = Verdict::warn;
      finding.found += fmt::format(": no answer within {:.0f} s", facts.seconds);
      finding.remedy = "correct /etc/resolv.conf, or " + hosts_line;
      break;
  }
  if (facts.leads != Leads::late && facts.seconds > slow_s) {
    finding.verdict = std::max(finding.verdict, Verdict::warn);
    finding.found += fmt::format("; looking that up took {:.1f} s", facts.seconds);
    finding.remedy = "correct /etc/resolv.conf, or " + hosts_line;
  }
  return finding;
}

}  // namespace

std::vector<Finding> judge_network(const NetworkFacts& facts) {
  std::vector<Finding> findings;
  const bool has_loopback = std::any_of(
      facts.addresses.begin(), facts.addresses.end(),
      [](const AddressFacts& address) { return address.kind == AddressKind::loopback; });
  for (const AddressFacts& address : facts.addresses) {
    findings.push_back(judge_address(address, has_loopback ? Loopback::up : Loopback::missing));
  }
  findings.push_back(judge_reach(facts));
  findings.push_back(judge_crypto(facts));
  findings.push_back(judge_name(facts.name));
  return findings;
}

}  // namespace fulmar::doctor
