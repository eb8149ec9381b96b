// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A ring of connections, with VIPL and without MPI: each process sends numbers to the next one, from memory that the
// library has allocated, so that inside a host they go from memory to memory.
//
//     mpicc -O2 virtual_interface.c -o virtual_interface -lvipl
//     mpiexec -n 4 ./virtual_interface
//
// The receive descriptor is posted before the connection is made, and again before the neighbour is told to go on: a
// message that finds none breaks a reliable connection.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vipl.h>

enum { numbers = 100000, laps = 10 };

// What one process sends and receives, beside the numbers: one descriptor of each kind for each neighbour.
struct buffers {
  VIP_DESCRIPTOR send, receive, send_go, receive_go;
  double out[numbers], in[numbers];
};
typedef union {
  VIP_NET_ADDRESS address;
  unsigned char room[sizeof(VIP_NET_ADDRESS) + 16];
} endpoint;

static void check(const char* call, VIP_RETURN result) {
  if (result == VIP_SUCCESS) return;
  printf("WRONG: %s: %d\n", call, (int)result);
  exit(1);
}

// An end of the connection from process `from` to the next one: 0, its own, or 1, that of the next one, `at`.
static endpoint endpoint_of(VIP_NIC_HANDLE nic, unsigned at, unsigned from, unsigned end) {
  endpoint made;
  char name[16];
  snprintf(name, sizeof name, "%u", at);
  check("VipNSGetHostByName", VipNSGetHostByName(nic, name, &made.address, 0));
  unsigned discriminator[2] = {from, end};
  made.address.DiscriminatorLen = sizeof discriminator;
  memcpy(made.address.HostAddress + made.address.HostAddressLen, discriminator,
         sizeof discriminator);
  return made;
}

static void set(VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE memory, void* data, unsigned bytes) {
  memset(descriptor, 0, sizeof *descriptor);
  descriptor->CS.Control = VIP_CONTROL_OP_SENDRECV;
  descriptor->CS.SegCount = 1;
  descriptor->DS[0].Local.Data.Address = data;
  descriptor->DS[0].Local.Handle = memory;
  descriptor->DS[0].Local.Length = bytes;
}

static VIP_VI_HANDLE make_vi(VIP_NIC_HANDLE nic, VIP_PROTECTION_HANDLE tag) {
  VIP_VI_ATTRIBUTES attributes = {
      VIP_SERVICE_RELIABLE_RECEPTION, sizeof(double) * numbers, NULL, tag, VIP_FALSE, VIP_FALSE};
  VIP_VI_HANDLE vi;
  check("VipCreateVi", VipCreateVi(nic, &attributes, NULL, NULL, &vi));
  return vi;
}

static void send_to(VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor, VIP_MEM_HANDLE memory) {
  VIP_DESCRIPTOR* done;
  check("VipPostSend", VipPostSend(vi, descriptor, memory));
  check("VipSendWait", VipSendWait(vi, VIP_INFINITE, &done));
}

static void receive_from(VIP_VI_HANDLE vi) {
  VIP_DESCRIPTOR* done;
  check("VipRecvWait", VipRecvWait(vi, VIP_INFINITE, &done));
}

static unsigned size_of_job(VIP_NIC_HANDLE nic) {
  VIP_AUTODISCOVERY_LIST list = {1, NULL, 0};
  check("VipQuerySystemManagementInfo",
        VipQuerySystemManagementInfo(nic, VIP_SMI_AUTODISCOVERY, &list));
  return (unsigned)list.NumAdAddrs;
}

// Asks for both connections before it waits for either: the neighbours do the same.
static void connect_ring(VIP_NIC_HANDLE nic, VIP_VI_HANDLE next, VIP_VI_HANDLE before,
                         unsigned rank, unsigned size) {
  const unsigned after = (rank + 1) % size;
  const unsigned ahead = (rank + size - 1) % size;
  endpoint local = endpoint_of(nic, rank, rank, 0);
  endpoint remote = endpoint_of(nic, after, rank, 1);
  check("VipConnectPeerRequest",
        VipConnectPeerRequest(next, &local.address, &remote.address, VIP_INFINITE));
  local = endpoint_of(nic, rank, ahead, 1);
  remote = endpoint_of(nic, ahead, ahead, 0);
  check("VipConnectPeerRequest",
        VipConnectPeerRequest(before, &local.address, &remote.address, VIP_INFINITE));
  check("VipConnectPeerWait", VipConnectPeerWait(next, NULL));
  check("VipConnectPeerWait", VipConnectPeerWait(before, NULL));
}

int main(void) {
  VIP_NIC_HANDLE nic;
  VIP_PROTECTION_HANDLE tag;
  VIP_NIC_ATTRIBUTES attributes;
  VIP_MEM_HANDLE memory;
  VIP_PVOID base;
  check("VipOpenNic", VipOpenNic("nic0", &nic));
  check("VipQueryNic", VipQueryNic(nic, &attributes));
  check("VipNSInit", VipNSInit(nic, NULL));
  check("VipCreatePtag", VipCreatePtag(nic, &tag));
  const unsigned rank = attributes.LocalNicAddress[4] * 256U + attributes.LocalNicAddress[5];
  const unsigned size = size_of_job(nic);
  VIP_MEM_ATTRIBUTES access = {tag, VIP_FALSE, VIP_FALSE};
  check("VipAllocMem", VipAllocMem(nic, &base, sizeof(struct buffers), &access, &memory));
  struct buffers* const buffers = base;
  const VIP_VI_HANDLE next = make_vi(nic, tag);
  const VIP_VI_HANDLE before = make_vi(nic, tag);
  set(&buffers->receive, memory, buffers->in, sizeof buffers->in);
  set(&buffers->receive_go, memory, NULL, 0);
  set(&buffers->send, memory, buffers->out, sizeof buffers->out);
  set(&buffers->send_go, memory, NULL, 0);
  buffers->receive_go.CS.SegCount = buffers->send_go.CS.SegCount = 0;
  check("VipPostRecv", VipPostRecv(before, &buffers->receive, memory));
  check("VipPostRecv", VipPostRecv(next, &buffers->receive_go, memory));
  connect_ring(nic, next, before, rank, size);

  double sum = 0;
  for (int lap = 1; lap <= laps; ++lap) {
    for (int i = 0; i < numbers; ++i) buffers->out[i] = rank + lap;
    send_to(next, &buffers->send, memory);
    receive_from(before);
    for (int i = 0; i < numbers; ++i) sum += buffers->in[i];
    check("VipPostRecv", VipPostRecv(before, &buffers->receive, memory));
    send_to(before, &buffers->send_go, memory);
    receive_from(next);
    check("VipPostRecv", VipPostRecv(next, &buffers->receive_go, memory));
  }
  const unsigned ahead = (rank + size - 1) % size;
  const double expected = (double)numbers * (laps * ahead + laps * (laps + 1) / 2);
  printf(sum == expected ? "process %u: %d laps over %u processes, a sum of %.0f\n"
                         : "WRONG: process %u: %d laps over %u processes, a sum of %.0f\n",
         rank, laps, size, sum);
  // Ends the connections and frees what is left.
  check("VipCloseNic", VipCloseNic(nic));
  return sum == expected ? 0 : 1;
}
