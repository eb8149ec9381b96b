// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "side.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { receives = 8, page_bytes = 4096 };

_Noreturn void fail(const char* format, ...) {
  const int error = errno;
  va_list values;
  va_start(values, format);
  fprintf(stderr, "verbs_ping: ");
  vfprintf(stderr, format, values);
  va_end(values);
  fprintf(stderr, error != 0 ? ": %s\n" : "\n", strerror(error));
  exit(1);
}

void need(int holds, const char* what) {
  if (!holds) {
    fail("%s", what);
  }
}

// The wire

static void tell(const struct Side* side, const void* data, size_t bytes) {
  need(write(side->wire, data, bytes) == (ssize_t)bytes, "the other side is gone");
}

static void hear(const struct Side* side, void* data, size_t bytes) {
  errno = 0;
  need(recv(side->wire, data, bytes, MSG_WAITALL) == (ssize_t)bytes, "the other side is gone");
}

void meet(const struct Side* side) {
  char letter = 'm';
  tell(side, &letter, 1);
  hear(side, &letter, 1);
}

unsigned char* incoming(const struct Side* side) { return side->memory + half_bytes; }

static void open_device(struct Side* side) {
  int count = 0;
  struct ibv_device** const list = ibv_get_device_list(&count);
  need(list != NULL && count > 0, "no verbs device");
  side->context = ibv_open_device(list[0]);
  need(side->context != NULL, "the device cannot be opened");
  if (side->role == active) {
    printf("device %s of %d\n", ibv_get_device_name(list[0]), count);
  }
  ibv_free_device_list(list);
  need(ibv_query_port(side->context, port, &side->port) == 0, "ibv_query_port");
  need(side->port.state == IBV_PORT_ACTIVE, "the port is not active");
}

/// On Ethernet the identifier that was made from an IPv4 address; RoCE v2 has it behind that of v1.
static void choose_gid(struct Side* side) {
  static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
  for (int i = 0; i < side->port.gid_tbl_len; ++i) {
    union ibv_gid gid;
    const int found = ibv_query_gid(side->context, port, i, &gid) == 0;
    if (found && (i == 0 || memcmp(gid.raw, mapped, sizeof mapped) == 0)) {
      side->gid_index = (uint8_t)i;
      memcpy(side->self.gid, gid.raw, sizeof gid.raw);
    }
  }
}

static void make_queues(struct Side* side) {
  side->domain = ibv_alloc_pd(side->context);
  side->channel = ibv_create_comp_channel(side->context);
  need(side->domain != NULL && side->channel != NULL, "no protection domain or channel");
  side->completions = ibv_create_cq(side->context, 64, NULL, side->channel, 0);
  need(side->completions != NULL, "ibv_create_cq");
  struct ibv_srq_init_attr shared = {.attr = {.max_wr = receives, .max_sge = 1}};
  side->receives = ibv_create_srq(side->domain, &shared);
  need(side->receives != NULL, "ibv_create_srq");
  struct ibv_qp_init_attr pair = {
      .send_cq = side->completions,
      .recv_cq = side->completions,
      .srq = side->receives,
      .qp_type = IBV_QPT_RC,
      .cap = {.max_send_wr = 16, .max_send_sge = 1, .max_inline_data = inline_bytes},
  };
  side->pair = ibv_create_qp(side->domain, &pair);
  need(side->pair != NULL, "ibv_create_qp");
  need(pair.cap.max_inline_data >= inline_bytes, "too little goes inline");
}

static void register_memory(struct Side* side) {
  side->memory = aligned_alloc(page_bytes, 2 * half_bytes);
  need(side->memory != NULL, "no memory");
  memset(side->memory, 0, 2 * half_bytes);
  side->region = ibv_reg_mr(side->domain, side->memory, 2 * half_bytes,
                            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC);
  need(side->region != NULL, "ibv_reg_mr");
}

void open_incoming(struct Side* side, int access) {
  side->opened = ibv_reg_mr(side->domain, incoming(side), half_bytes, access);
  need(side->opened != NULL, "ibv_reg_mr for one use");
}

void exchange_key(struct Side* side) {
  const uint32_t key = side->opened != NULL ? side->opened->rkey : side->region->rkey;
  tell(side, &key, sizeof key);
  hear(side, &side->other.key, sizeof side->other.key);
}

void close_incoming(struct Side* side) {
  if (side->opened != NULL) {
    need(ibv_dereg_mr(side->opened) == 0, "ibv_dereg_mr");
    side->opened = NULL;
  }
  exchange_key(side);
}

static void exchange_addresses(struct Side* side) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  side->self.memory = (uint64_t)(uintptr_t)incoming(side);
  side->self.key = side->region->rkey;
  side->self.queue_pair = side->pair->qp_num;
  side->self.first_packet = (uint32_t)now.tv_nsec & 0xffffff;
  side->self.lid = side->port.lid;
  tell(side, &side->self, sizeof side->self);
  hear(side, &side->other, sizeof side->other);
}

static void connect_pair(struct Side* side) {
  const struct Address* const other = &side->other;
  struct ibv_qp_attr attributes = {
      .qp_state = IBV_QPS_INIT,
      .port_num = port,
      .qp_access_flags =
          IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC,
  };
  need(ibv_modify_qp(side->pair, &attributes,
                     IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS) == 0,
       "the queue pair does not initialise");
  attributes = (struct ibv_qp_attr){
      .qp_state = IBV_QPS_RTR,
      .path_mtu = side->port.active_mtu,
      .dest_qp_num = other->queue_pair,
      .rq_psn = other->first_packet,
      .max_dest_rd_atomic = 1,
      .min_rnr_timer = 12,
      .ah_attr = {.dlid = other->lid,
                  .port_num = port,
                  .is_global = side->port.link_layer == IBV_LINK_LAYER_ETHERNET,
                  .grh = {.hop_limit = 64, .sgid_index = side->gid_index}},
  };
  memcpy(attributes.ah_attr.grh.dgid.raw, other->gid, sizeof other->gid);
  need(ibv_modify_qp(side->pair, &attributes,
                     IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER) == 0,
       "the queue pair does not become ready to receive");
  attributes = (struct ibv_qp_attr){.qp_state = IBV_QPS_RTS,
                                    .sq_psn = side->self.first_packet,
                                    .max_rd_atomic = 1,
                                    .timeout = 14,
                                    .retry_cnt = 6,
                                    .rnr_retry = 6};
  need(ibv_modify_qp(side->pair, &attributes,
                     IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_TIMEOUT |
                         IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY) == 0,
       "the queue pair does not become ready to send");
}

void set_up(struct Side* side) {
  open_device(side);
  choose_gid(side);
  make_queues(side);
  register_memory(side);
  exchange_addresses(side);
  connect_pair(side);
  meet(side);
}
