// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// SCICreateDMAQueue to SCIConnectSCISpace. What this process can address is copied by the thread that posts;
// everything else moves while the program goes on.
#include <cstdint>
#include <utility>

#include "sisci/api.h"
#include "sisci/call.h"
#include "sisci/copies.h"
#include "sisci/transfers.h"

namespace fulmar::sisci {
namespace {

constexpr std::uint32_t dma_hints =
    SCI_FLAG_DMA_GLOBAL | SCI_FLAG_DMA_SYSDMA | SCI_FLAG_DMA_ADAPTER | SCI_FLAG_DMA_USER_MEM;
constexpr std::uint32_t start_flags =
    SCI_FLAG_DMA_READ | SCI_FLAG_DMA_WAIT | SCI_FLAG_USE_CALLBACK | dma_hints;

void use(const DmaEntry& entry) noexcept {
  if (entry.local != nullptr) ++entry.local->uses;
  ++entry.remote->uses;
}

/// Forgets the entries; their segments can be removed.
void release_entries(DmaQueue& queue) noexcept {
  for (const DmaEntry& each : queue.entries) {
    if (each.local != nullptr) --each.local->uses;
    --each.remote->uses;
  }
  queue.entries.clear();
}

/// Whether the two ends of an entry exist and hold it.
sci_error_t check_entry(const LocalSegment* local, std::size_t local_offset,
                        const RemoteSegment& remote, std::size_t remote_offset,
                        std::size_t size) noexcept {
  if (size == 0) return SCI_ERR_SIZE_ALIGNMENT;
  if (local != nullptr && (!local->is_prepared && local->attached == nullptr)) {
    return SCI_ERR_SEGMENT_NOT_PREPARED;
  }
  if (local != nullptr && local->base == nullptr) return SCI_ERR_ILLEGAL_OPERATION;
  return first_error(check_connected(remote), check_range(remote_offset, size, remote.bytes),
                     local == nullptr ? SCI_ERR_OK : check_range(local_offset, size, local->bytes));
}

std::function<int()> take_end(DmaQueue& queue) {
  const auto callback = std::exchange(queue.callback, nullptr);
  if (callback == nullptr) return {};
  const sci_error_t status =
      queue.state == SCI_DMAQUEUE_DONE ? SCI_ERR_OK : SCI_ERR_TRANSFER_FAILED;
  return [&queue, callback, argument = queue.argument, status] {
    return static_cast<int>(callback(argument, reinterpret_cast<sci_dma_queue_t>(&queue), status));
  };
}

void queue_ended(Library& library, TransferGroup& group) noexcept {
  DmaQueue& queue = *static_cast<DmaQueue*>(group.owner);
  const bool is_done = group.status == SCI_ERR_OK;
  queue.state = is_done ? SCI_DMAQUEUE_DONE : SCI_DMAQUEUE_ERROR;
  if (group.is_aborted) queue.state = SCI_DMAQUEUE_ABORTED;
  release_entries(queue);
  if (queue.callback != nullptr) call_back(library, library.queues, queue, take_end);
}

void move(Library& library, DmaQueue& queue, const DmaEntry& entry) {
  const RemoteSegment& remote = *entry.remote;
  if (check_connected(remote) != SCI_ERR_OK) {
    if (queue.group.status == SCI_ERR_OK) queue.group.status = SCI_ERR_SEGMENT_NOT_CONNECTED;
  } else if (is_addressable(remote)) {
    std::byte* const far = remote.base + entry.remote_offset;
    copy(library, queue.reads ? entry.memory : far, queue.reads ? far : entry.memory, entry.bytes);
  } else if (queue.reads) {
    start_read(library, remote, entry.remote_offset, {entry.memory, entry.bytes}, queue.group);
  } else {
    (void)start_write(library, remote, entry.remote_offset, {entry.memory, entry.bytes}, 0,
                      queue.group);
  }
}

/// Starts what has been gathered. The queue may have ended on return.
void post_queue(Library& library, DmaQueue& queue, sci_cb_dma_t callback, void* argument) {
  // Copies need no progress, but a program that does nothing else is to learn that a node has died.
  progress_now_and_then(library);
  queue.state = SCI_DMAQUEUE_POSTED;
  queue.callback = callback;
  queue.argument = argument;
  queue.group = {};
  queue.group.owner = &queue;
  queue.group.ended = queue_ended;
  enter_group(queue.group);
  for (std::size_t i = 0; i < queue.entries.size() && !queue.group.is_aborted; ++i) {
    move(library, queue, queue.entries[i]);
  }
  leave_group(library, queue.group, SCI_ERR_OK);
}

bool is_ready(const DmaQueue& queue) noexcept {
  return queue.state != SCI_DMAQUEUE_POSTED && queue.state != SCI_DMAQUEUE_GATHER;
}

/// What the three calls that start a transfer have in common, once their entries are known to be right.
struct Start {
  sci_cb_dma_t callback;
  void* argument;
  unsigned int flags;
};

sci_error_t start(Library& library, DmaQueue& queue, std::vector<DmaEntry> entries,
                  const Start& how) {
  queue.entries = std::move(entries);
  for (const DmaEntry& each : queue.entries) use(each);
  queue.reads = (how.flags & SCI_FLAG_DMA_READ) != 0;
  post_queue(library, queue, how.callback, how.argument);
  if ((how.flags & SCI_FLAG_DMA_WAIT) == 0) return SCI_ERR_OK;
  const sci_error_t status = wait_for(library, library.queues, queue, UINT32_MAX, is_ready);
  if (status != SCI_ERR_OK) return status;
  return queue.state == SCI_DMAQUEUE_DONE ? SCI_ERR_OK : SCI_ERR_TRANSFER_FAILED;
}

sci_error_t check_start(const DmaQueue* queue, const RemoteSegment* remote, unsigned int flags,
                        const Start& how) noexcept {
  const bool wants_callback = (flags & SCI_FLAG_USE_CALLBACK) != 0;
  const sci_error_t status =
      first_error(check_flags(flags, start_flags, SCI_FLAG_BROADCAST),
                  check_parameter(queue != nullptr && remote != nullptr &&
                                  (how.callback != nullptr || !wants_callback)));
  if (status != SCI_ERR_OK) return status;
  return is_ready(*queue) ? SCI_ERR_OK : SCI_ERR_ILLEGAL_OPERATION;
}

}  // namespace
}  // namespace fulmar::sisci

