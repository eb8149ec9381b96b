/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * The error codes of SISCI, with the values that Dolphin's libraries have, as far as they are published; the
 * table sisci.table of the sources names those that are not. docs/interfaces/sisci.md says which call gives
 * which.
 */
#pragma once
#ifndef FULMAR_SISCI_ERROR_H
#define FULMAR_SISCI_ERROR_H

/* Set in every error. Programs print codes without it. */
#define SCI_ERR_MASK 0x40000000
#define SISCI_ERR_MASK SCI_ERR_MASK
#define SCI_ERR_REMOTE_MASK 0x01
#define SCI_ERR(u) ((unsigned int)(u) & 0x7FFFFFFFU)

typedef enum {
  SCI_ERR_OK = 0,                      /* nothing failed */
  SCI_ERR_BUSY = 0x900 | SCI_ERR_MASK, /* in use: maps, connections or transfers remain */
  SCI_ERR_FLAG_NOT_IMPLEMENTED =
      0x901 | SCI_ERR_MASK,                    /* a flag of SISCI that this library does not have */
  SCI_ERR_ILLEGAL_FLAG = 0x902 | SCI_ERR_MASK, /* no flag of this call */
  SCI_ERR_NOSPC = 0x904 | SCI_ERR_MASK,        /* the system has no memory or no room for it */
  SCI_ERR_API_NOSPC = 0x905 | SCI_ERR_MASK,    /* the library has no room for it */
  SCI_ERR_HW_NOSPC =
      0x906 | SCI_ERR_MASK, /* the adapter has no room for it (never: there is none) */
  SCI_ERR_NOT_IMPLEMENTED =
      0x907 | SCI_ERR_MASK, /* a call of SISCI that this library does not have */
  SCI_ERR_ILLEGAL_ADAPTERNO = 0x908 | SCI_ERR_MASK, /* beyond the numbers that adapters can have */
  SCI_ERR_NO_SUCH_ADAPTERNO =
      0x909 | SCI_ERR_MASK,               /* no adapter of this number: there is adapter 0 only */
  SCI_ERR_TIMEOUT = 0x90A | SCI_ERR_MASK, /* not within the time */
  SCI_ERR_OUT_OF_RANGE = 0x90B | SCI_ERR_MASK, /* offset and size leave the segment or the map */
  SCI_ERR_NO_SUCH_SEGMENT =
      0x90C | SCI_ERR_MASK, /* no available segment of this number at the node */
  SCI_ERR_ILLEGAL_NODEID = 0x90D | SCI_ERR_MASK,     /* beyond the numbers that nodes can have */
  SCI_ERR_CONNECTION_REFUSED = 0x90E | SCI_ERR_MASK, /* the other node refuses the connection */
  SCI_ERR_SEGMENT_NOT_CONNECTED =
      0x90F | SCI_ERR_MASK, /* the remote segment is not connected, or not any more */
  SCI_ERR_SIZE_ALIGNMENT = 0x910 | SCI_ERR_MASK,    /* a size that the call does not take */
  SCI_ERR_OFFSET_ALIGNMENT = 0x911 | SCI_ERR_MASK,  /* an offset that the call does not take */
  SCI_ERR_ILLEGAL_PARAMETER = 0x912 | SCI_ERR_MASK, /* a null pointer, or a handle that is none */
  SCI_ERR_MAX_ENTRIES = 0x913 | SCI_ERR_MASK,       /* the DMA queue is full */
  SCI_ERR_SEGMENT_NOT_PREPARED = 0x914 | SCI_ERR_MASK, /* SCIPrepareSegment comes first */
  SCI_ERR_ILLEGAL_ADDRESS = 0x915 | SCI_ERR_MASK,      /* an address that cannot be used */
  SCI_ERR_ILLEGAL_OPERATION = 0x916 | SCI_ERR_MASK, /* not in this state, or not with this object */
  SCI_ERR_ILLEGAL_QUERY = 0x917 | SCI_ERR_MASK,     /* no query of this number */
  SCI_ERR_SEGMENTID_USED =
      0x918 | SCI_ERR_MASK,              /* this node has a segment (an interrupt) of this number */
  SCI_ERR_SYSTEM = 0x919 | SCI_ERR_MASK, /* a call of the system failed */
  SCI_ERR_CANCELLED = 0x91A | SCI_ERR_MASK, /* the object was removed during the wait */
  SCI_ERR_NOT_CONNECTED =
      0x91B | SCI_ERR_MASK, /* the remote interrupt is not connected, or not any more */
  SCI_ERR_NOT_AVAILABLE = 0x91C | SCI_ERR_MASK, /* not available */
  SCI_ERR_INCONSISTENT_VERSIONS =
      0x91D | SCI_ERR_MASK, /* libsisci and libmpi_abi are of different builds */
  SCI_ERR_COND_INT_RACE_PROBLEM =
      0x91E | SCI_ERR_MASK,                /* a trigger came while the interrupt was enabled */
  SCI_ERR_OVERFLOW = 0x91F | SCI_ERR_MASK, /* more triggers than can be counted */
  SCI_ERR_NOT_INITIALIZED = 0x920 | SCI_ERR_MASK, /* before SCIInitialize, or after SCITerminate */
  SCI_ERR_ACCESS = 0x921 | SCI_ERR_MASK, /* the segment is not shared, or access is not allowed */
  SCI_ERR_NOT_SUPPORTED =
      0x922 | SCI_ERR_MASK, /* the way to the node, or the kind of memory, cannot give this */
  SCI_ERR_DEPRECATED = 0x923 | SCI_ERR_MASK,        /* (never) */
  SCI_ERR_DMA_NOT_AVAILABLE = 0x924 | SCI_ERR_MASK, /* (never) */
  SCI_ERR_DMA_DISABLED = 0x925 | SCI_ERR_MASK,      /* (never) */
  SCI_ERR_NO_SUCH_NODEID = 0xA00 | SCI_ERR_MASK,    /* no process of the job has this node number */
  SCI_ERR_NODE_NOT_RESPONDING = 0xA02 | SCI_ERR_MASK, /* the process has ended */
  SCI_ERR_NO_REMOTE_LINK_ACCESS =
      0xA04 | SCI_ERR_MASK,                      /* (never: nothing tells a switch from a node) */
  SCI_ERR_NO_LINK_ACCESS = 0xA05 | SCI_ERR_MASK, /* the job cannot be joined */
  SCI_ERR_TRANSFER_FAILED =
      0xA06 | SCI_ERR_MASK,                    /* the transfer failed; what arrived is undefined */
  SCI_ERR_NO_SUCH_FDID = 0xA07 | SCI_ERR_MASK, /* (never: no devices are lent) */
  SCI_ERR_EWOULD_BLOCK = 0xB00 | SCI_ERR_MASK, /* (never by itself) */
  SCI_ERR_SEMAPHORE_COUNT_EXCEEDED = 0xB05 | SCI_ERR_MASK, /* (never) */
  SCI_ERR_IRQL_ILLEGAL = 0xB06 | SCI_ERR_MASK,             /* (never) */
  SCI_ERR_REMOTE_BUSY =
      SCI_ERR_EWOULD_BLOCK, /* the other node's program has not taken earlier data */
  SCI_ERR_LOCAL_BUSY = 0xB08 | SCI_ERR_MASK, /* (never) */
  SCI_ERR_ALL_BUSY = 0xB09 | SCI_ERR_MASK,   /* (never) */
  /* Interrupts have the codes of segments. */
  SCI_ERR_NO_SUCH_INTNO = SCI_ERR_NO_SUCH_SEGMENT,
  SCI_ERR_INTNO_USED = SCI_ERR_SEGMENTID_USED
} sci_error_t;

#endif /* FULMAR_SISCI_ERROR_H */
