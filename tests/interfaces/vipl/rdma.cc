// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// RDMA: writes with and without a receive descriptor, reads, fences, and what is refused.
// ranks: 2
// networks: tcp
#include <atomic>

#include "vipl/calls.h"

namespace {

using test::add;
using test::Device;
using test::expect;
using test::expect_equal;
using test::expect_ok;
using test::expect_return;
using test::Interface;
using test::Memory;
using test::Origin;
using test::set_remote;

/// What one end has to know of the other's memory.
struct Card {
  std::uint64_t address;
  VIP_MEM_HANDLE handle;
  std::uint32_t rest;
};

/// Two ends that are connected and know of each other's memory.
class Pair {
 public:
  Pair(const Device& device, unsigned other, Origin origin, std::size_t bytes,
       VIP_RELIABILITY_LEVEL level = test::reception)
      : memory(device, 8192 + bytes, origin),
        vi(device, level),
        cards_(device, 4096),
        talk_(device) {
    VIP_DESCRIPTOR& receive = cards_.descriptor(0);
    add(receive, cards_, 1024, sizeof(Card));
    expect_ok(VipPostRecv(talk_, &receive, cards_.handle), "VipPostRecv");
    test::connect(device, talk_, other, 50);
    test::connect(device, vi, other, 51);
    const Card own{reinterpret_cast<std::uintptr_t>(memory.data), memory.handle, 0};
    std::memcpy(cards_.data + 2048, &own, sizeof own);
    VIP_DESCRIPTOR& send = cards_.descriptor(64);
    add(send, cards_, 2048, sizeof own);
    expect_ok(VipPostSend(talk_, &send, cards_.handle), "VipPostSend");
    test::expect_sent(talk_, send);
    test::expect_received(talk_, receive, sizeof own);
    std::memcpy(&remote, cards_.data + 1024, sizeof remote);
  }
  Memory memory;
  Interface vi;
  Card remote{};

 private:
  Memory cards_;
  Interface talk_;
};

/// A descriptor for the bytes from `offset` on, at the other end's memory.
VIP_DESCRIPTOR& make(const Pair& pair, std::size_t place, unsigned control, std::size_t remote,
                     std::size_t offset, std::size_t bytes) {
  VIP_DESCRIPTOR& made = pair.memory.descriptor(place, control);
  set_remote(made, pair.remote.address + remote, pair.remote.handle);
  if (bytes != 0) add(made, pair.memory, offset, bytes / 2);
  if (bytes != 0) add(made, pair.memory, offset + bytes / 2, bytes - bytes / 2);
  return made;
}

constexpr unsigned write_op = VIP_CONTROL_OP_RDMAWRITE;
constexpr unsigned read_op = VIP_CONTROL_OP_RDMAREAD;

/// Each end writes to the other, tells it by immediate data, and reads back what it has written.
void exchange(const Device& device, unsigned other, Origin origin, std::size_t bytes) {
  Pair pair(device, other, origin, 3 * bytes);
  const std::size_t out = 8192;
  const std::size_t in = out + bytes;
  const std::size_t back = in + bytes;
  VIP_DESCRIPTOR& receive = pair.memory.descriptor(0);
  expect_ok(VipPostRecv(pair.vi, &receive, pair.memory.handle), "VipPostRecv");
  test::meet(device, other, 60);
  for (std::size_t i = 0; i < bytes; ++i) pair.memory.data[out + i] = test::pattern(device.rank, i);
  VIP_DESCRIPTOR& write = make(pair, 1024, write_op, in, out, bytes);
  VIP_DESCRIPTOR& read = make(pair, 2048, read_op, in, back, bytes);
  VIP_DESCRIPTOR& tell =
      make(pair, 3072, write_op | VIP_CONTROL_IMMEDIATE | VIP_CONTROL_QFENCE, in, out, 0);
  tell.CS.ImmediateData = 77 + device.rank;
  expect_ok(VipPostSend(pair.vi, &write, pair.memory.handle), "VipPostSend of a write");
  expect_ok(VipPostSend(pair.vi, &read, pair.memory.handle), "VipPostSend of a read");
  expect_ok(VipPostSend(pair.vi, &tell, pair.memory.handle), "VipPostSend behind a fence");
  test::expect_sent(pair.vi, write, VIP_STATUS_OP_RDMA_WRITE);
  test::expect_sent(pair.vi, read, VIP_STATUS_OP_RDMA_READ);
  test::expect_sent(pair.vi, tell, VIP_STATUS_OP_RDMA_WRITE);
  expect_equal(write.CS.Length, bytes, "the length of a write");
  test::expect_received(pair.vi, receive, 0,
                        VIP_STATUS_OP_REMOTE_RDMA_WRITE | VIP_STATUS_IMMEDIATE);
  expect_equal(receive.CS.ImmediateData, 77 + other, "immediate data");
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes; ++i) {
    wrong += pair.memory.data[in + i] != test::pattern(other, i) ? 1 : 0;
    wrong += pair.memory.data[back + i] != test::pattern(device.rank, i) ? 1 : 0;
  }
  expect_equal(wrong, 0, "bytes that are wrong");
  test::meet(device, other, 61);
}

