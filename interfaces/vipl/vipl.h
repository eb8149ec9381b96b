/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * VIPL, the provider library of the Virtual Interface Architecture 1.0: Virtual Interfaces (VIs) with two work
 * queues each, descriptors that gather and scatter registered memory, remote reads and writes, and completion queues.
 * docs/interfaces/vipl.md is its manual. Names, types and values are those of the published specification and of
 * Intel's developer's guide; what is Fulmar's own is marked so.
 *
 * Every call but the handlers' may be made by any thread, and by handlers. Handles are never NULL, and one that is
 * stale or was made up gives VIP_INVALID_PARAMETER. Pointers for results may not be NULL unless that is said. Times
 * are in milliseconds; VIP_INFINITE waits for ever, 0 does not wait. Memory that a call is given for results belongs
 * to the caller; descriptors belong to the library from the post to the call that gives them back.
 */
#pragma once
#ifndef FULMAR_VIPL_H
#define FULMAR_VIPL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ---- */

#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif

typedef void* VIP_PVOID;
typedef int VIP_BOOLEAN;
typedef char VIP_CHAR;
typedef unsigned char VIP_UCHAR;
typedef unsigned short VIP_USHORT;
typedef unsigned long VIP_ULONG;
typedef uint64_t VIP_UINT64;
typedef uint32_t VIP_UINT32;
typedef uint16_t VIP_UINT16;
typedef uint8_t VIP_UINT8;

#define VIP_TRUE 1
#define VIP_FALSE 0
#define VIP_INFINITE (~(VIP_ULONG)0)

typedef VIP_PVOID VIP_QOS; /* NULL: there is one quality of service */
typedef VIP_PVOID VIP_NIC_HANDLE;
typedef VIP_PVOID VIP_VI_HANDLE;
typedef VIP_PVOID VIP_PROTECTION_HANDLE;
typedef VIP_PVOID VIP_CONN_HANDLE;
typedef VIP_PVOID VIP_CQ_HANDLE;
typedef VIP_UINT32 VIP_MEM_HANDLE;

/* What calls return. */
typedef enum {
  VIP_SUCCESS,
  VIP_NOT_DONE,
  VIP_INVALID_PARAMETER,
  VIP_ERROR_RESOURCE,
  VIP_TIMEOUT,
  VIP_REJECT,
  VIP_INVALID_RELIABILITY_LEVEL,
  VIP_INVALID_MTU,
  VIP_INVALID_QOS,
  VIP_INVALID_PTAG,
  VIP_INVALID_RDMAREAD,
  VIP_DESCRIPTOR_ERROR,
  VIP_INVALID_STATE,
  VIP_ERROR_NAMESERVICE,
  VIP_NO_MATCH,
  VIP_NOT_REACHABLE,
  VIP_ERROR_NOT_SUPPORTED
} VIP_RETURN;

/* HostAddressLen bytes of the host's address and then DiscriminatorLen bytes that tell endpoints of one host apart.
 * A discriminator of length 0 is that of none. Fulmar: the host's address has VIP_HOST_ADDRESS_BYTES and names a
 * process; it looks like a locally administered Ethernet address, with the SISCI node number in its last 4 bytes. */
typedef struct {
  VIP_UINT16 HostAddressLen;
  VIP_UINT16 DiscriminatorLen;
  VIP_UINT8 HostAddress[1];
} VIP_NET_ADDRESS;

#define VIP_HOST_ADDRESS_BYTES 6 /* Fulmar's */

typedef VIP_USHORT VIP_RELIABILITY_LEVEL;
/* A send ends when its memory can be used again; what finds no receive descriptor is dropped. */
#define VIP_SERVICE_UNRELIABLE 0x01
/* ... when the data have arrived; what goes wrong breaks the connection. */
#define VIP_SERVICE_RELIABLE_DELIVERY 0x02
/* ... when the data are in the memory of the receiver, and the sender's descriptor says why they are not. */
#define VIP_SERVICE_RELIABLE_RECEPTION 0x04

