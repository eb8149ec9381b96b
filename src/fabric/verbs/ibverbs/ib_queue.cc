// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/verbs/ibverbs/ib_queue.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace fulmar::fabric::verbs {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

constexpr std::uint8_t timeout_code = 16;  // 4.096 us * 2^16 = 0.27 s
constexpr std::uint8_t repetitions = 6;    // 7 would mean for ever for some adapters
constexpr std::uint8_t for_ever = 7;
constexpr std::uint8_t no_buffer_pause_code = 12;  // 0.64 ms
constexpr std::uint8_t most_hops = 64;
/// What the pair allows; which memory that is, and for which of the two, regions say.
constexpr unsigned remote_access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
/// Asked for in this order: adapters have what they have, and refuse more.
constexpr std::array<std::uint32_t, 4> inline_wishes = {220, 128, 64, 0};

/// Reads in one direction that are worked at at a time.
std::uint8_t reads_between(const wire::VerbsConnectionInfo& own,
                           const wire::VerbsConnectionInfo& theirs) {
  return std::min(own.max_reads, theirs.max_reads);
}

ibv_sge piece_of(std::span<const std::byte> memory, std::uint32_t key) {
  ibv_sge piece{};
  piece.addr = reinterpret_cast<std::uintptr_t>(memory.data());
  piece.length = static_cast<std::uint32_t>(memory.size());
  piece.lkey = key;
  return piece;
}

/// A read or a write; `piece` outlives it.
ibv_send_wr work_on_memory(ibv_wr_opcode how, ibv_sge& piece, const RdmaWorkRequest& request) {
  ibv_send_wr work{};
  work.wr_id = request.id;
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = how;
  work.send_flags = IBV_SEND_SIGNALED;
  work.wr.rdma.remote_addr = request.place.address;
  work.wr.rdma.rkey = static_cast<std::uint32_t>(request.place.key);
  return work;
}

Error refused(const char* step, int problem) {
  return failure(ErrorClass::other, "a queue cannot be connected: %s: %s", step,
                 std::strerror(problem));
}

}  // namespace

base::Result<std::unique_ptr<Queue>> IbQueue::open(const Library& library, const Parts& parts) {
  std::unique_ptr<IbQueue> queue(new IbQueue(library, parts));
  if (const Error error = queue->create(); error.failed()) return error;
  if (const Error error = queue->initialise(); error.failed()) return error;
  return std::unique_ptr<Queue>(std::move(queue));
}

Error IbQueue::create() {
  for (const std::uint32_t inline_wish : inline_wishes) {
    ibv_qp_init_attr attributes{};
    attributes.send_cq = parts_.send_completions;
    attributes.recv_cq = parts_.receive_completions;
    attributes.srq = parts_.receives;
    attributes.cap.max_send_wr = parts_.depth;
    attributes.cap.max_send_sge = 1;
    attributes.cap.max_inline_data = inline_wish;
    attributes.qp_type = IBV_QPT_RC;
    pair_ = Owned<ibv_qp>(library_.create_qp(parts_.domain, &attributes), library_.destroy_qp);
    if (!pair_) continue;
    inline_bytes_ = attributes.cap.max_inline_data;
    depth_ = std::min(attributes.cap.max_send_wr, parts_.depth);
    return {};
  }
  return failure(ErrorClass::other,
                 "the adapter gives no queue of %u sends (ibv_create_qp: %s); it may have no more "
                 "queues, or the limit on locked memory (ulimit -l) is too low",
                 parts_.depth, std::strerror(errno));
}

