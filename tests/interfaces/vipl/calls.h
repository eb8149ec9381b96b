// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <vipl.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <source_location>
#include <string>
#include <vector>

#include "support/expect.h"

// What the programs that test VIPL share.
namespace test {

inline void expect_return(VIP_RETURN actual, VIP_RETURN expected, const char* what,
                          std::source_location where = std::source_location::current()) {
  if (expect(actual == expected, what, where)) return;
  std::fprintf(stderr, "  got %d, expected %d\n", static_cast<int>(actual),
               static_cast<int>(expected));
}
inline void expect_ok(VIP_RETURN actual, const char* what,
                      std::source_location where = std::source_location::current()) {
  expect_return(actual, VIP_SUCCESS, what, where);
}

/// Long enough for everything that happens, so that a test that hangs fails.
inline constexpr VIP_ULONG patience = 45'000;

/// A NIC for the life of a test, with a tag, and what is known of the job.
class Device {
 public:
  Device() {
    expect_ok(VipOpenNic("nic0", &nic), "VipOpenNic");
    expect_ok(VipQueryNic(nic, &attributes), "VipQueryNic");
    expect_ok(VipCreatePtag(nic, &ptag), "VipCreatePtag");
    VIP_AUTODISCOVERY_LIST list{1, nullptr, 0};
    expect_ok(VipQuerySystemManagementInfo(nic, VIP_SMI_AUTODISCOVERY, &list),
              "the number of processes");
    size = static_cast<unsigned>(list.NumAdAddrs);
    rank = attributes.LocalNicAddress[5];
    own_rank() = static_cast<int>(rank);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    expect_ok(VipDestroyPtag(nic, ptag), "VipDestroyPtag: nothing uses it any more");
    expect_ok(VipCloseNic(nic), "VipCloseNic");
  }
  [[nodiscard]] VIP_COUNTERS counters() const {
    VIP_COUNTERS counters{};
    expect_ok(VipQuerySystemManagementInfo(nic, VIP_SMI_COUNTERS, &counters), "the counters");
    return counters;
  }
  VIP_NIC_HANDLE nic = nullptr;
  VIP_PROTECTION_HANDLE ptag = nullptr;
  VIP_NIC_ATTRIBUTES attributes{};
  unsigned rank = 0;
  unsigned size = 0;
};

/// An address of a process, with a discriminator.
class Endpoint {
 public:
  Endpoint(unsigned rank, std::uint32_t discriminator)
      : Endpoint(rank, &discriminator, sizeof discriminator) {}
  Endpoint(unsigned rank, const void* discriminator, std::size_t bytes) {
    const std::uint8_t host[VIP_HOST_ADDRESS_BYTES] = {0x02, 0x46, 0,
                                                       0,    0,    static_cast<std::uint8_t>(rank)};
    address().HostAddressLen = sizeof host;
    address().DiscriminatorLen = static_cast<VIP_UINT16>(bytes);
    std::memcpy(storage_ + offsetof(VIP_NET_ADDRESS, HostAddress), host, sizeof host);
    if (bytes != 0) {
      std::memcpy(storage_ + offsetof(VIP_NET_ADDRESS, HostAddress) + sizeof host, discriminator,
                  bytes);
    }
  }
  Endpoint() : Endpoint(0, nullptr, 0) {}
  [[nodiscard]] VIP_NET_ADDRESS& address() { return *reinterpret_cast<VIP_NET_ADDRESS*>(storage_); }
  operator VIP_NET_ADDRESS*() { return &address(); }
  [[nodiscard]] std::uint32_t discriminator() const {
    std::uint32_t value = 0;
    std::memcpy(&value, storage_ + offsetof(VIP_NET_ADDRESS, HostAddress) + VIP_HOST_ADDRESS_BYTES,
                sizeof value);
    return value;
  }