typedef struct {
  VIP_CHAR Name[64];
  VIP_ULONG HardwareVersion;
  VIP_ULONG ProviderVersion;
  VIP_UINT16 NicAddressLen;         /* of LocalNicAddress, in bytes */
  const VIP_UINT8* LocalNicAddress; /* stays until VipCloseNic */
  VIP_BOOLEAN ThreadSafe;
  VIP_UINT16 MaxDiscriminatorLen; /* bytes */
  VIP_ULONG MaxRegisterBytes;
  VIP_ULONG MaxRegisterRegions;
  VIP_ULONG MaxRegisterBlockBytes;
  VIP_ULONG MaxVI;
  VIP_ULONG MaxDescriptorsPerQueue;
  VIP_ULONG MaxSegmentsPerDesc; /* the address segment of RDMA is one of them */
  VIP_ULONG MaxCQ;
  VIP_ULONG MaxCQEntries;
  VIP_ULONG MaxTransferSize; /* bytes of one descriptor */
  VIP_ULONG NativeMTU;
  VIP_ULONG MaxPtags;
  VIP_RELIABILITY_LEVEL ReliabilityLevelSupport; /* those that VIs may have, or-ed */
  VIP_RELIABILITY_LEVEL RDMAReadSupport;         /* those with which RDMA reads work */
} VIP_NIC_ATTRIBUTES;

typedef struct {
  VIP_RELIABILITY_LEVEL ReliabilityLevel; /* one of them */
  VIP_ULONG MaxTransferSize;              /* bytes; the smaller one of both ends counts */
  VIP_QOS QoS;
  VIP_PROTECTION_HANDLE Ptag;  /* NULL in what is told of the other end */
  VIP_BOOLEAN EnableRdmaWrite; /* of the other end, into memory of this one */
  VIP_BOOLEAN EnableRdmaRead;
} VIP_VI_ATTRIBUTES;

typedef struct _VIP_MEM_ATTRIBUTES {
  VIP_PROTECTION_HANDLE Ptag;
  VIP_BOOLEAN EnableRdmaWrite;
  VIP_BOOLEAN EnableRdmaRead;
} VIP_MEM_ATTRIBUTES;

typedef enum {
  VIP_STATE_IDLE,
  VIP_STATE_CONNECTED,
  VIP_STATE_CONNECT_PENDING,
  VIP_STATE_ERROR
} VIP_VI_STATE;

/* ---- Descriptors ---- */

#define VIP_DESCRIPTOR_ALIGNMENT 64

typedef union {
  VIP_UINT64 AddressBits;
  VIP_PVOID Address;
} VIP_PVOID64;

typedef struct {
  VIP_PVOID64 Next; /* not looked at: the program's */
  VIP_MEM_HANDLE NextHandle;
  VIP_UINT16 SegCount; /* segments that follow */
  VIP_UINT16 Control;
  VIP_UINT32 Reserved; /* 0 */
  VIP_UINT32 ImmediateData;
  VIP_UINT32 Length; /* set when it is done: bytes that moved */
  VIP_UINT32 Status; /* set by the post (0) and when it is done */
} VIP_CONTROL_SEGMENT;

/* The first segment of an RDMA descriptor: where at the other end. */
typedef struct {
  VIP_PVOID64 Data;
  VIP_MEM_HANDLE Handle;
  VIP_UINT32 Reserved; /* 0 */
} VIP_ADDRESS_SEGMENT;

typedef struct {
  VIP_PVOID64 Data;
  VIP_MEM_HANDLE Handle;
  VIP_UINT32 Length; /* bytes */
} VIP_DATA_SEGMENT;

typedef union {
  VIP_ADDRESS_SEGMENT Remote;
  VIP_DATA_SEGMENT Local;
} VIP_DESCRIPTOR_SEGMENT;

/* 64 bytes; more segments may follow behind it. Both spellings of the members that programs use. */
__extension__ typedef struct _VIP_DESCRIPTOR {
  union {
    VIP_CONTROL_SEGMENT CS;
    VIP_CONTROL_SEGMENT Control;
  };
  union {
    VIP_DESCRIPTOR_SEGMENT DS[2];
    VIP_DATA_SEGMENT Data[2];
  };
} VIP_DESCRIPTOR;

