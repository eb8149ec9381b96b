/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * SISCI, Dolphin's interface to shared segments, DMA and interrupts between nodes, over Fulmar. Names, types
 * and values are Dolphin's; the calls and all errors are described in docs/interfaces/sisci.md.
 *
 * Programs of all versions of SISCI compile against this header: names are not mangled, flags are constants
 * of the preprocessor (and can be used wherever the variables of early versions could, except by address),
 * and sizes are size_t, to which the unsigned int of early programs converts.
 *
 * Units: sizes and offsets in bytes, timeouts in ms. Threads: any thread may call, and is not cancelled
 * (pthread_cancel) before its call ends; callbacks run on a thread of the library. `error` is written by every call that has it, unless it is NULL; results that are returned
 * through pointers are written only with SCI_ERR_OK. Every call with `error` can give SCI_ERR_NOT_INITIALIZED,
 * SCI_ERR_ILLEGAL_PARAMETER (a handle that is none, or NULL) and SCI_ERR_ILLEGAL_FLAG, calls with an adapter's
 * number SCI_ERR_ILLEGAL_ADAPTERNO and SCI_ERR_NO_SUCH_ADAPTERNO: there is adapter 0. Other errors stand at the
 * calls.
 */
#pragma once
#ifndef FULMAR_SISCI_API_H
#define FULMAR_SISCI_API_H

#include <sisci_error.h>
#include <sisci_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Flags; a call accepts those that its description names, and hints to hardware that is not there. */
#define SCI_FLAG_FIXED_INTNO 0x00000002U
#define SCI_FLAG_SHARED_INT 0x00000004U
#define SCI_FLAG_COUNTING_INT 0x00000020U
#define SCI_FLAG_CONDITIONAL_INTERRUPT 0x00000008U
#define SCI_FLAG_FIXED_MAP_ADDR 0x00000001U
#define SCI_FLAG_READONLY_MAP 0x00000002U
#define SCI_FLAG_LOCK_OPERATION 0x00000004U
#define SCI_FLAG_CONDITIONAL_INTERRUPT_MAP 0x00000008U
#define SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP 0x00000010U
#define SCI_FLAG_READ_PREFETCH_AGGR_HOLD_MAP 0x00000020U
#define SCI_FLAG_READ_PREFETCH_NO_HOLD_MAP 0x00000040U
#define SCI_FLAG_IO_MAP_IOSPACE 0x00000080U
#define SCI_FLAG_DMOVE_MAP 0x00000100U
#define SCI_FLAG_WRITES_DISABLE_GATHER_MAP 0x00000200U
#define SCI_FLAG_DISABLE_128_BYTES_PACKETS 0x00000400U
#define SCI_FLAG_NO_MEMORY_LOOPBACK_MAP 0x00000800U
#define SCI_FLAG_SHARED_MAP 0x00002000U
#define SCI_FLAG_WRITE_BACK_CACHE_MAP 0x08000000U
#define SCI_FLAG_BROADCAST 0x00040000U
#define SCI_FLAG_USE_CALLBACK 0x00000001U
#define SCI_FLAG_EMPTY 0x00000002U
#define SCI_FLAG_PRIVATE 0x00000004U
#define SCI_FLAG_DMA_SOURCE_ONLY 0x00000008U
#define SCI_FLAG_PHYSICAL 0x00001000U
#define SCI_FLAG_AUTO_ID 0x20000000U
#define SCI_FLAG_ALLOW_UNICAST 0x00000080U
#define SCI_FLAG_DMA_POST 0x00000002U
#define SCI_FLAG_DMA_WAIT 0x00000004U
#define SCI_FLAG_DMA_RESET 0x00000008U
#define SCI_FLAG_DMA_READ 0x00000010U
#define SCI_FLAG_DMA_PHDMA 0x00000020U
#define SCI_FLAG_DMA_GLOBAL 0x00000040U
#define SCI_FLAG_DMA_SYSDMA 0x00000100U
#define SCI_FLAG_DMA_USER_MEM 0x00000200U
#define SCI_FLAG_DMA_ADAPTER 0x00000800U
#define SCI_FLAG_DMA_CHANNEL_SHARED 0x00000001U
#define SCI_FLAG_LOCK_USER_MEM 0x00000400U
#define SCI_FLAG_FORCE_REMOVE 0x00000020U
#define SCI_FLAG_THREAD_SAFE 0x00000001U
#define SCI_FLAG_CACHE_FLUSH 0x00100000U
#define SCI_FLAG_CACHE_INVALIDATE 0x00200000U
#define SCI_FLAG_ASYNCHRONOUS_CONNECT 0x00000002U
#define SCI_FLAG_FORCE_DISCONNECT 0x00000001U
#define SCI_FLAG_NOTIFY 0x00000002U
#define SCI_FLAG_BLOCK_READ 0x00000002U
#define SCI_FLAG_ERROR_CHECK 0x00000004U
#define SCI_FLAG_NO_FLUSH 0x00000001U
#define SCI_FLAG_NO_STORE_BARRIER 0x00000002U
#define SCI_FLAG_FAST_BARRIER 0x00000001U
#define SCI_FLAG_FLUSH_CPU_BUFFERS_ONLY 0x00000001U
#define SCI_FLAG_NO_ADDRESS_MAP 0x40000000U

