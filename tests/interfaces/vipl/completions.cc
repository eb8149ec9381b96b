// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Completion queues, waits and notifications, what breaks connections, and copies, which are counted.
// ranks: 2 4
// networks: tcp
#include <atomic>
#include <thread>

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

/// Completions of several VIs and of both queues in one completion queue.
void use_queue(const Device& device, unsigned other) {
  VIP_CQ_HANDLE cq = nullptr;
  expect_return(VipCreateCQ(device.nic, 0, &cq), VIP_INVALID_PARAMETER, "no entries");
  expect_return(VipCreateCQ(device.nic, device.attributes.MaxCQEntries + 1, &cq),
                VIP_ERROR_RESOURCE, "too many");
  expect_return(VipCreateCQ(device.nic, 1, nullptr), VIP_INVALID_PARAMETER, "no place");
  expect_ok(VipCreateCQ(device.nic, 4, &cq), "VipCreateCQ");
  expect_return(VipResizeCQ(cq, 0), VIP_INVALID_PARAMETER, "no entries");
  expect_return(VipResizeCQ(cq, device.attributes.MaxCQEntries + 1), VIP_ERROR_RESOURCE,
                "too many");
  expect_ok(VipResizeCQ(cq, 8), "VipResizeCQ");
  VIP_VI_HANDLE done = nullptr;
  VIP_BOOLEAN is_receive = VIP_FALSE;
  expect_return(VipCQDone(cq, &done, &is_receive), VIP_NOT_DONE, "an empty queue");
  expect_return(VipCQWait(cq, 0, &done, &is_receive), VIP_TIMEOUT, "an empty queue");
  expect_return(VipCQWait(cq, 20, &done, &is_receive), VIP_TIMEOUT, "an empty queue");
  expect_return(VipCQDone(cq, nullptr, &is_receive), VIP_INVALID_PARAMETER, "no place");
  expect_return(VipCQWait(cq, 0, &done, nullptr), VIP_INVALID_PARAMETER, "no place");
  expect_return(VipCQNotify(cq, nullptr, nullptr), VIP_INVALID_PARAMETER, "no handler");
  {
    const Memory memory(device, 4096);
    const Interface one(device, test::reception, cq, cq);
    const Interface two(device, test::reception, cq, cq);
    expect_return(VipDestroyCQ(cq), VIP_ERROR_RESOURCE, "VIs have it");
    const Interface* const vis[2] = {&one, &two};
    for (unsigned i = 0; i < 2; ++i) {
      VIP_DESCRIPTOR& receive = memory.descriptor(i * 128);
      add(receive, memory, 1024 + i * 8, 8);
      expect_ok(VipPostRecv(*vis[i], &receive, memory.handle), "VipPostRecv");
      test::connect(device, *vis[i], other, 20 + i);
    }
    VIP_DESCRIPTOR* descriptor = nullptr;
    expect_return(VipSendWait(one, 0, &descriptor), VIP_INVALID_PARAMETER,
                  "it has a completion queue");
    expect_return(VipRecvWait(one, 0, &descriptor), VIP_INVALID_PARAMETER,
                  "it has a completion queue");
    for (unsigned i = 0; i < 2; ++i) {
      VIP_DESCRIPTOR& send = memory.descriptor(i * 128 + 64);
      add(send, memory, 2048, 8);
      expect_ok(VipPostSend(*vis[i], &send, memory.handle), "VipPostSend");
    }
    unsigned sent = 0;
    unsigned received = 0;
    for (unsigned i = 0; i < 4; ++i) {
      expect_ok(VipCQWait(cq, test::patience, &done, &is_receive), "VipCQWait");
      expect(done == one.handle || done == two.handle, "a VI of the queue");
      const unsigned bit = done == one.handle ? 1 : 2;
      expect_ok(
          is_receive == VIP_TRUE ? VipRecvDone(done, &descriptor) : VipSendDone(done, &descriptor),
          "its descriptor");
      (is_receive == VIP_TRUE ? received : sent) |= bit;
    }
    expect(sent == 3 && received == 3, "each completion came once");
    expect_return(VipCQDone(cq, &done, &is_receive), VIP_NOT_DONE, "no more");
    test::meet(device, other, 22);
  }
  expect_ok(VipDestroyCQ(cq), "VipDestroyCQ");
  expect_return(VipDestroyCQ(cq), VIP_INVALID_PARAMETER, "VipDestroyCQ twice");
}

struct Told {
  std::atomic<unsigned> sends{0};
  std::atomic<unsigned> receives{0};
  std::atomic<unsigned> completions{0};
  VIP_VI_HANDLE vi = nullptr;
};