/* Control */
#define VIP_CONTROL_OP_SENDRECV 0x0000
#define VIP_CONTROL_OP_RDMAWRITE 0x0001
#define VIP_CONTROL_OP_RDMAREAD 0x0002
#define VIP_CONTROL_OP_RESERVED 0x0003
#define VIP_CONTROL_OP_MASK 0x0003
#define VIP_CONTROL_IMMEDIATE 0x0004 /* an RDMA write with it consumes a receive descriptor */
#define VIP_CONTROL_QFENCE 0x0008    /* not before the RDMA reads ahead of it are done */
#define VIP_CONTROL_RESERVED 0xFFF0

/* Status */
#define VIP_STATUS_DONE 0x00000001
#define VIP_STATUS_FORMAT_ERROR 0x00000002
#define VIP_STATUS_PROTECTION_ERROR 0x00000004
#define VIP_STATUS_LENGTH_ERROR 0x00000008
#define VIP_STATUS_PARTIAL_ERROR 0x00000010 /* it ended after some of its bytes had moved */
#define VIP_STATUS_DESC_FLUSHED_ERROR 0x00000020
#define VIP_STATUS_TRANSPORT_ERROR 0x00000040
#define VIP_STATUS_RDMA_PROT_ERROR 0x00000080
#define VIP_STATUS_REMOTE_DESC_ERROR 0x00000100
#define VIP_STATUS_ERROR_MASK 0x000001FE
#define VIP_STATUS_OP_SEND 0x00000000
#define VIP_STATUS_OP_RECEIVE 0x00010000
#define VIP_STATUS_OP_RDMA_WRITE 0x00020000
#define VIP_STATUS_OP_REMOTE_RDMA_WRITE 0x00030000
#define VIP_STATUS_OP_RDMA_READ 0x00040000
#define VIP_STATUS_OP_MASK 0x00070000
#define VIP_STATUS_IMMEDIATE 0x00080000 /* ImmediateData came */
#define VIP_STATUS_RESERVED 0xFFF0FE00

/* ---- Errors that no call returns ---- */

typedef enum _VIP_ERROR_CODE {
  VIP_ERROR_POST_DESC, /* a posted descriptor does not lie in memory of its handle and its VI's tag */
  VIP_ERROR_CONN_LOST,   /* the other end has disconnected, failed or ended */
  VIP_ERROR_RECVQ_EMPTY, /* a message found no receive descriptor, on a reliable connection */
  VIP_ERROR_VI_OVERRUN,  /* never: a full queue is VIP_ERROR_RESOURCE of the post */
  VIP_ERROR_RDMAW_PROT,  /* the other end wanted to write where it may not */
  VIP_ERROR_RDMAW_DATA,  /* never: networks check what they carry */
  VIP_ERROR_RDMAW_ABORT, /* a write of the other end stopped half-way, as far as this end knows */
  VIP_ERROR_RDMAR_PROT,  /* the other end wanted to read where it may not */
  VIP_ERROR_COMP_PROT, /* a message did not fit its receive descriptor, on a reliable connection */
  VIP_ERROR_RDMA_TRANSPORT, /* an RDMA operation of this end was lost by the network */
  VIP_ERROR_CATASTROPHIC    /* the provider cannot go on */
} VIP_ERROR_CODE;

typedef enum _VIP_RESOURCE_CODE {
  VIP_RESOURCE_NIC,
  VIP_RESOURCE_VI,
  VIP_RESOURCE_CQ,
  VIP_RESOURCE_DESCRIPTOR
} VIP_RESOURCE_CODE;

typedef struct _VIP_ERROR_DESCRIPTOR {
  VIP_NIC_HANDLE NicHandle;
  VIP_VI_HANDLE ViHandle;
  VIP_CQ_HANDLE CQHandle;
  VIP_DESCRIPTOR* DescriptorPtr;
  VIP_ULONG OpCode; /* VIP_CONTROL_OP_... of the operation, where it is one's */
  VIP_RESOURCE_CODE ResourceCode;
  VIP_ERROR_CODE ErrorCode;
} VIP_ERROR_DESCRIPTOR;

/* Handlers run on one thread of the library, one at a time, and may call everything but VipCloseNic. */
typedef void (*VIP_ERROR_HANDLER)(VIP_PVOID Context, VIP_ERROR_DESCRIPTOR* ErrorDesc);
typedef void (*VIP_VI_CALLBACK)(VIP_PVOID Context, VIP_NIC_HANDLE NicHandle, VIP_VI_HANDLE ViHandle,
                                VIP_DESCRIPTOR* DescriptorPtr);