Error IbQueue::initialise() {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = 0;
  attributes.port_num = parts_.port;
  attributes.qp_access_flags = remote_access;
  if (parts_.atomics) attributes.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
  const int problem =
      library_.modify_qp(pair_.get(), &attributes,
                         IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  return problem == 0 ? Error{} : refused("ibv_modify_qp to INIT", problem);
}

Error IbQueue::connect(const wire::VerbsConnectionInfo& own,
                       const wire::VerbsConnectionInfo& theirs) {
  if (const Error error = get_ready_to_receive(own, theirs); error.failed()) return error;
  return get_ready_to_send(own, theirs);
}

ibv_ah_attr IbQueue::way_to(const wire::VerbsConnectionInfo& own,
                            const wire::VerbsConnectionInfo& theirs) const {
  ibv_ah_attr way{};
  way.port_num = parts_.port;
  way.dlid = theirs.lid;
  const bool same_subnet = std::equal(own.gid.begin(), own.gid.begin() + 8, theirs.gid.begin());
  const bool by_gid =
      own.link == wire::VerbsLink::ethernet || theirs.lid == 0 || parts_.needs_gid || !same_subnet;
  if (!by_gid || !parts_.gid_index) return way;
  way.is_global = 1;
  way.grh.sgid_index = static_cast<std::uint8_t>(*parts_.gid_index);
  way.grh.hop_limit = most_hops;
  std::memcpy(way.grh.dgid.raw, theirs.gid.data(), theirs.gid.size());
  return way;
}

Error IbQueue::get_ready_to_receive(const wire::VerbsConnectionInfo& own,
                                    const wire::VerbsConnectionInfo& theirs) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  attributes.path_mtu = static_cast<ibv_mtu>(std::min(own.mtu, theirs.mtu));
  attributes.dest_qp_num = theirs.queue;
  attributes.rq_psn = theirs.first;
  attributes.max_dest_rd_atomic = reads_between(own, theirs);
  attributes.min_rnr_timer = no_buffer_pause_code;
  attributes.ah_attr = way_to(own, theirs);
  const int problem =
      library_.modify_qp(pair_.get(), &attributes,
                         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                             IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  return problem == 0 ? Error{} : refused("ibv_modify_qp to RTR", problem);
}

Error IbQueue::get_ready_to_send(const wire::VerbsConnectionInfo& own,
                                 const wire::VerbsConnectionInfo& theirs) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTS;
  attributes.timeout = timeout_code;
  attributes.retry_cnt = repetitions;
  attributes.rnr_retry = for_ever;
  attributes.sq_psn = own.first;
  attributes.max_rd_atomic = reads_between(own, theirs);
  const int problem =
      library_.modify_qp(pair_.get(), &attributes,
                         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                             IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  return problem == 0 ? Error{} : refused("ibv_modify_qp to RTS", problem);
}

PostResult IbQueue::send(const SendWorkRequest& request) {
  ibv_sge piece = piece_of(request.message, request.key);
  ibv_send_wr work{};
  work.wr_id = request.id;
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = IBV_WR_SEND;
  if (request.is_inline) work.send_flags |= IBV_SEND_INLINE;
  if (request.is_signaled) work.send_flags |= IBV_SEND_SIGNALED;
  return post(work);
}

PostResult IbQueue::rdma_read(std::span<std::byte> to, const RdmaWorkRequest& request) {
  ibv_sge piece = piece_of(to, request.lkey);
  ibv_send_wr work = work_on_memory(IBV_WR_RDMA_READ, piece, request);
  return post(work);
}

PostResult IbQueue::rdma_write(std::span<const std::byte> from, const WriteWorkRequest& request) {
  ibv_sge piece = piece_of(from, request.lkey);
  ibv_send_wr work = work_on_memory(IBV_WR_RDMA_WRITE, piece, request);
  if (from.empty()) work.num_sge = 0;
  if (request.is_inline) work.send_flags |= IBV_SEND_INLINE;
  if (!request.is_signaled) work.send_flags &= ~static_cast<unsigned>(IBV_SEND_SIGNALED);
  if (request.word) {
    work.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
    work.imm_data = htonl(*request.word);
  }
  return post(work);
}

PostResult IbQueue::atomic(std::span<std::byte> was, const AtomicWorkRequest& request) {
  const bool adds = request.kind == AtomicWorkRequest::Kind::add;
  ibv_sge piece = piece_of(was, request.lkey);
  ibv_send_wr work = work_on_memory(adds ? IBV_WR_ATOMIC_FETCH_AND_ADD : IBV_WR_ATOMIC_CMP_AND_SWP,
                                    piece, request);
  work.wr.atomic.remote_addr = request.place.address;
  work.wr.atomic.rkey = static_cast<std::uint32_t>(request.place.key);
  work.wr.atomic.compare_add = adds ? request.value : request.expected;
  work.wr.atomic.swap = request.value;
  return post(work);
}

PostResult IbQueue::post(ibv_send_wr& work) {
  ibv_send_wr* refused = nullptr;
  const int problem = ::ibv_post_send(pair_.get(), &work, &refused);
  if (problem == 0) return PostResult::yes;
  if (problem == ENOMEM || problem == EAGAIN) return PostResult::later;
  last_problem_ = problem;
  return PostResult::failed;
}

std::string IbQueue::last_error() const {
  return std::string("ibv_post_send: ") + std::strerror(last_problem_);
}

}  // namespace fulmar::fabric::verbs