void on_send(VIP_PVOID context, VIP_NIC_HANDLE, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor) {
  auto& told = *static_cast<Told*>(context);
  if (vi == told.vi && descriptor->CS.Status == VIP_STATUS_DONE) ++told.sends;
}
void on_receive(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi,
                VIP_DESCRIPTOR* descriptor) {
  auto& told = *static_cast<Told*>(context);
  expect_return(VipCloseNic(nic), VIP_ERROR_RESOURCE, "VipCloseNic in a handler");
  const bool is_right = vi == told.vi && descriptor->CS.Length == 8;
  // Handlers may ask for the next one.
  if (is_right && ++told.receives < 3)
    expect_ok(VipRecvNotify(vi, context, on_receive), "VipRecvNotify in a handler");
}
void on_completion(VIP_PVOID context, VIP_NIC_HANDLE, VIP_VI_HANDLE vi, VIP_BOOLEAN is_receive) {
  auto& told = *static_cast<Told*>(context);
  VIP_DESCRIPTOR* descriptor = nullptr;
  if (is_receive == VIP_TRUE) expect_ok(VipRecvDone(vi, &descriptor), "VipRecvDone in a handler");
  if (descriptor != nullptr) ++told.completions;
}

/// Handlers, while the program does nothing with VIPL.
void be_notified(const Device& device, unsigned other) {
  VIP_CQ_HANDLE cq = nullptr;
  expect_ok(VipCreateCQ(device.nic, 4, &cq), "VipCreateCQ");
  {
    const Memory memory(device, 8192);
    const Interface vi(device);
    const Interface queued(device, test::reception, nullptr, cq);
    Told told;
    told.vi = vi;
    expect_return(VipSendNotify(vi, &told, nullptr), VIP_INVALID_PARAMETER, "no handler");
    expect_return(VipRecvNotify(vi, &told, nullptr), VIP_INVALID_PARAMETER, "no handler");
    expect_return(VipRecvNotify(queued, &told, on_receive), VIP_INVALID_PARAMETER,
                  "it has a completion queue");
    for (unsigned i = 0; i < 4; ++i) {
      VIP_DESCRIPTOR& receive = memory.descriptor(i * 64);
      add(receive, memory, 4096, 8);
      expect_ok(VipPostRecv(i == 3 ? queued : vi, &receive, memory.handle), "VipPostRecv");
    }
    expect_ok(VipRecvNotify(vi, &told, on_receive), "VipRecvNotify");
    expect_ok(VipCQNotify(cq, &told, on_completion), "VipCQNotify");
    test::connect(device, vi, other, 30);
    test::connect(device, queued, other, 31);
    for (unsigned i = 0; i < 3; ++i) expect_ok(VipSendNotify(vi, &told, on_send), "VipSendNotify");
    for (unsigned i = 0; i < 4; ++i) {
      VIP_DESCRIPTOR& send = memory.descriptor(1024 + i * 64);
      add(send, memory, 5000, 8);
      expect_ok(VipPostSend(i == 3 ? queued : vi, &send, memory.handle), "VipPostSend");
    }
    test::await([&] { return told.sends == 3 && told.receives == 3 && told.completions == 1; },
                "handlers");
    test::meet(device, other, 32);
  }
  expect_ok(VipDestroyCQ(cq), "VipDestroyCQ");
}

/// A thread that waits for what another one posts later.
void wait_in_thread(const Device& device, unsigned other) {
  const Memory memory(device, 4096);
  const Interface vi(device);
  VIP_DESCRIPTOR* done = nullptr;
  expect_return(VipRecvWait(vi, 10, &done), VIP_TIMEOUT, "an empty queue");
  expect_return(VipSendWait(vi, 0, &done), VIP_TIMEOUT, "an empty queue");
  VIP_DESCRIPTOR& receive = memory.descriptor(0);
  VIP_DESCRIPTOR& send = memory.descriptor(64);
  add(receive, memory, 1024, 8);
  add(send, memory, 2048, 8);
  std::thread waiter([&] { test::expect_received(vi, receive, 8); });
  expect_ok(VipPostRecv(vi, &receive, memory.handle), "VipPostRecv");
  test::connect(device, vi, other, 40);
  expect_ok(VipPostSend(vi, &send, memory.handle), "VipPostSend");
  test::expect_sent(vi, send);
  waiter.join();
  test::meet(device, other, 41);
}

std::atomic<unsigned>& reported() {
  static std::atomic<unsigned> bits{0};
  return bits;
}