#define SCI_INFINITE_TIMEOUT 0xFFFFFFFFU
#define SCI_LOCAL_HOST 0xFFFFFFFFU          /* as a node: this one */
#define DIS_BROADCAST_NODEID_GROUP_ALL 252U /* refused: SCI_ERR_NOT_SUPPORTED */

/* ---- Session ---- */

/* Joins the job, if the process has not done so. May be called again; as many SCITerminate end it.
 * SCI_ERR_INCONSISTENT_VERSIONS, SCI_ERR_NO_LINK_ACCESS (a line on stderr says why). */
void SCIInitialize(unsigned int flags, sci_error_t* error);
/* Frees everything that is left, of all descriptors. Local, but aborts transfers that are under way, and waits until
 * their memory is not used any more. */
void SCITerminate(void);
/* A descriptor, to which objects belong. SCI_FLAG_THREAD_SAFE: always so. */
void SCIOpen(sci_desc_t* sd, unsigned int flags, sci_error_t* error);
/* SCI_ERR_BUSY: objects of it are left. */
void SCIClose(sci_desc_t sd, unsigned int flags, sci_error_t* error);
/* Whether the node can be reached: 1 or 0. SCI_ERR_ILLEGAL_NODEID, SCI_ERR_NO_SUCH_NODEID,
 * SCI_ERR_NODE_NOT_RESPONDING. */
int SCIProbeNode(sci_desc_t sd, unsigned int localAdapterNo, unsigned int nodeId,
                 unsigned int flags, sci_error_t* error);
void SCIGetLocalNodeId(unsigned int adapterNo, unsigned int* nodeId, unsigned int flags,
                       sci_error_t* error);
/* Nodes with this name in the node file, or whose rank it is; SCI_ERR_NO_SUCH_NODEID. */
void SCIGetNodeIdByAdapterName(char* adaptername, dis_nodeId_list_t* nodeIdlist,
                               dis_virt_adapter_t* type, unsigned int flags, sci_error_t* error);
/* For people. Never NULL; valid for ever, also before SCIInitialize. */
const char* SCIGetErrorString(sci_error_t code);
const char* SCIGetAdapterTypeString(unsigned int type);

/* ---- Local segments ---- */

/* Memory of this node under a number: zeros. SCI_FLAG_USE_CALLBACK, SCI_FLAG_EMPTY (no memory until
 * SCIRegisterSegmentMemory; `size` is the most), SCI_FLAG_PRIVATE (never connected; the number is not
 * looked at), SCI_FLAG_AUTO_ID (a free number), SCI_FLAG_DMA_GLOBAL. SCI_ERR_SEGMENTID_USED,
 * SCI_ERR_SIZE_ALIGNMENT (0), SCI_ERR_NOSPC, SCI_ERR_FLAG_NOT_IMPLEMENTED (SCI_FLAG_BROADCAST). */
void SCICreateSegment(sci_desc_t sd, sci_local_segment_t* segment, unsigned int segmentId,
                      size_t size, sci_cb_local_segment_t callback, void* callbackArg,
                      unsigned int flags, sci_error_t* error);
/* SCI_FLAG_DMA_SOURCE_ONLY: the segment cannot be made available. */
void SCIPrepareSegment(sci_local_segment_t segment, unsigned int localAdapterNo, unsigned int flags,
                       sci_error_t* error);
/* SCI_ERR_SEGMENT_NOT_PREPARED; SCI_ERR_ILLEGAL_OPERATION: private, only a source, without memory or
 * attached. */
void SCISetSegmentAvailable(sci_local_segment_t segment, unsigned int localAdapterNo,
                            unsigned int flags, sci_error_t* error);
/* Connections stay, unless SCI_FLAG_FORCE_DISCONNECT ends them; SCI_FLAG_NOTIFY asks the connected nodes
 * to disconnect (SCI_CB_DISCONNECT). SCI_ERR_ILLEGAL_OPERATION: it is not available. */
void SCISetSegmentUnavailable(sci_local_segment_t segment, unsigned int localAdapterNo,
                              unsigned int flags, sci_error_t* error);
/* Connections to it end, as with SCI_FLAG_FORCE_DISCONNECT. SCI_ERR_BUSY while it is mapped here, has an
 * interrupt flag or is used by a transfer; SCI_FLAG_FORCE_REMOVE waits for transfers. A wait for its events ends
 * with SCI_ERR_CANCELLED. */