 private:
  alignas(8) unsigned char storage_[256] = {};
};

/// Registered memory: of the program, or, with `allocated`, of the library.
enum class Origin : std::uint8_t { registered, allocated };
class Memory {
 public:
  Memory(const Device& device, std::size_t bytes, Origin origin = Origin::registered,
         bool writes = true, bool reads = true, VIP_PROTECTION_HANDLE ptag = nullptr)
      : device_(device), origin_(origin), bytes_(bytes) {
    VIP_MEM_ATTRIBUTES attributes{ptag == nullptr ? device.ptag : ptag, writes ? 1 : 0,
                                  reads ? 1 : 0};
    if (origin == Origin::allocated) {
      VIP_PVOID base = nullptr;
      expect_ok(VipAllocMem(device.nic, &base, bytes, &attributes, &handle), "VipAllocMem");
      data = static_cast<unsigned char*>(base);
    } else {
      data = static_cast<unsigned char*>(std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096));
      std::memset(data, 0, bytes);
      expect_ok(VipRegisterMem(device.nic, data, bytes, &attributes, &handle), "VipRegisterMem");
    }
  }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  ~Memory() {
    if (origin_ == Origin::allocated) {
      expect_ok(VipFreeMem(device_.nic, data, handle), "VipFreeMem");
    } else {
      expect_ok(VipDeregisterMem(device_.nic, data, handle), "VipDeregisterMem");
      std::free(data);
    }
  }
  /// A descriptor in it, at a multiple of 64, of no segments.
  [[nodiscard]] VIP_DESCRIPTOR& descriptor(std::size_t offset,
                                           unsigned control = VIP_CONTROL_OP_SENDRECV) const {
    auto& made = *reinterpret_cast<VIP_DESCRIPTOR*>(data + offset);
    std::memset(&made, 0, sizeof made);
    made.CS.Control = static_cast<VIP_UINT16>(control);
    return made;
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  unsigned char* data = nullptr;
  VIP_MEM_HANDLE handle = 0;

 private:
  const Device& device_;
  Origin origin_;
  std::size_t bytes_;
};

/// Adds a data segment.
inline void add(VIP_DESCRIPTOR& descriptor, const Memory& memory, std::size_t offset,
                std::size_t bytes) {
  auto* const segments = reinterpret_cast<VIP_DATA_SEGMENT*>(
      reinterpret_cast<unsigned char*>(&descriptor) + sizeof(VIP_CONTROL_SEGMENT));
  VIP_DATA_SEGMENT& segment = segments[descriptor.CS.SegCount++];
  segment.Data.Address = memory.data + offset;
  segment.Handle = memory.handle;
  segment.Length = static_cast<VIP_UINT32>(bytes);
}
/// Where at the other end, as the first segment.
inline void set_remote(VIP_DESCRIPTOR& descriptor, std::uint64_t address, VIP_MEM_HANDLE handle) {
  descriptor.DS[0].Remote.Data.AddressBits = address;
  descriptor.DS[0].Remote.Handle = handle;
  descriptor.DS[0].Remote.Reserved = 0;
  descriptor.CS.SegCount = 1;
}

inline constexpr VIP_RELIABILITY_LEVEL reception = VIP_SERVICE_RELIABLE_RECEPTION;

inline VIP_VI_ATTRIBUTES vi_attributes(const Device& device,
                                       VIP_RELIABILITY_LEVEL level = reception) {
  VIP_VI_ATTRIBUTES attributes{};
  attributes.ReliabilityLevel = level;
  attributes.MaxTransferSize = device.attributes.MaxTransferSize;
  attributes.Ptag = device.ptag;
  attributes.EnableRdmaWrite = VIP_TRUE;
  attributes.EnableRdmaRead = level == VIP_SERVICE_UNRELIABLE ? VIP_FALSE : VIP_TRUE;
  return attributes;
}

/// A VI for the life of a test; at the end it is disconnected, and its descriptors are taken back.
class Interface {
 public:
  explicit Interface(const Device& device, VIP_RELIABILITY_LEVEL level = reception,
                     VIP_CQ_HANDLE send_cq = nullptr, VIP_CQ_HANDLE receive_cq = nullptr) {
    VIP_VI_ATTRIBUTES attributes = vi_attributes(device, level);
    expect_ok(VipCreateVi(device.nic, &attributes, send_cq, receive_cq, &handle), "VipCreateVi");
  }
  Interface(const Interface&) = delete;
  Interface& operator=(const Interface&) = delete;
  ~Interface() {
    (void)VipDisconnect(handle);
    take_all();
    expect_ok(VipDestroyVi(handle), "VipDestroyVi");
  }
  /// Takes back what is done; waits for what is under way.
  void take_all() const {
    VIP_BOOLEAN sends_empty = VIP_FALSE;
    VIP_BOOLEAN receives_empty = VIP_FALSE;
    await(
        [&] {
          VIP_DESCRIPTOR* done = nullptr;
          while (VipSendDone(handle, &done) != VIP_NOT_DONE) {
          }
          while (VipRecvDone(handle, &done) != VIP_NOT_DONE) {
          }
          expect_ok(VipQueryVi(handle, nullptr, nullptr, &sends_empty, &receives_empty),
                    "VipQueryVi");
          return sends_empty == VIP_TRUE && receives_empty == VIP_TRUE;
        },
        "descriptors are done");
  }
  [[nodiscard]] VIP_VI_STATE state() const {
    VIP_VI_STATE state = VIP_STATE_ERROR;
    expect_ok(VipQueryVi(handle, &state, nullptr, nullptr, nullptr), "VipQueryVi");
    return state;
  }
  operator VIP_VI_HANDLE() const { return handle; }
  VIP_VI_HANDLE handle = nullptr;
};

/// Connects the VI to the one of the other process, as peers.
inline void connect(const Device& device, VIP_VI_HANDLE vi, unsigned other,
                    std::uint32_t number = 7,
                    std::source_location where = std::source_location::current()) {
  // Both ends make the same pair of discriminators.
  Endpoint local(device.rank, number + device.rank * 1000);
  Endpoint remote(other, number + other * 1000);
  expect_return(VipConnectPeerRequest(vi, local, remote, patience), VIP_SUCCESS,
                "VipConnectPeerRequest", where);
  expect_return(VipConnectPeerWait(vi, nullptr), VIP_SUCCESS, "VipConnectPeerWait", where);
}

/// Returns when the other process has called it, too. In turn with the same numbers.
inline void meet(const Device& device, unsigned other, std::uint32_t number) {
  const Interface vi(device);
  connect(device, vi, other, number);
}

/// The next descriptor of a queue, which has to be this one.
inline void expect_sent(VIP_VI_HANDLE vi, const VIP_DESCRIPTOR& descriptor,
                        std::uint32_t status = 0,
                        std::source_location where = std::source_location::current()) {
  VIP_DESCRIPTOR* done = nullptr;
  const VIP_RETURN expected =
      (status & VIP_STATUS_ERROR_MASK) == 0 ? VIP_SUCCESS : VIP_DESCRIPTOR_ERROR;
  expect_return(VipSendWait(vi, patience, &done), expected, "VipSendWait", where);
  expect(done == &descriptor, "the descriptor that was sent", where);
  expect_equal(descriptor.CS.Status, status | VIP_STATUS_DONE, "status of the send", where);
}
inline void expect_received(VIP_VI_HANDLE vi, const VIP_DESCRIPTOR& descriptor, std::size_t bytes,
                            std::uint32_t status = 0,
                            std::source_location where = std::source_location::current()) {
  VIP_DESCRIPTOR* done = nullptr;
  const VIP_RETURN expected =
      (status & VIP_STATUS_ERROR_MASK) == 0 ? VIP_SUCCESS : VIP_DESCRIPTOR_ERROR;
  expect_return(VipRecvWait(vi, patience, &done), expected, "VipRecvWait", where);
  expect(done == &descriptor, "the descriptor that was posted", where);
  const std::uint32_t operation = (status & VIP_STATUS_OP_MASK) == 0 ? VIP_STATUS_OP_RECEIVE : 0U;
  expect_equal(descriptor.CS.Status, status | operation | VIP_STATUS_DONE, "status of the receive",
               where);
  expect_equal(descriptor.CS.Length, bytes, "length of what came", where);
}

/// Byte i of message n.
inline unsigned char pattern(std::size_t message, std::size_t i) {
  return static_cast<unsigned char>(message * 37 + i * 11 + (i >> 8));
}

}  // namespace test
