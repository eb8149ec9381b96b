// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// SCIMemCpy, SCITransferBlock and DMA queues between nodes, with the same results on a host and over a network.
// ranks: 2 4
// networks: tcp
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <vector>

#include "sisci/calls.h"

namespace {

using test::error_of;
using test::expect;
using test::expect_equal;
using test::expect_error;
using test::expect_ok;

constexpr auto no_argument = static_cast<void*>(nullptr);
constexpr auto no_callback = sci_cb_dma_t{nullptr};
constexpr std::size_t bytes = std::size_t{3} << 20;

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

struct Ends {
  sci_desc_t device;
  test::Exported& own;
  sci_remote_segment_t next;
};

unsigned char pattern(std::size_t at, int seed) {
  return static_cast<unsigned char>(at * 7 + at / 251 + static_cast<std::size_t>(seed));
}
void fill(unsigned char* memory, std::size_t count, int seed) {
  for (std::size_t i = 0; i < count; ++i) memory[i] = pattern(i, seed);
}
bool holds(const unsigned char* memory, std::size_t count, int seed) {
  for (std::size_t i = 0; i < count; ++i) {
    if (memory[i] != pattern(i, seed)) return false;
  }
  return true;
}

sci_error_t copy(void* memory, sci_map_t map, std::size_t offset, std::size_t size,
                 unsigned int flags) {
  return error_of(SCIMemCpy, sci_sequence_t{nullptr}, memory, map, offset, size, flags);
}

void check_copies(const Ends& ends, int rank, int previous) {
  const test::Mapped map(ends.next, 64, bytes - 64, SCI_FLAG_NO_ADDRESS_MAP);
  expect(map.memory == nullptr, "no address");
  std::vector<unsigned char> memory(bytes);
  fill(memory.data(), bytes, rank);
  sci_sequence_t sequence = nullptr;
  sci_error_t error = test::untouched;
  expect_ok(error_of(SCICreateMapSequence, map.map, &sequence, 0U), "SCICreateMapSequence");
  expect_equal(SCIStartSequence(sequence, 0, &error), SCI_SEQ_OK, "SCIStartSequence");
  expect_ok(copy(memory.data(), map.map, 0, bytes - 64, 0), "SCIMemCpy");
  // Many small ones, whose memory is used again at once.
  for (std::size_t i = 0; i < 3000; ++i) {
    unsigned char byte = memory[i];
    expect_ok(copy(&byte, map.map, i, 1, 0), "a small SCIMemCpy");
    byte = 0;
  }
  expect_equal(SCICheckSequence(sequence, 0, &error), SCI_SEQ_OK, "SCICheckSequence");
  expect_ok(error, "SCICheckSequence");
  barrier();
  expect(holds(ends.own.memory + 64, bytes - 64, previous), "the bytes of the node before");
  barrier();
  std::vector<unsigned char> back(bytes);
  expect_ok(copy(back.data(), map.map, 0, bytes - 64, SCI_FLAG_BLOCK_READ), "a read");
  expect(holds(back.data(), bytes - 64, rank), "what was written");
  expect_ok(copy(memory.data(), map.map, 0, 100, SCI_FLAG_ERROR_CHECK), "with a check");
  expect_ok(error_of(SCIMemCopy, static_cast<void*>(memory.data()), map.map, std::size_t{0},
                     std::size_t{0}, 0U),
            "nothing");
  expect_error(copy(memory.data(), map.map, 1, bytes - 64, 0), SCI_ERR_OUT_OF_RANGE,
               "a byte beyond");
  expect_error(copy(memory.data(), map.map, SIZE_MAX, 2, 0), SCI_ERR_OUT_OF_RANGE, "that wraps");
  expect_error(copy(nullptr, map.map, 0, 1, 0), SCI_ERR_ILLEGAL_PARAMETER, "no memory");
  expect_error(copy(memory.data(), map.map, 0, 1, 0x80U), SCI_ERR_ILLEGAL_FLAG, "no flag");
  expect_error(error_of(SCIMemWrite, static_cast<void*>(memory.data()),
                        static_cast<volatile void*>(nullptr), std::size_t{1}, 0U),
               SCI_ERR_ILLEGAL_ADDRESS, "no address");
  expect_ok(error_of(SCIMemWrite, static_cast<void*>(memory.data()),
                     static_cast<volatile void*>(back.data()), std::size_t{100}, 0U),
            "SCIMemWrite");
  expect_ok(error_of(SCIRemoveSequence, sequence, 0U), "SCIRemoveSequence");
  barrier();
}

std::atomic<int> ended_blocks{0};
int on_block(void* argument, sci_block_transfer_t, sci_error_t status) {
  expect_ok(status, "a block with a callback");
  expect_equal(*static_cast<int*>(argument), 5, "its argument");
  ++ended_blocks;
  return 0;
}

void check_blocks(const Ends& ends, int rank, int previous) {
  sci_local_segment_t source = nullptr;
  expect_ok(error_of(SCICreateSegment, ends.device, &source, 77U, bytes,
                     sci_cb_local_segment_t{nullptr}, no_argument, SCI_FLAG_PRIVATE),
            "SCICreateSegment");
  sci_map_t local = nullptr;
  sci_error_t error = test::untouched;
  auto* const memory =
      static_cast<unsigned char*>(SCIMapLocalSegment(source, &local, 0, bytes, nullptr, 0, &error));
  const test::Mapped remote(ends.next, 0, bytes, SCI_FLAG_NO_ADDRESS_MAP);
  const auto block = [](sci_map_t from, std::size_t from_offset, sci_map_t to,
                        std::size_t to_offset, std::size_t size) {
    return error_of(SCITransferBlock, from, from_offset, to, to_offset, size, 0U);
  };
  fill(memory, bytes, rank + 50);
  expect_ok(block(local, 0, remote.map, 0, bytes), "SCITransferBlock there");
  barrier();
  expect(holds(ends.own.memory, bytes, previous + 50), "the bytes of the node before");
  std::fill_n(memory, bytes, static_cast<unsigned char>(0));
  expect_ok(block(remote.map, 0, local, 0, bytes), "SCITransferBlock back");
  expect(holds(memory, bytes, rank + 50), "what was written");
  barrier();
  // From one place of the other node to another.
  expect_ok(block(remote.map, 0, remote.map, bytes / 2, 400'000), "between remote maps");
  expect_ok(block(remote.map, bytes / 2, local, 0, 400'000), "and back");
  expect(holds(memory, 400'000, rank + 50), "what was copied there");
  expect_error(block(local, 1, remote.map, 0, bytes), SCI_ERR_OUT_OF_RANGE, "beyond the source");
  expect_error(block(local, 0, remote.map, 1, bytes), SCI_ERR_OUT_OF_RANGE, "beyond the target");
  sci_block_transfer_t handle = nullptr;
  const auto start = [&](sci_cb_block_transfer_t callback, unsigned int flags) {
    static int five = 5;
    return error_of(SCITransferBlockAsync, local, std::size_t{0}, remote.map, std::size_t{0}, bytes,
                    &handle, callback, static_cast<void*>(&five), flags);
  };
  expect_ok(start(nullptr, 0), "SCITransferBlockAsync");
  expect_ok(error_of(SCIWaitForBlockTransfer, handle, SCI_INFINITE_TIMEOUT, 0U), "its end");
  expect_error(error_of(SCIWaitForBlockTransfer, handle, 0U, 0U), SCI_ERR_ILLEGAL_PARAMETER,
               "gone");
  expect_ok(start(on_block, SCI_FLAG_USE_CALLBACK), "with a callback");
  test::await([] { return ended_blocks == 1; }, "the callback");
  expect_error(start(nullptr, SCI_FLAG_USE_CALLBACK), SCI_ERR_ILLEGAL_PARAMETER, "no callback");
  expect_ok(start(nullptr, 0), "one to abort");
  const sci_error_t aborted = error_of(SCIAbortBlockTransfer, handle, 0U);
  expect(aborted == SCI_ERR_OK || aborted == SCI_ERR_ILLEGAL_OPERATION, "aborted, or it had ended");
  const sci_error_t outcome = error_of(SCIWaitForBlockTransfer, handle, SCI_INFINITE_TIMEOUT, 0U);
  expect_error(outcome, aborted == SCI_ERR_OK ? SCI_ERR_CANCELLED : SCI_ERR_OK, "how it ended");
  barrier();
  expect_ok(error_of(SCIUnmapSegment, local, 0U), "SCIUnmapSegment");
  expect_ok(error_of(SCIRemoveSegment, source, 0U), "SCIRemoveSegment");
}

std::atomic<int> ended_queues{0};
sci_callback_action_t on_queue(void*, sci_dma_queue_t queue, sci_error_t status) {
  expect_ok(status, "a queue with a callback");
  expect_equal(SCIDMAQueueState(queue), SCI_DMAQUEUE_DONE, "its state");
  ++ended_queues;
  return SCI_CALLBACK_CONTINUE;
}

/// The classic calls.
void check_queue(const Ends& ends, sci_local_segment_t source, unsigned char* memory, int rank,
                 int previous) {
  sci_dma_queue_t queue = nullptr;
  expect_error(error_of(SCICreateDMAQueue, ends.device, &queue, 0U, 0U, 0U),
               SCI_ERR_ILLEGAL_PARAMETER, "no entries");
  expect_ok(error_of(SCICreateDMAQueue, ends.device, &queue, 0U, 2U, 0U), "SCICreateDMAQueue");
  const auto enqueue = [&](std::size_t offset, std::size_t size, unsigned int flags) {
    return error_of(SCIEnqueueDMATransfer, queue, source, ends.next, offset, offset, size, flags);
  };
  const auto post = [&](sci_cb_dma_t callback, unsigned int flags) {
    return error_of(SCIPostDMAQueue, queue, callback, no_argument, flags);
  };
  const auto wait_for_end = [&] {
    sci_error_t error = test::untouched;
    const auto state = SCIWaitForDMAQueue(queue, SCI_INFINITE_TIMEOUT, 0, &error);
    expect_ok(error, "SCIWaitForDMAQueue");
    return state;
  };
  expect_equal(SCIDMAQueueState(queue), SCI_DMAQUEUE_IDLE, "idle");
  expect_error(post(nullptr, 0), SCI_ERR_ILLEGAL_OPERATION, "nothing gathered");
  expect_error(error_of(SCIWaitForDMAQueue, queue, 0U, 0U), SCI_ERR_ILLEGAL_OPERATION,
               "not posted");
  expect_error(error_of(SCIAbortDMAQueue, queue, 0U), SCI_ERR_ILLEGAL_OPERATION, "not posted");
  expect_error(enqueue(0, 8, 0), SCI_ERR_SEGMENT_NOT_PREPARED, "not prepared");
  expect_ok(error_of(SCIPrepareSegment, source, 0U, SCI_FLAG_DMA_SOURCE_ONLY), "SCIPrepareSegment");
  expect_error(enqueue(1, bytes, 0), SCI_ERR_OUT_OF_RANGE, "a byte beyond");
  expect_error(enqueue(0, 0, 0), SCI_ERR_SIZE_ALIGNMENT, "no bytes");
  fill(memory, bytes, rank + 9);
  expect_ok(enqueue(0, bytes / 2, 0), "the first half");
  expect_equal(SCIDMAQueueState(queue), SCI_DMAQUEUE_GATHER, "gathering");
  expect_error(enqueue(0, 8, SCI_FLAG_DMA_READ), SCI_ERR_ILLEGAL_OPERATION, "another direction");
  expect_ok(enqueue(bytes / 2, bytes - bytes / 2, 0), "the second half");
  expect_error(enqueue(0, 8, 0), SCI_ERR_MAX_ENTRIES, "full");
  expect_error(error_of(SCIRemoveSegment, source, 0U), SCI_ERR_BUSY, "enqueued");
  expect_ok(post(nullptr, 0), "SCIPostDMAQueue");
  expect_equal(wait_for_end(), SCI_DMAQUEUE_DONE, "done");
  barrier();
  expect(holds(ends.own.memory, bytes, previous + 9), "the bytes of the node before");
  expect_error(enqueue(0, 8, 0), SCI_ERR_ILLEGAL_OPERATION, "before SCIResetDMAQueue");
  expect_ok(error_of(SCIResetDMAQueue, queue, 0U), "SCIResetDMAQueue");
  std::fill_n(memory, bytes, static_cast<unsigned char>(0));
  expect_ok(enqueue(0, bytes, SCI_FLAG_DMA_READ), "a read");
  expect_ok(post(on_queue, SCI_FLAG_USE_CALLBACK), "with a callback");
  test::await([] { return ended_queues == 1; }, "the callback");
  expect(holds(memory, bytes, rank + 9), "what was written");
  expect_ok(error_of(SCIResetDMAQueue, queue, 0U), "SCIResetDMAQueue");
  expect_ok(enqueue(0, bytes, SCI_FLAG_DMA_READ), "a read");
  expect_ok(post(nullptr, 0), "SCIPostDMAQueue");
  const sci_error_t aborted = error_of(SCIAbortDMAQueue, queue, 0U);
  expect(aborted == SCI_ERR_OK || aborted == SCI_ERR_ILLEGAL_OPERATION, "aborted, or it had ended");
  expect_equal(wait_for_end(), aborted == SCI_ERR_OK ? SCI_DMAQUEUE_ABORTED : SCI_DMAQUEUE_DONE,
               "how it ended");
  expect_ok(error_of(SCIRemoveDMAQueue, queue, 0U), "SCIRemoveDMAQueue");
  barrier();
}

/// Today's calls.
void check_start(const Ends& ends, sci_local_segment_t source, unsigned char* memory, int rank,
                 int previous) {
  sci_dma_queue_t queue = nullptr;
  expect_ok(error_of(SCICreateDMAQueue, ends.device, &queue, 0U, 1U, 0U), "SCICreateDMAQueue");
  const auto start = [&](std::size_t size, unsigned int flags) {
    return error_of(SCIStartDmaTransfer, queue, source, ends.next, std::size_t{0}, size,
                    std::size_t{0}, no_callback, no_argument, flags);
  };
  fill(memory, bytes, rank + 20);
  expect_error(start(8, SCI_FLAG_BROADCAST), SCI_ERR_FLAG_NOT_IMPLEMENTED, "broadcast");
  expect_error(start(8, SCI_FLAG_USE_CALLBACK), SCI_ERR_ILLEGAL_PARAMETER, "no callback");
  expect_error(start(bytes + 1, 0), SCI_ERR_OUT_OF_RANGE, "a byte beyond");
  expect_ok(start(bytes, SCI_FLAG_DMA_WAIT | SCI_FLAG_DMA_GLOBAL), "SCIStartDmaTransfer");
  barrier();
  expect(holds(ends.own.memory, bytes, previous + 20), "the bytes of the node before");
  std::fill_n(memory, bytes, static_cast<unsigned char>(0));
  expect_ok(start(bytes, SCI_FLAG_DMA_WAIT | SCI_FLAG_DMA_READ), "a read");
  expect(holds(memory, bytes, rank + 20), "what was written");
  barrier();
  std::vector<unsigned char> own(1000);
  fill(own.data(), own.size(), rank + 30);
  const auto start_memory = [&](void* address, std::size_t offset) {
    return error_of(SCIStartDmaTransferMem, queue, address, ends.next, own.size(), offset,
                    no_callback, no_argument, SCI_FLAG_DMA_WAIT);
  };
  expect_error(start_memory(nullptr, 0), SCI_ERR_ILLEGAL_ADDRESS, "no memory");
  expect_error(start_memory(own.data(), bytes), SCI_ERR_OUT_OF_RANGE, "beyond");
  expect_ok(start_memory(own.data(), 0), "SCIStartDmaTransferMem");
  barrier();
  expect(holds(ends.own.memory, own.size(), previous + 30), "the bytes of the node before");
  barrier();
  // The pieces in the opposite order.
  fill(memory, bytes, rank + 40);
  std::vector<dis_dma_vec_t> vector;
  for (unsigned int i = 0; i < 100; ++i) vector.push_back({1000, i * 1000, (99 - i) * 1000, 0});
  const auto start_vector = [&](std::size_t length) {
    return error_of(SCIStartDmaTransferVec, queue, source, ends.next, length, vector.data(),
                    no_callback, no_argument, SCI_FLAG_DMA_WAIT);
  };
  expect_error(start_vector(0), SCI_ERR_ILLEGAL_PARAMETER, "no pieces");
  expect_error(start_vector(DIS_DMA_MAX_VECLEN + 1), SCI_ERR_MAX_ENTRIES, "too many pieces");
  vector[3].flags = 0xDEADBEEFU;  // not looked at
  expect_ok(start_vector(100), "SCIStartDmaTransferVec");
  barrier();
  std::vector<unsigned char> sorted(100'000);
  for (std::size_t i = 0; i < 100; ++i) {
    std::copy_n(ends.own.memory + (99 - i) * 1000, 1000, sorted.data() + i * 1000);
  }
  expect(holds(sorted.data(), sorted.size(), previous + 40), "the pieces");
  expect_error(error_of(SCIphDmaEnqueue, queue, 8U, sci_ioaddr_t{0}, 0U, 0U, 0U, 0U),
               SCI_ERR_NOT_SUPPORTED, "physical addresses");
  expect_ok(error_of(SCIRemoveDMAQueue, queue, 0U), "SCIRemoveDMAQueue");
  barrier();
}

void check_dma(const Ends& ends, int rank, int previous) {
  sci_local_segment_t source = nullptr;
  expect_ok(error_of(SCICreateSegment, ends.device, &source, 78U, bytes,
                     sci_cb_local_segment_t{nullptr}, no_argument, SCI_FLAG_PRIVATE),
            "SCICreateSegment");
  sci_map_t local = nullptr;
  sci_error_t error = test::untouched;
  auto* const memory =
      static_cast<unsigned char*>(SCIMapLocalSegment(source, &local, 0, bytes, nullptr, 0, &error));
  check_queue(ends, source, memory, rank, previous);
  check_start(ends, source, memory, rank, previous);
  expect_ok(error_of(SCIUnmapSegment, local, 0U), "SCIUnmapSegment");
  expect_ok(error_of(SCIRemoveSegment, source, 0U), "SCIRemoveSegment");
}

}  // namespace

int main() {
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  test::own_rank() = rank;
  expect_ok(error_of(SCIInitialize, 0U), "SCIInitialize");
  {
    const test::Device device;
    test::Exported own(device, 1, bytes);
    // The last time, each with itself.
    for (const int distance : {1, 0}) {
      barrier();
      const auto next = static_cast<unsigned int>((rank + distance) % size);
      const int previous = (rank + size - distance) % size;
      const test::Imported imported(device, next, 1);
      const Ends ends{device, own, imported.segment};
      check_copies(ends, rank, previous);
      check_blocks(ends, rank, previous);
      check_dma(ends, rank, previous);
      ended_blocks = 0;
      ended_queues = 0;
      barrier();
    }
  }
  SCITerminate();
  MPI_Finalize();
  return test::result();
}
