// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// VipOpenNic to VipErrorCallback, and VipQuerySystemManagementInfo.
#include <cctype>
#include <cstring>
#include <mutex>

#include "base/version.h"
#include "vipl/api.h"
#include "vipl/call.h"
#include "vipl/connections.h"
#include "vipl/nodes.h"

namespace fulmar::vipl {
namespace {

/// Held while NICs are opened and closed, so that one call at a time does either.
std::mutex& session_mutex() {
  static auto* const the_mutex = new std::mutex;
  return *the_mutex;
}

/// There is device 0.
bool is_device(const char* name) noexcept {
  const std::size_t length = std::strlen(name);
  std::size_t digits = 0;
  while (digits < length &&
         std::isdigit(static_cast<unsigned char>(name[length - 1 - digits])) != 0)
    ++digits;
  return digits == 0 || std::strspn(name + (length - digits), "0") == digits;
}

VIP_RETURN open_nic(const char* name, VIP_NIC_HANDLE& handle) {
  const std::lock_guard session(session_mutex());
  Provider& provider = the_provider();
  if (provider.nics.live() == 0) {
    if (const VIP_RETURN status = open(provider); status != VIP_SUCCESS) return status;
  }
  const Lock lock = locked(provider);
  auto made = std::make_unique<Nic>();
  made->name = name;
  const Nic* const nic = provider.nics.add(std::move(made));
  if (nic == nullptr) return VIP_ERROR_RESOURCE;
  handle = pointer_of(nic->handle);
  return VIP_SUCCESS;
}

/// Ends what goes on, and waits until no memory of the program is used any more.
void end_work(Provider& provider, Lock& lock, std::uint32_t nic) {
  provider.vis.for_each([&](Vi& vi) {
    if (vi.nic == nic && vi.state != VIP_STATE_IDLE) disconnect(provider, vi);
    if (vi.nic == nic) vi.send_notifications.clear();
    if (vi.nic == nic) vi.receive_notifications.clear();
  });
  (void)wait(provider, lock, Deadline(VIP_INFINITE), [&] {
    bool is_idle = provider.running != nic;
    provider.vis.for_each([&](const Vi& vi) {
      is_idle = is_idle && (vi.nic != nic || vi.sends_done == vi.sends.size());
    });
    return is_idle;
  });
}

void remove_all(Provider& provider, std::uint32_t nic) {
  std::erase_if(provider.jobs.calls, [nic](const Jobs::Call& call) { return call.nic == nic; });
  provider.vis.for_each([&](Vi& vi) {
    if (vi.nic == nic) remove(provider, vi);
  });
  provider.cqs.for_each([&](Cq& cq) {
    if (cq.nic == nic) provider.cqs.remove(cq);
  });
  provider.regions.for_each([&](Region& region) {
    if (region.nic == nic) remove(provider, region);
  });
  provider.ptags.for_each([&](Ptag& ptag) {
    if (ptag.nic == nic) provider.ptags.remove(ptag);
  });
  provider.connections.for_each([&](Arrived& each) {
    if (each.nic == nic) provider.connections.remove(each);
  });
}

VIP_RETURN close_nic(VIP_NIC_HANDLE handle) {
  Provider& provider = the_provider();
  if (is_in_handler()) return VIP_ERROR_RESOURCE;
  const std::lock_guard session(session_mutex());
  {
    Lock lock = locked(provider);
    Nic* const nic = provider.nics.find(handle);
    if (nic == nullptr) return VIP_INVALID_PARAMETER;
    nic->error_handler = nullptr;
    end_work(provider, lock, nic->handle);
    remove_all(provider, nic->handle);
    provider.nics.remove(*nic);
    notify(provider);
    if (provider.nics.live() != 0) return VIP_SUCCESS;
  }
  close(provider);
  return VIP_SUCCESS;
}

VIP_NIC_ATTRIBUTES nic_attributes(const Provider& provider, const Nic& nic) noexcept {
  VIP_NIC_ATTRIBUTES attributes{};
  std::strncpy(attributes.Name, nic.name.c_str(), sizeof attributes.Name - 1);
  attributes.HardwareVersion = 1;
  attributes.ProviderVersion = 1;
  attributes.NicAddressLen = VIP_HOST_ADDRESS_BYTES;
  attributes.LocalNicAddress = provider.address.data();
  attributes.ThreadSafe = VIP_TRUE;
  attributes.MaxDiscriminatorLen = wire::vipl_most_discriminator_bytes;
  attributes.MaxRegisterBytes = ~VIP_ULONG{0};
  attributes.MaxRegisterRegions = Handles<Region, Kind::region>::most;
  attributes.MaxRegisterBlockBytes = ~VIP_ULONG{0};
  attributes.MaxVI = Handles<Vi, Kind::vi>::most;
  attributes.MaxDescriptorsPerQueue = most_descriptors;
  attributes.MaxSegmentsPerDesc = wire::vipl_most_segments;
  attributes.MaxCQ = Handles<Cq, Kind::cq>::most;
  attributes.MaxCQEntries = most_cq_entries;
  attributes.MaxTransferSize = most_transfer_bytes;
  attributes.NativeMTU = most_transfer_bytes;
  attributes.MaxPtags = Handles<Ptag, Kind::ptag>::most;
  attributes.ReliabilityLevelSupport =
      VIP_SERVICE_UNRELIABLE | VIP_SERVICE_RELIABLE_DELIVERY | VIP_SERVICE_RELIABLE_RECEPTION;
  attributes.RDMAReadSupport = VIP_SERVICE_RELIABLE_DELIVERY | VIP_SERVICE_RELIABLE_RECEPTION;
  return attributes;
}

void discover(const Provider& provider, VIP_AUTODISCOVERY_LIST& list) {
  const VIP_ULONG places = list.ADAddrArray == nullptr ? 0 : list.NumAdAddrs;
  VIP_ULONG count = 0;
  const auto add = [&](std::uint32_t node) {
    if (count < places && list.ADAddrArray[count] != nullptr)
      write_address({node, {}}, *list.ADAddrArray[count]);
    ++count;
  };
  if (list.NumberOfHops == 0) {
    add(provider.node);
  } else {
    for (const std::uint32_t node : nodes_of_job()) add(node);
  }
  list.NumAdAddrs = count;
}

}  // namespace
}  // namespace fulmar::vipl