typedef void (*VIP_CQ_CALLBACK)(VIP_PVOID Context, VIP_NIC_HANDLE NicHandle, VIP_VI_HANDLE ViHandle,
                                VIP_BOOLEAN RecvQueue);

/* ---- NICs ---- */

/* Joins the job, if the process has not done so. There is one device, 0: any name that ends in no other number
 * ("nic0", "/dev/clanvi0", "VINIC"). A process may open it several times. VIP_INVALID_PARAMETER (NULL, an empty name),
 * VIP_ERROR_RESOURCE (no such device, or no way into the job: a line on stderr says why). */
VIP_RETURN VipOpenNic(IN const VIP_CHAR* DeviceName, OUT VIP_NIC_HANDLE* NicHandle);
/* Ends connections, removes what is left of this NIC, and waits for handlers that run. VIP_ERROR_RESOURCE: called by a
 * handler. */
VIP_RETURN VipCloseNic(IN VIP_NIC_HANDLE NicHandle);
VIP_RETURN VipQueryNic(IN VIP_NIC_HANDLE NicHandle, OUT VIP_NIC_ATTRIBUTES* NicAttribs);
/* The handler of the NIC's asynchronous errors from now on; NULL: they are dropped, as at first. */
VIP_RETURN VipErrorCallback(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID Context,
                            IN VIP_ERROR_HANDLER Handler);

/* ---- VIs ---- */

/* A VI in VIP_STATE_IDLE. A queue with a completion queue has no VipSendWait, VipRecvWait and notification of its own.
 * VIP_INVALID_RELIABILITY_LEVEL, VIP_INVALID_MTU (0, or more than the NIC has), VIP_INVALID_QOS (not NULL),
 * VIP_INVALID_PTAG, VIP_INVALID_RDMAREAD (not with VIP_SERVICE_UNRELIABLE), VIP_ERROR_RESOURCE. */
VIP_RETURN VipCreateVi(IN VIP_NIC_HANDLE NicHandle, IN VIP_VI_ATTRIBUTES* ViAttribs,
                       IN VIP_CQ_HANDLE SendCQHandle, IN VIP_CQ_HANDLE RecvCQHandle,
                       OUT VIP_VI_HANDLE* ViHandle);
/* VIP_INVALID_STATE: not idle; VIP_ERROR_RESOURCE: descriptors were not taken back. */
VIP_RETURN VipDestroyVi(IN VIP_VI_HANDLE ViHandle);
/* Any of the pointers may be NULL. A queue is empty when no descriptor waits to be taken back. */
VIP_RETURN VipQueryVi(IN VIP_VI_HANDLE ViHandle, OUT VIP_VI_STATE* State,
                      OUT VIP_VI_ATTRIBUTES* ViAttribs, OUT VIP_BOOLEAN* ViSendQEmpty,
                      OUT VIP_BOOLEAN* ViRecvQEmpty);
/* Idle VIs alone: VIP_INVALID_STATE. Others as of VipCreateVi. */
VIP_RETURN VipSetViAttributes(IN VIP_VI_HANDLE ViHandle, IN VIP_VI_ATTRIBUTES* ViAttribs);

/* ---- Connections: client and server ---- */

/* Waits for a request to LocalAddr's discriminator, also one that came before. RemoteAddr and RemoteViAttribs may be
 * NULL; RemoteAddr must have room for the NIC's address and MaxDiscriminatorLen bytes, or what the clients use.
 * VIP_TIMEOUT. */
VIP_RETURN VipConnectWait(IN VIP_NIC_HANDLE NicHandle, IN VIP_NET_ADDRESS* LocalAddr,
                          IN VIP_ULONG Timeout, OUT VIP_NET_ADDRESS* RemoteAddr,
                          OUT VIP_VI_ATTRIBUTES* RemoteViAttribs, OUT VIP_CONN_HANDLE* ConnHandle);
/* Connects the idle VI to who asked. ConnHandle is gone on return, but for VIP_INVALID_STATE (the VI is not idle) and
 * VIP_INVALID_RELIABILITY_LEVEL (that of the other end is another). VIP_TIMEOUT: the client's time is over;
 * VIP_NOT_REACHABLE: it has ended; VIP_ERROR_RESOURCE. */
