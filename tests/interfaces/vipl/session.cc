// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// NICs, tags, memory, VIs and completion queues as objects: what calls say to handles of nothing and to wrong
// parameters, before and after VipOpenNic.
// ranks: 1 2
#include "vipl/calls.h"

namespace {

using test::Device;
using test::expect;
using test::expect_equal;
using test::expect_ok;
using test::expect_return;
using test::Memory;
using test::Origin;

/// Handles of nothing, and what else calls want.
struct Nothing {
  VIP_PVOID handle = nullptr;
  VIP_PVOID result = nullptr;
  VIP_MEM_HANDLE memory = 0;
  VIP_DESCRIPTOR* descriptor = nullptr;
  VIP_BOOLEAN flag = 0;
  VIP_ULONG number = 0;
  VIP_NIC_ATTRIBUTES nic{};
  VIP_VI_ATTRIBUTES vi{};
  VIP_MEM_ATTRIBUTES mem{};
  VIP_COUNTERS counters{};
  char text[64] = "nic0";
  alignas(64) VIP_DESCRIPTOR descriptors[2] = {};
  test::Endpoint address{0, 1};

  static void is(VIP_RETURN actual, const char* what) {
    expect_return(actual, VIP_INVALID_PARAMETER, what);
  }
  void check_nics();
  void check_vis();
  void check_memory();
  void check_queues();
  void check_names();
  void check_all();
};

void Nothing::check_nics() {
  is(VipCloseNic(handle), "VipCloseNic");
  is(VipQueryNic(handle, &nic), "VipQueryNic");
  is(VipErrorCallback(handle, nullptr, nullptr), "VipErrorCallback");
  is(VipQuerySystemManagementInfo(handle, VIP_SMI_COUNTERS, &counters),
     "VipQuerySystemManagementInfo");
  is(VipCreatePtag(handle, &result), "VipCreatePtag");
  is(VipDestroyPtag(handle, nullptr), "VipDestroyPtag");
}

void Nothing::check_vis() {
  is(VipCreateVi(handle, &vi, nullptr, nullptr, &result), "VipCreateVi");
  is(VipDestroyVi(handle), "VipDestroyVi");
  is(VipQueryVi(handle, nullptr, nullptr, nullptr, nullptr), "VipQueryVi");
  is(VipSetViAttributes(handle, &vi), "VipSetViAttributes");
  is(VipConnectWait(handle, address, 0, address, &vi, &result), "VipConnectWait");
  is(VipConnectAccept(handle, handle), "VipConnectAccept");
  is(VipConnectReject(handle), "VipConnectReject");
  is(VipConnectRequest(handle, address, address, 0, &vi), "VipConnectRequest");
  is(VipDisconnect(handle), "VipDisconnect");
  is(VipConnectPeerRequest(handle, address, address, 0), "VipConnectPeerRequest");
  is(VipConnectPeerDone(handle, &vi), "VipConnectPeerDone");
  is(VipConnectPeerWait(handle, &vi), "VipConnectPeerWait");
}

void Nothing::check_memory() {
  VIP_PVOID base = descriptors;
  is(VipRegisterMem(handle, base, 64, &mem, &memory), "VipRegisterMem");
  is(VipDeregisterMem(handle, base, memory), "VipDeregisterMem");
  is(VipAllocMem(handle, &result, 64, &mem, &memory), "VipAllocMem");
  is(VipFreeMem(handle, base, memory), "VipFreeMem");
  is(VipQueryMem(handle, base, memory, &mem), "VipQueryMem");
  is(VipSetMemAttributes(handle, base, memory, &mem), "VipSetMemAttributes");
}

void Nothing::check_queues() {
  const VIP_VI_CALLBACK handler = [](VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_DESCRIPTOR*) {};
  const VIP_CQ_CALLBACK cq_handler = [](VIP_PVOID, VIP_NIC_HANDLE, VIP_VI_HANDLE, VIP_BOOLEAN) {};
  is(VipPostSend(handle, descriptors, memory), "VipPostSend");
  is(VipSendDone(handle, &descriptor), "VipSendDone");
  is(VipSendWait(handle, 0, &descriptor), "VipSendWait");
  is(VipSendNotify(handle, nullptr, handler), "VipSendNotify");
  is(VipPostRecv(handle, descriptors, memory), "VipPostRecv");
  is(VipRecvDone(handle, &descriptor), "VipRecvDone");
  is(VipRecvWait(handle, 0, &descriptor), "VipRecvWait");
  is(VipRecvNotify(handle, nullptr, handler), "VipRecvNotify");
  is(VipCreateCQ(handle, 8, &result), "VipCreateCQ");
  is(VipDestroyCQ(handle), "VipDestroyCQ");
  is(VipResizeCQ(handle, 8), "VipResizeCQ");
  is(VipCQDone(handle, &result, &flag), "VipCQDone");
  is(VipCQWait(handle, 0, &result, &flag), "VipCQWait");
  is(VipCQNotify(handle, nullptr, cq_handler), "VipCQNotify");
}

void Nothing::check_names() {
  is(VipNSInit(handle, nullptr), "VipNSInit");
  is(VipNSGetHostByName(handle, text, address, 0), "VipNSGetHostByName");
  is(VipNSGetHostByAddr(handle, address, text, &number), "VipNSGetHostByAddr");
  is(VipNSShutdown(handle), "VipNSShutdown");
}

void Nothing::check_all() {
  check_nics();
  check_vis();
  check_memory();
  check_queues();
  check_names();
}

void open_and_close() {
  VIP_NIC_HANDLE nic = nullptr;
  VIP_NIC_HANDLE again = nullptr;
  char empty[] = "";
  expect_return(VipOpenNic(nullptr, &nic), VIP_INVALID_PARAMETER, "a device of no name");
  expect_return(VipOpenNic(empty, &nic), VIP_INVALID_PARAMETER, "a device of an empty name");
  expect_return(VipOpenNic("nic0", nullptr), VIP_INVALID_PARAMETER, "no place for the handle");
  expect_return(VipOpenNic("nic1", &nic), VIP_ERROR_RESOURCE, "a device that is not there");
  expect_return(VipOpenNic("/dev/via10", &nic), VIP_ERROR_RESOURCE, "a device that is not there");
  for (int i = 0; i < 3; ++i) {
    expect_ok(VipOpenNic("/dev/clanvi0", &nic), "VipOpenNic");
    expect_ok(VipOpenNic("VINIC", &again), "VipOpenNic again");
    expect(nic != again && nic != nullptr, "each has a handle of its own");
    expect_ok(VipCloseNic(nic), "VipCloseNic");
    expect_return(VipCloseNic(nic), VIP_INVALID_PARAMETER, "VipCloseNic twice");
    expect_ok(VipCloseNic(again), "VipCloseNic of the last one");
  }
}

void check_tags(const Device& device) {
  VIP_PROTECTION_HANDLE tag = nullptr;
  expect_ok(VipCreatePtag(device.nic, &tag), "VipCreatePtag");
  expect_return(VipCreatePtag(device.nic, nullptr), VIP_INVALID_PARAMETER, "no place for the tag");
  {
    const Memory memory(device, 64, Origin::registered, true, true, tag);
    expect_return(VipDestroyPtag(device.nic, tag), VIP_ERROR_RESOURCE, "a tag of memory");
  }
  VIP_NIC_HANDLE other = nullptr;
  expect_ok(VipOpenNic("other0", &other), "VipOpenNic");
  expect_return(VipDestroyPtag(other, tag), VIP_INVALID_PTAG, "a tag of another NIC");
  expect_ok(VipCloseNic(other), "VipCloseNic");
  expect_ok(VipDestroyPtag(device.nic, tag), "VipDestroyPtag");
  expect_return(VipDestroyPtag(device.nic, tag), VIP_INVALID_PTAG, "a tag that is gone");
}

/// As many tags as the NIC says, and no more. That of the device is one.
void check_limit(const Device& device) {
  std::vector<VIP_PROTECTION_HANDLE> tags;
  VIP_PROTECTION_HANDLE tag = nullptr;
  VIP_RETURN last = VIP_SUCCESS;
  while ((last = VipCreatePtag(device.nic, &tag)) == VIP_SUCCESS) tags.push_back(tag);
  expect_return(last, VIP_ERROR_RESOURCE, "one too many");
  expect_equal(tags.size() + 1, device.attributes.MaxPtags, "tags of a NIC");
  for (const VIP_PROTECTION_HANDLE each : tags) {
    expect_ok(VipDestroyPtag(device.nic, each), "VipDestroyPtag");
  }
}

void check_registration(const Device& device) {
  alignas(64) static char bytes[256];
  VIP_MEM_HANDLE handle = 0;
  VIP_MEM_ATTRIBUTES attributes{device.ptag, VIP_TRUE, VIP_FALSE};
  const auto enroll = [&](void* base, VIP_ULONG length, VIP_MEM_ATTRIBUTES* with) {
    return VipRegisterMem(device.nic, base, length, with, &handle);
  };
  expect_return(enroll(nullptr, 64, &attributes), VIP_INVALID_PARAMETER, "memory at NULL");
  expect_return(enroll(bytes, 0, &attributes), VIP_INVALID_PARAMETER, "no bytes");
  expect_return(enroll(bytes, ~VIP_ULONG{0}, &attributes), VIP_INVALID_PARAMETER,
                "more than there is");
  expect_return(enroll(bytes, 64, nullptr), VIP_INVALID_PARAMETER, "no attributes");
  VIP_MEM_ATTRIBUTES without{nullptr, VIP_FALSE, VIP_FALSE};
  expect_return(enroll(bytes, 64, &without), VIP_INVALID_PTAG, "no tag");
  expect_ok(enroll(bytes, sizeof bytes, &attributes), "VipRegisterMem");
  VIP_MEM_ATTRIBUTES told{};
  expect_ok(VipQueryMem(device.nic, bytes + 100, handle, &told), "VipQueryMem");
  expect(told.Ptag == device.ptag && told.EnableRdmaWrite == VIP_TRUE &&
             told.EnableRdmaRead == VIP_FALSE,
         "the attributes of memory");
  expect_return(VipQueryMem(device.nic, bytes + sizeof bytes, handle, &told), VIP_INVALID_PARAMETER,
                "beyond it");
  attributes.EnableRdmaRead = VIP_TRUE;
  expect_return(VipSetMemAttributes(device.nic, bytes, handle, &without), VIP_INVALID_PTAG,
                "no tag");
  expect_ok(VipSetMemAttributes(device.nic, bytes, handle, &attributes), "VipSetMemAttributes");
  expect_ok(VipQueryMem(device.nic, bytes, handle, &told), "VipQueryMem");
  expect(told.EnableRdmaRead == VIP_TRUE, "a new attribute");
  expect_return(VipDeregisterMem(device.nic, bytes + 1, handle), VIP_INVALID_PARAMETER,
                "another address");
  expect_return(VipFreeMem(device.nic, bytes, handle), VIP_INVALID_PARAMETER,
                "memory of the program");
  expect_ok(VipDeregisterMem(device.nic, bytes, handle), "VipDeregisterMem");
  expect_return(VipDeregisterMem(device.nic, bytes, handle), VIP_INVALID_PARAMETER, "twice");
}

void check_allocation(const Device& device) {
  VIP_MEM_ATTRIBUTES attributes{device.ptag, VIP_TRUE, VIP_FALSE};
  VIP_PVOID base = nullptr;
  VIP_MEM_HANDLE handle = 0;
  expect_return(VipAllocMem(device.nic, nullptr, 64, &attributes, &handle), VIP_INVALID_PARAMETER,
                "no pointer");
  expect_return(VipAllocMem(device.nic, &base, 0, &attributes, &handle), VIP_INVALID_PARAMETER,
                "no bytes");
  expect_ok(VipAllocMem(device.nic, &base, 100'000, &attributes, &handle), "VipAllocMem");
  auto* const bytes = static_cast<char*>(base);
  expect(bytes[0] == 0 && bytes[99'999] == 0, "zeros");
  expect_equal(reinterpret_cast<std::uintptr_t>(base) % 4096, 0, "page-aligned");
  bytes[99'999] = 1;
  expect_return(VipDeregisterMem(device.nic, base, handle), VIP_INVALID_PARAMETER,
                "memory of the library");
  expect_ok(VipFreeMem(device.nic, base, handle), "VipFreeMem");
}

void check_creation(const Device& device) {
  VIP_VI_HANDLE vi = nullptr;
  VIP_VI_ATTRIBUTES attributes = test::vi_attributes(device);
  const auto create = [&](VIP_CQ_HANDLE cq = nullptr) {
    return VipCreateVi(device.nic, &attributes, cq, nullptr, &vi);
  };
  attributes.ReliabilityLevel = 3;
  expect_return(create(), VIP_INVALID_RELIABILITY_LEVEL, "two levels");
  attributes = test::vi_attributes(device);
  attributes.MaxTransferSize = 0;
  expect_return(create(), VIP_INVALID_MTU, "no bytes");
  attributes.MaxTransferSize = device.attributes.MaxTransferSize + 1;
  expect_return(create(), VIP_INVALID_MTU, "too many bytes");
  attributes = test::vi_attributes(device);
  attributes.QoS = &attributes;
  expect_return(create(), VIP_INVALID_QOS, "a quality of service");
  attributes = test::vi_attributes(device);
  attributes.Ptag = nullptr;
  expect_return(create(), VIP_INVALID_PTAG, "no tag");
  attributes = test::vi_attributes(device, VIP_SERVICE_UNRELIABLE);
  attributes.EnableRdmaRead = VIP_TRUE;
  expect_return(create(), VIP_INVALID_RDMAREAD, "reads without reliability");
  attributes = test::vi_attributes(device);
  expect_return(create(device.nic), VIP_INVALID_PARAMETER, "a completion queue that is a NIC");
  expect_return(VipCreateVi(device.nic, nullptr, nullptr, nullptr, &vi), VIP_INVALID_PARAMETER,
                "no attributes");
  expect_ok(create(), "VipCreateVi");
  attributes.MaxTransferSize = 1000;
  expect_ok(VipSetViAttributes(vi, &attributes), "VipSetViAttributes");
  VIP_VI_ATTRIBUTES told{};
  VIP_VI_STATE state = VIP_STATE_ERROR;
  VIP_BOOLEAN sends_empty = VIP_FALSE;
  VIP_BOOLEAN receives_empty = VIP_FALSE;
  expect_ok(VipQueryVi(vi, &state, &told, &sends_empty, &receives_empty), "VipQueryVi");
  expect(state == VIP_STATE_IDLE && told.MaxTransferSize == 1000 && told.Ptag == device.ptag,
         "what a VI is");
  expect(sends_empty == VIP_TRUE && receives_empty == VIP_TRUE, "empty queues");
  attributes.ReliabilityLevel = 0;
  expect_return(VipSetViAttributes(vi, &attributes), VIP_INVALID_RELIABILITY_LEVEL, "no level");
  expect_return(VipSetViAttributes(vi, nullptr), VIP_INVALID_PARAMETER, "no attributes");
  expect_return(VipDisconnect(vi), VIP_INVALID_STATE, "not connected");
  expect_return(VipConnectPeerDone(vi, nullptr), VIP_INVALID_STATE, "no request");
  expect_return(VipConnectPeerWait(vi, nullptr), VIP_INVALID_STATE, "no request");
  expect_ok(VipDestroyVi(vi), "VipDestroyVi");
  expect_return(VipDestroyVi(vi), VIP_INVALID_PARAMETER, "VipDestroyVi twice");
}

void check_queries(const Device& device) {
  const VIP_NIC_ATTRIBUTES& told = device.attributes;
  expect(std::string(told.Name) == "nic0", "the name of the NIC");
  expect_equal(told.NicAddressLen, VIP_HOST_ADDRESS_BYTES, "the length of its address");
  expect_equal(told.ThreadSafe, VIP_TRUE, "threads");
  expect_equal(told.ReliabilityLevelSupport, 7, "levels");
  expect_equal(told.RDMAReadSupport, 6, "levels of reads");
  expect(told.MaxSegmentsPerDesc >= 252 && told.MaxDescriptorsPerQueue >= 1024 &&
             told.MaxVI >= 1024 && told.MaxCQEntries >= 1024 && told.MaxTransferSize >= 32 << 10,
         "what the architecture asks for at least");
  expect(told.MaxTransferSize <= INT32_MAX && told.NativeMTU <= INT32_MAX,
         "lengths that programs keep in an int");
  expect_return(VipQueryNic(device.nic, nullptr), VIP_INVALID_PARAMETER, "no place");
  VIP_COUNTERS counters{};
  expect_return(VipQuerySystemManagementInfo(device.nic, 77, &counters), VIP_ERROR_NOT_SUPPORTED,
                "no such type");
  expect_return(VipQuerySystemManagementInfo(device.nic, VIP_SMI_COUNTERS, nullptr),
                VIP_INVALID_PARAMETER, "no place");
  test::Endpoint first;
  test::Endpoint second;
  VIP_NET_ADDRESS* places[2] = {first, second};
  VIP_AUTODISCOVERY_LIST list{1, places, 2};
  expect_ok(VipQuerySystemManagementInfo(device.nic, VIP_SMI_AUTODISCOVERY, &list),
            "the processes");
  expect_equal(first.address().HostAddress[5], 0, "the first process");
  expect_equal(second.address().HostAddress[5], list.NumAdAddrs > 1 ? 1 : 0, "the second process");
  list = {0, places, 1};
  expect_ok(VipQuerySystemManagementInfo(device.nic, VIP_SMI_AUTODISCOVERY, &list), "this process");
  expect_equal(first.address().HostAddress[5], device.rank, "its own address");
  expect_equal(list.NumAdAddrs, 1, "one address");
}

}  // namespace

int main() {
  Nothing before;
  before.check_all();
  open_and_close();
  {
    const Device device;
    Nothing during;
    during.check_all();
    during.handle = device.ptag;
    during.check_all();
    check_tags(device);
    check_limit(device);
    check_registration(device);
    check_allocation(device);
    check_creation(device);
    check_queries(device);
    if (device.size == 2) test::meet(device, 1 - device.rank, 1);
  }
  before.check_all();
  return test::result();
}
