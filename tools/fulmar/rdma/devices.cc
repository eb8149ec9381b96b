// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/rdma/devices.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "base/os/fd.h"
#include "base/os/processors.h"

namespace fulmar::rdma {

namespace {

namespace fs = std::filesystem;

/// Counters that stay 0 where all is well; others count traffic.
constexpr std::array error_counters = {
    "symbol_error",          "link_error_recovery",
    "link_downed",           "port_rcv_errors",
    "packet_seq_err",        "excessive_buffer_overrun_errors",
    "local_ack_timeout_err", "local_link_integrity_errors",
    "rnr_nak_retry_err",     "retry_exceeded_err",
};

/// The first line of a file; empty if it cannot be read.
std::string line_of(const std::string& file) {
  std::string text = base::read_small_file(file);
  text.resize(std::min(text.find('\n'), text.size()));
  return text;
}

/// "4: ACTIVE" without the number.
std::string word_of(const std::string& file) {
  const std::string text = line_of(file);
  const std::size_t colon = text.find(": ");
  return colon == std::string::npos ? text : text.substr(colon + 2);
}

/// 0 where there is none. "0x1a" is a number, too.
std::uint64_t number_in(const std::string& text) {
  const bool hex = text.starts_with("0x");
  std::uint64_t value = 0;
  std::from_chars(text.data() + (hex ? 2 : 0), text.data() + text.size(), value, hex ? 16 : 10);
  return value;
}

/// The names in a folder, sorted: numbers by their value.
std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code problem;
  for (fs::directory_iterator entry(folder, problem), end; !problem && entry != end;
       entry.increment(problem)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  return names;
}

/// What a link leads to, by its last name; empty if there is none.
std::string target_of(const std::string& link) {
  std::error_code problem;
  return fs::read_symlink(link, problem).filename().string();
}

/// A GID as the kernel prints it, eight groups of four digits; nothing for an empty one.
std::optional<std::string> gid_text(const std::string& groups) {
  in6_addr address{};
  constexpr in6_addr none{};
  if (::inet_pton(AF_INET6, groups.c_str(), &address) != 1 ||
      std::equal(std::begin(address.s6_addr), std::end(address.s6_addr),
                 std::begin(none.s6_addr))) {
    return std::nullopt;
  }
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, &address, text.data(), text.size());
  return text.data();
}

std::vector<Gid> gids_of(const std::string& folder) {
  std::vector<Gid> gids;
  for (const std::string& name : names_in(folder + "/gids")) {
    auto text = gid_text(line_of(folder + "/gids/" + name));
    if (!text) {
      continue;
    }
    Gid gid;
    gid.index = static_cast<std::uint32_t>(number_in(name));
    gid.text = std::move(*text);
    const std::string type = line_of(folder + "/gid_attrs/types/" + name);
    gid.interface = line_of(folder + "/gid_attrs/ndevs/" + name);
    gid.kind = type == "RoCE v2"        ? Gid::Kind::roce_v2
               : !gid.interface.empty() ? Gid::Kind::roce_v1
                                        : Gid::Kind::infiniband;
    gids.push_back(std::move(gid));
  }
  return gids;
}

Port::State state_of(const std::string& word) {
  if (word == "ACTIVE" || word == "ACTIVE_DEFER") {
    return Port::State::active;
  }
  return word == "INIT" || word == "ARMED" ? Port::State::waiting : Port::State::down;
}

void read_errors(Port& port, const std::string& folder) {
  for (const char* kind : {"counters", "hw_counters"}) {
    for (const char* name : error_counters) {
      const std::uint64_t count = number_in(line_of(folder + "/" + kind + "/" + name));
      if (count != 0) {
        port.errors.emplace_back(name, count);
      }
    }
  }
}

Port::Link link_of(const std::string& device, const std::string& port) {
  if (word_of(device + "/node_type") == "RNIC") {
    return Port::Link::iwarp;
  }
  return line_of(port + "/link_layer") == "Ethernet" ? Port::Link::roce : Port::Link::infiniband;
}

/// The interface that a port belongs to: that of its addresses, else the only one that the device
/// has.
std::string interface_of(const std::string& device, const Port& port) {
  for (const Gid& gid : port.gids) {
    if (!gid.interface.empty()) {
      return gid.interface;
    }
  }
  const std::string parent = line_of(device + "/parent");  // of a software device
  const std::vector<std::string> names = names_in(device + "/device/net");
  return !parent.empty() || names.size() != 1 ? parent : names[0];
}

Port port_at(const std::string& device, const std::string& name, const Roots& roots) {
  const std::string folder = device + "/ports/" + name;
  Port port;
  port.number = static_cast<std::uint32_t>(number_in(name));
  port.state = state_of(word_of(folder + "/state"));
  port.link = link_of(device, folder);
  port.physical = word_of(folder + "/phys_state");
  port.rate = line_of(folder + "/rate");
  port.lid = static_cast<std::uint32_t>(number_in(line_of(folder + "/lid")));
  port.gids = gids_of(folder);
  if (port.link != Port::Link::infiniband) {
    port.interface = interface_of(device, port);
  }
  if (!port.interface.empty()) {
    const std::string interface = roots.sysfs + "/class/net/" + port.interface;
    port.interface_mtu = static_cast<std::uint32_t>(number_in(line_of(interface + "/mtu")));
    port.interface_up = (number_in(line_of(interface + "/flags")) & IFF_UP) != 0;
  }
  read_errors(port, folder);
  return port;
}

/// The device of ib_uverbs by which programs reach a device.
std::string verbs_of(const std::string& device, const Roots& roots) {
  const std::string folder = roots.sysfs + "/class/infiniband_verbs";
  for (const std::string& name : names_in(folder)) {
    if (line_of(folder + "/" + name + "/ibdev") == device) {
      return name;
    }
  }
  return {};
}

int error_of_opening(const std::string& file) {
  const base::UniqueFd opened(::open(file.c_str(), O_RDWR | O_CLOEXEC));
  return opened.valid() ? 0 : errno;
}

}  // namespace

