/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * RWAPI, the Remote-Write Application Programming Interface: ten calls, from Ben Fredj and Renault,
 * "RWAPI over InfiniBand: Design and Performance". The paper names the calls and most of their
 * parameters, but neither the types nor the error codes; those are ours. docs/interfaces/rwapi.md is
 * the manual.
 *
 * Threads: one thread calls RWAPI at a time. No call but rwapi_init and rwapi_finalize ever waits.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RWAPI_VERSION 1

/* Error codes. All are negative; success is 0. */
#define RWAPI_OK 0
#define RWAPI_ERR_STATE (-1)    /* before rwapi_init, after rwapi_finalize, or rwapi_init twice */
#define RWAPI_ERR_ARGUMENT (-2) /* a null pointer, a negative or excessive size */
#define RWAPI_ERR_NODE (-3)     /* no node of this number */
#define RWAPI_ERR_ADDRESS (-4)  /* a network address that is forged, of another node or freed */
#define RWAPI_ERR_RANGE (-5)    /* the address and size leave the block */
#define RWAPI_ERR_MEMORY (-6)   /* no memory, or rwapi_free of what is no block */
#define RWAPI_ERR_FULL (-7)     /* the queue to that node is full: receive, then try again */
#define RWAPI_ERR_FAILED (-8)   /* the node's process has ended */
#define RWAPI_ERR_SID (-9)      /* no message has this SID */
#define RWAPI_ERR_RUNTIME (-10) /* the job cannot be joined; a line on stderr says why */

/* A node of the virtual machine: a process of the job, from 0 to rwapi_size() - 1. */
typedef int rwapi_node;

/* The content of a small message: two times 16 bytes, so a network address fits in it. */
#define RWAPI_SMALL_BYTES 32
typedef struct rwapi_small {
  unsigned char data[RWAPI_SMALL_BYTES];
} rwapi_small;

/* A network address: a byte of a block that some node has allocated. Copy it freely, and send it to
 * other nodes in small messages. Adding to `offset`, which counts bytes from the start of the block,
 * names another byte of the block; a change of anything else makes the address invalid. */
typedef struct rwapi_net {
  uint64_t offset;
  uint32_t block;
  uint32_t generation;
  uint64_t seal;
} rwapi_net;

/* Names a message of rwapi_write: not negative. */
typedef int64_t rwapi_sid;

/* Joins the job, with the processes that the launcher has started as nodes. Collective: waits for
 * the nodes of this host. The arguments are those of main, and are not looked at.
 * RWAPI_ERR_STATE, RWAPI_ERR_MEMORY, RWAPI_ERR_RUNTIME. */
int rwapi_init(int argc, char** argv);

/* Waits until everything that was sent has arrived, and for all nodes that have not failed.
 * Frees all blocks. RWAPI can be initialised again. RWAPI_ERR_STATE. */
int rwapi_finalize(void);

/* The number of nodes; RWAPI_ERR_STATE. */
int rwapi_size(void);

/* The number of this node; RWAPI_ERR_STATE. */
int rwapi_rank(void);

/* A block of `size` bytes (more than 0), zeros, aligned to 64 bytes, and in `*net` the network
 * address of its first byte. NULL: not initialised, size 0, net NULL, or no memory. */
void* rwapi_alloc(size_t size, rwapi_net* net);

/* Gives a block back, by what rwapi_alloc returned. Its network addresses are refused from now on;
 * messages that are under way to it or from it do no harm. RWAPI_ERR_STATE, RWAPI_ERR_MEMORY. */
int rwapi_free(void* block);

/* Sends a small message, also to this node itself. It is copied. Small messages and writes to one
 * node arrive in order. RWAPI_ERR_STATE, RWAPI_ERR_NODE, RWAPI_ERR_FAILED; RWAPI_ERR_FULL while, as
 * far as this node knows, the other one has RWAPI_QUEUE small messages of this one that its program
 * has not received, or where memory is used up: receive, and send again. */
#define RWAPI_QUEUE 4096
int rwapi_send(rwapi_node node, rwapi_small message);

/* The oldest small message that has come and was not received: 1, with its sender and content; 0
 * where there is none. RWAPI_ERR_STATE, RWAPI_ERR_ARGUMENT. */
int rwapi_receive(rwapi_node* node, rwapi_small* message);

/* Writes `size` bytes from the own block at `local` to the block at `remote` of `node`, which may be
 * this one. Returns the SID by which rwapi_issent knows it, or an error: RWAPI_ERR_STATE,
 * RWAPI_ERR_NODE, RWAPI_ERR_FAILED, RWAPI_ERR_FULL (no memory to remember it); RWAPI_ERR_ADDRESS and
 * RWAPI_ERR_RANGE of `local`, and of `remote` where the node shares memory with this one. Other
 * nodes check `remote` themselves, and rwapi_issent tells. What is written is all there when a small
 * message that was sent afterwards is received. */
rwapi_sid rwapi_write(rwapi_node node, rwapi_net local, rwapi_net remote, size_t size);

/* 1: the message has arrived, and its local memory can be used again. 0: not yet. An error that
 * ended the message: RWAPI_ERR_ADDRESS, RWAPI_ERR_RANGE, RWAPI_ERR_FAILED. RWAPI_ERR_STATE;
 * RWAPI_ERR_SID for what rwapi_write has not returned since rwapi_init. */
int rwapi_issent(rwapi_sid sid);

#ifdef __cplusplus
}
#endif
