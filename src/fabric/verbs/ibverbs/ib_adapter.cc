// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/verbs/ibverbs/ib_adapter.h"

#include <arpa/inet.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "fabric/verbs/ibverbs/ib_queue.h"
#include "fabric/verbs/placement.h"

namespace fulmar::fabric::verbs {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

constexpr std::size_t batch = 16;
/// Reads at a time that are made use of, should an adapter have more: it keeps room for each.
constexpr int most_reads = 16;

bool make_non_blocking(int descriptor) {
  const int flags = ::fcntl(descriptor, F_GETFL);
  return flags >= 0 && ::fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0;
}

/// What a device says it can take, and never more than was wished for.
std::uint32_t bounded(std::size_t wish, int most) {
  return static_cast<std::uint32_t>(std::min(wish, static_cast<std::size_t>(std::max(most, 0))));
}

Event::Kind kind_of(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_PATH_MIG_ERR:
      return Event::Kind::queue_failed;
    case IBV_EVENT_CQ_ERR:
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_DEVICE_FATAL:
      return Event::Kind::all_failed;
    case IBV_EVENT_PORT_ERR:
      return Event::Kind::port_down;
    case IBV_EVENT_PORT_ACTIVE:
      return Event::Kind::port_up;
    default:
      return Event::Kind::nothing;
  }
}

/// What is only read is opened for no more, so that it may lie in memory that the program cannot
/// write. Relaxed ordering is never asked for (adapter.h says why).
int flags_of(Access access) {
  switch (access) {
    case Access::local:
      return IBV_ACCESS_LOCAL_WRITE;
    case Access::peers_read:
      return IBV_ACCESS_REMOTE_READ;
    case Access::peers_write:
      return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
    case Access::peers_change:
      return IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
             IBV_ACCESS_REMOTE_ATOMIC;
  }
  return 0;
}

}  // namespace

base::Result<std::unique_ptr<Adapter>> IbAdapter::open(const Library& library, OpenPort port,
                                                       const Wish& wish) {
  std::unique_ptr<IbAdapter> adapter(new IbAdapter(library, std::move(port)));
  if (const Error error = adapter->prepare(wish); error.failed()) return error;
  return std::unique_ptr<Adapter>(std::move(adapter));
}

IbAdapter::~IbAdapter() {
  // The queue cannot be destroyed before all its events are acknowledged.
  for (const Completions& each : completions_) {
    if (each.unacknowledged != 0) {
      library_.ack_cq_events(each.queue.get(), each.unacknowledged);
    }
  }
}

Error IbAdapter::refused(const char* call, int problem) const {
  const bool memory = problem == ENOMEM || problem == EPERM;
  return failure(memory ? ErrorClass::no_mem : ErrorClass::other,
                 "the adapter %s:%u cannot be used: %s: %s%s", port_.facts.device.c_str(),
                 port_.facts.port, call, std::strerror(problem),
                 memory ? "; raise the limit on locked memory (ulimit -l)" : "");
}

Error IbAdapter::prepare(const Wish& wish) {
  ibv_device_attr device{};
  if (const int problem = library_.query_device(port_.context.get(), &device); problem != 0) {
    return refused("ibv_query_device", problem);
  }
  if (const Error error = learn(wish, device); error.failed()) return error;
  domain_ = Owned<ibv_pd>(library_.alloc_pd(port_.context.get()), library_.dealloc_pd);
  if (!domain_) return refused("ibv_alloc_pd", errno);
  if (const Error error = open_queues(wish.completion_queues); error.failed()) return error;
  return make_non_blocking(port_.context->async_fd) ? Error{} : refused("fcntl", errno);
}