/// A message that finds no receive descriptor (`bytes` 0), or a small one, with reliability.
void overrun(const Device& device, unsigned other, bool sends, VIP_RELIABILITY_LEVEL level,
             std::size_t bytes) {
  reported() = 0;
  expect_ok(VipErrorCallback(device.nic, nullptr,
                             [](VIP_PVOID, VIP_ERROR_DESCRIPTOR* error) {
                               reported() |= 1U << error->ErrorCode;
                             }),
            "VipErrorCallback");
  const Memory memory(device, 4096);
  const Interface vi(device, level);
  VIP_DESCRIPTOR& receive = memory.descriptor(0);
  add(receive, memory, 1024, bytes);
  if (!sends && bytes != 0) expect_ok(VipPostRecv(vi, &receive, memory.handle), "VipPostRecv");
  test::connect(device, vi, other, 42);
  if (sends) {
    VIP_DESCRIPTOR& send = memory.descriptor(64);
    VIP_DESCRIPTOR& second = memory.descriptor(128);
    add(send, memory, 2048, 100);
    add(second, memory, 2048, 1);
    expect_ok(VipPostSend(vi, &send, memory.handle), "VipPostSend");
    expect_ok(VipPostSend(vi, &second, memory.handle), "VipPostSend");
    test::expect_sent(
        vi, send,
        level == test::reception ? VIP_STATUS_REMOTE_DESC_ERROR : VIP_STATUS_TRANSPORT_ERROR);
    test::expect_sent(vi, second, VIP_STATUS_DESC_FLUSHED_ERROR);
  } else {
    if (bytes != 0) test::expect_received(vi, receive, 0, VIP_STATUS_LENGTH_ERROR);
    const unsigned code = bytes == 0 ? VIP_ERROR_RECVQ_EMPTY : VIP_ERROR_COMP_PROT;
    test::await([&] { return (reported() & 1U << code) != 0; }, "the error is told");
  }
  test::await([&] { return vi.state() == VIP_STATE_ERROR; }, "the connection is broken");
  expect_ok(VipErrorCallback(device.nic, nullptr, nullptr), "VipErrorCallback");
  test::meet(device, other, 43);
}

/// A descriptor that lies in no memory of the handle: the call says so, and the handler of errors is told.
void check_refused_post(const Device& device, VIP_VI_HANDLE vi, const Memory& memory) {
  std::atomic<VIP_VI_HANDLE> told{nullptr};
  expect_ok(VipErrorCallback(device.nic, &told,
                             [](VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
                               const bool is_it = error->ErrorCode == VIP_ERROR_POST_DESC &&
                                                  error->ResourceCode == VIP_RESOURCE_VI;
                               if (is_it)
                                 *static_cast<std::atomic<VIP_VI_HANDLE>*>(context) =
                                     error->ViHandle;
                             }),
            "VipErrorCallback");
  alignas(64) VIP_DESCRIPTOR elsewhere{};
  expect_return(VipPostSend(vi, &elsewhere, memory.handle), VIP_INVALID_PARAMETER,
                "not in the memory");
  test::await([&] { return told == vi; }, "VIP_ERROR_POST_DESC");
  expect_ok(VipErrorCallback(device.nic, nullptr, nullptr), "VipErrorCallback");
}

/// Wrong receive descriptors, and posts that are refused.
void check_posts(const Device& device, unsigned other) {
  const Memory memory(device, 4096 * 140);
  const Interface vi(device, VIP_SERVICE_UNRELIABLE);
  VIP_DESCRIPTOR& good = memory.descriptor(0);
  VIP_DESCRIPTOR& bad = memory.descriptor(64, VIP_CONTROL_OP_RDMAWRITE);
  add(good, memory, 1024, 8);
  expect_return(VipPostRecv(vi, nullptr, memory.handle), VIP_INVALID_PARAMETER, "no descriptor");
  auto* const crooked = reinterpret_cast<VIP_DESCRIPTOR*>(memory.data + 8);
  expect_return(VipPostRecv(vi, crooked, memory.handle), VIP_INVALID_PARAMETER, "not aligned");
  expect_return(VipPostRecv(vi, &good, memory.handle ^ 1), VIP_INVALID_PARAMETER, "another handle");
  check_refused_post(device, vi, memory);
  expect_return(VipSendDone(vi, nullptr), VIP_INVALID_PARAMETER, "no place");
  expect_return(VipRecvDone(vi, nullptr), VIP_INVALID_PARAMETER, "no place");
  expect_return(VipSendWait(vi, 0, nullptr), VIP_INVALID_PARAMETER, "no place");
  expect_return(VipRecvWait(vi, 0, nullptr), VIP_INVALID_PARAMETER, "no place");
  expect_ok(VipPostRecv(vi, &good, memory.handle), "VipPostRecv");
  expect_ok(VipPostRecv(vi, &bad, memory.handle), "VipPostRecv of a write");
  VIP_DESCRIPTOR* done = nullptr;
  expect_return(VipRecvDone(vi, &done), VIP_NOT_DONE, "descriptors end in order");
  test::connect(device, vi, other, 44);
  VIP_DESCRIPTOR& read = memory.descriptor(128, VIP_CONTROL_OP_RDMAREAD);
  add(read, memory, 2048, 0);
  expect_ok(VipPostSend(vi, &read, memory.handle), "VipPostSend");
  test::expect_sent(vi, read, VIP_STATUS_FORMAT_ERROR | VIP_STATUS_OP_RDMA_READ);
  VIP_DESCRIPTOR& send = memory.descriptor(192);
  add(send, memory, 2048, 8);
  expect_ok(VipPostSend(vi, &send, memory.handle), "VipPostSend");
  test::expect_sent(vi, send);
  test::expect_received(vi, good, 8);
  test::expect_received(vi, bad, 0, VIP_STATUS_FORMAT_ERROR);
  expect(vi.state() == VIP_STATE_CONNECTED, "an unreliable connection stays");
  // A full queue.
  const std::size_t most = device.attributes.MaxDescriptorsPerQueue;
  for (std::size_t i = 0; i < most; ++i) {
    expect_ok(VipPostRecv(vi, &memory.descriptor(4096 + i * 64), memory.handle), "VipPostRecv");
  }
  expect_return(VipPostRecv(vi, &good, memory.handle), VIP_ERROR_RESOURCE, "a full queue");
  // Of a VI without a connection they are done, and stay in the queue until they are taken back.
  const Interface idle(device);
  const auto post = [&](std::size_t i) {
    return VipPostSend(idle, &memory.descriptor(4096 * 70 + i * 64), memory.handle);
  };
  for (std::size_t i = 0; i < most; ++i) expect_ok(post(i), "VipPostSend");
  expect_return(post(most), VIP_ERROR_RESOURCE, "a full queue");
  expect_return(VipSendDone(idle, &done), VIP_DESCRIPTOR_ERROR, "one that was flushed");
  expect_ok(post(most), "room for one");
  test::meet(device, other, 45);
}

