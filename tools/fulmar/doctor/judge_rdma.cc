// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "fulmar/doctor/judge.h"

namespace fulmar::doctor {

namespace {

using rdma::Device;
using rdma::Gid;
using rdma::Port;

constexpr const char* group = "rdma";
/// The largest payload of a packet, and the MTU of an interface that lets it through.
constexpr std::uint32_t full_mtu = 4096;
constexpr std::uint32_t full_interface_mtu = 4200;

Finding judge_absence(const RdmaFacts& facts) {
  Finding finding{group, "RDMA devices", Verdict::ok, "none", {}};
  if (!facts.support.adapters.empty()) {
    finding.verdict = Verdict::warn;
    finding.found += fmt::format(", but the InfiniBand adapter at {} has no driver",
                                 fmt::join(facts.support.adapters, ", "));
    finding.remedy =
        fmt::format("modprobe what lspci -k -s {} names, like mlx5_ib", facts.support.adapters[0]);
  } else if (facts.asked_for) {
    finding.verdict = Verdict::warn;
    finding.found += facts.support.core
                         ? ", but FULMAR_FABRIC asks for verbs"
                         : ", and ib_core is not loaded, but FULMAR_FABRIC asks for verbs";
    finding.remedy =
        "load the driver of the adapter; one made of software is rdma_rxe: "
        "modprobe rdma_rxe && rdma link add rxe0 type rxe netdev eth0";
  } else {
    finding.found += facts.support.core ? ", though ib_core is loaded" : " (ib_core is not loaded)";
  }
  return finding;
}

/// Whether any port can be used: one that cannot matters less then.
enum class Others : std::uint8_t { active, none };

void judge_down(Finding& finding, const Port& port, Others others) {
  finding.verdict = others == Others::active ? Verdict::note : Verdict::warn;
  if (port.state == Port::State::waiting) {
    finding.remedy = "start a subnet manager in the network: opensm on a host, or that of a switch";
  } else if (!port.interface.empty() && !port.interface_up) {
    finding.remedy = "ip link set " + port.interface + " up";
  } else {
    finding.remedy = "look at the cable and at the other end of it";
  }
}

/// What an active port of RoCE is reached by.
void judge_roce(Finding& finding, const Port& port) {
  const Gid* const gid = port.best_gid();
  const std::string interface = port.interface.empty() ? "its interface" : port.interface;
  if (gid == nullptr) {
    finding.verdict = Verdict::warn;
    finding.found += "; nobody reaches it, it has no address";
    finding.remedy = "ip address add ADDRESS/BITS dev " + interface;
  } else if (gid->kind != Gid::Kind::roce_v2) {
    finding.verdict = Verdict::note;
    finding.found += "; RoCE v1 reaches hosts of the same Ethernet only";
    finding.remedy = "an adapter and a driver with RoCE v2";
  } else if (!gid->is_ipv4()) {
    finding.verdict = Verdict::note;
    finding.found += "; it has no IPv4 address, and may reach hosts of the same Ethernet only";
    finding.remedy = "ip address add ADDRESS/BITS dev " + interface;
  } else if (port.mtu() != 0 && port.mtu() < full_mtu) {
    finding.verdict = Verdict::note;
    finding.found += fmt::format("; packets could carry {} bytes", full_mtu);
    finding.remedy = fmt::format("ip link set {} mtu {}, on all hosts and in the switches",
                                 interface, full_interface_mtu);
  }
}

Finding judge_port(const std::string& name, const Port& port, Others others) {
  Finding finding{group, name, Verdict::ok, {}, {}};
  finding.found = fmt::format("{}, {}", text_of(port.state), summary_of(port));
  if (port.state != Port::State::active) {
    if (!port.physical.empty()) {
      finding.found += ", the link says " + port.physical;
    }
    judge_down(finding, port, others);
  } else if (port.link == Port::Link::roce) {
    judge_roce(finding, port);
  }
  return finding;
}

Finding judge_errors(const std::string& name, const Port& port) {
  Finding finding{group, name + " errors", Verdict::note, "since the driver was loaded:", {}};
  for (const auto& [counter, count] : port.errors) {
    finding.found += fmt::format(" {} {}", counter, count);
  }
  finding.remedy = port.link == Port::Link::roce
                       ? "if they grow while jobs run: cables, and the switches' flow control"
                       : "if they grow while jobs run: cables and their ends";
  return finding;
}

/// Whether this process can open the device.
Finding judge_access(const Device& device, const RdmaFacts& facts) {
  Finding finding{
      group, device.name, Verdict::ok, "opened through /dev/infiniband/" + device.verbs, {}};
  for (const auto& [what, text] :
       {std::pair("driver", device.driver), std::pair("firmware", device.firmware)}) {
    finding.found += text.empty() ? "" : fmt::format(", {} {}", what, text);
  }
  const std::string file = "/dev/infiniband/" + device.verbs;
  const auto lack = [&](std::string found, std::string remedy) {
    finding.verdict = Verdict::warn;
    finding.found = std::move(found);
    finding.remedy = std::move(remedy);
  };
  if (device.verbs.empty()) {
    lack("programs cannot reach it: ib_uverbs is not loaded", "modprobe ib_uverbs");
  } else if (device.verbs_error == EACCES) {
    lack(file + ": Permission denied",
         fmt::format("chmod a+rw {0}, or a rule of udev that does it", file));
  } else if (device.verbs_error != 0) {
    lack(fmt::format("{}: {}", file, std::strerror(device.verbs_error)),
         fmt::format("in a container: docker run --device {}; else mknod, as udev does it", file));
  } else if (!facts.library.file.empty() && std::find(facts.usable.begin(), facts.usable.end(),
                                                      device.name) == facts.usable.end()) {
    lack("libibverbs has no driver for it", "apt install ibverbs-providers, or that of its maker");
  }
  return finding;
}

/// Whether the port that is asked for is there and can be used.
Finding judge_wish(const RdmaFacts& facts) {
  Finding finding{group, "FULMAR_VERBS_DEVICE", Verdict::ok, facts.wish, {}};
  std::vector<std::string> active;
  bool is_there = false;
  bool is_active = false;
  for (const Device& device : facts.devices) {
    for (const Port& port : device.ports) {
      const std::string name = fmt::format("{}:{}", device.name, port.number);
      const bool meant = facts.wish == device.name || facts.wish == name;
      const bool up = port.state == Port::State::active;
      if (up) active.push_back(name);
      is_there = is_there || meant;
      is_active = is_active || (meant && up);
    }
  }
  if (is_active) return finding;
  finding.verdict = Verdict::warn;
  finding.found += is_there ? ": no port of it is active" : ": there is no such device or port";
  finding.remedy = active.empty()
                       ? "unset FULMAR_VERBS_DEVICE, and bring up a port"
                       : fmt::format("unset FULMAR_VERBS_DEVICE, or FULMAR_VERBS_DEVICE={}",
                                     fmt::join(active, " or "));
  return finding;
}

}  // namespace

std::vector<Finding> judge_rdma(const RdmaFacts& facts) {
  if (facts.devices.empty()) {
    return {judge_absence(facts)};
  }
  Others others = Others::none;
  for (const Device& device : facts.devices) {
    for (const Port& port : device.ports) {
      others = port.state == Port::State::active ? Others::active : others;
    }
  }
  std::vector<Finding> findings;
  if (!facts.wish.empty()) findings.push_back(judge_wish(facts));
  for (const Device& device : facts.devices) {
    findings.push_back(judge_access(device, facts));
    for (const Port& port : device.ports) {
      const std::string name = fmt::format("{}:{}", device.name, port.number);
      findings.push_back(judge_port(name, port, others));
      if (port.state == Port::State::active && !facts.asked_for) {
        findings.back().found += "; ranks use it if FULMAR_FABRIC=shm,verbs";
      }
      if (!port.errors.empty()) {
        findings.push_back(judge_errors(name, port));
      }
    }
  }
  return findings;
}

}  // namespace fulmar::doctor