VIP_RETURN VipConnectAccept(IN VIP_CONN_HANDLE ConnHandle, IN VIP_VI_HANDLE ViHandle);
VIP_RETURN VipConnectReject(IN VIP_CONN_HANDLE ConnHandle);
/* Asks for a connection, and waits. RemoteViAttribs may be NULL. VIP_REJECT; VIP_NO_MATCH: in all this time no
 * VipConnectWait took the request; VIP_TIMEOUT: one has, and did not answer; VIP_INVALID_STATE: the VI is not idle;
 * VIP_NOT_REACHABLE: no process of the job has the address, or it has ended; VIP_ERROR_RESOURCE. */
VIP_RETURN VipConnectRequest(IN VIP_VI_HANDLE ViHandle, IN VIP_NET_ADDRESS* LocalAddr,
                             IN VIP_NET_ADDRESS* RemoteAddr, IN VIP_ULONG Timeout,
                             OUT VIP_VI_ATTRIBUTES* RemoteViAttribs);
/* Ends a connection, or a request, and makes the VI idle: descriptors are flushed. The other end gets
 * VIP_ERROR_CONN_LOST and VIP_STATE_ERROR, from which VipDisconnect leads to idle. VIP_INVALID_STATE: it is idle. */
VIP_RETURN VipDisconnect(IN VIP_VI_HANDLE ViHandle);

/* ---- Connections: peer to peer ---- */

/* Asks for a connection to an end that asks for this one, with the two addresses swapped. Does not wait.
 * VIP_INVALID_STATE: not idle; VIP_NOT_REACHABLE, VIP_ERROR_RESOURCE. */
VIP_RETURN VipConnectPeerRequest(IN VIP_VI_HANDLE ViHandle, IN VIP_NET_ADDRESS* LocalAddr,
                                 IN VIP_NET_ADDRESS* RemoteAddr, IN VIP_ULONG Timeout);
/* How the request ended: VIP_SUCCESS, VIP_NOT_DONE, VIP_TIMEOUT, VIP_INVALID_RELIABILITY_LEVEL (the ends differ),
 * VIP_NOT_REACHABLE, VIP_ERROR_RESOURCE; VIP_INVALID_STATE: there is none. RemoteViAttribs may be NULL. */
VIP_RETURN VipConnectPeerDone(IN VIP_VI_HANDLE ViHandle, OUT VIP_VI_ATTRIBUTES* RemoteViAttribs);
/* The same, but waits for the end. */
VIP_RETURN VipConnectPeerWait(IN VIP_VI_HANDLE ViHandle, OUT VIP_VI_ATTRIBUTES* RemoteViAttribs);

/* ---- Memory ---- */

/* VIP_ERROR_RESOURCE: the NIC has MaxPtags. */
VIP_RETURN VipCreatePtag(IN VIP_NIC_HANDLE NicHandle, OUT VIP_PROTECTION_HANDLE* Ptag);
/* VIP_INVALID_PTAG: it is none of this NIC; VIP_ERROR_RESOURCE: a VI or memory has it. */
VIP_RETURN VipDestroyPtag(IN VIP_NIC_HANDLE NicHandle, IN VIP_PROTECTION_HANDLE Ptag);
/* Memory of the program for descriptors and data. VIP_INVALID_PTAG, VIP_ERROR_RESOURCE. */
VIP_RETURN VipRegisterMem(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID VirtualAddress,
                          IN VIP_ULONG Length, IN VIP_MEM_ATTRIBUTES* MemAttribs,
                          OUT VIP_MEM_HANDLE* MemoryHandle);
/* VirtualAddress is that of the registration. Nothing is written to the memory any more after it.
 * VIP_ERROR_RESOURCE: posted descriptors use it. */
VIP_RETURN VipDeregisterMem(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID VirtualAddress,
                            IN VIP_MEM_HANDLE MemoryHandle);
/* Fulmar's, the new calls of VIA2SISCI: the library allocates the memory (zeros, page-aligned), so that data need not
 * be copied where processes share a host. Otherwise as VipRegisterMem. */
VIP_RETURN VipAllocMem(IN VIP_NIC_HANDLE NicHandle, OUT VIP_PVOID* VirtualAddress,
                       IN VIP_ULONG Length, IN VIP_MEM_ATTRIBUTES* MemAttribs,
                       OUT VIP_MEM_HANDLE* MemoryHandle);
