// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/keyed_hash.h"
#include "device/device.h"
#include "fabric/tcp/connect/listeners.h"
#include "mpi/spawn/port_service.h"
#include "runtime/job/job.h"
#include "runtime/network/host_memory.h"
#include "runtime/network/networks.h"
#include "runtime/options/options.h"
#include "runtime/spawn/port_stream.h"

namespace fulmar::runtime {

/// The ports of this process: listening TCP sockets, and the connections through them
/// (wire/port/port_name.h, wire/port/port_handshake.h). Waiting calls make progress for the program's
/// messages between looks at their sockets, and sleep for at most a few milliseconds at a time.
///
/// Strangers (docs/security.md): at most 64 unproven connections a port, of which the oldest gives way;
/// each has 10 s; at most one line a second about them. Between two calls of MPI_Comm_accept nobody is
/// answered; connections that their callers have closed are given back at the end of that call and by `release`.
///
/// Thread rule: the lock of the library.
class Ports final : public mpi::PortService {
 public:
  /// All outlive this.
  struct Surroundings {
    const Job& job;
    const Options& options;
    Networks& networks;
    device::Device& device;
    const mpi::Library& library;
  };
  explicit Ports(const Surroundings& surroundings) noexcept
      : around_(surroundings),
        host_memory_(
            {around_.job, around_.options, around_.networks, around_.device, around_.library}) {}

  base::Result<std::string> open(const std::vector<mpi::InfoEntry>& info) override;
  base::Error close(std::string_view name) override;
  base::Result<Connected> accept(std::string_view name, std::span<const std::byte> first,
                                 const mpi::GiveUp& give_up) override;
  base::Result<Connected> connect(std::string_view name, const std::vector<mpi::InfoEntry>& info,
                                  std::span<const std::byte> first,
                                  const mpi::GiveUp& give_up) override;
  base::Result<Connected> join(int socket, std::span<const std::byte> first,
                               const mpi::GiveUp& give_up) override;
  base::Result<std::vector<std::byte>> own_address() override {
    return around_.networks.address_for_other_jobs(around_.options, around_.device);
  }
  base::Error add_address(const wire::ProcessName& process,
                          std::span<const std::byte> address) override {
    return around_.networks.add_address(process, address);
  }
  [[nodiscard]] bool listens() const noexcept override { return !ports_.empty(); }
  void release() override;
  mpi::HostMemoryService& host_memory() override { return host_memory_; }

 private:
  /// Somebody who has connected.
  struct PendingCaller {
    PortStream stream;
    std::uint64_t since_ns = 0;
    std::string address;
  };
  struct Port {
    std::string name;
    wire::PortSecret secret{};
    fabric::tcp::Listening listening;
    std::vector<PendingCaller> callers;
    std::uint64_t next_line_ns = 0;
    bool once = false;  ///< for one connection
    bool used = false;  ///< and that was made: nothing listens any more
  };
  /// A way to a port that is tried.
  struct Attempt {
    PortStream stream;
    std::string address;
  };

  [[nodiscard]] base::Error load_hash();
  [[nodiscard]] Port* find(std::string_view name) noexcept;
  [[nodiscard]] base::Result<std::vector<fabric::tcp::LocalAddress>> addresses_for(
      const std::string& wanted) const;
  [[nodiscard]] base::Result<Connected> greet(int socket, const std::string& own,
                                              std::span<const std::byte> first,
                                              const mpi::GiveUp& give_up);
  void admit(Port& port);
  void drop_ended(Port& port) const;
  static void use_up(Port& port);
  void refuse(Port& port, const PendingCaller& caller, const std::string& why) const;
  [[nodiscard]] std::optional<Connected> step_callers(Port& port, std::span<const std::byte> first);
  [[nodiscard]] std::vector<Attempt> call(const wire::PortName& port) const;
  [[nodiscard]] base::Result<PortStream> prove(std::vector<Attempt> attempts,
                                               const mpi::GiveUp& give_up) const;

  Surroundings around_;
  HostMemory host_memory_;
  std::optional<base::KeyedHash> hash_;
  std::vector<std::unique_ptr<Port>> ports_;
};

}  // namespace fulmar::runtime