std::atomic<unsigned>& reported() {
  static std::atomic<unsigned> bits{0};
  return bits;
}

/// The descriptor of which an error was told.
std::atomic<VIP_DESCRIPTOR*>& reported_descriptor() {
  static std::atomic<VIP_DESCRIPTOR*> descriptor{nullptr};
  return descriptor;
}

void note_error(VIP_PVOID /*context*/, VIP_ERROR_DESCRIPTOR* error) {
  if (error->ResourceCode == VIP_RESOURCE_DESCRIPTOR) reported_descriptor() = error->DescriptorPtr;
  reported() |= 1U << error->ErrorCode;
}

/// An operation that the owner refuses: the one who asks has a descriptor with an error, of which its handler is told,
/// both ends break, and the owner's handler is told of `code`.
void refuse(const Device& device, unsigned other, bool asks, unsigned operation,
            VIP_ERROR_CODE code, void (*prepare)(const Device&, const Pair&),
            std::size_t remote_offset, VIP_MEM_HANDLE handle_change) {
  reported() = 0;
  reported_descriptor() = nullptr;
  expect_ok(VipErrorCallback(device.nic, nullptr, note_error), "VipErrorCallback");
  Pair pair(device, other, Origin::registered, 4096);
  std::memset(pair.memory.data + 8192, 3, 4096);
  if (!asks && prepare != nullptr) prepare(device, pair);
  test::meet(device, other, 62);
  if (asks) {
    VIP_DESCRIPTOR& refused = make(pair, 0, operation, 8192 + remote_offset, 8192, 16);
    refused.DS[0].Remote.Handle ^= handle_change;
    expect_ok(VipPostSend(pair.vi, &refused, pair.memory.handle), "VipPostSend");
    test::expect_sent(
        pair.vi, refused,
        VIP_STATUS_RDMA_PROT_ERROR |
            (operation == write_op ? VIP_STATUS_OP_RDMA_WRITE : VIP_STATUS_OP_RDMA_READ));
    test::await([] { return (reported() & 1U << VIP_ERROR_RDMA_TRANSPORT) != 0; },
                "the error is told");
    expect(reported_descriptor() == &refused, "the descriptor with the error");
  } else {
    test::await([&] { return (reported() & 1U << code) != 0; }, "the error is told");
  }
  test::await([&] { return pair.vi.state() == VIP_STATE_ERROR; }, "the connection is broken");
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < 4096; ++i) wrong += pair.memory.data[8192 + i] != 3 ? 1 : 0;
  expect_equal(wrong, 0, "nothing was written");
  test::meet(device, other, 63);
  expect_ok(VipErrorCallback(device.nic, nullptr, nullptr), "VipErrorCallback");
}

void forbid_writes(const Device& device, const Pair& pair) {
  VIP_MEM_ATTRIBUTES attributes{device.ptag, VIP_FALSE, VIP_TRUE};
  expect_ok(VipSetMemAttributes(device.nic, pair.memory.data, pair.memory.handle, &attributes),
            "VipSetMemAttributes");
}
void forbid_reads(const Device& device, const Pair& pair) {
  VIP_MEM_ATTRIBUTES attributes{device.ptag, VIP_TRUE, VIP_FALSE};
  expect_ok(VipSetMemAttributes(device.nic, pair.memory.data, pair.memory.handle, &attributes),
            "VipSetMemAttributes");
}

void refuse_all(const Device& device, unsigned other) {
  for (const bool asks : {device.rank % 2 == 0, device.rank % 2 == 1}) {
    refuse(device, other, asks, write_op, VIP_ERROR_RDMAW_PROT, forbid_writes, 0, 0);
    refuse(device, other, asks, read_op, VIP_ERROR_RDMAR_PROT, forbid_reads, 0, 0);
    refuse(device, other, asks, write_op, VIP_ERROR_RDMAW_PROT, nullptr, 4096 - 15,
           0);  // 1 byte beyond the end
    refuse(device, other, asks, read_op, VIP_ERROR_RDMAR_PROT, nullptr, 4096 - 15, 0);
    refuse(device, other, asks, write_op, VIP_ERROR_RDMAW_PROT, nullptr, 0,
           1U << 18);  // a stale handle
  }
}

