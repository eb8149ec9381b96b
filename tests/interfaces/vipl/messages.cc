// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Messages: gather and scatter, all sizes and kinds of memory, windows, immediate data, reliability.
// ranks: 2 4
// networks: tcp
#include "vipl/calls.h"

namespace {

using test::add;
using test::Device;
using test::expect;
using test::expect_equal;
using test::expect_ok;
using test::Interface;
using test::Memory;
using test::Origin;

constexpr std::size_t descriptor_bytes = 4096;

/// Sends `bytes` from one process to the other in pieces, and back.
void exchange(const Device& device, unsigned other, Origin origin, std::size_t bytes) {
  const Memory memory(device, 2 * descriptor_bytes + 2 * bytes + 64, origin);
  const Interface vi(device);
  const std::size_t out = 2 * descriptor_bytes;
  const std::size_t in = out + bytes;
  VIP_DESCRIPTOR& receive = memory.descriptor(0);
  VIP_DESCRIPTOR& send = memory.descriptor(descriptor_bytes);
  // Three pieces here, two there.
  add(receive, memory, in, bytes / 3);
  add(receive, memory, in + bytes / 3, bytes / 3);
  add(receive, memory, in + 2 * (bytes / 3), bytes - 2 * (bytes / 3) + 16);
  add(send, memory, out, bytes / 2);
  add(send, memory, out + bytes / 2, bytes - bytes / 2);
  for (std::size_t i = 0; i < bytes; ++i) memory.data[out + i] = test::pattern(device.rank, i);
  expect_ok(VipPostRecv(vi, &receive, memory.handle), "VipPostRecv");
  test::connect(device, vi, other);
  expect_ok(VipPostSend(vi, &send, memory.handle), "VipPostSend");
  test::expect_sent(vi, send);
  test::expect_received(vi, receive, bytes);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    wrong += memory.data[in + i] != test::pattern(other, i) ? 1 : 0;
  expect_equal(wrong, 0, "bytes that are wrong");
}

/// More messages than are given ahead, without a call of the receiver in between.
void fill_window(const Device& device, unsigned other, bool sends) {
  constexpr unsigned count = 100;
  constexpr std::size_t each = 256;
  const Memory memory(device, count * each);
  const Interface vi(device);
  for (unsigned i = 0; i < count && !sends; ++i) {
    VIP_DESCRIPTOR& receive = memory.descriptor(i * each);
    add(receive, memory, i * each + 64, 64);
    expect_ok(VipPostRecv(vi, &receive, memory.handle), "VipPostRecv");
  }
  test::connect(device, vi, other);
  for (unsigned i = 0; i < count && sends; ++i) {
    VIP_DESCRIPTOR& send =
        memory.descriptor(i * each, VIP_CONTROL_OP_SENDRECV | VIP_CONTROL_IMMEDIATE);
    std::memset(memory.data + i * each + 64, static_cast<int>(i), 64);
    add(send, memory, i * each + 64, i % 64);
    send.Control.ImmediateData = i * 3;
    expect_ok(VipPostSend(vi, &send, memory.handle), "VipPostSend");
  }
  for (unsigned i = 0; i < count; ++i) {
    auto& descriptor = *reinterpret_cast<VIP_DESCRIPTOR*>(memory.data + i * each);
    if (sends) {
      test::expect_sent(vi, descriptor);
    } else {
      test::expect_received(vi, descriptor, i % 64, VIP_STATUS_IMMEDIATE);
      expect_equal(descriptor.Control.ImmediateData, i * 3, "immediate data");
      expect(i % 64 == 0 || memory.data[i * each + 64] == i, "a message is in its place");
    }
  }
}

/// A message that finds no descriptor, and one that finds a small one, without reliability: nothing breaks.
void drop(const Device& device, unsigned other, bool sends) {
  const Memory memory(device, 4096);
  const Interface vi(device, VIP_SERVICE_UNRELIABLE);
  VIP_DESCRIPTOR& first = memory.descriptor(0);
  VIP_DESCRIPTOR& second = memory.descriptor(64);
  add(first, memory, 1024, 16);
  add(second, memory, 2048, 16);
  test::connect(device, vi, other);
  if (sends) {
    expect_ok(VipPostSend(vi, &first, memory.handle), "VipPostSend");
    test::expect_sent(vi, first);  // dropped
    test::meet(device, other, 8);  // it may have descriptors now
    test::meet(device, other, 9);  // it has
    second.Data[0].Length = 32;
    expect_ok(VipPostSend(vi, &second, memory.handle), "VipPostSend");
    test::expect_sent(vi, second);
    VIP_DESCRIPTOR& third = memory.descriptor(128);
    add(third, memory, 1024, 8);
    expect_ok(VipPostSend(vi, &third, memory.handle), "VipPostSend");
    test::expect_sent(vi, third);
  } else {
    test::meet(device, other, 8);  // the first one was dropped
    expect_ok(VipPostRecv(vi, &first, memory.handle), "VipPostRecv");
    expect_ok(VipPostRecv(vi, &second, memory.handle), "VipPostRecv");
    test::meet(device, other, 9);
    test::expect_received(vi, first, 0, VIP_STATUS_LENGTH_ERROR);
    test::expect_received(vi, second, 8);
  }
  expect(vi.state() == VIP_STATE_CONNECTED, "an unreliable connection stays");
  test::meet(device, other, 10);
}

void fill_all_levels(const Device& device, unsigned other) {
  for (const VIP_RELIABILITY_LEVEL level :
       {VIP_SERVICE_UNRELIABLE, VIP_SERVICE_RELIABLE_DELIVERY, VIP_SERVICE_RELIABLE_RECEPTION}) {
    const Memory memory(device, 4096);
    const Interface vi(device, level);
    VIP_DESCRIPTOR& receive = memory.descriptor(0);
    VIP_DESCRIPTOR& send = memory.descriptor(64);
    add(receive, memory, 1024, 4);
    add(send, memory, 2048, 4);
    memory.data[2048] = 42;
    expect_ok(VipPostRecv(vi, &receive, memory.handle), "VipPostRecv");
    test::connect(device, vi, other);
    expect_ok(VipPostSend(vi, &send, memory.handle), "VipPostSend");
    test::expect_sent(vi, send);
    test::expect_received(vi, receive, 4);
    expect_equal(memory.data[1024], 42, "what came");
  }
}

}  // namespace

int main() {
  {
    const Device device;
    const unsigned other = device.rank ^ 1U;
    for (const Origin origin : {Origin::registered, Origin::allocated}) {
      for (const std::size_t bytes :
           {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{300'000},
            std::size_t{1'048'576}, std::size_t{1'048'577}}) {
        exchange(device, other, origin, bytes);
      }
    }
    fill_window(device, other, device.rank % 2 == 0);
    fill_window(device, other, device.rank % 2 == 1);
    drop(device, other, device.rank % 2 == 0);
    fill_all_levels(device, other);
  }
  return test::result();
}