using fulmar::sisci::call;
using fulmar::sisci::check_adapter;
using fulmar::sisci::check_flags;
using fulmar::sisci::check_parameter;
using fulmar::sisci::Descriptor;
using fulmar::sisci::DmaEntry;
using fulmar::sisci::DmaQueue;
using fulmar::sisci::first_error;
using fulmar::sisci::Library;
using fulmar::sisci::LocalSegment;
using fulmar::sisci::RemoteSegment;

void SCICreateDMAQueue(sci_desc_t sd, sci_dma_queue_t* dq, unsigned int localAdapterNo,
                       unsigned int maxEntries, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    Descriptor* const descriptor = library.descriptors.find(sd);
    const sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_DMA_PHDMA | fulmar::sisci::dma_hints),
                    check_parameter(descriptor != nullptr && dq != nullptr && maxEntries != 0),
                    check_adapter(localAdapterNo));
    if (status != SCI_ERR_OK) return status;
    if ((flags & SCI_FLAG_DMA_PHDMA) != 0) return SCI_ERR_NOT_SUPPORTED;
    DmaQueue& made = make(library.queues, *descriptor);
    made.most_entries = maxEntries;
    *dq = fulmar::sisci::handle_of<sci_dma_queue_t>(made);
    return SCI_ERR_OK;
  });
}

void SCIRemoveDMAQueue(sci_dma_queue_t dq, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    DmaQueue* const queue = library.queues.find(dq);
    const sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(queue != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (queue->state == SCI_DMAQUEUE_POSTED) return SCI_ERR_ILLEGAL_OPERATION;
    const std::uint64_t serial = queue->serial;
    await_callback(library, library.queues, *queue);
    if (!library.queues.has(queue, serial)) return SCI_ERR_OK;
    fulmar::sisci::release_entries(*queue);
    remove(library.queues, *queue);
    library.port->notify();
    return SCI_ERR_OK;
  });
}

sci_dma_queue_state_t SCIEnqueueDMATransfer(sci_dma_queue_t dq, sci_local_segment_t localSegment,
                                            sci_remote_segment_t remoteSegment, size_t localOffset,
                                            size_t remoteOffset, size_t size, unsigned int flags,
                                            sci_error_t* error) {
  sci_dma_queue_state_t state = SCI_DMAQUEUE_ERROR;
  call(error, [&](Library& library) {
    DmaQueue* const queue = library.queues.find(dq);
    LocalSegment* const local = library.local_segments.find(localSegment);
    RemoteSegment* const remote = library.remote_segments.find(remoteSegment);
    sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_DMA_READ | fulmar::sisci::dma_hints),
                    check_parameter(queue != nullptr && local != nullptr && remote != nullptr));
    if (status != SCI_ERR_OK) return status;
    state = queue->state;
    const bool reads = (flags & SCI_FLAG_DMA_READ) != 0;
    const bool is_open = state == SCI_DMAQUEUE_IDLE || state == SCI_DMAQUEUE_GATHER;
    if (!is_open || (!queue->entries.empty() && queue->reads != reads)) {
      return SCI_ERR_ILLEGAL_OPERATION;
    }
    if (queue->entries.size() >= queue->most_entries) return SCI_ERR_MAX_ENTRIES;
    status = fulmar::sisci::check_entry(local, localOffset, *remote, remoteOffset, size);
    if (status != SCI_ERR_OK) return status;
    queue->entries.push_back({local, local->base + localOffset, remote, remoteOffset, size});
    fulmar::sisci::use(queue->entries.back());
    queue->reads = reads;
    queue->state = state = SCI_DMAQUEUE_GATHER;
    return SCI_ERR_OK;
  });
  return state;
}