/// What one message of `bytes` costs in copies at both ends: allocated memory none, a shadow at most two.
void count_copies(const Device& device, unsigned other, Origin origin, std::size_t bytes) {
  const Memory memory(device, 4096 + 2 * bytes, origin);
  const Interface vi(device);
  VIP_DESCRIPTOR& receive = memory.descriptor(0);
  VIP_DESCRIPTOR& send = memory.descriptor(64);
  add(receive, memory, 4096, bytes);
  add(send, memory, 4096 + bytes, bytes);
  expect_ok(VipPostRecv(vi, &receive, memory.handle), "VipPostRecv");
  // The other end's message may have been taken when this one is told that it is connected.
  const VIP_COUNTERS before = device.counters();
  test::connect(device, vi, other, 46);
  expect_ok(VipPostSend(vi, &send, memory.handle), "VipPostSend");
  test::expect_sent(vi, send);
  test::expect_received(vi, receive, bytes);
  const VIP_COUNTERS after = device.counters();
  const char* const fabric = std::getenv("FULMAR_FABRIC");
  const bool is_near = fabric == nullptr || std::string(fabric) == "shm";
  const char* const word = std::getenv("FULMAR_VIPL_REGISTRATION");
  const std::string mode = word == nullptr ? "auto" : word;
  unsigned copies = 0;
  if (origin == Origin::registered && mode == "shadow") copies = 2;
  if (origin == Origin::registered && mode == "auto" && is_near && bytes <= 1'048'576) copies = 1;
  expect_equal(after.Copies - before.Copies, copies, "copies of what is sent and what is received");
  expect_equal(after.CopiedBytes - before.CopiedBytes, copies * bytes, "bytes that were copied");
  expect_equal(after.Sends - before.Sends, 1, "messages sent");
  expect_equal(after.Receives - before.Receives, 1, "messages received");
  expect_equal(after.Stored - before.Stored + after.Transfers - before.Transfers, 1,
               "blocks that were moved");
  test::meet(device, other, 47);
}

}  // namespace

int main() {
  {
    const Device device;
    const unsigned other = device.rank ^ 1U;
    use_queue(device, other);
    be_notified(device, other);
    wait_in_thread(device, other);
    for (const bool sends : {device.rank % 2 == 0, device.rank % 2 == 1}) {
      for (const VIP_RELIABILITY_LEVEL level :
           {VIP_SERVICE_RELIABLE_DELIVERY, VIP_SERVICE_RELIABLE_RECEPTION}) {
        overrun(device, other, sends, level, 0);
        overrun(device, other, sends, level, 99);
      }
    }
    check_posts(device, other);
    for (const Origin origin : {Origin::registered, Origin::allocated}) {
      for (const std::size_t bytes :
           {std::size_t{1000}, std::size_t{1'048'576}, std::size_t{1'048'577}}) {
        count_copies(device, other, origin, bytes);
      }
    }
  }
  return test::result();
}