using fulmar::vipl::call;
using fulmar::vipl::Lock;
using fulmar::vipl::Nic;
using fulmar::vipl::Provider;

VIP_RETURN VipOpenNic(const VIP_CHAR* DeviceName, VIP_NIC_HANDLE* NicHandle) {
  if (DeviceName == nullptr || *DeviceName == '\0' || NicHandle == nullptr)
    return VIP_INVALID_PARAMETER;
  if (!fulmar::vipl::is_device(DeviceName)) return VIP_ERROR_RESOURCE;
  return fulmar::vipl::open_nic(DeviceName, *NicHandle);
}

VIP_RETURN VipCloseNic(VIP_NIC_HANDLE NicHandle) { return fulmar::vipl::close_nic(NicHandle); }

VIP_RETURN VipQueryNic(VIP_NIC_HANDLE NicHandle, VIP_NIC_ATTRIBUTES* NicAttribs) {
  return call<Nic>(NicHandle, [&](const Provider& provider, const Lock&, const Nic& nic) {
    if (NicAttribs == nullptr) return VIP_INVALID_PARAMETER;
    *NicAttribs = fulmar::vipl::nic_attributes(provider, nic);
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipErrorCallback(VIP_NIC_HANDLE NicHandle, VIP_PVOID Context,
                            VIP_ERROR_HANDLER Handler) {
  return call<Nic>(NicHandle, [&](const Provider&, const Lock&, Nic& nic) {
    nic.error_handler = Handler;
    nic.error_context = Context;
    return VIP_SUCCESS;
  });
}

VIP_RETURN VipQuerySystemManagementInfo(VIP_NIC_HANDLE NicHandle, VIP_ULONG InfoType,
                                        VIP_PVOID SysManInfo) {
  return call<Nic>(NicHandle, [&](const Provider& provider, const Lock&, const Nic&) {
    if (InfoType != VIP_SMI_AUTODISCOVERY && InfoType != VIP_SMI_COUNTERS)
      return VIP_ERROR_NOT_SUPPORTED;
    if (SysManInfo == nullptr) return VIP_INVALID_PARAMETER;
    if (InfoType == VIP_SMI_COUNTERS) {
      *static_cast<VIP_COUNTERS*>(SysManInfo) = provider.counters;
    } else {
      fulmar::vipl::discover(provider, *static_cast<VIP_AUTODISCOVERY_LIST*>(SysManInfo));
    }
    return VIP_SUCCESS;
  });
}
