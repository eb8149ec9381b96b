// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// VipRegisterMem to VipSetMemAttributes.
#include <cstdint>

#include "vipl/api.h"
#include "vipl/call.h"
#include "vipl/rdma.h"
#include "vipl/segments.h"

namespace fulmar::vipl {
namespace {

/// Memory of the NIC in which the address lies; nullptr: none.
Region* find_region(Provider& provider, const Nic& nic, const void* address,
                    VIP_MEM_HANDLE handle) noexcept {
  Region* const region = provider.regions.find(handle);
  if (region == nullptr || region->nic != nic.handle) return nullptr;
  const auto begin = reinterpret_cast<std::uintptr_t>(region->base);
  const auto place = reinterpret_cast<std::uintptr_t>(address);
  return place >= begin && place - begin < region->bytes ? region : nullptr;
}

void set_attributes(Provider& provider, Region& region,
                    const VIP_MEM_ATTRIBUTES& attributes) noexcept {
  if (Ptag* const before = provider.ptags.find(region.ptag); before != nullptr) --before->uses;
  Ptag* const ptag = provider.ptags.find(attributes.Ptag);
  ++ptag->uses;
  region.ptag = ptag->handle;
  region.allows_write = attributes.EnableRdmaWrite != VIP_FALSE;
  region.allows_read = attributes.EnableRdmaRead != VIP_FALSE;
}

/// Gives the memory its segments.
bool give_parts(Provider& provider, Region& region) {
  if (region.is_allocated) {
    const bool is_made = make_part(provider, region.shared, region.bytes);
    region.base = region.shared.base;
    return is_made;
  }
  if (provider.registration == Registration::shadow)
    return make_part(provider, region.shared, region.bytes);
  return make_part(provider, region.direct, region.bytes, region.base);
}

VIP_RETURN make(Provider& provider, const Nic& nic, std::byte* memory, VIP_ULONG bytes,
                const VIP_MEM_ATTRIBUTES* attributes, Region*& region) {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  if (bytes == 0 || bytes > UINTPTR_MAX - begin || attributes == nullptr)
    return VIP_INVALID_PARAMETER;
  if (find_ptag(provider, nic, attributes->Ptag) == nullptr) return VIP_INVALID_PTAG;
  region = provider.regions.add(std::make_unique<Region>());
  if (region == nullptr) return VIP_ERROR_RESOURCE;
  region->nic = nic.handle;
  region->base = memory;
  region->bytes = bytes;
  region->is_allocated = memory == nullptr;
  if (!give_parts(provider, *region)) {
    provider.regions.remove(*region);
    return VIP_ERROR_RESOURCE;
  }
  set_attributes(provider, *region, *attributes);
  return VIP_SUCCESS;
}

VIP_RETURN remove_memory(VIP_NIC_HANDLE nic_handle, void* address, VIP_MEM_HANDLE handle,
                         bool is_allocated) {
  return call<Nic>(nic_handle, [&](Provider& provider, const Lock&, const Nic& nic) {
    Region* const region = find_region(provider, nic, address, handle);
    const bool is_it =
        region != nullptr && region->base == address && region->is_allocated == is_allocated;
    if (!is_it) return VIP_INVALID_PARAMETER;
    if (region->uses != 0) return VIP_ERROR_RESOURCE;
    remove(provider, *region);
    return VIP_SUCCESS;
  });
}

}  // namespace

void remove(Provider& provider, Region& region) {
  remove_part(region.shared);
  remove_part(region.direct);
  if (Ptag* const ptag = provider.ptags.find(region.ptag); ptag != nullptr) --ptag->uses;
  provider.regions.remove(region);
}

}  // namespace fulmar::vipl

using fulmar::vipl::call;
using fulmar::vipl::Lock;
using fulmar::vipl::Nic;
using fulmar::vipl::Provider;
using fulmar::vipl::Region;

VIP_RETURN VipRegisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress, VIP_ULONG Length,
                          VIP_MEM_ATTRIBUTES* MemAttribs, VIP_MEM_HANDLE* MemoryHandle) {
  return call<Nic>(NicHandle, [&](Provider& provider, const Lock&, const Nic& nic) {
    if (VirtualAddress == nullptr || MemoryHandle == nullptr) return VIP_INVALID_PARAMETER;
    Region* region = nullptr;
    const VIP_RETURN status = fulmar::vipl::make(
        provider, nic, static_cast<std::byte*>(VirtualAddress), Length, MemAttribs, region);
    if (status == VIP_SUCCESS) *MemoryHandle = region->handle;
    return status;
  });
}

VIP_RETURN VipDeregisterMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress,
                            VIP_MEM_HANDLE MemoryHandle) {
  return fulmar::vipl::remove_memory(NicHandle, VirtualAddress, MemoryHandle, false);
}

VIP_RETURN VipAllocMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID* VirtualAddress, VIP_ULONG Length,
                       VIP_MEM_ATTRIBUTES* MemAttribs, VIP_MEM_HANDLE* MemoryHandle) {
  return call<Nic>(NicHandle, [&](Provider& provider, const Lock&, const Nic& nic) {
    if (VirtualAddress == nullptr || MemoryHandle == nullptr) return VIP_INVALID_PARAMETER;
    Region* region = nullptr;
    const VIP_RETURN status =
        fulmar::vipl::make(provider, nic, nullptr, Length, MemAttribs, region);
    if (status != VIP_SUCCESS) return status;
    *MemoryHandle = region->handle;
    *VirtualAddress = region->base;
    return status;
  });
}

VIP_RETURN VipFreeMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID VirtualAddress,
                      VIP_MEM_HANDLE MemoryHandle) {
  return fulmar::vipl::remove_memory(NicHandle, VirtualAddress, MemoryHandle, true);
}

VIP_RETURN VipQueryMem(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address, VIP_MEM_HANDLE MemHandle,
                       VIP_MEM_ATTRIBUTES* MemAttribs) {
  return call<Nic>(NicHandle, [&](Provider& provider, const Lock&, const Nic& nic) {
    const Region* const region = fulmar::vipl::find_region(provider, nic, Address, MemHandle);
    if (region == nullptr || MemAttribs == nullptr) return VIP_INVALID_PARAMETER;
    MemAttribs->Ptag = fulmar::vipl::pointer_of(region->ptag);
    MemAttribs->EnableRdmaWrite = region->allows_write ? VIP_TRUE : VIP_FALSE;
    MemAttribs->EnableRdmaRead = region->allows_read ? VIP_TRUE : VIP_FALSE;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipSetMemAttributes(VIP_NIC_HANDLE NicHandle, VIP_PVOID Address,
                               VIP_MEM_HANDLE MemHandle, VIP_MEM_ATTRIBUTES* MemAttribs) {
  return call<Nic>(NicHandle, [&](Provider& provider, Lock& lock, const Nic& nic) {
    Region* const region = fulmar::vipl::find_region(provider, nic, Address, MemHandle);
    if (region == nullptr || MemAttribs == nullptr) return VIP_INVALID_PARAMETER;
    if (find_ptag(provider, nic, MemAttribs->Ptag) == nullptr) return VIP_INVALID_PTAG;
    if (region->uses != 0) return VIP_ERROR_RESOURCE;
    fulmar::vipl::set_attributes(provider, *region, *MemAttribs);
    revoke_access(provider, lock, *region);
    return VIP_SUCCESS;
  });
}