void SCIRemoveSegment(sci_local_segment_t segment, unsigned int flags, sci_error_t* error);
/* Other processes of this host may attach the segment. SCI_ERR_ILLEGAL_OPERATION: memory of the program,
 * or attached. */
void SCIShareSegment(sci_local_segment_t segment, unsigned int flags, sci_error_t* error);
/* A segment that a process of this host shares, as a local one. SCI_FLAG_USE_CALLBACK (SCI_CB_LOST,
 * SCI_CB_DISCONNECT). SCI_ERR_NO_SUCH_SEGMENT, SCI_ERR_ACCESS (it is not shared), SCI_ERR_NOSPC. */
void SCIAttachLocalSegment(sci_desc_t sd, sci_local_segment_t* segment, unsigned int segmentId,
                           size_t* size, sci_cb_local_segment_t callback, void* callbackArg,
                           unsigned int flags, sci_error_t* error);
/* Memory of the program for a segment of SCI_FLAG_EMPTY; it stays until SCIRemoveSegment. Other nodes
 * reach it by explicit transfers. SCI_FLAG_LOCK_USER_MEM: a hint. SCI_ERR_ILLEGAL_OPERATION (the segment
 * has memory), SCI_ERR_OUT_OF_RANGE (more than its size), SCI_ERR_SIZE_ALIGNMENT (0),
 * SCI_ERR_ILLEGAL_ADDRESS (NULL, or beyond the end of the address space). */
void SCIRegisterSegmentMemory(void* address, size_t size, sci_local_segment_t segment,
                              unsigned int flags, sci_error_t* error);
/* Refused: SCI_ERR_NOT_SUPPORTED. */
void SCIAttachPhysicalMemory(sci_ioaddr_t ioaddress, void* address, unsigned int busNo, size_t size,
                             sci_local_segment_t segment, unsigned int flags, sci_error_t* error);
/* The oldest event that was not taken; 0 with an error. SCI_ERR_TIMEOUT, SCI_ERR_CANCELLED,
 * SCI_ERR_ILLEGAL_OPERATION (it has a callback). */
sci_segment_cb_reason_t SCIWaitForLocalSegmentEvent(sci_local_segment_t segment,
                                                    unsigned int* sourcenodeId,
                                                    unsigned int* localAdapterNo,
                                                    unsigned int timeout, unsigned int flags,
                                                    sci_error_t* error);
/* 0 for what is no segment. */
size_t SCIGetLocalSegmentSize(sci_local_segment_t segment);
unsigned int SCIGetLocalSegmentId(sci_local_segment_t segment);

/* ---- Remote segments ---- */

/* SCI_FLAG_USE_CALLBACK; SCI_FLAG_ASYNCHRONOUS_CONNECT returns at once, and the callback or
 * SCIWaitForRemoteSegmentEvent has SCI_CB_CONNECT with how it ended. SCI_ERR_NO_SUCH_SEGMENT (none that is
 * available), SCI_ERR_CONNECTION_REFUSED (the owner has no room), SCI_ERR_TIMEOUT, SCI_ERR_ILLEGAL_NODEID,
 * SCI_ERR_NO_SUCH_NODEID, SCI_ERR_NODE_NOT_RESPONDING, SCI_ERR_NOT_SUPPORTED (broadcast groups),
 * SCI_ERR_FLAG_NOT_IMPLEMENTED (SCI_FLAG_BROADCAST). */
void SCIConnectSegment(sci_desc_t sd, sci_remote_segment_t* segment, unsigned int nodeId,
                       unsigned int segmentId, unsigned int localAdapterNo,
                       sci_cb_remote_segment_t callback, void* callbackArg, unsigned int timeout,
                       unsigned int flags, sci_error_t* error);
/* SCI_ERR_BUSY while it is mapped or used by a transfer. Waits for its events end with
 * SCI_ERR_CANCELLED. */
void SCIDisconnectSegment(sci_remote_segment_t segment, unsigned int flags, sci_error_t* error);
/* SCI_ERR_TIMEOUT, SCI_ERR_CANCELLED, SCI_ERR_ILLEGAL_OPERATION (as for local segments). */
sci_segment_cb_reason_t SCIWaitForRemoteSegmentEvent(sci_remote_segment_t segment,
                                                     sci_error_t* status, unsigned int timeout,
                                                     unsigned int flags, sci_error_t* error);
/* 0 for what is no segment or not connected yet. */
size_t SCIGetRemoteSegmentSize(sci_remote_segment_t segment);
unsigned int SCIGetRemoteSegmentId(sci_remote_segment_t segment);
unsigned int SCIGetRemoteSegmentNodeId(sci_remote_segment_t segment);

/* ---- Maps ---- */

