// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/error.h"
#include "base/os/fd.h"
#include "wire/rma/rma_control.h"

namespace fulmar::mpi {

/// The memory of one window on one node: an anonymous memory file that all its ranks of the node
/// map, with a control line for each rank in front. The descriptor is closed once it is mapped, so
/// a window costs none; nothing is left when the last process has unmapped it.
class NodeMemory {
 public:
  /// Maps `bytes` bytes of a memory file; of none (-1): memory of this process alone. Zero at the
  /// start. They begin at a multiple of `alignment`, a power of two. MPI_ERR_NO_MEM where there is
  /// not so much; MPI_ERR_OTHER where the file, which may come from another process, is shorter or
  /// not sealed against shrinking.
  static base::Result<std::unique_ptr<NodeMemory>> map(int file, std::uint64_t bytes,
                                                       std::uint64_t alignment);
  /// A memory file of this length, for good. MPI_ERR_NO_MEM where the machine has less memory.
  static base::Result<base::UniqueFd> make_file(std::uint64_t bytes);

  explicit NodeMemory(std::span<std::byte> mapping) noexcept : mapping_(mapping) {}
  ~NodeMemory();
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

  /// Of the rank with this place on the node.
  [[nodiscard]] wire::RmaControl& control(std::size_t place) const noexcept {
    return reinterpret_cast<wire::RmaControl*>(mapping_.data())[place];
  }
  [[nodiscard]] std::byte* at(std::uint64_t offset) const noexcept {
    return mapping_.data() + offset;
  }

 private:
  std::span<std::byte> mapping_;
};

/// Hands the descriptor of a window's memory from the first of its ranks on a node to the others: a
/// socket with a name that the kernel picks, which the others learn with the facts of the window.
/// No call blocks: the datagram has come when the sender has told so in a message.
class DescriptorSocket {
 public:
  /// Fails (other) where the system has no descriptor or name left.
  static base::Result<DescriptorSocket> open();

  /// How the sender names it; never 0.
  [[nodiscard]] std::uint32_t name() const noexcept { return name_; }
  /// Sends a descriptor to the socket with this name of another process. `secret` proves to the
  /// receiver where it comes from. Fails (proc_failed) where that process has ended and its socket with
  /// it; (other) as the system does.
  [[nodiscard]] static base::Error send(std::uint32_t name, std::uint64_t secret, int descriptor);
  /// The descriptor that came with this secret; what others sent is thrown away.
  [[nodiscard]] base::Result<base::UniqueFd> receive(std::uint64_t secret) const;

 private:
  DescriptorSocket(base::UniqueFd socket, std::uint32_t name) noexcept
      : socket_(std::move(socket)), name_(name) {}

  base::UniqueFd socket_;
  std::uint32_t name_;
};

}  // namespace fulmar::mpi
