// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <vipl.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "fulmar/measure/message_path.h"

namespace fulmar::measure {

namespace {

struct ViplCalls {
  explicit ViplCalls(const LoadedLibrary& library) {
    require(library.is_there(), vipl_file);
    library.find("VipOpenNic", open_nic);
    library.find("VipCloseNic", close_nic);
    library.find("VipQueryNic", query_nic);
    library.find("VipCreatePtag", create_ptag);
    library.find("VipDestroyPtag", destroy_ptag);
    library.find("VipRegisterMem", register_memory);
    library.find("VipDeregisterMem", deregister_memory);
    library.find("VipAllocMem", allocate);
    library.find("VipFreeMem", free);
    library.find("VipCreateVi", create_vi);
    library.find("VipDestroyVi", destroy_vi);
    library.find("VipConnectPeerRequest", request);
    library.find("VipConnectPeerWait", wait);
    library.find("VipDisconnect", disconnect);
    library.find("VipPostSend", post_send);
    library.find("VipPostRecv", post_receive);
    library.find("VipSendDone", send_done);
    library.find("VipRecvDone", receive_done);
  }
  decltype(VipOpenNic)* open_nic = nullptr;
  decltype(VipCloseNic)* close_nic = nullptr;
  decltype(VipQueryNic)* query_nic = nullptr;
  decltype(VipCreatePtag)* create_ptag = nullptr;
  decltype(VipDestroyPtag)* destroy_ptag = nullptr;
  decltype(VipRegisterMem)* register_memory = nullptr;
  decltype(VipDeregisterMem)* deregister_memory = nullptr;
  decltype(VipAllocMem)* allocate = nullptr;
  decltype(VipFreeMem)* free = nullptr;
  decltype(VipCreateVi)* create_vi = nullptr;
  decltype(VipDestroyVi)* destroy_vi = nullptr;
  decltype(VipConnectPeerRequest)* request = nullptr;
  decltype(VipConnectPeerWait)* wait = nullptr;
  decltype(VipDisconnect)* disconnect = nullptr;
  decltype(VipPostSend)* post_send = nullptr;
  decltype(VipPostRecv)* post_receive = nullptr;
  decltype(VipSendDone)* send_done = nullptr;
  decltype(VipRecvDone)* receive_done = nullptr;
};

/// An address without discriminator: there is one VI at either end.
struct Endpoint {
  explicit Endpoint(const std::array<std::uint8_t, VIP_HOST_ADDRESS_BYTES>& host) {
    std::memset(bytes, 0, sizeof bytes);
    address()->HostAddressLen = static_cast<VIP_UINT16>(host.size());
    std::memcpy(bytes + offsetof(VIP_NET_ADDRESS, HostAddress), host.data(), host.size());
  }
  VIP_NET_ADDRESS* address() { return reinterpret_cast<VIP_NET_ADDRESS*>(bytes); }
  alignas(8) unsigned char bytes[64];
};

class ViplPath final : public MessagePath {
 public:
  ViplPath(const Team& team, std::size_t bytes, ViplMemory memory)
      : calls_(LoadedLibrary(vipl_file)), bytes_(bytes), kind_(memory) {
    check(calls_.open_nic("nic0", &nic_), "VipOpenNic");
    VIP_NIC_ATTRIBUTES attributes{};
    check(calls_.query_nic(nic_, &attributes), "VipQueryNic");
    check(calls_.create_ptag(nic_, &ptag_), "VipCreatePtag");
    make_memory();
    VIP_VI_ATTRIBUTES of_vi{};
    of_vi.ReliabilityLevel = VIP_SERVICE_RELIABLE_DELIVERY;
    of_vi.MaxTransferSize = attributes.MaxTransferSize;
    of_vi.Ptag = ptag_;
    check(calls_.create_vi(nic_, &of_vi, nullptr, nullptr, &vi_), "VipCreateVi");
    for (std::size_t i = 0; i < receives; ++i) post_receive(descriptor(i));
    std::array<std::uint8_t, VIP_HOST_ADDRESS_BYTES> own{};
    std::memcpy(own.data(), attributes.LocalNicAddress, own.size());
    Endpoint local(own);
    Endpoint remote(swap_values(team, own));
    check(calls_.request(vi_, local.address(), remote.address(), VIP_INFINITE),
          "VipConnectPeerRequest");
    check(calls_.wait(vi_, nullptr), "VipConnectPeerWait");
  }
  ~ViplPath() override {
    check(calls_.disconnect(vi_), "VipDisconnect");
    VIP_DESCRIPTOR* done = nullptr;
    while (calls_.receive_done(vi_, &done) != VIP_NOT_DONE) {
    }
    check(calls_.destroy_vi(vi_), "VipDestroyVi");
    if (kind_ == ViplMemory::allocated) {
      check(calls_.free(nic_, memory_, handle_), "VipFreeMem");
    } else {
      check(calls_.deregister_memory(nic_, memory_, handle_), "VipDeregisterMem");
      std::free(memory_);
    }
    check(calls_.destroy_ptag(nic_, ptag_), "VipDestroyPtag");
    check(calls_.close_nic(nic_), "VipCloseNic");
  }
  void start() override { send(bytes_); }
  void start_empty() override { send(0); }
  void complete() override {
    while (under_way_ != 0) take_sent();
  }
  void receive(int count) override {
    for (VIP_DESCRIPTOR* done = nullptr; count != 0;) {
      const VIP_RETURN result = calls_.receive_done(vi_, &done);
      if (result == VIP_NOT_DONE) continue;
      check(result, "VipRecvDone");
      post_receive(*done);
      --count;
    }
  }

