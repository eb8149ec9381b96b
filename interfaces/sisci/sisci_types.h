/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * The types of SISCI. Handles are opaque; each belongs to the process that has got it.
 */
#pragma once
#ifndef FULMAR_SISCI_TYPES_H
#define FULMAR_SISCI_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include <sisci_error.h>

#ifndef IN
#define IN
#endif
#ifndef OUT
#define OUT
#endif
#ifndef IN_OUT
#define IN_OUT
#endif

typedef struct sci_desc* sci_desc_t;
typedef struct sci_local_segment* sci_local_segment_t;
typedef struct sci_remote_segment* sci_remote_segment_t;
typedef struct sci_map* sci_map_t;
typedef struct sci_sequence* sci_sequence_t;
typedef struct sci_dma_queue* sci_dma_queue_t;
typedef struct sci_local_interrupt* sci_local_interrupt_t;
typedef struct sci_remote_interrupt* sci_remote_interrupt_t;
typedef struct sci_local_data_interrupt* sci_local_data_interrupt_t;
typedef struct sci_remote_data_interrupt* sci_remote_data_interrupt_t;
typedef struct sci_block_transfer* sci_block_transfer_t;

/* What has happened to a segment. */
typedef enum {
  SCI_CB_CONNECT = 1, /* local: a node has connected. remote: the connection is made */
  SCI_CB_DISCONNECT, /* local: a node has disconnected. remote: the owner wants it, or has done it */
  SCI_CB_NOT_OPERATIONAL, /* never: Fulmar's networks repair themselves or fail for good */
  SCI_CB_OPERATIONAL,     /* never */
  SCI_CB_LOST             /* the other node's process has ended */
} sci_segment_cb_reason_t;
#define MAX_CB_REASON SCI_CB_LOST

typedef enum {
  SCI_DMAQUEUE_IDLE,
  SCI_DMAQUEUE_GATHER,
  SCI_DMAQUEUE_POSTED,
  SCI_DMAQUEUE_DONE,
  SCI_DMAQUEUE_ABORTED,
  SCI_DMAQUEUE_ERROR
} sci_dma_queue_state_t;

typedef enum {
  SCI_SEQ_OK,
  SCI_SEQ_RETRIABLE,
  SCI_SEQ_NOT_RETRIABLE,
  SCI_SEQ_PENDING
} sci_sequence_status_t;

typedef enum { SCI_CALLBACK_CANCEL = 1, SCI_CALLBACK_CONTINUE } sci_callback_action_t;

/* A place in SCI's address space: never used here. */
typedef struct {
  unsigned short nodeId;
  unsigned short offsHi;
  unsigned int offsLo;
} sci_address_t;
typedef uint64_t sci_ioaddr_t;

/* One entry of SCIStartDmaTransferVec; sizes and offsets in bytes. Programs leave `flags` undefined: they are not
 * looked at. */
typedef struct {
  unsigned int size;
  unsigned int local_offset;
  unsigned int remote_offset;
  unsigned int flags;
} dis_dma_vec_t;
#define DIS_DMA_MAX_VECLEN 256

/* Nodes, ended by 0: a node of number 0 cannot be told from the end. */
#define DIS_NODEID_LIST_LENGTH 16
typedef unsigned int dis_nodeId_list_t[DIS_NODEID_LIST_LENGTH];
typedef unsigned int dis_virt_adapter_t;

/* Callbacks run on a thread of the library, one at a time, and may call SISCI. With
 * SCI_CALLBACK_CANCEL as the answer the object has no callback any more. */
typedef sci_callback_action_t (*sci_cb_local_segment_t)(void* arg, sci_local_segment_t segment,
                                                        sci_segment_cb_reason_t reason,
                                                        unsigned int nodeId,
                                                        unsigned int localAdapterNo,
                                                        sci_error_t error);
typedef sci_callback_action_t (*sci_cb_remote_segment_t)(void* arg, sci_remote_segment_t segment,
                                                         sci_segment_cb_reason_t reason,
                                                         sci_error_t status);
typedef sci_callback_action_t (*sci_cb_dma_t)(void* arg, sci_dma_queue_t queue, sci_error_t status);
typedef int (*sci_cb_block_transfer_t)(void* arg, sci_block_transfer_t block, sci_error_t status);
typedef sci_callback_action_t (*sci_cb_interrupt_t)(void* arg, sci_local_interrupt_t interrupt,
                                                    sci_error_t status);
typedef sci_callback_action_t (*sci_cb_data_interrupt_t)(void* arg,
                                                         sci_local_data_interrupt_t interrupt,
                                                         void* data, unsigned int length,
                                                         sci_error_t status);

#endif /* FULMAR_SISCI_TYPES_H */