/* Memory of the other node to load from and store to, where it shares memory with this one. Flags:
 * SCI_FLAG_FIXED_MAP_ADDR (at `addr`, where nothing may be mapped), SCI_FLAG_READONLY_MAP,
 * SCI_FLAG_NO_ADDRESS_MAP, and hints. NULL, with a map for SCIMemCpy, SCITransferBlock and sequences, for
 * SCI_FLAG_NO_ADDRESS_MAP (Fulmar's), which works to every node; with it SCI_FLAG_CONDITIONAL_INTERRUPT_MAP
 * and SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP make writes trigger interrupts. SCI_ERR_NOT_SUPPORTED: the
 * node or its segment cannot be mapped. SCI_ERR_OUT_OF_RANGE, SCI_ERR_SIZE_ALIGNMENT (0),
 * SCI_ERR_OFFSET_ALIGNMENT (SCI_FLAG_FIXED_MAP_ADDR: address and offset lie differently in their pages),
 * SCI_ERR_ILLEGAL_ADDRESS (taken), SCI_ERR_SEGMENT_NOT_CONNECTED, SCI_ERR_SYSTEM,
 * SCI_ERR_FLAG_NOT_IMPLEMENTED (SCI_FLAG_LOCK_OPERATION, and the interrupts' flags with an address). */
volatile void* SCIMapRemoteSegment(sci_remote_segment_t segment, sci_map_t* map, size_t offset,
                                   size_t size, void* addr, unsigned int flags, sci_error_t* error);
/* The same for a local segment, also one that is not prepared. SCI_ERR_ILLEGAL_OPERATION: it has no memory
 * yet. SCI_ERR_NOT_SUPPORTED: SCI_FLAG_FIXED_MAP_ADDR or SCI_FLAG_READONLY_MAP of the program's memory. */
void* SCIMapLocalSegment(sci_local_segment_t segment, sci_map_t* map, size_t offset, size_t size,
                         void* addr, unsigned int flags, sci_error_t* error);
/* Ends the map's sequences. SCI_ERR_BUSY while a transfer has it. */
void SCIUnmapSegment(sci_map_t map, unsigned int flags, sci_error_t* error);

/* ---- Sequences: whether what was written through a map has arrived ---- */

/* SCI_FLAG_FAST_BARRIER: a hint. */
void SCICreateMapSequence(sci_map_t map, sci_sequence_t* sequence, unsigned int flags,
                          sci_error_t* error);
void SCIRemoveSequence(sci_sequence_t sequence, unsigned int flags, sci_error_t* error);
/* SCI_SEQ_OK; SCI_SEQ_NOT_RETRIABLE: the connection has ended. */
sci_sequence_status_t SCIStartSequence(sci_sequence_t sequence, unsigned int flags,
                                       sci_error_t* error);
/* Waits until all that was written has arrived (not with SCI_FLAG_NO_STORE_BARRIER). SCI_SEQ_OK;
 * SCI_SEQ_RETRIABLE: something since SCIStartSequence has not, write it again; SCI_SEQ_NOT_RETRIABLE: the
 * connection has ended. SCI_FLAG_NO_FLUSH: a hint. */
sci_sequence_status_t SCICheckSequence(sci_sequence_t sequence, unsigned int flags,
                                       sci_error_t* error);
/* Waits until all that was written through the map has arrived; SCIFlush does so too. A NULL sequence orders
 * the stores of this thread only. */
void SCIStoreBarrier(sci_sequence_t sequence, unsigned int flags);
void SCIFlush(sci_sequence_t sequence, unsigned int flags);
void SCIFlushReadBuffers(sci_sequence_t sequence);
/* Orders the loads and stores of this thread; caches are coherent. `map` may be NULL. SCI_FLAG_CACHE_FLUSH,
 * SCI_FLAG_CACHE_INVALIDATE. SCI_ERR_OUT_OF_RANGE: the range leaves the map. */
void SCICacheSync(sci_map_t map, void* addr, size_t length, unsigned int flags, sci_error_t* error);

/* ---- Transfers by the calling thread ---- */

/* Copies from memory to the map, or, with SCI_FLAG_BLOCK_READ, from the map to memory. On return the memory
 * is the caller's; what was written to another host has arrived after SCICheckSequence, SCIStoreBarrier or
 * with SCI_FLAG_ERROR_CHECK. SCI_ERR_OUT_OF_RANGE, SCI_ERR_TRANSFER_FAILED, SCI_ERR_SEGMENT_NOT_CONNECTED,
 * SCI_ERR_NOSPC. With an interrupt's map: SCI_ERR_SIZE_ALIGNMENT (not 4), SCI_ERR_OFFSET_ALIGNMENT. */
void SCIMemCpy(sci_sequence_t sequence, void* memAddr, sci_map_t remoteMap, size_t remoteOffset,
               size_t size, unsigned int flags, sci_error_t* error);