Error IbAdapter::learn(const Wish& wish, const ibv_device_attr& device) {
  ibv_port_attr port{};
  if (const int problem = query_port(library_, port_.context.get(), port_.facts.port, port);
      problem != 0) {
    return refused("ibv_query_port", problem);
  }
  if (device.max_srq <= 0 || device.max_srq_wr <= 0 || device.max_qp_wr <= 0) {
    return failure(ErrorClass::other,
                   "the adapter %s has no shared receive queues, which the network verbs needs; "
                   "choose another one by FULMAR_VERBS_DEVICE, or leave verbs out of FULMAR_FABRIC",
                   port_.facts.device.c_str());
  }
  learn_name(port);
  traits_.receive_depth = bounded(wish.receive_depth, device.max_srq_wr);
  send_depth_ = bounded(wish.send_depth, device.max_qp_wr);
  const auto most = static_cast<std::size_t>(std::max(device.max_cqe, 0));
  if (most < traits_.receive_depth + 2 * std::size_t{send_depth_}) {
    return failure(ErrorClass::other,
                   "the adapter %s has queues of %d completions only, %zu are "
                   "needed; choose another one by FULMAR_VERBS_DEVICE",
                   port_.facts.device.c_str(), device.max_cqe,
                   traits_.receive_depth + 2 * std::size_t{send_depth_});
  }
  traits_.completion_depth = std::min(wish.completion_depth, most - traits_.receive_depth);
  needs_gid_ = (port.flags & IBV_QPF_GRH_REQUIRED) != 0;
  const int max_reads = std::min(device.max_qp_rd_atom, device.max_qp_init_rd_atom);
  traits_.max_reads = static_cast<std::uint8_t>(std::clamp(max_reads, 0, most_reads));
  traits_.max_rdma_bytes = port.max_msg_sz;
  traits_.writes_in_order = port_.facts.transport.empty();
  traits_.places_in_order = traits_.writes_in_order && places_in_order(device.vendor_id);
  traits_.atomics = device.atomic_cap != IBV_ATOMIC_NONE;
  return {};
}

void IbAdapter::learn_name(const ibv_port_attr& port) {
  traits_.name = port_.facts.device + ":" + std::to_string(port_.facts.port);
  traits_.link = port_.facts.link;
  traits_.lid = port.lid;
  traits_.mtu = static_cast<std::uint8_t>(port.active_mtu);
  if (port_.gid) traits_.gid = port_.gid->gid;
  traits_.place = wire::text_of_port(traits_.gid, traits_.lid, traits_.link);
}

Error IbAdapter::open_queues(CompletionQueues how_many) {
  for (const auto last : {CompletionQueues::one, CompletionQueues::two}) {
    if (last > how_many) break;
    if (const Error error = open_completions(); error.failed()) return error;
  }
  both_ = TwoQueues(traits_.receive_depth);
  ibv_srq_init_attr attributes{};
  attributes.attr.max_wr = static_cast<std::uint32_t>(traits_.receive_depth);
  attributes.attr.max_sge = 1;
  receives_ = Owned<ibv_srq>(library_.create_srq(domain_.get(), &attributes), library_.destroy_srq);
  return receives_ ? Error{} : refused("ibv_create_srq", errno);
}

Error IbAdapter::open_completions() {
  Completions made;
  made.channel = Owned<ibv_comp_channel>(library_.create_comp_channel(port_.context.get()),
                                         library_.destroy_comp_channel);
  if (!made.channel) return refused("ibv_create_comp_channel", errno);
  if (!make_non_blocking(made.channel->fd)) return refused("fcntl", errno);
  // Room for every send and receive that can be on the way: it never overflows.
  const std::size_t entries = traits_.receive_depth + traits_.completion_depth;
  made.queue = Owned<ibv_cq>(library_.create_cq(port_.context.get(), static_cast<int>(entries),
                                                nullptr, made.channel.get(), 0),
                             library_.destroy_cq);
  if (!made.queue) return refused("ibv_create_cq", errno);
  completions_.push_back(std::move(made));
  return {};
}

base::Result<MemoryRegion> IbAdapter::open_memory(std::span<std::byte> memory, Access access) {
  Owned<ibv_mr> region(
      library_.reg_mr(domain_.get(), memory.data(), memory.size(), flags_of(access)),
      library_.dereg_mr);
  if (!region) {
    const int problem = errno;
    // The kernel says EPERM where the limit is 0.
    const bool lacks_room = problem == ENOMEM || problem == EAGAIN || problem == EPERM;
    return failure(lacks_room ? ErrorClass::no_mem : ErrorClass::other,
                   "cannot register %zu bytes with the adapter %s (ibv_reg_mr: %s); %s",
                   memory.size(), traits_.name.c_str(), std::strerror(problem),
                   lacks_room ? "raise the limit on locked memory (ulimit -l)"
                              : "all of it has to be memory that may be written, unless peers "
                                "read it only");
  }
  const MemoryRegion opened{++last_handle_, region->lkey, region->rkey};
  regions_.emplace(opened.handle, std::move(region));
  return opened;
}

std::size_t IbAdapter::close_memory(std::uint64_t handle) {
  const auto found = regions_.find(handle);
  if (found == regions_.end()) return 0;
  const std::size_t bytes = found->second->length;
  regions_.erase(found);
  return bytes;
}

base::Result<std::unique_ptr<Queue>> IbAdapter::open_queue() {
  IbQueue::Parts parts;
  parts.domain = domain_.get();
  parts.receive_completions = completions_.front().queue.get();
  parts.send_completions = completions_.back().queue.get();
  parts.receives = receives_.get();
  parts.depth = send_depth_;
  parts.port = static_cast<std::uint8_t>(port_.facts.port);
  parts.needs_gid = needs_gid_;
  parts.atomics = traits_.atomics;
  if (port_.gid) parts.gid_index = port_.gid->index;
  return IbQueue::open(library_, parts);
}

