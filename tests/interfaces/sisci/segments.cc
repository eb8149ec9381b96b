// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Segments: made, connected, mapped, shared, taken away, with events and callbacks; beside MPI in one program.
// ranks: 2 4
// networks: tcp
#include <mpi.h>

#include <atomic>
#include <cstring>
#include <vector>

#include "sisci/calls.h"

namespace {

using test::error_of;
using test::expect;
using test::expect_equal;
using test::expect_error;
using test::expect_ok;

constexpr auto no_local_callback = sci_cb_local_segment_t{nullptr};
constexpr auto no_remote_callback = sci_cb_remote_segment_t{nullptr};
constexpr auto no_argument = static_cast<void*>(nullptr);
constexpr std::size_t bytes = 100'000;

struct Job {
  int rank = 0;
  int size = 0;
  unsigned int next() const { return static_cast<unsigned int>((rank + 1) % size); }
  unsigned int previous() const { return static_cast<unsigned int>((rank + size - 1) % size); }
};

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

sci_error_t create(sci_desc_t device, sci_local_segment_t* segment, unsigned int id,
                   std::size_t size, unsigned int flags) {
  return error_of(SCICreateSegment, device, segment, id, size, no_local_callback, no_argument,
                  flags);
}
sci_error_t connect(sci_desc_t device, sci_remote_segment_t* segment, unsigned int node,
                    unsigned int id, unsigned int timeout = SCI_INFINITE_TIMEOUT) {
  return error_of(SCIConnectSegment, device, segment, node, id, 0U, no_remote_callback, no_argument,
                  timeout, 0U);
}

void check_local(sci_desc_t device) {
  sci_local_segment_t segment = nullptr;
  sci_local_segment_t other = nullptr;
  sci_map_t map = nullptr;
  expect_error(create(device, &segment, 1, 0, 0), SCI_ERR_SIZE_ALIGNMENT, "no bytes");
  expect_error(create(device, &segment, 1, SIZE_MAX / 2, 0), SCI_ERR_NOSPC, "more than there is");
  expect_error(create(device, &segment, 1, 8, SCI_FLAG_BROADCAST), SCI_ERR_FLAG_NOT_IMPLEMENTED,
               "broadcast");
  expect_error(create(device, &segment, 1, 8, 0x00000200U), SCI_ERR_ILLEGAL_FLAG, "no flag");
  expect_error(create(device, &segment, 1, 8, SCI_FLAG_USE_CALLBACK), SCI_ERR_ILLEGAL_PARAMETER,
               "no callback");
  expect_ok(create(device, &segment, 1, 8, 0), "segment 1");
  expect_error(create(device, &other, 1, 8, 0), SCI_ERR_SEGMENTID_USED, "segment 1 again");
  expect_ok(create(device, &other, 1, 8, SCI_FLAG_AUTO_ID), "a free number");
  expect(SCIGetLocalSegmentId(other) != 1, "another number");
  expect_equal(SCIGetLocalSegmentSize(other), 8U, "the size");
  expect_ok(error_of(SCIRemoveSegment, other, 0U), "SCIRemoveSegment");
  expect_error(error_of(SCIRemoveSegment, other, 0U), SCI_ERR_ILLEGAL_PARAMETER, "twice");
  expect_error(error_of(SCISetSegmentAvailable, segment, 0U, 0U), SCI_ERR_SEGMENT_NOT_PREPARED,
               "not prepared");
  expect_error(error_of(SCISetSegmentUnavailable, segment, 0U, 0U), SCI_ERR_ILLEGAL_OPERATION,
               "not available");
  expect_error(error_of(SCIPrepareSegment, segment, 1U, 0U), SCI_ERR_NO_SUCH_ADAPTERNO,
               "adapter 1");
  expect_ok(error_of(SCIPrepareSegment, segment, 0U, SCI_FLAG_DMA_SOURCE_ONLY), "a source");
  expect_error(error_of(SCISetSegmentAvailable, segment, 0U, 0U), SCI_ERR_ILLEGAL_OPERATION,
               "a source only");
  const auto local = [&](std::size_t offset, std::size_t size, unsigned int flags) {
    return error_of(SCIMapLocalSegment, segment, &map, offset, size, no_argument, flags);
  };
  expect_error(local(4, 5, 0), SCI_ERR_OUT_OF_RANGE, "a byte beyond");
  expect_error(local(SIZE_MAX, 2, 0), SCI_ERR_OUT_OF_RANGE, "an offset that wraps");
  expect_error(local(0, 0, 0), SCI_ERR_SIZE_ALIGNMENT, "no bytes");
  expect_error(local(0, 8, SCI_FLAG_LOCK_OPERATION), SCI_ERR_FLAG_NOT_IMPLEMENTED, "locks");
  expect_ok(local(0, 8, 0), "SCIMapLocalSegment");
  expect_error(error_of(SCIRemoveSegment, segment, SCI_FLAG_FORCE_REMOVE), SCI_ERR_BUSY, "mapped");
  expect_ok(error_of(SCICacheSync, map, no_argument, std::size_t{0}, SCI_FLAG_CACHE_FLUSH) ==
                    SCI_ERR_OUT_OF_RANGE
                ? SCI_ERR_OK
                : SCI_ERR_SYSTEM,
            "an address below the map");
  expect_ok(error_of(SCIUnmapSegment, map, 0U), "SCIUnmapSegment");
  expect_ok(error_of(SCIRemoveSegment, segment, 0U), "SCIRemoveSegment");
  expect_ok(create(device, &segment, 1, 8, SCI_FLAG_PRIVATE), "a private one");
  expect_ok(error_of(SCIPrepareSegment, segment, 0U, 0U), "SCIPrepareSegment");
  expect_error(error_of(SCISetSegmentAvailable, segment, 0U, 0U), SCI_ERR_ILLEGAL_OPERATION,
               "private");
  expect_error(error_of(SCIShareSegment, segment, 0U), SCI_ERR_ILLEGAL_OPERATION, "private");
  expect_error(error_of(SCIAttachPhysicalMemory, sci_ioaddr_t{0}, no_argument, 0U, std::size_t{8},
                        segment, 0U),
               SCI_ERR_NOT_SUPPORTED, "physical memory");
  sci_query_local_segment_t query{segment, SCI_Q_LOCAL_SEGMENT_IOADDR, {}};
  expect_error(error_of(SCIQuery, SCI_Q_LOCAL_SEGMENT, static_cast<void*>(&query), 0U),
               SCI_ERR_NOT_SUPPORTED, "an address of a bus");
  unsigned int node = 0;
  expect_error(error_of(SCIWaitForLocalSegmentEvent, segment, &node, &node, 0U, 0U),
               SCI_ERR_TIMEOUT, "no event");
  expect_ok(error_of(SCIRemoveSegment, segment, 0U), "SCIRemoveSegment");
}

/// Memory of the program.
void check_registered(sci_desc_t device) {
  std::vector<unsigned char> memory(64);
  sci_local_segment_t segment = nullptr;
  sci_map_t map = nullptr;
  expect_ok(create(device, &segment, 1, 64, SCI_FLAG_EMPTY), "an empty one");
  expect_ok(error_of(SCIPrepareSegment, segment, 0U, 0U), "SCIPrepareSegment");
  expect_error(error_of(SCISetSegmentAvailable, segment, 0U, 0U), SCI_ERR_ILLEGAL_OPERATION,
               "empty");
  expect_error(
      error_of(SCIMapLocalSegment, segment, &map, std::size_t{0}, std::size_t{8}, no_argument, 0U),
      SCI_ERR_ILLEGAL_OPERATION, "empty");
  const auto give = [&](void* address, std::size_t size) {
    return error_of(SCIRegisterSegmentMemory, address, size, segment, SCI_FLAG_LOCK_USER_MEM);
  };
  expect_error(give(memory.data(), 0), SCI_ERR_SIZE_ALIGNMENT, "no bytes");
  expect_error(give(memory.data(), 65), SCI_ERR_OUT_OF_RANGE, "more than its size");
  expect_error(give(nullptr, 64), SCI_ERR_ILLEGAL_ADDRESS, "NULL");
  expect_ok(give(memory.data(), 64), "SCIRegisterSegmentMemory");
  expect_error(give(memory.data(), 64), SCI_ERR_ILLEGAL_OPERATION, "twice");
  sci_error_t error = test::untouched;
  void* const at = SCIMapLocalSegment(segment, &map, 8, 8, nullptr, 0, &error);
  expect_ok(error, "SCIMapLocalSegment");
  expect(at == memory.data() + 8, "the program's memory");
  expect_ok(error_of(SCIUnmapSegment, map, 0U), "SCIUnmapSegment");
  expect_error(error_of(SCIMapLocalSegment, segment, &map, std::size_t{0}, std::size_t{8},
                        no_argument, SCI_FLAG_READONLY_MAP),
               SCI_ERR_NOT_SUPPORTED, "read-only");
  expect_ok(error_of(SCIRemoveSegment, segment, 0U), "SCIRemoveSegment");
}

void check_connect_errors(sci_desc_t device, const Job& job) {
  sci_remote_segment_t remote = nullptr;
  expect_error(connect(device, &remote, job.next(), 4711), SCI_ERR_NO_SUCH_SEGMENT, "no segment");
  expect_error(connect(device, &remote, static_cast<unsigned int>(job.size), 1),
               SCI_ERR_NO_SUCH_NODEID, "no node");
  expect_error(connect(device, &remote, 0x12345, 1), SCI_ERR_ILLEGAL_NODEID, "17 bits");
  expect_error(connect(device, &remote, DIS_BROADCAST_NODEID_GROUP_ALL, 1), SCI_ERR_NOT_SUPPORTED,
               "a group");
  expect_error(error_of(SCIConnectSegment, device, &remote, job.next(), 1U, 0U, no_remote_callback,
                        no_argument, 0U, SCI_FLAG_BROADCAST),
               SCI_ERR_FLAG_NOT_IMPLEMENTED, "broadcast");
}

/// Loads and stores where memory is shared, which `shares` says, and the refusal where it is not.
void check_maps(const Job& job, const test::Exported& own, sci_remote_segment_t remote,
                bool shares) {
  sci_map_t map = nullptr;
  const auto error_with = [&](std::size_t offset, std::size_t size, unsigned int flags) {
    return error_of(SCIMapRemoteSegment, remote, &map, offset, size, no_argument, flags);
  };
  expect_equal(SCIGetRemoteSegmentSize(remote), bytes, "the size");
  expect_equal(SCIGetRemoteSegmentId(remote), 10U + job.next(), "the number");
  expect_equal(SCIGetRemoteSegmentNodeId(remote), job.next(), "the node");
  expect_error(error_with(0, bytes + 1, 0), SCI_ERR_OUT_OF_RANGE, "a byte beyond");
  expect_error(error_with(0, 0, 0), SCI_ERR_SIZE_ALIGNMENT, "no bytes");
  expect_error(error_with(0, 8, SCI_FLAG_LOCK_OPERATION), SCI_ERR_FLAG_NOT_IMPLEMENTED, "locks");
  expect_error(error_with(0, 8, SCI_FLAG_CONDITIONAL_INTERRUPT_MAP), SCI_ERR_FLAG_NOT_IMPLEMENTED,
               "stores that interrupt");
  if (!shares) {
    expect_error(error_with(0, bytes, 0), SCI_ERR_NOT_SUPPORTED, "loads and stores over a network");
    return;
  }
  expect_error(error_of(SCIMapRemoteSegment, remote, &map, std::size_t{0}, bytes,
                        static_cast<void*>(own.memory), SCI_FLAG_FIXED_MAP_ADDR),
               SCI_ERR_ILLEGAL_ADDRESS, "where something is");
  expect_error(error_of(SCIMapRemoteSegment, remote, &map, std::size_t{0}, bytes,
                        static_cast<void*>(own.memory + 1), SCI_FLAG_FIXED_MAP_ADDR),
               SCI_ERR_OFFSET_ALIGNMENT, "in the middle of a page");
  const test::Mapped all(remote, 0, bytes, 0);
  const test::Mapped part(remote, 5000, 1000, SCI_FLAG_READONLY_MAP);
  for (std::size_t i = 0; i < bytes; ++i) {
    all.memory[i] = static_cast<unsigned char>(i * 3 + job.next());
  }
  expect_equal(part.memory[7], static_cast<unsigned char>(5007 * 3 + job.next()), "the same bytes");
  sci_query_map_t query{all.map, SCI_Q_MAP_MAPPED_TO_LOCAL_TARGET, 9};
  expect_ok(error_of(SCIQuery, SCI_Q_MAP, static_cast<void*>(&query), 0U), "SCI_Q_MAP");
  expect_equal(query.data, 1U, "of this host");
  expect_error(error_of(SCIDisconnectSegment, remote, 0U), SCI_ERR_BUSY, "mapped");
  sci_sequence_t sequence = nullptr;
  expect_ok(error_of(SCICreateMapSequence, all.map, &sequence, SCI_FLAG_FAST_BARRIER),
            "a sequence");
  sci_error_t error = test::untouched;
  expect_equal(SCIStartSequence(sequence, 0, &error), SCI_SEQ_OK, "SCIStartSequence");
  expect_equal(SCICheckSequence(sequence, 0, &error), SCI_SEQ_OK, "SCICheckSequence");
  SCIStoreBarrier(sequence, 0);
  SCIFlushReadBuffers(sequence);
  expect_ok(error_of(SCIRemoveSequence, sequence, 0U), "SCIRemoveSequence");
  expect_ok(
      error_of(SCICacheSync, all.map, const_cast<void*>(static_cast<volatile void*>(all.memory)),
               bytes, SCI_FLAG_CACHE_FLUSH | SCI_FLAG_CACHE_INVALIDATE),
      "SCICacheSync");
}

/// A map's sequences end with it.
void check_unmapped_sequence(sci_remote_segment_t remote, bool shares) {
  sci_sequence_t sequence = nullptr;
  sci_error_t error = test::untouched;
  {
    const test::Mapped map(remote, 0, bytes, shares ? 0 : SCI_FLAG_NO_ADDRESS_MAP);
    expect_ok(error_of(SCICreateMapSequence, map.map, &sequence, 0U), "SCICreateMapSequence");
    expect_equal(SCIStartSequence(sequence, 0, &error), SCI_SEQ_OK, "SCIStartSequence");
  }
  expect_equal(SCICheckSequence(sequence, 0, &error), SCI_SEQ_NOT_RETRIABLE, "without its map");
  expect_error(error, SCI_ERR_ILLEGAL_PARAMETER, "a sequence that is none any more");
  expect_error(error_of(SCIRemoveSequence, sequence, 0U), SCI_ERR_ILLEGAL_PARAMETER, "the same");
}

struct Flusher {
  sci_sequence_t sequence;
  std::atomic<unsigned> flushes = 0;
};

void* flush_for_ever(void* argument) {
  auto& flusher = *static_cast<Flusher*>(argument);
  (void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, nullptr);
  for (;;) {
    SCIFlush(flusher.sequence, 0);
    ++flusher.flushes;
  }
}

/// Threads that flush in a loop are cancelled by their programs, and the library goes on.
void check_cancelled_flushes(sci_remote_segment_t remote, bool shares) {
  constexpr int threads = 4;
  const test::Mapped map(remote, 0, bytes, shares ? 0 : SCI_FLAG_NO_ADDRESS_MAP);
  Flusher flusher{};
  expect_ok(error_of(SCICreateMapSequence, map.map, &flusher.sequence, 0U), "SCICreateMapSequence");
  for (int i = 0; i < threads; ++i) {
    pthread_t thread{};
    const unsigned before = flusher.flushes;
    expect_equal(pthread_create(&thread, nullptr, flush_for_ever, &flusher), 0, "pthread_create");
    test::await([&] { return flusher.flushes > before + 20; }, "flushes");
    expect_equal(pthread_cancel(thread), 0, "pthread_cancel");
    // Its result is not PTHREAD_CANCELED with every glibc.
    expect_equal(pthread_join(thread, nullptr), 0, "pthread_join");
    SCIFlush(flusher.sequence, 0);
  }
}

/// The end of a segment is the end of its connections.
void check_removed(sci_desc_t device, const Job& job) {
  sci_local_segment_t own = nullptr;
  sci_remote_segment_t remote = nullptr;
  expect_ok(create(device, &own, 40U + static_cast<unsigned int>(job.rank), bytes, 0), "a segment");
  expect_ok(error_of(SCIPrepareSegment, own, 0U, 0U), "SCIPrepareSegment");
  expect_ok(error_of(SCISetSegmentAvailable, own, 0U, 0U), "SCISetSegmentAvailable");
  barrier();
  expect_ok(connect(device, &remote, job.next(), 40U + job.next()), "SCIConnectSegment");
  barrier();
  expect_ok(error_of(SCIRemoveSegment, own, 0U), "SCIRemoveSegment of a connected segment");
  sci_error_t error = test::untouched;
  sci_error_t status = test::untouched;
  expect_equal(SCIWaitForRemoteSegmentEvent(remote, &status, SCI_INFINITE_TIMEOUT, 0, &error),
               SCI_CB_DISCONNECT, "its end");
  expect_ok(error_of(SCIDisconnectSegment, remote, 0U), "SCIDisconnectSegment");
  barrier();
}

/// Everybody connects to the next, which sees who came and went.
void check_connections(sci_desc_t device, const Job& job, bool shares) {
  const test::Exported own(device, 10U + static_cast<unsigned int>(job.rank), bytes);
  sci_remote_segment_t remote = nullptr;
  barrier();
  expect_ok(connect(device, &remote, job.next(), 10U + job.next()), "SCIConnectSegment");
  unsigned int node = 99;
  unsigned int adapter = 99;
  sci_error_t error = test::untouched;
  sci_segment_cb_reason_t reason =
      SCIWaitForLocalSegmentEvent(own.segment, &node, &adapter, SCI_INFINITE_TIMEOUT, 0, &error);
  expect_ok(error, "SCIWaitForLocalSegmentEvent");
  expect_equal(reason, SCI_CB_CONNECT, "a connection");
  expect_equal(node, job.previous(), "of the node before");
  expect_error(error_of(SCIRemoveSegment, own.segment, 0U), SCI_ERR_BUSY, "mapped");
  check_maps(job, own, remote, shares);
  check_unmapped_sequence(remote, shares);
  check_cancelled_flushes(remote, shares);
  barrier();
  for (std::size_t i = 0; shares && i < bytes; ++i) {
    expect(own.memory[i] == static_cast<unsigned char>(i * 3 + static_cast<std::size_t>(job.rank)),
           "what the node before has stored");
  }
  barrier();
  expect_ok(error_of(SCIDisconnectSegment, remote, 0U), "SCIDisconnectSegment");
  reason =
      SCIWaitForLocalSegmentEvent(own.segment, &node, &adapter, SCI_INFINITE_TIMEOUT, 0, &error);
  expect_equal(reason, SCI_CB_DISCONNECT, "gone");
  barrier();
}

/// The owner ends the connection of the node before.
void check_forced(const test::Exported& own, sci_remote_segment_t remote, bool shares) {
  const test::Mapped map(remote, 0, bytes, shares ? 0 : SCI_FLAG_NO_ADDRESS_MAP);
  sci_error_t error = test::untouched;
  sci_error_t status = test::untouched;
  sci_sequence_t sequence = nullptr;
  expect_ok(error_of(SCICreateMapSequence, map.map, &sequence, 0U), "SCICreateMapSequence");
  barrier();
  expect_ok(error_of(SCISetSegmentUnavailable, own.segment, 0U, SCI_FLAG_FORCE_DISCONNECT),
            "forced");
  expect_equal(SCIWaitForRemoteSegmentEvent(remote, &status, SCI_INFINITE_TIMEOUT, 0, &error),
               SCI_CB_DISCONNECT, "disconnected");
  unsigned char byte = 1;
  expect_error(
      error_of(SCIMemCopy, static_cast<void*>(&byte), map.map, std::size_t{0}, std::size_t{1}, 0U),
      SCI_ERR_SEGMENT_NOT_CONNECTED, "a stale segment");
  expect_equal(SCIStartSequence(sequence, 0, &error), SCI_SEQ_NOT_RETRIABLE, "the sequence");
  // Stores that come too late go nowhere.
  if (shares) map.memory[0] = 77;
  barrier();
  expect(own.memory[0] != 77, "no store after the end");
  sci_map_t none = nullptr;
  expect_error(
      error_of(SCIMapRemoteSegment, remote, &none, std::size_t{0}, std::size_t{8}, no_argument, 0U),
      SCI_ERR_SEGMENT_NOT_CONNECTED, "a map of it");
  expect_ok(error_of(SCIRemoveSequence, sequence, 0U), "SCIRemoveSequence");
  // The map goes first.
  expect_error(error_of(SCIDisconnectSegment, remote, 0U), SCI_ERR_BUSY, "mapped");
}

/// The owner takes its segment away.
void check_unavailable(sci_desc_t device, const Job& job, bool shares) {
  const test::Exported own(device, 10U + static_cast<unsigned int>(job.rank), bytes);
  sci_remote_segment_t remote = nullptr;
  barrier();
  expect_ok(connect(device, &remote, job.next(), 10U + job.next()), "SCIConnectSegment");
  barrier();
  expect_ok(error_of(SCISetSegmentUnavailable, own.segment, 0U, SCI_FLAG_NOTIFY), "an invitation");
  sci_error_t error = test::untouched;
  sci_error_t status = test::untouched;
  expect_equal(SCIWaitForRemoteSegmentEvent(remote, &status, SCI_INFINITE_TIMEOUT, 0, &error),
               SCI_CB_DISCONNECT, "invited");
  barrier();
  sci_remote_segment_t late = nullptr;
  expect_error(connect(device, &late, job.next(), 10U + job.next()), SCI_ERR_NO_SUCH_SEGMENT,
               "not available");
  barrier();
  expect_ok(error_of(SCISetSegmentAvailable, own.segment, 0U, 0U), "again");
  check_forced(own, remote, shares);
  expect_ok(error_of(SCIDisconnectSegment, remote, 0U), "SCIDisconnectSegment");
}
struct Counted {
  std::atomic<int> connects{0};
  std::atomic<int> disconnects{0};
};

sci_callback_action_t on_local(void* argument, sci_local_segment_t segment,
                               sci_segment_cb_reason_t reason, unsigned int node,
                               unsigned int adapter, sci_error_t error) {
  auto& counted = *static_cast<Counted*>(argument);
  expect(segment != nullptr && adapter == 0 && error == SCI_ERR_OK && node < 99, "a local event");
  ++(reason == SCI_CB_CONNECT ? counted.connects : counted.disconnects);
  return SCI_CALLBACK_CONTINUE;
}
sci_callback_action_t on_remote(void* argument, sci_remote_segment_t,
                                sci_segment_cb_reason_t reason, sci_error_t status) {
  auto& counted = *static_cast<Counted*>(argument);
  if (reason == SCI_CB_CONNECT) expect_ok(status, "an asynchronous connection");
  // Callbacks may call SISCI.
  expect(SCIProbeNode(nullptr, 0, 0, 0, nullptr) == 0, "SISCI in a callback");
  ++(reason == SCI_CB_CONNECT ? counted.connects : counted.disconnects);
  return reason == SCI_CB_CONNECT ? SCI_CALLBACK_CONTINUE : SCI_CALLBACK_CANCEL;
}

void check_callbacks(sci_desc_t device, const Job& job) {
  Counted local;
  Counted remote;
  sci_local_segment_t own = nullptr;
  sci_remote_segment_t segment = nullptr;
  expect_ok(
      error_of(SCICreateSegment, device, &own, 20U + static_cast<unsigned int>(job.rank), bytes,
               sci_cb_local_segment_t{on_local}, static_cast<void*>(&local), SCI_FLAG_USE_CALLBACK),
      "SCICreateSegment");
  expect_ok(error_of(SCIPrepareSegment, own, 0U, 0U), "SCIPrepareSegment");
  expect_ok(error_of(SCISetSegmentAvailable, own, 0U, 0U), "SCISetSegmentAvailable");
  unsigned int node = 0;
  expect_error(error_of(SCIWaitForLocalSegmentEvent, own, &node, &node, 0U, 0U),
               SCI_ERR_ILLEGAL_OPERATION, "it has a callback");
  barrier();
  expect_ok(error_of(SCIConnectSegment, device, &segment, job.next(), 20U + job.next(), 0U,
                     sci_cb_remote_segment_t{on_remote}, static_cast<void*>(&remote), 0U,
                     SCI_FLAG_USE_CALLBACK | SCI_FLAG_ASYNCHRONOUS_CONNECT),
            "SCIConnectSegment");
  sci_error_t status = SCI_ERR_OK;
  expect_error(error_of(SCIWaitForRemoteSegmentEvent, segment, &status, 0U, 0U),
               SCI_ERR_ILLEGAL_OPERATION, "it has a callback");
  test::await([&] { return local.connects == 1 && remote.connects == 1; }, "both ends connected");
  barrier();
  expect_ok(error_of(SCISetSegmentUnavailable, own, 0U, SCI_FLAG_NOTIFY), "an invitation");
  test::await([&] { return remote.disconnects == 1; }, "the invitation");
  expect_ok(error_of(SCIDisconnectSegment, segment, 0U), "SCIDisconnectSegment");
  test::await([&] { return local.disconnects == 1; }, "the end");
  expect_ok(error_of(SCIRemoveSegment, own, 0U), "SCIRemoveSegment");
  barrier();
}

/// A segment of rank 0 is a local one of every process of its host.
void check_shared(sci_desc_t device, const Job& job, bool shares) {
  sci_local_segment_t attached = nullptr;
  std::size_t size = 0;
  const auto attach = [&](unsigned int id) {
    return error_of(SCIAttachLocalSegment, device, &attached, id, &size, no_local_callback,
                    no_argument, 0U);
  };
  expect_error(attach(4711), SCI_ERR_NO_SUCH_SEGMENT, "no segment");
  const test::Exported* const own = job.rank == 0 ? new test::Exported(device, 30, bytes) : nullptr;
  barrier();
  const sci_error_t refused = job.rank == 0 || shares ? SCI_ERR_ACCESS : SCI_ERR_NO_SUCH_SEGMENT;
  expect_error(attach(30), refused, "not shared");
  barrier();
  if (own != nullptr) {
    expect_ok(error_of(SCIShareSegment, own->segment, 0U), "SCIShareSegment");
    std::memset(own->memory, 42, bytes);
  }
  barrier();
  if (job.rank == 0 || shares) {
    expect_ok(attach(30), "SCIAttachLocalSegment");
    expect_equal(size, bytes, "its size");
    sci_map_t map = nullptr;
    sci_error_t error = test::untouched;
    const auto* const memory = static_cast<unsigned char*>(
        SCIMapLocalSegment(attached, &map, 0, bytes, nullptr, 0, &error));
    expect_ok(error, "SCIMapLocalSegment");
    expect(memory != nullptr && memory[bytes - 1] == 42, "the owner's bytes");
    expect_error(error_of(SCISetSegmentAvailable, attached, 0U, 0U), SCI_ERR_ILLEGAL_OPERATION,
                 "attached");
    expect_ok(error_of(SCIUnmapSegment, map, 0U), "SCIUnmapSegment");
    expect_ok(error_of(SCIRemoveSegment, attached, 0U), "SCIRemoveSegment");
  }
  barrier();
  delete own;
}

}  // namespace

int main() {
  MPI_Init(nullptr, nullptr);
  Job job;
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.size);
  test::own_rank() = job.rank;
  expect_ok(error_of(SCIInitialize, 0U), "SCIInitialize");
  expect_equal(test::node_id(), job.rank, "ranks are one thing");
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int sharing = 0;
  MPI_Comm_size(node, &sharing);
  MPI_Comm_free(&node);
  const char* const fabric = std::getenv("FULMAR_FABRIC");
  const bool shares = sharing == job.size && (fabric == nullptr || std::strcmp(fabric, "tcp") != 0);
  {
    const test::Device device;
    check_local(device);
    check_registered(device);
    barrier();
    check_connect_errors(device, job);
    check_connections(device, job, shares);
    check_unavailable(device, job, shares);
    check_removed(device, job);
    check_callbacks(device, job);
    check_shared(device, job, shares);
    barrier();
  }
  SCITerminate();
  MPI_Finalize();
  return test::result();
}