void SCIMemCopy(void* memAddr, sci_map_t remoteMap, size_t remoteOffset, size_t size,
                unsigned int flags, sci_error_t* error);
/* Copies to an address that SCIMapRemoteSegment has returned; SCI_ERR_ILLEGAL_ADDRESS: NULL. */
void SCIMemWrite(void* memAddr, volatile void* remoteAddr, size_t size, unsigned int flags,
                 sci_error_t* error);
/* From one map to another, whatever they are. Errors as of SCIMemCpy. */
void SCITransferBlock(sci_map_t sourceMap, size_t sourceOffset, sci_map_t destinationMap,
                      size_t destinationOffset, size_t size, unsigned int flags,
                      sci_error_t* error);
/* The same without waiting. SCI_FLAG_USE_CALLBACK, SCI_FLAG_BLOCK_READ (a hint). The handle is gone when its
 * callback or SCIWaitForBlockTransfer has returned. SCI_ERR_NOT_SUPPORTED: both maps are of other hosts. */
void SCITransferBlockAsync(sci_map_t sourceMap, size_t sourceOffset, sci_map_t destinationMap,
                           size_t destinationOffset, size_t size, sci_block_transfer_t* block,
                           sci_cb_block_transfer_t callback, void* callbackArg, unsigned int flags,
                           sci_error_t* error);
/* SCI_ERR_TIMEOUT (the handle stays), SCI_ERR_TRANSFER_FAILED, SCI_ERR_CANCELLED (aborted);
 * SCI_ERR_ILLEGAL_OPERATION: it has a callback. */
void SCIWaitForBlockTransfer(sci_block_transfer_t block, unsigned int timeout, unsigned int flags,
                             sci_error_t* error);
/* What was not copied is not; waits until the memory is not used any more. SCI_ERR_ILLEGAL_OPERATION: it has
 * ended. */
void SCIAbortBlockTransfer(sci_block_transfer_t block, unsigned int flags, sci_error_t* error);

/* ---- DMA queues ---- */

/* Room for `maxEntries`. SCI_ERR_ILLEGAL_PARAMETER (0), SCI_ERR_NOT_SUPPORTED (SCI_FLAG_DMA_PHDMA). */
void SCICreateDMAQueue(sci_desc_t sd, sci_dma_queue_t* dq, unsigned int localAdapterNo,
                       unsigned int maxEntries, unsigned int flags, sci_error_t* error);
/* SCI_ERR_ILLEGAL_OPERATION: posted. */
void SCIRemoveDMAQueue(sci_dma_queue_t dq, unsigned int flags, sci_error_t* error);
/* The local segment's bytes go to the remote one; the other way with SCI_FLAG_DMA_READ. States: IDLE and
 * GATHER, then GATHER. SCI_ERR_OUT_OF_RANGE, SCI_ERR_SIZE_ALIGNMENT (0), SCI_ERR_MAX_ENTRIES,
 * SCI_ERR_ILLEGAL_OPERATION (the state, or a direction other than that of the queue's other entries),
 * SCI_ERR_SEGMENT_NOT_PREPARED, SCI_ERR_SEGMENT_NOT_CONNECTED. */
sci_dma_queue_state_t SCIEnqueueDMATransfer(sci_dma_queue_t dq, sci_local_segment_t localSegment,
                                            sci_remote_segment_t remoteSegment, size_t localOffset,
                                            size_t remoteOffset, size_t size, unsigned int flags,
                                            sci_error_t* error);
/* GATHER, then POSTED until DONE or ERROR. SCI_FLAG_USE_CALLBACK. SCI_ERR_ILLEGAL_OPERATION: nothing
 * gathered. */
void SCIPostDMAQueue(sci_dma_queue_t dq, sci_cb_dma_t callback, void* callbackArg,
                     unsigned int flags, sci_error_t* error);
/* POSTED, then ABORTED; waits until the memory is not used any more. SCI_ERR_ILLEGAL_OPERATION. */
void SCIAbortDMAQueue(sci_dma_queue_t dq, unsigned int flags, sci_error_t* error);
/* DONE, ABORTED, ERROR or GATHER, then IDLE. SCI_ERR_ILLEGAL_OPERATION: posted. */
void SCIResetDMAQueue(sci_dma_queue_t dq, unsigned int flags, sci_error_t* error);
/* SCI_DMAQUEUE_ERROR for what is no queue. */
sci_dma_queue_state_t SCIDMAQueueState(sci_dma_queue_t dq);
/* Until it is not POSTED. SCI_ERR_TIMEOUT, SCI_ERR_ILLEGAL_OPERATION (never posted), SCI_ERR_CANCELLED
 * (removed). */
sci_dma_queue_state_t SCIWaitForDMAQueue(sci_dma_queue_t dq, unsigned int timeout,
                                         unsigned int flags, sci_error_t* error);
