// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Calls that wait for another node, which has stopped (SIGSTOP): their times run out, and what is under way cannot be
// removed. Waits whose object is removed meanwhile; and what a connection that its owner has ended still gives.
// ranks: 2
// networks: tcp
#include <mpi.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "sisci/calls.h"

namespace {

using test::error_of;
using test::expect;
using test::expect_equal;
using test::expect_error;
using test::expect_ok;

constexpr auto no_remote_callback = sci_cb_remote_segment_t{nullptr};
constexpr auto no_callback = sci_cb_dma_t{nullptr};
constexpr auto no_argument = static_cast<void*>(nullptr);
constexpr std::size_t bytes = 300'000;
constexpr unsigned int shortly = 20;  // ms
constexpr unsigned int interrupt_number = 3;

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

/// The letter that Linux has for the state of a process or thread.
char state_of(const std::string& stat) {
  std::ifstream file(stat);
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');
  return end == std::string::npos || end + 2 >= text.size() ? '?' : text[end + 2];
}

/// Runs `body` in a thread, and returns when it sleeps in a call: it does so in many looks, one after the other.
template <class Body>
std::thread start_asleep(Body body) {
  constexpr int looks = 100;
  auto id = std::make_shared<std::atomic<pid_t>>(0);
  std::thread thread([id, body] {
    *id = ::gettid();
    body();
  });
  int asleep = 0;
  test::await(
      [&] {
        const char state = state_of("/proc/self/task/" + std::to_string(*id) + "/stat");
        asleep = *id != 0 && state == 'S' ? asleep + 1 : 0;
        return asleep == looks || (*id != 0 && state == '?');
      },
      "the thread sleeps, or has ended");
  return thread;
}

sci_error_t connect(sci_desc_t device, sci_remote_segment_t* segment, unsigned int timeout,
                    unsigned int flags) {
  return error_of(SCIConnectSegment, device, segment, 1U, 1U, 0U, no_remote_callback, no_argument,
                  timeout, flags);
}

/// Nothing that has to be answered is, in this time.
void check_connections(const test::Device& device, sci_local_segment_t source) {
  sci_remote_segment_t segment = nullptr;
  sci_remote_interrupt_t interrupt = nullptr;
  sci_remote_data_interrupt_t data = nullptr;
  expect_error(connect(device, &segment, shortly, 0), SCI_ERR_TIMEOUT, "SCIConnectSegment");
  const sci_desc_t sd = device;
  expect_error(error_of(SCIConnectInterrupt, sd, &interrupt, 1U, 0U, interrupt_number, shortly, 0U),
               SCI_ERR_TIMEOUT, "SCIConnectInterrupt");
  expect_error(error_of(SCIConnectDataInterrupt, sd, &data, 1U, 0U, interrupt_number, shortly, 0U),
               SCI_ERR_TIMEOUT, "SCIConnectDataInterrupt");
  // One that goes on meanwhile is no connection yet.
  expect_ok(connect(device, &segment, 0, SCI_FLAG_ASYNCHRONOUS_CONNECT), "without waiting");
  sci_error_t status = test::untouched;
  sci_map_t map = nullptr;
  sci_dma_queue_t queue = nullptr;
  expect_error(error_of(SCIWaitForRemoteSegmentEvent, segment, &status, shortly, 0U),
               SCI_ERR_TIMEOUT, "SCIWaitForRemoteSegmentEvent");
  expect_error(error_of(SCIMapRemoteSegment, segment, &map, std::size_t{0}, bytes, no_argument,
                        SCI_FLAG_NO_ADDRESS_MAP),
               SCI_ERR_SEGMENT_NOT_CONNECTED, "SCIMapRemoteSegment");
  expect_equal(SCIGetRemoteSegmentSize(segment), 0U, "no size yet");
  expect_ok(error_of(SCICreateDMAQueue, sd, &queue, 0U, 2U, 0U), "SCICreateDMAQueue");
  expect_error(error_of(SCIEnqueueDMATransfer, queue, source, segment, std::size_t{0},
                        std::size_t{0}, std::size_t{8}, 0U),
               SCI_ERR_SEGMENT_NOT_CONNECTED, "SCIEnqueueDMATransfer");
  expect_error(error_of(SCIStartDmaTransfer, queue, source, segment, std::size_t{0}, std::size_t{8},
                        std::size_t{0}, no_callback, no_argument, 0U),
               SCI_ERR_SEGMENT_NOT_CONNECTED, "SCIStartDmaTransfer");
  expect_error(error_of(SCIphDmaStart, queue, no_callback, no_argument, 0U), SCI_ERR_NOT_SUPPORTED,
               "SCIphDmaStart");
  expect_ok(error_of(SCIRemoveDMAQueue, queue, 0U), "SCIRemoveDMAQueue");
  expect_ok(error_of(SCIDisconnectSegment, segment, 0U), "SCIDisconnectSegment");
}

/// A read of the other node that is under way, which needs its answer.
class Reading {
 public:
  Reading(sci_map_t remote, sci_map_t local) {
    expect_ok(error_of(SCITransferBlockAsync, remote, std::size_t{0}, local, std::size_t{0}, bytes,
                       &block, sci_cb_block_transfer_t{nullptr}, no_argument, 0U),
              "SCITransferBlockAsync");
  }
  sci_block_transfer_t block = nullptr;
};

/// What a transfer that is under way forbids. Returns what aborts it, which waits for the other node.
std::thread check_block(const test::Exported& own, sci_map_t remote) {
  const sci_block_transfer_t block = Reading(remote, own.map).block;
  sci_block_transfer_t none = nullptr;
  expect_error(error_of(SCIWaitForBlockTransfer, block, shortly, 0U), SCI_ERR_TIMEOUT,
               "SCIWaitForBlockTransfer");
  expect_error(error_of(SCIUnmapSegment, remote, 0U), SCI_ERR_BUSY, "the source's map");
  expect_error(error_of(SCIUnmapSegment, own.map, 0U), SCI_ERR_BUSY, "the target's map");
  expect_error(error_of(SCITransferBlockAsync, remote, std::size_t{0}, remote, std::size_t{8},
                        std::size_t{8}, &none, sci_cb_block_transfer_t{nullptr}, no_argument, 0U),
               SCI_ERR_NOT_SUPPORTED, "between two maps of another host");
  // Where the machine is slow the transfer may have ended all the same.
  return start_asleep([block] {
    const sci_error_t aborted = error_of(SCIAbortBlockTransfer, block, 0U);
    expect(aborted == SCI_ERR_OK || aborted == SCI_ERR_ILLEGAL_OPERATION, "aborted, or ended");
    expect_error(error_of(SCIWaitForBlockTransfer, block, SCI_INFINITE_TIMEOUT, 0U),
                 aborted == SCI_ERR_OK ? SCI_ERR_CANCELLED : SCI_ERR_OK, "how it ended");
  });
}

std::atomic<int>& ended_blocks() {
  static std::atomic<int> count{0};
  return count;
}
int on_block(void*, sci_block_transfer_t, sci_error_t) {
  ++ended_blocks();
  return 0;
}

std::thread check_queue(const test::Device& device, const test::Exported& own,
                        const test::Imported& remote) {
  sci_dma_queue_t queue = nullptr;
  const sci_desc_t sd = device;
  expect_ok(error_of(SCICreateDMAQueue, sd, &queue, 0U, 2U, 0U), "SCICreateDMAQueue");
  const auto enqueue = [&] {
    return error_of(SCIEnqueueDMATransfer, queue, own.segment, remote.segment, std::size_t{0},
                    std::size_t{0}, bytes, SCI_FLAG_DMA_READ);
  };
  expect_ok(enqueue(), "SCIEnqueueDMATransfer");
  expect_ok(error_of(SCIPostDMAQueue, queue, no_callback, no_argument, 0U), "SCIPostDMAQueue");
  expect_equal(SCIDMAQueueState(queue), SCI_DMAQUEUE_POSTED, "posted");
  expect_error(enqueue(), SCI_ERR_ILLEGAL_OPERATION, "posted");
  expect_error(error_of(SCIRemoveDMAQueue, queue, 0U), SCI_ERR_ILLEGAL_OPERATION, "posted");
  expect_error(error_of(SCIResetDMAQueue, queue, 0U), SCI_ERR_ILLEGAL_OPERATION, "posted");
  expect_error(error_of(SCIWaitForDMAQueue, queue, shortly, 0U), SCI_ERR_TIMEOUT, "still posted");
  expect_error(error_of(SCIRemoveSegment, own.segment, 0U), SCI_ERR_BUSY, "it is read into");
  return start_asleep([queue] {
    const sci_error_t aborted = error_of(SCIAbortDMAQueue, queue, 0U);
    expect(aborted == SCI_ERR_OK || aborted == SCI_ERR_ILLEGAL_OPERATION, "aborted, or ended");
    expect_equal(SCIDMAQueueState(queue),
                 aborted == SCI_ERR_OK ? SCI_DMAQUEUE_ABORTED : SCI_DMAQUEUE_DONE, "how it ended");
    expect_ok(error_of(SCIRemoveDMAQueue, queue, 0U), "SCIRemoveDMAQueue");
  });
}

/// Rank 0, while rank 1 is stopped.
void check_stopped(const test::Device& device, pid_t other, bool shares) {
  const test::Exported own(device, 2, bytes);
  const test::Imported remote(device, 1, 1);
  const test::Mapped map(remote.segment, 0, bytes, SCI_FLAG_NO_ADDRESS_MAP);
  barrier();
  test::await([&] { return state_of("/proc/" + std::to_string(other) + "/stat") == 'T'; },
              "the other node has stopped");
  check_connections(device, own.segment);
  std::thread aborts_block;
  std::thread aborts_queue;
  if (!shares) {
    // On a host these are copies, which have ended when the call returns.
    aborts_block = check_block(own, map.map);
    aborts_queue = check_queue(device, own, remote);
  }
  (void)::kill(other, SIGCONT);
  if (aborts_block.joinable()) aborts_block.join();
  if (aborts_queue.joinable()) aborts_queue.join();
  barrier();
  // The owner has ended the connection.
  barrier();
  sci_error_t status = test::untouched;
  sci_error_t error = test::untouched;
  expect_equal(
      SCIWaitForRemoteSegmentEvent(remote.segment, &status, SCI_INFINITE_TIMEOUT, 0, &error),
      SCI_CB_DISCONNECT, "the end");
  unsigned char byte = 0;
  const auto copy = [&](unsigned int flags) {
    return error_of(SCIMemCpy, sci_sequence_t{nullptr}, static_cast<void*>(&byte), map.map,
                    std::size_t{0}, std::size_t{1}, flags);
  };
  expect_error(copy(0), SCI_ERR_SEGMENT_NOT_CONNECTED, "a write");
  expect_error(copy(SCI_FLAG_BLOCK_READ), SCI_ERR_SEGMENT_NOT_CONNECTED, "a read");
  expect_error(error_of(SCITransferBlock, map.map, std::size_t{0}, own.map, std::size_t{0},
                        std::size_t{8}, 0U),
               SCI_ERR_SEGMENT_NOT_CONNECTED, "SCITransferBlock");
  sci_block_transfer_t block = nullptr;
  expect_error(error_of(SCITransferBlockAsync, map.map, std::size_t{0}, own.map, std::size_t{0},
                        std::size_t{8}, &block, sci_cb_block_transfer_t{nullptr}, no_argument, 0U),
               SCI_ERR_SEGMENT_NOT_CONNECTED, "SCITransferBlockAsync");
}

/// Rank 1: stops, and ends the connections to its segment after it has gone on.
void stop() {
  {
    const test::Device device;
    const test::Exported own(device, 1, bytes);
    barrier();
    (void)::raise(SIGSTOP);
    barrier();
    expect_ok(error_of(SCISetSegmentUnavailable, own.segment, 0U, SCI_FLAG_FORCE_DISCONNECT),
              "SCISetSegmentUnavailable");
    barrier();
    barrier();
  }
}

/// `wait` of an object that `remove` takes away meanwhile. A thread that comes too late finds no object.
template <class Make, class Wait, class Remove>
void check_cancelled(Make&& make, Wait&& wait, Remove&& remove, const char* what) {
  test::await(
      [&] {
        make();
        sci_error_t error = test::untouched;
        std::thread waiter = start_asleep([&] { error = wait(); });
        remove();
        waiter.join();
        expect(error == SCI_ERR_CANCELLED || error == SCI_ERR_ILLEGAL_PARAMETER, what);
        return error == SCI_ERR_CANCELLED;
      },
      what);
}

void check_removals(const test::Device& device) {
  const sci_desc_t sd = device;
  sci_local_segment_t segment = nullptr;
  check_cancelled(
      [&] {
        expect_ok(error_of(SCICreateSegment, sd, &segment, 50U, std::size_t{8},
                           sci_cb_local_segment_t{nullptr}, no_argument, 0U),
                  "SCICreateSegment");
      },
      [&] {
        unsigned int node = 0;
        return error_of(SCIWaitForLocalSegmentEvent, segment, &node, &node, SCI_INFINITE_TIMEOUT,
                        0U);
      },
      [&] { expect_ok(error_of(SCIRemoveSegment, segment, 0U), "SCIRemoveSegment"); },
      "SCIWaitForLocalSegmentEvent of a segment that is removed");
  const test::Exported own(device, 51, 8);
  sci_remote_segment_t remote = nullptr;
  check_cancelled(
      [&] {
        expect_ok(error_of(SCIConnectSegment, sd, &remote, SCI_LOCAL_HOST, 51U, 0U,
                           no_remote_callback, no_argument, SCI_INFINITE_TIMEOUT, 0U),
                  "SCIConnectSegment");
      },
      [&] {
        sci_error_t status = test::untouched;
        return error_of(SCIWaitForRemoteSegmentEvent, remote, &status, SCI_INFINITE_TIMEOUT, 0U);
      },
      [&] { expect_ok(error_of(SCIDisconnectSegment, remote, 0U), "SCIDisconnectSegment"); },
      "SCIWaitForRemoteSegmentEvent of a segment that is disconnected");
  sci_local_data_interrupt_t interrupt = nullptr;
  check_cancelled(
      [&] {
        unsigned int number = 0;
        expect_ok(error_of(SCICreateDataInterrupt, sd, &interrupt, 0U, &number,
                           sci_cb_data_interrupt_t{nullptr}, no_argument, 0U),
                  "SCICreateDataInterrupt");
      },
      [&] {
        unsigned char byte = 0;
        unsigned int length = 1;
        return error_of(SCIWaitForDataInterrupt, interrupt, static_cast<void*>(&byte), &length,
                        SCI_INFINITE_TIMEOUT, 0U);
      },
      [&] { expect_ok(error_of(SCIRemoveDataInterrupt, interrupt, 0U), "SCIRemoveDataInterrupt"); },
      "SCIWaitForDataInterrupt of an interrupt that is removed");
}

/// A transfer with a callback is not waited for.
void check_block_with_callback(const test::Device& device) {
  const test::Exported own(device, 60, 64);
  sci_block_transfer_t block = nullptr;
  int started = 0;
  // The callback's thread removes the handle: of several some are asked about before.
  test::await(
      [&] {
        expect_ok(error_of(SCITransferBlockAsync, own.map, std::size_t{0}, own.map, std::size_t{32},
                           std::size_t{32}, &block, sci_cb_block_transfer_t{on_block}, no_argument,
                           SCI_FLAG_USE_CALLBACK),
                  "SCITransferBlockAsync");
        ++started;
        const sci_error_t error = error_of(SCIWaitForBlockTransfer, block, 0U, 0U);
        expect(error == SCI_ERR_ILLEGAL_OPERATION || error == SCI_ERR_ILLEGAL_PARAMETER,
               "it has a callback, or that has been");
        return error == SCI_ERR_ILLEGAL_OPERATION;
      },
      "a transfer whose callback has not been");
  test::await([&] { return ended_blocks() == started; }, "the callbacks");
}

}  // namespace

int main() {
  MPI_Init(nullptr, nullptr);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  test::own_rank() = rank;
  const char* const fabric = std::getenv("FULMAR_FABRIC");
  const bool shares = fabric == nullptr || std::strcmp(fabric, "shm") == 0;
  int pids[2] = {};
  const int own = ::getpid();
  MPI_Allgather(&own, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
  expect_ok(error_of(SCIInitialize, 0U), "SCIInitialize");
  if (rank == 0) {
    {
      const test::Device device;
      check_removals(device);
      check_block_with_callback(device);
      check_stopped(device, pids[1], shares);
    }
    barrier();
  } else {
    stop();
  }
  SCITerminate();
  MPI_Finalize();
  return test::result();
}