std::uint32_t Port::mtu() const noexcept {
  // Headers with all that they can have: as much as the kernel takes off.
  constexpr std::uint32_t header_bytes = 96;
  std::uint32_t largest = 0;
  for (std::uint32_t bytes = 256; bytes <= 4096; bytes *= 2) {
    if (interface_mtu >= bytes + header_bytes) {
      largest = bytes;
    }
  }
  return link == Link::roce ? largest : 0;
}

const Gid* Port::best_gid() const noexcept {
  const auto worth = [](const Gid& gid) {
    return 2 * (gid.kind == Gid::Kind::roce_v2 ? 1 : 0) + (gid.is_ipv4() ? 1 : 0);
  };
  const Gid* best = nullptr;
  for (const Gid& gid : gids) {
    if (best == nullptr || worth(gid) > worth(*best)) {
      best = &gid;
    }
  }
  return best;
}

std::vector<Device> find_devices(const Roots& roots) {
  std::vector<Device> devices;
  const std::string base = roots.sysfs + "/class/infiniband";
  for (const std::string& name : names_in(base)) {
    const std::string folder = base + "/" + name;
    Device device;
    device.name = name;
    device.firmware = line_of(folder + "/fw_ver");
    device.driver = target_of(folder + "/device/driver");
    device.verbs = verbs_of(name, roots);
    if (!device.verbs.empty()) {
      device.verbs_error = error_of_opening(roots.devices + "/infiniband/" + device.verbs);
    }
    for (const std::string& port : names_in(folder + "/ports")) {
      device.ports.push_back(port_at(folder, port, roots));
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

Support find_support(const Roots& roots) {
  constexpr std::string_view infiniband_class = "0x0207";
  std::error_code problem;
  Support support;
  support.core = fs::exists(roots.sysfs + "/module/ib_core", problem);
  support.verbs = fs::exists(roots.sysfs + "/module/ib_uverbs", problem) ||
                  fs::exists(roots.sysfs + "/class/infiniband_verbs", problem);
  support.soft_roce = fs::exists(roots.sysfs + "/module/rdma_rxe", problem);
  const std::string pci = roots.sysfs + "/bus/pci/devices";
  for (const std::string& place : names_in(pci)) {
    const std::string folder = pci + "/" + place;
    if (line_of(folder + "/class").starts_with(infiniband_class) &&
        target_of(folder + "/driver").empty()) {
      support.adapters.push_back(place);
    }
  }
  return support;
}

const char* text_of(Port::Link link) noexcept {
  switch (link) {
    case Port::Link::infiniband:
      return "InfiniBand";
    case Port::Link::roce:
      return "RoCE";
    case Port::Link::iwarp:
      return "iWARP";
  }
  return "";
}

const char* text_of(Port::State state) noexcept {
  switch (state) {
    case Port::State::down:
      return "down";
    case Port::State::waiting:
      return "waiting";
    case Port::State::active:
      return "active";
  }
  return "";
}

const char* text_of(Gid::Kind kind) noexcept {
  switch (kind) {
    case Gid::Kind::infiniband:
      return "InfiniBand";
    case Gid::Kind::roce_v1:
      return "RoCE v1";
    case Gid::Kind::roce_v2:
      return "RoCE v2";
  }
  return "";
}

std::string summary_of(const Port& port) {
  std::string text = text_of(port.link);
  if (!port.rate.empty()) {
    text += ", " + port.rate;
  }
  if (!port.interface.empty()) {
    text += ", " + port.interface;
  }
  if (port.mtu() != 0) {
    text += fmt::format(", MTU {}", port.mtu());
  }
  if (port.link == Port::Link::infiniband) {
    text += fmt::format(", LID {}", port.lid);
  }
  if (const Gid* const gid = port.best_gid(); gid != nullptr) {
    text += fmt::format(", GID {} {} ({})", gid->index, gid->text, text_of(gid->kind));
  }
  return text;
}

}  // namespace fulmar::rdma