/* As VipDeregisterMem; the memory is gone. */
VIP_RETURN VipFreeMem(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID VirtualAddress,
                      IN VIP_MEM_HANDLE MemoryHandle);
/* Address: any in the memory. */
VIP_RETURN VipQueryMem(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID Address,
                       IN VIP_MEM_HANDLE MemHandle, OUT VIP_MEM_ATTRIBUTES* MemAttribs);
/* Address: any in the memory. VIP_INVALID_PTAG; VIP_ERROR_RESOURCE: posted descriptors use the memory. */
VIP_RETURN VipSetMemAttributes(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID Address,
                               IN VIP_MEM_HANDLE MemHandle, IN VIP_MEM_ATTRIBUTES* MemAttribs);

/* ---- Work queues ---- */

/* MemoryHandle: that of the descriptor's memory, which has the VI's tag; else VIP_INVALID_PARAMETER and the error
 * VIP_ERROR_POST_DESC. Also VIP_INVALID_PARAMETER: not aligned. VIP_ERROR_RESOURCE: the queue is full. All other errors
 * are in the status of the descriptor. On a VI that is not connected it is flushed. */
VIP_RETURN VipPostSend(IN VIP_VI_HANDLE ViHandle, IN VIP_DESCRIPTOR* DescriptorPtr,
                       IN VIP_MEM_HANDLE MemoryHandle);
/* The oldest descriptor if it is done, with VIP_DESCRIPTOR_ERROR where its status has an error, else NULL with
 * VIP_NOT_DONE. */
VIP_RETURN VipSendDone(IN VIP_VI_HANDLE ViHandle, OUT VIP_DESCRIPTOR** DescriptorPtr);
/* The same, but waits until there is one that is done. VIP_TIMEOUT; VIP_INVALID_PARAMETER: the queue has a completion
 * queue. */
VIP_RETURN VipSendWait(IN VIP_VI_HANDLE ViHandle, IN VIP_ULONG Timeout,
                       OUT VIP_DESCRIPTOR** DescriptorPtr);
/* Has the handler called once, with the next descriptor that is done, which it gets as from VipSendDone. Several wait
 * in turn. VIP_INVALID_PARAMETER: as of VipSendWait, or no handler. */
VIP_RETURN VipSendNotify(IN VIP_VI_HANDLE ViHandle, IN VIP_PVOID Context,
                         IN VIP_VI_CALLBACK Handler);
/* The same for receive queues. Descriptors may be posted to idle VIs; on one in VIP_STATE_ERROR they are flushed. */
VIP_RETURN VipPostRecv(IN VIP_VI_HANDLE ViHandle, IN VIP_DESCRIPTOR* DescriptorPtr,
                       IN VIP_MEM_HANDLE MemoryHandle);
VIP_RETURN VipRecvDone(IN VIP_VI_HANDLE ViHandle, OUT VIP_DESCRIPTOR** DescriptorPtr);
VIP_RETURN VipRecvWait(IN VIP_VI_HANDLE ViHandle, IN VIP_ULONG Timeout,
                       OUT VIP_DESCRIPTOR** DescriptorPtr);
VIP_RETURN VipRecvNotify(IN VIP_VI_HANDLE ViHandle, IN VIP_PVOID Context,
                         IN VIP_VI_CALLBACK Handler);

/* ---- Completion queues ---- */

/* Room for EntryCount completions: VIP_INVALID_PARAMETER (0), VIP_ERROR_RESOURCE (more than the NIC has). What comes
 * beyond is kept, too. */
VIP_RETURN VipCreateCQ(IN VIP_NIC_HANDLE NicHandle, IN VIP_ULONG EntryCount,
                       OUT VIP_CQ_HANDLE* CQHandle);
/* VIP_ERROR_RESOURCE: a VI has it. */
VIP_RETURN VipDestroyCQ(IN VIP_CQ_HANDLE CQHandle);
/* VIP_ERROR_RESOURCE: also where more are in it. */
VIP_RETURN VipResizeCQ(IN VIP_CQ_HANDLE CQHandle, IN VIP_ULONG EntryCount);
/* Takes the oldest completion: the descriptor is that of the next VipSendDone or VipRecvDone of the VI.
 * VIP_NOT_DONE. */