/* Enqueue and post in one. Any state but POSTED and GATHER. SCI_FLAG_DMA_READ, SCI_FLAG_DMA_WAIT (returns
 * when it has ended: SCI_ERR_TRANSFER_FAILED), SCI_FLAG_USE_CALLBACK or any callback, and hints at adapters.
 * SCI_ERR_FLAG_NOT_IMPLEMENTED (SCI_FLAG_BROADCAST); others as of the two calls. */
void SCIStartDmaTransfer(sci_dma_queue_t dq, sci_local_segment_t localSegment,
                         sci_remote_segment_t remoteSegment, size_t localOffset, size_t size,
                         size_t remoteOffset, sci_cb_dma_t callback, void* callbackArg,
                         unsigned int flags, sci_error_t* error);
/* The same with memory of the program; SCI_ERR_ILLEGAL_ADDRESS. */
void SCIStartDmaTransferMem(sci_dma_queue_t dq, void* localAddress,
                            sci_remote_segment_t remoteSegment, size_t size, size_t remoteOffset,
                            sci_cb_dma_t callback, void* callbackArg, unsigned int flags,
                            sci_error_t* error);
/* `vecLength` pieces, at most DIS_DMA_MAX_VECLEN (SCI_ERR_MAX_ENTRIES). */
void SCIStartDmaTransferVec(sci_dma_queue_t dq, sci_local_segment_t localSegment,
                            sci_remote_segment_t remoteSegment, size_t vecLength,
                            dis_dma_vec_t* disDmaVec, sci_cb_dma_t callback, void* callbackArg,
                            unsigned int flags, sci_error_t* error);
/* Physical addresses are refused: SCI_ERR_NOT_SUPPORTED. */
void SCIphDmaEnqueue(sci_dma_queue_t dmaqueue, unsigned int size, sci_ioaddr_t localBusAddr,
                     unsigned int remote_nodeid, unsigned int remote_highaddr,
                     unsigned int remote_lowaddr, unsigned int flags, sci_error_t* error);
sci_dma_queue_state_t SCIphDmaStart(sci_dma_queue_t dmaqueue, sci_cb_dma_t callback,
                                    void* callbackArg, unsigned int flags, sci_error_t* error);
void SCIConnectSCISpace(sci_desc_t sd, unsigned int localAdapterNo, sci_remote_segment_t* segment,
                        sci_address_t address, size_t size, unsigned int flags, sci_error_t* error);

/* ---- Interrupts ---- */

/* A number at which others trigger: any free one, or, with SCI_FLAG_FIXED_INTNO, that of *interruptNo.
 * SCI_FLAG_USE_CALLBACK; SCI_FLAG_COUNTING_INT: each trigger counts, else those that come before the earlier
 * one was taken are one with it; SCI_FLAG_SHARED_INT: several of this node may have the number, and all are
 * triggered. SCI_ERR_INTNO_USED, SCI_ERR_NOSPC. */
void SCICreateInterrupt(sci_desc_t sd, sci_local_interrupt_t* interrupt,
                        unsigned int localAdapterNo, unsigned int* interruptNo,
                        sci_cb_interrupt_t callback, void* callbackArg, unsigned int flags,
                        sci_error_t* error);
/* Connections to it end. Waits end with SCI_ERR_CANCELLED. */
void SCIRemoveInterrupt(sci_local_interrupt_t interrupt, unsigned int flags, sci_error_t* error);
/* SCI_ERR_TIMEOUT, SCI_ERR_CANCELLED, SCI_ERR_ILLEGAL_OPERATION (it has a callback). */
void SCIWaitForInterrupt(sci_local_interrupt_t interrupt, unsigned int timeout, unsigned int flags,
                         sci_error_t* error);
/* SCI_ERR_NO_SUCH_INTNO, SCI_ERR_CONNECTION_REFUSED, SCI_ERR_TIMEOUT, and what SCIConnectSegment says of
 * nodes. */
void SCIConnectInterrupt(sci_desc_t sd, sci_remote_interrupt_t* interrupt, unsigned int nodeId,
                         unsigned int localAdapterNo, unsigned int interruptNo,
                         unsigned int timeout, unsigned int flags, sci_error_t* error);
void SCIDisconnectInterrupt(sci_remote_interrupt_t interrupt, unsigned int flags,
                            sci_error_t* error);
/* Does not wait. SCI_ERR_NOT_CONNECTED (removed, or the node has ended), SCI_ERR_NOSPC. */
void SCITriggerInterrupt(sci_remote_interrupt_t interrupt, unsigned int flags, sci_error_t* error);

