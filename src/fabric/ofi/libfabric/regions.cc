// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/ofi/libfabric/regions.h"

#include <rdma/fi_errno.h>
#include <sys/random.h>

#include <utility>

namespace fulmar::fabric::ofi {
namespace {

using base::ErrorClass;
using base::failure;

/// Of keys that we choose: another region may have the same, where they are short.
constexpr unsigned most_tries = 8;

/// What an order of this process, and one of a peer, may do with it (fi_mr(3)).
std::uint64_t rights_of(Access access) noexcept {
  switch (access) {
    case Access::local:
      return FI_READ | FI_WRITE;
    case Access::peers_read:
      return FI_REMOTE_READ | FI_WRITE;
    case Access::peers_write:
      return FI_REMOTE_WRITE | FI_READ | FI_WRITE;
    case Access::peers_change:
      break;
  }
  return FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE;
}

/// False: the kernel has none.
bool draw(std::uint64_t& key, std::size_t key_bytes) noexcept {
  if (::getrandom(&key, sizeof key, 0) != static_cast<ssize_t>(sizeof key)) return false;
  if (key_bytes < sizeof key) key &= (std::uint64_t{1} << 8 * key_bytes) - 1;
  return true;
}

}  // namespace

void Regions::use(const Library& library, const InfoList& info, fid_domain* domain,
                  fid_ep* endpoint) {
  library_ = &library;
  info_ = info.first();
  domain_ = domain;
  endpoint_ = endpoint;
  mode_ = info_->domain_attr->mr_mode;
}

base::Result<MemoryRegion> Regions::open(std::span<std::byte> memory, Access access) {
  if (access == Access::local && !asks_for(FI_MR_LOCAL)) return MemoryRegion{};
  Owned<fid_mr> region;
  if (const int r = enlist(memory, access, region); r != 0) return refusal(memory.size(), r);
  const std::uint64_t key = ::fi_mr_key(region.get());
  if (key == FI_KEY_NOTAVAIL) return refusal(memory.size(), -FI_ENOKEY);
  const std::uint32_t lkey = free_slot();
  Slot& slot = slots_[lkey - 1];
  slot.descriptor = ::fi_mr_desc(region.get());
  slot.region = std::move(region);
  slot.handle = ++last_handle_ << 32 | lkey;
  MemoryRegion opened{slot.handle, lkey, key, 0};
  if (!asks_for(FI_MR_VIRT_ADDR)) {
    opened.peer_base = reinterpret_cast<std::uintptr_t>(memory.data());
  }
  return opened;
}

int Regions::enlist(std::span<std::byte> memory, Access access, Owned<fid_mr>& region) const {
  int result = -FI_ENOKEY;
  for (unsigned i = 0; i < most_tries && result == -FI_ENOKEY; ++i) {
    std::uint64_t key = 0;
    if (!asks_for(FI_MR_PROV_KEY) && !draw(key, info_->domain_attr->mr_key_size)) return -FI_EIO;
    result = ::fi_mr_reg(domain_, memory.data(), memory.size(), rights_of(access), 0, key, 0,
                         region.out(), nullptr);
  }
  if (result != 0 || !asks_for(FI_MR_ENDPOINT)) return result;
  result = ::fi_mr_bind(region.get(), &endpoint_->fid, 0);
  return result != 0 ? result : ::fi_mr_enable(region.get());
}

base::Error Regions::refusal(std::size_t bytes, int result) const {
  const bool no_room = result == -FI_ENOMEM || result == -FI_ENOSPC || result == -FI_EAGAIN;
  return failure(no_room ? ErrorClass::no_mem : ErrorClass::other,
                 "libfabric's provider %s cannot open %zu bytes for reads and writes (%s); raise "
                 "the limit on locked memory (ulimit -l), or set FULMAR_RDMA=off",
                 info_->fabric_attr->prov_name, bytes, library_->strerror(-result));
}

std::uint32_t Regions::free_slot() {
  if (free_.empty()) {
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size());
  }
  const std::uint32_t lkey = free_.back();
  free_.pop_back();
  return lkey;
}

void Regions::close(const MemoryRegion& opened) noexcept {
  if (opened.lkey == 0 || opened.lkey > slots_.size()) return;
  Slot& slot = slots_[opened.lkey - 1];
  if (slot.handle != opened.handle) return;
  slot.region.close();
  slot.descriptor = nullptr;
  slot.handle = 0;
  free_.push_back(opened.lkey);
}

}  // namespace fulmar::fabric::ofi