std::size_t IbAdapter::receive(std::span<const ReceiveWorkRequest> requests, std::uint32_t key) {
  std::size_t taken = 0;
  while (taken < requests.size()) {
    const std::size_t count = std::min(requests.size() - taken, batch);
    std::array<ibv_sge, batch> pieces{};
    std::array<ibv_recv_wr, batch> works{};
    for (std::size_t i = 0; i < count; ++i) {
      const ReceiveWorkRequest& request = requests[taken + i];
      pieces[i] = {reinterpret_cast<std::uintptr_t>(request.memory.data()),
                   static_cast<std::uint32_t>(request.memory.size()), key};
      works[i].wr_id = request.id;
      works[i].sg_list = &pieces[i];
      works[i].num_sge = 1;
      works[i].next = i + 1 < count ? &works[i + 1] : nullptr;
    }
    ibv_recv_wr* refused = nullptr;
    if (::ibv_post_srq_recv(receives_.get(), works.data(), &refused) != 0) {
      return taken + (refused == nullptr ? 0 : static_cast<std::size_t>(refused - works.data()));
    }
    taken += count;
  }
  return taken;
}

std::size_t IbAdapter::read(std::span<Completion> completions) {
  ibv_cq* const received = completions_.front().queue.get();
  ibv_cq* const ended = completions_.back().queue.get();
  if (received == ended) return read_from(received, completions);
  return both_.read(
      completions.first(std::min(completions.size(), batch)),
      [&](std::span<Completion> to) { return read_from(received, to); },
      [&](std::span<Completion> to) { return read_from(ended, to); });
}

std::size_t IbAdapter::read_from(ibv_cq* queue, std::span<Completion> completions) const {
  std::array<ibv_wc, batch> works;
  const int most = static_cast<int>(std::min(completions.size(), batch));
  const int count = ::ibv_poll_cq(queue, most, works.data());
  for (int i = 0; i < count; ++i) {
    const ibv_wc& work = works[static_cast<std::size_t>(i)];
    Completion& completion = completions[static_cast<std::size_t>(i)];
    completion.id = work.wr_id;
    completion.queue = work.qp_num;
    completion.status = work.status;
    if (work.status != IBV_WC_SUCCESS) {
      completion.kind = Completion::Kind::failed;
    } else if (work.opcode == IBV_WC_RECV_RDMA_WITH_IMM) {
      // byte_len is the length of the RDMA write: the receive buffer is empty.
      completion.kind = Completion::Kind::immediate;
      completion.word = ntohl(work.imm_data);
    } else if ((work.opcode & IBV_WC_RECV) != 0) {
      completion.kind = Completion::Kind::received;
      completion.bytes = work.byte_len;
    } else {
      completion.kind = Completion::Kind::sent;
    }
  }
  return static_cast<std::size_t>(std::max(count, 0));
}

std::string IbAdapter::text_of(int status) const {
  return library_.wc_status_str(static_cast<ibv_wc_status>(status));
}

void IbAdapter::take_events(Completions& from) {
  constexpr unsigned acknowledged_together = 64;
  ibv_cq* queue = nullptr;
  void* context = nullptr;
  while (library_.get_cq_event(from.channel.get(), &queue, &context) == 0) {
    from.notifies = false;
    if (++from.unacknowledged < acknowledged_together) continue;
    library_.ack_cq_events(queue, from.unacknowledged);
    from.unacknowledged = 0;
  }
}

void IbAdapter::arm(Completions& completions) {
  take_events(completions);
  if (completions.notifies) return;
  completions.notifies = ::ibv_req_notify_cq(completions.queue.get(), 0) == 0;
}

bool IbAdapter::next_event(Event& event) {
  ibv_async_event from{};
  if (library_.get_async_event(port_.context.get(), &from) != 0) return false;
  event.kind = kind_of(from.event_type);
  event.text = library_.event_type_str(from.event_type);
  event.queue = 0;
  const bool of_port = event.kind == Event::Kind::port_down || event.kind == Event::Kind::port_up;
  if (of_port && static_cast<unsigned>(from.element.port_num) != port_.facts.port) {
    event.kind = Event::Kind::nothing;
  }
  if (event.kind == Event::Kind::queue_failed) event.queue = from.element.qp->qp_num;
  library_.ack_async_event(&from);
  return true;
}

}  // namespace fulmar::fabric::verbs