/* An interrupt at a word (4 bytes, aligned: SCI_ERR_OFFSET_ALIGNMENT, SCI_ERR_OUT_OF_RANGE) of a local
 * segment. Others map the segment with SCI_FLAG_NO_ADDRESS_MAP and SCI_FLAG_UNCONDITIONAL_DATA_INTERRUPT_MAP,
 * and a SCIMemCpy to the word writes it and triggers; or, with SCI_FLAG_CONDITIONAL_INTERRUPT here and
 * SCI_FLAG_CONDITIONAL_INTERRUPT_MAP there, a SCIMemCpy of 4 bytes adds 1 to the word, and triggers if it was
 * 0 and the interrupt is enabled, as it is at first. SCI_FLAG_USE_CALLBACK or any callback;
 * SCI_ERR_INTNO_USED: the word has one. SCIWaitForInterrupt and SCIRemoveInterrupt as of others. */
void SCIRegisterInterruptFlag(unsigned int localAdapterNo, sci_local_interrupt_t* interrupt,
                              sci_local_segment_t segment, size_t offset,
                              sci_cb_interrupt_t callback, void* callbackArg, unsigned int flags,
                              sci_error_t* error);
/* The word is 0 and the next trigger interrupts. SCI_ERR_COND_INT_RACE_PROBLEM: the word changed meanwhile;
 * nothing was done. SCI_ERR_ILLEGAL_OPERATION: not conditional. */
void SCIEnableConditionalInterrupt(sci_local_interrupt_t interrupt, unsigned int flags,
                                   sci_error_t* error);
void SCIDisableConditionalInterrupt(sci_local_interrupt_t interrupt, unsigned int flags,
                                    sci_error_t* error);
/* Triggers since it was enabled or disabled; SCI_ERR_OVERFLOW: 2^32 or more. */
void SCIGetConditionalInterruptTrigCounter(sci_local_interrupt_t interrupt,
                                           unsigned int* interruptTrigCounter, unsigned int flags,
                                           sci_error_t* error);

/* ---- Interrupts with data ---- */

#define SCI_DATA_INTERRUPT_BYTES 65536U /* the most with one trigger (Fulmar's) */
void SCICreateDataInterrupt(sci_desc_t sd, sci_local_data_interrupt_t* interrupt,
                            unsigned int localAdapterNo, unsigned int* interruptNo,
                            sci_cb_data_interrupt_t callback, void* callbackArg, unsigned int flags,
                            sci_error_t* error);
void SCIRemoveDataInterrupt(sci_local_data_interrupt_t interrupt, unsigned int flags,
                            sci_error_t* error);
/* The oldest data; *length is the room, then what came. SCI_ERR_OUT_OF_RANGE: too little room, *length says
 * how much is needed, and the data stays; others as of SCIWaitForInterrupt. */
void SCIWaitForDataInterrupt(sci_local_data_interrupt_t interrupt, void* data, unsigned int* length,
                             unsigned int timeout, unsigned int flags, sci_error_t* error);
void SCIConnectDataInterrupt(sci_desc_t sd, sci_remote_data_interrupt_t* interrupt,
                             unsigned int nodeId, unsigned int localAdapterNo,
                             unsigned int interruptNo, unsigned int timeout, unsigned int flags,
                             sci_error_t* error);
void SCIDisconnectDataInterrupt(sci_remote_data_interrupt_t interrupt, unsigned int flags,
                                sci_error_t* error);
/* Waits until the other node's library has the data. SCI_ERR_OUT_OF_RANGE (more than
 * SCI_DATA_INTERRUPT_BYTES), SCI_ERR_NOSPC (also where the program there has 1024 that it has not taken),
 * SCI_ERR_NOT_CONNECTED. */
void SCITriggerDataInterrupt(sci_remote_data_interrupt_t interrupt, void* data, unsigned int length,
                             unsigned int flags, sci_error_t* error);

/* ---- Queries ---- */

/* `data` is one of the structures below, as `command` says. SCI_ERR_ILLEGAL_QUERY: no such command or
 * subcommand; SCI_ERR_NOT_SUPPORTED: addresses of buses. */
void SCIQuery(unsigned int command, void* data, unsigned int flags, sci_error_t* error);