 private:
  static constexpr std::size_t receives = 2 * window + 2;
  static constexpr std::size_t sends = window;
  static constexpr std::size_t descriptor_bytes = (receives + sends) * sizeof(VIP_DESCRIPTOR);
  static constexpr std::size_t page = 4096;
  static constexpr std::size_t data_at = (descriptor_bytes + page - 1) / page * page;

  static void check(VIP_RETURN result, const char* call) { require(result == VIP_SUCCESS, call); }
  /// Descriptors, what is sent, and what comes, each from a page on.
  void make_memory() {
    room_ = (bytes_ + page) / page * page;
    const std::size_t all = data_at + 2 * room_;
    VIP_MEM_ATTRIBUTES attributes{ptag_, VIP_FALSE, VIP_FALSE};
    VIP_PVOID base = nullptr;
    if (kind_ == ViplMemory::allocated) {
      check(calls_.allocate(nic_, &base, all, &attributes, &handle_), "VipAllocMem");
    } else {
      base = std::aligned_alloc(page, all);
      require(base != nullptr, "aligned_alloc");
      std::memset(base, 0, all);
      check(calls_.register_memory(nic_, base, all, &attributes, &handle_), "VipRegisterMem");
    }
    memory_ = static_cast<std::byte*>(base);
  }
  VIP_DESCRIPTOR& descriptor(std::size_t index) {
    return reinterpret_cast<VIP_DESCRIPTOR*>(memory_)[index];
  }
  void fill(VIP_DESCRIPTOR& made, std::byte* data, std::size_t bytes) const {
    made.CS = {};
    made.CS.Control = VIP_CONTROL_OP_SENDRECV;
    made.CS.SegCount = bytes == 0 ? 0 : 1;
    made.CS.Length = static_cast<VIP_UINT32>(bytes);
    made.DS[0].Local.Data.Address = data;
    made.DS[0].Local.Handle = handle_;
    made.DS[0].Local.Length = static_cast<VIP_UINT32>(bytes);
  }
  void post_receive(VIP_DESCRIPTOR& made) {
    fill(made, memory_ + data_at + room_, bytes_);
    check(calls_.post_receive(vi_, &made, handle_), "VipPostRecv");
  }
  void send(std::size_t bytes) {
    while (under_way_ == sends) take_sent();
    VIP_DESCRIPTOR& made = descriptor(receives + next_);
    next_ = (next_ + 1) % sends;
    fill(made, memory_ + data_at, bytes);
    check(calls_.post_send(vi_, &made, handle_), "VipPostSend");
    ++under_way_;
  }
  void take_sent() {
    VIP_DESCRIPTOR* done = nullptr;
    const VIP_RETURN result = calls_.send_done(vi_, &done);
    if (result == VIP_NOT_DONE) return;
    check(result, "VipSendDone");
    --under_way_;
  }

  ViplCalls calls_;
  std::size_t bytes_;
  ViplMemory kind_;
  VIP_NIC_HANDLE nic_ = nullptr;
  VIP_PROTECTION_HANDLE ptag_ = nullptr;
  VIP_VI_HANDLE vi_ = nullptr;
  std::byte* memory_ = nullptr;
  VIP_MEM_HANDLE handle_ = 0;
  std::size_t room_ = 0;  ///< for the data of one direction
  std::size_t next_ = 0;  ///< descriptor of the next send
  std::size_t under_way_ = 0;
};

}  // namespace

std::unique_ptr<MessagePath> make_vipl_path(const Team& team, std::size_t bytes,
                                            ViplMemory memory) {
  return std::make_unique<ViplPath>(team, bytes, memory);
}

}  // namespace fulmar::measure
