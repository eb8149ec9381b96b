// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The last process is killed in the middle of a stream of messages, to it and from it. Connections to it break,
// descriptors end, requests to it fail; connections between the others go on. Run by test_deaths.py, under
// --on-failure=continue.
#include <atomic>
#include <csignal>

#include "vipl/calls.h"

namespace {

using test::add;
using test::Device;
using test::Endpoint;
using test::expect;
using test::expect_ok;
using test::expect_return;
using test::Interface;
using test::Memory;

constexpr std::size_t bytes = std::size_t{1} << 20;
constexpr std::size_t slots = 16;
constexpr std::size_t data_at = 4096;

/// Posts every descriptor once; a send where `sends`.
void post(const Interface& vi, const Memory& memory, std::size_t slot, bool sends) {
  VIP_DESCRIPTOR& descriptor = memory.descriptor(slot * 64);
  add(descriptor, memory, data_at, bytes);
  expect_ok(sends ? VipPostSend(vi, &descriptor, memory.handle) : VipPostRecv(vi, &descriptor, memory.handle), "a post");
}

/// Takes what is done and posts it again, while the connection holds; whether something had an error.
bool turn(const Interface& vi, const Memory& memory, bool sends) {
  VIP_DESCRIPTOR* done = nullptr;
  const VIP_RETURN result = sends ? VipSendDone(vi, &done) : VipRecvDone(vi, &done);
  if (result == VIP_NOT_DONE) return false;
  if (result != VIP_SUCCESS) return true;
  const auto slot = static_cast<std::size_t>(reinterpret_cast<unsigned char*>(done) - memory.data) / 64;
  post(vi, memory, slot, sends);
  return false;
}

struct Streams {
  explicit Streams(const Device& device, unsigned other, std::uint32_t number)
      : out(device, data_at + bytes), in(device, data_at + bytes), vi(device, VIP_SERVICE_RELIABLE_DELIVERY) {
    for (std::size_t slot = 0; slot < slots; ++slot) post(vi, in, slot, false);
    test::connect(device, vi, other, number);
    // Fewer than there are receive descriptors, of which each end posts one again as it takes one.
    for (std::size_t slot = 0; slot < slots / 4; ++slot) post(vi, out, slot, true);
  }
  Memory out;
  Memory in;
  Interface vi;
};

std::atomic<unsigned>& lost() {
  static std::atomic<unsigned> count{0};
  return count;
}

void survive(const Device& device, unsigned dead) {
  expect_ok(VipErrorCallback(device.nic, nullptr,
                             [](VIP_PVOID, VIP_ERROR_DESCRIPTOR* error) {
                               if (error->ErrorCode == VIP_ERROR_CONN_LOST) ++lost();
                             }),
            "VipErrorCallback");
  {
    const Streams streams(device, dead, 1);
    bool sends_over = false;
    bool receives_over = false;
    test::await(
        [&] {
          sends_over = sends_over || turn(streams.vi, streams.out, true);
          receives_over = receives_over || turn(streams.vi, streams.in, false);
          return sends_over && receives_over;
        },
        "the end of the streams");
    expect(streams.vi.state() == VIP_STATE_ERROR, "a connection to the dead");
    test::await([&] { return lost() != 0; }, "VIP_ERROR_CONN_LOST");
    streams.vi.take_all();
    const Interface vi(device);
    Endpoint local(device.rank, 1);
    Endpoint remote(dead, 1);
    expect_return(VipConnectRequest(vi, local, remote, test::patience, nullptr), VIP_NOT_REACHABLE, "a request to it");
    expect_ok(VipConnectPeerRequest(vi, local, remote, test::patience), "VipConnectPeerRequest");
    expect_return(VipConnectPeerWait(vi, nullptr), VIP_NOT_REACHABLE, "a request to it");
  }
  // The others go on.
  for (unsigned each = 0; each < dead; ++each) {
    if (each != device.rank) test::meet(device, each, 2);
  }
}

[[noreturn]] void die(const Device& device, unsigned dead) {
  Streams* streams[8] = {};
  for (unsigned each = 0; each < dead; ++each) streams[each] = new Streams(device, each, 1);
  unsigned turns = 0;
  test::await(
      [&] {
        for (unsigned each = 0; each < dead; ++each) {
          (void)turn(streams[each]->vi, streams[each]->out, true);
          VIP_DESCRIPTOR* done = nullptr;
          if (VipRecvDone(streams[each]->vi, &done) != VIP_SUCCESS) continue;
          const auto slot =
              static_cast<std::size_t>(reinterpret_cast<unsigned char*>(done) - streams[each]->in.data) / 64;
          post(streams[each]->vi, streams[each]->in, slot, false);
          ++turns;
        }
        return turns >= 30;
      },
      "messages");
  (void)::raise(SIGKILL);
  std::_Exit(1);
}

}  // namespace

int main() {
  {
    const Device device;
    const unsigned dead = device.size - 1;
    if (device.rank == dead) die(device, dead);
    survive(device, dead);
  }
  return test::result();
}
