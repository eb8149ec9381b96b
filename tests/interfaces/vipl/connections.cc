// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Connections of clients, servers and peers: how they are made, refused, missed and lost, and names.
// ranks: 2 4
// networks: tcp
#include <atomic>
#include <thread>

#include "vipl/calls.h"

namespace {

using test::Device;
using test::Endpoint;
using test::expect;
using test::expect_equal;
using test::expect_ok;
using test::expect_return;
using test::Interface;
using test::Memory;

constexpr VIP_ULONG moment = 30;

/// A client connects, is refused, meets nobody, and meets a server that does not answer.
void ask(const Device& device, unsigned other) {
  const Interface vi(device);
  Endpoint local(device.rank, 1);
  Endpoint remote(other, 100);
  VIP_VI_ATTRIBUTES told{};
  expect_ok(VipConnectRequest(vi, local, remote, test::patience, &told),
            "a request that is accepted");
  expect_equal(told.ReliabilityLevel, VIP_SERVICE_RELIABLE_RECEPTION, "the server's level");
  expect(told.Ptag == nullptr && told.EnableRdmaWrite == VIP_TRUE, "the server's other attributes");
  expect(vi.state() == VIP_STATE_CONNECTED, "a client is connected");
  expect_return(VipConnectRequest(vi, local, remote, 0, nullptr), VIP_INVALID_STATE,
                "it is connected");
  expect_return(VipConnectPeerRequest(vi, local, remote, 0), VIP_INVALID_STATE, "it is connected");
  VIP_VI_ATTRIBUTES attributes = test::vi_attributes(device);
  expect_return(VipSetViAttributes(vi, &attributes), VIP_INVALID_STATE, "it is connected");
  expect_return(VipDestroyVi(vi), VIP_INVALID_STATE, "it is connected");
  expect_ok(VipDisconnect(vi), "VipDisconnect");
  expect(vi.state() == VIP_STATE_IDLE, "a VI that has disconnected");
  expect_return(VipConnectRequest(vi, local, remote, test::patience, nullptr), VIP_REJECT,
                "a request that is refused");
  expect(vi.state() == VIP_STATE_IDLE, "a VI that was refused");
  Endpoint nobody(other, 999);
  expect_return(VipConnectRequest(vi, local, nobody, moment, nullptr), VIP_NO_MATCH,
                "nobody waits");
  expect_return(VipConnectRequest(vi, local, nobody, 0, nullptr), VIP_NO_MATCH,
                "nobody waits, and no time");
  Endpoint silent(other, 101);
  VIP_RETURN result = VIP_NO_MATCH;
  test::await(
      [&] {
        result = VipConnectRequest(vi, local, silent, 300, nullptr);
        return result != VIP_NO_MATCH;
      },
      "a server that takes the request");
  expect_return(result, VIP_TIMEOUT, "a server that does not answer");
  Endpoint far(200, 1);
  expect_return(VipConnectRequest(vi, local, far, test::patience, nullptr), VIP_NOT_REACHABLE,
                "no such process");
  far.address().HostAddress[0] = 1;
  expect_return(VipConnectRequest(vi, local, far, 0, nullptr), VIP_NOT_REACHABLE,
                "an address that is none of Fulmar");
  far.address().HostAddressLen = 3;
  expect_return(VipConnectRequest(vi, far, remote, 0, nullptr), VIP_INVALID_PARAMETER,
                "a local address that is none");
  expect_return(VipConnectRequest(vi, local, nullptr, 0, nullptr), VIP_INVALID_PARAMETER,
                "no address");
}

/// The other side of `ask`.
void serve(const Device& device, unsigned other) {
  const Interface vi(device);
  const Interface unreliable(device, VIP_SERVICE_UNRELIABLE);
  Endpoint local(device.rank, 100);
  Endpoint from;
  VIP_VI_ATTRIBUTES told{};
  VIP_CONN_HANDLE request = nullptr;
  const auto wait = [&](VIP_ULONG timeout) {
    return VipConnectWait(device.nic, local, timeout, from, &told, &request);
  };
  expect_ok(wait(test::patience), "VipConnectWait");
  expect_equal(from.discriminator(), 1, "the client's discriminator");
  expect_equal(from.address().HostAddress[5], other, "the client's address");
  expect_equal(told.MaxTransferSize, device.attributes.MaxTransferSize, "the client's attributes");
  expect_return(VipConnectAccept(request, unreliable), VIP_INVALID_RELIABILITY_LEVEL,
                "another level");
  expect_return(VipConnectAccept(request, device.nic), VIP_INVALID_PARAMETER, "no VI");
  expect_ok(VipConnectAccept(request, vi), "VipConnectAccept");
  expect_return(VipConnectAccept(request, vi), VIP_INVALID_PARAMETER, "a request that is gone");
  expect_ok(wait(test::patience), "VipConnectWait");
  expect_return(VipConnectAccept(request, vi), VIP_INVALID_STATE, "a VI that is connected");
  expect_ok(VipConnectReject(request), "VipConnectReject");
  expect_return(VipConnectReject(request), VIP_INVALID_PARAMETER, "a request that is gone");
  test::await([&] { return vi.state() == VIP_STATE_ERROR; }, "the client's VipDisconnect");
  expect_ok(VipDisconnect(vi), "VipDisconnect of a VI with an error");
  expect_return(wait(moment), VIP_TIMEOUT, "no request");
  expect_return(wait(0), VIP_TIMEOUT, "no request, and no time");
  Endpoint silent(device.rank, 101);
  expect_ok(VipConnectWait(device.nic, silent, test::patience, nullptr, nullptr, &request),
            "VipConnectWait");
  VIP_RETURN late = VIP_INVALID_STATE;
  const Interface spare(device, VIP_SERVICE_UNRELIABLE);
  test::await(
      [&] {
        // Its level is another one, until the client has given up.
        late = VipConnectAccept(request, spare);
        return late != VIP_INVALID_RELIABILITY_LEVEL;
      },
      "the client gives up");
  expect_return(late, VIP_TIMEOUT, "a client that has given up");
  (void)other;
}

/// Peers: at the same time, one after the other, never, and with different levels.
void pair(const Device& device, unsigned other) {
  for (std::uint32_t i = 0; i < 20; ++i) test::meet(device, other, 200 + i % 3);
  const Interface vi(device);
  Endpoint local(device.rank, 300);
  Endpoint remote(other, 999);
  expect_ok(VipConnectPeerRequest(vi, local, remote, moment), "VipConnectPeerRequest");
  expect(vi.state() == VIP_STATE_CONNECT_PENDING, "a request is pending");
  expect_return(VipConnectPeerRequest(vi, local, remote, moment), VIP_INVALID_STATE,
                "a request is pending");
  VIP_RETURN result = VIP_NOT_DONE;
  test::await([&] { return (result = VipConnectPeerDone(vi, nullptr)) != VIP_NOT_DONE; },
              "the end of the time");
  expect_return(result, VIP_TIMEOUT, "a peer that does not ask");
  expect_return(VipConnectPeerDone(vi, nullptr), VIP_INVALID_STATE, "the end is told once");
  expect_ok(VipConnectPeerRequest(vi, local, remote, moment), "VipConnectPeerRequest");
  expect_return(VipConnectPeerWait(vi, nullptr), VIP_TIMEOUT, "a peer that does not ask");
  expect_ok(VipConnectPeerRequest(vi, local, remote, VIP_INFINITE), "VipConnectPeerRequest");
  expect_ok(VipDisconnect(vi), "VipDisconnect of a request");
  expect(vi.state() == VIP_STATE_IDLE, "a request that was taken back");
  test::meet(device, other, 500);
}

/// How a peer's request ends, by either call.
VIP_RETURN end_of_request(VIP_VI_HANDLE vi, bool waits) {
  if (waits) return VipConnectPeerWait(vi, nullptr);
  VIP_RETURN result = VIP_NOT_DONE;
  test::await([&] { return (result = VipConnectPeerDone(vi, nullptr)) != VIP_NOT_DONE; },
              "the end of a request");
  return result;
}

/// Peers that cannot be connected.
void pair_in_vain(const Device& device, unsigned other) {
  const Interface vi(device);
  Endpoint local(device.rank, 300);
  const Interface odd(
      device, device.rank % 2 == 0 ? VIP_SERVICE_RELIABLE_DELIVERY : VIP_SERVICE_UNRELIABLE);
  Endpoint nowhere(200, 1);
  for (const bool waits : {true, false}) {
    const std::uint32_t number = waits ? 400 : 410;
    Endpoint here(device.rank, number + device.rank);
    Endpoint there(other, number + other);
    expect_ok(VipConnectPeerRequest(odd, here, there, test::patience), "VipConnectPeerRequest");
    expect_return(end_of_request(odd, waits), VIP_INVALID_RELIABILITY_LEVEL, "peers of two levels");
    expect_ok(VipConnectPeerRequest(vi, local, nowhere, test::patience), "VipConnectPeerRequest");
    expect_return(end_of_request(vi, waits), VIP_NOT_REACHABLE, "no such process");
  }
  nowhere.address().HostAddress[0] = 1;
  expect_return(VipConnectPeerRequest(vi, local, nowhere, 0), VIP_NOT_REACHABLE,
                "an address that is none of Fulmar");
  test::meet(device, other, 501);
}

/// Two VIs of one process.
void connect_to_itself(const Device& device) {
  const Interface one(device);
  const Interface two(device);
  Endpoint first(device.rank, 1);
  Endpoint second(device.rank, 2);
  expect_ok(VipConnectPeerRequest(one, first, second, test::patience), "VipConnectPeerRequest");
  expect_return(VipConnectPeerDone(one, nullptr), VIP_NOT_DONE, "nobody has asked");
  expect_ok(VipConnectPeerRequest(two, second, first, test::patience), "VipConnectPeerRequest");
  VIP_VI_ATTRIBUTES told{};
  expect_ok(VipConnectPeerWait(one, &told), "VipConnectPeerWait");
  expect_equal(told.ReliabilityLevel, test::reception, "the peer's level");
  expect_ok(VipConnectPeerWait(two, nullptr), "VipConnectPeerWait");
  const Memory memory(device, 4096);
  VIP_DESCRIPTOR& receive = memory.descriptor(0);
  VIP_DESCRIPTOR& send = memory.descriptor(64);
  test::add(receive, memory, 1024, 8);
  test::add(send, memory, 2048, 8);
  memory.data[2048] = 5;
  expect_ok(VipPostRecv(two, &receive, memory.handle), "VipPostRecv");
  expect_ok(VipPostSend(one, &send, memory.handle), "VipPostSend");
  test::expect_received(two, receive, 8);
  test::expect_sent(one, send);
  expect_equal(memory.data[1024], 5, "what came");
}

std::atomic<int>& lost() {
  static std::atomic<int> count{0};
  return count;
}

/// A connection that the other end gives up: what is posted is flushed, and the error is told.
void lose(const Device& device, unsigned other, bool leaves) {
  expect_ok(VipErrorCallback(device.nic, &lost(),
                             [](VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) {
                               auto& count = *static_cast<std::atomic<int>*>(context);
                               if (error->ErrorCode == VIP_ERROR_CONN_LOST) ++count;
                             }),
            "VipErrorCallback");
  const Memory memory(device, 4096);
  const Interface vi(device);
  const int before = lost();
  test::connect(device, vi, other, 600);
  if (leaves) {
    expect_ok(VipDisconnect(vi), "VipDisconnect");
  } else {
    VIP_DESCRIPTOR& receive = memory.descriptor(0);
    test::add(receive, memory, 1024, 8);
    expect_ok(VipPostRecv(vi, &receive, memory.handle), "VipPostRecv");
    test::expect_received(vi, receive, 0, VIP_STATUS_DESC_FLUSHED_ERROR);
    expect(vi.state() == VIP_STATE_ERROR, "a VI without another end");
    test::await([&] { return lost() != before; }, "VIP_ERROR_CONN_LOST");
    // Nothing can be done with it but VipDisconnect.
    expect_ok(VipPostRecv(vi, &receive, memory.handle), "VipPostRecv");
    test::expect_received(vi, receive, 0, VIP_STATUS_DESC_FLUSHED_ERROR);
    expect_ok(VipPostSend(vi, &receive, memory.handle), "VipPostSend");
    test::expect_sent(vi, receive, VIP_STATUS_DESC_FLUSHED_ERROR);
    expect_ok(VipDisconnect(vi), "VipDisconnect");
    expect_ok(VipPostSend(vi, &receive, memory.handle), "VipPostSend of an idle VI");
    test::expect_sent(vi, receive, VIP_STATUS_DESC_FLUSHED_ERROR);
    expect_ok(VipPostRecv(vi, &receive, memory.handle), "VipPostRecv of an idle VI");
    VIP_DESCRIPTOR* done = nullptr;
    expect_return(VipRecvDone(vi, &done), VIP_NOT_DONE, "a descriptor that waits for a connection");
    expect(done == nullptr, "no descriptor");
    expect_return(VipDestroyVi(vi), VIP_ERROR_RESOURCE, "a descriptor is posted");
    expect_return(VipDeregisterMem(device.nic, memory.data, memory.handle), VIP_ERROR_RESOURCE,
                  "memory in use");
    VIP_MEM_ATTRIBUTES attributes{device.ptag, VIP_FALSE, VIP_FALSE};
    expect_return(VipSetMemAttributes(device.nic, memory.data, memory.handle, &attributes),
                  VIP_ERROR_RESOURCE, "memory in use");
  }
  test::connect(device, vi, other, 601);
  test::meet(device, other, 602);
  expect_ok(VipErrorCallback(device.nic, nullptr, nullptr), "VipErrorCallback");
}

void check_names(const Device& device) {
  Endpoint found;
  char name[256] = "0";
  VIP_ULONG length = sizeof name;
  expect_return(VipNSGetHostByName(device.nic, name, found, 0), VIP_ERROR_NAMESERVICE,
                "before VipNSInit");
  expect_return(VipNSShutdown(device.nic), VIP_ERROR_NAMESERVICE, "before VipNSInit");
  expect_ok(VipNSInit(device.nic, nullptr), "VipNSInit");
  expect_ok(VipNSGetHostByName(device.nic, name, found, 0), "rank 0");
  expect_equal(found.address().HostAddress[5], 0, "the address of rank 0");
  expect_equal(found.address().DiscriminatorLen, 0, "no discriminator");
  expect_return(VipNSGetHostByName(device.nic, name, found, 1), VIP_ERROR_NAMESERVICE,
                "a second rank 0");
  Endpoint last(device.size - 1, nullptr, 0);
  expect_ok(VipNSGetHostByAddr(device.nic, last, name, &length), "VipNSGetHostByAddr");
  expect_equal(length, std::strlen(name) + 1, "the length of a name");
  VIP_ULONG small = 1;
  char letter = 'x';
  expect_return(VipNSGetHostByAddr(device.nic, last, &letter, &small), VIP_ERROR_RESOURCE,
                "no room");
  expect_equal(small, length, "how much is needed");
  // All are on this host.
  expect_ok(VipNSGetHostByName(device.nic, name, found, device.size - 1),
            "the last process of the host");
  expect_equal(found.address().HostAddress[5], device.size - 1, "its address");
  expect_return(VipNSGetHostByName(device.nic, name, found, device.size), VIP_ERROR_NAMESERVICE,
                "no further one");
  char unknown[] = "no-such-host";
  expect_return(VipNSGetHostByName(device.nic, unknown, found, 0), VIP_ERROR_NAMESERVICE,
                "no such name");
  Endpoint far(200, nullptr, 0);
  expect_return(VipNSGetHostByAddr(device.nic, far, name, &length), VIP_ERROR_NAMESERVICE,
                "no such process");
  expect_ok(VipNSShutdown(device.nic), "VipNSShutdown");
}

}  // namespace

int main() {
  {
    const Device device;
    const unsigned other = device.rank ^ 1U;
    device.rank % 2 == 0 ? serve(device, other) : ask(device, other);
    pair(device, other);
    pair_in_vain(device, other);
    connect_to_itself(device);
    lose(device, other, device.rank % 2 == 0);
    lose(device, other, device.rank % 2 == 1);
    check_names(device);
    for (unsigned each = 0; each < device.size; ++each) {
      if (each != device.rank) test::meet(device, each, 700);
    }
  }
  return test::result();
}