void SCIPostDMAQueue(sci_dma_queue_t dq, sci_cb_dma_t callback, void* callbackArg,
                     unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    DmaQueue* const queue = library.queues.find(dq);
    const bool uses_callback = (flags & SCI_FLAG_USE_CALLBACK) != 0;
    const sci_error_t status =
        first_error(check_flags(flags, SCI_FLAG_USE_CALLBACK),
                    check_parameter(queue != nullptr && (callback != nullptr || !uses_callback)));
    if (status != SCI_ERR_OK) return status;
    if (queue->state != SCI_DMAQUEUE_GATHER) return SCI_ERR_ILLEGAL_OPERATION;
    fulmar::sisci::post_queue(library, *queue, uses_callback ? callback : nullptr, callbackArg);
    return SCI_ERR_OK;
  });
}

void SCIAbortDMAQueue(sci_dma_queue_t dq, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    DmaQueue* const queue = library.queues.find(dq);
    const sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(queue != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (queue->state != SCI_DMAQUEUE_POSTED) return SCI_ERR_ILLEGAL_OPERATION;
    queue->group.is_aborted = true;
    (void)wait_for(library, library.queues, *queue, UINT32_MAX, fulmar::sisci::is_ready);
    return SCI_ERR_OK;
  });
}

void SCIResetDMAQueue(sci_dma_queue_t dq, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    DmaQueue* const queue = library.queues.find(dq);
    const sci_error_t status =
        first_error(check_flags(flags, 0), check_parameter(queue != nullptr));
    if (status != SCI_ERR_OK) return status;
    if (queue->state == SCI_DMAQUEUE_POSTED) return SCI_ERR_ILLEGAL_OPERATION;
    fulmar::sisci::release_entries(*queue);
    queue->state = SCI_DMAQUEUE_IDLE;
    return SCI_ERR_OK;
  });
}

sci_dma_queue_state_t SCIDMAQueueState(sci_dma_queue_t dq) {
  sci_dma_queue_state_t state = SCI_DMAQUEUE_ERROR;
  call(nullptr, [&](Library& library) {
    DmaQueue* const queue = library.queues.find(dq);
    if (queue == nullptr) return SCI_ERR_ILLEGAL_PARAMETER;
    // Programs that only look at the state count on it to change.
    if (queue->state == SCI_DMAQUEUE_POSTED) library.port->progress();
    state = library.queues.find(dq) == nullptr ? SCI_DMAQUEUE_ERROR : queue->state;
    return SCI_ERR_OK;
  });
  return state;
}

sci_dma_queue_state_t SCIWaitForDMAQueue(sci_dma_queue_t dq, unsigned int timeout,
                                         unsigned int flags, sci_error_t* error) {
  sci_dma_queue_state_t state = SCI_DMAQUEUE_ERROR;
  call(error, [&](Library& library) {
    DmaQueue* const queue = library.queues.find(dq);
    sci_error_t status = first_error(check_flags(flags, 0), check_parameter(queue != nullptr));
    if (status != SCI_ERR_OK) return status;
    state = queue->state;
    if (state == SCI_DMAQUEUE_IDLE || state == SCI_DMAQUEUE_GATHER) {
      return SCI_ERR_ILLEGAL_OPERATION;
    }
    status = wait_for(library, library.queues, *queue, timeout, fulmar::sisci::is_ready);
    if (status == SCI_ERR_OK) state = queue->state;
    return status;
  });
  return state;
}

void SCIStartDmaTransfer(sci_dma_queue_t dq, sci_local_segment_t localSegment,
                         sci_remote_segment_t remoteSegment, size_t localOffset, size_t size,
                         size_t remoteOffset, sci_cb_dma_t callback, void* callbackArg,
                         unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    DmaQueue* const queue = library.queues.find(dq);
    LocalSegment* const local = library.local_segments.find(localSegment);
    RemoteSegment* const remote = library.remote_segments.find(remoteSegment);
    const fulmar::sisci::Start how{callback, callbackArg, flags};
    sci_error_t status = first_error(fulmar::sisci::check_start(queue, remote, flags, how),
                                     check_parameter(local != nullptr));
    if (status != SCI_ERR_OK) return status;
    status = fulmar::sisci::check_entry(local, localOffset, *remote, remoteOffset, size);
    if (status != SCI_ERR_OK) return status;
    return fulmar::sisci::start(
        library, *queue, {{local, local->base + localOffset, remote, remoteOffset, size}}, how);
  });
}