VIP_RETURN VipCQDone(IN VIP_CQ_HANDLE CQHandle, OUT VIP_VI_HANDLE* ViHandle,
                     OUT VIP_BOOLEAN* RecvQueue);
/* The same, but waits. VIP_TIMEOUT. */
VIP_RETURN VipCQWait(IN VIP_CQ_HANDLE CQHandle, IN VIP_ULONG Timeout, OUT VIP_VI_HANDLE* ViHandle,
                     OUT VIP_BOOLEAN* RecvQueue);
/* Has the handler called once, with the next completion, taken. Several wait in turn. */
VIP_RETURN VipCQNotify(IN VIP_CQ_HANDLE CQHandle, IN VIP_PVOID Context, IN VIP_CQ_CALLBACK Handler);

/* ---- Names ---- */

/* Before the three calls below. NSInitInfo is not looked at. */
VIP_RETURN VipNSInit(IN VIP_NIC_HANDLE NicHandle, IN VIP_PVOID NSInitInfo);
/* The NameIndex-th process, in the order of ranks, that has the name: its host name, whole or up to the first dot;
 * its name in the file of FULMAR_SISCI_NODES; or its rank, in digits. Host name and file: asks the processes, which
 * answer once they have opened a NIC. Address: room for the NIC's address; the discriminator's length is set to 0.
 * VIP_ERROR_NAMESERVICE: no VipNSInit, no such name, or no further one. */
VIP_RETURN VipNSGetHostByName(IN VIP_NIC_HANDLE NicHandle, IN VIP_CHAR* Name,
                              OUT VIP_NET_ADDRESS* Address, IN VIP_ULONG NameIndex);
/* The host name of the process. NameLen: the room in bytes, then the length with the 0 at the end.
 * VIP_ERROR_RESOURCE: too little room, NameLen says how much is needed; VIP_ERROR_NAMESERVICE. */
VIP_RETURN VipNSGetHostByAddr(IN VIP_NIC_HANDLE NicHandle, IN VIP_NET_ADDRESS* Address,
                              OUT VIP_CHAR* Name, IN OUT VIP_ULONG* NameLen);
/* VIP_ERROR_NAMESERVICE: no VipNSInit. */
VIP_RETURN VipNSShutdown(IN VIP_NIC_HANDLE NicHandle);

/* ---- Management ---- */

#define VIP_SMI_AUTODISCOVERY ((VIP_ULONG)1)
/* Addresses of the processes of the job, without discriminators, this one included. */
typedef struct {
  VIP_ULONG NumberOfHops; /* in: how far to look; 0: this host alone */
  VIP_NET_ADDRESS**
      ADAddrArray; /* in: NumAdAddrs places for addresses, each with room for the NIC's address */
  VIP_ULONG NumAdAddrs; /* in: the places; out: how many addresses there are, which may be more */
} VIP_AUTODISCOVERY_LIST;

#define VIP_SMI_COUNTERS ((VIP_ULONG)0x46000001) /* Fulmar's */
/* Of this process since it opened its first NIC. Fulmar's. */
typedef struct {
  VIP_UINT64 Sends;    /* messages and RDMA operations that ended well */
  VIP_UINT64 Receives; /* receive descriptors that were filled */
  VIP_UINT64 Bytes;    /* that they moved, both ways */
  VIP_UINT64 Copies;   /* to and from shadow segments, in blocks; the transfer itself is none */
  VIP_UINT64 CopiedBytes;
  VIP_UINT64 Stored;    /* blocks that were stored into memory of another process by this one */
  VIP_UINT64 Transfers; /* blocks that went by the network, or by the kernel on a host */
  VIP_UINT64 Pushed;    /* receive descriptors that were given to senders ahead of their messages */
  VIP_UINT64 Asked;     /* times that a sender had none left and asked */
} VIP_COUNTERS;
/* InfoType: one of the above; SysManInfo: the structure. VIP_ERROR_NOT_SUPPORTED: no such type. */
VIP_RETURN VipQuerySystemManagementInfo(IN VIP_NIC_HANDLE NicHandle, IN VIP_ULONG InfoType,
                                        OUT VIP_PVOID SysManInfo);

#ifdef __cplusplus
}
#endif

#endif /* FULMAR_VIPL_H */