#define SCI_Q_ADAPTER 1U
#define SCI_Q_API 2U
#define SCI_Q_VENDORID 3U
#define SCI_Q_SYSTEM 4U
#define SCI_Q_LOCAL_SEGMENT 5U
#define SCI_Q_REMOTE_SEGMENT 6U
#define SCI_Q_MAP 7U
#define SCI_Q_ADAPTER_DMA_SIZE_ALIGNMENT 1U
#define SCI_Q_ADAPTER_DMA_OFFSET_ALIGNMENT 2U
#define SCI_Q_ADAPTER_DMA_MTU 3U
#define SCI_Q_ADAPTER_SUGGESTED_MIN_DMA_SIZE 4U
#define SCI_Q_ADAPTER_SUGGESTED_MIN_BLOCK_SIZE 5U
#define SCI_Q_ADAPTER_NODEID 6U
#define SCI_Q_ADAPTER_SERIAL_NUMBER 7U
#define SCI_Q_ADAPTER_CARD_TYPE 8U
#define SCI_Q_ADAPTER_NUMBER_OF_STREAMS 9U
#define SCI_Q_ADAPTER_STREAM_BUFFER_SIZE 10U
#define SCI_Q_ADAPTER_CONFIGURED 11U
#define SCI_Q_ADAPTER_LINK_OPERATIONAL 12U
#define SCI_Q_ADAPTER_HW_LINK_STATUS_IS_OK 13U
#define SCI_Q_ADAPTER_NUMBER 14U
#define SCI_Q_ADAPTER_INSTANCE_NUMBER 15U
#define SCI_Q_ADAPTER_FIRMWARE_OK 16U
#define SCI_Q_ADAPTER_CONNECTED_TO_SWITCH 17U
#define SCI_Q_ADAPTER_LOCAL_SWITCH_TYPE 18U
#define SCI_Q_ADAPTER_LOCAL_SWITCH_PORT_NUMBER 19U
#define SCI_Q_ADAPTER_CONNECTED_TO_EXPECTED_SWITCH_PORT 20U
#define SCI_Q_ADAPTER_ATT_PAGE_SIZE 21U
#define SCI_Q_ADAPTER_ATT_NUMBER_OF_ENTRIES 22U
#define SCI_Q_ADAPTER_ATT_AVAILABLE_ENTRIES 23U
#define SCI_Q_ADAPTER_PHYS_MEM_NODEID 24U
#define SCI_Q_ADAPTER_PHYS_MBX_NODEID 25U
#define SCI_Q_ADAPTER_PHYS_LINK_PORT_NODEID 26U
#define SCI_Q_ADAPTER_SCI_LINK_FREQUENCY 27U
#define SCI_Q_ADAPTER_B_LINK_FREQUENCY 28U
#define SCI_Q_ADAPTER_IO_BUS_FREQUENCY 29U
#define SCI_Q_SYSTEM_HOSTBRIDGE 1U
#define SCI_Q_SYSTEM_WRITE_POSTING_ENABLED 2U
#define SCI_Q_SYSTEM_WRITE_COMBINING_ENABLED 3U
#define SCI_Q_LOCAL_SEGMENT_IOADDR 1U
#define SCI_Q_REMOTE_SEGMENT_IOADDR 1U
#define SCI_Q_MAP_MAPPED_TO_LOCAL_TARGET 1U
#define SCI_Q_MAP_QUERY_REMOTE_MAPPED_TO_LOCAL_TARGET 2U

/* SCI_Q_VENDORID and SCI_Q_API: a text, cut to `length` with the 0 at its end. */
typedef struct sci_query_string {
  char* str;
  unsigned int length;
} sci_query_string_t;
/* SCI_Q_ADAPTER: `data` points to an unsigned int. */
typedef struct sci_query_adapter {
  unsigned int localAdapterNo;
  unsigned int portNo;
  unsigned int subcommand;
  void* data;
} sci_query_adapter_t;
/* SCI_Q_SYSTEM: `data` points to an unsigned int. */
typedef struct sci_query_system {
  unsigned int subcommand;
  void* data;
} sci_query_system_t;
typedef struct sci_query_local_segment {
  sci_local_segment_t segment;
  unsigned int subcommand;
  union {
    sci_ioaddr_t ioaddr;
  } data;
} sci_query_local_segment_t;
typedef struct sci_query_remote_segment {
  sci_remote_segment_t segment;
  unsigned int subcommand;
  union {
    sci_ioaddr_t ioaddr;
  } data;
} sci_query_remote_segment_t;
/* SCI_Q_MAP: 1 where the map is memory of this process's node (own, or load and store), else 0. */
typedef struct sci_query_map {
  sci_map_t map;
  unsigned int subcommand;
  unsigned int data;
} sci_query_map_t;

/* ---- Registers of SCI adapters: SCI_ERR_NOT_IMPLEMENTED, and 0 ---- */

unsigned int SCIGetCSRRegister(sci_desc_t sd, unsigned int localAdapterNo, unsigned int SCINodeId,
                               unsigned int CSROffset, unsigned int flags, sci_error_t* error);
void SCISetCSRRegister(sci_desc_t sd, unsigned int localAdapterNo, unsigned int SCINodeId,
                       unsigned int CSROffset, unsigned int CSRValue, unsigned int flags,
                       sci_error_t* error);
unsigned int SCIGetLocalCSR(sci_desc_t sd, unsigned int localAdapterNo, unsigned int CSROffset,
                            unsigned int flags, sci_error_t* error);
void SCISetLocalCSR(sci_desc_t sd, unsigned int localAdapterNo, unsigned int CSROffset,
                    unsigned int CSRValue, unsigned int flags, sci_error_t* error);

#ifdef __cplusplus
}
#endif

#endif /* FULMAR_SISCI_API_H */
