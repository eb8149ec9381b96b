// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fulmar/rdma/devices.h"
#include "wire/tcp/tcp_address.h"

/// What `fulmar doctor` finds out about a machine, as data: gather_*.cc fill it in, judge.cc says
/// what it means. An empty `problem` means that there is none.
namespace fulmar::doctor {

/// An address of this host and whether a process reaches itself there.
struct AddressFacts {
  std::string interface;
  std::string address;  ///< "10.0.0.1/24"
  wire::AddressKind kind = wire::AddressKind::ordinary;
  bool told = false;  ///< to the other ranks of a job
  enum class Loop : std::uint8_t { untried, reached, failed } loop = Loop::untried;
  double loop_ms = 0;
  std::string problem;
};

struct NameFacts {
  std::string name;  ///< of this host
  enum class Leads : std::uint8_t {
    here,      ///< to an address of an interface
    loopback,  ///< to 127.0.1.1 and the like
    elsewhere,
    nowhere,
    late,  ///< no answer in time
  } leads = Leads::here;
  std::string addresses;
  double seconds = 0;
};

struct NetworkFacts {
  std::vector<AddressFacts> addresses;
  std::size_t left_out = 0;    ///< addresses beyond those, not looked at
  std::string interfaces;      ///< FULMAR_TCP_INTERFACES; empty: not set
  std::string open_problem;    ///< why tcp cannot be opened with the present settings
  std::string listens_at;      ///< the ports
  std::string crypto_library;  ///< empty: none
  std::string crypto_problem;
  NameFacts name;
};

/// A limit of this process; nothing: unlimited.
struct Limit {
  std::optional<std::uint64_t> soft;
  std::optional<std::uint64_t> hard;
};

struct LimitFacts {
  Limit files;
  Limit file_size;
  Limit locked_memory;
  Limit address_space;
  std::uint32_t processors = 1;  ///< this process may use
  std::uint32_t processors_online = 1;
  std::optional<double> processor_quota;    ///< of the control groups
  std::optional<std::uint64_t> group_free;  ///< bytes that the control groups leave
  std::optional<std::uint64_t> tasks_free;  ///< processes and threads that they leave
  std::uint64_t memory_free = 0;            ///< bytes
  bool strict_commit = false;               ///< vm.overcommit_memory=2
  std::uint64_t commit_free = 0;            ///< bytes, where it is strict
  bool rdma_devices = false;
};

struct KernelFacts {
  std::string memory_file_problem;
  int copy_error = 0;     ///< errno of process_vm_readv between two ranks
  int ptrace_scope = 0;   ///< of Yama; 0 where there is none
  bool filtered = false;  ///< a seccomp filter is in force
  int barrier_error = 0;
};

/// A launcher that was found.
struct LauncherProgram {
  std::string name;
  std::string file;
  std::string version;
};

/// A library that is opened at run time.
struct LibraryFacts {
  std::string file;     ///< that was opened; empty: none
  std::string version;  ///< empty: unknown
  std::string problem;
};

struct RdmaFacts {
  std::vector<rdma::Device> devices;
  rdma::Support support;
  LibraryFacts library;             ///< libibverbs
  std::vector<std::string> usable;  ///< devices that the library has a driver for
  bool asked_for = false;           ///< FULMAR_FABRIC is set and names verbs
  std::string wish;                 ///< FULMAR_VERBS_DEVICE; empty: any port
};

struct LauncherFacts {
  std::string started_by;     ///< "no launcher", ...
  std::string problem;        ///< with the present environment a job cannot start
  std::string own_mpiexec;    ///< beside this program; empty: none
  std::string first_mpiexec;  ///< in PATH; empty: none
  bool first_is_own = false;
  std::vector<LauncherProgram> managers;  ///< srun, prterun, mpiexec.hydra
  LibraryFacts pmix;
};

struct Facts {
  std::string host;
  std::string system;   ///< "Linux 6.1.0 x86_64"
  std::string library;  ///< name and version of libmpi_abi
  std::string library_file;
  std::vector<std::string> complaints;  ///< about FULMAR_ variables
  NetworkFacts network;
  LimitFacts limits;
  KernelFacts kernel;
  LauncherFacts launcher;
  LibraryFacts fabric;
  RdmaFacts rdma;
};

}  // namespace fulmar::doctor