/// What was allowed is taken back, and given again: each change counts at once.
void change_access(const Device& device, unsigned other, bool owns, Origin origin) {
  Pair pair(device, other, origin, 4096, VIP_SERVICE_UNRELIABLE);
  for (unsigned i = 0; i < 6; ++i) {
    const bool is_allowed = i % 2 == 0;
    if (owns && i != 0) {
      VIP_MEM_ATTRIBUTES attributes{device.ptag, is_allowed ? VIP_TRUE : VIP_FALSE, VIP_FALSE};
      expect_ok(VipSetMemAttributes(device.nic, pair.memory.data, pair.memory.handle, &attributes),
                "VipSetMemAttributes");
    }
    test::meet(device, other, 64);
    if (!owns) {
      pair.memory.data[8192] = static_cast<unsigned char>(i + 1);
      VIP_DESCRIPTOR& write = make(pair, 0, write_op, 8192, 8192, 2);
      expect_ok(VipPostSend(pair.vi, &write, pair.memory.handle), "VipPostSend");
      test::expect_sent(pair.vi, write,
                        VIP_STATUS_OP_RDMA_WRITE | (is_allowed ? 0U : VIP_STATUS_RDMA_PROT_ERROR));
    }
    test::meet(device, other, 65);
    if (owns) expect_equal(pair.memory.data[8192], is_allowed ? i + 1 : i, "what was written");
  }
  expect(pair.vi.state() == VIP_STATE_CONNECTED, "an unreliable connection stays");
  test::meet(device, other, 66);
}

/// Local descriptors that are wrong.
void check_descriptors(const Device& device, unsigned other) {
  VIP_PROTECTION_HANDLE tag = nullptr;
  expect_ok(VipCreatePtag(device.nic, &tag), "VipCreatePtag");
  {
    const Memory foreign(device, 4096, Origin::registered, true, true, tag);
    const auto check = [&](auto&& spoil, std::uint32_t status,
                           std::uint32_t operation = VIP_STATUS_OP_RDMA_WRITE) {
      Pair pair(device, other, Origin::registered, 4096);
      VIP_DESCRIPTOR& descriptor = make(pair, 0, write_op, 8192, 8192, 16);
      spoil(descriptor, pair);
      expect_ok(VipPostSend(pair.vi, &descriptor, pair.memory.handle), "VipPostSend");
      test::expect_sent(pair.vi, descriptor, status | operation);
      test::await([&] { return pair.vi.state() == VIP_STATE_ERROR; }, "the connection is broken");
      expect_return(VipPostSend(pair.vi, &foreign.descriptor(0), foreign.handle),
                    VIP_INVALID_PARAMETER, "a descriptor in memory of another tag");
      test::meet(device, other, 67);
    };
    check(
        [&](VIP_DESCRIPTOR& d, const Pair&) {
          d.DS[1].Local.Data.Address = foreign.data;
          d.DS[1].Local.Handle = foreign.handle;
        },
        VIP_STATUS_PROTECTION_ERROR);
    check(
        [](VIP_DESCRIPTOR& d, const Pair& pair) {
          d.DS[1].Local.Length = static_cast<VIP_UINT32>(pair.memory.bytes());
        },
        VIP_STATUS_PROTECTION_ERROR);
    check([](VIP_DESCRIPTOR& d, const Pair&) { d.CS.Control |= 0x10; }, VIP_STATUS_FORMAT_ERROR);
    check([](VIP_DESCRIPTOR& d, const Pair&) { d.CS.Reserved = 1; }, VIP_STATUS_FORMAT_ERROR);
    check([](VIP_DESCRIPTOR& d, const Pair&) { d.DS[0].Remote.Reserved = 1; },
          VIP_STATUS_FORMAT_ERROR);
    check([](VIP_DESCRIPTOR& d, const Pair&) { d.CS.SegCount = 0; }, VIP_STATUS_FORMAT_ERROR);
    check([](VIP_DESCRIPTOR& d, const Pair&) { d.CS.Control = VIP_CONTROL_OP_RESERVED; },
          VIP_STATUS_FORMAT_ERROR, VIP_STATUS_OP_SEND);
  }
  expect_ok(VipDestroyPtag(device.nic, tag), "VipDestroyPtag");
}

}  // namespace

int main() {
  {
    const Device device;
    const unsigned other = device.rank ^ 1U;
    for (const Origin origin : {Origin::registered, Origin::allocated}) {
      for (const std::size_t bytes : {std::size_t{2}, std::size_t{3000}, std::size_t{200'000}}) {
        exchange(device, other, origin, bytes);
      }
      change_access(device, other, device.rank % 2 == 0, origin);
    }
    refuse_all(device, other);
    check_descriptors(device, other);
  }
  return test::result();
}
