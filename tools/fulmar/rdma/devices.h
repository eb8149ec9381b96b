// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// The RDMA devices of a host as the kernel lists them in /sys: nothing is opened, and no
/// library is needed.
namespace fulmar::rdma {

/// An address of a port: what peers reach it by.
struct Gid {
  enum class Kind : std::uint8_t { infiniband, roce_v1, roce_v2 };
  std::uint32_t index = 0;
  std::string text;  ///< as IPv6 is written: "fe80::1", "::ffff:10.0.0.1"
  Kind kind = Kind::infiniband;
  std::string interface;  ///< of RoCE; else empty
  /// Made from an IPv4 address.
  [[nodiscard]] bool is_ipv4() const noexcept { return text.starts_with("::ffff:"); }
};

struct Port {
  enum class Link : std::uint8_t { infiniband, roce, iwarp };
  /// What the link does. `waiting`: connected, but no subnet manager has configured it.
  enum class State : std::uint8_t { down, waiting, active };
  std::uint32_t number = 1;
  State state = State::down;
  Link link = Link::infiniband;
  std::string physical;  ///< "LinkUp", "Disabled", "Polling"
  std::string rate;      ///< "100 Gb/sec (4X EDR)"
  std::uint32_t lid = 0;
  std::vector<Gid> gids;  ///< without empty places of the table
  /// Of RoCE: its interface, that one's MTU in bytes, and whether it is up.
  std::string interface;
  std::uint32_t interface_mtu = 0;
  bool interface_up = false;
  /// Counters of errors that are not 0.
  std::vector<std::pair<std::string, std::uint64_t>> errors;

  /// Payload of a packet in bytes as the interface allows it; 0: unknown (InfiniBand's is the
  /// subnet's).
  [[nodiscard]] std::uint32_t mtu() const noexcept;
  /// The best address for peers: on RoCE version 2, made from an IPv4 address if there is
  /// one. nullptr: none.
  [[nodiscard]] const Gid* best_gid() const noexcept;
};

struct Device {
  std::string name;         ///< "mlx5_0"
  std::string firmware;     ///< empty: unknown
  std::string driver;       ///< of the kernel; empty for software devices
  std::string verbs;        ///< "uverbs0", through which programs reach it; empty: not there
  int verbs_error = 0;      ///< errno of opening that for reading and writing
  std::vector<Port> ports;  ///< in the order of their numbers
};

/// The folders to read; tests have trees of their own.
struct Roots {
  std::string sysfs = "/sys";
  std::string devices = "/dev";
};

/// All devices, sorted by name.
std::vector<Device> find_devices(const Roots& roots = {});

/// What there is besides devices.
struct Support {
  bool core = false;                  ///< ib_core is loaded
  bool verbs = false;                 ///< ib_uverbs is loaded
  bool soft_roce = false;             ///< rdma_rxe is loaded
  std::vector<std::string> adapters;  ///< PCI places of InfiniBand adapters without a driver
};
Support find_support(const Roots& roots = {});

[[nodiscard]] const char* text_of(Port::Link link) noexcept;
[[nodiscard]] const char* text_of(Port::State state) noexcept;
[[nodiscard]] const char* text_of(Gid::Kind kind) noexcept;
/// One line: "RoCE, 100 Gb/sec (4X EDR), eth0, MTU 4096, GID 3 ::ffff:10.0.0.1 (RoCE v2)".
std::string summary_of(const Port& port);

}  // namespace fulmar::rdma
