// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The last node is killed in the middle of long transfers, to it and from it. What needs it ends with an error;
// what is between the others goes on, and SCITerminate does not wait for it. Run by test_deaths.py, under
// --on-failure=continue.
#include <csignal>
#include <vector>

#include "sisci/calls.h"

namespace {

using test::error_of;
using test::expect;
using test::expect_equal;
using test::expect_error;
using test::expect_ok;

constexpr std::size_t bytes = std::size_t{8} << 20;
constexpr auto no_argument = static_cast<void*>(nullptr);
constexpr auto no_callback = sci_cb_dma_t{nullptr};

struct Party {
  sci_desc_t device;
  unsigned int own;
  unsigned int dead;  ///< the last node
};

/// What holds while the node dies: transfers end, one way or the other, and are refused from then on.
void check_transfers(sci_remote_segment_t remote, sci_local_segment_t source,
                     sci_dma_queue_t queue) {
  sci_error_t error = SCI_ERR_OK;
  test::await(
      [&] {
        error = error_of(SCIStartDmaTransfer, queue, source, remote, std::size_t{0}, bytes,
                         std::size_t{0}, no_callback, no_argument, SCI_FLAG_DMA_WAIT);
        return error != SCI_ERR_OK;
      },
      "the end of the transfers");
  expect(error == SCI_ERR_TRANSFER_FAILED || error == SCI_ERR_SEGMENT_NOT_CONNECTED,
         "how they end");
  expect(SCIDMAQueueState(queue) != SCI_DMAQUEUE_POSTED, "nothing stays under way");
}

void survive(const Party& party, const test::Exported& own) {
  const test::Exported source(party.device, 2, bytes);
  sci_dma_queue_t queue = nullptr;
  expect_ok(error_of(SCICreateDMAQueue, party.device, &queue, 0U, 1U, 0U), "SCICreateDMAQueue");
  {
    const test::Imported remote(party.device, party.dead, 1);
    sci_remote_interrupt_t start = nullptr;
    test::await(
        [&] {
          return error_of(SCIConnectInterrupt, party.device, &start, party.dead, 0U, 9U,
                          SCI_INFINITE_TIMEOUT, 0U) == SCI_ERR_OK;
        },
        "the interrupt");
    const test::Mapped map(remote.segment, 0, bytes, SCI_FLAG_NO_ADDRESS_MAP);
    sci_sequence_t sequence = nullptr;
    expect_ok(error_of(SCICreateMapSequence, map.map, &sequence, 0U), "SCICreateMapSequence");
    expect_ok(error_of(SCITriggerInterrupt, start, 0U), "the sign to die");
    check_transfers(remote.segment, source.segment, queue);
    sci_error_t error = test::untouched;
    sci_error_t status = test::untouched;
    expect_equal(
        SCIWaitForRemoteSegmentEvent(remote.segment, &status, SCI_INFINITE_TIMEOUT, 0, &error),
        SCI_CB_LOST, "the loss");
    expect_equal(SCICheckSequence(sequence, 0, &error), SCI_SEQ_NOT_RETRIABLE, "the sequence");
    unsigned char byte = 0;
    expect_error(error_of(SCIMemCopy, static_cast<void*>(&byte), map.map, std::size_t{0},
                          std::size_t{1}, SCI_FLAG_BLOCK_READ),
                 SCI_ERR_SEGMENT_NOT_CONNECTED, "a read of the dead");
    expect_error(error_of(SCITriggerInterrupt, start, 0U), SCI_ERR_NOT_CONNECTED, "its interrupt");
    expect_error(error_of(SCIProbeNode, party.device, 0U, party.dead, 0U),
                 SCI_ERR_NODE_NOT_RESPONDING, "the node");
    sci_remote_segment_t none = nullptr;
    expect_error(error_of(SCIConnectSegment, party.device, &none, party.dead, 1U, 0U,
                          sci_cb_remote_segment_t{nullptr}, no_argument, SCI_INFINITE_TIMEOUT, 0U),
                 SCI_ERR_NODE_NOT_RESPONDING, "a connection to it");
    expect_ok(error_of(SCIRemoveSequence, sequence, 0U), "SCIRemoveSequence");
    expect_ok(error_of(SCIDisconnectInterrupt, start, 0U), "SCIDisconnectInterrupt");
  }
  // The own segment was connected to by the dead.
  unsigned int node = 99;
  sci_error_t error = test::untouched;
  sci_segment_cb_reason_t reason = SCI_CB_CONNECT;
  while (reason != SCI_CB_LOST && error != SCI_ERR_TIMEOUT) {
    reason = SCIWaitForLocalSegmentEvent(own.segment, &node, nullptr, 30'000, 0, &error);
  }
  expect_equal(reason, SCI_CB_LOST, "the loss of a connection to this node");
  expect_equal(node, party.dead, "that of the dead");
  // The others go on.
  if (party.dead > 1) {
    const test::Imported living(party.device, (party.own + 1) % party.dead, 1);
    expect_ok(error_of(SCIStartDmaTransfer, queue, source.segment, living.segment, std::size_t{0},
                       bytes, std::size_t{0}, no_callback, no_argument, SCI_FLAG_DMA_WAIT),
              "between the living");
  }
  expect_ok(error_of(SCIRemoveDMAQueue, queue, 0U), "SCIRemoveDMAQueue");
}

[[noreturn]] void die(const Party& party) {
  std::vector<sci_remote_segment_t> others(party.dead);
  std::vector<sci_dma_queue_t> queues(party.dead);
  static unsigned char memory[bytes];
  for (unsigned int node = 0; node < party.dead; ++node) {
    const test::Imported* const imported = new test::Imported(party.device, node, 1);
    others[node] = imported->segment;
    expect_ok(error_of(SCICreateDMAQueue, party.device, &queues[node], 0U, 1U, 0U), "a queue");
  }
  sci_local_interrupt_t start = nullptr;
  unsigned int number = 9;
  expect_ok(
      error_of(SCICreateInterrupt, party.device, &start, 0U, &number, sci_cb_interrupt_t{nullptr},
               no_argument, SCI_FLAG_FIXED_INTNO | SCI_FLAG_COUNTING_INT),
      "SCICreateInterrupt");
  for (unsigned int node = 0; node < party.dead; ++node) {
    expect_ok(error_of(SCIWaitForInterrupt, start, SCI_INFINITE_TIMEOUT, 0U), "the sign to die");
  }
  for (unsigned int node = 0; node < party.dead; ++node) {
    (void)error_of(SCIStartDmaTransferMem, queues[node], static_cast<void*>(memory), others[node],
                   bytes, std::size_t{0}, no_callback, no_argument, 0U);
  }
  (void)::raise(SIGKILL);
  std::_Exit(1);
}

}  // namespace

int main() {
  expect_ok(error_of(SCIInitialize, 0U), "SCIInitialize");
  {
    const test::Device device;
    Party party{device, test::node_id(), 0};
    test::own_rank() = static_cast<int>(party.own);
    while (SCIProbeNode(device, 0, party.dead, 0, nullptr) == 1) ++party.dead;
    --party.dead;
    const test::Exported own(device, 1, bytes);
    if (party.own == party.dead) die(party);
    survive(party, own);
    // The next node has connected to this one's segment, and is done with it.
    while (party.dead > 1) {
      sci_error_t error = test::untouched;
      const auto reason =
          SCIWaitForLocalSegmentEvent(own.segment, nullptr, nullptr, 30'000, 0, &error);
      if (reason == SCI_CB_DISCONNECT || error != SCI_ERR_OK) break;
    }
  }
  SCITerminate();
  return test::result();
}
