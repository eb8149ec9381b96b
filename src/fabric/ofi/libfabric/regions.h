// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "fabric/ofi/libfabric/library.h"
#include "fabric/ofi/libfabric/owned.h"
#include "fabric/provider.h"

namespace fulmar::fabric::ofi {

/// Registered memory, by lkey. The requirements of a provider are discovered (its mr_mode):
///
/// * FI_MR_LOCAL: local memory of an operation has to be registered, too. If not, Access::local is not
///   passed to libfabric, and costs nothing.
/// * FI_MR_VIRT_ADDR: peers use virtual addresses. If not, offsets in the region.
/// * FI_MR_PROV_KEY: the provider chooses the key for peers. If not, we do: all bits that it
///   allows, drawn from the kernel, so that it cannot be predicted.
/// * FI_MR_ENDPOINT: a region is bound to the endpoint, and enabled.
class Regions {
 public:
  /// All three live until this has ended.
  void use(const Library& library, const InfoList& info, fid_domain* domain, fid_ep* endpoint);

  /// See fabric::Network.
  [[nodiscard]] base::Result<MemoryRegion> open(std::span<std::byte> memory, Access access);
  /// Nothing happens if it is not open.
  void close(const MemoryRegion& opened) noexcept;
  /// The descriptor for an operation; null if the provider needs none.
  [[nodiscard]] void* descriptor(std::uint32_t lkey) const noexcept {
    return lkey == 0 || lkey > slots_.size() ? nullptr : slots_[lkey - 1].descriptor;
  }

 private:
  struct Slot {
    Owned<fid_mr> region;
    void* descriptor = nullptr;
    std::uint64_t handle = 0;  ///< 0: free
  };

  [[nodiscard]] bool asks_for(int mode) const noexcept { return (mode_ & mode) != 0; }
  int enlist(std::span<std::byte> memory, Access access, Owned<fid_mr>& region) const;
  [[nodiscard]] base::Error refusal(std::size_t bytes, int result) const;
  [[nodiscard]] std::uint32_t free_slot();

  const Library* library_ = nullptr;
  const fi_info* info_ = nullptr;
  fid_domain* domain_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  int mode_ = 0;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::uint64_t last_handle_ = 0;
};

}  // namespace fulmar::fabric::ofi