void SCIStartDmaTransferMem(sci_dma_queue_t dq, void* localAddress,
                            sci_remote_segment_t remoteSegment, size_t size, size_t remoteOffset,
                            sci_cb_dma_t callback, void* callbackArg, unsigned int flags,
                            sci_error_t* error) {
  call(error, [&](Library& library) {
    DmaQueue* const queue = library.queues.find(dq);
    RemoteSegment* const remote = library.remote_segments.find(remoteSegment);
    const fulmar::sisci::Start how{callback, callbackArg, flags};
    sci_error_t status = fulmar::sisci::check_start(queue, remote, flags, how);
    if (status != SCI_ERR_OK) return status;
    if (localAddress == nullptr) return SCI_ERR_ILLEGAL_ADDRESS;
    status = fulmar::sisci::check_entry(nullptr, 0, *remote, remoteOffset, size);
    if (status != SCI_ERR_OK) return status;
    return fulmar::sisci::start(
        library, *queue,
        {{nullptr, static_cast<std::byte*>(localAddress), remote, remoteOffset, size}}, how);
  });
}

void SCIStartDmaTransferVec(sci_dma_queue_t dq, sci_local_segment_t localSegment,
                            sci_remote_segment_t remoteSegment, size_t vecLength,
                            dis_dma_vec_t* disDmaVec, sci_cb_dma_t callback, void* callbackArg,
                            unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    DmaQueue* const queue = library.queues.find(dq);
    LocalSegment* const local = library.local_segments.find(localSegment);
    RemoteSegment* const remote = library.remote_segments.find(remoteSegment);
    const fulmar::sisci::Start how{callback, callbackArg, flags};
    sci_error_t status =
        first_error(fulmar::sisci::check_start(queue, remote, flags, how),
                    check_parameter(local != nullptr && disDmaVec != nullptr && vecLength != 0));
    if (status != SCI_ERR_OK) return status;
    if (vecLength > DIS_DMA_MAX_VECLEN) return SCI_ERR_MAX_ENTRIES;
    std::vector<DmaEntry> entries;
    for (const dis_dma_vec_t& each : std::span(disDmaVec, vecLength)) {
      status = fulmar::sisci::check_entry(local, each.local_offset, *remote, each.remote_offset,
                                          each.size);
      if (status != SCI_ERR_OK) return status;
      entries.push_back(
          {local, local->base + each.local_offset, remote, each.remote_offset, each.size});
    }
    return fulmar::sisci::start(library, *queue, std::move(entries), how);
  });
}

void SCIphDmaEnqueue(sci_dma_queue_t dmaqueue, unsigned int /*size*/, sci_ioaddr_t /*localBusAddr*/,
                     unsigned int /*remote_nodeid*/, unsigned int /*remote_highaddr*/,
                     unsigned int /*remote_lowaddr*/, unsigned int flags, sci_error_t* error) {
  call(error, [&](Library& library) {
    return first_error(check_flags(flags, SCI_FLAG_DMA_READ),
                       check_parameter(library.queues.find(dmaqueue) != nullptr),
                       SCI_ERR_NOT_SUPPORTED);
  });
}

sci_dma_queue_state_t SCIphDmaStart(sci_dma_queue_t dmaqueue, sci_cb_dma_t /*callback*/,
                                    void* /*callbackArg*/, unsigned int flags, sci_error_t* error) {
  constexpr std::uint32_t known = SCI_FLAG_DMA_WAIT | SCI_FLAG_USE_CALLBACK | SCI_FLAG_DMA_RESET;
  call(error, [&](Library& library) {
    return first_error(check_flags(flags, known),
                       check_parameter(library.queues.find(dmaqueue) != nullptr),
                       SCI_ERR_NOT_SUPPORTED);
  });
  return SCIDMAQueueState(dmaqueue);
}

void SCIConnectSCISpace(sci_desc_t sd, unsigned int localAdapterNo, sci_remote_segment_t* segment,
                        sci_address_t /*address*/, size_t /*size*/, unsigned int flags,
                        sci_error_t* error) {
  call(error, [&](Library& library) {
    return first_error(
        check_flags(flags, 0),
        check_parameter(library.descriptors.find(sd) != nullptr && segment != nullptr),
        check_adapter(localAdapterNo), SCI_ERR_NOT_SUPPORTED);
  });
}
